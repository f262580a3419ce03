//! What mutations of frames start from: small frames and arrays of ours, the peers' golden ones, and files of
//! `fuzz/corpus`.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use coquina::array::{Access, Array, ArraySpec, Fill, OpenOptions, Selection, Target, Values, Window};
use coquina::chunk::{Params, Special};
use coquina::codec::{CODECS, Streams};
use coquina::filter::{Pipeline, Slot};
use coquina::frame::{Frame, Kind, Spec, Stored, Whole, write_frame};
use coquina::{Existing, Limits, Result};

use crate::frame_targets::Content;
use crate::seeds::{files_in, sample};
use crate::targets::job;

const FRAME_ENDS: [&str; 2] = ["b2frame", "b2nd"];

fn spec(shape: &[u64], chunks: &[u64], blocks: &[u64], typesize: usize) -> ArraySpec {
    let filter = if typesize == 8 { Slot { id: 2, meta: 0 } } else { Slot { id: 1, meta: 0 } };
    // Codecs that can be written, in turn.
    let writable: Vec<_> =
        CODECS.iter().copied().filter(|c| c.is_writable() && c.streams() == Streams::Bytes).collect();
    let codec = writable[(shape.len() + typesize) % writable.len()];
    let pipeline = Pipeline::new(&[filter]).unwrap_or_default();
    // Numbers have statistics.
    let dtype = match typesize {
        1 => "|u1".to_owned(),
        2 => "<i2".to_owned(),
        4 | 8 => format!("<f{typesize}"),
        _ => format!("|V{typesize}"),
    };
    ArraySpec {
        shape: shape.into(),
        chunks: Some(chunks.into()),
        blocks: Some(blocks.into()),
        access: Access::Any,
        dtype,
        fill: Fill::Special(Special::Zeros),
        params: Params { codec, typesize, pipeline, ..Params::default() },
        checksums: true,
        statistics: true,
        tuning: None,
    }
}

fn whole(spec: &ArraySpec) -> Window {
    Window { offset: 0, bytes: spec.params.typesize }
}

fn filled(spec: &ArraySpec, target: &Target) -> Result<Array> {
    let array = Array::create(spec, target)?;
    let items: u64 = spec.shape.iter().product();
    let bytes = sample(usize::try_from(items).unwrap_or(0) * spec.params.typesize);
    array.write(&Selection::all(&spec.shape), whole(spec), Values::Bytes(&bytes), &job())?;
    Ok(array)
}

/// Arrays of ours, as written in one go: padded, of one value, of odd items, without axes and without items.
fn own_arrays() -> Result<Vec<Vec<u8>>> {
    let mut files = Vec::new();
    for (shape, chunks, blocks, typesize) in [
        (&[13_u64, 9][..], &[5_u64, 4][..], &[2_u64, 3][..], 4),
        (&[50], &[20], &[20], 8),
        (&[3, 4, 5], &[2, 4, 3], &[1, 2, 3], 2),
        (&[], &[], &[], 8),
        (&[3, 0], &[2, 1], &[1, 1], 4),
        (&[7], &[4], &[1], 300),
        (&[1, 2, 1, 3, 1, 1, 2, 2], &[1, 2, 1, 2, 1, 1, 2, 2], &[1, 1, 1, 2, 1, 1, 1, 2], 1),
    ] {
        let array = filled(&spec(shape, chunks, blocks, typesize), &Target::Memory)?;
        // Tells this one from all others, wherever their items are equal.
        array.set_layer("number", Some(vec![0x90 + u8::try_from(files.len()).unwrap_or(0)]))?;
        array.set_layer("long", Some(b"long, ".repeat(50)))?;
        files.push(array.to_bytes()?);
    }
    files.extend(axis_arrays()?);
    for special in [Special::Zeros, Special::Nans, Special::Uninit] {
        let spec = ArraySpec { fill: Fill::Special(special), ..spec(&[9, 9], &[4, 4], &[2, 2], 4) };
        files.push(Array::create(&spec, &Target::Memory)?.to_bytes()?);
    }
    let value = ArraySpec { fill: Fill::Value(b"item".to_vec()), ..spec(&[9, 9], &[4, 4], &[2, 2], 4) };
    files.push(Array::create(&value, &Target::Memory)?.to_bytes()?);
    Ok(files)
}

/// Arrays whose codecs and filters work along the axes of blocks: each with its parameter.
fn axis_arrays() -> Result<Vec<Vec<u8>>> {
    let mut files = Vec::new();
    for (codec, codec_meta, filters, typesize) in [
        (32, 4, &[][..], 1),
        (32, 8, &[(1, 0)], 4),
        (33, 254, &[], 4),
        (34, 6, &[], 8),
        (35, 20, &[], 4),
        (5, 0, &[(32, 3), (1, 0)], 4),
        (5, 0, &[(33, 2)], 8),
    ] {
        let spec = spec(&[19, 21], &[16, 18], &[8, 9], typesize);
        let slots: Vec<_> = filters.iter().map(|&(id, meta)| Slot { id, meta }).collect();
        let (codec, pipeline) = (coquina::codec::by_id(codec)?, Pipeline::new(&slots)?);
        let params = Params { codec, codec_meta, pipeline, ..spec.params };
        files.push(smooth(&ArraySpec { params, ..spec })?.to_bytes()?);
    }
    Ok(files)
}

