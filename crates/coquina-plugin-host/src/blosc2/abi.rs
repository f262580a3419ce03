//! The structs of C that Blosc2's plugins get, and what they say of a block.
//!
//! In: a block. Out: parameters, and a frame of one chunk and one block whose metadata tell the block's shape.
//! Source: `blosc2.h` of C-Blosc2 3.3, which python-blosc2 4.14 installs; `docs/formats/b2nd.md`.
//! Invariant: pointers lead into the `Context` that they are part of; what a plugin has no use for is zero.

use std::ffi::{c_int, c_void};
use std::ptr::{null, null_mut};

use coquina_plugin::Block;

const FILTERS: usize = 6;
const METALAYERS: usize = 16;
const VARIABLE_METALAYERS: usize = 8 * 1024;
const HEADER_BYTES: usize = 32;
/// Places that no function has are read as zeros: some plugins look behind the structs that they were built with.
const SPARE: usize = 512;

/// `blosc2_cparams`.
#[repr(C)]
pub(super) struct EncodeParams {
    codec: u8,
    codec_meta: u8,
    level: u8,
    use_dict: c_int,
    typesize: i32,
    nthreads: i16,
    blocksize: i32,
    splitmode: i32,
    schunk: *mut c_void,
    filters: [u8; FILTERS],
    filters_meta: [u8; FILTERS],
    prefilter: *const c_void,
    preparams: *const c_void,
    tuner_params: *const c_void,
    tuner_id: c_int,
    is_instrumented: bool,
    codec_params: *const c_void,
    filter_params: [*const c_void; FILTERS],
    spare: [u8; SPARE],
}

/// `blosc2_dparams`.
#[repr(C)]
pub(super) struct DecodeParams {
    nthreads: i16,
    schunk: *mut c_void,
    postfilter: *const c_void,
    postparams: *const c_void,
    typesize: i32,
    spare: [u8; SPARE],
}

/// `blosc2_metalayer`.
#[repr(C)]
struct Metalayer {
    name: *const u8,
    content: *const u8,
    content_len: i32,
}

/// `blosc2_schunk`.
#[repr(C)]
struct Schunk {
    version: u8,
    codec: u8,
    codec_meta: u8,
    level: u8,
    splitmode: u8,
    typesize: i32,
    blocksize: i32,
    chunksize: i32,
    flags2: u8,
    use_dict: u8,
    filters: [u8; FILTERS],
    filters_meta: [u8; FILTERS],
    nchunks: i64,
    current_chunk: i64,
    nbytes: i64,
    cbytes: i64,
    data: *const c_void,
    data_len: usize,
    storage: *const c_void,
    frame: *const c_void,
    encoder: *const c_void,
    decoder: *const c_void,
    metalayers: [*const Metalayer; METALAYERS],
    nmetalayers: u16,
    variable_metalayers: [*const Metalayer; VARIABLE_METALAYERS],
    nvariable_metalayers: i16,
    tuner_params: *const c_void,
    tuner_id: c_int,
    ndim: i8,
    blockshape: *const i64,
    is_view: bool,
    change_tick: i64,
    spare: [u8; SPARE],
}

/// What a plugin is told of a block: all that its pointers lead to.
pub(super) struct Context {
    pub(super) id: u8,
    pub(super) encode: Box<EncodeParams>,
    pub(super) decode: Box<DecodeParams>,
    /// The header of the chunk, as if the block were all of it.
    pub(super) chunk: [u8; HEADER_BYTES],
    _schunk: Box<Schunk>,
    _metalayer: Box<Metalayer>,
    _content: Vec<u8>,
    _shape: Vec<i64>,
}

impl Context {
    /// # Errors
    /// A block of 2 GiB and more.
    pub(super) fn new(id: u8, block: &Block<'_>, bytes: usize) -> Result<Self, String> {
        let length =
            i32::try_from(bytes).map_err(|_| format!("takes blocks below 2 GiB, not {bytes} bytes"))?;
        let typesize =
            u8::try_from(block.typesize).map_err(|_| format!("items of {} bytes", block.typesize))?;
        let shape: Vec<i64> = match block.shape {
            [] => vec![i64::from(length) / i64::from(typesize.max(1))],
            shape => shape.iter().map(|&n| i64::from(n)).collect(),
        };
        let content = array_metadata(&shape, block.kind, typesize);
        let metalayer = Box::new(Metalayer {
            name: c"b2nd".as_ptr().cast(),
            content: content.as_ptr(),
            content_len: i32::try_from(content.len()).unwrap_or(0),
        });
        let mut schunk = Box::new(Schunk::empty());
        schunk.codec = id;
        schunk.codec_meta = block.meta;
        schunk.level = block.level;
        schunk.typesize = typesize.into();
        schunk.blocksize = length;
        schunk.chunksize = length;
        schunk.nchunks = 1;
        schunk.nbytes = length.into();
        schunk.ndim = i8::try_from(shape.len()).unwrap_or(0);
        schunk.blockshape = shape.as_ptr();
        if let Some(first) = schunk.metalayers.first_mut() {
            *first = &raw const *metalayer;
        }
        schunk.nmetalayers = 1;
        let pointer = (&raw mut *schunk).cast();
        let encode = EncodeParams {
            codec: id,
            codec_meta: block.meta,
            level: block.level,
            typesize: typesize.into(),
            blocksize: length,
            schunk: pointer,
            ..EncodeParams::empty()
        };
        let decode = DecodeParams { schunk: pointer, typesize: typesize.into(), ..DecodeParams::empty() };
        Ok(Self {
            id,
            encode: Box::new(encode),
            decode: Box::new(decode),
            chunk: chunk_header(typesize, length),
            _schunk: schunk,
            _metalayer: metalayer,
            _content: content,
            _shape: shape,
        })
    }
}

