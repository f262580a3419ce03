//! Laws of chunks that are read block by block: they give what the whole chunk gives, read no more than they must,
//! and notice every damage where there are sums.

#![expect(clippy::unwrap_used, reason = "a helper that fails fails its test")]

mod cases;

use std::fs;
use std::num::NonZeroU64;
use std::path::Path;
use std::sync::{Arc, Mutex};

use cases::{Case, any_blosc1_params, any_bytes, any_params, noise, pipeline, sample};
use coquina::chunk::{
    Chunk, Generation, Header, Kind, LazyChunk, Params, Place, Special, encode, encode_special, sums,
};
use coquina::{Error, ErrorKind, Job, Limits, ReadAt, Result};
use proptest::prelude::*;

/// Bytes as in a file: nobody gets at them but by reading, and what is read is written down.
#[derive(Default)]
struct File {
    bytes: Vec<u8>,
    reads: Mutex<Vec<(u64, usize)>>,
    /// How many reads fail before one succeeds.
    failing: Mutex<usize>,
}

impl ReadAt for File {
    fn len(&self) -> Result<u64> {
        ReadAt::len(&self.bytes)
    }

    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> Result<()> {
        self.reads.lock().unwrap().push((offset, buffer.len()));
        let mut failing = self.failing.lock().unwrap();
        if *failing > 0 {
            *failing -= 1;
            return Err(Error::from(std::io::Error::other("not now")));
        }
        self.bytes.read_exact_at(buffer, offset)
    }
}

impl File {
    fn take_reads(&self) -> Vec<(u64, usize)> {
        std::mem::take(&mut *self.reads.lock().unwrap())
    }
}

/// A chunk between other bytes, with its sums or without.
fn stored(chunk: &[u8], has_sums: bool) -> (Vec<u8>, Place) {
    let (mut table, mut sum) = (Vec::new(), None);
    if has_sums {
        let sums = sums(chunk).unwrap();
        (table, sum) = (sums.table, Some(sums.chunk));
    }
    let room = (chunk.len() + table.len()) as u64;
    ([&[0xdd; 77], chunk, &table, &[0xdd; 9]].concat(), Place { at: 77, room, sum })
}

fn open(bytes: Vec<u8>, place: Place) -> Result<(Arc<File>, LazyChunk)> {
    let file = Arc::new(File { bytes, ..File::default() });
    let lazy = LazyChunk::open(Arc::clone(&file) as Arc<dyn ReadAt>, place, &Limits::default())?;
    Ok((file, lazy))
}

/// The chunk as it lies in memory and in a file, with and without sums.
fn all_ways(chunk: &[u8]) -> Vec<LazyChunk> {
    let mut ways = Vec::new();
    for has_sums in [false, true] {
        let (bytes, place) = stored(chunk, has_sums);
        ways.push(LazyChunk::open(Arc::new(bytes.clone()), place, &Limits::default()).unwrap());
        ways.push(open(bytes, place).unwrap().1);
    }
    ways
}

fn decode(chunk: &[u8]) -> Vec<u8> {
    let chunk = Chunk::parse(chunk, &Limits::default()).unwrap();
    let mut out = vec![0xa5; chunk.header().nbytes];
    chunk.decode_into(&mut out, &Job::default()).unwrap();
    out
}

/// A range by two numbers of any size.
fn range_of(wanted: (u16, u16), end: usize) -> std::ops::Range<usize> {
    let start = usize::from(wanted.0) % (end + 1);
    start..start + usize::from(wanted.1) % (end - start + 1)
}

