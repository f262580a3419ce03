//! Huge pages for large buffers: fewer page faults on the first touch of a fresh allocation.
//!
//! In: a buffer of any size. Out: nothing; the content stays as it is. A hint only: a kernel that refuses it
//! costs nothing but speed, so failures are ignored.

/// Smaller buffers are left alone: two huge pages are the least that can pay for the call.
#[cfg(target_os = "linux")]
const HINTED_BYTES_MIN: usize = 4 << 20;

/// Asks the system to back the whole pages inside `buffer` with huge pages, if it has 4 MiB or more.
///
/// Does nothing on systems other than Linux.
#[cfg(target_os = "linux")]
pub fn advise_huge_pages(buffer: &mut [u8]) {
    use core::ffi::{c_int, c_void};

    // Source: the Linux headers `asm-generic/mman-common.h` and POSIX `madvise`.
    const MADV_HUGEPAGE: c_int = 14;
    // The largest base page of a Linux system we run on (AArch64 with 64 KiB pages); a range that is a
    // multiple of it is one of every smaller page.
    const PAGE_BYTES: usize = 64 << 10;
    unsafe extern "C" {
        fn madvise(start: *mut c_void, bytes: usize, advice: c_int) -> c_int;
    }

    if buffer.len() < HINTED_BYTES_MIN {
        return;
    }
    let skipped = buffer.as_ptr().align_offset(PAGE_BYTES);
    let Some(pages) = buffer.get_mut(skipped..) else { return };
    let bytes = pages.len() / PAGE_BYTES * PAGE_BYTES;
    // SAFETY: the range lies inside `buffer`, which we borrow mutably, and this advice changes no content.
    let _ignored = unsafe { madvise(pages.as_mut_ptr().cast(), bytes, MADV_HUGEPAGE) };
}

/// Asks the system to back the whole pages inside `buffer` with huge pages; here it has no such call.
#[cfg(not(target_os = "linux"))]
pub fn advise_huge_pages(_buffer: &mut [u8]) {}

#[cfg(test)]
mod tests {
    use super::advise_huge_pages;

    #[test]
    fn the_content_stays_as_it_is() {
        for bytes in [0, 1, 4096, (4 << 20) - 1, 4 << 20, (4 << 20) + 77, 9 << 20] {
            let mut buffer: Vec<u8> = (0..=250).cycle().take(bytes).collect();
            let before = buffer.clone();
            advise_huge_pages(&mut buffer);
            assert_eq!(buffer, before, "{bytes} bytes");
            if let Some(inner) = buffer.get_mut(1..) {
                advise_huge_pages(inner);
            }
            assert_eq!(buffer, before, "{bytes} bytes, from the second on");
        }
    }
}
