//! How a call went: a status, and for each thread the sentence of its last error.
//!
//! Invariant: no panic crosses into C.

use std::cell::RefCell;
use std::ffi::{CString, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::null;

use coquina::{Error, ErrorKind, Result};

/// How a call went. `coquina_error()` gives the sentence of any other than `COQUINA_STATUS_OK`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// It went well.
    Ok = 0,
    /// The bytes contradict the format: they were damaged, or never were what they claim.
    Corrupt = 1,
    /// The bytes end before what they announce.
    Truncated = 2,
    /// Well formed, but needs something that this build does not have.
    Unsupported = 3,
    /// An argument that makes no sense: a null pointer, text that is not UTF-8, a buffer of another size.
    Invalid = 4,
    /// A position outside of what exists.
    OutOfBounds = 5,
    /// More memory or size than the format or the limits allow.
    Limit = 6,
    /// The call was cancelled.
    Cancelled = 7,
    /// The operating system said no.
    Io = 8,
    /// A fault of the library itself.
    Internal = 9,
}

impl From<ErrorKind> for Status {
    fn from(kind: ErrorKind) -> Self {
        match kind {
            ErrorKind::Corrupt => Self::Corrupt,
            ErrorKind::Truncated => Self::Truncated,
            ErrorKind::Unsupported => Self::Unsupported,
            ErrorKind::Invalid => Self::Invalid,
            ErrorKind::OutOfBounds => Self::OutOfBounds,
            ErrorKind::Limit => Self::Limit,
            ErrorKind::Cancelled => Self::Cancelled,
            ErrorKind::Io => Self::Io,
        }
    }
}

thread_local! {
    static LAST: RefCell<Option<CString>> = const { RefCell::new(None) };
}

/// What went wrong in the last call of this thread that returned an error: a sentence with the values and the place.
/// Null if none did. Valid until the next call of this thread fails.
#[unsafe(no_mangle)]
pub extern "C" fn coquina_error() -> *const c_char {
    LAST.with_borrow(|last| last.as_ref().map_or(null(), |text| text.as_ptr()))
}

/// Runs what a call does, and keeps its error for [`coquina_error`].
pub(crate) fn guard(run: impl FnOnce() -> Result<()>) -> Status {
    // What a panic leaves behind is dropped: results are handed out as the last step.
    match catch_unwind(AssertUnwindSafe(run)) {
        Ok(Ok(())) => Status::Ok,
        Ok(Err(error)) => failed(error.kind().into(), &error),
        Err(_) => failed(Status::Internal, &Error::invalid("a fault of coquina itself: please report it")),
    }
}

fn failed(status: Status, error: &Error) -> Status {
    let text = error.to_string().replace('\0', "\\0");
    LAST.set(CString::new(text).ok());
    status
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panic_in_a_call_is_a_status() {
        assert_eq!(guard(|| panic!("as if something was wrong")), Status::Internal);
        assert!(!coquina_error().is_null());
    }

    #[test]
    fn error_text_with_a_zero_byte_stays_whole() {
        assert_eq!(guard(|| Err(Error::corrupt("a\0b"))), Status::Corrupt);
        LAST.with_borrow(|last| assert_eq!(last.as_deref(), Some(c"a\\0b")));
    }
}
