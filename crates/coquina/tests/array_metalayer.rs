//! Laws of the metalayer of arrays: the bytes that others write, round trips, hostile bytes.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use coquina::ErrorKind;
use coquina::array::Meta;
use proptest::prelude::*;

fn meta(shape: &[u64], chunks: &[u32], blocks: &[u32], dtype: Option<&str>) -> Meta {
    let dtype = dtype.map(str::to_owned);
    Meta { shape: shape.into(), chunks: chunks.into(), blocks: blocks.into(), dtype_format: 0, dtype }
}

/// Bytes of a block and of a chunk, chunks, and bytes of all.
fn sizes(meta: &Meta, typesize: usize) -> [u64; 4] {
    let sizes = meta.sizes(typesize).unwrap();
    [sizes.block_bytes as u64, sizes.chunk_bytes as u64, sizes.nchunks, sizes.nbytes]
}

fn unhex(text: &str) -> Vec<u8> {
    (0..text.len()).step_by(2).map(|i| u8::from_str_radix(&text[i..i + 2], 16).unwrap()).collect()
}

/// Layers as python-blosc2 4.14.1 wrote them.
fn written_by_blosc2() -> Vec<(Meta, Vec<u8>)> {
    let sixteen = format!(
        "970010a0{}a0{ints}a0{ints}00db000000033c6638",
        "d30000000000000001".repeat(16),
        ints = "d200000001".repeat(16)
    );
    let cut = "97000292d30000000000000002d3000000000000000592d200000002d20000000392d200000001d20000000200db\
               000000033c6932";
    let empty = "97000292d30000000000000000d3000000000000000392d200000000d20000000392d200000000d20000000300db\
                 000000033c6638";
    vec![
        (meta(&[2, 5], &[2, 3], &[1, 2], Some("<i2")), unhex(cut)),
        (meta(&[], &[], &[], Some("<f8")), unhex("97000090909000db000000033c6638")),
        (meta(&[1; 16], &[1; 16], &[1; 16], Some("<f8")), unhex(&sixteen)),
        (meta(&[0, 3], &[0, 3], &[0, 3], Some("<f8")), unhex(empty)),
    ]
}

#[test]
fn layers_of_python_blosc2_are_read_and_written_byte_for_byte() {
    for (meta, bytes) in written_by_blosc2() {
        assert_eq!(Meta::read(&bytes).unwrap(), meta);
        assert_eq!(meta.write(), bytes);
    }
}

#[test]
fn a_caterva_layer_is_the_same_without_dtype() {
    for (meta, mut bytes) in written_by_blosc2() {
        bytes.truncate(bytes.len() - 9);
        bytes[0] = 0x95;
        let old = Meta { dtype: None, ..meta };
        assert_eq!(Meta::read(&bytes).unwrap(), old);
        assert_eq!(old.write(), bytes);
    }
}

#[test]
fn every_prefix_and_every_longer_layer_is_an_error() {
    for (_, mut bytes) in written_by_blosc2() {
        for n in 0..bytes.len() {
            let kind = Meta::read(&bytes[..n]).unwrap_err().kind();
            assert_eq!(kind, ErrorKind::Truncated, "prefix of {n} bytes");
        }
        bytes.push(0);
        assert_eq!(Meta::read(&bytes).unwrap_err().kind(), ErrorKind::Corrupt);
    }
}

#[test]
fn a_flipped_bit_is_an_error_or_another_value_that_writes_the_flipped_bytes() {
    for (meta, bytes) in written_by_blosc2() {
        for bit in 0..bytes.len() * 8 {
            let mut flipped = bytes.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            if let Ok(read) = Meta::read(&flipped) {
                assert_ne!(read, meta);
                assert_eq!(read.write(), flipped, "bit {bit}");
                let _ = read.sizes(usize::MAX);
                let _ = read.item_bytes(1, usize::MAX);
            }
        }
    }
}

/// Shape, chunks, blocks, and words of the error.
type Case = (&'static [u64], &'static [u32], &'static [u32], &'static str);

