//! OpenJPEG: the one file that calls it.
//!
//! In: planes and what is wanted of the code-stream, or a code-stream whose head has been checked. Out: the other one.
//! What OpenJPEG says of a damaged stream becomes the error. It works on one thread unless a writer asks for more: blocks are
//! the parallelism of arrays.
//! Source: `openjpeg.h` 2.5.
#![expect(unsafe_code, reason = "OpenJPEG is a C library")]

use std::cell::RefCell;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr::{self, NonNull};

use openjpeg_sys as opj;

use crate::image::Geometry;
use crate::options::{Options, Progression, Target};

/// Bytes that OpenJPEG reads or writes at once.
const BUFFER_BYTES: usize = 1 << 16;
/// The most bytes of its message that an error shows.
const MESSAGE_BYTES_MAX: usize = 300;
/// A bound on what is written: no image grows beyond it, and an encoder that wants more has gone wrong.
const GROWTH_MAX: usize = 4;

/// The code-stream of an image. What is wanted may be missed by a little; callers measure.
///
/// # Errors
/// OpenJPEG refuses.
pub(crate) fn encode(geometry: &Geometry, planes: &[Vec<i32>], options: &Options) -> Result<Vec<u8>, String> {
    let message = Message::default();
    let image = Image::of(geometry, planes)?;
    // SAFETY: it takes no pointer.
    let codec = Codec::new(unsafe { opj::opj_create_compress(opj::CODEC_FORMAT::OPJ_CODEC_J2K) })?;
    codec.tell(&message);
    let mut parameters = parameters(geometry, options);
    // SAFETY: codec and image are alive, and the parameters are complete.
    let is_set = unsafe { opj::opj_setup_encoder(codec.0.as_ptr(), &raw mut *parameters, image.0.as_ptr()) };
    message.check(is_set)?;
    if options.threads > 1 {
        let threads = c_int::try_from(options.threads).unwrap_or(1);
        // SAFETY: the codec is alive and was set up.
        message.check(unsafe { opj::opj_codec_set_threads(codec.0.as_ptr(), threads) })?;
    }
    let raw = geometry.area() * geometry.components * geometry.sample_bytes;
    let mut memory = Memory { input: &[], output: Vec::new(), at: 0, limit: GROWTH_MAX * raw + BUFFER_BYTES };
    {
        let stream = Stream::new(&mut memory, 0)?;
        // SAFETY: all three are alive, and the stream's memory outlives it.
        let is_started =
            unsafe { opj::opj_start_compress(codec.0.as_ptr(), image.0.as_ptr(), stream.0.as_ptr()) };
        message.check(is_started)?;
        // SAFETY: as above.
        message.check(unsafe { opj::opj_encode(codec.0.as_ptr(), stream.0.as_ptr()) })?;
        // SAFETY: as above.
        message.check(unsafe { opj::opj_end_compress(codec.0.as_ptr(), stream.0.as_ptr()) })?;
    }
    Ok(memory.output)
}

/// The planes of a code-stream with as many components of as many samples.
///
/// # Errors
/// The stream is damaged, or OpenJPEG cannot decode it.
pub(crate) fn decode(stream: &[u8], components: usize, area: usize) -> Result<Vec<Vec<i32>>, String> {
    let message = Message::default();
    // SAFETY: it takes no pointer.
    let codec = Codec::new(unsafe { opj::opj_create_decompress(opj::CODEC_FORMAT::OPJ_CODEC_J2K) })?;
    codec.tell(&message);
    let mut parameters = Box::<opj::opj_dparameters_t>::new_uninit();
    // SAFETY: the function fills all of the struct, zeros first.
    unsafe { opj::opj_set_default_decoder_parameters(parameters.as_mut_ptr()) };
    // SAFETY: it has been filled.
    let mut parameters = unsafe { parameters.assume_init() };
    // SAFETY: the codec is alive and the parameters are complete.
    let is_set = unsafe { opj::opj_setup_decoder(codec.0.as_ptr(), &raw mut *parameters) };
    message.check(is_set)?;
    // SAFETY: the codec is alive.
    message.check(unsafe { opj::opj_decoder_set_strict_mode(codec.0.as_ptr(), 1) })?;
    let mut memory = Memory { input: stream, output: Vec::new(), at: 0, limit: 0 };
    let input = Stream::new(&mut memory, 1)?;
    let mut image: *mut opj::opj_image_t = ptr::null_mut();
    // SAFETY: stream and codec are alive, and `image` is a place for a pointer.
    let is_read = unsafe { opj::opj_read_header(input.0.as_ptr(), codec.0.as_ptr(), &raw mut image) };
    let image = NonNull::new(image).map(Image);
    message.check(is_read)?;
    let image = image.ok_or("OpenJPEG: no image")?;
    // SAFETY: all three are alive.
    let is_decoded = unsafe { opj::opj_decode(codec.0.as_ptr(), input.0.as_ptr(), image.0.as_ptr()) };
    message.check(is_decoded)?;
    // SAFETY: as above.
    message.check(unsafe { opj::opj_end_decompress(codec.0.as_ptr(), input.0.as_ptr()) })?;
    image.planes(components, area)
}

