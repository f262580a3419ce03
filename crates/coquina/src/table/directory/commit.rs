//! How a commit of a directory comes to be, and how what was not committed is undone.
//!
//! In: nodes and arrays that have been changed. Out: a commit, which is one write of the manifest.
//! Source: `docs/formats/columns.md`, "Commits"; decision 16.
//! Invariant: the state in memory is that of the last commit before and after, or the directory cannot be used.

use std::fs;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::handle::{OpenArray, TableDirectory, locked};
use super::manifest::{FOLDER, NewState, Writing, line_text, whole_text};
use super::nodes::{Node, Nodes, file_name};
use super::sweeping::{sweep, sweep_indexes};
use super::writers;
use crate::array::{Array, Outcome, Text, commit_together};
use crate::base::error::Result;

/// Arrays with changes, in the states that a commit will make the committed ones.
#[derive(Default)]
struct Prepared {
    states: Vec<NewState>,
    arrays: Vec<Arc<Array>>,
}

impl TableDirectory {
    /// Writes all that has changed behind the committed states, and then the manifest that names it.
    pub(super) fn commit(&self) -> Result<()> {
        self.check_writable()?;
        let mut writing = locked(&self.writing);
        let (before, durable, has_same_nodes) = {
            let state = self.state();
            (state.committed.clone(), state.durable, state.nodes.is_same(&state.committed))
        };
        // A line says of arrays that there is more in them, and nothing else.
        let is_line = has_same_nodes && !durable && writing.manifest.takes_line();
        let prepared = self.prepare()?;
        if prepared.states.is_empty() && has_same_nodes {
            return Ok(());
        }
        // A line goes to the manifest that this process has written, wherever that is now.
        if !is_line && !self.is_in_place() {
            let what = "it is not the directory any more that was opened, or not by this process";
            return Err(self.placed(io::Error::other(what).into()));
        }
        self.sweep_once(&mut writing)?;
        let text = {
            let mut state = self.state();
            state.generation += 1;
            match is_line {
                true => line_text(&prepared.states, state.generation),
                false => whole_text(&state.nodes, state.generation),
            }
        };
        let arrays: Vec<&Array> = prepared.arrays.iter().map(|array| &**array).collect();
        let text = if is_line { Text::Line(&text) } else { Text::Whole(&text) };
        let outcome = commit_together(&arrays, &mut writing.manifest, text, durable);
        writing.has_lines = is_line && matches!(outcome, Outcome::Committed);
        drop(writing);
        let (what, error) = match outcome {
            Outcome::Committed => {
                self.note_commit(&prepared.states);
                if !is_line {
                    self.remove_files(&before);
                }
                return Ok(());
            }
            Outcome::Undone(error) => return Err(error),
            Outcome::NotDurable(error) => ("not durable", error),
            Outcome::Unknown(error) => ("unknown", error),
        };
        self.abandon(&format!("a commit has failed, and it is {what} ({error})"));
        Err(error)
    }

    /// Writes what has changed of arrays; their nodes say so.
    fn prepare(&self) -> Result<Prepared> {
        let nodes = self.state().nodes.clone();
        let mut prepared = Prepared::default();
        let mut changed = Vec::new();
        for (entry, number) in nodes.arrays() {
            let open = self.state().arrays.get(&number).cloned();
            let open = match open {
                // Of version 1, or new.
                None if entry.node.state.is_none() => {
                    let array = self.open_array(&entry.path, &entry.node)?;
                    OpenArray { array, id: None }
                }
                None => continue,
                Some(open) => open,
            };
            let id = open.array.prepare()?;
            if open.id != Some(id) || entry.node.state.is_none() {
                changed.push((entry.path.clone(), Node::clone(&entry.node).with_state(Some(id))));
                prepared.states.push(NewState { number, state: id });
                prepared.arrays.push(open.array);
            }
        }
        if !changed.is_empty() {
            // Else other nodes than those of the last commit would only seem to be.
            drop(nodes);
            let mut state = self.state();
            changed.into_iter().for_each(|(path, node)| state.nodes.set(path, node));
        }
        Ok(prepared)
    }

    fn note_commit(&self, states: &[NewState]) {
        let mut state = self.state();
        state.committed = state.nodes.clone();
        for new in states {
            if let Some(open) = state.arrays.get_mut(&new.number) {
                open.id = Some(new.state);
            }
        }
    }

    /// Goes back to the last commit.
    pub(super) fn undo(&self) {
        if self.is_broken() {
            return;
        }
        let undone = {
            let mut state = self.state();
            let committed = state.committed.clone();
            std::mem::replace(&mut state.nodes, committed)
        };
        self.remove_files(&undone);
        if !self.is_writable() {
            return;
        }
        let open: Vec<_> = self.state().arrays.values().cloned().collect();
        if let Err(error) = open.iter().try_for_each(|one| one.array.undo()) {
            self.abandon(&format!("a commit has failed, and could not be undone ({error})"));
        }
    }

    /// Removes the files of arrays that are not there any more.
    fn remove_files(&self, before: &Nodes) {
        let now = self.state().nodes.numbers();
        for (_, number) in before.arrays().filter(|&(_, number)| !now.contains(&number)) {
            let open = self.state().arrays.remove(&number);
            // What cannot be closed or removed is not named, and removed by the next writer.
            if let Some(open) = open {
                drop(open.array.close());
            }
            let _ = fs::remove_file(self.file(number));
        }
    }

    pub(super) fn file(&self, number: u64) -> PathBuf {
        self.path.join(file_name(number))
    }

    /// Removes, once, what a killed writer has left.
    fn sweep_once(&self, writing: &mut Writing) -> Result<()> {
        if writing.is_swept {
            return Ok(());
        }
        writing.is_swept = true;
        let states = {
            let state = self.state();
            [state.nodes.clone(), state.committed.clone()]
        };
        sweep(&self.path, &[&states[0], &states[1]]).map_err(|e| self.placed(e))?;
        match writers::found(&self.path.join(FOLDER)) {
            // Who is about to change the indexes sweeps then: files that are being made have no names yet.
            Some(indexes) if indexes.turn.take(Duration::ZERO) => {
                let swept = indexes.sweep_once(&mut locked(&indexes.writing));
                indexes.turn.give_back();
                swept?;
            }
            Some(_) => {}
            // What is wrong with the indexes is no reason not to write the table.
            None => drop(sweep_indexes(&self.path)),
        }
        Ok(())
    }

    /// Writes a manifest without lines behind it, for people and programs that read JSON.
    pub(super) fn write_whole(&self) {
        let mut writing = locked(&self.writing);
        if writing.has_lines {
            let (text, durable) = {
                let state = self.state();
                (whole_text(&state.nodes, state.generation), state.durable)
            };
            // All that it says is committed already: if it does not come to be, the lines stay.
            commit_together(&[], &mut writing.manifest, Text::Whole(&text), durable);
            writing.has_lines = false;
        }
    }
}
