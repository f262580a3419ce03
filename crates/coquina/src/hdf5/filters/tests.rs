//! Laws that hold for every row of the table, and chunks that the format's text gives.

use super::*;

/// Parameters with which each filter is tried; all are of items of 4 bytes unless they say otherwise.
fn parameters(id: u16) -> Vec<Vec<u32>> {
    match id {
        1 => vec![vec![], vec![0], vec![1], vec![4], vec![9]],
        2 => vec![vec![4], vec![1], vec![3], vec![300], vec![0], vec![]],
        3 => vec![vec![]],
        32001 => [0, 1, 2, 4, 5]
            .iter()
            .flat_map(|&codec| [0, 1, 2].map(|shuffle| vec![2, 2, 4, 0, 5, shuffle, codec]))
            .chain([vec![2, 2, 4, 0], vec![2, 2, 300, 0, 5, 1, 5]])
            .collect(),
        32004 => vec![vec![], vec![0], vec![1 << 16], vec![100], vec![1]],
        32008 => (0..=3)
            .filter(|&coder| coder != 1)
            .flat_map(|coder| [0, 8, 4096].map(|block| vec![0, 4, 4, block, coder, 3]))
            .chain([vec![0, 4, 1, 0, 2], vec![0, 4, 12, 0, 2], vec![0, 4, 4]])
            .collect(),
        32015 => vec![vec![], vec![1], vec![19], vec![(-3_i32).cast_unsigned()]],
        32026 => vec![
            vec![1, 0, 4, 0, 5, 1, 5],
            vec![1, 0, 4, 0, 5, 2, 1],
            vec![1, 4096, 300, 0, 5, 3, 0],
            vec![1, 0, 8, 0],
        ],
        32033 => vec![vec![1, 2, 30, 20, 1]],
        _ => Vec::new(),
    }
}

fn data(bytes: usize) -> Vec<u8> {
    let item = |i: usize| if (i / 300).is_multiple_of(2) { i * 3 } else { i.wrapping_mul(0x9e37_79b9) >> 7 };
    (0..bytes.div_ceil(4)).flat_map(|i| item(i).to_le_bytes().into_iter().take(4)).take(bytes).collect()
}

/// Every filter that can be written, with all of its parameters.
fn writable() -> impl Iterator<Item = (&'static dyn Filter, Vec<u32>)> {
    // Those with a coder from outside are tried where there is one.
    let all = FILTERS.iter().copied().filter(|filter| filter.can_encode() && filter.needs_codec().is_none());
    all.flat_map(|filter| parameters(filter.id()).into_iter().map(move |values| (filter, values)))
}

fn unhex(text: &str) -> Vec<u8> {
    let digits: Vec<char> = text.chars().filter(|c| !c.is_whitespace()).collect();
    digits.chunks(2).map(|pair| u8::from_str_radix(&String::from_iter(pair), 16).unwrap()).collect()
}

#[test]
fn ids_are_unique_and_never_change() {
    let ids: Vec<u16> = FILTERS.iter().map(|filter| filter.id()).collect();
    let wanted =
        [1, 2, 3, 4, 5, 6, 307, 32000, 32001, 32004, 32008, 32015, 32026, 32022, 32023, 32032, 32033];
    assert_eq!(ids, wanted);
    for filter in FILTERS {
        assert_eq!(filter_name(filter.id()), Some(filter.name()));
        assert_eq!(filter.can_encode(), !parameters(filter.id()).is_empty(), "{}", filter.name());
    }
    assert_eq!(filter_name(305), None);
}

#[test]
fn what_a_filter_encodes_it_decodes() {
    for (filter, values) in writable() {
        for bytes in [0, 1, 4, 7, 8, 31, 32, 33, 100, 4096, 8192, 40_000, 40_001] {
            let plain = data(bytes);
            if !filter.takes(bytes, &values) {
                assert!(filter.encode(&plain, &values, &mut Vec::new()).is_err());
                continue;
            }
            // What is there already stays.
            let mut stored = b"before".to_vec();
            filter.encode(&plain, &values, &mut stored).unwrap();
            let stored = stored.strip_prefix(b"before").unwrap();
            let name = format!("{} {values:?} {bytes}", filter.name());
            if let Some(told) = filter.encoded_bytes(bytes, &values) {
                assert_eq!(told, stored.len(), "{name}");
            }
            if let Some(told) = filter.decoded_bytes(stored, &values).unwrap() {
                assert_eq!(told, bytes, "{name}");
            }
            let mut out = vec![0x55; bytes];
            filter.decode(stored, &values, &mut out).unwrap_or_else(|e| panic!("{name}: {e}"));
            assert!(out == plain, "{name}");
            assert!(filter.decode(stored, &values, &mut vec![0; bytes + 1]).is_err(), "{name}");
            let mut room = vec![0; bytes + 50];
            if let Ok(found) = filter.decode_within(stored, &values, &mut room) {
                assert!(room[..found] == plain, "{name}");
            }
        }
    }
}

