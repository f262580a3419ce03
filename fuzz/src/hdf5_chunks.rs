//! Chunks of HDF5 datasets: the pipeline of filters over hostile bytes and parameters, and frames read in part.

use std::path::Path;
use std::sync::Arc;

use coquina::hdf5::{FrameChunk, Inner, Pipeline, Slot, known_filters};

use crate::frame_mutate::mutate_frame;
use crate::mutate::{Random, flip_bit, mutate, put_size, set_byte};
use crate::seeds::sample;
use crate::targets::{LIMITS, job};

/// Longer inputs make for few mutations.
const SEED_BYTES_MAX: usize = 1500;
const EDGES: [u32; 12] = [0, 1, 2, 7, 8, 255, 256, 4096, 0xffff, 0x7fff_ffff, 0x8000_0000, u32::MAX];
const BLOSC2: u16 = 32026;
const FRAME_START: &[u8] = b"\x9e\xa8b2frame\0";

/// What an input of `hdf5_pipeline` holds: `mask u8 | chunk bytes u16 | filters u8 | filters x (id u16, count u8, count
/// x u32) | stored chunk`, little-endian.
#[derive(Clone)]
struct Stored<'a> {
    mask: u8,
    bytes: u16,
    slots: Vec<Slot>,
    chunk: &'a [u8],
}

impl<'a> Stored<'a> {
    fn read(input: &'a [u8]) -> Option<Self> {
        let ([mask, low, high, count], mut rest) = input.split_first_chunk::<4>()?;
        let mut slots = Vec::new();
        for _ in 0..*count {
            let ([low, high, count], more) = rest.split_first_chunk::<3>()?;
            let (values, behind) = more.split_at_checked(4 * usize::from(*count))?;
            let number = |bytes: &[u8]| u32::from_le_bytes(bytes.try_into().unwrap_or_default());
            let values = values.chunks_exact(4).map(number).collect();
            slots.push(Slot { id: u16::from_le_bytes([*low, *high]), is_optional: true, values });
            rest = behind;
        }
        Some(Self { mask: *mask, bytes: u16::from_le_bytes([*low, *high]), slots, chunk: rest })
    }

    fn write(&self) -> Vec<u8> {
        let [low, high] = self.bytes.to_le_bytes();
        let mut input = vec![self.mask, low, high, u8::try_from(self.slots.len()).unwrap_or(0)];
        for Slot { id, values, .. } in &self.slots {
            input.extend(id.to_le_bytes());
            input.push(u8::try_from(values.len()).unwrap_or(0));
            input.extend(values.iter().flat_map(|value| value.to_le_bytes()));
        }
        [&input, self.chunk].concat()
    }
}

/// A chunk decodes to the same bytes over zeros and over ones, or fails over both; and what is written decodes.
pub(crate) fn hdf5_pipeline(input: &[u8]) -> bool {
    let Some(stored) = Stored::read(input) else { return false };
    let bytes = usize::from(stored.bytes);
    let Ok(pipeline) = Pipeline::new(stored.slots, &[stored.bytes.into()], 1) else { return false };
    let (mut low, mut high) = (vec![0; bytes], vec![0xff; bytes]);
    let mask = stored.mask.into();
    let is_sound = pipeline.decode(stored.chunk, mask, &mut low).is_ok();
    let again = pipeline.decode(stored.chunk, mask, &mut high).is_ok();
    assert_eq!(is_sound, again, "an error that depends on the output's old bytes");
    assert!(!is_sound || low == high, "bytes of the output were not written");
    if pipeline.inner(mask) == Inner::Stored {
        assert!(!is_sound || low == stored.chunk, "no filter ran, and the bytes are others");
    }
    if pipeline.unwritable().is_none()
        && let Ok(chunk) = pipeline.encode(&low, &job())
    {
        // Behind a filter that does not tell how many bytes come out, there may be none that must be told.
        let is_read = pipeline.decode(&chunk, 0, &mut high).is_ok();
        assert!(!is_read || low == high, "a round trip that is none");
        assert!(is_read || pipeline.slots().len() > 1, "what was just encoded must decode");
    }
    is_sound
}

