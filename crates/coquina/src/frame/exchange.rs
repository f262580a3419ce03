//! Two directories that change names in one step, where the system can do that.

use std::io;
use std::path::Path;

/// Gives what is at each path the name of the other, at once: at every moment there is something at both.
/// Returns false, with nothing done, if this system or this file system cannot.
///
/// # Errors
/// What the system says, as if one of them is not there.
pub fn exchange(one: &Path, other: &Path) -> io::Result<bool> {
    #[cfg(any(target_os = "linux", target_os = "macos"))]
    {
        use rustix::fs::{CWD, RenameFlags, renameat_with};
        use rustix::io::Errno;

        match renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE) {
            Ok(()) => Ok(true),
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }
    #[cfg(not(any(target_os = "linux", target_os = "macos")))]
    {
        let (_, _) = (one, other);
        Ok(false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn directories_change_names_or_nothing_happens() {
        let folder = std::env::temp_dir().join(format!("coquina-exchange-{}", std::process::id()));
        let (one, other) = (folder.join("one"), folder.join("other"));
        for place in [&one, &other] {
            fs::create_dir_all(place).unwrap();
            fs::write(place.join("name"), place.as_os_str().as_encoded_bytes()).unwrap();
        }
        let name_in = |place: &Path| fs::read(place.join("name")).unwrap();
        let is_done = exchange(&one, &other).unwrap();
        let (first, second) = if is_done { (&other, &one) } else { (&one, &other) };
        assert_eq!(name_in(&one), first.as_os_str().as_encoded_bytes());
        assert_eq!(name_in(&other), second.as_os_str().as_encoded_bytes());
        assert_eq!(exchange(&one, &folder.join("none")).unwrap_err().kind(), io::ErrorKind::NotFound);
        fs::remove_dir_all(&folder).unwrap();
    }
}
