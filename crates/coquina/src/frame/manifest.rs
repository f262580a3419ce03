//! Manifests: text that names the committed states of several frames, with checksums over itself.
//!
//! In: a JSON object, and lines behind it that say what has changed since. Out: a file. A whole manifest takes the
//! place of the old one in one step; a line is added by one write, which costs a thousandth of that.
//! Source: `docs/formats/columns.md`, "A directory of frames".
//! Invariant: what is read was written, up to some commit; which one it is, the frames tell, which are never behind.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use super::disk::{replace_file, sync_folder, write_all_at};
use super::format::fingerprint;
use crate::base::error::{Error, Result};

const FRONT: &[u8] = b"{\"checksum\": \"";
const LENGTH: &[u8] = b"\", \"bytes\": ";
const BEHIND: &[u8] = b",\n";
const DIGITS: usize = 16;
/// A manifest is written anew when there are more bytes of lines behind it, and more than it has itself.
const LINES_BYTES_MAX: u64 = 1 << 16;

/// What a manifest says.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct ManifestText {
    /// A JSON object.
    pub whole: Vec<u8>,
    /// JSON objects, each of which says what has changed since.
    pub lines: Vec<Vec<u8>>,
    /// Whether checksums say that all of it is as it was written.
    pub is_checked: bool,
}

/// A manifest that is written.
pub struct Manifest {
    path: PathBuf,
    tail: Option<Tail>,
}

/// Where the next line goes.
struct Tail {
    file: File,
    /// Bytes of the JSON object in front.
    whole: u64,
    end: u64,
    sum: u64,
}

/// The text of the manifest at `path`. A line that was not written to its end is left out.
///
/// # Errors
/// `Io`, or `Corrupt` if a checksum does not match.
pub fn read_manifest(path: &Path) -> Result<ManifestText> {
    let place = |e: Error| e.at(path.display().to_string());
    let bytes = fs::read(path).map_err(|e| place(e.into()))?;
    parse(bytes).map_err(place)
}

fn parse(bytes: Vec<u8>) -> Result<ManifestText> {
    let Some(rest) = bytes.strip_prefix(FRONT) else {
        return Ok(ManifestText { whole: bytes, ..ManifestText::default() });
    };
    let (digits, body, rest) = split(rest).ok_or_else(damaged)?;
    let mut sum = fingerprint::sum(&[body]);
    if digits != hex(sum) {
        return Err(damaged());
    }
    let whole = [b"{", body].concat();
    let mut lines = Vec::new();
    for line in rest.split_inclusive(|&byte| byte == b'\n') {
        let Some(line) = line.strip_suffix(b"\n") else { break };
        let (digits, body) = line
            .strip_prefix(FRONT)
            .and_then(|rest| rest.split_at_checked(DIGITS))
            .and_then(|(digits, rest)| Some((digits, rest.strip_prefix(b"\", ")?)))
            .ok_or_else(damaged)?;
        sum = fingerprint::sum(&[&sum.to_le_bytes(), body]);
        if digits != hex(sum) {
            return Err(damaged());
        }
        lines.push([b"{", body].concat());
    }
    Ok(ManifestText { whole, lines, is_checked: true })
}

/// The checksum of the object, what it is over, and what follows.
fn split(rest: &[u8]) -> Option<(&[u8], &[u8], &[u8])> {
    let (digits, rest) = rest.split_at_checked(DIGITS)?;
    let rest = rest.strip_prefix(LENGTH)?;
    let comma = rest.iter().position(|&byte| byte == b',')?;
    let (length, rest) = rest.split_at_checked(comma)?;
    let text = std::str::from_utf8(length).ok()?;
    let length: usize = text.parse().ok()?;
    let (body, rest) = rest.strip_prefix(BEHIND)?.split_at_checked(length)?;
    (text == length.to_string()).then_some((digits, body, rest))
}

fn damaged() -> Error {
    Error::corrupt("checksum does not match: the file is damaged")
}

fn hex(sum: u64) -> [u8; DIGITS] {
    let mut digits = [0; DIGITS];
    digits.copy_from_slice(format!("{sum:016x}").as_bytes());
    digits
}

fn body(text: &[u8]) -> Result<&[u8]> {
    text.strip_prefix(b"{").ok_or_else(|| Error::invalid("the manifest is not a JSON object"))
}

impl Manifest {
    /// The manifest at `path`, which may not be there yet.
    pub fn new(path: &Path) -> Self {
        Self { path: path.to_path_buf(), tail: None }
    }

