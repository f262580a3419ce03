//! Laws of n-bit: what was packed unpacks, and any tree of types is read or refused.

use proptest::prelude::*;

use super::super::bits::BitWriter;
use super::*;

/// The tree of a type, as the parameters have it.
fn tree(node: &Node, out: &mut Vec<u32>) {
    let word = |number: usize| u32::try_from(number).unwrap();
    match node {
        Node::Atomic { size, is_big_endian, precision, offset } => {
            out.extend([1, word(*size), (*is_big_endian).into(), *precision, *offset]);
        }
        Node::Array { size, base } => {
            out.extend([2, word(*size)]);
            tree(base, out);
        }
        Node::Compound { size, members } => {
            out.extend([3, word(*size), word(members.len())]);
            for (offset, member) in members {
                out.push(word(*offset));
                tree(member, out);
            }
        }
        Node::Bytes { size } => out.extend([4, word(*size)]),
    }
}

/// Packs an element bit by bit, and clears what was not packed.
fn pack(node: &Node, item: &mut [u8], writer: &mut BitWriter) {
    match node {
        Node::Atomic { size, is_big_endian, precision, offset } => {
            let mut kept = vec![0; *size];
            for bit in (*offset..offset + precision).rev() {
                let byte = (bit / 8) as usize;
                let byte = if *is_big_endian { size - 1 - byte } else { byte };
                writer.put(u64::from(item[byte] >> (bit % 8) & 1), 1);
                kept[byte] |= item[byte] & 1 << (bit % 8);
            }
            item.copy_from_slice(&kept);
        }
        Node::Array { base, .. } => item.chunks_mut(base.size()).for_each(|item| pack(base, item, writer)),
        Node::Compound { members, .. } => {
            let mut kept = vec![0; item.len()];
            for (offset, member) in members {
                let range = *offset..offset + member.size();
                pack(member, &mut item[range.clone()], writer);
                kept[range.clone()].copy_from_slice(&item[range]);
            }
            item.copy_from_slice(&kept);
        }
        Node::Bytes { .. } => item.iter().for_each(|byte| writer.put(u64::from(*byte), 8)),
    }
}

fn nodes() -> impl Strategy<Value = Node> {
    let atomic =
        (1..18_usize, any::<bool>(), any::<(u32, u32)>()).prop_map(|(size, is_big_endian, (a, b))| {
            let bits = u32::try_from(size).unwrap() * 8;
            let precision = a % bits + 1;
            Node::Atomic { size, is_big_endian, precision, offset: b % (bits - precision + 1) }
        });
    let leaf = prop_oneof![4 => atomic, 1 => (1..5_usize).prop_map(|size| Node::Bytes { size })];
    leaf.prop_recursive(3, 12, 4, |inner| {
        let array = (inner.clone(), 1..4_usize)
            .prop_map(|(base, count)| Node::Array { size: base.size() * count, base: Box::new(base) });
        let members = prop::collection::vec((0..3_usize, inner), 1..4);
        let compound = (members, 0..3_usize).prop_map(|(mut members, gap)| {
            let mut size = 0;
            let first = members.iter().position(|(_, member)| member.loses_place());
            members.truncate(first.map_or(members.len(), |first| first + 1));
            let place = |(gap, node): (usize, Node)| {
                let offset = size + gap;
                size = offset + node.size();
                (offset, node)
            };
            let members = members.into_iter().map(place).collect();
            Node::Compound { size: size + gap, members }
        });
        prop_oneof![array, compound]
    })
}

proptest! {
    #[test]
    fn what_was_packed_unpacks(node in nodes(), count in 0..9_usize, seed: Vec<u8>) {
        let bytes = count * node.size();
        let mut items: Vec<u8> = seed.iter().copied().chain([0xff, 0, 0xa7]).cycle().take(bytes).collect();
        let mut writer = BitWriter::default();
        items.chunks_mut(node.size()).for_each(|item| pack(&node, item, &mut writer));
        let mut values = vec![0, 0, u32::try_from(count).unwrap()];
        tree(&node, &mut values);
        prop_assert_eq!(Nbit.decoded_bytes(&writer.bytes, &values).unwrap(), Some(bytes));
        for fill in [0, 0xff] {
            let mut out = vec![fill; bytes];
            decode(&writer.bytes, &values, &mut out).unwrap();
            prop_assert_eq!(&out, &items);
        }
        if let Some((_, cut)) = writer.bytes.split_last() {
            prop_assert!(decode(cut, &values, &mut vec![0; bytes]).is_err());
        }
    }

    #[test]
    fn any_tree_is_a_type_or_an_error(
        stored: Vec<u8>, tree in prop::collection::vec(0..9_u32, 0..30), len in 0..100_usize
    ) {
        let _ = Nbit.decoded_bytes(&stored, &tree);
        let _ = decode(&stored, &tree, &mut vec![0; len]);
    }
}

#[test]
fn a_chunk_of_full_numbers_is_stored_as_it_is() {
    let mut out = [0; 3];
    decode(&[1, 2, 3], &[8, 1, 3, 1, 1, 0, 8, 0], &mut out).unwrap();
    assert_eq!(out, [1, 2, 3]);
    assert!(decode(&[1, 2], &[8, 1, 3, 1, 1, 0, 8, 0], &mut out).is_err());
}

#[test]
fn members_behind_an_array_of_compounds_are_refused() {
    let row = [3, 2, 1, 0, 1, 2, 0, 5, 0];
    let nested = [&[0, 0, 1, 3, 6, 2, 0, 2, 4], &row[..], &[4, 1, 2, 0, 5, 0]].concat();
    let error = decode(&[0; 9], &nested, &mut [0; 6]).unwrap_err();
    assert_eq!(error.kind(), crate::base::error::ErrorKind::Unsupported);
    let last = [&[0, 0, 1, 3, 6, 2, 0, 1, 2, 0, 5, 0, 2, 2, 4], &row[..]].concat();
    decode(&[0; 9], &last, &mut [0; 6]).unwrap();
}

#[test]
fn endless_nesting_is_refused() {
    let values = [&[0, 0, 1], &[2, 1].repeat(100_000)[..]].concat();
    assert!(decode(&[0; 9], &values, &mut [0; 1]).is_err());
    assert!(decode(&[0; 9], &[0, 0, 1, 3, u32::MAX, u32::MAX, 0, 4, 1], &mut [0; 1]).is_err());
}
