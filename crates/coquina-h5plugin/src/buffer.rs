//! Memory that libhdf5 will free: from `calloc` of the C library, since it calls that library's `free`.

use core::ffi::c_void;
use core::ptr::NonNull;
use core::slice;

/// As many zeroed bytes as asked for; freed when dropped, unless given away.
pub(crate) struct Buffer {
    start: NonNull<c_void>,
    bytes: usize,
}

impl Buffer {
    /// `None` for 0 bytes, or if there is no memory.
    pub(crate) fn zeroed(bytes: usize) -> Option<Self> {
        if bytes == 0 || isize::try_from(bytes).is_err() {
            return None;
        }
        // SAFETY: `calloc` takes any sizes, and says with null that there is no memory.
        let start = unsafe { libc::calloc(bytes, 1) };
        NonNull::new(start).map(|start| Self { start, bytes })
    }

    pub(crate) fn as_mut_slice(&mut self) -> &mut [u8] {
        let start = self.start.as_ptr().cast();
        // SAFETY: `calloc` gave this many zeroed bytes, which only this value knows of, and `self` is borrowed.
        unsafe { slice::from_raw_parts_mut(start, self.bytes) }
    }

    /// Gives the memory away, to be freed by `free`.
    pub(crate) fn into_raw(self) -> *mut c_void {
        let start = self.start.as_ptr();
        core::mem::forget(self);
        start
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        // SAFETY: the memory came from `calloc` and was not given away: `into_raw` forgets `self`.
        unsafe { libc::free(self.start.as_ptr()) }
    }
}