fn assert_reads_as(chunk: &[u8], whole: &[u8], wanted: (u16, u16)) {
    for lazy in all_ways(chunk) {
        let mut out = vec![0x5a; whole.len()];
        lazy.read(0, &mut out).unwrap();
        assert_eq!(out, whole);
        let range = range_of(wanted, whole.len());
        lazy.read(range.start, &mut out[range.clone()]).unwrap();
        assert_eq!(out, whole);

        let blocks = range_of(wanted, lazy.nblocks());
        if !blocks.is_empty() {
            let bytes = lazy.block_range(blocks.start).start..lazy.block_range(blocks.end - 1).end;
            let mut out = vec![0x5a; bytes.len()];
            let decoded = lazy.decode_blocks(blocks.start, &mut out).unwrap();
            assert_eq!(out, whole[bytes]);
            assert!(decoded == blocks.len() || decoded == 0, "{decoded} blocks of {blocks:?}");
        }
        let mut more = vec![0; whole.len() + 1];
        assert_eq!(lazy.read(0, &mut more).unwrap_err().kind(), ErrorKind::OutOfBounds);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 700, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_lazy_chunk_reads_as_the_whole_one(
        bytes in any_bytes(),
        case in prop_oneof![4 => any_params(), 1 => any_blosc1_params()],
        wanted in any::<(u16, u16)>(),
    ) {
        let Case(params) = case;
        let chunk = encode(&bytes, &params, &Job::default()).unwrap();
        assert_reads_as(&chunk, &bytes, wanted);
    }
}

#[test]
fn golden_and_special_chunks_read_lazily_as_whole_ones() {
    let mut chunks = vec![
        encode_special(Special::Value, b"abc", 3000, 3).unwrap(),
        encode_special(Special::Nans, &[], 400, 8).unwrap(),
        encode_special(Special::Zeros, &[], 0, 8).unwrap(),
    ];
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden");
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "chunk") {
            chunks.push(fs::read(path).unwrap());
        }
    }
    assert!(chunks.len() > 30);
    let kind = |chunk: &Vec<u8>| Header::read(chunk, &Limits::default()).unwrap().kind().unwrap();
    assert!(chunks.iter().any(|chunk| kind(chunk) == Kind::VariableBlocks));
    for chunk in &chunks {
        let whole = decode(chunk);
        for wanted in [(0, 0), (0, 1), (1, 1), (0, u16::MAX), (1, 500), (3, 77), (999, 2)] {
            assert_reads_as(chunk, &whole, wanted);
        }
    }
}

/// Blocks of 1000 bytes of noise and of items, 30 000 bytes in all.
fn thirty_blocks(filters: &[(u8, u8)]) -> (Vec<u8>, Vec<u8>) {
    let bytes = [sample(20_000, 5), noise(10_000)].concat();
    let pipeline = pipeline(filters);
    let params = Params { typesize: 4, pipeline, blocksize: Some(1000), ..Params::default() };
    let chunk = encode(&bytes, &params, &Job::default()).unwrap();
    assert_eq!(Header::read(&chunk, &Limits::default()).unwrap().nblocks(), 30);
    (chunk, bytes)
}

/// The block starts of a chunk of thirty blocks, and its end.
fn starts(chunk: &[u8]) -> Vec<usize> {
    let words = chunk[32..32 + 4 * 30].chunks_exact(4);
    let starts = words.map(|word| u32::from_le_bytes(word.try_into().unwrap()) as usize);
    starts.chain([chunk.len()]).collect()
}

#[test]
fn nothing_is_read_but_the_head_and_the_wanted_blocks() {
    let (chunk, bytes) = thirty_blocks(&[(1, 0)]);
    let starts = starts(&chunk);
    assert!(chunk.len() > 10_000);
    for has_sums in [false, true] {
        let (stored, place) = stored(&chunk, has_sums);
        let (file, lazy) = open(stored, place).unwrap();
        let table = if has_sums { vec![(77 + chunk.len() as u64, 120)] } else { vec![] };
        assert_eq!(file.take_reads(), [vec![(77, 4096)], table].concat());

        let mut out = vec![0; 5000];
        assert_eq!(lazy.decode_blocks(7, &mut out).unwrap(), 5);
        assert_eq!(out, bytes[7000..12_000]);
        assert_eq!(file.take_reads(), [(77 + starts[7] as u64, starts[12] - starts[7])]);

        // Half a block is read whole.
        lazy.read(3001, &mut out[..998]).unwrap();
        assert_eq!(out[..998], bytes[3001..3999]);
        assert_eq!(file.take_reads(), [(77 + starts[3] as u64, starts[4] - starts[3])]);

        let kept = lazy.memory_bytes();
        assert!((120..2000).contains(&kept), "{kept} bytes are kept");
        assert_eq!(lazy.decode_blocks(3, &mut out[..998]).unwrap_err().kind(), ErrorKind::Invalid);
    }
}

#[test]
fn a_small_chunk_takes_one_read_in_all() {
    let params = Params { typesize: 4, ..Params::default() };
    let bytes = sample(3000, 1);
    for params in [params, Params { level: 0, ..params }, Params { generation: Generation::Blosc1, ..params }]
    {
        let chunk = encode(&bytes, &params, &Job::default()).unwrap();
        let (stored, place) = stored(&chunk, true);
        let (file, lazy) = open(stored, place).unwrap();
        let mut out = vec![0; bytes.len()];
        lazy.read(0, &mut out).unwrap();
        assert_eq!(out, bytes);
        assert_eq!(file.take_reads(), [(77, usize::try_from(place.room).unwrap())]);
    }
}