/// Filters with parameters for items of 4 bytes and a chunk of `bytes`, in orders that there are.
fn pipelines(bytes: u32) -> Vec<Vec<Slot>> {
    let slot = |id: u16, values: &[u32]| Slot { id, is_optional: true, values: values.into() };
    let (shuffle, deflate, sum) = (slot(2, &[4]), slot(1, &[4]), slot(3, &[]));
    let blosc2 = |filter, codec| slot(BLOSC2, &[1, 256, 4, bytes, 5, filter, codec, 2, bytes / 20, 5]);
    let mut pipelines = vec![
        vec![],
        vec![deflate.clone()],
        vec![shuffle.clone(), deflate.clone()],
        vec![shuffle.clone(), deflate.clone(), sum.clone()],
        vec![sum.clone(), slot(2, &[8]), deflate.clone()],
        vec![sum.clone(), sum.clone()],
        vec![shuffle.clone(), slot(32015, &[3])],
        vec![slot(32004, &[]), slot(32015, &[1])],
        vec![slot(32015, &[1]), deflate],
        vec![slot(32004, &[100])],
        vec![slot(32022, &[3]), shuffle],
        vec![blosc2(1, 5), sum],
        vec![slot(BLOSC2, &[1, 0, 4, bytes, 5, 1, 5])],
    ];
    for coder in [0, 2, 3] {
        pipelines.push(vec![slot(32008, &[0, 4, 4, 0, coder])]);
        pipelines.push(vec![slot(32008, &[0, 4, 1, 16, coder, 2])]);
    }
    for codec in [0, 1, 2, 4, 5] {
        pipelines.push(vec![slot(32001, &[2, 2, 4, bytes, 5, codec % 3, codec])]);
        pipelines.push(vec![blosc2(codec % 4, codec)]);
    }
    pipelines
}

/// The records of the golden files: a filter, its parameters, a stored chunk.
fn golden() -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/golden/hdf5-filters");
    let manifest = std::fs::read_to_string(folder.join("MANIFEST")).unwrap_or_default();
    let mut seeds = Vec::new();
    for name in manifest.lines().filter_map(|line| line.split(' ').nth(1)) {
        let file = std::fs::read(folder.join(name)).unwrap_or_default();
        let mut left = &file[..];
        while let Some((seed, rest)) = record(left) {
            seeds.push(seed);
            left = rest;
        }
    }
    seeds
}

fn record(file: &[u8]) -> Option<(Vec<u8>, &[u8])> {
    let (name_bytes, rest) = file.split_first()?;
    let (id, rest) = rest.get(usize::from(*name_bytes)..)?.split_first_chunk::<2>()?;
    let (count, rest) = rest.split_first_chunk::<2>()?;
    let (values, rest) = rest.split_at_checked(4 * usize::from(u16::from_le_bytes(*count)))?;
    let sized = |bytes: &'_ [u8]| u32::from_le_bytes(*bytes.first_chunk().unwrap_or(&[0; 4])) as usize;
    let (chunk, rest) = rest.get(4..)?.split_at_checked(sized(rest))?;
    let (decoded, rest) = rest.get(4..)?.split_at_checked(sized(rest))?;
    let number = |bytes: &[u8]| u32::from_le_bytes(bytes.try_into().unwrap_or_default());
    let values = values.chunks_exact(4).map(number).collect();
    let slot = Slot { id: u16::from_le_bytes(*id), is_optional: true, values };
    let bytes = u16::try_from(decoded.len()).ok()?;
    Some((Stored { mask: 0, bytes, slots: vec![slot], chunk }.write(), rest))
}

