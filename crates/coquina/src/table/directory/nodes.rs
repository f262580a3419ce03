//! The nodes of a directory: what there is at which path.
//!
//! In: what a manifest says of them, and changes. Out: the same, and the files that arrays are in.
//! Source: `docs/formats/columns.md`, "A directory of frames".
//! Invariant: a node is never changed, but replaced; so a copy of all is a state, and costs little.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use super::super::storage::NodeKind;
use crate::base::error::{Error, Result};
use crate::base::json::{Json, JsonObject, JsonText};
use crate::frame::CommitId;

const STATE: &[u8] = b"state";

/// A node of a directory.
#[derive(Clone, Debug)]
pub struct Node {
    kind: NodeKind,
    /// Of an array; 0 for others.
    number: u64,
    /// All that the manifest says, less the state.
    fields: JsonObject,
    pub(super) state: Option<CommitId>,
}

impl Node {
    fn new(kind: NodeKind, attributes: JsonObject) -> Self {
        let word = match kind {
            NodeKind::Group => "group",
            NodeKind::Array => "array",
            NodeKind::Texts => "texts",
        };
        let fields =
            [("kind".into(), word.into()), ("attrs".into(), attributes.into())].into_iter().collect();
        Self { kind, number: 0, fields, state: None }
    }

    /// A group without attributes.
    pub(super) fn group() -> Self {
        Self::new(NodeKind::Group, JsonObject::default())
    }

    /// A list of texts.
    pub(super) fn texts(texts: Vec<Json>, attributes: JsonObject) -> Self {
        let mut node = Self::new(NodeKind::Texts, attributes);
        node.fields.set("texts".into(), Json::List(texts));
        node
    }

    /// The array in the file of this number. `members` are the numbers of an enumeration by their names.
    pub(super) fn array(number: u64, members: Option<JsonObject>) -> Self {
        let mut node = Self::new(NodeKind::Array, JsonObject::default()).with_number(number);
        if let Some(members) = members {
            node.fields.set("members".into(), members.into());
        }
        node
    }

    /// The node of the same array in another file, of which no state is committed.
    pub(super) fn with_number(mut self, number: u64) -> Self {
        self.fields.set("number".into(), number.into());
        Self { number, state: None, ..self }
    }

    /// The node, in this state.
    pub(super) fn with_state(self, state: Option<CommitId>) -> Self {
        Self { state, ..self }
    }

    pub(super) fn with_attributes(mut self, attributes: JsonObject) -> Self {
        self.fields.set("attrs".into(), attributes.into());
        self
    }

    /// Reads what a manifest says of a node; `None` for what is none.
    pub(super) fn read(value: Json) -> Option<Self> {
        let Json::Object(mut fields) = value else { return None };
        fields.get(b"attrs")?.as_object()?;
        let state = fields.remove(STATE).and_then(|state| read_state(&state));
        let (kind, number) = match fields.get(b"kind")?.as_str()? {
            "group" => (NodeKind::Group, 0),
            "texts" => {
                let texts = fields.get(b"texts")?.as_list()?;
                let is_text = |value: &Json| matches!(value, Json::Text(_));
                texts.iter().all(is_text).then_some((NodeKind::Texts, 0))?
            }
            "array" => {
                let is_number = |value: &Json| value.as_number().is_some_and(|number| number.is_integer());
                let members = fields.get(b"members").filter(|members| **members != Json::Null);
                let are_named = match members {
                    Some(members) => members.as_object()?.iter().all(|(_, value)| is_number(value)),
                    None => true,
                };
                let number = fields.get(b"number")?.as_i64().and_then(|number| u64::try_from(number).ok())?;
                (are_named && number > 0).then_some((NodeKind::Array, number))?
            }
            _ => return None,
        };
        Some(Self { kind, number, fields, state })
    }

    /// Adds what the manifest says of the node.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        // An object that has fields, which a comma and one more can follow.
        self.fields.write(out);
        if let Some(state) = self.state {
            out.pop();
            out.extend_from_slice(
                format!(", \"state\": [{}, \"{:016x}\"]}}", state.end, state.sum).as_bytes(),
            );
        }
    }

    /// What it is.
    pub fn kind(&self) -> NodeKind {
        self.kind
    }

    /// Its attributes.
    pub fn attributes(&self) -> Option<&JsonObject> {
        self.fields.get(b"attrs")?.as_object()
    }

    /// The numbers of an enumeration by their names, if it is an array of one.
    pub fn members(&self) -> Option<&JsonObject> {
        self.fields.get(b"members")?.as_object()
    }

    /// The texts, if it is a list of them.
    pub fn list(&self) -> Option<&[Json]> {
        if self.kind == NodeKind::Texts { self.fields.get(b"texts")?.as_list() } else { None }
    }

    /// The number of an array; each array of a directory has its own.
    pub fn number(&self) -> Option<u64> {
        (self.kind == NodeKind::Array).then_some(self.number)
    }

    /// The name of the file of an array.
    pub fn file_name(&self) -> Option<String> {
        self.number().map(file_name)
    }
}

