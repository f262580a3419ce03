//! Ranges of an index' keys that comparisons ask for.
//!
//! In: a comparison with a constant. Out: keys, and what of the rows that have none.
//! Where items are cast, a boundary is looked for by the comparison itself, which holds up to a key, or from one on.
//! Invariant: rows that meet the condition are among those that are wanted.

use std::ops::RangeInclusive;

use coquina_kernels::Type;
use coquina_kernels::items::bytes_of;

use super::super::{KeyKind, KeyRanges, Wanted};
use super::compared::{Compared, Constant};
use crate::query::condition::{ItemType, is_safe};

/// The least and the greatest key that items have; from a negative infinity to a positive one.
fn domain(kind: KeyKind) -> RangeInclusive<u64> {
    let ends = match kind {
        KeyKind::Number(Type::F32) => {
            [f32::NEG_INFINITY, f32::INFINITY].map(|end| kind.key_of(bytes_of(&[end])))
        }
        KeyKind::Number(Type::F64) => {
            [f64::NEG_INFINITY, f64::INFINITY].map(|end| kind.key_of(bytes_of(&[end])))
        }
        // The least integer is no time.
        KeyKind::Time => [Some(1), None],
        _ => [None, None],
    };
    ends[0].unwrap_or(0)..=ends[1].unwrap_or(kind.key_max())
}

fn is_float(ty: Type) -> bool {
    matches!(ty, Type::F32 | Type::F64)
}

/// Whether a cast keeps the order of items.
fn is_monotone(from: Type, to: Type) -> bool {
    match from {
        Type::C64 | Type::C128 => false,
        _ if is_float(from) => is_float(to),
        _ => is_float(to) || is_safe(ItemType::Number(from), ItemType::Number(to)),
    }
}

/// Whether keys of a kind are those of such items.
fn is_of(kind: KeyKind, ty: Type) -> bool {
    match kind {
        KeyKind::Number(own) => own == ty,
        KeyKind::Time => ty == Type::I64,
        KeyKind::Bytes | KeyKind::CodePoints | KeyKind::Text => false,
    }
}

/// What a comparison of an item with a constant asks for; nothing where the order of items is not kept.
///
/// `steps`: what the item is in the condition, and what it is cast to before it is compared.
pub(super) fn compared(op: &str, kind: KeyKind, steps: &[Type], constant: &Constant<'_>) -> Option<Wanted> {
    let first = *steps.first().filter(|first| is_of(kind, **first))?;
    if !steps.windows(2).all(|pair| is_monotone(pair[0], pair[1])) {
        return None;
    }
    if op == "not_equal" {
        return compared("equal", kind, steps, constant).map(|found| found.not());
    }
    let comparison = Compared::new(op, steps, constant.clone())?;
    // Where nothing is cast the constant has a key itself.
    let here =
        (steps.len() == 1 && constant.ty == first).then(|| KeyKind::Number(first).key_of(constant.bytes));
    let nan = Some(kind == KeyKind::Time && comparison.holds(bytes_of(&[i64::MIN])));
    let keys = match (op, here.flatten()) {
        _ if constant.is_nan() => KeyRanges::default(),
        (_, Some(key)) => at(op, key, &domain(kind)),
        ("equal", _) => {
            let low = bounded("less_equal", kind, steps, constant)?;
            low.and(&bounded("greater_equal", kind, steps, constant)?)
        }
        _ => bounded(op, kind, steps, constant)?,
    };
    Some(Wanted::exactly(keys, nan, None))
}

/// The keys that compare so with one.
fn at(op: &str, key: u64, domain: &RangeInclusive<u64>) -> KeyRanges {
    let (low, high) = (*domain.start(), *domain.end());
    let range = match op {
        "less" => key.checked_sub(1).map(|end| low..=end),
        "less_equal" => Some(low..=key),
        "greater" => key.checked_add(1).map(|start| start..=high),
        "greater_equal" => Some(key.max(low)..=high),
        _ => Some(key.max(low)..=key),
    };
    KeyRanges::union(range.into_iter().collect())
}