#[test]
fn damaged_bytes_are_an_error_or_a_value_that_does_not_depend_on_the_output() {
    let plain = data(1200);
    for (filter, values) in writable() {
        let mut stored = Vec::new();
        filter.encode(&plain, &values, &mut stored).unwrap();
        let try_out = |bytes: &[u8]| {
            let outs = [0, 0xff].map(|before| {
                let mut out = vec![before; plain.len()];
                filter.decode(bytes, &values, &mut out).map(|()| out).ok()
            });
            assert!(outs[0] == outs[1], "{} {values:?}", filter.name());
            let _ = filter.decoded_bytes(bytes, &values);
        };
        (0..stored.len()).for_each(|end| try_out(&stored[..end]));
        for bit in 0..8 * stored.len() {
            stored[bit / 8] ^= 1 << (bit % 8);
            try_out(&stored);
            stored[bit / 8] ^= 1 << (bit % 8);
        }
    }
}

#[test]
fn parameters_from_files_are_an_error_or_work() {
    let plain = data(120);
    for (filter, values) in writable() {
        for number in 0..values.len() {
            for value in [0, 1, 2, 3, 6, 7, 8, 255, 256, 65_536, 0x7fff_ffff, u32::MAX] {
                let mut values = values.clone();
                values[number] = value;
                let mut stored = Vec::new();
                if filter.takes(plain.len(), &values) {
                    filter.encode(&plain, &values, &mut stored).unwrap();
                    let mut out = vec![0; plain.len()];
                    filter.decode(&stored, &values, &mut out).unwrap();
                    assert!(out == plain, "{} {values:?}", filter.name());
                } else {
                    let _ = filter.decode(&plain, &values, &mut [0; 120]);
                }
            }
        }
    }
}

#[test]
fn chunks_of_the_format_are_read_and_those_of_one_form_written() {
    let shuffled = "010203042c2d2e70 0000000001010111 0000000000000001 0000000000000000";
    let items = [1_i32, 2, 3, 4, 300, 301, 302, 70000].map(i32::to_le_bytes).concat();
    let words: Vec<u8> = (0..16_u16).flat_map(u16::to_le_bytes).collect();
    let planes = format!("aaaaccccf0f000ff{}", "00".repeat(24));
    let tail = [vec![0; 32], vec![9, 8, 7]].concat();
    let zeros = "0000000b 1f00010007500000000000";
    for (id, values, plain, stored, is_only_form) in [
        (2, &[4][..], &items, shuffled.to_owned(), true),
        (32008, &[0, 4, 2, 0, 0], &words, planes, true),
        (32008, &[0, 4, 1, 0, 2], &tail, format!("0000000000000023 00002000 {zeros} 090807"), true),
        (32004, &[32], &vec![0; 64], format!("0000000000000040 00000020 {zeros} {zeros}"), true),
        (
            32004,
            &[0],
            &(0..10).collect(),
            "000000000000000a 0000000a 0000000a 00010203040506070809".into(),
            true,
        ),
        (32015, &[3], &vec![0; 64], "28b52ffd20404500001000000100930016".into(), false),
    ] {
        let (filter, stored) = (by_id(id).unwrap(), unhex(&stored));
        let mut out = vec![0x33; plain.len()];
        filter.decode(&stored, values, &mut out).unwrap();
        assert_eq!(&out, plain, "{id}");
        let mut own = Vec::new();
        filter.encode(plain, values, &mut own).unwrap();
        assert!(own == stored || !is_only_form, "{id}: {own:02x?}");
    }
}

#[test]
fn bytes_that_do_not_shrink_cost_little() {
    let mut state = 1_u64;
    let mut noise = || {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        state.to_be_bytes()[0]
    };
    let plain: Vec<u8> = (0..96_000).map(|_| noise()).collect();
    for (filter, values) in writable() {
        let mut stored = Vec::new();
        filter.encode(&plain, &values, &mut stored).unwrap();
        let tiny_blocks =
            matches!((filter.id(), &values[..]), (32004, [1 | 100]) | (32008, [_, _, _, 8, ..]));
        assert!(tiny_blocks || stored.len() < plain.len() + 1000, "{} {values:?}", filter.name());
    }
}
