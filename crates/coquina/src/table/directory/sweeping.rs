//! What killed writers leave in a directory of frames, and in that of its indexes.
//!
//! In: a directory that this process writes, and the nodes that its manifest has or had. Out: no files but these.
//! Invariant: only names that a writer makes are removed, and none that a manifest has.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use super::manifest::{self, FOLDER, LOCK, NAME};
use super::nodes::Nodes;
use crate::base::error::Result;

/// What is behind the digits of the name of a file that is an array, or may become one.
fn behind_digits(name: &str) -> Option<&str> {
    let digits = name.bytes().take_while(u8::is_ascii_digit).count();
    if digits < 4 { None } else { name.get(digits..) }
}

/// Whether a writer that was killed may have left a file of this name: an array, or what was to become one, or a
/// manifest.
fn is_left_over(name: &str) -> bool {
    let becomes_array = |name: &str| {
        let rest = behind_digits(name).and_then(|rest| rest.strip_prefix(".b2nd."));
        rest.is_some_and(|rest| rest.ends_with(".tmp"))
    };
    behind_digits(name) == Some(".b2nd")
        || name.strip_prefix('.').is_some_and(becomes_array)
        || name.strip_prefix(NAME) == Some(".tmp")
}

/// Whether a name is one of those in the directory of a table: manifest, frames, indexes, lock, and what a kill left of
/// these.
pub(super) fn is_own(name: &str) -> bool {
    let is_manifest = name.strip_prefix(NAME).is_some_and(|rest| {
        let is_hex =
            |rest: &str| rest.len() == 8 && rest.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
        rest.is_empty() || rest == ".tmp" || rest.strip_prefix('.').is_some_and(is_hex)
    });
    let is_frame =
        behind_digits(name.strip_prefix('.').unwrap_or(name)).is_some_and(|rest| rest.starts_with(".b2nd"));
    is_manifest || is_frame || name == FOLDER || name == LOCK
}

/// Removes what killed writers have left. `states` have the nodes that are there, or were at the last commit.
pub(super) fn sweep(place: &Path, states: &[&Nodes]) -> Result<()> {
    let names = states.iter().flat_map(|nodes| nodes.iter());
    let named: BTreeSet<String> = names.filter_map(|entry| entry.node.file_name()).collect();
    for entry in fs::read_dir(place)? {
        let entry = entry?;
        let is_old = |name: &str| is_left_over(name) && !named.contains(name);
        if entry.file_name().to_str().is_some_and(is_old) {
            // What stays is in nobody's way, and the next writer tries again.
            let _ = fs::remove_file(entry.path());
        }
    }
    Ok(())
}

/// Removes what killed writers have left of the indexes of a table, which nobody has open.
pub(super) fn sweep_indexes(place: &Path) -> Result<()> {
    let below = place.join(FOLDER);
    if below.join(NAME).is_file() {
        return sweep(&below, &[&manifest::read(&below)?.nodes]);
    }
    if below.is_dir() {
        sweep(&below, &[])?;
        let mut entries = fs::read_dir(&below)?;
        // Nothing was committed there; a folder with anything else stays.
        if entries.all(|entry| entry.is_ok_and(|entry| entry.file_name() == LOCK)) {
            fs::remove_dir_all(&below)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_told_from_those_of_others() {
        let left = ["0001.b2nd", "12345.b2nd", ".0001.b2nd.12-0.tmp", "table.json.tmp"];
        let own =
            ["table.json", "table.json.0123abcd", "index", ".coquina.lock", ".0001.b2nd", "0001.b2nd.old"];
        let others = [
            "",
            "001.b2nd",
            "0001.b2nd2.x",
            "0001",
            "notes.txt",
            "table.json.bak",
            "table.json.0123ABCD",
            "table.jsonx",
            "index2",
            "x0001.b2nd",
            "..0001.b2nd",
            "000é.b2nd",
        ];
        for name in left {
            assert!(is_left_over(name) && is_own(name), "{name}");
        }
        for name in own {
            assert!(!is_left_over(name) && is_own(name), "{name}");
        }
        for name in others {
            assert!(!is_left_over(name), "{name}");
            assert!(!is_own(name) || name == "0001.b2nd2.x", "{name}");
        }
    }
}
