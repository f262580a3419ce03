//! Plugins that a C compiler makes from the header alone: there is no Rust in the contract. The good one, one of a later
//! version, and those that do each thing wrong that a host can notice.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::{Path, PathBuf};
use std::process::Command;

use coquina::chunk::{Chunk, Params, encode};
use coquina::filter::{Pipeline, Slot};
use coquina::{ErrorKind, Job, Limits};
use coquina_plugin::{Block, Codec};
use coquina_plugin_host::Library;

/// Compiles a variant of the plugin; every test has its own, since tests run side by side.
fn compiled(test: &str, variant: u32) -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let library = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{test}_{variant}.so"));
    let done = Command::new("cc")
        .args([
            "-std=c99",
            "-O1",
            "-Wall",
            "-Wextra",
            "-Werror",
            "-Wno-unused-function",
            "-Wno-unused-parameter",
        ])
        .args([
            "-Wno-unused-const-variable",
            "-Wno-unused-variable",
            "-shared",
            "-fPIC",
            "-fvisibility=hidden",
        ])
        .arg(format!("-DVARIANT={variant}"))
        .arg("-I")
        .arg(here.join("../coquina-plugin/include"))
        .arg(here.join("tests/plugins/plugin.c"))
        .arg("-o")
        .arg(&library)
        .output()
        .unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    library
}

fn block() -> Block<'static> {
    Block { typesize: 4, shape: &[2, 3], kind: Some('f'), meta: 0, level: 5, options: "{}" }
}

/// The only codec of a variant.
fn codec_of(test: &str, variant: u32) -> &'static dyn Codec {
    Library::open(&compiled(test, variant)).unwrap().codecs().next().unwrap()
}

/// Bytes in runs.
fn runs() -> Vec<u8> {
    (0..40_u8).flat_map(|value| vec![value; 1000 + usize::from(value)]).collect()
}

#[test]
fn a_plugin_in_c_is_read_and_written_with() {
    let library = Library::open(&compiled("works", 0)).unwrap();
    library.register().unwrap();
    let codec = coquina::codec::by_name("c_runs").unwrap();
    assert_eq!(
        (codec.id(), codec.is_lossy(1, ""), codec.is_lossy(0, "{x}"), codec.is_lossy(0, "")),
        (170, true, true, false)
    );
    let flip = coquina::filter::by_name("c_flip").unwrap();
    let pipeline = Pipeline::new(&[Slot { id: flip.id(), meta: 3 }]).unwrap();
    let params = Params { codec, pipeline, ..Params::default() };
    let bytes = runs();
    let chunk = encode(&bytes, &params, &Job::default()).unwrap();
    assert!(chunk.len() < bytes.len() / 50);
    let mut out = vec![0; bytes.len()];
    let parsed = Chunk::parse(&chunk, &Limits::default()).unwrap();
    parsed.decode_into(&mut out, &Job::default()).unwrap();
    assert_eq!(out, bytes);
    // What no run is gained from is stored as it is.
    let noise: Vec<u8> = (0..=255).cycle().take(5000).collect();
    assert_eq!(encode(&noise, &params, &Job::default()).unwrap().len(), noise.len() + 32);
    let error = encode(&b"\x99\x9e\x96\x93".repeat(100), &params, &Job::default()).unwrap_err();
    assert_eq!(
        (error.kind(), error.to_string().contains("codec 170 (c_runs): told to fail")),
        (ErrorKind::Invalid, true)
    );
}

#[test]
fn a_codec_that_needs_items_gets_them() {
    Library::open(&compiled("items", 13)).unwrap().register().unwrap();
    let codec = coquina::codec::by_id(174).unwrap();
    let params = Params { codec, typesize: 4, ..Params::default() };
    let error = encode(&runs(), &params, &Job::default()).unwrap_err();
    assert!(error.to_string().contains("needs whole elements, and shuffle moves their bytes"), "{error}");
    encode(&runs(), &Params { pipeline: Pipeline::default(), ..params }, &Job::default()).unwrap();
}

#[test]
fn damaged_streams_of_a_plugin_in_c_are_errors_or_bytes() {
    let codec = codec_of("damaged", 0);
    let bytes = runs();
    let mut stream = vec![0; bytes.len()];
    let length = codec.encode(&block(), &bytes, &mut stream).unwrap().unwrap();
    stream.truncate(length);
    let mut out = vec![0; bytes.len()];
    for end in (0..length).step_by(7) {
        assert!(codec.decode(&block(), &stream[..end], &mut out).is_err());
    }
    stream[6] = 255;
    assert!(codec.decode(&block(), &stream, &mut out).is_err());
}

