//! The functions of the libhdf5 that calls: found late, in the loaded file that a code address lies in.
//!
//! A Python process often holds two or three copies of libhdf5, each with handles of its own: the same number may be
//! a valid handle in two of them. So the functions are those of the caller's file and of no other.

use core::ffi::{CStr, c_char, c_int, c_uint, c_void};
use core::mem::{MaybeUninit, transmute};
use core::ptr;

/// `hid_t` since HDF5 1.10.
pub(crate) type Hid = i64;

/// The most dimensions that a dataset has.
const RANK_MAX: c_int = 32;
/// The most parameters that are asked for: more than any of the filters has.
const VALUES_MAX: usize = 64;
/// `H5T_ARRAY`.
const CLASS_ARRAY: c_int = 10;

type GetFilter = unsafe extern "C" fn(
    Hid,
    c_int,
    *mut c_uint,
    *mut usize,
    *mut c_uint,
    usize,
    *mut c_char,
    *mut c_uint,
) -> c_int;
type ModifyFilter = unsafe extern "C" fn(Hid, c_int, c_uint, usize, *const c_uint) -> c_int;
type GetChunk = unsafe extern "C" fn(Hid, c_int, *mut u64) -> c_int;
type TypeSize = unsafe extern "C" fn(Hid) -> usize;
type TypeClass = unsafe extern "C" fn(Hid) -> c_int;
type TypeSuper = unsafe extern "C" fn(Hid) -> Hid;

/// The functions that a set-up needs.
pub(crate) struct Libhdf5 {
    get_filter: GetFilter,
    modify_filter: ModifyFilter,
    get_chunk: GetChunk,
    type_size: TypeSize,
    type_class: TypeClass,
    type_super: TypeSuper,
    type_close: TypeClass,
}

/// A filter as a property list has it.
pub(crate) struct Stored {
    flags: c_uint,
    pub(crate) values: Vec<u32>,
}

impl Libhdf5 {
    /// The functions of the file that `caller` lies in; `None` if it does not export all of them.
    ///
    /// # Safety
    /// If the file has functions of these names, they are those of HDF5 1.10 or later.
    pub(crate) unsafe fn of(caller: *const c_void) -> Option<Self> {
        let file = File::at(caller)?;
        // SAFETY: the types are those of `H5Ppublic.h` and `H5Tpublic.h`, as the caller promises; so for all.
        let get_filter =
            unsafe { transmute::<*mut c_void, GetFilter>(file.symbol(c"H5Pget_filter_by_id2")?) };
        // SAFETY: see above.
        let modify_filter =
            unsafe { transmute::<*mut c_void, ModifyFilter>(file.symbol(c"H5Pmodify_filter")?) };
        // SAFETY: see above.
        let get_chunk = unsafe { transmute::<*mut c_void, GetChunk>(file.symbol(c"H5Pget_chunk")?) };
        // SAFETY: see above.
        let type_size = unsafe { transmute::<*mut c_void, TypeSize>(file.symbol(c"H5Tget_size")?) };
        // SAFETY: see above.
        let type_class = unsafe { transmute::<*mut c_void, TypeClass>(file.symbol(c"H5Tget_class")?) };
        // SAFETY: see above.
        let type_super = unsafe { transmute::<*mut c_void, TypeSuper>(file.symbol(c"H5Tget_super")?) };
        // SAFETY: see above.
        let type_close = unsafe { transmute::<*mut c_void, TypeClass>(file.symbol(c"H5Tclose")?) };
        Some(Self { get_filter, modify_filter, get_chunk, type_size, type_class, type_super, type_close })
    }

