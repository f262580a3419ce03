//! The items of a chunk that must stay as they are: those that stood there, and those that stand for nothing.
//!
//! In: new items, what stood in their places, the fill value. Out: items to compare with: a new one that equals its own stays.

/// What stood in a chunk, so that items that stand for nothing, which the fill value is, stay as they are.
pub(super) fn kept(old: Option<Vec<u8>>, plain: &[u8], fill: Option<&[u8]>) -> Option<Vec<u8>> {
    let Some(fill) = fill.filter(|fill| has_item(plain, fill)) else { return old };
    // Of other items nothing stood there: not a byte of these is that of the item.
    let mut old = old.unwrap_or_else(|| plain.iter().map(|byte| !byte).collect());
    let items = old.chunks_exact_mut(fill.len()).zip(plain.chunks_exact(fill.len()));
    items.filter(|(_, item)| item == &fill).for_each(|(stood, item)| stood.copy_from_slice(item));
    Some(old)
}

/// Whether one of the items is this one.
fn has_item(items: &[u8], item: &[u8]) -> bool {
    // Items of a length that is known when this is compiled are compared many at once.
    fn has<const N: usize>(items: &[u8], item: &[u8]) -> Option<bool> {
        let item: &[u8; N] = item.try_into().ok()?;
        Some(items.as_chunks::<N>().0.contains(item))
    }
    let found = match item.len() {
        2 => has::<2>(items, item),
        4 => has::<4>(items, item),
        8 => has::<8>(items, item),
        _ => None,
    };
    found.unwrap_or_else(|| items.chunks_exact(item.len().max(1)).any(|other| other == item))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fill_values_are_taken_for_what_stood_there_and_nothing_else_is() {
        let plain = [1, 2, 9, 9, 3, 4, 9, 9];
        let fill: &[u8] = &[9, 9];
        let stood = kept(None, &plain, Some(fill)).unwrap();
        let same = |(a, b): (&[u8], &[u8])| a == b;
        let found: Vec<bool> = stood.chunks(2).zip(plain.chunks(2)).map(same).collect();
        assert_eq!(found, [false, true, false, true]);
        let before = vec![1, 2, 0, 0, 0, 0, 9, 9];
        assert_eq!(kept(Some(before.clone()), &plain, Some(fill)), Some(vec![1, 2, 9, 9, 0, 0, 9, 9]));
        for none in [None, Some(&[7, 7][..]), Some(&[2, 9][..])] {
            assert_eq!(kept(None, &plain, none), None);
            assert_eq!(kept(Some(before.clone()), &plain, none), Some(before.clone()));
        }
    }
}
