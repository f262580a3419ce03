//! Laws of frames inside chunks of HDF5: what was written is read, whole and in blocks, and damage is noticed.

use std::sync::Arc;

use proptest::prelude::*;

use super::boxes::Tiles;
use super::*;
use crate::base::error::ErrorKind;
use crate::base::limits::Limits;
use crate::base::pool::Job;
use crate::chunk::{Special, encode_special};

/// What C-Blosc2's filter (hdf5plugin 7.1) stored for float32 items `k % 50` of shape 17 x 23.
const FOREIGN: &str = "9ea862326672616d6500d2000000a5cf0000000000000185a412005503d3000000000000061cd30000000000000095\
d200000004d20000061cd20000061cd10000d10001c2d8060000000000010500000000000000000093cd0011de0001a462326e64d20000006b\
dc0001c60000003597000292d30000000000000011d3000000000000001792d200000011d20000001792d200000011d20000001700db000000\
037c5634050185041c0600001c06000095000000000000000001050000000000000000002400000000000000000000004500000028b52ffd60\
8700dd010024030080004080a0c0e0001020304050607080889098a0a8b0b8c0c8d0d8e0e8f0f80004080c1014181c2024282c3034383c4044\
010022555505051c00000028b52ffd60870095000028003f40414204005255a900e6039509c00d050107080800000008000000280000000000\
00000001000000000000000000000000000000000000940193cd0006de0000dc0000ce00000023d80000000000000000000000000000000000";

fn unhex(text: &str) -> Vec<u8> {
    let digits: Vec<char> = text.chars().filter(|c| !c.is_whitespace()).collect();
    digits.chunks(2).map(|pair| u8::from_str_radix(&String::from_iter(pair), 16).unwrap()).collect()
}

fn spec(dims: &[u64], itemsize: usize, values: [u32; 6]) -> Blosc2Spec {
    let [blocksize, typesize, level, filter, codec, has_rank] = values;
    let rank = u32::try_from(dims.len()).unwrap();
    let head = [1, blocksize, typesize, 0, level, filter, codec];
    let values = if has_rank == 1 { [&head[..], &[rank]].concat() } else { head.to_vec() };
    Blosc2Spec::new(&values, dims, itemsize).unwrap()
}

fn sample(bytes: usize) -> Vec<u8> {
    (0..bytes).map(|i| (i / 4 * 7).to_le_bytes()[i % 4] ^ u8::from(i % 91 == 0)).collect()
}

fn open(stored: &[u8], dims: &[u64], itemsize: usize) -> crate::base::error::Result<FrameChunk> {
    // In the midst of a file, and with other bytes behind it.
    let file = [&[0xee; 100][..], stored, &[0xdd; 9000]].concat();
    let source: Arc<dyn crate::base::io::ReadAt> = Arc::new(file);
    FrameChunk::open(source, 100, stored.len() as u64, dims, itemsize, &Limits::default())
}

fn whole(stored: &[u8], bytes: usize) -> crate::base::error::Result<Vec<u8>> {
    let mut out = vec![0x55; bytes];
    decode_frame(stored, &mut out).map(|()| out)
}

#[test]
fn a_frame_of_the_filter_of_c_blosc2_is_read() {
    let plain: Vec<u8> = (0..17 * 23_u16).flat_map(|k| f32::from(k % 50).to_le_bytes()).collect();
    let stored = unhex(FOREIGN);
    assert_eq!(decoded_bytes(&stored).unwrap(), Some(plain.len()));
    assert_eq!(whole(&stored, plain.len()).unwrap(), plain);
    // A checksum that was not taken away does no harm.
    assert_eq!(whole(&[&stored[..], b"sums"].concat(), plain.len()).unwrap(), plain);
    let frame = open(&stored, &[17, 23], 4).unwrap();
    let mut out = vec![0; plain.len()];
    frame.read_items(&mut out).unwrap();
    assert_eq!((out == plain, frame.blocks(), frame.block_bytes()), (true, Some(&[17, 23][..]), plain.len()));
    assert_eq!(open(&stored, &[23, 17], 4).err().unwrap().kind(), ErrorKind::Unsupported);
    assert!(open(&stored, &[17, 23], 8).is_err());
    assert!(whole(&stored, plain.len() + 4).is_err());
}

