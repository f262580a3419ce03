//! When changes become the state that everybody sees: each by itself, or several in one step.

use std::sync::Arc;

use super::handle::{Array, Writer};
use super::read::State;
use crate::base::error::{Error, Result};
use crate::frame::b2nd;
use crate::policy::is_reserved;
use crate::store::{Change, Metadata};

impl Writer {
    /// Whether a change can be made.
    pub(super) fn check(&self) -> Result<()> {
        if !self.store.is_writable() {
            return Err(Error::invalid("the array is open for reading only; open it for writing"));
        }
        if self.is_broken {
            return Err(Error::invalid("a change of this transaction has failed; roll it back"));
        }
        Ok(())
    }

    pub(super) fn commit(&mut self, state: &Arc<State>) -> Result<()> {
        self.store.commit(self.durable)?;
        self.committed = Arc::clone(state);
        Ok(())
    }
}

impl Array {
    /// From now on changes are seen by this handle only, until [`Array::commit`].
    ///
    /// # Errors
    /// `Invalid` if that is so already, or the array is open for reading only.
    pub fn begin(&self) -> Result<()> {
        let mut writer = self.writer()?;
        writer.check()?;
        if writer.is_open {
            return Err(Error::invalid("a transaction is open already"));
        }
        writer.is_open = true;
        Ok(())
    }

    /// Makes all changes since [`Array::begin`] the state that everybody sees, in one step.
    ///
    /// # Errors
    /// `Io`, or `Invalid` if one of the changes has failed; the array is then as it was before the first of them, or
    /// as after the last if all that failed was to wait for the disk.
    pub fn commit(&self) -> Result<()> {
        let mut writer = self.writer()?;
        let broken = std::mem::take(&mut writer.is_broken);
        writer.is_open = false;
        let done = if broken {
            Err(Error::invalid("a change of this transaction has failed, so none was made"))
        } else {
            let state = self.state();
            writer.commit(&state)
        };
        if done.is_err() {
            self.go_back(&mut writer);
        }
        done
    }

    /// Forgets all changes since [`Array::begin`].
    pub fn rollback(&self) {
        let mut writer = self.waited_writer();
        (writer.is_open, writer.is_broken) = (false, false);
        self.go_back(&mut writer);
    }

    /// Goes over to the state that a change has made, and commits unless a transaction is open; if either has
    /// failed, back to the last commit.
    pub(super) fn settle(&self, writer: &mut Writer, made: Result<Arc<State>>) -> Result<()> {
        let done = made.and_then(|new| {
            self.set_state(&new);
            if writer.is_open { Ok(()) } else { writer.commit(&new) }
        });
        if done.is_err() {
            writer.is_broken = writer.is_open;
            self.go_back(writer);
        }
        done
    }

    /// Goes over to what the store has after all. That is the last commit, or the one that has failed, if all that
    /// failed was to wait for the disk.
    pub(super) fn go_back(&self, writer: &mut Writer) {
        writer.store.rollback();
        // What the store does not say of itself is as it was at the last commit, which is also what is left if it
        // cannot be read.
        self.set_state(&writer.committed);
        let _ = self.renew(writer);
    }

    /// Whether a commit waits until the disk has it, so that not even a power cut can take it back.
    pub fn set_durable(&self, durable: bool) {
        self.waited_writer().durable = durable;
    }

    /// Whether commits wait for the disk.
    pub fn is_durable(&self) -> bool {
        self.waited_writer().durable
    }

    /// Commits, and gives a file that was created its name.
    ///
    /// # Errors
    /// `Io`; there is then no file of that name, or the one that there was.
    pub fn publish(&self) -> Result<()> {
        let mut writer = self.writer()?;
        (writer.is_open, writer.is_broken) = (false, false);
        let state = self.state();
        writer.commit(&state)?;
        writer.store.publish()
    }

    /// Gives back the space of what is not referred to any more.
    ///
    /// # Errors
    /// `Io`; the array holds then what it held.
    pub fn compact(&self) -> Result<()> {
        let mut writer = self.writer()?;
        writer.check()?;
        if writer.is_open {
            return Err(Error::invalid("a transaction is open; commit it before compacting"));
        }
        let done = writer.store.compact();
        // Chunks stand elsewhere now, and may be known by other names; also where only its name is not durable.
        self.cache.clear();
        self.renew(&mut writer)?;
        done
    }

    /// Goes to the newest commit of whoever writes the file; returns whether there was one.
    ///
    /// # Errors
    /// `Io`, `Corrupt`; the array is then as it was.
    pub fn refresh(&self) -> Result<bool> {
        let mut writer = self.writer()?;
        if !writer.store.refresh()? {
            return Ok(false);
        }
        self.cache.clear();
        self.renew(&mut writer)?;
        Ok(true)
    }

    /// Takes the store's state over.
    fn renew(&self, writer: &mut Writer) -> Result<()> {
        let chunks = writer.store.chunks();
        let old = self.state();
        let shape = match b2nd::find(&chunks.metadata().map(Metadata::metalayers).unwrap_or_default())? {
            Some(meta) => meta.shape,
            None => chunks.shape().unwrap_or(old.grid.shape()).to_vec(),
        };
        let grid = old.grid.resized(&shape)?;
        let policies = old.policies.read_again(chunks.metadata(), self.dtype());
        let state = Arc::new(State { grid, chunks, policies });
        writer.committed = Arc::clone(&state);
        self.set_state(&state);
        Ok(())
    }

    /// Lets go of the file; reads and writes fail from then on.
    ///
    /// # Errors
    /// `Io` if the last bytes cannot be written.
    pub fn close(&self) -> Result<()> {
        let mut writer = self.waited_writer();
        let closed = writer.store.close();
        let state = Arc::new(State { chunks: writer.store.chunks(), ..State::clone(&self.state()) });
        writer.committed = Arc::clone(&state);
        self.set_state(&state);
        self.cache.clear();
        closed
    }

    /// Whether it was closed; what is only in memory never is.
    pub fn is_closed(&self) -> bool {
        self.state().chunks.is_closed()
    }

    /// The content of a piece of variable metadata.
    ///
    /// # Errors
    /// `Corrupt` where it does not decode.
    pub fn layer(&self, name: &str) -> Result<Option<Vec<u8>>> {
        self.state().chunks.metadata().map_or(Ok(None), |metadata| metadata.layer(name))
    }

    /// The names of the variable metadata.
    pub fn layer_names(&self) -> Vec<String> {
        let mut names = self.state().chunks.metadata().map(Metadata::layer_names).unwrap_or_default();
        names.retain(|name| !is_reserved(name));
        names
    }

    /// The fixed metadata: name and content.
    pub fn metalayers(&self) -> Vec<(String, Vec<u8>)> {
        self.state().chunks.metadata().map(Metadata::metalayers).unwrap_or_default()
    }

    /// Sets a piece of variable metadata, or removes it.
    ///
    /// # Errors
    /// `Invalid` for a name that cannot be, `Limit`, `Io`; the metadata are then as they were.
    pub fn set_layer(&self, name: &str, content: Option<Vec<u8>>) -> Result<()> {
        if is_reserved(name) {
            return Err(Error::invalid(format!("metalayer {name:?}: the name is taken")));
        }
        let mut writer = self.writer()?;
        writer.check()?;
        let old = self.state();
        let change = Change { layers: vec![(name.into(), content)], ..Change::default() };
        let made = writer.store.apply(change);
        let made = made.map(|()| Arc::new(State { chunks: writer.store.chunks(), ..State::clone(&old) }));
        self.settle(&mut writer, made)
    }
}