#[test]
fn a_plugin_of_a_later_minor_version_works() {
    let codec = codec_of("later", 1);
    let bytes = runs();
    let (mut stream, mut out) = (vec![0; bytes.len()], vec![0; bytes.len()]);
    let length = codec.encode(&block(), &bytes, &mut stream).unwrap().unwrap();
    codec.decode(&block(), &stream[..length], &mut out).unwrap();
    assert_eq!(out, bytes);
}

#[test]
fn what_is_no_plugin_of_ours_is_refused_with_its_path() {
    for (variant, kind, said) in [
        (
            2,
            ErrorKind::Unsupported,
            "it has version 2.0 of the interface, this is 1.0: it must be built for 1",
        ),
        (3, ErrorKind::Invalid, "its table lacks the function decode"),
        (4, ErrorKind::Invalid, "its table lacks the function name"),
        (5, ErrorKind::Invalid, "it says that it has 1000 codecs or filters"),
        (6, ErrorKind::Invalid, "codec 5 (c_runs): takes ids 32..=255"),
        (7, ErrorKind::Invalid, "426 is not an id"),
        (8, ErrorKind::Invalid, "name \"a\\nb\""),
        (9, ErrorKind::Invalid, "name \"\u{fffd}\u{fffd}\""),
        (10, ErrorKind::Invalid, "a name of 6 bytes"),
        (11, ErrorKind::Invalid, "it does not export coquina_plugin"),
        (12, ErrorKind::Unsupported, "it does not serve version 1.0"),
    ] {
        let path = compiled("refused", variant);
        let error = Library::open(&path).err().unwrap();
        let text = error.to_string();
        assert_eq!(error.kind(), kind, "{text}");
        assert!(text.contains(said) && text.contains(path.to_str().unwrap()), "{variant}: {text}");
    }
    let nothing = Library::open(Path::new("no such library.so")).err().unwrap();
    assert_eq!(nothing.kind(), ErrorKind::Io);
    let text = Library::open(&Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml")).err().unwrap();
    assert!(text.to_string().contains("cannot be loaded"), "{text}");
}

#[test]
fn what_a_plugin_says_wrong_is_an_error() {
    for (variant, said) in [
        (23, "returned -7"),
        (24, "failed, and does not say why"),
        (25, "xxxx"),
        (26, "\u{fffd} is not UTF-8"),
    ] {
        let error = codec_of("says", variant).encode(&block(), &runs(), &mut [0; 900]).unwrap_err();
        assert!(error.contains(said) && error.len() <= 1000, "{variant}: {error}");
    }
    for (variant, said) in
        [(20, "says that it wrote 899 bytes of a block of 900"), (21, "must fill its output")]
    {
        let library = Library::open(&compiled("says", variant)).unwrap();
        let filter = library.filters().next().unwrap();
        let error = filter.encode(&block(), &[1; 900], &mut [0; 900]).unwrap_err();
        assert!(error.contains(said), "{variant}: {error}");
    }
}

#[test]
fn a_length_beyond_the_room_is_an_error() {
    Library::open(&compiled("beyond", 22)).unwrap().register().unwrap();
    let codec = coquina::codec::by_id(172).unwrap();
    let params = Params { codec, pipeline: Pipeline::default(), ..Params::default() };
    let error = encode(&runs(), &params, &Job::default()).unwrap_err();
    assert!(error.to_string().contains("codec 172 (c_runs): says that it wrote"), "{error}");
}

/// Runs `work` on an output of `room` bytes amid others; whether those were left alone.
fn leaves_the_rest_alone(room: usize, work: impl FnOnce(&mut [u8])) -> bool {
    const GUARD: usize = 256;
    let mut memory = vec![0xa5; room + 2 * GUARD];
    work(&mut memory[GUARD..GUARD + room]);
    let (before, rest) = memory.split_at(GUARD);
    before.iter().chain(&rest[room..]).all(|&byte| byte == 0xa5)
}

#[test]
fn nothing_is_written_around_the_output() {
    let good = codec_of("canary", 0);
    for bytes in [runs(), (0..=255).cycle().take(999).collect(), vec![7]] {
        for room in [0, 1, 2, bytes.len() / 2, bytes.len() - 1] {
            let encode = |out: &mut [u8]| drop(good.encode(&block(), &bytes, out));
            assert!(leaves_the_rest_alone(room, encode), "{} bytes to {room}", bytes.len());
            let decode = |out: &mut [u8]| drop(good.decode(&block(), &bytes, out));
            assert!(leaves_the_rest_alone(room, decode), "{} bytes to {room}", bytes.len());
        }
    }
    // The same check sees one that writes a byte too much.
    let bad = codec_of("canary", 27);
    assert!(!leaves_the_rest_alone(900, |out| drop(bad.encode(&block(), &runs(), out))));
}