    /// Whether a line can be added; if not, or rather not, the whole is written anew.
    pub fn takes_line(&self) -> bool {
        self.tail.as_ref().is_some_and(|tail| tail.end - tail.whole <= LINES_BYTES_MAX.max(tail.whole))
    }

    /// Makes this JSON object the manifest. With `durable` its bytes are on the disk then; [`Manifest::sync`] sees to
    /// its name.
    pub(crate) fn replace(&mut self, text: &[u8], durable: bool) -> Result<()> {
        let body = body(text)?;
        let (sum, length) = (fingerprint::sum(&[body]), body.len().to_string());
        let parts: [&[u8]; 6] = [FRONT, &hex(sum), LENGTH, length.as_bytes(), BEHIND, body];
        self.tail = None;
        let file = replace_file(&self.path, &parts, durable).map_err(|e| self.place(e.into()))?;
        let whole = parts.iter().map(|part| <[u8]>::len(part) as u64).sum();
        self.tail = Some(Tail { file, whole, end: whole, sum });
        Ok(())
    }

    /// Adds a JSON object without line breaks, in one write.
    pub(crate) fn add(&mut self, text: &[u8]) -> Result<()> {
        let body = body(text)?;
        let tail = self.tail.as_mut().ok_or_else(|| Error::invalid("a line behind no manifest"))?;
        let sum = fingerprint::sum(&[&tail.sum.to_le_bytes(), body]);
        let line = [FRONT, &hex(sum), b"\", ", body, b"\n"].concat();
        let written = write_all_at(&tail.file, &line, tail.end);
        if let Err(error) = written {
            // A line that is not whole is no line, but nothing may follow it.
            self.tail = None;
            return Err(self.place(error.into()));
        }
        tail.end += line.len() as u64;
        tail.sum = sum;
        Ok(())
    }

    /// Makes durable that the file has its name.
    pub(crate) fn sync(&self) -> Result<()> {
        let synced = self.path.parent().map_or(Ok(()), sync_folder);
        synced.map_err(|e| self.place(e))
    }

    /// Whether `text` is the last that was written, whatever was said of writing it; `None` if that cannot be told.
    pub(crate) fn ends_with(&self, text: &[u8]) -> Option<bool> {
        match read_manifest(&self.path) {
            Ok(ManifestText { whole, lines, is_checked }) => {
                Some(is_checked && lines.last().unwrap_or(&whole) == text)
            }
            // The first one has not come to be.
            Err(_) if self.path.try_exists().is_ok_and(|is_there| !is_there) => Some(false),
            Err(_) => None,
        }
    }

    fn place(&self, error: Error) -> Error {
        error.at(self.path.display().to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manifest_is_read_as_written_up_to_a_line_or_not_at_all() {
        let folder = std::env::temp_dir().join(format!("coquina-manifest-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let path = folder.join("table.json");
        let whole = br#"{"a": [1, 2], "b": "c"}"#.to_vec();
        let lines: Vec<_> = (0..3).map(|n| format!("{{\"line\": {n}}}").into_bytes()).collect();
        let mut manifest = Manifest::new(&path);
        assert!(!manifest.takes_line() && manifest.add(&lines[0]).is_err());
        manifest.replace(&whole, true).unwrap();
        manifest.sync().unwrap();
        let mut ends = vec![fs::read(&path).unwrap().len()];
        for line in &lines {
            assert_eq!(manifest.ends_with(line), Some(false));
            manifest.add(line).unwrap();
            assert_eq!(manifest.ends_with(line), Some(true));
            ends.push(fs::read(&path).unwrap().len());
        }
        let text = ManifestText { whole, lines, is_checked: true };
        assert_eq!(read_manifest(&path).unwrap(), text);
        let good = fs::read(&path).unwrap();
        for bit in 0..8 * good.len() {
            let mut bad = good.clone();
            bad[bit / 8] ^= 1 << (bit % 8);
            // What does not begin as ours does is told so. A last line without its end was never added.
            let is_last = bit / 8 + 1 == good.len();
            let found = parse(bad).ok();
            let is_refused = found.as_ref().is_none_or(|found| !found.is_checked);
            assert!(is_refused || is_last && found.unwrap().lines == text.lines[..2], "bit {bit}");
        }
        for end in 0..good.len() {
            match parse(good[..end].to_vec()) {
                Ok(found) if found.is_checked => {
                    let count = ends.iter().filter(|&&known| known <= end).count();
                    assert!(count > 0 && found.lines == text.lines[..count - 1], "{end} bytes");
                }
                _ => assert!(end < ends[0], "{end} bytes"),
            }
        }
        assert!(manifest.replace(b"no object", false).is_err());
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
        fs::remove_dir_all(&folder).unwrap();
    }
}
