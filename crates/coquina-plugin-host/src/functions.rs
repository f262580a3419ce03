//! Calls the C functions of a plugin.
//!
//! In: slices and texts. Out: what the functions answer, checked as far as it can be.
//! Source: `docs/formats/plugins.md`, "The functions".
//! Invariant: of a table no more is read than it says it has, and no function is called that it does not have.
#![expect(unsafe_code, reason = "functions of a C library")]

use std::ffi::c_char;

use coquina::{Error, Result};
use coquina_plugin::Block;
use coquina_plugin::table::{
    Count, Decode, Encode, FAILED, Id, IsLossy, MAJOR, MINOR, Name, NeedsItems, STORE, Table,
};

use crate::{NAME_BYTES_MAX, check_name};

/// A longer text of an error is cut off.
const ERROR_BYTES: usize = 1000;
/// A plugin with more codecs or filters than there are ids is refused.
const PARTS_MAX: u32 = 256;

/// What every version of the table begins with.
#[repr(C)]
#[derive(Clone, Copy)]
struct Head {
    major: u32,
    minor: u32,
    size: usize,
}

/// The functions of a plugin, all of them there.
#[derive(Clone, Copy)]
pub(crate) struct Functions {
    count: Count,
    id: Id,
    name: Name,
    is_lossy: IsLossy,
    needs_items: NeedsItems,
    encode: Encode,
    decode: Decode,
}

/// A codec or filter of a plugin: what it is, and its number.
#[derive(Clone, Copy)]
pub(crate) struct Part {
    pub(crate) what: u32,
    pub(crate) number: u32,
}

impl Functions {
    /// The functions of the table that a plugin returned.
    ///
    /// # Safety
    /// `table` is null, or points to the table of a plugin, which stays as it is for as long as this process runs.
    ///
    /// # Errors
    /// `Unsupported` for another major version, `Invalid` for a table that lacks a function.
    pub(crate) unsafe fn of(table: *const Table) -> Result<Self> {
        if table.is_null() {
            return Err(Error::unsupported(format!(
                "it does not serve version {MAJOR}.{MINOR} of the interface"
            )));
        }
        // SAFETY: every table begins with these fields.
        let head = unsafe { table.cast::<Head>().read() };
        let Head { major, minor, size } = head;
        if major != MAJOR {
            return Err(Error::unsupported(format!(
                "it has version {major}.{minor} of the interface, this is {MAJOR}.{MINOR}: it must be built for {MAJOR}"
            )));
        }
        let mut ours = Table {
            major,
            minor,
            size,
            count: None,
            id: None,
            name: None,
            is_lossy: None,
            needs_items: None,
            encode: None,
            decode: None,
        };
        // SAFETY: the plugin's table has as many bytes as it says, and ours is one without functions.
        unsafe { copy_known(table.cast(), size, &mut ours) };
        let lacks = |name: &str| Error::invalid(format!("its table lacks the function {name}"));
        Ok(Self {
            count: ours.count.ok_or_else(|| lacks("count"))?,
            id: ours.id.ok_or_else(|| lacks("id"))?,
            name: ours.name.ok_or_else(|| lacks("name"))?,
            is_lossy: ours.is_lossy.ok_or_else(|| lacks("is_lossy"))?,
            needs_items: ours.needs_items.ok_or_else(|| lacks("needs_items"))?,
            encode: ours.encode.ok_or_else(|| lacks("encode"))?,
            decode: ours.decode.ok_or_else(|| lacks("decode"))?,
        })
    }

    /// All codecs or filters, with their ids.
    ///
    /// # Errors
    /// `Invalid` for more than there can be, or a number that is no id.
    pub(crate) fn parts(&self, what: u32) -> Result<Vec<(Part, u8)>> {
        // SAFETY: it takes any number.
        let count = unsafe { (self.count)(what) };
        if count > PARTS_MAX {
            return Err(Error::invalid(format!("it says that it has {count} codecs or filters")));
        }
        let id_of = |number| {
            // SAFETY: a number below the count.
            let id = unsafe { (self.id)(what, number) };
            let id =
                u8::try_from(id).map_err(|_| Error::invalid(format!("{id} is not an id: takes 32..=255")));
            Ok((Part { what, number }, id?))
        };
        (0..count).map(id_of).collect()
    }

    /// The name of a part.
    ///
    /// # Errors
    /// `Invalid` for one that nobody could write.
    pub(crate) fn name(&self, part: Part) -> Result<String> {
        let mut bytes = 0;
        // SAFETY: a number below the count, and a place for the length.
        let start = unsafe { (self.name)(part.what, part.number, &raw mut bytes) };
        if start.is_null() || !(1..=NAME_BYTES_MAX).contains(&bytes) {
            return Err(Error::invalid(format!("a name of {bytes} bytes: takes 1..={NAME_BYTES_MAX}")));
        }
        // SAFETY: the plugin says that there are so many bytes.
        let name = unsafe { std::slice::from_raw_parts(start.cast::<u8>(), bytes) };
        let name = String::from_utf8_lossy(name);
        check_name(&name)?;
        Ok(name.into_owned())
    }

    /// Whether a part is lossy.
    pub(crate) fn is_lossy(&self, part: Part, meta: u8, options: &str) -> bool {
        let (text, bytes) = text(options);
        // SAFETY: a number below the count, and a text that lives through the call.
        unsafe { (self.is_lossy)(part.what, part.number, meta.into(), text, bytes) != 0 }
    }

    /// Whether a codec needs items as they are.
    pub(crate) fn needs_items(&self, part: Part) -> bool {
        // SAFETY: a number below the count.
        unsafe { (self.needs_items)(part.what, part.number) != 0 }
    }

