//! Makes the C functions of a plugin out of its codecs and filters.
//!
//! In: what the host passes, see [`crate::table`]. Out: what the traits return, as numbers and texts.
//! Invariant: nothing unwinds into the host, and no more is written than there is room for.
#![expect(unsafe_code, reason = "functions that C calls")]

use core::ffi::c_char;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::table::{self, CODEC, FAILED, FILTER, STORE, Table};
use crate::{Block, Codec, Filter};

/// Makes the library's one exported function: `export! { codecs: [&A, &B], filters: [&F] }`. Either list may be left
/// out. Its items are references to statics or to values without state.
#[macro_export]
macro_rules! export {
    (codecs: [$($codec:expr),* $(,)?] $(,)?) => {
        $crate::export! { codecs: [$($codec),*], filters: [] }
    };
    (filters: [$($filter:expr),* $(,)?] $(,)?) => {
        $crate::export! { codecs: [], filters: [$($filter),*] }
    };
    (codecs: [$($codec:expr),* $(,)?], filters: [$($filter:expr),* $(,)?] $(,)?) => {
        const _: () = {
            struct Own;

            impl $crate::export::Lists for Own {
                const CODECS: &'static [&'static dyn $crate::Codec] = &[$($codec),*];
                const FILTERS: &'static [&'static dyn $crate::Filter] = &[$($filter),*];
            }

            // SAFETY: libraries are looked into one by one, so that no other function of this name is in the way.
            #[unsafe(no_mangle)]
            extern "C" fn coquina_plugin(major: u32, _minor: u32) -> *const $crate::table::Table {
                $crate::export::table::<Own>(major)
            }
        };
    };
}

/// The codecs and filters of a plugin; [`export!`] implements it.
pub trait Lists: 'static {
    /// The codecs.
    const CODECS: &'static [&'static dyn Codec];
    /// The filters.
    const FILTERS: &'static [&'static dyn Filter];
}

/// The table of a plugin, for a host of this major version; null for another one than ours.
pub fn table<L: Lists>(major: u32) -> *const Table {
    let table: &'static Table = const {
        &Table {
            major: table::MAJOR,
            minor: table::MINOR,
            size: size_of::<Table>(),
            count: Some(count::<L>),
            id: Some(id::<L>),
            name: Some(name::<L>),
            is_lossy: Some(is_lossy::<L>),
            needs_items: Some(needs_items::<L>),
            encode: Some(encode::<L>),
            decode: Some(decode::<L>),
        }
    };
    if major == table::MAJOR { table } else { core::ptr::null() }
}

