//! Where the journal of a file is, whatever name the file is opened by.
//!
//! In: an open file and a name of it. Out: the path of its journal: beside the name, symbolic links resolved, or where
//! the file's extended attribute says, if the journal there says that it is of this very file.
//! Source: `docs/formats/journal.md`, "Names".
//! Invariant: all names of a file, hard links and later ones too, lead to one journal, as long as one is there.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use super::format::{OWNER_BYTES, owned_file};
use super::journal_path;
use crate::base::error::Result;
use crate::base::file_names::{names, number};
use crate::base::io::ReadAt as _;

/// Where the journal of an open file is; or is to be made, if there is none.
pub fn location(file: &File, path: &Path) -> PathBuf {
    let noted = attribute::read(file).filter(|noted| is_of(noted, file));
    noted.unwrap_or_else(|| beside(path))
}

/// Where the journal of a file stands that has no other names: also of one that is yet to be made.
pub fn beside(path: &Path) -> PathBuf {
    let resolved = fs::canonicalize(path).ok().or_else(|| {
        let folder = fs::canonicalize(path.parent()?).ok()?;
        Some(folder.join(path.file_name()?))
    });
    journal_path(resolved.as_deref().unwrap_or(path))
}

/// Notes at a file where its journal is; `false` if it says already that another one is in use.
///
/// # Errors
/// What the system says; and if nothing can be noted at a file that has several names.
pub(super) fn note(file: &File, journal: &Path) -> Result<bool> {
    match attribute::read(file) {
        Some(noted) if noted == journal => return Ok(true),
        Some(noted) if is_of(&noted, file) => return Ok(false),
        Some(_) => attribute::remove(file),
        None => {}
    }
    match attribute::create(file, journal) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        Err(_) if names(file).unwrap_or(1) > 1 => {
            let sentence = "it has several names (hard links), and this file system has no extended attributes, by \
                            which they would find one journal: copy it, or open it with journal=False";
            Err(io::Error::new(io::ErrorKind::Unsupported, sentence).into())
        }
        // Whoever opens it by its one name finds the journal beside that.
        Err(_) => Ok(true),
    }
}

/// Takes the note back, before the journal is removed.
pub(super) fn forget(file: &File, journal: &Path) {
    if attribute::read(file).is_some_and(|noted| noted == journal) {
        attribute::remove(file);
    }
}

/// Whether there is a journal that says it is of this file.
fn is_of(journal: &Path, file: &File) -> bool {
    let mut bytes = [0; OWNER_BYTES];
    let read = File::open(journal).is_ok_and(|journal| journal.read_exact_at(&mut bytes, 0).is_ok());
    read && number(file).is_some_and(|number| owned_file(&bytes) == Some(number))
}

#[cfg(any(target_os = "linux", target_os = "macos"))]
mod attribute {
    use std::ffi::OsString;
    use std::fs::File;
    use std::io;
    use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
    use std::path::{Path, PathBuf};

    use rustix::fs::{XattrFlags, fgetxattr, fremovexattr, fsetxattr};

    const NAME: &str = "user.coquina.journal";
    /// The longest path that systems take.
    const PATH_BYTES: usize = 4096;

    pub(super) fn read(file: &File) -> Option<PathBuf> {
        let mut bytes = vec![0; PATH_BYTES];
        let len = fgetxattr(file, NAME, &mut bytes[..]).ok()?;
        bytes.truncate(len);
        Some(PathBuf::from(OsString::from_vec(bytes)))
    }

    pub(super) fn create(file: &File, journal: &Path) -> io::Result<()> {
        Ok(fsetxattr(file, NAME, journal.as_os_str().as_bytes(), XattrFlags::CREATE)?)
    }

    pub(super) fn remove(file: &File) {
        // One that stays names a journal that is not there, and is passed over.
        let _ = fremovexattr(file, NAME);
    }
}

#[cfg(not(any(target_os = "linux", target_os = "macos")))]
mod attribute {
    use std::fs::File;
    use std::io;
    use std::path::{Path, PathBuf};

    pub(super) fn read(_file: &File) -> Option<PathBuf> {
        None
    }

    pub(super) fn create(_file: &File, _journal: &Path) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(super) fn remove(_file: &File) {}
}