    /// Encodes a block; how many bytes it says that it wrote.
    ///
    /// # Errors
    /// What the plugin says, or that it says nonsense.
    pub(crate) fn encode(
        &self,
        part: Part,
        block: &Block<'_>,
        input: &[u8],
        out: &mut [u8],
    ) -> Result<Option<usize>, String> {
        let (options, options_bytes) = text(block.options);
        let mut failure = Failure::new();
        // SAFETY: a number below the count; pointers and lengths of slices that live through the call, of which nobody
        // else has those that are written.
        let encoded = unsafe {
            (self.encode)(
                part.what,
                part.number,
                block.typesize,
                block.shape.as_ptr(),
                block.shape.len(),
                block.kind.map_or(0, u32::from),
                block.meta.into(),
                block.level.into(),
                options,
                options_bytes,
                input.as_ptr(),
                input.len(),
                out.as_mut_ptr(),
                out.len(),
                failure.room.as_mut_ptr().cast(),
                failure.room.len(),
                &raw mut failure.bytes,
            )
        };
        match encoded {
            STORE => Ok(None),
            FAILED => Err(failure.sentence()),
            bytes => usize::try_from(bytes).map(Some).map_err(|_| format!("returned {bytes}")),
        }
    }

    /// Decodes a block.
    ///
    /// # Errors
    /// As [`Functions::encode`].
    pub(crate) fn decode(
        &self,
        part: Part,
        block: &Block<'_>,
        input: &[u8],
        out: &mut [u8],
    ) -> Result<(), String> {
        let mut failure = Failure::new();
        // SAFETY: as in `encode`.
        let decoded = unsafe {
            (self.decode)(
                part.what,
                part.number,
                block.typesize,
                block.shape.as_ptr(),
                block.shape.len(),
                block.kind.map_or(0, u32::from),
                block.meta.into(),
                input.as_ptr(),
                input.len(),
                out.as_mut_ptr(),
                out.len(),
                failure.room.as_mut_ptr().cast(),
                failure.room.len(),
                &raw mut failure.bytes,
            )
        };
        match decoded {
            0 => Ok(()),
            FAILED => Err(failure.sentence()),
            number => Err(format!("returned {number}")),
        }
    }
}

/// Copies as much of a table as both sides know; what the plugin does not have stays as it is in `ours`.
///
/// # Safety
/// `table` has `size` bytes: a [`Head`] and pointers to functions, as far as `T` goes of the types that `T` has there.
/// `T` begins with a [`Head`], has `Option`s of functions behind it, and nothing else.
unsafe fn copy_known<T>(table: *const u8, size: usize, ours: &mut T) {
    // Whole functions only.
    let functions = size.saturating_sub(size_of::<Head>()) / size_of::<usize>() * size_of::<usize>();
    let bytes = (size_of::<Head>() + functions).min(size_of::<T>());
    let ours: *mut T = ours;
    // SAFETY: both have so many bytes, and a function that is null is `None`.
    unsafe { table.copy_to_nonoverlapping(ours.cast(), bytes) };
}

/// Room for what a plugin says when it fails.
struct Failure {
    room: [u8; ERROR_BYTES],
    bytes: usize,
}

impl Failure {
    fn new() -> Self {
        Self { room: [0; ERROR_BYTES], bytes: 0 }
    }

    /// Of a text that is too long, or not UTF-8, as much as can be read.
    fn sentence(&self) -> String {
        let said = self.room.get(..self.bytes.min(ERROR_BYTES)).unwrap_or_default();
        if said.is_empty() {
            return "failed, and does not say why".into();
        }
        String::from_utf8_lossy(said).into_owned()
    }
}

fn text(text: &str) -> (*const c_char, usize) {
    (text.as_ptr().cast(), text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A table of version 1.1, with a function more.
    #[repr(C)]
    #[derive(Clone, Copy)]
    struct Later {
        table: Table,
        more: Option<extern "C" fn(u32) -> u32>,
    }

    extern "C" fn one(_: u32) -> u32 {
        1
    }

    fn bare(minor: u32, size: usize) -> Table {
        Table {
            major: MAJOR,
            minor,
            size,
            count: Some(one as Count),
            id: None,
            name: None,
            is_lossy: None,
            needs_items: None,
            encode: None,
            decode: None,
        }
    }

    #[test]
    fn a_later_host_takes_a_table_that_lacks_its_newer_functions() {
        // Behind the older table lie bytes of somebody else, which are no function.
        let older = [bare(0, size_of::<Table>()), bare(7, usize::MAX)];
        let mut ours = Later { table: bare(1, 0), more: None };
        ours.table.count = None;
        // SAFETY: the first table has as many bytes as it says.
        unsafe { copy_known((&raw const older).cast(), size_of::<Table>(), &mut ours) };
        assert!(ours.more.is_none());
        assert!(ours.table.count.is_some());
    }

    #[test]
    fn an_earlier_host_copies_no_more_of_a_table_than_it_knows() {
        let newer = Later { table: bare(1, size_of::<Later>()), more: Some(one) };
        let mut ours = [bare(0, 0), bare(0, 0)];
        let [first, second] = &mut ours;
        // SAFETY: the newer table has as many bytes as it says.
        unsafe { copy_known((&raw const newer).cast(), size_of::<Later>(), first) };
        assert_eq!((first.size, second.size), (size_of::<Later>(), 0));
    }

    #[test]
    fn functions_that_are_cut_off_are_not_there() {
        let table = bare(0, size_of::<Head>() + size_of::<usize>() - 1);
        let mut ours = Table { count: None, ..bare(0, 0) };
        // SAFETY: the table has more bytes than that.
        unsafe { copy_known((&raw const table).cast(), table.size, &mut ours) };
        assert!(ours.count.is_none());
    }
}
