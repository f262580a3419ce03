//! Open files and their names: whether a path leads to one, how many do, and whether another file has taken its place.
//!
//! Where the system has no numbers of files that Rust tells, a path is taken to lead to the file.

use std::fs::File;
use std::io;
use std::path::Path;

use crate::base::error::{Error, Result};

/// Whether `path` leads to this open file.
///
/// # Errors
/// What the system says, as if nothing has this name.
pub fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        let (ours, theirs) = (file.metadata()?, std::fs::metadata(path)?);
        Ok(ours.dev() == theirs.dev() && ours.ino() == theirs.ino())
    }
    #[cfg(not(unix))]
    {
        let (_, _) = (file, path);
        Ok(true)
    }
}

/// How many names an open file has.
///
/// # Errors
/// What the system says.
pub(crate) fn names(file: &File) -> io::Result<u64> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        Ok(file.metadata()?.nlink())
    }
    #[cfg(not(unix))]
    {
        let _ = file;
        Ok(1)
    }
}

/// The number by which the system knows an open file.
pub(crate) fn number(file: &File) -> Option<u64> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        file.metadata().ok().map(|facts| facts.ino())
    }
    #[cfg(not(unix))]
    {
        let _ = file;
        None
    }
}

/// Checks that no other file has replaced an open one, as nobody would see what is written to it. What was only removed,
/// or has got another name, goes on. `kind`: what it is, for the error.
///
/// # Errors
/// `Io` if one has.
pub fn check_in_place(file: &File, path: &Path, kind: &str) -> Result<()> {
    if names(file)? == 0 && path.exists() { Err(replaced(kind)) } else { Ok(()) }
}

/// The error of a handle whose file was replaced.
pub(crate) fn replaced(kind: &str) -> Error {
    let sentence = format!(
        "another {kind} has taken its place since it was opened, with all that was written to this one; open it again"
    );
    io::Error::other(sentence).into()
}