/// Chunks of all filters and of common pipelines, and those that the libraries wrote.
pub(crate) fn hdf5_chunks() -> Vec<Vec<u8>> {
    let mut seeds = Vec::new();
    for bytes in [40_u16, 1200] {
        let plain = sample(bytes.into());
        for slots in pipelines(bytes.into()) {
            let pipeline = Pipeline::new(slots.clone(), &[bytes.into()], 1);
            let chunk = pipeline.as_ref().ok().and_then(|pipeline| {
                let written = pipeline.encode(&plain, &job());
                // Some are there to be refused.
                written.or_else(|_| Pipeline::new(vec![], &[bytes.into()], 1)?.encode(&plain, &job())).ok()
            });
            let chunk = chunk.unwrap_or_default();
            let mask = if pipeline.is_ok_and(|pipeline| pipeline.unwritable().is_none()) { 0 } else { 0xff };
            let seed = Stored { mask, bytes, slots, chunk: &chunk };
            if hdf5_pipeline(&seed.write()) {
                seeds.push(seed.write());
            }
        }
    }
    let golden = golden().into_iter().filter(|seed| seed.len() <= SEED_BYTES_MAX && hdf5_pipeline(seed));
    seeds.into_iter().chain(golden).collect()
}

/// Other parameters, or another chunk; where that is a frame, one that is mostly consistent.
pub(crate) fn mutate_chunk(seed: &[u8], other: &[u8], random: &mut Random) -> Vec<u8> {
    let (Some(mut stored), Some(other)) = (Stored::read(seed), Stored::read(other)) else {
        return mutate(seed, other, random);
    };
    let mut chunk = match random.below(8) {
        0 => stored.chunk.to_vec(),
        _ if stored.chunk.starts_with(FRAME_START) => mutate_frame(stored.chunk, other.chunk, random),
        1 | 2 => mutate(stored.chunk, other.chunk, random),
        _ => {
            let mut chunk = stored.chunk.to_vec();
            for _ in 0..=random.below(2) {
                flip_bit(&mut chunk, random);
            }
            chunk
        }
    };
    match random.below(10) {
        0 => stored.mask ^= 1 << random.below(4),
        1 => stored.bytes = stored.bytes.wrapping_add(u16::from(random.byte() % 9)).wrapping_sub(4),
        2 => stored.slots.extend(other.slots),
        3 => stored.slots.truncate(random.below(3)),
        4 => {
            let ids: Vec<u16> = known_filters().map(|filter| filter.id).collect();
            if let Some(slot) = stored.slots.first_mut() {
                slot.id = random.one_of(&ids);
            }
        }
        5 | 6 => {
            let which = random.below(stored.slots.len());
            if let Some(slot) = stored.slots.get_mut(which) {
                let number = random.below(slot.values.len());
                if let Some(value) = slot.values.get_mut(number) {
                    *value = random.one_of(&EDGES);
                }
            }
        }
        7 => put_big_size(&mut chunk, random),
        8 => set_byte(&mut chunk, random),
        _ => {}
    }
    stored.slots.truncate(6);
    stored.chunk = &chunk;
    stored.write()
}

/// Big-endian sizes stand in front of blocks.
fn put_big_size(chunk: &mut [u8], random: &mut Random) {
    let at = random.below(20);
    put_size(chunk, at, random);
    if let Some(field) = chunk.get_mut(at..).and_then(|rest| rest.first_chunk_mut::<4>()) {
        field.reverse();
    }
}

/// What an input of `hdf5_frame_chunk` holds: `item bytes u16 | axes u8 | axes x u16 | frame`, little-endian.
fn framed(input: &[u8]) -> Option<(usize, Vec<u64>, &[u8])> {
    let ([low, high, axes], rest) = input.split_first_chunk::<3>()?;
    let (dims, frame) = rest.split_at_checked(2 * usize::from(*axes % 9))?;
    let dims = dims.chunks_exact(2).map(|dim| u16::from_le_bytes([dim[0], dim[1]]).into()).collect();
    Some((usize::from(u16::from_le_bytes([*low, *high])), dims, frame))
}

