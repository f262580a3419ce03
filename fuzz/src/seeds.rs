//! What mutations start from: small chunks of our encoder, the peers' golden chunks, and files of `fuzz/corpus`.

use std::io::Cursor;
use std::path::{Path, PathBuf};

use coquina::Job;
use coquina::bloscpack::{CHECKSUMS, Options, Source, pack};
use coquina::chunk::{Generation, Params, Special, Split, encode, encode_special};
use coquina::codec::{CODECS, EncodeOptions, Streams};
use coquina::filter::{Pipeline, Slot};

/// Pipelines as ids and parameters, in the order of encoding.
const PIPELINES: [&[(u8, u8)]; 8] = [
    &[],
    &[(1, 0)],
    &[(2, 0)],
    &[(3, 0)],
    &[(3, 0), (1, 0)],
    &[(1, 0), (35, 4)],
    &[(36, 9), (2, 0)],
    &[(4, 9), (3, 0), (1, 0), (35, 0)],
];

/// Bytes with steps, runs and noise.
pub(crate) fn sample(nbytes: usize) -> Vec<u8> {
    let item = |i: usize| match i / 90 % 3 {
        0 => i * i / 40,
        1 => 0x0707_0707,
        _ => i.wrapping_mul(0x9e37_79b9),
    };
    (0..nbytes.div_ceil(4)).flat_map(|i| item(i).to_le_bytes().into_iter().take(4)).take(nbytes).collect()
}

fn pipeline(slots: &[(u8, u8)]) -> Pipeline {
    let slots: Vec<_> = slots.iter().map(|&(id, meta)| Slot { id, meta }).collect();
    Pipeline::new(&slots).unwrap_or_default()
}

/// Chunks of every codec, pipeline, kind and generation.
pub fn own_chunks() -> Vec<Vec<u8>> {
    let bytes = sample(1203);
    let mut chunks = Vec::new();
    let mut add = |params: Params, bytes: &[u8]| {
        if let Ok(chunk) = encode(bytes, &params, &Job::default()) {
            chunks.push(chunk);
        }
    };
    for codec in
        CODECS.iter().copied().filter(|codec| codec.is_writable() && codec.streams() == Streams::Bytes)
    {
        for slots in PIPELINES {
            for (blocksize, split) in
                [(None, Split::Auto), (Some(400), Split::Always), (Some(100), Split::Never)]
            {
                let pipeline = pipeline(slots);
                add(Params { codec, typesize: 4, pipeline, blocksize, split, ..Params::default() }, &bytes);
            }
        }
        for filter in [0, 1, 2] {
            let pipeline = pipeline(&[(filter, 0)]);
            let generation = Generation::Blosc1;
            add(Params { codec, typesize: 4, pipeline, generation, ..Params::default() }, &bytes);
        }
        let records = b"station 0001 temperature 0022;".repeat(230);
        let dictionary = codec.takes_dictionary();
        add(Params { codec, blocksize: Some(1000), dictionary, ..Params::default() }, &records);
    }
    add(Params { level: 0, ..Params::default() }, &bytes[..50]);
    add(Params::default(), &[]);
    add(Params::default(), &[0; 1000]);
    let specials = [
        (Special::Zeros, &[][..], 3),
        (Special::Nans, &[], 8),
        (Special::Value, b"abc", 1),
        (Special::Uninit, &[], 4),
    ];
    chunks.extend(
        specials
            .iter()
            .filter_map(|(special, value, typesize)| encode_special(*special, value, 2400, *typesize).ok()),
    );
    chunks
}

/// Small Bloscpack files: with and without offsets, metadata and checksums, of one chunk and of several.
pub fn packed_files() -> Vec<Vec<u8>> {
    let bytes = sample(1203);
    let repeats = format!("[{}1]", "1,".repeat(60));
    let mut files = Vec::new();
    for (checksum, offsets, metadata, chunk_bytes) in [
        (0, true, "", 400),
        (1, true, r#"{"container":"numpy"}"#, 500),
        (2, false, &repeats, 400),
        (3, false, "", 5000),
    ] {
        let metadata = (!metadata.is_empty()).then(|| metadata.as_bytes().to_vec());
        let options =
            Options { checksum: &CHECKSUMS[checksum], offsets, metadata, chunk_bytes, ..Options::default() };
        let mut file = Cursor::new(Vec::new());
        if pack(&Source::Bytes(&bytes), &mut file, &options, &Job::default()).is_ok() {
            files.push(file.into_inner());
        }
    }
    files
}

/// Streams of every codec, behind the four bytes that `codec_stream` takes in front.
pub(crate) fn streams() -> Vec<Vec<u8>> {
    let mut streams = Vec::new();
    for (number, codec) in (0_u8..).zip(CODECS) {
        let Ok(encoder) = codec.encoder(&EncodeOptions::default()) else { continue };
        for length in [40_u16, 700, 3000] {
            let bytes = [sample(usize::from(length) / 2), b"0123456789".repeat(200)].concat();
            let bytes = &bytes[..usize::from(length)];
            let mut out = vec![0; 2 * bytes.len()];
            if let Ok(Some(taken)) = encoder.encode(bytes, &mut out) {
                let [low, high] = length.to_le_bytes();
                streams.push([&[number, 0, low, high][..], &out[..taken]].concat());
            }
        }
    }
    streams
}

/// The files below the repository's folder `folder` whose names end with one of `ends`, in order of their names.
pub(crate) fn files_in(folder: &str, ends: &[&str]) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(folder);
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    // The order of a folder is the file system's; seeds must come in the same order everywhere.
    paths.sort();
    let is_wanted =
        |path: &PathBuf| ends.iter().any(|end| path.extension().is_some_and(|found| found == *end));
    paths.into_iter().filter(is_wanted).filter_map(|path| std::fs::read(path).ok()).collect()
}

/// All seeds of chunks: ours, the golden chunks of the peers, and what earlier runs found.
pub fn corpus() -> Vec<Vec<u8>> {
    let files = |folder| files_in(folder, &["chunk"]);
    [own_chunks(), files("tests/golden"), files("fuzz/corpus")].concat()
}