#[test]
fn frames_have_nothing_that_others_do_not_need() {
    // Ours of the same array differs from theirs by what was compressed, by threads, and by the index's codec.
    let plain: Vec<u8> = (0..17 * 23_u16).flat_map(|k| f32::from(k % 50).to_le_bytes()).collect();
    let spec = Blosc2Spec { with_sums: false, ..spec(&[17, 23], 4, [1564, 4, 5, 1, 5, 1]) };
    let (ours, theirs) = (encode_frame(&spec, &plain, &Job::inline()).unwrap(), unhex(FOREIGN));
    assert_eq!(ours.len() - ours[165..].len(), 165);
    assert_eq!(ours[68..165], theirs[68..165]);
    let ours_without_chunk = ours.len() as u64 - u64::from_be_bytes(*ours[39..].first_chunk().unwrap());
    assert!(ours_without_chunk <= (theirs.len() - 0x95) as u64, "{ours_without_chunk}");
    let zeros = encode_frame(&spec, &vec![0; plain.len()], &Job::inline()).unwrap();
    assert_eq!(zeros.len(), 240);
    assert_eq!(whole(&zeros, plain.len()).unwrap(), vec![0; plain.len()]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn frames_are_read_as_written_whole_and_in_blocks(
        dims in prop::collection::vec(1..9_u64, 1..6),
        itemsize in prop::sample::select(vec![1_usize, 3, 4, 8, 24, 255, 256, 300]),
        blocksize in prop::sample::select(vec![0_u32, 16, 64, 300, 5000]),
        filter in 0..4_u32,
        codec in prop::sample::select(vec![0_u32, 1, 2, 4, 5]),
        has_rank in 0..2_u32,
    ) {
        let typesize = u32::try_from(itemsize).unwrap();
        let spec = spec(&dims, itemsize, [blocksize, typesize, 5, filter, codec, has_rank]);
        let is_array = has_rank == 1 && dims.len() > 1 && itemsize < 256;
        prop_assert_eq!(spec.blocks.is_some(), is_array);
        let bytes = usize::try_from(dims.iter().product::<u64>()).unwrap() * itemsize;
        let plain = sample(bytes);
        let stored = encode_frame(&spec, &plain, &Job::inline()).unwrap();
        prop_assert_eq!(decoded_bytes(&stored).unwrap(), Some(bytes));
        prop_assert!(whole(&stored, bytes).unwrap() == plain);
        let frame = open(&stored, &dims, itemsize).unwrap();
        let mut out = vec![0x77; bytes];
        frame.read_items(&mut out).unwrap();
        prop_assert!(out == plain);
        // Block by block, as the format says where each stands.
        let Some(blocks) = frame.blocks() else { return Ok(()) };
        prop_assert_eq!(Some(blocks), spec.blocks.as_deref());
        let narrow = |v: &[u64]| v.iter().map(|&n| usize::try_from(n).unwrap()).collect::<Vec<_>>();
        let (shape, block) = (narrow(&dims), narrow(blocks));
        let mut out = vec![0; frame.block_bytes()];
        let item = sample(bytes);
        let grid: Vec<usize> = shape.iter().zip(&block).map(|(n, b)| n.div_ceil(*b)).collect();
        for number in 0..grid.iter().product::<usize>() {
            frame.read(number * frame.block_bytes(), &mut out).unwrap();
            for (k, found) in out.chunks_exact(itemsize).enumerate() {
                let (mut rest, mut left, mut at, mut step, mut is_inside) = (k, number, 0, 1, true);
                for axis in (0..shape.len()).rev() {
                    let place = left % grid[axis] * block[axis] + rest % block[axis];
                    (left, rest) = (left / grid[axis], rest / block[axis]);
                    is_inside &= place < shape[axis];
                    at += place * step;
                    step *= shape[axis];
                }
                prop_assert!(!is_inside || found == &item[at * itemsize..(at + 1) * itemsize]);
            }
        }
    }

    #[test]
    fn default_blocks_fit_and_pad_little(
        dims in prop::collection::vec(1..5000_u64, 1..5),
        itemsize in 1..300_usize,
    ) {
        let blocks = default_blocks(&dims, itemsize);
        let items: u64 = blocks.iter().product();
        prop_assert!(items * itemsize as u64 <= 64 << 10 || items == 1);
        let padded = dims.iter().zip(&blocks).map(|(&dim, &block)| {
            prop_assert!((1..=dim).contains(&block));
            Ok(dim.div_ceil(block) * block)
        });
        let padded: u64 = padded.collect::<Result<Vec<_>, TestCaseError>>()?.iter().product();
        prop_assert!(padded <= 4 * dims.iter().product::<u64>());
    }
}

#[test]
fn special_chunks_are_read_in_every_way() {
    for (special, value, item) in [
        (Special::Zeros, &[][..], vec![0; 4]),
        (Special::Nans, &[], f32::NAN.to_le_bytes().to_vec()),
        (Special::Value, b"item", b"item".to_vec()),
    ] {
        for has_rank in [0, 1] {
            let spec = spec(&[5, 7], 4, [24, 4, 5, 1, 5, has_rank]);
            let nbytes = match &spec.blocks {
                Some(blocks) => {
                    blocks.iter().zip([5_u64, 7]).map(|(b, n)| n.div_ceil(*b) * b).product::<u64>() * 4
                }
                None => 140,
            };
            let nbytes = usize::try_from(nbytes).unwrap();
            let stored = wrap(&spec, encode_special(special, value, nbytes, 4).unwrap()).unwrap();
            let plain = item.repeat(35);
            assert_eq!(whole(&stored, 140).unwrap(), plain, "{special:?}");
            let frame = open(&stored, &[5, 7], 4).unwrap();
            let mut out = vec![9; 140];
            frame.read_items(&mut out).unwrap();
            assert_eq!(out, plain);
            let mut part = [9; 6];
            frame.read(3, &mut part).unwrap();
            assert_eq!(part[..], plain[3..9]);
            assert!(frame.read(nbytes - 5, &mut part).is_err());
            assert_eq!(frame.repeated().is_some(), special != Special::Value);
            assert!(frame.memory_bytes() < 4000 + stored.len() + 8192);
        }
    }
}

#[test]
fn damaged_frames_are_an_error_or_a_value() {
    let spec = spec(&[9, 11], 4, [64, 4, 5, 1, 5, 1]);
    let mut stored = encode_frame(&spec, &sample(396), &Job::inline()).unwrap();
    let try_out = |bytes: &[u8]| {
        let outs = [0, 0xff].map(|before| {
            let mut out = vec![before; 396];
            decode_frame(bytes, &mut out).map(|()| out).ok()
        });
        assert!(outs[0] == outs[1]);
        let Ok(frame) = open(bytes, &[9, 11], 4) else { return };
        let mut out = vec![0; 396];
        let is_read = frame.read_items(&mut out).is_ok();
        assert!(!is_read || outs[0].as_ref().is_none_or(|other| *other == out));
        let _ = (frame.blocks(), frame.block_bytes(), frame.memory_bytes(), decoded_bytes(bytes));
    };
    (0..stored.len()).for_each(|end| try_out(&stored[..end]));
    for bit in 0..8 * stored.len() {
        stored[bit / 8] ^= 1 << (bit % 8);
        try_out(&stored);
        stored[bit / 8] ^= 1 << (bit % 8);
    }
}

#[test]
fn a_chunk_of_another_size_is_not_wrapped() {
    let spec = spec(&[5, 7], 4, [24, 4, 5, 1, 5, 1]);
    let error = wrap(&spec, encode_special(Special::Zeros, &[], 136, 4).unwrap()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid);
}

#[test]
fn blocks_in_order_are_those_that_stand_as_the_array_does() {
    let tiles = |shape: &[usize], block: &[usize]| Tiles {
        shape: shape.into(),
        start: vec![0; shape.len()],
        extent: shape.into(),
        block: block.into(),
        grid: shape.iter().zip(block).map(|(n, b)| n.div_ceil(*b)).collect(),
        itemsize: 1,
    };
    for (shape, block, in_order) in [
        (&[4, 6][..], &[4, 6][..], true),
        (&[4, 6], &[2, 6], true),
        (&[4, 6], &[3, 6], true),
        (&[4, 6], &[1, 3], true),
        (&[4, 6], &[1, 4], false),
        (&[1, 6], &[1, 4], true),
        (&[4, 6], &[2, 3], false),
        (&[2, 4, 6], &[1, 3, 6], false),
        (&[2, 4, 6], &[1, 2, 6], true),
        (&[2, 4, 6], &[2, 2, 6], false),
        (&[], &[], true),
    ] {
        assert_eq!(tiles(shape, block).are_in_order(), in_order, "{shape:?} {block:?}");
    }
}

/// Chunks of every form: blocks, stored as they are, values that repeat, arrays in tiles, and with a zone map.
fn guarded() -> Vec<(Vec<u64>, Vec<u8>, Vec<u8>)> {
    let random: Vec<u8> =
        (0..4800_u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 13).to_le_bytes()[0]).collect();
    let mut made = Vec::new();
    for plain in [sample(4800), random, vec![0; 4800], [7, 1, 0, 9].repeat(1200)] {
        for (dims, has_rank) in [(vec![1200], 0), (vec![30, 40], 1)] {
            let spec = spec(&dims, 4, [1000, 4, 5, 1, 5, has_rank]);
            made.push((dims, plain.clone(), encode_frame(&spec, &plain, &Job::inline()).unwrap()));
        }
        let spec = spec(&[1200], 4, [1000, 4, 5, 1, 1, 0]);
        let field = [ZoneField { offset: 0, kind: ZoneKind::Number(coquina_kernels::Type::I32) }];
        made.push((
            vec![1200],
            plain.clone(),
            encode_zoned(&spec, &plain, &field, 1200, &Job::inline()).unwrap(),
        ));
    }
    made
}

