//! Manifests: text that names the committed states of several frames, with a checksum over itself.
//!
//! In: a JSON object as text. Out: a file whose first line holds the checksum of all that follows, which takes the
//! place of the old one in one step.
//! Source: `docs/formats/columns.md`, "A directory of frames".
//! Invariant: a file with a checksum is read as it was written, or not at all.

use std::fs;
use std::path::Path;

use super::disk::{replace_file, sync_folder};
use super::fingerprint;
use crate::base::error::{Error, Result};

const FRONT: &[u8] = b"{\"checksum\": \"";
const BEHIND: &[u8] = b"\",\n";
const DIGITS: usize = 16;

/// The text of a JSON object, and whether a checksum says that it is as it was written.
///
/// # Errors
/// `Io`, or `Corrupt` if the checksum does not match.
pub fn read_manifest(path: &Path) -> Result<(Vec<u8>, bool)> {
    let place = |e: Error| e.at(path.display().to_string());
    let bytes = fs::read(path).map_err(|e| place(e.into()))?;
    let Some(rest) = bytes.strip_prefix(FRONT) else { return Ok((bytes, false)) };
    let (digits, rest) = rest.split_at_checked(DIGITS).unwrap_or_default();
    let body = rest.strip_prefix(BEHIND).filter(|body| digits == hex(body));
    let body = body.ok_or_else(|| place(Error::corrupt("checksum does not match: the file is damaged")))?;
    Ok(([b"{", body].concat(), true))
}

/// Replaces the file at `path` by this JSON object with its checksum. With `durable` its bytes are on the disk then;
/// [`sync_manifest`] sees to its name.
///
/// # Errors
/// `Invalid` for what is no JSON object, and `Io`.
pub(crate) fn replace_manifest(path: &Path, text: &[u8], durable: bool) -> Result<()> {
    let body = text.strip_prefix(b"{").ok_or_else(|| Error::invalid("a manifest that is no JSON object"))?;
    let digits = hex(body);
    let parts: [&[u8]; 4] = [FRONT, &digits, BEHIND, body];
    let done = replace_file(path, &parts, durable);
    done.map_err(|e| Error::from(e).at(path.display().to_string()))
}

/// Makes durable that the file has its name.
pub(crate) fn sync_manifest(path: &Path) -> Result<()> {
    let synced = path.parent().map_or(Ok(()), sync_folder);
    synced.map_err(|e| e.at(path.display().to_string()))
}

/// Whether the file at `path` is this JSON object; `None` if it cannot be read.
pub(crate) fn is_manifest(path: &Path, text: &[u8]) -> Option<bool> {
    match read_manifest(path) {
        Ok((found, is_checked)) => Some(is_checked && found == text),
        // The first one has not come to be.
        Err(_) if path.try_exists().is_ok_and(|is_there| !is_there) => Some(false),
        Err(_) => None,
    }
}

fn hex(body: &[u8]) -> [u8; DIGITS] {
    let mut digits = [0; DIGITS];
    let text = format!("{:016x}", fingerprint::sum(&[body]));
    digits.copy_from_slice(text.as_bytes());
    digits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manifest_is_read_as_written_or_not_at_all() {
        let folder = std::env::temp_dir().join(format!("coquina-manifest-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let path = folder.join("table.json");
        let text = br#"{"a": [1, 2], "b": "c"}"#;
        replace_manifest(&path, text, true).unwrap();
        sync_manifest(&path).unwrap();
        assert_eq!(read_manifest(&path).unwrap(), (text.to_vec(), true));
        assert_eq!((is_manifest(&path, text), is_manifest(&path, b"{}")), (Some(true), Some(false)));
        let good = fs::read(&path).unwrap();
        for bit in 0..8 * good.len() {
            let mut bad = good.clone();
            bad[bit / 8] ^= 1 << (bit % 8);
            fs::write(&path, &bad).unwrap();
            // What does not begin as ours does has no checksum, and is told so.
            assert!(read_manifest(&path).map_or(true, |(_, is_checked)| !is_checked), "bit {bit}");
        }
        for end in 0..good.len() {
            fs::write(&path, &good[..end]).unwrap();
            assert!(read_manifest(&path).map_or(true, |(_, is_checked)| !is_checked), "{end} bytes");
        }
        assert!(replace_manifest(&path, b"no object", false).is_err());
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
        fs::remove_dir_all(&folder).unwrap();
    }
}
