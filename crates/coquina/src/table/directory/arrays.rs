//! The arrays of a directory: made, opened as of the commit that the manifest names, and written anew.
//!
//! In: paths, and what new arrays are to be. Out: arrays, each the same one for all who ask.
//! Invariant: an array that is open for writing is in a transaction, which the directory commits.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::handle::{OpenArray, TableDirectory, locked};
use super::nodes::{Node, file_name, path_of, wrong_path};
use crate::array::{Array, ArraySpec, OpenOptions, Target};
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::io::Existing;
use crate::base::json::{JsonObject, JsonText};
use crate::frame::{CommitId, Frame, Kind, Mode};

/// Where a new array is to be.
pub struct NewArray {
    /// The number that it will have.
    pub number: u64,
    /// Its file.
    pub file: PathBuf,
}

impl TableDirectory {
    /// The array at a path; `None` if there is none.
    ///
    /// # Errors
    /// `Corrupt` if its file holds another one, or none, and `Invalid` if the directory cannot be used any more.
    pub fn array(&self, path: &[u8]) -> Result<Option<Arc<Array>>> {
        let (entry, open) = {
            let state = self.state();
            let Some(node) = state.nodes.get(path).cloned() else { return Ok(None) };
            let Some(number) = node.number() else { return Ok(None) };
            (node, state.arrays.get(&number).map(|open| Arc::clone(&open.array)))
        };
        open.map_or_else(|| self.open_array(&path_of(path)?, &entry), Ok).map(Some)
    }

    /// Opens an array that is not open, unless another thread just has.
    pub(super) fn open_array(&self, path: &JsonText, node: &Node) -> Result<Arc<Array>> {
        let number = node.number().ok_or_else(|| wrong_path(path.as_bytes(), "is not an array"))?;
        self.check_usable()?;
        let opening = locked(&self.opening);
        if let Some(open) = self.state().arrays.get(&number) {
            return Ok(Arc::clone(&open.array));
        }
        let file = self.file(number);
        let mode = if self.is_writable() { Mode::Write } else { Mode::Read };
        let options = OpenOptions { mode, commit: node.state, ..OpenOptions::default() };
        let array = match Array::open(&file, &options) {
            Ok(array) => array,
            Err(error) if error.kind() == ErrorKind::Corrupt && self.is_outdated()? => {
                self.open_earlier(path, node, &options)?
            }
            Err(error) if !is_of_bytes(&error) => return Err(error),
            Err(error) if self.damaged => left_of(&file, node.state, &error)?,
            Err(error) => return Err(self.foreign(path, node.state, error)),
        };
        let array = self.keep(node, Arc::new(array));
        drop(opening);
        array
    }

    /// Opens the state of an array that was the last one when the manifest was read. A writer has come to the next
    /// commit since: that there are later states in the file is no damage.
    fn open_earlier(&self, path: &JsonText, node: &Node, options: &OpenOptions) -> Result<Array> {
        let (file, id) = (self.file(node.number().unwrap_or(0)), node.state);
        let id = id.ok_or_else(|| self.foreign(path, id, Error::corrupt("an array without a state")))?;
        let frame = Frame::open_earlier_at(&file, id, options.limits);
        let array = frame.and_then(|frame| Array::from_frame(frame, options));
        array.map_err(|error| self.foreign(path, Some(id), error))
    }

    /// The error for a file that cannot be read.
    fn foreign(&self, path: &JsonText, state: Option<CommitId>, error: Error) -> Error {
        // What was committed here can be read here: whatever is wrong, it is another file than that.
        let is_ours = state.is_some() || !matches!(error.kind(), ErrorKind::Unsupported | ErrorKind::Limit);
        let error = if is_ours { Error::corrupt(error.to_string()) } else { error };
        self.placed(error.at(format!("array '{path}'")))
    }

    /// The array, which is committed here from now on.
    fn keep(&self, node: &Node, array: Arc<Array>) -> Result<Arc<Array>> {
        if self.is_writable() {
            array.set_durable(self.is_durable());
            array.begin()?;
        }
        if let Some(number) = node.number() {
            let open = OpenArray { array: Arc::clone(&array), id: node.state };
            self.state().arrays.insert(number, open);
        }
        Ok(array)
    }