#[test]
fn every_flipped_bit_of_a_chunk_with_checksums_is_an_error_or_changes_nothing() {
    for (dims, plain, stored) in guarded() {
        assert!(open(&stored, &dims, 4).unwrap().has_sums());
        let (mut damaged, mut refused) = (stored.clone(), 0);
        for bit in 0..8 * stored.len() {
            damaged[bit / 8] ^= 1 << (bit % 8);
            let mut out = vec![0x11; plain.len()];
            let read = open(&damaged, &dims, 4).and_then(|frame| frame.read_items(&mut out));
            refused += usize::from(read.is_err());
            assert!(read.is_err() || out == plain, "{dims:?}: bit {bit}");
            let all = whole(&damaged, plain.len());
            assert!(all.is_err() || all.unwrap() == plain, "{dims:?}: bit {bit}");
            damaged[bit / 8] ^= 1 << (bit % 8);
        }
        // But for the name of the metalayer, numbers of threads and the end of the frame, all of it is read.
        assert!(refused > 8 * stored.len().saturating_sub(150), "{dims:?}: {refused} of {}", stored.len());
    }
}

#[test]
fn a_read_verifies_the_blocks_that_it_needs_and_no_others() {
    let plain: Vec<u8> =
        (0..4800_u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 13).to_le_bytes()[0]).collect();
    let mut stored = encode_frame(&spec(&[1200], 4, [1000, 4, 5, 1, 5, 0]), &plain, &Job::inline()).unwrap();
    // In the midst of the chunk, behind all that says where blocks are.
    let at = stored.len() / 2;
    stored[at] ^= 1;
    let frame = open(&stored, &[1200], 4).unwrap();
    let mut out = vec![0; 1000];
    let mut bad = 0;
    for start in (0..4000).step_by(1000) {
        match frame.read(start, &mut out) {
            Ok(()) => assert_eq!(out, plain[start..start + 1000]),
            Err(error) => bad += usize::from(error.kind() == ErrorKind::Corrupt),
        }
    }
    assert_eq!(bad, 1);
}

