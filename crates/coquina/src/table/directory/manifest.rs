//! `table.json`, the manifest of a directory of frames: what there is, and which commit of each file.
//!
//! In: the path of a directory. Out: its nodes as of one commit, and the text of manifests to come.
//! Source: `docs/formats/columns.md`, "A directory of frames".
//! Invariant: what is read was written: version 2 has a checksum over all of it.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use super::nodes::{Node, Nodes, read_state};
use crate::base::error::{Error, Result};
use crate::base::json::{Json, JsonObject};
use crate::frame::{CommitId, Manifest, read_manifest};

/// The name of the manifest in its directory.
pub(super) const NAME: &str = "table.json";
/// Where the indexes of a table are, a directory of frames as well.
pub(super) const FOLDER: &str = "index";
/// What is locked where directories cannot be.
pub(super) const LOCK: &str = ".coquina.lock";
const VERSION: i64 = 2;
const VERSION_UNCHECKED: i64 = 1;

/// The nodes of a directory as of one commit.
pub(super) struct Commit {
    pub(super) nodes: Nodes,
    /// The number of the commit; 0 if there was none.
    pub(super) generation: u64,
}

/// What writes the manifest.
pub(super) struct Writing {
    pub(super) manifest: Manifest,
    /// Whether there are lines behind the manifest.
    pub(super) has_lines: bool,
    /// Whether what a killed writer has left was removed.
    pub(super) is_swept: bool,
}

impl Writing {
    pub(super) fn new(folder: &Path) -> Self {
        Self { manifest: Manifest::new(&folder.join(NAME)), has_lines: false, is_swept: false }
    }
}

/// Reads the manifest of a directory.
///
/// # Errors
/// `Io`, and `Corrupt` for damage, or for the manifest of no table.
pub(super) fn read(folder: &Path) -> Result<Commit> {
    let found = read_manifest(&folder.join(NAME))?;
    let complain = |what: &str| Error::corrupt(format!("{NAME} {what}")).at(folder.display().to_string());
    let none = || complain("is not that of a table");
    let other = || complain(&format!("is not that of a table of version 1 or {VERSION}"));
    let Ok(Json::Object(mut whole)) = Json::read(&found.whole) else { return Err(none()) };
    let version = whole.get(b"coquina table").ok_or_else(none)?.as_i64();
    let Some(Json::Object(nodes)) = whole.remove(b"nodes") else { return Err(none()) };
    let mut generation = if found.is_checked { number(&whole, b"generation").ok_or_else(none)? } else { 0 };
    if version != Some(if found.is_checked { VERSION } else { VERSION_UNCHECKED }) {
        return Err(other());
    }
    let states = later_states(&found.lines, &mut generation).ok_or_else(none)?;
    let mut read = Nodes::default();
    let mut places = HashMap::new();
    for (path, value) in nodes {
        let node = Node::read(value).ok_or_else(other)?;
        if let Some(number) = node.number() {
            places.insert(number, path.clone());
        }
        read.set(path, node);
    }
    for (number, state) in states {
        let path = places.get(&number).ok_or_else(none)?.clone();
        let node = read.get(path.as_bytes()).map(|node| Node::clone(node).with_state(state));
        read.set(path, node.ok_or_else(none)?);
    }
    if read.get(b"").is_none() {
        return Err(none());
    }
    if found.is_checked && read.arrays().any(|(entry, _)| entry.node.state.is_none()) {
        return Err(complain("does not say which state of an array is the committed one"));
    }
    Ok(Commit { nodes: read, generation })
}

/// What the lines behind a manifest say of arrays, by their numbers.
fn later_states(lines: &[Vec<u8>], generation: &mut u64) -> Option<BTreeMap<u64, Option<CommitId>>> {
    let mut states = BTreeMap::new();
    for line in lines {
        let Ok(Json::Object(line)) = Json::read(line) else { return None };
        *generation = number(&line, b"generation")?;
        for (number, state) in line.get(b"states")?.as_object()?.iter() {
            states.insert(number.as_str()?.parse().ok()?, read_state(state));
        }
    }
    Some(states)
}

fn number(object: &JsonObject, name: &[u8]) -> Option<u64> {
    object.get(name)?.as_u64()
}

/// The text of a manifest.
pub(super) fn whole_text(nodes: &Nodes, generation: u64) -> Vec<u8> {
    let mut text =
        format!("{{\"coquina table\": {VERSION}, \"generation\": {generation}, \"nodes\": {{\n").into_bytes();
    for (n, entry) in nodes.iter().enumerate() {
        text.extend_from_slice(if n > 0 { b",\n" } else { b"" });
        Json::Text(entry.path.clone()).write(&mut text);
        text.extend_from_slice(b": ");
        entry.node.write(&mut text);
    }
    text.extend_from_slice(b"\n}}\n");
    text
}

/// A new state of an array.
#[derive(Clone)]
pub(super) struct NewState {
    pub(super) number: u64,
    pub(super) state: CommitId,
}

/// The line that says that these arrays are in other states now.
pub(super) fn line_text(states: &[NewState], generation: u64) -> Vec<u8> {
    let state =
        |new: &NewState| format!("\"{}\": [{}, \"{:016x}\"]", new.number, new.state.end, new.state.sum);
    let states: Vec<String> = states.iter().map(state).collect();
    format!("{{\"generation\": {generation}, \"states\": {{{}}}}}", states.join(", ")).into_bytes()
}
