//! Laws of slots in memory: they are a vector, whatever pages it is in.

use super::*;

fn slot(raw: i64) -> Slot {
    Slot::new(raw)
}

#[test]
fn slots_are_a_vector_of_slots() {
    let mut model: Vec<i64> = Vec::new();
    let mut slots = Slots::default();
    let mut state = 1_u64;
    let mut random = |n: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) % n
    };
    for _ in 0..300 {
        let before = slots.clone();
        let len = random(3000);
        let fill = i64::try_from(random(3)).unwrap() - 1;
        model.resize(usize::try_from(len).unwrap(), fill);
        slots.resize(len, slot(fill));
        for _ in 0..random(5) {
            let (at, raw) = (random(len.max(1)), i64::try_from(random(4)).unwrap() - 2);
            if let Some(place) = model.get_mut(usize::try_from(at).unwrap()) {
                *place = raw;
                slots.set(at, slot(raw));
            }
        }
        let all: Vec<i64> = (0..len).map(|n| slots.get(n).unwrap().raw).collect();
        assert_eq!(all, model);
        assert!(slots.get(len).is_none());
        let changed: Vec<u64> = (0..len).filter(|&n| slots.get(n) != before.get(n)).collect();
        assert_eq!(slots.changed_since(&before), changed);
        let stored: Vec<_> = slots.stored().map(|(n, slot)| (n, slot.raw)).collect();
        let expected: Vec<_> = (0..).zip(model.iter().copied()).filter(|(_, raw)| *raw >= 0).collect();
        assert_eq!(stored, expected);
        let mut seen = Vec::new();
        slots.visit_stored(|slot| seen.push(slot.raw));
        assert!(seen.iter().eq(expected.iter().map(|(_, raw)| raw)));
        assert_eq!(slots.stored_count(), expected.len());
        let mut changed = slots.clone();
        let change = |number, slot: &mut Slot| {
            slot.sum = number + 1;
            Ok(())
        };
        changed.change_stored(change).unwrap();
        let is_changed = |n| {
            changed.get(n).map(|new| (new.raw, new.sum))
                == slots.get(n).map(|old| (old.raw, if old.raw < 0 { 0 } else { n + 1 }))
        };
        assert!((0..len).all(is_changed));
    }
}

#[test]
fn a_copy_keeps_its_slots() {
    let mut slots = Slots::same(slot(-1), 5000);
    slots.set(7, slot(3));
    let before = slots.clone();
    slots.set(7, slot(4));
    slots.resize(5, slot(0));
    assert_eq!((before.len(), before.get(7), slots.get(4)), (5000, Some(slot(3)), Some(slot(-1))));
    assert!(before.all_same().is_none() && slots.all_same() == Some(slot(-1)));
}

#[test]
fn slots_are_taken_and_written_as_they_are_stored() {
    let raws: Vec<i64> = [-1; 700].into_iter().chain(0..500).chain([-2; 5000]).chain([9; 3]).collect();
    let entries: Vec<[u8; RAW_BYTES]> = raws.iter().map(|raw| raw.to_le_bytes()).collect();
    for parts in [1, 7, 1000, 1024, 4096, entries.len()] {
        let mut builder = Builder::default();
        entries.chunks(parts).for_each(|part| builder.push_raw(part));
        let slots = builder.finish();
        assert_eq!(slots.len(), raws.len() as u64);
        assert!((0..).zip(&raws).all(|(number, raw)| slots.get(number) == Some(slot(*raw))));
        for (start, len) in [(0, raws.len()), (699, 3), (1023, 2), (1200, 2048), (6202, 1), (5, 0)] {
            let mut out = vec![0; len * RAW_BYTES];
            slots.write_raw(start as u64, &mut out);
            assert_eq!(out, entries[start..start + len].concat());
        }
        for from in [0, 1, 699, 700, 1024, 1199, 1200, 6201, 6203, 9999] {
            let stored: Vec<_> = slots.stored_from(from).collect();
            let all = slots.stored().filter(|(number, _)| *number >= from);
            assert_eq!(stored, all.collect::<Vec<_>>());
        }
    }
    let mut builder = Builder::default();
    let mut model = Vec::new();
    for (raw, count) in [(1, 3_u64), (-1, 1021), (-1, 5000), (2, 1), (-3, 2047)] {
        builder.push_same(slot(raw), count);
        model.extend(std::iter::repeat_n(slot(raw), usize::try_from(count).unwrap()));
    }
    let slots = builder.finish();
    assert_eq!(slots.len(), model.len() as u64);
    assert!((0..).zip(&model).all(|(number, slot)| slots.get(number) == Some(*slot)));
}
