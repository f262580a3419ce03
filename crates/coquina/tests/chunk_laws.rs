//! Laws of chunks through the public API: what was encoded decodes, parts are slices of the whole, bytes do not
//! depend on threads, the worked examples of the format text hold, and hostile bytes give an error or a value.

#![expect(clippy::unwrap_used, reason = "a helper that fails fails its test")]

mod cases;

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use cases::{
    Case, any_blosc1_params, any_bytes, any_codec, any_params, any_pipeline, noise, pipeline, sample,
};
use coquina::chunk::{
    BlockSource, CHUNK_BYTES_MAX, Chunk, Generation, HEADER_BYTES, Header, Kind, Params, Part, Special,
    Split, decode_parts, encode, encode_blocks_of, encode_into, encode_special,
};
use coquina::codec::{self, CODECS};
use coquina::{Error, ErrorKind, Job, Limits, set_num_threads};
use proptest::prelude::*;

/// Decodes a whole chunk into a buffer that is filled with `fill` before.
fn decode_over(chunk: &[u8], fill: u8, limits: &Limits) -> Result<Vec<u8>, Error> {
    let chunk = Chunk::parse(chunk, limits)?;
    let mut out = vec![fill; chunk.header().nbytes];
    chunk.decode_into(&mut out, &Job::default())?;
    Ok(out)
}

fn decode(chunk: &[u8]) -> Result<Vec<u8>, Error> {
    decode_over(chunk, 0xa5, &Limits::default())
}

/// Gives the blocks of bytes that lie there, and counts what it was asked for.
struct Blocks<'a> {
    bytes: &'a [u8],
    block_bytes: usize,
    asked: Mutex<Vec<usize>>,
}

impl<'a> Blocks<'a> {
    fn new(bytes: &'a [u8], params: &Params) -> Self {
        Self { bytes, block_bytes: params.block_bytes(bytes.len()), asked: Mutex::new(Vec::new()) }
    }
}

impl BlockSource for Blocks<'_> {
    fn fill(&self, number: usize, out: &mut [u8]) {
        self.asked.lock().unwrap().push(number);
        let block = &self.bytes[number * self.block_bytes..];
        assert_eq!(out.len(), block.len().min(self.block_bytes), "block {number}");
        out.copy_from_slice(&block[..out.len()]);
    }
}

/// What a buffer of many chunks holds before it is used again.
fn used(params: &Params, nbytes: usize) -> Vec<u8> {
    vec![0xee; params.bound(nbytes)]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn decoding_what_was_encoded_gives_it_back(
        bytes in any_bytes(),
        case in prop_oneof![4 => any_params(), 1 => any_blosc1_params()],
        wanted in any::<(u16, u16)>(),
    ) {
        let Case(params) = case;
        let chunk = encode(&bytes, &params, &Job::default()).unwrap();
        prop_assert!(chunk.len() <= params.bound(bytes.len()));
        prop_assert_eq!(&decode(&chunk).unwrap(), &bytes);

        let parsed = Chunk::parse(&chunk, &Limits::default()).unwrap();
        let start = usize::from(wanted.0) % (bytes.len() + 1);
        let stop = start + usize::from(wanted.1) % (bytes.len() - start + 1);
        let mut out = vec![0x5a; stop - start];
        parsed.decode_range(start, &mut out, &Job::default()).unwrap();
        prop_assert_eq!(&out[..], &bytes[start..stop]);
    }

    #[test]
    fn blocks_of_a_source_make_the_chunk_of_the_gathered_bytes(
        bytes in any_bytes(),
        case in prop_oneof![4 => any_params(), 1 => any_blosc1_params()],
        truncate in any::<bool>(),
        threads in 1_usize..4,
    ) {
        let Case(mut params) = case;
        if truncate && params.generation == Generation::Blosc2 && params.pipeline.slots[5].id == 0 {
            params.typesize = 4;
            params.pipeline.slots.rotate_right(1);
            params.pipeline.slots[0] = coquina::filter::Slot { id: 36, meta: 9 };
        }
        let gathered = encode(&bytes, &params, &Job::default()).unwrap();
        for mut out in [Vec::new(), used(&params, bytes.len())] {
            let source = Blocks::new(&bytes, &params);
            let job = Job::default().threads(Some(threads));
            let cbytes = encode_blocks_of(&source, bytes.len(), &params, &mut out, &job).unwrap();
            prop_assert_eq!(&out[..cbytes], &gathered[..]);
        }
    }

    #[test]
    fn truncation_keeps_the_asked_bits_and_delta_refers_to_what_is_decoded(
        bytes in any_bytes(),
        codec in any_codec(),
        kept in 1_u8..=23,
        rest in any_pipeline(),
        blocksize in prop::option::of(1_usize..3000),
    ) {
        let mut slots = vec![(36, kept)];
        slots.extend(rest.slots.iter().take(5).map(|slot| (slot.id, slot.meta)));
        let codec = codec::by_name(codec).unwrap();
        let params = Params { codec, typesize: 4, pipeline: pipeline(&slots), blocksize, ..Params::default() };
        let chunk = encode(&bytes, &params, &Job::default()).unwrap();
        let decoded = decode(&chunk).unwrap();
        if Header::read(&chunk, &Limits::default()).unwrap().kind().unwrap() == Kind::Memcpyed {
            prop_assert_eq!(decoded, bytes);
        } else {
            let mask = u32::MAX << (32 - u32::from(kept));
            for (item, original) in decoded.chunks(4).zip(bytes.chunks(4)) {
                match (<[u8; 4]>::try_from(item), <[u8; 4]>::try_from(original)) {
                    (Ok(item), Ok(original)) => {
                        prop_assert_eq!(u32::from_le_bytes(item), u32::from_le_bytes(original) & mask);
                    }
                    // What is no whole item is kept.
                    _ => prop_assert_eq!(item, original),
                }
            }
        }
    }
}

