//! The call with which libhdf5 lets a filter complete its parameters when a dataset is made: `set_local`.
//!
//! libhdf5 does not say which one it is, so the call looks at where it will return to. On machines where that is not
//! written yet the parameters stay as they were given, and the filter works with those.

use core::ffi::{c_int, c_void};
use std::panic::catch_unwind;

use crate::libhdf5::{Hid, Libhdf5};
use crate::values::{Facts, completed};

/// `H5Z_set_local_func_t`: property list, datatype and dataspace of the new dataset.
pub(crate) type SetLocal = unsafe extern "C" fn(Hid, Hid, Hid) -> c_int;

/// Hands its arguments and its return address to [`set_local_from`].
///
/// # Safety
/// Called by libhdf5 as its `H5Z_set_local_func_t`.
// SAFETY: in the System V convention three arguments are in rdi, rsi and rdx and stay there, rcx is the fourth, and the
// return address is on top of the stack at entry; the jump leaves the stack as it was.
#[cfg(all(unix, target_arch = "x86_64"))]
#[unsafe(naked)]
pub(crate) unsafe extern "C" fn set_local<const ID: u16>(list: Hid, datatype: Hid, space: Hid) -> c_int {
    core::arch::naked_asm!("mov rcx, [rsp]", "jmp {}", sym set_local_from::<ID>)
}

/// Hands its arguments and its return address to [`set_local_from`].
///
/// # Safety
/// Called by libhdf5 as its `H5Z_set_local_func_t`.
// SAFETY: three arguments are in x0, x1 and x2 and stay there, x3 is the fourth, and x30 holds the return address,
// which the branch leaves there.
#[cfg(all(unix, target_arch = "aarch64"))]
#[unsafe(naked)]
pub(crate) unsafe extern "C" fn set_local<const ID: u16>(list: Hid, datatype: Hid, space: Hid) -> c_int {
    core::arch::naked_asm!("mov x3, x30", "b {}", sym set_local_from::<ID>)
}

/// Leaves the parameters as they are.
///
/// # Safety
/// None is needed.
#[cfg(not(all(unix, any(target_arch = "x86_64", target_arch = "aarch64"))))]
pub(crate) unsafe extern "C" fn set_local<const ID: u16>(list: Hid, datatype: Hid, space: Hid) -> c_int {
    set_local_from::<ID>(list, datatype, space, core::ptr::null())
}

/// Completes the parameters through the libhdf5 that `caller` lies in. Never an error: a filter whose parameters could
/// not be completed still writes chunks that can be read.
extern "C" fn set_local_from<const ID: u16>(
    list: Hid,
    datatype: Hid,
    _: Hid,
    caller: *const c_void,
) -> c_int {
    // Nothing is shared, and `true` or `false` makes no difference to libhdf5.
    let _ = catch_unwind(|| complete(ID, list, datatype, caller));
    0
}

fn complete(id: u16, list: Hid, datatype: Hid, caller: *const c_void) -> Option<bool> {
    // SAFETY: HDF5's names are its own, and plugins are loaded by HDF5 1.10 or later.
    let library = unsafe { Libhdf5::of(caller) }?;
    let stored = library.filter(list, id)?;
    let dims = library.chunk(list)?;
    let (itemsize, basesize) = library.sizes(datatype)?;
    let values = completed(id, &stored.values, &Facts { dims, itemsize, basesize })?;
    Some(library.modify(list, id, &stored, &values))
}
