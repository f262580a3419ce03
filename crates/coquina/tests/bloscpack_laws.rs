//! Laws of Bloscpack files: what was packed comes back, whole or in part, and damage is noticed.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::io::Cursor;

use coquina::bloscpack::{CHECKSUMS, Options, Reader, Source, append, pack};
use coquina::chunk::Params;
use coquina::filter::{Pipeline, Slot};
use coquina::tune::{Goal, Wants};
use coquina::{ErrorKind, Job, Limits, codec};

fn sample(bytes: usize) -> Vec<u8> {
    (0..bytes).map(|i| (i / 5 + i * i / 1000).to_le_bytes()[0]).collect()
}

fn packed(data: &[u8], options: &Options) -> Vec<u8> {
    let mut out = Cursor::new(Vec::new());
    let written = pack(&Source::Bytes(data), &mut out, options, &Job::default()).unwrap();
    assert_eq!(written, out.get_ref().len() as u64);
    out.into_inner()
}

fn read_all(file: &[u8]) -> coquina::Result<Vec<u8>> {
    let reader = Reader::open(Box::new(file.to_vec()), Limits::default())?;
    let mut data = vec![0; usize::try_from(reader.nbytes()).unwrap()];
    reader.read_range(0, &mut data, &Job::default())?;
    let mut streamed = Vec::new();
    reader.write_to(&mut streamed, &Job::default())?;
    assert_eq!(streamed, data);
    Ok(data)
}

fn options(chunk_bytes: usize) -> Options {
    Options { chunk_bytes, ..Options::default() }
}

#[test]
fn what_was_packed_comes_back() {
    for bytes in [0, 1, 127, 128, 4096, 4097, 100_001] {
        let data = sample(bytes);
        for checksum in CHECKSUMS {
            for offsets in [false, true] {
                for metadata in [None, Some(br#"{"a":1}"#.to_vec())] {
                    let options = Options { checksum, offsets, metadata, ..options(4096) };
                    assert_eq!(read_all(&packed(&data, &options)).unwrap(), data);
                }
            }
        }
    }
}

#[test]
fn large_and_small_chunks_of_every_codec_come_back() {
    let data = sample(9 << 20);
    for codec in
        codec::CODECS.iter().filter(|c| c.is_writable_in_blosc1() && c.streams() == codec::Streams::Bytes)
    {
        for chunk_bytes in [64 << 10, 1 << 20, 8 << 20, 64 << 20] {
            let mut options = options(chunk_bytes);
            (options.params.codec, options.params.level) = (*codec, 1);
            assert_eq!(read_all(&packed(&data, &options)).unwrap(), data);
        }
    }
}

#[test]
fn what_was_tuned_comes_back_and_is_the_same_by_any_number_of_threads() {
    let mut data = sample(1 << 20);
    data.extend(vec![7; 1 << 20]);
    data.extend((0..1 << 20).map(|i: u32| (i.wrapping_mul(0x9e37_79b9) >> 13).to_le_bytes()[0]));
    for tradeoff in [0.0, 0.5, 1.0] {
        let tuning = Some(Goal::new(tradeoff, Wants::Both, None, false).unwrap());
        for chunk_bytes in [100 << 10, 8 << 20] {
            let options = Options { tuning: tuning.clone(), ..options(chunk_bytes) };
            let by = |threads: usize, source: &Source<'_>| {
                let mut out = Cursor::new(Vec::new());
                pack(source, &mut out, &options, &Job::default().threads(Some(threads))).unwrap();
                out.into_inner()
            };
            let file = by(1, &Source::Bytes(&data));
            assert!(read_all(&file).unwrap() == data);
            assert!(by(8, &Source::Bytes(&data)) == file);
            assert!(by(3, &Source::At(&data)) == file);
            assert!(file.len() < data.len());
        }
    }
    let pipeline = Pipeline::new(&[Slot { id: 4, meta: 10 }]).unwrap();
    let lossy = Params { pipeline, typesize: 4, ..Options::default().params };
    let options = Options { params: lossy, tuning: Some(Goal::default()), ..options(4096) };
    let error = pack(&Source::Bytes(&data), &mut Cursor::new(Vec::new()), &options, &Job::default());
    assert_eq!(error.unwrap_err().kind(), ErrorKind::Invalid);
}

#[test]
fn a_range_reads_only_the_chunks_that_hold_it() {
    let data = sample(100_000);
    let file = packed(&data, &options(1000));
    let reader = Reader::open(Box::new(file), Limits::default()).unwrap();
    let mut part = vec![0; 1500];
    reader.read_range(2900, &mut part, &Job::default()).unwrap();
    assert_eq!(part, data[2900..4400]);
    assert_eq!(reader.chunks_read(), 3);
    let error = reader.read_range(99_000, &mut part, &Job::default()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::OutOfBounds);
}

#[test]
fn appending_is_packing_the_whole_again() {
    let path = std::env::temp_dir().join(format!("coquina-append-{}.blp", std::process::id()));
    for (first, second) in
        [(0, 0), (0, 5000), (10, 5000), (1000, 1), (2500, 10_000), (3000, 0), (4000, 2_000_000)]
    {
        let data = sample(first + second);
        std::fs::write(&path, packed(&data[..first], &options(1000))).unwrap();
        append(&path, &Source::Bytes(&data[first..]), &Options::default(), &Job::default()).unwrap();
        assert_eq!(read_all(&std::fs::read(&path).unwrap()).unwrap(), data, "{first} + {second}");
    }
    std::fs::remove_file(&path).unwrap();
}

#[test]
fn a_file_that_cannot_be_appended_to_is_left_as_it_was() {
    let path = std::env::temp_dir().join(format!("coquina-damaged-{}.blp", std::process::id()));
    let mut file = packed(&sample(5000), &options(1000));
    let last = file.len() - 20;
    file[last] ^= 1;
    std::fs::write(&path, &file).unwrap();
    let error = append(&path, &Source::Bytes(b"more"), &Options::default(), &Job::default()).unwrap_err();
    assert!(error.to_string().contains("chunk 4: adler32 checksum"), "{error}");
    assert_eq!(std::fs::read(&path).unwrap(), file);
    std::fs::remove_file(&path).unwrap();
}

#[test]
fn every_cut_and_every_flipped_bit_is_noticed_or_harmless() {
    let data = sample(3000);
    let metadata = Some(br#"{"container":"numpy"}"#.to_vec());
    let options = Options { metadata, checksum: &CHECKSUMS[2], ..options(1000) };
    let file = packed(&data, &options);
    for end in 0..file.len() {
        assert!(read_all(&file[..end]).is_err(), "cut at {end}");
    }
    for bit in 0..8 * file.len() {
        let mut flipped = file.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        if let Ok(read) = read_all(&flipped) {
            assert!(read == data, "bit {bit} of byte {}", bit / 8);
        }
    }
}

#[test]
fn sizes_that_lie_are_refused_before_memory_is_made() {
    let file = packed(&sample(3000), &options(1000));
    for (at, bytes) in [(16, 8), (24, 8), (8, 4)] {
        let mut lying = file.clone();
        lying[at..at + bytes].fill(0xff);
        lying[at + bytes - 1] = 0x0f;
        assert!(read_all_or_limit(&lying), "field at {at}");
    }
}

/// Whether reading fails; a size alone must not make it allocate the data.
fn read_all_or_limit(file: &[u8]) -> bool {
    match Reader::open(Box::new(file.to_vec()), Limits::default()) {
        Err(_) => true,
        Ok(reader) => reader.read_range(0, &mut [0; 100], &Job::default()).is_err(),
    }
}
