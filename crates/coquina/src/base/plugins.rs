//! What was added to a table of the engine while the program runs: codecs and filters from outside.
//!
//! In: something with an id. Out: a reference that stays good for ever, as chunks in memory may hold it.
//! Invariant: what was found once stays as it is; a later one of the same id serves those who look afterwards.

use std::sync::{OnceLock, PoisonError, RwLock};

use super::error::Result;

/// Looks for a plugin and adds it, if there is one. Called when something is asked for that nobody knows, from any
/// thread.
pub type Finder = Box<dyn Fn(Wanted<'_>) -> Result<()> + Send + Sync>;

/// What is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted<'a> {
    /// An id, by a chunk or by whoever writes.
    Id(u8),
    /// A name, by whoever writes.
    Name(&'a str),
}

/// What was added, the latest first, and who looks for more.
pub(crate) struct Plugins<T: ?Sized + 'static> {
    added: RwLock<Vec<&'static T>>,
    finder: OnceLock<Finder>,
}

impl<T: ?Sized + Sync> Plugins<T> {
    pub(crate) const fn new() -> Self {
        Self { added: RwLock::new(Vec::new()), finder: OnceLock::new() }
    }

    /// Adds one, in front of those of the same id.
    pub(crate) fn add(&self, plugin: Box<T>) {
        // Kept for ever: encoders and decoders hold it without counting.
        let plugin: &'static T = Box::leak(plugin);
        self.added.write().unwrap_or_else(PoisonError::into_inner).insert(0, plugin);
    }

    /// The latest that is wanted.
    pub(crate) fn find(&self, wanted: impl Fn(&T) -> bool) -> Option<&'static T> {
        let added = self.added.read().unwrap_or_else(PoisonError::into_inner);
        added.iter().copied().find(|plugin| wanted(plugin))
    }

    /// Every plugin that serves, by what `id` says of it.
    pub(crate) fn all(&self, id: impl Fn(&T) -> u8) -> Vec<&'static T> {
        let added = self.added.read().unwrap_or_else(PoisonError::into_inner);
        let mut all: Vec<&'static T> = Vec::new();
        for &plugin in added.iter() {
            if !all.iter().any(|other| id(other) == id(plugin)) {
                all.push(plugin);
            }
        }
        all
    }

    /// Says who looks for what is not there; the first to say so stays.
    pub(crate) fn set_finder(&self, finder: Finder) {
        let _ = self.finder.set(finder);
    }

    /// The one that `is_it`; if there is none, what is found by whoever looks for what is `wanted`.
    ///
    /// # Errors
    /// What the finder says.
    pub(crate) fn get(&self, wanted: Wanted<'_>, is_it: impl Fn(&T) -> bool) -> Result<Option<&'static T>> {
        if let Some(plugin) = self.find(&is_it) {
            return Ok(Some(plugin));
        }
        let Some(finder) = self.finder.get() else { return Ok(None) };
        finder(wanted)?;
        Ok(self.find(is_it))
    }
}

#[cfg(test)]
mod tests {
    use super::super::error::Error;
    use super::*;

    static PLUGINS: Plugins<u8> = Plugins::new();

    #[test]
    fn what_is_not_there_is_looked_for_and_the_latest_serves() {
        assert!(PLUGINS.get(Wanted::Id(1), |plugin| *plugin == 1).unwrap().is_none());
        PLUGINS.set_finder(Box::new(|wanted| match wanted {
            Wanted::Id(1) => {
                PLUGINS.add(Box::new(1));
                Ok(())
            }
            Wanted::Name("broken") => Err(Error::unsupported("broken")),
            _ => Ok(()),
        }));
        assert_eq!(PLUGINS.get(Wanted::Id(1), |plugin| *plugin == 1).unwrap(), Some(&1));
        assert!(PLUGINS.get(Wanted::Name("other"), |plugin| *plugin == 2).unwrap().is_none());
        assert_eq!(PLUGINS.get(Wanted::Name("broken"), |_| false).unwrap_err().to_string(), "broken");
        let first = PLUGINS.find(|plugin| *plugin == 1).unwrap();
        PLUGINS.add(Box::new(1));
        let latest = PLUGINS.find(|plugin| *plugin == 1).unwrap();
        assert!(!std::ptr::eq(first, latest));
        assert_eq!(PLUGINS.all(|plugin| *plugin), [latest]);
    }
}