/// A frame that is read in part gives what the whole gives, wherever both can be read.
pub(crate) fn hdf5_frame_chunk(input: &[u8]) -> bool {
    let Some((itemsize, dims, frame)) = framed(input) else { return false };
    let bytes = dims.iter().try_fold(itemsize as u64, |all, dim| all.checked_mul(*dim));
    let Some(bytes) = bytes.filter(|&bytes| bytes <= 1 << 16).and_then(|n| usize::try_from(n).ok()) else {
        return false;
    };
    let slot = Slot { id: BLOSC2, is_optional: true, values: vec![1, 0, 1, 0] };
    let mut whole = vec![0; bytes];
    let pipeline = Pipeline::new(vec![slot], &dims, itemsize);
    let is_whole = pipeline.is_ok_and(|pipeline| pipeline.decode(frame, 0, &mut whole).is_ok());
    let source = Arc::new([b"front", frame, b"behind"].concat());
    let opened = FrameChunk::open(source, 5, frame.len() as u64, &dims, itemsize, &LIMITS);
    let Ok(chunk) = opened else { return is_whole };
    let (mut low, mut high) = (vec![0; bytes], vec![0xff; bytes]);
    let is_sound = chunk.read_items(&mut low).is_ok();
    assert_eq!(is_sound, chunk.read_items(&mut high).is_ok(), "an error that comes and goes");
    assert!(!is_sound || low == high, "bytes of the output were not written");
    assert!(!(is_sound && is_whole) || low == whole, "parts that are not those of the whole");
    let nbytes = chunk.nbytes();
    assert!(nbytes >= bytes, "an array of {bytes} bytes in a chunk of {nbytes}");
    let (start, room) = (nbytes / 3, chunk.block_bytes().min(nbytes - nbytes / 3));
    let mut part = vec![0; room];
    let is_read = chunk.read(start, &mut part).is_ok();
    if chunk.blocks().is_none() && is_sound {
        assert!(is_read && part == low[start..start + room], "a part that is not the slice");
    }
    assert!(chunk.read(nbytes, &mut [0]).is_err(), "a byte behind the end");
    for rows in [0..0, 0..bytes as u64 + 1, 1..u64::MAX] {
        assert_eq!(chunk.bounds(rows, 0, 4), None, "bounds of what is not there");
    }
    is_sound
}

/// Frames of chunks of several shapes.
pub(crate) fn hdf5_frames() -> Vec<Vec<u8>> {
    let mut seeds = Vec::new();
    for (dims, itemsize, blocksize) in [
        (&[300_u16][..], 4_u16, 0_u32),
        (&[13, 9], 4, 64),
        (&[3, 4, 5], 2, 16),
        (&[2, 3, 2, 2, 2], 8, 100),
        (&[7, 3], 300, 0),
        (&[20, 20], 1, 1 << 20),
    ] {
        let axes = u8::try_from(dims.len()).unwrap_or(0);
        let wide: Vec<u64> = dims.iter().map(|&dim| dim.into()).collect();
        let bytes = usize::try_from(wide.iter().product::<u64>()).unwrap_or(0) * usize::from(itemsize);
        for (filter, codec, is_zero) in [(1, 5, false), (2, 1, false), (3, 0, false), (1, 5, true)] {
            let mut values =
                vec![1, blocksize, itemsize.into(), u32::try_from(bytes).unwrap_or(0), 5, filter, codec];
            if axes > 1 {
                values.push(axes.into());
                values.extend(dims.iter().map(|&dim| u32::from(dim)));
            }
            let slot = Slot { id: BLOSC2, is_optional: true, values };
            let plain = if is_zero { vec![0; bytes] } else { sample(bytes) };
            let frame = Pipeline::new(vec![slot], &wide, itemsize.into())
                .and_then(|pipeline| pipeline.encode(&plain, &job()))
                .unwrap_or_default();
            let head = [&itemsize.to_le_bytes()[..], &[axes]].concat();
            let dims: Vec<u8> = dims.iter().flat_map(|dim| dim.to_le_bytes()).collect();
            seeds.push([head, dims, frame].concat());
        }
    }
    seeds
}

/// Another shape, or another frame.
pub(crate) fn mutate_framed(seed: &[u8], other: &[u8], random: &mut Random) -> Vec<u8> {
    let bytes = |input: &[u8]| framed(input).map_or(0, |(_, _, frame)| input.len() - frame.len());
    let (head, frame) = seed.split_at(bytes(seed));
    let mut head = head.to_vec();
    match random.below(8) {
        0 => set_byte(&mut head, random),
        1 => flip_bit(&mut head, random),
        _ => {}
    }
    [head, mutate_frame(frame, &other[bytes(other)..], random)].concat()
}