    /// The filter with this id in a property list.
    pub(crate) fn filter(&self, list: Hid, id: u16) -> Option<Stored> {
        let (mut flags, mut len, mut values) = (0, VALUES_MAX, [0; VALUES_MAX]);
        let (none, nothing) = (ptr::null_mut(), ptr::null_mut());
        // SAFETY: `len` says how many values there is room for; of name and configuration none is asked for.
        let status = unsafe {
            (self.get_filter)(
                list,
                id.into(),
                &raw mut flags,
                &raw mut len,
                values.as_mut_ptr(),
                0,
                none,
                nothing,
            )
        };
        // `len` is how many there are now, which may be more than were written.
        let values = values.get(..len.min(VALUES_MAX)).filter(|_| status >= 0)?.to_vec();
        Some(Stored { flags, values })
    }

    /// Gives the filter other parameters.
    pub(crate) fn modify(&self, list: Hid, id: u16, old: &Stored, values: &[u32]) -> bool {
        // SAFETY: the length is that of the slice, which is only read.
        unsafe { (self.modify_filter)(list, id.into(), old.flags, values.len(), values.as_ptr()) >= 0 }
    }

    /// Items of a chunk along each axis.
    pub(crate) fn chunk(&self, list: Hid) -> Option<Vec<u64>> {
        let mut dims = [0; RANK_MAX as usize];
        // SAFETY: `dims` has the room that the call is told.
        let rank = unsafe { (self.get_chunk)(list, RANK_MAX, dims.as_mut_ptr()) };
        dims.get(..usize::try_from(rank).ok()?).filter(|dims| !dims.is_empty()).map(<[u64]>::to_vec)
    }

    /// Bytes of an item, and of the innermost item of an array type.
    pub(crate) fn sizes(&self, datatype: Hid) -> Option<(usize, usize)> {
        // SAFETY: HDF5 checks the handle, and so below.
        let whole = unsafe { (self.type_size)(datatype) };
        // SAFETY: see above.
        let class = unsafe { (self.type_class)(datatype) };
        let mut base = whole;
        if class == CLASS_ARRAY {
            // SAFETY: see above. A datatype of our own comes back, or a negative number.
            let inner = unsafe { (self.type_super)(datatype) };
            // SAFETY: see above.
            base = unsafe { (self.type_size)(inner) };
            // SAFETY: see above; `inner` is not used any more.
            unsafe { (self.type_close)(inner) };
        }
        (whole > 0 && base > 0).then_some((whole, base))
    }
}

/// Keeps the file that `address` lies in loaded until the process ends.
pub(crate) fn pin(address: *const c_void) {
    core::mem::forget(File::at(address));
}

/// A loaded file, kept loaded until this is dropped.
struct File(*mut c_void);

impl File {
    /// The file that a code address lies in.
    fn at(address: *const c_void) -> Option<Self> {
        let mut found = MaybeUninit::<libc::Dl_info>::zeroed();
        // SAFETY: any address may be asked about; the answer has its room.
        if unsafe { libc::dladdr(address, found.as_mut_ptr()) } == 0 {
            return None;
        }
        // SAFETY: zeroed pointers are valid ones, and `dladdr` said that it wrote them.
        let path = unsafe { found.assume_init() }.dli_fname;
        // SAFETY: the path is null or a string of the loader. The file is loaded already: no code of it is run.
        let file = unsafe { libc::dlopen(path, libc::RTLD_LAZY | libc::RTLD_NOLOAD) };
        if !file.is_null() {
            return Some(Self(file));
        }
        // The program itself is known to the loader by no path.
        // SAFETY: null stands for the program.
        let program = unsafe { libc::dlopen(ptr::null(), libc::RTLD_LAZY) };
        (!program.is_null()).then_some(Self(program))
    }

    fn symbol(&self, name: &CStr) -> Option<*mut c_void> {
        // SAFETY: the handle is open as long as `self` lives.
        let symbol = unsafe { libc::dlsym(self.0, name.as_ptr()) };
        (!symbol.is_null()).then_some(symbol)
    }
}

impl Drop for File {
    fn drop(&mut self) {
        // SAFETY: the handle came from `dlopen` and is closed once. libhdf5 waits for the call: it stays loaded.
        unsafe { libc::dlclose(self.0) };
    }
}
