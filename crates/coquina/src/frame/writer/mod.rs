//! Writing frames: what goes into a commit, and what the two kinds of frames do differently to make it.

mod apply;
pub(super) mod change;
mod compact;
pub(super) mod contiguous;
mod record;
pub(super) mod sparse;
mod turns;
pub(super) mod whole;

use crate::base::error::Result;
use crate::frame::snapshot::Snapshot;

/// Writes a frame. A frame that was made and not published yet is seen by nobody.
pub(crate) trait Writer: Send + Sync {
    /// Stores these parts behind each other; returns what the index is to say.
    fn put(&mut self, parts: &[&[u8]]) -> Result<u64>;

    /// Bytes that are set aside for chunks by now.
    fn cbytes(&self) -> u64;

    /// Makes `snapshot` the state of the frame in one step; returns it as it is then.
    fn commit(&mut self, snapshot: &Snapshot, durable: bool) -> Result<Snapshot>;

    /// Makes durable that the last commit has happened. After an error nothing more is written: what the system
    /// could not write it may have given up.
    fn sync(&mut self) -> Result<()>;

    /// Makes the name of a file that has taken the place of another one durable, if durable commits are wished.
    /// It has happened whether this works or not.
    fn sync_name(&mut self) -> Result<()> {
        Ok(())
    }

    /// Writes all of `snapshot` but what makes it the state of the frame; returns it as it is then. Who says that
    /// it is the state calls [`Writer::finish`], else [`Writer::rollback`].
    fn prepare(&mut self, snapshot: &Snapshot, durable: bool) -> Result<Snapshot>;

    /// Makes what was prepared the state of the frame for those who know of no other word about it.
    fn finish(&mut self);

    /// Writes nothing more, and removes nothing: what the state of the frame is cannot be told.
    fn abandon(&mut self);

    /// Forgets what was put since the last commit.
    fn rollback(&mut self) -> Result<()>;

    /// Gives a new frame its name.
    fn publish(&mut self) -> Result<()>;

    /// Ends writing in turns, if the frame is written so: leaves one record directly behind the chunks. Returns the state
    /// of the frame, which is `committed`, as it is then.
    fn settle(&mut self, committed: &Snapshot) -> Result<Snapshot> {
        Ok(committed.clone())
    }

    /// Gives back the room that nothing refers to. `committed` is the state of the frame; returns it as it is then.
    fn compact(&mut self, committed: &Snapshot) -> Result<Snapshot>;
}