    /// A number that no array has, and none had at the last commit, and the file of that number. To be asked for and
    /// used within one change.
    ///
    /// # Errors
    /// `Invalid` if nothing can be written.
    pub fn new_array(&self) -> Result<NewArray> {
        self.check_usable()?;
        self.check_writable()?;
        let state = self.state();
        let number = 1 + state.nodes.greatest_number().max(state.committed.greatest_number());
        Ok(NewArray { number, file: self.path.join(file_name(number)) })
    }

    /// Puts a new array at a path, made in the file that [`TableDirectory::new_array`] has told and not published yet.
    /// `members` are the numbers of an enumeration by their names.
    ///
    /// # Errors
    /// `Io`, and those of [`TableDirectory::change`]; there is then no such array.
    pub fn add_array(
        &self,
        path: &JsonText,
        number: u64,
        array: Arc<Array>,
        members: Option<JsonObject>,
    ) -> Result<()> {
        self.change(|| {
            let node = Node::array(number, members);
            array.set_durable(self.is_durable());
            array.publish()?;
            self.keep(&node, array)?;
            self.state().nodes.set(path.clone(), node);
            Ok(())
        })
    }

    /// Makes an array at a path.
    ///
    /// # Errors
    /// Those of [`Array::create`], and as [`TableDirectory::add_array`].
    pub fn create_array(
        &self,
        path: &JsonText,
        spec: &ArraySpec,
        members: Option<JsonObject>,
    ) -> Result<Arc<Array>> {
        self.change(|| {
            let NewArray { number, file } = self.new_array()?;
            let target = Target::File { path: file, kind: Kind::Contiguous, existing: Existing::Replace };
            let array = Arc::new(Array::create(spec, &target)?);
            self.add_array(path, number, Arc::clone(&array), members)?;
            Ok(array)
        })
    }

    /// Gives unused room back: arrays with some are written anew, and are other ones from then on. Who reads the old
    /// files keeps them.
    ///
    /// # Errors
    /// `Io`, and those of [`TableDirectory::change`].
    pub fn compact(&self) -> Result<()> {
        self.compact_files(0)
    }

    /// Writes files anew of which more is unused. `dead_bytes_max`: so much is never too much. If it is 0 all else is, if
    /// not, more than half of a file.
    pub(super) fn compact_files(&self, dead_bytes_max: u64) -> Result<()> {
        let nodes = self.state().nodes.clone();
        let open = |number| self.state().arrays.get(&number).map(|open| Arc::clone(&open.array));
        let wasteful = nodes.arrays().filter_map(|(entry, number)| {
            let array = open(number).filter(|_| entry.node.state.is_some())?;
            is_wasteful(&array, dead_bytes_max).then_some((entry, array))
        });
        let wasteful: Vec<_> = wasteful.collect();
        if wasteful.is_empty() {
            return Ok(());
        }
        self.change(|| {
            for (entry, old) in wasteful {
                let new = self.new_array()?;
                old.save(&new.file, Kind::Contiguous, Existing::Replace)?;
                let node = Node::clone(&entry.node).with_number(new.number);
                self.state().nodes.set(entry.path.clone(), node.clone());
                self.open_array(&entry.path, &node)?;
            }
            Ok(())
        })
    }
}

/// Whether the file of an array is to be written anew.
fn is_wasteful(array: &Array, dead_bytes_max: u64) -> bool {
    let sizes = array.stats().sizes;
    let (dead, used) = (sizes.dead_bytes, sizes.cbytes);
    // Other programs do not see that an array has become empty again.
    let is_emptied = array.grid().shape().first() == Some(&0) && dead > 0;
    is_emptied || dead > dead_bytes_max && (dead > used || dead_bytes_max == 0)
}

/// Whether an error is one of what is in a file, or of a file that is not there.
fn is_of_bytes(error: &Error) -> bool {
    match error.kind() {
        ErrorKind::Corrupt | ErrorKind::Truncated | ErrorKind::Unsupported | ErrorKind::Limit => true,
        ErrorKind::Io => error.io().is_some_and(|error| error.kind() == io::ErrorKind::NotFound),
        _ => false,
    }
}

/// Opens what is left of the committed state of an array.
fn left_of(file: &Path, state: Option<CommitId>, error: &Error) -> Result<Array> {
    let options = OpenOptions { damaged: true, ..OpenOptions::default() };
    let found = Array::open(file, &options).ok();
    let is_it =
        |array: &Array| array.commit_id().is_some_and(|id| state.is_none_or(|state| state.end == id.end));
    found.filter(is_it).ok_or_else(|| Error::unsupported(error.to_string()))
}