/// How an image is to be encoded.
fn parameters(geometry: &Geometry, options: &Options) -> Box<opj::opj_cparameters_t> {
    let mut parameters = Box::<opj::opj_cparameters_t>::new_uninit();
    // SAFETY: the function fills all of the struct, zeros first.
    unsafe { opj::opj_set_default_encoder_parameters(parameters.as_mut_ptr()) };
    // SAFETY: it has been filled.
    let mut parameters = unsafe { parameters.assume_init() };
    // OpenJPEG wants each resolution to have a sample in both directions.
    let shorter = u32::try_from(geometry.columns.min(geometry.rows)).unwrap_or(u32::MAX);
    let shorter = options.tile.map_or(shorter, |(rows, columns)| shorter.min(rows).min(columns));
    let levels = options.levels.min(shorter.ilog2());
    parameters.numresolution = c_int::try_from(levels + 1).unwrap_or(1);
    parameters.tcp_mct = c_char::from(options.has_colour_transform && geometry.components == 3);
    if let Some((rows, columns)) = options.tile {
        parameters.tile_size_on = 1;
        parameters.cp_tdx = c_int::try_from(columns).unwrap_or(c_int::MAX);
        parameters.cp_tdy = c_int::try_from(rows).unwrap_or(c_int::MAX);
    }
    parameters.prog_order = match options.progression {
        Progression::Lrcp => opj::PROG_ORDER::OPJ_LRCP,
        Progression::Rlcp => opj::PROG_ORDER::OPJ_RLCP,
        Progression::Rpcl => opj::PROG_ORDER::OPJ_RPCL,
        Progression::Pcrl => opj::PROG_ORDER::OPJ_PCRL,
        Progression::Cprl => opj::PROG_ORDER::OPJ_CPRL,
    };
    let (is_psnr, last) = match options.target {
        // 0 is for all that is left.
        Target::Lossless => (options.layers.is_psnr, 0.0),
        Target::Ratio(ratio) => (false, ratio),
        Target::Psnr(decibels) => (true, decibels),
    };
    let layers = options.layers.values().iter().chain([&last]);
    parameters.tcp_numlayers = c_int::try_from(layers.clone().count()).unwrap_or(1);
    parameters.cp_disto_alloc = c_int::from(!is_psnr);
    parameters.cp_fixed_quality = c_int::from(is_psnr);
    let values = if is_psnr { &mut parameters.tcp_distoratio } else { &mut parameters.tcp_rates };
    values.iter_mut().zip(layers).for_each(|(value, &layer)| *value = single(layer));
    let is_real = options.target != Target::Lossless && !options.is_reversible;
    parameters.irreversible = c_int::from(is_real);
    parameters
}

#[expect(clippy::cast_possible_truncation, reason = "a quality needs no more digits")]
fn single(value: f64) -> f32 {
    value as f32
}

/// What OpenJPEG said went wrong.
#[derive(Debug, Default)]
struct Message(RefCell<String>);

impl Message {
    /// An error if a call has failed.
    fn check(&self, has_worked: opj::OPJ_BOOL) -> Result<(), String> {
        if has_worked != 0 {
            return Ok(());
        }
        let said = self.0.borrow();
        Err(format!("OpenJPEG: {}", if said.is_empty() { "the stream is damaged" } else { said.as_str() }))
    }
}

/// Keeps a message.
unsafe extern "C" fn keep(text: *const c_char, message: *mut c_void) {
    // SAFETY: OpenJPEG hands over a text that ends with a zero.
    let text = unsafe { CStr::from_ptr(text) }.to_string_lossy();
    // SAFETY: it is the `Message` that `Codec::tell` was given, which outlives the codec.
    let message = unsafe { &*message.cast::<Message>() };
    let Ok(mut said) = message.0.try_borrow_mut() else { return };
    if said.len() < MESSAGE_BYTES_MAX {
        if !said.is_empty() {
            said.push_str("; ");
        }
        said.extend(text.trim().chars().take(MESSAGE_BYTES_MAX));
    }
}