/// The keys of items that are on one side of a constant.
fn bounded(op: &str, kind: KeyKind, steps: &[Type], constant: &Constant<'_>) -> Option<KeyRanges> {
    let is_below = matches!(op, "less" | "less_equal");
    let comparison = Compared::new(op, steps, constant.clone())?;
    let is_low = |key: u64| kind.item_of(key).map(|item| comparison.holds(&item) == is_below);
    let (low, high) = domain(kind).into_inner();
    // All keys before `first` are low, none from `end` on is; one more than all keys does not fit into 64 bits.
    let (mut first, mut end) = (u128::from(low), u128::from(high) + 1);
    while first < end {
        let middle = u64::try_from(first.midpoint(end)).ok()?;
        if is_low(middle)? {
            first = u128::from(middle) + 1;
        } else {
            end = middle.into();
        }
    }
    let range = if is_below {
        first.checked_sub(1).and_then(|end| u64::try_from(end).ok()).map(|end| low..=end)
    } else {
        u64::try_from(first).ok().map(|start| start..=high)
    };
    Some(KeyRanges::union(range.into_iter().collect()))
}

/// What asks for items that are among some, all of one type.
pub(super) fn among(kind: KeyKind, ty: Type, items: &[u8]) -> Option<Wanted> {
    if !is_of(kind, ty) {
        return None;
    }
    let keys: Vec<Option<u64>> = items.chunks_exact(ty.bytes()).map(|item| kind.key_of(item)).collect();
    // What is no time is a number among those that times are stored as; NaN is equal to nothing.
    let nan = kind == KeyKind::Time && keys.contains(&None);
    let keys: Vec<u64> = keys.into_iter().flatten().collect();
    Some(Wanted::exactly(KeyRanges::points(&keys), Some(nan), None))
}

