//! A table's arrays in memory: for tables of results, and for tests.
//!
//! A change is undone by the arrays themselves, which each are in a transaction while it is open, and by taking back
//! the nodes.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::storage::{Members, NodeKind, TableStorage};
use crate::array::{Array, ArraySpec, Target};
use crate::base::error::{Error, Result};
use crate::base::json::JsonObject;

/// Arrays, attributes and texts in memory.
///
/// ```
/// use coquina::table::{MemoryStorage, TableStorage};
///
/// let mut storage = MemoryStorage::new();
/// storage.begin()?;
/// storage.create_group("name")?;
/// storage.undo()?;
/// assert!(storage.kind("name").is_none());
/// # Ok::<(), coquina::Error>(())
/// ```
#[derive(Default)]
pub struct MemoryStorage {
    nodes: Nodes,
    /// The nodes at the last commit, while a change is open.
    committed: Option<Nodes>,
}

/// What there is, by its number in the order in which it was made.
#[derive(Clone, Default)]
struct Nodes {
    by_path: BTreeMap<String, Node>,
    attributes: JsonObject,
    made: u64,
}

#[derive(Clone)]
struct Node {
    number: u64,
    attributes: JsonObject,
    content: Content,
}

#[derive(Clone)]
enum Content {
    Group,
    Array { array: Arc<Array>, members: Option<Members> },
    Texts(Arc<[String]>),
}

impl Nodes {
    fn arrays(&self) -> impl Iterator<Item = &Arc<Array>> {
        self.by_path.values().filter_map(|node| match &node.content {
            Content::Array { array, .. } => Some(array),
            _ => None,
        })
    }

    fn holds(&self, array: &Arc<Array>) -> bool {
        self.arrays().any(|known| Arc::ptr_eq(known, array))
    }
}

impl MemoryStorage {
    /// A storage without anything in it.
    pub fn new() -> Self {
        Self::default()
    }

    fn node(&self, path: &str) -> Result<&Node> {
        self.nodes.by_path.get(path).ok_or_else(|| Error::invalid(format!("{path:?} does not exist")))
    }

    fn check_open(&self) -> Result<()> {
        match self.committed {
            Some(_) => Ok(()),
            None => Err(Error::invalid("a table can be changed only within a change")),
        }
    }

    fn add(&mut self, path: &str, content: Content) -> Result<()> {
        self.check_open()?;
        if path.is_empty() || self.nodes.by_path.contains_key(path) {
            return Err(Error::invalid(format!("{path:?} exists already")));
        }
        self.nodes.made += 1;
        let node = Node { number: self.nodes.made, attributes: JsonObject::default(), content };
        self.nodes.by_path.insert(path.into(), node);
        Ok(())
    }

    /// The paths of what stands at a path and below it.
    fn below(&self, path: &str) -> Vec<String> {
        let is_below = |known: &&String| {
            known.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        self.nodes.by_path.keys().filter(is_below).cloned().collect()
    }
}

impl TableStorage for MemoryStorage {
    fn place(&self) -> Option<String> {
        None
    }

    fn is_writable(&self) -> bool {
        true
    }

    fn kind(&self, path: &str) -> Option<NodeKind> {
        if path.is_empty() {
            return Some(NodeKind::Group);
        }
        self.nodes.by_path.get(path).map(|node| match node.content {
            Content::Group => NodeKind::Group,
            Content::Array { .. } => NodeKind::Array,
            Content::Texts(_) => NodeKind::Texts,
        })
    }

    fn names(&self, path: &str) -> Vec<String> {
        let start = if path.is_empty() { String::new() } else { format!("{path}/") };
        let below = |(known, node): (&String, &Node)| {
            let name = known.strip_prefix(&start).filter(|name| !name.is_empty() && !name.contains('/'))?;
            Some((node.number, name.to_owned()))
        };
        let mut found: Vec<_> = self.nodes.by_path.iter().filter_map(below).collect();
        found.sort();
        found.into_iter().map(|(_, name)| name).collect()
    }

    fn attributes(&self, path: &str) -> JsonObject {
        if path.is_empty() {
            return self.nodes.attributes.clone();
        }
        self.nodes.by_path.get(path).map(|node| node.attributes.clone()).unwrap_or_default()
    }

    fn set_attributes(&mut self, path: &str, attributes: JsonObject) -> Result<()> {
        self.check_open()?;
        self.node(path).map(drop).or_else(|e| if path.is_empty() { Ok(()) } else { Err(e) })?;
        let known = match self.nodes.by_path.get_mut(path) {
            Some(node) => &mut node.attributes,
            None => &mut self.nodes.attributes,
        };
        attributes.iter().for_each(|(name, value)| known.set(name.clone(), value.clone()));
        Ok(())
    }

    fn create_group(&mut self, path: &str) -> Result<()> {
        self.add(path, Content::Group)
    }

    fn create_array(&mut self, path: &str, spec: &ArraySpec, members: Option<Members>) -> Result<Arc<Array>> {
        let array = Arc::new(Array::create(spec, &Target::Memory)?);
        self.add(path, Content::Array { array: Arc::clone(&array), members })?;
        array.begin()?;
        Ok(array)
    }

    fn array(&self, path: &str) -> Result<Arc<Array>> {
        match &self.node(path)?.content {
            Content::Array { array, .. } => Ok(Arc::clone(array)),
            _ => Err(Error::invalid(format!("{path:?}: no array"))),
        }
    }