#[test]
fn stored_bytes_without_sums_are_read_straight_to_their_place() {
    let bytes = noise(100_000);
    let params = Params { blocksize: Some(10_000), level: 0, ..Params::default() };
    let chunk = encode(&bytes, &params, &Job::default()).unwrap();
    for (has_sums, want) in [(false, (77 + 32 + 15_000, 30_000)), (true, (77 + 32 + 10_000, 40_000))] {
        let (stored, place) = stored(&chunk, has_sums);
        let (file, lazy) = open(stored, place).unwrap();
        file.take_reads();
        let mut out = vec![0; 30_000];
        lazy.read(15_000, &mut out).unwrap();
        assert_eq!(out, bytes[15_000..45_000]);
        assert_eq!(file.take_reads(), [want]);
    }
}

#[test]
fn delta_reads_the_first_block_once_when_it_is_first_needed() {
    let (chunk, bytes) = thirty_blocks(&[(3, 0), (1, 0)]);
    let starts = starts(&chunk);
    let (stored, place) = stored(&chunk, true);
    let (file, lazy) = open(stored, place).unwrap();
    file.take_reads();
    let mut out = vec![0; 2000];
    *file.failing.lock().unwrap() = 1;
    assert_eq!(lazy.decode_blocks(20, &mut out).unwrap_err().kind(), ErrorKind::Io);
    file.take_reads();
    let first = (77 + starts[0] as u64, starts[1] - starts[0]);
    let wanted = (77 + starts[20] as u64, starts[22] - starts[20]);
    for reads in [vec![first, wanted], vec![wanted]] {
        lazy.decode_blocks(20, &mut out).unwrap();
        assert_eq!(out, bytes[20_000..22_000]);
        assert_eq!(file.take_reads(), reads);
    }
    // A walk that begins with it reads it along.
    let (file, lazy) = open(file.bytes.clone(), place).unwrap();
    file.take_reads();
    lazy.decode_blocks(0, &mut out).unwrap();
    assert_eq!(out, bytes[..2000]);
    assert_eq!(file.take_reads(), [(77 + starts[0] as u64, starts[2] - starts[0])]);
    assert!(lazy.memory_bytes() >= 1000, "block 0 is kept");
}

#[test]
fn threads_that_need_the_first_block_at_once_all_get_it() {
    let (chunk, bytes) = thirty_blocks(&[(3, 0)]);
    let (stored, place) = stored(&chunk, true);
    for _ in 0..20 {
        let (_, lazy) = open(stored.clone(), place).unwrap();
        std::thread::scope(|scope| {
            for number in [3, 0, 11, 29] {
                let (lazy, bytes) = (&lazy, &bytes);
                scope.spawn(move || {
                    let mut out = vec![0; 1000];
                    lazy.decode_blocks(number, &mut out).unwrap();
                    assert_eq!(out, bytes[1000 * number..1000 * (number + 1)]);
                });
            }
        });
    }
}

/// The same chunk with its blocks in another order, and `gap` bytes of rubbish after each.
fn reordered(chunk: &[u8], order: impl Iterator<Item = usize>, gap: usize) -> Vec<u8> {
    let starts = starts(chunk);
    let mut other = chunk[..starts[0]].to_vec();
    for number in order {
        let start = u32::try_from(other.len()).unwrap();
        other[32 + 4 * number..36 + 4 * number].copy_from_slice(&start.to_le_bytes());
        other.extend_from_slice(&chunk[starts[number]..starts[number + 1]]);
        other.resize(other.len() + gap, 0xcc);
    }
    let cbytes = u32::try_from(other.len()).unwrap();
    other[12..16].copy_from_slice(&cbytes.to_le_bytes());
    other
}

#[test]
fn blocks_in_any_order_are_found_and_read_at_once_where_they_fill_a_range() {
    let (chunk, bytes) = thirty_blocks(&[(1, 0)]);
    // Threads that each put down what they have: neighbours swapped, a late one, all backwards, far apart.
    for order in [
        (0..30).map(|i| i ^ 1).collect::<Vec<_>>(),
        (1..20).chain([0]).chain(20..30).collect(),
        (0..30).rev().collect(),
        (0..30).map(|i| i * 7 % 30).collect(),
    ] {
        for gap in [0, 5] {
            let chunk = reordered(&chunk, order.iter().copied(), gap);
            assert_reads_as(&chunk, &bytes, (6001, 7999));
            let (stored, place) = stored(&chunk, true);
            let (file, lazy) = open(stored, place).unwrap();
            file.take_reads();
            let mut out = vec![0; 30_000];
            assert_eq!(lazy.read(0, &mut out).unwrap(), 30);
            let reads = file.take_reads();
            // Rubbish behind a block counts as its own: nobody knows better.
            assert_eq!(reads, [(77 + 32 + 120, chunk.len() - 152)]);
        }
    }
}

