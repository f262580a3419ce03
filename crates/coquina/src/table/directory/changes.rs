//! What there is in a directory, and changes of it: groups, texts, attributes, and the paths of all.
//!
//! In: paths. Out: what is there; each change is a commit, or part of one.
//! Invariant: a change that fails has changed nothing.

use std::sync::Arc;

use super::handle::TableDirectory;
use super::nodes::{Node, path_of, wrong_path};
use crate::base::error::Result;
use crate::base::json::{Json, JsonObject, JsonText};

impl TableDirectory {
    /// What there is at a path.
    pub fn node(&self, path: &[u8]) -> Option<Arc<Node>> {
        self.state().nodes.get(path).cloned()
    }

    /// The paths of all that there is, in the order in which it was made.
    pub fn paths(&self) -> Vec<JsonText> {
        self.state().nodes.iter().map(|entry| entry.path.clone()).collect()
    }

    /// The names right below a path.
    pub fn child_names(&self, path: &[u8]) -> Vec<JsonText> {
        self.state().nodes.names(path)
    }

    fn put(&self, path: JsonText, node: Node) -> Result<()> {
        self.change(|| {
            self.state().nodes.set(path, node);
            Ok(())
        })
    }

    pub(super) fn known(&self, path: &[u8]) -> Result<Arc<Node>> {
        self.node(path).ok_or_else(|| self.placed(wrong_path(path, "is not in the table")))
    }

    /// Puts a group without attributes at a path.
    ///
    /// # Errors
    /// Those of [`TableDirectory::change`].
    pub fn put_group(&self, path: &JsonText) -> Result<()> {
        self.put(path.clone(), Node::group())
    }

    /// Puts a list of texts at a path; attributes that are there stay.
    ///
    /// # Errors
    /// Those of [`TableDirectory::change`].
    pub fn put_texts(&self, path: &JsonText, texts: Vec<JsonText>) -> Result<()> {
        self.change(|| {
            let attributes = self.node(path.as_bytes()).and_then(|node| node.attributes().cloned());
            let texts = texts.into_iter().map(Json::Text).collect();
            self.put(path.clone(), Node::texts(texts, attributes.unwrap_or_default()))
        })
    }

    /// Changes the attributes of what is at a path.
    ///
    /// # Errors
    /// `Invalid` if nothing is there, and those of [`TableDirectory::change`].
    pub fn change_attributes(&self, path: &[u8], change: impl FnOnce(&mut JsonObject)) -> Result<()> {
        self.change(|| {
            let node = self.known(path)?;
            let mut attributes = node.attributes().cloned().unwrap_or_default();
            change(&mut attributes);
            self.put(path_of(path)?, Node::clone(&node).with_attributes(attributes))
        })
    }

    /// Removes what is at a path and below, if there is anything; files go once that is committed.
    ///
    /// # Errors
    /// Those of [`TableDirectory::change`].
    pub fn remove_below(&self, path: &[u8]) -> Result<()> {
        self.change(|| {
            self.state().nodes.take(path);
            Ok(())
        })
    }

    /// Gives what is at a path and below, if there is anything, another path.
    ///
    /// # Errors
    /// `Invalid` for a path that is no text, and those of [`TableDirectory::change`].
    pub fn move_to(&self, old: &[u8], new: &[u8]) -> Result<()> {
        self.change(|| {
            path_of(new)?;
            let mut state = self.state();
            for entry in state.nodes.take(old) {
                let rest = entry.path.as_bytes().get(old.len()..).unwrap_or_default();
                let path = path_of(&[new, rest].concat())?;
                state.nodes.set(path, entry.node);
            }
            Ok(())
        })
    }
}
