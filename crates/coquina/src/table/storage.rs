//! The place where the arrays of a table live, such as a directory of frames or memory.
//!
//! In: paths below the table: `""` is the table itself, `price` a column, `name/node1-data` an array of a column. Out:
//! arrays, their attributes, short lists of text, and commits of all of them together.
//! Source: `docs/formats/columns.md`, "A directory of frames".
//! Invariant: nothing here knows what a column is. Between [`TableStorage::begin`] and [`TableStorage::commit`] all
//! changes, of nodes and of the items of arrays, are one commit; [`TableStorage::undo`] leaves none of them.

use std::sync::Arc;

use crate::array::{Array, ArraySpec};
use crate::base::error::{Error, Result};
use crate::base::json::JsonObject;

/// What stands at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeKind {
    /// Other nodes, below it.
    Group,
    /// An array of one axis.
    Array,
    /// A short list of text, such as the categories of a column.
    Texts,
}

/// The names of the numbers of an enumeration, in the order in which they are stored.
pub type Members = Vec<(String, i128)>;

/// A place for the arrays of one table, with the attributes of all nodes.
///
/// Arrays are written by their own methods. They take part in the open change, and may be other ones after
/// [`TableStorage::undo`], [`TableStorage::refresh`] and [`TableStorage::compact`]: ask for them again.
pub trait TableStorage: Send + Sync {
    /// What the table is called in errors, such as the path of a directory; `None` in memory.
    fn place(&self) -> Option<String>;

    /// Whether anything can be changed.
    fn is_writable(&self) -> bool;

    /// What stands at a path; `None` for nothing.
    fn kind(&self, path: &str) -> Option<NodeKind>;

    /// The names right below a path, in the order in which they were made.
    fn names(&self, path: &str) -> Vec<String>;

    /// The attributes of what stands at a path; none for nothing.
    fn attributes(&self, path: &str) -> JsonObject;

    /// Sets these attributes of what stands at a path. Others stay as they are.
    ///
    /// # Errors
    /// `Invalid` for a path at which nothing stands, and for a storage that is open for reading only.
    fn set_attributes(&mut self, path: &str, attributes: JsonObject) -> Result<()>;

    /// Makes a group.
    ///
    /// # Errors
    /// `Invalid` for a path at which something stands, and for a storage that is open for reading only.
    fn create_group(&mut self, path: &str) -> Result<()>;

    /// Makes an array of one axis. The place is that of the storage, everything else is as `spec` says. `members` are the
    /// names of its numbers, if it is an enumeration.
    ///
    /// # Errors
    /// As [`TableStorage::create_group`] and [`Array::create`].
    fn create_array(&mut self, path: &str, spec: &ArraySpec, members: Option<Members>) -> Result<Arc<Array>>;

    /// The array at a path: always the same one, as long as it is there.
    ///
    /// # Errors
    /// `Invalid` for a path without an array, `Corrupt` if the stored bytes are not those that were committed.
    fn array(&self, path: &str) -> Result<Arc<Array>>;

    /// The names of the numbers of the array at a path, if it is an enumeration.
    fn members(&self, path: &str) -> Option<Members>;

    /// The texts at a path.
    ///
    /// # Errors
    /// `Invalid` for a path without texts, `Unsupported` for text that is not Unicode.
    fn texts(&self, path: &str) -> Result<Vec<String>>;

    /// Makes a list of texts, or puts this one in place of the list that there is. Attributes stay.
    ///
    /// # Errors
    /// `Invalid` for a path at which something else stands, and for a storage that is open for reading only.
    fn set_texts(&mut self, path: &str, texts: &[String]) -> Result<()>;

    /// Removes what stands at a path, and everything below it.
    ///
    /// # Errors
    /// `Invalid` for a path at which nothing stands, and for a storage that is open for reading only.
    fn remove(&mut self, path: &str) -> Result<()>;

    /// Gives what stands at a path, and everything below it, another path.
    ///
    /// # Errors
    /// As [`TableStorage::remove`]; `Invalid` if something stands at the new path.
    fn rename(&mut self, old: &str, new: &str) -> Result<()>;

    /// Opens a change: what follows is one commit. Changes do not nest, and nothing is changed outside of one.
    ///
    /// # Errors
    /// `Invalid` if a change is open, or the storage is open for reading only; `Io`.
    fn begin(&mut self) -> Result<()>;

    /// Makes the open change the state that everybody sees, and closes it.
    ///
    /// # Errors
    /// `Io` and others: the change is then undone, if [`TableStorage::check`] succeeds.
    fn commit(&mut self) -> Result<()>;

    /// Forgets the open change, and closes it.
    ///
    /// # Errors
    /// `Io` if the last commit cannot be gone back to: nothing can be read or written any more.
    fn undo(&mut self) -> Result<()>;

    /// Whether the table can be used: no commit has failed in such a way that nobody knows what is stored.
    ///
    /// # Errors
    /// `Invalid`, with the reason.
    fn check(&self) -> Result<()> {
        Ok(())
    }

    /// Whether another writer has come to a newer commit than the one that is shown.
    ///
    /// # Errors
    /// `Io`, `Corrupt`.
    fn is_outdated(&self) -> Result<bool> {
        Ok(false)
    }

    /// Goes to the newest commit of another writer; returns whether there was one.
    ///
    /// # Errors
    /// `Io`, `Corrupt`.
    fn refresh(&mut self) -> Result<bool> {
        Ok(false)
    }

    /// Gives back the space of what is not referred to any more, as part of the open change.
    ///
    /// # Errors
    /// `Io`.
    fn compact(&mut self) -> Result<()> {
        Ok(())
    }

    /// The storage of the indexes of the table, which commits by itself; one that is made now, if `is_made` and there is
    /// none. `None` for a storage that has no place for them.
    ///
    /// # Errors
    /// `Io`, `Corrupt`.
    fn index_storage(&self, is_made: bool) -> Result<Option<Box<dyn TableStorage>>> {
        let _ = is_made;
        Ok(None)
    }

    /// Removes an attribute of what stands at a path, if it has one of this name.
    ///
    /// # Errors
    /// As [`TableStorage::set_attributes`]; `Unsupported` for a storage that never has indexes.
    fn remove_attribute(&mut self, path: &str, name: &str) -> Result<()> {
        Err(Error::unsupported(format!("{path:?}: attribute {name:?} is not removed here")))
    }

    /// Lets go of everything that is open. Nothing can be read or written from then on.
    ///
    /// # Errors
    /// `Io` if the last bytes cannot be written.
    fn close(&mut self) -> Result<()> {
        Ok(())
    }
}