    fn members(&self, path: &str) -> Option<Members> {
        match &self.nodes.by_path.get(path)?.content {
            Content::Array { members, .. } => members.clone(),
            _ => None,
        }
    }

    fn texts(&self, path: &str) -> Result<Vec<String>> {
        match &self.node(path)?.content {
            Content::Texts(texts) => Ok(texts.to_vec()),
            _ => Err(Error::invalid(format!("{path:?}: no texts"))),
        }
    }

    fn set_texts(&mut self, path: &str, texts: &[String]) -> Result<()> {
        self.check_open()?;
        match self.nodes.by_path.get_mut(path).map(|node| &mut node.content) {
            None => self.add(path, Content::Texts(texts.into())),
            Some(Content::Texts(known)) => {
                *known = texts.into();
                Ok(())
            }
            Some(_) => Err(Error::invalid(format!("{path:?}: no texts"))),
        }
    }

    fn remove(&mut self, path: &str) -> Result<()> {
        self.check_open()?;
        self.node(path)?;
        for path in self.below(path) {
            self.nodes.by_path.remove(&path);
        }
        Ok(())
    }

    fn rename(&mut self, old: &str, new: &str) -> Result<()> {
        self.check_open()?;
        self.node(old)?;
        if new.is_empty() || !self.below(new).is_empty() {
            return Err(Error::invalid(format!("{new:?} exists already")));
        }
        for path in self.below(old) {
            if let Some(node) = self.nodes.by_path.remove(&path) {
                self.nodes.by_path.insert(format!("{new}{}", &path[old.len()..]), node);
            }
        }
        Ok(())
    }

    fn begin(&mut self) -> Result<()> {
        if self.committed.is_some() {
            return Err(Error::invalid("a change is open already"));
        }
        self.nodes.arrays().try_for_each(|array| array.begin())?;
        self.committed = Some(self.nodes.clone());
        Ok(())
    }

    fn commit(&mut self) -> Result<()> {
        self.check_open()?;
        let done = self.nodes.arrays().map(|array| array.commit()).fold(Ok(()), Result::and);
        // An array that takes no part any more is committed too: whoever still reads it sees what was read before.
        if let Some(committed) = self.committed.take() {
            committed.arrays().filter(|array| !self.nodes.holds(array)).for_each(|array| array.rollback());
        }
        done
    }

    fn undo(&mut self) -> Result<()> {
        let Some(committed) = self.committed.take() else { return self.check_open() };
        self.nodes.arrays().for_each(|array| array.rollback());
        committed.arrays().for_each(|array| array.rollback());
        self.nodes = committed;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::array::{Values, Window};
    use crate::base::pool::Job;
    use crate::table::item_type::ItemType;
    use crate::table::options::{ArrayOptions, TableOptions};

    fn spec() -> ArraySpec {
        let options = ArrayOptions::of(&TableOptions::default()).unwrap();
        options.items(ItemType::Number(coquina_kernels::Type::U8))
    }

    fn items(array: &Array) -> Vec<u8> {
        let len = array.grid().shape()[0];
        let mut out = vec![0; usize::try_from(len).unwrap()];
        let whole = crate::array::Selection::all(&[len]);
        array.read(&whole, Window { offset: 0, bytes: 1 }, &mut out, &Job::inline()).unwrap();
        out
    }

    fn append(array: &Array, bytes: &[u8]) {
        array.append(0, bytes.len() as u64, Values::Bytes(bytes), &Job::inline()).unwrap();
    }

    #[test]
    fn a_change_that_is_undone_leaves_the_last_commit() {
        let mut storage = MemoryStorage::new();
        storage.begin().unwrap();
        let a = storage.create_array("a", &spec(), None).unwrap();
        append(&a, b"abc");
        storage.create_group("g").unwrap();
        storage.set_texts("g/t", &["x".into()]).unwrap();
        storage.commit().unwrap();
        storage.begin().unwrap();
        append(&a, b"def");
        storage.rename("g", "h").unwrap();
        storage.set_texts("h/t", &["y".into()]).unwrap();
        let b = storage.create_array("b", &spec(), None).unwrap();
        append(&b, b"xyz");
        storage.remove("a").unwrap();
        assert_eq!(storage.names(""), ["h", "b"]);
        storage.undo().unwrap();
        assert_eq!(storage.names(""), ["a", "g"]);
        assert_eq!(storage.texts("g/t").unwrap(), ["x"]);
        assert_eq!(items(&storage.array("a").unwrap()), b"abc");
        storage.begin().unwrap();
        append(&storage.array("a").unwrap(), b"g");
        storage.commit().unwrap();
        assert_eq!(items(&storage.array("a").unwrap()), b"abcg");
    }

    #[test]
    fn nothing_is_changed_outside_of_a_change() {
        let mut storage = MemoryStorage::new();
        assert!(storage.create_group("a").is_err());
        assert!(storage.commit().is_err() && storage.undo().is_err());
        storage.begin().unwrap();
        assert!(storage.begin().is_err());
        storage.create_group("a").unwrap();
        assert!(storage.create_group("a").is_err());
        assert!(storage.remove("b").is_err() && storage.rename("a", "a").is_err());
        storage.commit().unwrap();
    }
}
