//! The call that runs a filter over a chunk, from C.
//!
//! Source: `H5Z_func_t` in `H5Zdevelop.h`.
//! Invariant: `*buf` and `*buf_size` describe one block from `malloc` before and after; 0 means that both are as
//! they were.

use core::ffi::{c_uint, c_void};
use core::slice;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::buffer::Buffer;
use crate::engine;

/// `H5Z_FLAG_REVERSE`: undo the filter.
const FLAG_REVERSE: c_uint = 0x0100;

/// `H5Z_func_t`: flags, number of parameters, parameters, bytes that hold data, bytes allocated, the block.
pub(crate) type Callback =
    unsafe extern "C" fn(c_uint, usize, *const c_uint, usize, *mut usize, *mut *mut c_void) -> usize;

/// Runs the filter `ID`; returns how many bytes of `*buf` hold data now, or 0 for a failure.
///
/// # Safety
/// `values` points to `values_len` parameters. `buf` and `buf_size` point to a block from `malloc` and to its size, of
/// which `bytes` hold data; nobody else uses them during the call.
pub(crate) unsafe extern "C" fn callback<const ID: u16>(
    flags: c_uint,
    values_len: usize,
    values: *const c_uint,
    bytes: usize,
    buf_size: *mut usize,
    buf: *mut *mut c_void,
) -> usize {
    let run = || {
        // SAFETY: as the caller promises.
        let values = unsafe { slice_of(values, values_len) };
        // SAFETY: as the caller promises.
        let mut chunk = unsafe { Chunk::new(buf, buf_size, bytes) }?;
        if flags & FLAG_REVERSE == 0 { chunk.encode(ID, values) } else { chunk.decode(ID, values) }
    };
    // What a panic leaves behind is dropped: the caller's block is changed in the last step alone.
    catch_unwind(AssertUnwindSafe(run)).ok().flatten().unwrap_or(0)
}

/// The caller's block, and where the caller keeps its address and size.
struct Chunk<'a> {
    block: &'a mut *mut c_void,
    room: &'a mut usize,
    bytes: usize,
}

impl Chunk<'_> {
    /// # Safety
    /// As for [`callback`].
    unsafe fn new(buf: *mut *mut c_void, buf_size: *mut usize, bytes: usize) -> Option<Self> {
        // SAFETY: the pointer is null, or to the caller's variable that nobody else uses now.
        let block = unsafe { buf.as_mut() }?;
        // SAFETY: the same.
        let room = unsafe { buf_size.as_mut() }?;
        Some(Self { block, room, bytes })
    }

    fn data(&self) -> &[u8] {
        // SAFETY: the block holds this many bytes of data, and is changed only through `self`.
        unsafe { slice_of(self.block.cast_const().cast(), self.bytes) }
    }

    fn decode(&mut self, id: u16, values: &[u32]) -> Option<usize> {
        let bytes = engine::bytes_of(id, values, self.data()).ok()?;
        let mut out = Buffer::zeroed(bytes)?;
        engine::decode(id, values, self.data(), out.as_mut_slice()).ok()?;
        self.replace(out, bytes);
        Some(bytes)
    }

    fn encode(&mut self, id: u16, values: &[u32]) -> Option<usize> {
        let stored = engine::encode(id, values, self.data()).ok()?;
        if stored.len() <= *self.room {
            let start = self.block.cast::<u8>();
            // SAFETY: the block has `room` bytes, which are at least as many, and `stored` is another one.
            unsafe { start.copy_from_nonoverlapping(stored.as_ptr(), stored.len()) };
        } else {
            let mut out = Buffer::zeroed(stored.len())?;
            out.as_mut_slice().copy_from_slice(&stored);
            self.replace(out, stored.len());
        }
        Some(stored.len())
    }

    fn replace(&mut self, new: Buffer, bytes: usize) {
        let old = core::mem::replace(self.block, new.into_raw());
        *self.room = bytes;
        // SAFETY: the caller's block came from `malloc`, and its only pointer was just overwritten.
        unsafe { libc::free(old) };
    }
}