#[test]
fn a_chunk_at_the_place_of_another_is_an_error() {
    let plain = sample(4800);
    let mut stored = encode_frame(&spec(&[1200], 4, [1000, 4, 5, 1, 5, 0]), &plain, &Job::inline()).unwrap();
    // One that was not told its place fits everywhere: a filter of libhdf5 does not know it.
    open(&stored, &[1200], 4).unwrap().check_place(&[2400]).unwrap();
    put_place(&mut stored, &[2400]);
    let frame = open(&stored, &[1200], 4).unwrap();
    frame.check_place(&[2400]).unwrap();
    assert_eq!(frame.check_place(&[1200]).unwrap_err().kind(), ErrorKind::Corrupt);
    assert_eq!(whole(&stored, plain.len()).unwrap(), plain);
    // What has no checksums is left alone.
    let mut foreign = unhex(FOREIGN);
    put_place(&mut foreign, &[0, 0]);
    assert_eq!(foreign, unhex(FOREIGN));
}

#[test]
fn checksums_of_a_frame_that_another_program_has_changed_are_not_believed() {
    let plain = sample(4800);
    let mut stored = encode_frame(&spec(&[1200], 4, [1000, 4, 5, 1, 5, 0]), &plain, &Job::inline()).unwrap();
    (stored[64], stored[67]) = (1, 1);
    let frame = open(&stored, &[1200], 4).unwrap();
    assert!(!frame.has_sums());
    assert_eq!(whole(&stored, plain.len()).unwrap(), plain);
}