/// The name of the file of the array of this number.
pub(super) fn file_name(number: u64) -> String {
    format!("{number:04}.b2nd")
}

/// The id of the committed state of an array: where it ends, and its sum. `None` for what says none.
pub(super) fn read_state(value: &Json) -> Option<CommitId> {
    let [end, digits] = value.as_list()? else { return None };
    let end = end.as_i64().filter(|&end| end > 0).and_then(|end| u64::try_from(end).ok())?;
    let digits = digits.as_str().filter(|digits| digits.len() == 16)?;
    let is_hex = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    let sum = is_hex.then(|| u64::from_str_radix(digits, 16).ok())??;
    Some(CommitId { end, sum })
}

/// All nodes, by path, in the order in which they were made.
#[derive(Clone, Default)]
pub(super) struct Nodes(Arc<Listed>);

#[derive(Clone, Default)]
struct Listed {
    entries: Vec<NodeEntry>,
    places: HashMap<JsonText, usize>,
}

/// A node, and its path.
#[derive(Clone)]
pub(super) struct NodeEntry {
    pub(super) path: JsonText,
    pub(super) node: Arc<Node>,
}

impl Nodes {
    pub(super) fn get(&self, path: &[u8]) -> Option<&Arc<Node>> {
        let &at = self.0.places.get(path)?;
        self.0.entries.get(at).map(|entry| &entry.node)
    }

    /// Those that are there, in their order.
    pub(super) fn iter(&self) -> impl Iterator<Item = &NodeEntry> {
        self.0.entries.iter()
    }

    /// Those that are arrays, with their numbers.
    pub(super) fn arrays(&self) -> impl Iterator<Item = (&NodeEntry, u64)> {
        self.iter().filter_map(|entry| Some((entry, entry.node.number()?)))
    }

    /// Puts a node at a path, where another one may have been.
    pub(super) fn set(&mut self, path: JsonText, node: impl Into<Arc<Node>>) {
        let node = node.into();
        let listed = Arc::make_mut(&mut self.0);
        match listed.places.get(&path).and_then(|&at| listed.entries.get_mut(at)) {
            Some(entry) => entry.node = node,
            None => {
                listed.places.insert(path.clone(), listed.entries.len());
                listed.entries.push(NodeEntry { path, node });
            }
        }
    }

    /// Takes away what is at a path and below.
    pub(super) fn take(&mut self, path: &[u8]) -> Vec<NodeEntry> {
        let listed = Arc::make_mut(&mut self.0);
        let (taken, left) =
            listed.entries.drain(..).partition(|entry| is_at_or_below(entry.path.as_bytes(), path));
        listed.entries = left;
        listed.places =
            listed.entries.iter().enumerate().map(|(at, entry)| (entry.path.clone(), at)).collect();
        taken
    }

    /// The names right below a path, each once.
    pub(super) fn names(&self, path: &[u8]) -> Vec<JsonText> {
        let mut seen = HashSet::new();
        let name = |entry: &NodeEntry| {
            let below = match path {
                b"" => Some(entry.path.as_bytes()).filter(|path| !path.is_empty()),
                _ => entry.path.as_bytes().strip_prefix(path)?.strip_prefix(b"/"),
            }?;
            JsonText::from_bytes(below.split(|&byte| byte == b'/').next()?).ok()
        };
        self.iter().filter_map(name).filter(|name| seen.insert(name.clone())).collect()
    }

    /// Whether they are exactly those of another state.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        let is_kept =
            |entry: &NodeEntry| other.get(entry.path.as_bytes()).is_some_and(|n| Arc::ptr_eq(n, &entry.node));
        Arc::ptr_eq(&self.0, &other.0)
            || self.0.entries.len() == other.0.entries.len() && self.iter().all(is_kept)
    }

    /// The numbers of all arrays.
    pub(super) fn numbers(&self) -> BTreeSet<u64> {
        self.arrays().map(|(_, number)| number).collect()
    }

    /// The greatest number of an array; 0 if there is none.
    pub(super) fn greatest_number(&self) -> u64 {
        self.arrays().map(|(_, number)| number).max().unwrap_or(0)
    }
}

fn is_at_or_below(path: &[u8], above: &[u8]) -> bool {
    path.strip_prefix(above).is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
}

/// An error that says what is wrong with a path.
pub(super) fn wrong_path(path: &[u8], what: &str) -> Error {
    Error::invalid(format!("{:?} {what}", String::from_utf8_lossy(path)))
}

/// The path, as nodes have it.
pub(super) fn path_of(path: &[u8]) -> Result<JsonText> {
    JsonText::from_bytes(path)
}