/// A slice, also of nothing at null.
///
/// # Safety
/// If `start` is not null, `len` items stand there, and are not changed as long as the slice lives.
unsafe fn slice_of<'a, T>(start: *const T, len: usize) -> &'a [T] {
    if start.is_null() || len == 0 {
        return &[];
    }
    // SAFETY: as the caller promises.
    unsafe { slice::from_raw_parts(start, len) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::class::FILTERS;
    use crate::ids::{BITSHUFFLE, BLOSC, BLOSC2, LZ4, ZSTD};

    /// A block as libhdf5 has it.
    struct Block {
        start: *mut c_void,
        room: usize,
        bytes: usize,
    }

    impl Block {
        fn of(content: &[u8], room: usize) -> Self {
            let mut memory = Buffer::zeroed(room).unwrap();
            memory.as_mut_slice()[..content.len()].copy_from_slice(content);
            Self { start: memory.into_raw(), room, bytes: content.len() }
        }

        /// Calls a filter as libhdf5 does; `None` if it failed.
        fn run(&mut self, id: u16, flags: c_uint, values: &[u32]) -> Option<Vec<u8>> {
            let class = FILTERS.iter().find(|class| class.id == id.into()).unwrap();
            let (room, start) = (&raw mut self.room, &raw mut self.start);
            // SAFETY: the block is one from `calloc`, with its size; the values have their length.
            let bytes =
                unsafe { (class.filter)(flags, values.len(), values.as_ptr(), self.bytes, room, start) };
            if bytes == 0 {
                return None;
            }
            assert!(bytes <= self.room, "{id}: {bytes} bytes in {}", self.room);
            self.bytes = bytes;
            Some(self.content())
        }

        fn content(&self) -> Vec<u8> {
            // SAFETY: the block holds this many bytes.
            unsafe { slice_of(self.start.cast_const().cast::<u8>(), self.bytes) }.to_vec()
        }
    }

    impl Drop for Block {
        fn drop(&mut self) {
            // SAFETY: the block is one of `malloc`, before and after every call.
            unsafe { libc::free(self.start) };
        }
    }

    /// Ids with parameters of all kinds, for chunks of `bytes` bytes.
    fn cases(bytes: usize) -> Vec<(u16, Vec<u32>)> {
        let bytes = u32::try_from(bytes).unwrap();
        let mut cases = vec![
            (LZ4, vec![]),
            (LZ4, vec![1000]),
            (ZSTD, vec![]),
            (ZSTD, vec![9]),
            (BITSHUFFLE, vec![0, 4, 4]),
            (BITSHUFFLE, vec![0, 4, 4, 0, 2]),
            (BITSHUFFLE, vec![0, 4, 4, 128, 3, 5]),
            (BLOSC2, vec![1, 0, 4, bytes, 5, 1, 5, 2, bytes / 8, 2]),
            (BLOSC2, vec![1, 0, 300, bytes]),
            (BLOSC2, vec![]),
            (BLOSC, vec![]),
            (BLOSC, vec![2, 2, 1, bytes]),
        ];
        for codec in [0, 1, 2, 4, 5] {
            cases.push((BLOSC, vec![2, 2, 4, bytes, 5, 2, codec]));
            cases.push((BLOSC2, vec![1, 0, 4, bytes, 5, 1, codec]));
        }
        cases
    }

    fn noise(bytes: usize) -> Vec<u8> {
        let mut state = 0x9E37_79B9_7F4A_7C15_u64;
        let next = move || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            u8::try_from(state >> 56).unwrap()
        };
        std::iter::repeat_with(next).take(bytes).collect()
    }

    #[test]
    fn what_was_encoded_comes_back_whatever_the_block_holds() {
        for bytes in [8, 64, 1000, 40_000, 300_000] {
            let steps: Vec<u8> =
                (0..bytes / 4).flat_map(|n| u32::try_from(n).unwrap().to_le_bytes()).collect();
            for plain in [vec![0; bytes], steps, noise(bytes)] {
                for (id, values) in cases(plain.len()) {
                    // A room that the result fits into, one that it does not fit into, and one between.
                    for room in [plain.len(), plain.len() + 100, 2 * plain.len() + 400] {
                        let mut block = Block::of(&plain, room);
                        assert!(block.run(id, 0, &values).is_some(), "{id} {values:?} {bytes}");
                        let back = block.run(id, FLAG_REVERSE, &values);
                        assert!(back.as_ref() == Some(&plain), "{id} {values:?} {bytes}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_result_that_fits_stays_in_the_block() {
        let plain = vec![7; 10_000];
        for (id, values) in
            cases(plain.len()).into_iter().filter(|(id, values)| *id != BITSHUFFLE || values.len() > 3)
        {
            let mut block = Block::of(&plain, plain.len());
            let start = block.start;
            assert!(block.run(id, 0, &values).is_some_and(|stored| stored.len() < plain.len()));
            assert_eq!((block.start, block.room), (start, plain.len()), "{id}");
        }
    }

    #[test]
    fn damaged_chunks_fail_or_decode_and_leave_a_whole_block() {
        let plain: Vec<u8> = (0..3000_u32).flat_map(u32::to_le_bytes).collect();
        for (id, values) in cases(plain.len()) {
            let mut block = Block::of(&plain, plain.len());
            let stored = block.run(id, 0, &values).unwrap();
            let damage = |at: usize| {
                let mut damaged = stored.clone();
                damaged[at] ^= 1 << (at % 8);
                damaged
            };
            let cut = |at: usize| stored[..at].to_vec();
            let places = || (0..stored.len()).filter(|at| *at < 300 || at % 97 == 0);
            for damaged in
                places().map(damage).chain(places().skip(1).map(cut)).chain([noise(500), vec![0; 500]])
            {
                let mut block = Block::of(&damaged, damaged.len());
                let start = block.start;
                if block.run(id, FLAG_REVERSE, &values).is_none() {
                    assert_eq!((block.start, block.room), (start, damaged.len()));
                    assert!(block.content() == damaged, "{id} {values:?}");
                }
            }
        }
    }

    #[test]
    fn nulls_and_short_chunks_are_failures() {
        for (id, values) in [(BLOSC2, [1, 0, 4, 400]), (BLOSC, [2, 2, 4, 400])] {
            let mut block = Block::of(&[1; 400], 400);
            let stored = block.run(id, 0, &values).unwrap();
            let mut longer = values;
            longer[3] = 404;
            assert_eq!(Block::of(&stored, stored.len()).run(id, FLAG_REVERSE, &longer), None);
        }
        let null = core::ptr::null_mut::<usize>();
        for class in FILTERS {
            // SAFETY: null is looked for.
            let bytes = unsafe { (class.filter)(FLAG_REVERSE, 5, core::ptr::null(), 5, null, null.cast()) };
            assert_eq!(bytes, 0);
        }
    }
}