#[test]
fn every_range_of_bytes_is_the_slice_of_the_whole() {
    for filters in [&[(1, 0)][..], &[(3, 0), (1, 0)], &[(2, 0), (35, 4)], &[]] {
        for dictionary in [false, true] {
            let params = Params {
                typesize: 4,
                pipeline: pipeline(filters),
                blocksize: Some(700),
                dictionary,
                ..Params::default()
            };
            let bytes = sample(6001, 11);
            let chunk = encode(&bytes, &params, &Job::default()).unwrap();
            let chunk = Chunk::parse(&chunk, &Limits::default()).unwrap();
            for start in (0..bytes.len()).step_by(97) {
                for len in [0, 1, 3, 699, 700, 701, 1500, bytes.len()] {
                    let stop = (start + len).min(bytes.len());
                    let mut out = vec![0; stop - start];
                    chunk.decode_range(start, &mut out, &Job::default()).unwrap();
                    assert_eq!(out, bytes[start..stop], "{start}..{stop}");
                }
            }
        }
    }
}

#[test]
fn parts_of_several_chunks_are_decoded_as_one_job() {
    let inputs: Vec<_> = (0..5).map(|i| sample(90_000 + i * 1000, 3 + i as u64)).collect();
    let params = Params { typesize: 4, blocksize: Some(8000), ..Params::default() };
    let chunks: Vec<_> = inputs.iter().map(|b| encode(b, &params, &Job::default()).unwrap()).collect();
    let parsed: Vec<_> = chunks.iter().map(|c| Chunk::parse(c, &Limits::default()).unwrap()).collect();
    for threads in [1, 2, 7] {
        let mut outs = vec![vec![0; 60_000]; 5];
        let parts = parsed.iter().zip(&mut outs).enumerate().map(|(i, (chunk, out))| Part {
            chunk,
            start: i * 777,
            out,
        });
        decode_parts(parts.collect(), &Job::default().threads(Some(threads))).unwrap();
        for (i, (out, input)) in outs.iter().zip(&inputs).enumerate() {
            assert_eq!(out[..], input[i * 777..][..60_000]);
        }
    }
}

#[test]
fn a_source_makes_large_chunks_too_and_each_block_once_if_nothing_asks_twice() {
    let noise_bytes = noise(4_000_000);
    let rising = sample(4_000_000, 7);
    let zeros = vec![0; 4_000_000];
    for (bytes, filters, per_block) in [
        (&rising, &[(1, 0)][..], 1),
        // Block 0 once more, for the others.
        (&rising, &[(3, 0), (1, 0)], 1),
        (&rising, &[(36, 20), (3, 0)], 1),
        (&zeros, &[(1, 0)], 1),
        // Stored, after some blocks have been tried.
        (&noise_bytes, &[(1, 0)], 2),
    ] {
        let params = Params {
            typesize: 4,
            level: 1,
            pipeline: pipeline(filters),
            blocksize: Some(60_000),
            ..Params::default()
        };
        let gathered = encode(bytes, &params, &Job::default()).unwrap();
        for threads in [1, 2, 7] {
            let source = Blocks::new(bytes, &params);
            let mut out = Vec::new();
            let job = Job::default().threads(Some(threads));
            let cbytes = encode_blocks_of(&source, bytes.len(), &params, &mut out, &job).unwrap();
            assert_eq!(out[..cbytes], gathered);
            let asked = source.asked.lock().unwrap().len();
            assert!((67..=67 * per_block + 1).contains(&asked), "{asked} blocks asked for");
        }
    }
}