#[test]
fn sums_are_those_of_the_format_text() {
    // Computed with another XXH3 (xxHash 0.8) from the worked examples of the format text.
    let hex = |text: &str| -> Vec<u8> {
        let digits: Vec<u8> = text.bytes().filter(u8::is_ascii_hexdigit).collect();
        let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
        digits.chunks(2).map(byte).collect()
    };
    let tens = hex("05013504 28000000 28000000 37000000  000000000001 0100 000000000000 0000
         24000000  0f000000  150701001f00010005500000000000");
    let found = sums(&tens).unwrap();
    assert_eq!(found.chunk, NonZeroU64::new(0xedc5_79f8_6d26_a806).unwrap());
    assert_eq!(found.table, hex("f1ad6360"));
    let zeros = hex("05018508 20030000 20030000 20000000  000000000001 0500 000000000000 0010");
    let found = sums(&zeros).unwrap();
    assert_eq!((found.chunk, found.table), (NonZeroU64::new(0x5248_9c13_200b_b4fa).unwrap(), Vec::new()));
    assert_eq!(sums(&tens[..54]).unwrap_err().kind(), ErrorKind::Truncated);
}

#[test]
fn every_flipped_bit_is_noticed_and_names_its_block() {
    let params = Params { typesize: 4, blocksize: Some(512), ..Params::default() };
    let bytes = sample(2000, 9);
    let chunks = [
        encode(&bytes, &params, &Job::default()).unwrap(),
        encode(&bytes, &Params { level: 0, ..params }, &Job::default()).unwrap(),
        encode(&bytes, &Params { pipeline: pipeline(&[(3, 0)]), ..params }, &Job::default()).unwrap(),
        encode_special(Special::Value, b"abcd", 2000, 4).unwrap(),
    ];
    for (chunk, head) in chunks.iter().zip([48, 32, 48, 36]) {
        let (whole, blocks) = (decode(chunk), 77 + head..77 + chunk.len());
        let (stored, place) = stored(chunk, true);
        let end = 77 + usize::try_from(place.room).unwrap();
        for bit in 8 * 77..8 * end {
            let mut flipped = stored.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            let opened = open(flipped, place);
            assert_eq!(opened.is_ok(), blocks.contains(&(bit / 8)), "bit {bit}");
            let Ok((_, lazy)) = opened else { continue };
            let failed: Vec<usize> = (0..lazy.nblocks())
                .filter(|&number| {
                    let mut out = vec![0; lazy.block_range(number).len()];
                    let Err(error) = lazy.decode_blocks(number, &mut out) else {
                        assert_eq!(out, whole[lazy.block_range(number)], "bit {bit}");
                        return false;
                    };
                    assert_eq!(error.kind(), ErrorKind::Corrupt, "bit {bit}: {error}");
                    let place = error.to_string();
                    assert!(place.contains("checksum") && place.contains("block "), "bit {bit}: {error}");
                    true
                })
                .collect();
            // All blocks need block 0 of a chunk with delta; else they stand alone.
            assert!(!failed.is_empty() && (failed.len() == 1 || failed.len() == 4), "bit {bit}: {failed:?}");
        }
    }
}

#[test]
fn a_wrong_sum_or_too_little_room_is_refused_on_opening() {
    let (chunk, _) = thirty_blocks(&[(1, 0)]);
    let (stored, place) = stored(&chunk, true);
    let wrong = Place { sum: NonZeroU64::new(5), ..place };
    let error = open(stored.clone(), wrong).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::Corrupt);
    assert!(error.to_string().contains("checksum"), "{error}");
    for place in [
        Place { room: place.room - 1, ..place },
        Place { room: 15, ..place },
        Place { room: chunk.len() as u64 - 1, sum: None, ..place },
        Place { at: stored.len() as u64 - 7, room: u64::MAX, sum: None },
        Place { at: u64::MAX, ..place },
    ] {
        for bytes in [Arc::new(stored.clone()) as Arc<dyn ReadAt>, {
            Arc::new(File { bytes: stored.clone(), ..File::default() })
        }] {
            let error = LazyChunk::open(bytes, place, &Limits::default()).err().unwrap();
            assert!(error.kind() == ErrorKind::Truncated, "{place:?}: {error}");
        }
    }
    let limits = Limits { chunk_bytes: 29_999 };
    let error = LazyChunk::open(Arc::new(stored), place, &limits).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::Limit);
}