#[test]
fn what_the_format_cannot_hold_is_named() {
    let cases: &[Case] = &[
        (&[4, 4], &[2, 0], &[1, 1], "axis 1: 4 items"),
        (&[4], &[2], &[0], "axis 0: 4 items"),
        (&[1 << 63], &[1], &[1], "-9223372036854775808 items"),
        (&[1 << 32, 1 << 32], &[1 << 15, 1 << 15], &[1, 1], "shape: "),
        (&[(1 << 63) - 1], &[1 << 30], &[1], "padded to whole chunks"),
        (&[4, 4], &[1 << 16, 1 << 16], &[1, 1], "chunks: "),
        (&[4, 4], &[1, 1], &[1 << 16, 1 << 16], "blocks: "),
        (&[4], &[1 << 31], &[1], "-2147483648 items"),
        (&[1 << 40], &[1], &[1], "number of chunks"),
    ];
    for (shape, chunks, blocks, words) in cases {
        let error = Meta::read(&meta(shape, chunks, blocks, None).write()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt);
        assert!(error.to_string().contains(words), "{error}");
    }
    let many = meta(&[1; 17], &[1; 17], &[1; 17], None).write();
    assert!(Meta::read(&many).unwrap_err().to_string().contains("17 axes"));
    let sized = meta(&[1 << 30], &[1 << 30], &[1 << 28], None);
    assert_eq!(sized.sizes(1).unwrap().chunk_bytes, 1 << 30);
    assert_eq!(sized.sizes(2).unwrap_err().kind(), ErrorKind::Corrupt);
}

#[test]
fn sizes_count_the_padding() {
    let cut = sizes(&meta(&[2, 5], &[2, 3], &[1, 2], None), 2);
    assert_eq!(cut, [4, 16, 2, 32]);
    let one = sizes(&meta(&[], &[], &[], None), 8);
    assert_eq!(one, [8, 8, 1, 8]);
    let none = sizes(&meta(&[0, 3], &[0, 3], &[0, 3], None), 8);
    assert_eq!(none, [0, 0, 0, 0]);
}

#[test]
fn item_bytes_that_c_lost_are_recovered() {
    let array = meta(&[100], &[50], &[10], None);
    assert_eq!(array.item_bytes(8, 80).unwrap(), 8);
    assert_eq!(array.item_bytes(300, 3000).unwrap(), 300);
    assert_eq!(array.item_bytes(1, 3000).unwrap(), 300);
    assert_eq!(array.item_bytes(8, 0).unwrap(), 8);
    for (typesize, blocksize) in [(1, 3001), (1, 2550), (8, 81), (0, 10), (0, 0)] {
        assert_eq!(array.item_bytes(typesize, blocksize).unwrap_err().kind(), ErrorKind::Corrupt);
    }
}

proptest! {
    #[test]
    fn what_is_written_is_read(
        axes in prop::collection::vec((0_u64..50_000, 1_u32..=3, 1_u32..=3), 0..=16),
        dtype in prop::option::of(".{0,40}"),
        dtype_format in any::<u8>(),
    ) {
        let meta = Meta {
            shape: axes.iter().enumerate().map(|(k, a)| if k < 3 { a.0 } else { a.0 % 3 }).collect(),
            chunks: axes.iter().map(|a| a.1 + 1).collect(),
            blocks: axes.iter().map(|a| a.2).collect(),
            dtype_format: if dtype.is_some() { dtype_format } else { 0 },
            dtype,
        };
        let bytes = meta.write();
        match Meta::read(&bytes) {
            Ok(read) => prop_assert_eq!(read, meta),
            Err(error) => prop_assert!(meta.sizes(1).is_err(), "{}", error),
        }
    }

    #[test]
    fn any_bytes_are_a_layer_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..200), start in 0_usize..60) {
        let (_, layer) = written_by_blosc2().swap_remove(0);
        let mut mixed = layer;
        mixed.truncate(start);
        mixed.extend(bytes);
        if let Ok(meta) = Meta::read(&mixed) {
            prop_assert_eq!(meta.write(), mixed);
        }
    }
}
