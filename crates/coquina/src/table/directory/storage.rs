//! A directory as the place where the arrays of a table live.
//!
//! In: paths below the table. Out: what a table needs of its place; changes do not nest here.
//! Invariant: what cannot be is refused before anything is changed.

use std::sync::Arc;

use super::super::storage::{Members, NodeKind, TableStorage};
use super::handle::{DirectoryOptions, TableDirectory};
use super::nodes::wrong_path;
use crate::array::{Array, ArraySpec};
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::json::{Json, JsonNumber, JsonObject, JsonText};

/// The name of the directory of indexes within that of their table.
const INDEX_FOLDER: &str = "index";

/// A directory that holds a table.
pub struct DirectoryStorage(pub Arc<TableDirectory>);

impl TableStorage for DirectoryStorage {
    fn place(&self) -> Option<String> {
        Some(self.0.path().display().to_string())
    }

    fn is_writable(&self) -> bool {
        self.0.is_writable()
    }

    fn kind(&self, path: &str) -> Option<NodeKind> {
        self.0.node(path.as_bytes()).map(|node| node.kind())
    }

    fn names(&self, path: &str) -> Vec<String> {
        let names = self.0.child_names(path.as_bytes());
        names.iter().filter_map(|name| name.as_str().map(str::to_string)).collect()
    }

    fn attributes(&self, path: &str) -> JsonObject {
        self.0.node(path.as_bytes()).and_then(|node| node.attributes().cloned()).unwrap_or_default()
    }

    fn set_attributes(&mut self, path: &str, attributes: JsonObject) -> Result<()> {
        let set =
            |known: &mut JsonObject| attributes.into_iter().for_each(|(name, value)| known.set(name, value));
        self.0.change_attributes(path.as_bytes(), set)
    }

    fn create_group(&mut self, path: &str) -> Result<()> {
        self.check_is_free(path)?;
        self.0.put_group(&path.into())
    }

    fn create_array(&mut self, path: &str, spec: &ArraySpec, members: Option<Members>) -> Result<Arc<Array>> {
        self.check_is_free(path)?;
        let member =
            |(name, number): (String, i128)| (name.as_str().into(), Json::Number(JsonNumber::from(number)));
        let members = members.map(|members| members.into_iter().map(member).collect());
        self.0.create_array(&path.into(), spec, members)
    }

    fn array(&self, path: &str) -> Result<Arc<Array>> {
        let array = self.0.array(path.as_bytes())?;
        array.ok_or_else(|| self.0.placed(wrong_path(path.as_bytes(), "is not an array")))
    }

    fn members(&self, path: &str) -> Option<Members> {
        let node = self.0.node(path.as_bytes())?;
        let member = |(name, number): (&JsonText, &Json)| {
            Some((name.as_str()?.to_string(), number.as_number()?.as_str().parse().ok()?))
        };
        node.members()?.iter().map(member).collect()
    }

    fn texts(&self, path: &str) -> Result<Vec<String>> {
        let node = self.0.known(path.as_bytes())?;
        let texts =
            node.list().ok_or_else(|| self.0.placed(wrong_path(path.as_bytes(), "is no list of texts")))?;
        let text = |text: &Json| {
            let text = text.as_str().map(str::to_string);
            text.ok_or_else(|| {
                self.0.placed(Error::unsupported(format!("{path:?} has text that is not Unicode")))
            })
        };
        texts.iter().map(text).collect()
    }

    fn set_texts(&mut self, path: &str, texts: &[String]) -> Result<()> {
        if self.0.node(path.as_bytes()).is_some_and(|node| node.list().is_none()) {
            return Err(self.0.placed(wrong_path(path.as_bytes(), "is there, and no list of texts")));
        }
        self.0.put_texts(&path.into(), texts.iter().map(|text| text.as_str().into()).collect())
    }

    fn remove(&mut self, path: &str) -> Result<()> {
        self.0.known(path.as_bytes())?;
        self.0.remove_below(path.as_bytes())
    }

    fn rename(&mut self, old: &str, new: &str) -> Result<()> {
        self.0.known(old.as_bytes())?;
        self.check_is_free(new)?;
        self.0.move_to(old.as_bytes(), new.as_bytes())
    }

    fn begin(&mut self) -> Result<()> {
        if self.0.is_changing() {
            return Err(self.0.placed(Error::invalid("a change is open already")));
        }
        self.0.check_writable()?;
        self.0.begin()
    }

    fn commit(&mut self) -> Result<()> {
        self.0.end(true)
    }

    fn undo(&mut self) -> Result<()> {
        self.0.end(false)?;
        self.0.check_usable()
    }

    fn check(&self) -> Result<()> {
        self.0.check_usable()
    }

    fn is_outdated(&self) -> Result<bool> {
        self.0.is_outdated()
    }

    fn refresh(&mut self) -> Result<bool> {
        self.0.refresh()
    }

    fn compact(&mut self) -> Result<()> {
        self.0.compact()
    }

    fn index_storage(&self, is_made: bool) -> Result<Option<Box<dyn TableStorage>>> {
        let path = self.0.path().join(INDEX_FOLDER);
        let options = DirectoryOptions {
            writable: self.0.is_writable(),
            durable: self.0.is_durable(),
            ..DirectoryOptions::default()
        };
        let opened = match TableDirectory::open(&path, options) {
            Err(error) if !is_made && matches!(error.kind(), ErrorKind::Corrupt | ErrorKind::Io) => None,
            Err(_) if is_made => {
                // It is damaged, or a program was killed before it wrote what is in it.
                let _ = std::fs::remove_dir_all(&path);
                Some(TableDirectory::make(&path, options.durable)?)
            }
            opened => Some(opened?),
        };
        Ok(opened.map(|directory| Box::new(Self(directory)) as Box<dyn TableStorage>))
    }

    fn remove_attribute(&mut self, path: &str, name: &str) -> Result<()> {
        self.0.change_attributes(path.as_bytes(), |known| drop(known.remove(name.as_bytes())))
    }

    fn close(&mut self) -> Result<()> {
        self.0.close()
    }
}

impl DirectoryStorage {
    fn check_is_free(&self, path: &str) -> Result<()> {
        match self.0.node(path.as_bytes()) {
            Some(_) => Err(self.0.placed(wrong_path(path.as_bytes(), "is there already"))),
            None => Ok(()),
        }
    }
}