/// One of the things that a plugin has.
enum Part {
    Codec(&'static dyn Codec),
    Filter(&'static dyn Filter),
}

impl Part {
    fn of<L: Lists>(what: u32, number: u32) -> Option<Self> {
        let number = usize::try_from(number).ok()?;
        match what {
            CODEC => L::CODECS.get(number).map(|codec| Self::Codec(*codec)),
            FILTER => L::FILTERS.get(number).map(|filter| Self::Filter(*filter)),
            _ => None,
        }
    }
}

extern "C" fn count<L: Lists>(what: u32) -> u32 {
    let count = match what {
        CODEC => L::CODECS.len(),
        FILTER => L::FILTERS.len(),
        _ => 0,
    };
    u32::try_from(count).unwrap_or(0)
}

extern "C" fn id<L: Lists>(what: u32, number: u32) -> u32 {
    let id = || match Part::of::<L>(what, number) {
        Some(Part::Codec(codec)) => codec.id(),
        Some(Part::Filter(filter)) => filter.id(),
        None => 0,
    };
    // 0 is nobody's id: a host refuses it.
    catch_unwind(id).unwrap_or(0).into()
}

unsafe extern "C" fn name<L: Lists>(what: u32, number: u32, bytes: *mut usize) -> *const c_char {
    let name = || match Part::of::<L>(what, number) {
        Some(Part::Codec(codec)) => codec.name(),
        Some(Part::Filter(filter)) => filter.name(),
        None => "",
    };
    let name = catch_unwind(name).unwrap_or_default();
    // SAFETY: the host passes a place for the length.
    unsafe { bytes.write(name.len()) };
    name.as_ptr().cast()
}

unsafe extern "C" fn is_lossy<L: Lists>(
    what: u32,
    number: u32,
    meta: u32,
    options: *const c_char,
    options_bytes: usize,
) -> u32 {
    // SAFETY: the host passes as many bytes as it says.
    let options = unsafe { text(options, options_bytes) };
    let meta = u8::try_from(meta).unwrap_or(0);
    let is_lossy = || match Part::of::<L>(what, number) {
        Some(Part::Codec(codec)) => codec.is_lossy(meta, options),
        Some(Part::Filter(filter)) => filter.is_lossy(),
        None => false,
    };
    // What cannot say that it is lossless may be lossy.
    catch_unwind(is_lossy).unwrap_or(true).into()
}

extern "C" fn needs_items<L: Lists>(what: u32, number: u32) -> u32 {
    let needs_items = || match Part::of::<L>(what, number) {
        Some(Part::Codec(codec)) => codec.needs_items(),
        Some(Part::Filter(_)) | None => false,
    };
    catch_unwind(needs_items).unwrap_or(true).into()
}

unsafe extern "C" fn encode<L: Lists>(
    what: u32,
    number: u32,
    typesize: usize,
    shape: *const u32,
    axes: usize,
    kind: u32,
    meta: u32,
    level: u32,
    options: *const c_char,
    options_bytes: usize,
    input: *const u8,
    input_bytes: usize,
    out: *mut u8,
    out_bytes: usize,
    error: *mut c_char,
    error_bytes: usize,
    error_len: *mut usize,
) -> i64 {
    let block = Block {
        typesize,
        // SAFETY: the host passes as many sizes as it says.
        shape: unsafe { slice(shape, axes) },
        kind: char::from_u32(kind).filter(|&kind| kind != '\0'),
        meta: u8::try_from(meta).unwrap_or(0),
        level: u8::try_from(level).unwrap_or(0),
        // SAFETY: as many bytes as the host says.
        options: unsafe { text(options, options_bytes) },
    };
    // SAFETY: as many bytes as the host says, which nobody changes meanwhile.
    let input = unsafe { slice(input, input_bytes) };
    // SAFETY: as many bytes as the host says, which nobody else has, and that have been written before.
    let out = unsafe { slice_mut(out, out_bytes) };
    let encoded = caught(|| match Part::of::<L>(what, number) {
        Some(Part::Codec(codec)) => codec.encode(&block, input, out),
        Some(Part::Filter(filter)) => filter.encode(&block, input, out).map(|()| Some(input_bytes)),
        None => Err(format!("number {number}: the plugin has fewer")),
    });
    let sentence = match encoded {
        Ok(None) => return STORE,
        Ok(Some(bytes)) => return i64::try_from(bytes).unwrap_or(i64::MAX),
        Err(sentence) => sentence,
    };
    // SAFETY: as much room for a text as the host says.
    let room = unsafe { slice_mut(error.cast(), error_bytes) };
    // SAFETY: the host passes a place for the length.
    unsafe { error_len.write(put(&sentence, room)) };
    FAILED
}

unsafe extern "C" fn decode<L: Lists>(
    what: u32,
    number: u32,
    typesize: usize,
    shape: *const u32,
    axes: usize,
    kind: u32,
    meta: u32,
    input: *const u8,
    input_bytes: usize,
    out: *mut u8,
    out_bytes: usize,
    error: *mut c_char,
    error_bytes: usize,
    error_len: *mut usize,
) -> i64 {
    let block = Block {
        typesize,
        // SAFETY: the host passes as many sizes as it says.
        shape: unsafe { slice(shape, axes) },
        kind: char::from_u32(kind).filter(|&kind| kind != '\0'),
        meta: u8::try_from(meta).unwrap_or(0),
        level: 0,
        options: "",
    };
    // SAFETY: as many bytes as the host says, which nobody changes meanwhile.
    let input = unsafe { slice(input, input_bytes) };
    // SAFETY: as many bytes as the host says, which nobody else has, and that have been written before.
    let out = unsafe { slice_mut(out, out_bytes) };
    let decoded = caught(|| match Part::of::<L>(what, number) {
        Some(Part::Codec(codec)) => codec.decode(&block, input, out),
        Some(Part::Filter(filter)) => filter.decode(&block, input, out),
        None => Err(format!("number {number}: the plugin has fewer")),
    });
    let Err(sentence) = decoded else { return 0 };
    // SAFETY: as much room for a text as the host says.
    let room = unsafe { slice_mut(error.cast(), error_bytes) };
    // SAFETY: the host passes a place for the length.
    unsafe { error_len.write(put(&sentence, room)) };
    FAILED
}

/// What `work` returns; what it panics with as a sentence.
fn caught<T>(work: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    // What a panic leaves behind is the output, which the host then throws away.
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let said = panic.downcast_ref::<&str>().copied();
        let said =
            said.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message");
        Err(format!("the plugin panicked: {said}"))
    })
}

/// Puts as much of a sentence as there is room for; returns how many bytes.
fn put(sentence: &str, room: &mut [u8]) -> usize {
    let most = room.len().min(sentence.len());
    // Not in the middle of a character.
    let bytes = (0..=most).rev().find(|&bytes| sentence.is_char_boundary(bytes)).unwrap_or(0);
    room.iter_mut()
        .zip(sentence.as_bytes().get(..bytes).unwrap_or_default())
        .for_each(|(to, from)| *to = *from);
    bytes
}

/// # Safety
/// `len` items can be read at `start`, and stay as they are; or `len` is 0.
unsafe fn slice<'a, T>(start: *const T, len: usize) -> &'a [T] {
    if len == 0 {
        return &[];
    }
    // SAFETY: what the caller promises.
    unsafe { core::slice::from_raw_parts(start, len) }
}

/// # Safety
/// `len` bytes can be read and written at `start`, and nobody else has them; or `len` is 0.
unsafe fn slice_mut<'a>(start: *mut u8, len: usize) -> &'a mut [u8] {
    if len == 0 {
        return &mut [];
    }
    // SAFETY: what the caller promises.
    unsafe { core::slice::from_raw_parts_mut(start, len) }
}

/// # Safety
/// As [`slice`].
unsafe fn text<'a>(start: *const c_char, bytes: usize) -> &'a str {
    // SAFETY: what the caller promises.
    let bytes = unsafe { slice(start.cast(), bytes) };
    core::str::from_utf8(bytes).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_is_cut_between_characters() {
        let mut room = [b'.'; 4];
        assert_eq!(put("aäö", &mut room), 3);
        assert_eq!(room, *b"a\xc3\xa4.");
        assert_eq!(put("", &mut []), 0);
        assert_eq!(put("ä", &mut [0]), 0);
    }
}