impl EncodeParams {
    fn empty() -> Self {
        Self {
            codec: 0,
            codec_meta: 0,
            level: 0,
            use_dict: 0,
            typesize: 1,
            nthreads: 1,
            blocksize: 0,
            splitmode: 2,
            schunk: null_mut(),
            filters: [0; FILTERS],
            filters_meta: [0; FILTERS],
            prefilter: null(),
            preparams: null(),
            tuner_params: null(),
            tuner_id: 0,
            is_instrumented: false,
            codec_params: null(),
            filter_params: [null(); FILTERS],
            spare: [0; SPARE],
        }
    }
}

impl DecodeParams {
    fn empty() -> Self {
        let schunk = null_mut();
        let spare = [0; SPARE];
        Self { nthreads: 1, schunk, postfilter: null(), postparams: null(), typesize: 1, spare }
    }
}

impl Schunk {
    fn empty() -> Self {
        Self {
            version: 0,
            codec: 0,
            codec_meta: 0,
            level: 0,
            splitmode: 2,
            typesize: 1,
            blocksize: 0,
            chunksize: 0,
            flags2: 0,
            use_dict: 0,
            filters: [0; FILTERS],
            filters_meta: [0; FILTERS],
            nchunks: 0,
            current_chunk: 0,
            nbytes: 0,
            cbytes: 0,
            data: null(),
            data_len: 0,
            storage: null(),
            frame: null(),
            encoder: null(),
            decoder: null(),
            metalayers: [null(); METALAYERS],
            nmetalayers: 0,
            variable_metalayers: [null(); VARIABLE_METALAYERS],
            nvariable_metalayers: 0,
            tuner_params: null(),
            tuner_id: 0,
            ndim: 0,
            blockshape: null(),
            is_view: false,
            change_tick: 0,
            spare: [0; SPARE],
        }
    }
}

/// The metadata of an array whose only chunk is one block.
fn array_metadata(shape: &[i64], kind: Option<char>, typesize: u8) -> Vec<u8> {
    let axes = u8::try_from(shape.len()).unwrap_or(0) & 0x0f;
    let mut out = vec![0x97, 0, axes, 0x90 | axes];
    for &n in shape {
        out.push(0xd3);
        out.extend_from_slice(&n.to_be_bytes());
    }
    for _ in 0..2 {
        out.push(0x90 | axes);
        for &n in shape {
            out.push(0xd2);
            out.extend_from_slice(&i32::try_from(n).unwrap_or(i32::MAX).to_be_bytes());
        }
    }
    let order = if typesize == 1 { '|' } else { '<' };
    let dtype = match kind {
        Some(kind @ ('b' | 'i' | 'u' | 'f' | 'c')) => format!("{order}{kind}{typesize}"),
        _ => format!("|V{typesize}"),
    };
    out.extend_from_slice(&[0, 0xdb]);
    out.extend_from_slice(&u32::try_from(dtype.len()).unwrap_or(0).to_be_bytes());
    out.extend_from_slice(dtype.as_bytes());
    out
}

/// The header of a chunk that has one block. Source: `docs/formats/chunk.md`, "Header".
fn chunk_header(typesize: u8, length: i32) -> [u8; HEADER_BYTES] {
    let mut out = [0; HEADER_BYTES];
    out[..4].copy_from_slice(&[5, 1, 0x05, typesize]);
    out[4..8].copy_from_slice(&length.to_le_bytes());
    out[8..12].copy_from_slice(&length.to_le_bytes());
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn structs_are_laid_out_as_those_of_c() {
        // Places that a C compiler has for `blosc2.h` of C-Blosc2 3.3 on machines with pointers of 8 bytes.
        assert_eq!(std::mem::offset_of!(EncodeParams, schunk), 24);
        assert_eq!(std::mem::offset_of!(EncodeParams, codec_params), 80);
        assert_eq!(std::mem::offset_of!(EncodeParams, spare), 136);
        assert_eq!(std::mem::offset_of!(DecodeParams, spare), 36);
        assert_eq!(std::mem::offset_of!(Schunk, metalayers), 120);
        assert_eq!(std::mem::offset_of!(Schunk, ndim), 65_812);
        assert_eq!(std::mem::offset_of!(Schunk, spare), 65_840);
    }
}