#[test]
fn a_source_may_decode_and_encode_while_it_is_asked() {
    // An array that changes a part of a block decodes the block while another one is being encoded.
    struct Inner<'a>(Chunk<'a>, AtomicUsize);
    impl BlockSource for Inner<'_> {
        fn fill(&self, number: usize, out: &mut [u8]) {
            self.1.fetch_add(1, Ordering::Relaxed);
            self.0.decode_range(number * 1000, out, &Job::default()).unwrap();
        }
    }
    let bytes = sample(50_500, 3);
    let params = Params { typesize: 4, blocksize: Some(1000), ..Params::default() };
    let chunk = encode(&bytes, &params, &Job::default()).unwrap();
    let source = Inner(Chunk::parse(&chunk, &Limits::default()).unwrap(), AtomicUsize::new(0));
    let mut out = Vec::new();
    let cbytes = encode_blocks_of(&source, bytes.len(), &params, &mut out, &Job::default()).unwrap();
    assert_eq!(out[..cbytes], chunk);
    assert_eq!(source.1.into_inner(), 51);
}

#[test]
fn chunks_are_the_same_bytes_for_any_number_of_threads() {
    let bytes = sample(1_500_000, 42);
    for codec in CODECS.iter().copied().filter(|c| cases::is_general(*c)) {
        for (filters, blocksize) in
            [(&[(1, 0)][..], None), (&[(3, 0), (1, 0)], Some(20_000)), (&[], Some(7777))]
        {
            let params = Params {
                codec,
                level: 2,
                typesize: 4,
                pipeline: pipeline(filters),
                blocksize,
                ..Params::default()
            };
            let mut made = Vec::new();
            for threads in [1, 2, 7, 2] {
                let before = set_num_threads(threads).unwrap();
                made.push(encode(&bytes, &params, &Job::default()).unwrap());
                made.push(encode(&bytes, &params, &Job::default().threads(Some(3))).unwrap());
                set_num_threads(before).unwrap();
            }
            assert!(made.windows(2).all(|pair| pair[0] == pair[1]), "{}", codec.name());
            assert_eq!(decode(&made[0]).unwrap(), bytes);
        }
    }
}

#[test]
fn a_chunk_does_not_depend_on_what_was_encoded_before() {
    // A libzstd context that had met a stream which does not fit refused to change its level from then on, so
    // that its thread stored all later streams as they were.
    let inputs = [sample(40_000, 1), noise(40_000), sample(3_001, 2), noise(700), vec![7; 5000]];
    for codec in CODECS.iter().copied().filter(|c| cases::is_general(*c)) {
        let encode_at = |level: u8, bytes: &[u8], dictionary: bool| {
            let blocksize = Some(usize::from(level) * 600);
            let dictionary = dictionary && codec.takes_dictionary();
            let pipeline = pipeline(&[(1 + level % 2, 0)]);
            let params =
                Params { codec, level, typesize: 4, pipeline, blocksize, dictionary, ..Params::default() };
            encode(bytes, &params, &Job::default().threads(Some(1))).unwrap()
        };
        let cases: Vec<(u8, usize, bool)> =
            (0..90).map(|i| (1 + i % 9 * 7 % 9, usize::from(i) % inputs.len(), i % 4 == 3)).collect();
        let fresh = |&(level, input, dictionary): &(u8, usize, bool)| {
            let encode = || encode_at(level, &inputs[input], dictionary);
            std::thread::scope(|scope| scope.spawn(encode).join().unwrap())
        };
        for case @ &(level, input, dictionary) in &cases {
            let used = encode_at(level, &inputs[input], dictionary);
            assert_eq!(used.len(), fresh(case).len(), "{} {case:?}", codec.name());
            assert_eq!(used, fresh(case), "{} {case:?}", codec.name());
        }
    }
}