/// A coder of OpenJPEG.
struct Codec(NonNull<opj::opj_codec_t>);

impl Codec {
    fn new(codec: *mut opj::opj_codec_t) -> Result<Self, String> {
        NonNull::new(codec).map(Self).ok_or_else(|| "OpenJPEG: no memory for a coder".to_owned())
    }

    /// Has errors put into `message`.
    fn tell(&self, message: &Message) {
        let message = ptr::from_ref(message).cast_mut().cast();
        // SAFETY: the codec is alive, and callers drop it before the message.
        unsafe { opj::opj_set_error_handler(self.0.as_ptr(), Some(keep), message) };
    }
}

impl Drop for Codec {
    fn drop(&mut self) {
        // SAFETY: it is alive and nobody else's.
        unsafe { opj::opj_destroy_codec(self.0.as_ptr()) };
    }
}

/// An image of OpenJPEG.
struct Image(NonNull<opj::opj_image_t>);

impl Image {
    /// An image with these planes.
    fn of(geometry: &Geometry, planes: &[Vec<i32>]) -> Result<Self, String> {
        let side = |side: usize| u32::try_from(side).unwrap_or(0);
        let (columns, rows) = (side(geometry.columns), side(geometry.rows));
        let component = opj::opj_image_cmptparm_t {
            dx: 1,
            dy: 1,
            w: columns,
            h: rows,
            x0: 0,
            y0: 0,
            prec: geometry.bits(),
            bpp: geometry.bits(),
            sgnd: u32::from(geometry.is_signed),
        };
        let mut components = vec![component; planes.len()];
        let colours = if planes.len() < 3 {
            opj::COLOR_SPACE::OPJ_CLRSPC_GRAY
        } else {
            opj::COLOR_SPACE::OPJ_CLRSPC_SRGB
        };
        // SAFETY: the array has as many entries as it is said to have.
        let image = unsafe { opj::opj_image_create(side(planes.len()), components.as_mut_ptr(), colours) };
        let mut image = NonNull::new(image).map(Self).ok_or("OpenJPEG: no memory for an image")?;
        // SAFETY: the image is alive and nobody else's.
        let fields = unsafe { image.0.as_mut() };
        (fields.x0, fields.y0, fields.x1, fields.y1) = (0, 0, columns, rows);
        for (number, plane) in planes.iter().enumerate() {
            image.samples_mut(number, plane.len())?.copy_from_slice(plane);
        }
        Ok(image)
    }

    /// The component of that number, with room for `area` samples.
    fn component(&self, number: usize, area: usize) -> Result<&opj::opj_image_comp_t, String> {
        // SAFETY: the image is alive as long as `self`.
        let fields = unsafe { self.0.as_ref() };
        let count = fields.numcomps as usize;
        if number >= count || fields.comps.is_null() {
            return Err(format!("OpenJPEG: component {number} of {count}"));
        }
        // SAFETY: the array has `numcomps` entries.
        let place = unsafe { fields.comps.add(number) };
        // SAFETY: it is within that array, which lives as long as the image.
        let component = unsafe { &*place };
        let found = u64::from(component.w) * u64::from(component.h);
        if found != area as u64 || component.data.is_null() {
            return Err(format!("OpenJPEG: {} x {} samples, not {area}", component.h, component.w));
        }
        Ok(component)
    }

    fn samples_mut(&mut self, number: usize, area: usize) -> Result<&mut [i32], String> {
        let data = self.component(number, area)?.data;
        // SAFETY: the component holds width times height samples, which are `area`, and nobody else has them.
        Ok(unsafe { std::slice::from_raw_parts_mut(data, area) })
    }

    /// Copies of the planes.
    fn planes(&self, components: usize, area: usize) -> Result<Vec<Vec<i32>>, String> {
        let plane = |number| {
            let data = self.component(number, area)?.data;
            // SAFETY: the component holds width times height samples, which are `area`.
            Ok(unsafe { std::slice::from_raw_parts(data, area) }.to_vec())
        };
        (0..components).map(plane).collect()
    }
}

impl Drop for Image {
    fn drop(&mut self) {
        // SAFETY: it is alive and nobody else's.
        unsafe { opj::opj_image_destroy(self.0.as_ptr()) };
    }
}