/// What asks for codes that are decided so, and for all others if `other`.
pub(super) fn codes(kind: KeyKind, decided: &[bool], other: bool) -> Option<Wanted> {
    let KeyKind::Number(ty) = kind else { return None };
    let zero = kind.key_of(&vec![0; ty.bytes()])?;
    let last = kind.key_max();
    // Codes are not below zero, and only so many of them fit.
    let keys = decided.iter().zip(zero..=last);
    let known: Vec<u64> = keys.clone().filter_map(|(decided, key)| decided.then_some(key)).collect();
    let mut found = KeyRanges::points(&known);
    if other {
        let below = zero.checked_sub(1).map(|end| 0..=end);
        let above = match keys.last() {
            None => Some(zero..=last),
            Some((_, key)) => key.checked_add(1).map(|start| start..=last),
        };
        found = found.or(&KeyRanges::union(below.into_iter().chain(above).collect()));
    }
    Some(Wanted::exactly(found, Some(false), Some(other)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const OPS: [&str; 6] = ["equal", "not_equal", "less", "less_equal", "greater", "greater_equal"];
    const NUMBERS: [Type; 11] = [
        Type::Bool,
        Type::I8,
        Type::I16,
        Type::I32,
        Type::I64,
        Type::U8,
        Type::U16,
        Type::U32,
        Type::U64,
        Type::F32,
        Type::F64,
    ];

    /// An item of a type of these bits, or an edge of it.
    fn item(ty: Type, bits: u64) -> Vec<u8> {
        let raw = bits.to_le_bytes()[..ty.bytes()].to_vec();
        match ty {
            Type::Bool => vec![u8::from(bits.is_multiple_of(2))],
            Type::F32 if bits.is_multiple_of(3) => {
                bytes_of(&[f32::from(u16::try_from(bits & 7).unwrap())]).to_vec()
            }
            Type::F64 if bits.is_multiple_of(3) => {
                bytes_of(&[f64::from(u16::try_from(bits & 7).unwrap())]).to_vec()
            }
            _ if bits.is_multiple_of(5) => (bits & 3).to_le_bytes()[..ty.bytes()].to_vec(),
            _ => raw,
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        /// What is wanted of an item is what its comparison gives.
        #[test]
        fn keys_are_wanted_where_the_comparison_holds(
            (ty, to, op) in (0..NUMBERS.len(), 0..NUMBERS.len(), 0..OPS.len()),
            (bits, others) in (any::<u64>(), prop::collection::vec(any::<u64>(), 1..8)),
            is_cast in any::<bool>(),
        ) {
            let (ty, to, op) = (NUMBERS[ty], NUMBERS[to], OPS[op]);
            let all = [ty, to];
            let steps = if is_cast { &all[..] } else { &all[..1] };
            let last = steps[steps.len() - 1];
            let bytes = item(last, bits);
            let constant = Constant { ty: last, bytes: &bytes };
            let kind = KeyKind::Number(ty);
            let Some(wanted) = compared(op, kind, steps, &constant) else {
                prop_assert!(!is_monotone(all[0], all[1]) && is_cast);
                return Ok(());
            };
            prop_assert!(wanted.is_sharp());
            let comparison = Compared::new(op, steps, constant.clone()).unwrap();
            for bits in others.into_iter().chain([bits]) {
                let item = item(ty, bits);
                let found = kind.key_of(&item).map_or(wanted.nan, |key| Some(wanted.sure.contains(key)));
                prop_assert_eq!(found, Some(comparison.holds(&item)), "{} {:?} {:?}", op, item, &bytes);
            }
        }

        #[test]
        fn an_item_has_the_key_that_it_is_made_of(bits in any::<u64>()) {
            for ty in NUMBERS {
                let (kind, own) = (KeyKind::Number(ty), item(ty, bits));
                prop_assert!(kind.key_of(&own).is_none_or(|key| key <= kind.key_max()));
                // The two zeros have one key.
                if let Some(key) = kind.key_of(&own) {
                    let made = kind.item_of(key).unwrap();
                    prop_assert_eq!(kind.key_of(&made), Some(key));
                    prop_assert!(made == own || matches!(ty, Type::F32 | Type::F64) && key == kind.key_of(&vec![0; ty.bytes()]).unwrap());
                }
            }
        }
    }

    #[test]
    fn numbers_of_times_know_the_one_that_is_none() {
        let int = Type::I64;
        let wanted = |op: &str, value: i64| {
            let bytes = [value];
            compared(op, KeyKind::Time, &[int], &Constant { ty: int, bytes: bytes_of(&bytes) }).unwrap()
        };
        assert_eq!((wanted("less", 5).nan, wanted("greater", 5).nan), (Some(true), Some(false)));
        assert_eq!(
            (wanted("equal", i64::MIN).nan, wanted("not_equal", i64::MIN).nan),
            (Some(true), Some(false))
        );
        assert!(wanted("equal", i64::MIN).sure.is_empty());
        assert_eq!(among(KeyKind::Time, int, bytes_of(&[i64::MIN])).unwrap().nan, Some(true));
        assert!(among(KeyKind::Number(Type::I32), int, &[0; 8]).is_none());
    }

    #[test]
    fn codes_that_no_table_has_are_asked_for_together() {
        for ty in [Type::I8, Type::U8] {
            let kind = KeyKind::Number(ty);
            let zero = kind.key_of(&[0]).unwrap();
            for count in [0, 1, 3, 127, 128, 200, 256, 300] {
                let decided: Vec<bool> = (0..count).map(|code| code % 3 == 0).collect();
                for other in [false, true] {
                    let wanted = codes(kind, &decided, other).unwrap();
                    for key in 0..=255_u64 {
                        let code = key
                            .checked_sub(zero)
                            .and_then(|code| decided.get(usize::try_from(code).unwrap()));
                        assert_eq!(
                            wanted.sure.contains(key),
                            code.copied().unwrap_or(other),
                            "{key} of {count}"
                        );
                    }
                    assert_eq!(wanted.null, Some(other));
                }
            }
        }
    }
}