#[test]
fn an_observer_sees_work_done_and_may_stop_it() {
    let bytes = sample(4_000_000, 1);
    let params = Params { codec: codec::by_name("zlib").unwrap(), typesize: 4, ..Params::default() };
    let stop = |done: u64, total: u64| {
        assert!(done <= total && total >= bytes.len() as u64, "{done} of {total}");
        if done > 0 { std::ops::ControlFlow::Break(()) } else { std::ops::ControlFlow::Continue(()) }
    };
    let error = encode(&bytes, &params, &Job::default().observed_by(&stop)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Cancelled);
}

/// Bytes from text: hexadecimal, spaces ignored.
fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<_> = text.chars().filter(|c| !c.is_whitespace()).collect();
    let byte = |pair: &[char]| u8::from_str_radix(&pair.iter().collect::<String>(), 16).unwrap();
    digits.chunks(2).map(byte).collect()
}

#[test]
fn worked_examples_of_the_format_text_are_read_and_written_byte_for_byte() {
    let tens = 7_u32.to_le_bytes().repeat(10);
    let never = hex("05013504 28000000 28000000 37000000  000000000001 0100 000000000000 0000
         24000000  0f000000  150701001f00010005500000000000");
    let always = hex("05012504 28000000 28000000 35000000  000000000001 0100 000000000000 0000
         24000000  f9ffffff01 00000000 00000000 00000000");
    assert_eq!(decode(&never).unwrap(), tens);
    assert_eq!(decode(&always).unwrap(), tens);
    let mut params = Params { codec: codec::by_name("lz4").unwrap(), typesize: 4, ..Params::default() };
    assert_eq!(encode(&tens, &params, &Job::default()).unwrap(), never);
    params.split = Split::Always;
    assert_eq!(encode(&tens, &params, &Job::default()).unwrap(), always);

    let zeros = hex("05018508 20030000 20030000 20000000  000000000001 0500 000000000000 0010");
    let params = Params { typesize: 8, ..Params::default() };
    assert_eq!(encode(&[0; 800], &params, &Job::default()).unwrap(), zeros);
    assert_eq!(decode(&zeros).unwrap(), [0; 800]);

    let nothing = hex("05010704 00000000 01000000 20000000  000000000001 0100 000000000000 0000");
    let params = Params { codec: codec::by_name("lz4").unwrap(), typesize: 4, ..Params::default() };
    assert_eq!(encode(&[], &params, &Job::default()).unwrap(), nothing);
    assert_eq!(decode(&nothing).unwrap(), [0_u8; 0]);
    let abc = hex("05010704 03000000 01000000 23000000  000000000001 0100 000000000000 0000 616263");
    assert_eq!(decode(&abc).unwrap(), b"abc");
    let ours = encode(b"abc", &params, &Job::default()).unwrap();
    assert_eq!((ours.len(), decode(&ours).unwrap()), (35, b"abc".to_vec()));
}

#[test]
fn special_chunks_decode_to_their_value_and_refuse_sizes_that_do_not_fit() {
    let nan = f64::NAN.to_le_bytes();
    for (special, value, typesize, item) in [
        (Special::Zeros, &[][..], 3, &[0][..]),
        (Special::Nans, &[], 8, &nan),
        (Special::Value, b"abc", 1, b"abc"),
        (Special::Uninit, &[], 8, &[0; 8]),
    ] {
        let chunk = encode_special(special, value, 2400, typesize).unwrap();
        assert_eq!(decode(&chunk).unwrap(), item.repeat(2400 / item.len()));
        assert_eq!(chunk.len(), HEADER_BYTES + value.len());
    }
    for (special, value, nbytes, typesize) in [
        (Special::Nans, &[][..], 80, 2),
        (Special::Nans, &[], 81, 8),
        (Special::Value, b"abc", 80, 3),
        (Special::Uninit, &[], 81, 8),
    ] {
        assert_eq!(encode_special(special, value, nbytes, typesize).unwrap_err().kind(), ErrorKind::Invalid);
    }
}

#[test]
fn more_bytes_than_a_chunk_holds_are_refused_before_any_work() {
    assert_eq!(CHUNK_BYTES_MAX, 2_147_483_615);
    let params = Params::default();
    assert_eq!(
        encode_special(Special::Zeros, &[], CHUNK_BYTES_MAX + 1, 1).unwrap_err().kind(),
        ErrorKind::Limit
    );
    let error = encode_into(&[0; 100], &params, &mut [0; 131], &Job::default()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid);
    assert!(error.to_string().contains("131") && error.to_string().contains("132"), "{error}");
}