/// Bytes that OpenJPEG reads or writes.
struct Memory<'a> {
    input: &'a [u8],
    output: Vec<u8>,
    at: usize,
    /// The most bytes of `output`.
    limit: usize,
}

/// A stream of OpenJPEG over a [`Memory`].
struct Stream<'m>(NonNull<opj::opj_stream_t>, std::marker::PhantomData<&'m mut ()>);

impl<'m> Stream<'m> {
    /// A stream that reads if `is_input` is 1, and writes if it is 0.
    fn new(memory: &'m mut Memory<'_>, is_input: opj::OPJ_BOOL) -> Result<Self, String> {
        let bytes = memory.input.len() as u64;
        // SAFETY: it takes no pointer.
        let stream = unsafe { opj::opj_stream_create(BUFFER_BYTES, is_input) };
        let stream = NonNull::new(stream).ok_or("OpenJPEG: no memory for a stream")?;
        let stream = Self(stream, std::marker::PhantomData);
        let (this, memory) = (stream.0.as_ptr(), ptr::from_mut(memory).cast());
        // SAFETY: the stream is alive; the memory is borrowed for as long as it.
        unsafe { opj::opj_stream_set_user_data(this, memory, None) };
        // SAFETY: the stream is alive.
        unsafe { opj::opj_stream_set_user_data_length(this, bytes) };
        // SAFETY: the function takes the memory that was set.
        unsafe { opj::opj_stream_set_read_function(this, Some(read)) };
        // SAFETY: as above.
        unsafe { opj::opj_stream_set_write_function(this, Some(write)) };
        // SAFETY: as above.
        unsafe { opj::opj_stream_set_skip_function(this, Some(skip)) };
        // SAFETY: as above.
        unsafe { opj::opj_stream_set_seek_function(this, Some(seek)) };
        Ok(stream)
    }
}

impl Drop for Stream<'_> {
    fn drop(&mut self) {
        // SAFETY: it is alive and nobody else's.
        unsafe { opj::opj_stream_destroy(self.0.as_ptr()) };
    }
}

/// What a call returns that has nothing to read or no room to write.
const NOTHING: usize = usize::MAX;

unsafe extern "C" fn read(buffer: *mut c_void, bytes: usize, memory: *mut c_void) -> usize {
    // SAFETY: it is the `Memory` that the stream was made for, which outlives it.
    let memory = unsafe { &mut *memory.cast::<Memory<'_>>() };
    let left = memory.input.get(memory.at..).unwrap_or_default();
    let bytes = bytes.min(left.len());
    if bytes == 0 {
        return NOTHING;
    }
    // SAFETY: OpenJPEG's buffer has room for what it asks for, and is not within the input.
    unsafe { ptr::copy_nonoverlapping(left.as_ptr(), buffer.cast(), bytes) };
    memory.at += bytes;
    bytes
}

unsafe extern "C" fn write(buffer: *mut c_void, bytes: usize, memory: *mut c_void) -> usize {
    // SAFETY: as in `read`.
    let memory = unsafe { &mut *memory.cast::<Memory<'_>>() };
    let Some(end) = memory.at.checked_add(bytes).filter(|&end| end <= memory.limit) else {
        return NOTHING;
    };
    // SAFETY: OpenJPEG's buffer holds that many bytes.
    let given = unsafe { std::slice::from_raw_parts(buffer.cast::<u8>(), bytes) };
    memory.output.resize(memory.output.len().max(end), 0);
    if let Some(out) = memory.output.get_mut(memory.at..end) {
        out.copy_from_slice(given);
    }
    memory.at = end;
    bytes
}

unsafe extern "C" fn skip(bytes: i64, memory: *mut c_void) -> i64 {
    // SAFETY: as in `read`.
    let memory = unsafe { &mut *memory.cast::<Memory<'_>>() };
    let end = usize::try_from(bytes).ok().and_then(|bytes| memory.at.checked_add(bytes));
    match end.filter(|&end| end <= memory.input.len().max(memory.limit)) {
        Some(end) => {
            memory.at = end;
            bytes
        }
        None => -1,
    }
}

unsafe extern "C" fn seek(to: i64, memory: *mut c_void) -> opj::OPJ_BOOL {
    // SAFETY: as in `read`.
    let memory = unsafe { &mut *memory.cast::<Memory<'_>>() };
    match usize::try_from(to).ok().filter(|&to| to <= memory.input.len().max(memory.limit)) {
        Some(to) => {
            memory.at = to;
            1
        }
        None => 0,
    }
}