/// An array that rises slowly: as numbers of whatever size its items are finite, and codecs make them smaller.
fn smooth(spec: &ArraySpec) -> Result<Array> {
    let array = Array::create(spec, &Target::Memory)?;
    let items: u16 = spec.shape.iter().product::<u64>().try_into().unwrap_or(0);
    let bytes: Vec<u8> = (0..items)
        .flat_map(|number| match spec.params.typesize {
            4 => (f32::from(number) / 7.0).to_le_bytes().to_vec(),
            8 => (f64::from(number) / 7.0).to_le_bytes().to_vec(),
            _ => vec![u8::try_from(number / 40).unwrap_or(0)],
        })
        .collect();
    array.write(&Selection::all(&spec.shape), whole(spec), Values::Bytes(&bytes), &job())?;
    Ok(array)
}

/// The file of an array after each of a few commits: with room that is not used, and a copy of the header.
fn own_commits() -> Result<Vec<Vec<u8>>> {
    let path: PathBuf = std::env::temp_dir().join(format!("coquina-fuzz-{}.b2nd", std::process::id()));
    let mut files = Vec::new();
    let mut keep = || -> Result<()> {
        files.push(std::fs::read(&path)?);
        Ok(())
    };
    let spec = spec(&[6, 5], &[4, 3], &[2, 2], 4);
    let target = Target::File { path: path.clone(), kind: Kind::Contiguous, existing: Existing::Replace };
    let array = filled(&spec, &target)?;
    array.publish()?;
    keep()?;
    array.append(0, 3, Values::Bytes(&sample(60)), &job())?;
    keep()?;
    array.set_layer("unit", Some(b"\xa2mm".to_vec()))?;
    array.write(&Selection::region(&[1..3, 2..5]), whole(&spec), Values::Uniform(b"new."), &job())?;
    array.resize(&[8, 4], &job())?;
    keep()?;
    drop(array);
    std::fs::remove_file(&path)?;
    Ok(files)
}

/// A frame of the same chunks as another one, without sums.
fn without_sums(bytes: &[u8]) -> Result<Vec<u8>> {
    let frame = Frame::from_source(Arc::new(bytes.to_vec()), 0, Limits::default())?;
    let snapshot = frame.snapshot();
    let spec = Spec { with_sums: false, ..snapshot.spec() };
    let chunk = |number| -> Result<Stored> { snapshot.chunk(number) };
    let mut out = Vec::new();
    let nbytes = snapshot.nbytes();
    let whole = Whole {
        spec: &spec,
        nbytes,
        nchunks: snapshot.nchunks(),
        chunk: &chunk,
        statistics: None,
        alike_until: None,
        vlmetalayers: &[],
    };
    write_frame(&mut out, &whole)?;
    Ok(out)
}

/// All of ours that have sums. They are made once: making them takes longer than most inputs.
fn own_with_sums() -> &'static [Vec<u8>] {
    static MADE: OnceLock<Vec<Vec<u8>>> = OnceLock::new();
    MADE.get_or_init(|| match own_arrays().and_then(|arrays| Ok([arrays, own_commits()?].concat())) {
        Ok(files) => files,
        Err(error) => panic!("the seeds cannot be made: {error}"),
    })
}

/// Arrays with sums, and what they hold: what `damaged_array` takes and compares with.
pub(crate) fn damaged_seeds() -> Vec<Vec<u8>> {
    own_with_sums().to_vec()
}

/// What the undamaged arrays hold.
pub(crate) fn known_contents() -> &'static [Content] {
    static KNOWN: OnceLock<Vec<Content>> = OnceLock::new();
    KNOWN.get_or_init(|| {
        let content = |bytes: &Vec<u8>| Content::of(bytes.clone(), &OpenOptions::default());
        own_with_sums().iter().filter_map(|bytes| content(bytes).ok()).collect()
    })
}

/// Frames that hold an array.
pub(crate) fn array_files() -> Vec<Vec<u8>> {
    let bare = own_with_sums().iter().filter_map(|bytes| without_sums(bytes).ok()).collect();
    let files = |folder| files_in(folder, &FRAME_ENDS[1..]);
    [own_with_sums().to_vec(), bare, files("tests/golden/frames"), files("fuzz/corpus")].concat()
}

/// Frames of both sorts.
pub(crate) fn frames() -> Vec<Vec<u8>> {
    let files = |folder| files_in(folder, &FRAME_ENDS[..1]);
    [array_files(), files("tests/golden/frames"), files("fuzz/corpus")].concat()
}

/// The metalayers of all arrays.
pub(crate) fn array_metalayers() -> Vec<Vec<u8>> {
    let layer = |bytes: Vec<u8>| {
        let frame = Frame::from_source(Arc::new(bytes), 0, Limits::default()).ok()?;
        frame.snapshot().metalayer("b2nd").map(<[u8]>::to_vec)
    };
    array_files().into_iter().filter_map(layer).collect()
}
