//! Opens a dynamic library that is a plugin.
//!
//! In: its path. Out: its codecs and filters.
//! Source: `docs/formats/plugins.md`, "The exported function".
//! Invariant: a library that was opened stays loaded as long as the process runs.
#![expect(unsafe_code, reason = "functions of a C library")]

use std::mem::ManuallyDrop;
use std::path::Path;

use coquina::{Error, Result};
use coquina_plugin::table::{CODEC, ENTRY, Entry, FILTER, MAJOR, MINOR, Table};

use crate::codec::engine_codec;
use crate::filter::engine_filter;
use crate::foreign::Foreign;
use crate::functions::Functions;

/// Plugins have ids from here on.
const PLUGIN_ID_MIN: u8 = 32;

/// An opened plugin.
pub struct Library {
    codecs: Vec<&'static Foreign>,
    filters: Vec<&'static Foreign>,
}

impl Library {
    /// Opens the plugin at this path. Whoever asks trusts it: its code runs in this process.
    ///
    /// # Errors
    /// `Invalid` for a file that is no plugin, `Unsupported` for one of another major version; all name the path.
    pub fn open(path: &Path) -> Result<Self> {
        Self::opened(path).map_err(|error| error.at(format!("plugin {}", path.display())))
    }

    fn opened(path: &Path) -> Result<Self> {
        // A name without a folder would be looked for all over the system.
        let path = path.canonicalize()?;
        // SAFETY: the library's initialisers run; its user says that it is to be trusted.
        let library = unsafe { libloading::Library::new(&path) };
        let library = library.map_err(|error| Error::invalid(format!("cannot be loaded: {error}")))?;
        // SAFETY: the name is that of our interface, and the type what it says.
        let entry = unsafe { library.get::<Entry>(ENTRY) };
        let entry = *entry
            .map_err(|_| Error::invalid(format!("is not a coquina plugin: it does not export {ENTRY}")))?;
        // From here on pointers into the library are held.
        let _stays = ManuallyDrop::new(library);
        // SAFETY: it takes any version.
        let table = unsafe { entry(MAJOR, MINOR) };
        // SAFETY: that is the plugin's table, and the library stays loaded.
        unsafe { Self::from_table(table) }
    }

    /// The plugin that this table is of.
    ///
    /// # Safety
    /// `table` is null, or a table as `docs/formats/plugins.md` describes it, whose functions stay there for as long as
    /// the process runs.
    unsafe fn from_table(table: *const Table) -> Result<Self> {
        // SAFETY: what the caller promises.
        let functions = unsafe { Functions::of(table) }?;
        let library =
            Self { codecs: Foreign::all(functions, CODEC)?, filters: Foreign::all(functions, FILTER)? };
        for (what, part) in library.parts() {
            let (id, name) = (coquina_plugin::Codec::id(part), coquina_plugin::Codec::name(part));
            if id < PLUGIN_ID_MIN {
                return Err(Error::invalid(format!("{what} {id} ({name}): takes ids {PLUGIN_ID_MIN}..=255")));
            }
        }
        Ok(library)
    }

    fn parts(&self) -> impl Iterator<Item = (&'static str, &'static Foreign)> {
        let codecs = self.codecs.iter().map(|codec| ("codec", *codec));
        codecs.chain(self.filters.iter().map(|filter| ("filter", *filter)))
    }

    /// The codecs of the library.
    pub fn codecs(&self) -> impl Iterator<Item = &'static dyn coquina_plugin::Codec> {
        self.codecs.iter().map(|codec| *codec as &dyn coquina_plugin::Codec)
    }

    /// The filters of the library.
    pub fn filters(&self) -> impl Iterator<Item = &'static dyn coquina_plugin::Filter> {
        self.filters.iter().map(|filter| *filter as &dyn coquina_plugin::Filter)
    }

    /// Adds those of its codecs and filters whose ids nobody serves yet: what the engine has by now, and what was
    /// registered before, stays.
    ///
    /// # Errors
    /// `Invalid` for a name that a codec or filter of the engine has.
    pub fn register(&self) -> Result<()> {
        let known: Vec<u8> =
            coquina::codec::CODECS.iter().copied().chain(coquina::codec::plugins()).map(|c| c.id()).collect();
        for codec in self.codecs().filter(|codec| !known.contains(&codec.id())) {
            coquina::codec::register(engine_codec(codec))?;
        }
        let known: Vec<u8> = coquina::filter::FILTERS
            .iter()
            .copied()
            .chain(coquina::filter::plugins())
            .map(|f| f.id())
            .collect();
        for filter in self.filters().filter(|filter| !known.contains(&filter.id())) {
            coquina::filter::register(engine_filter(filter))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use coquina::chunk::{Chunk, Params, encode};
    use coquina::filter::{Pipeline, Slot};
    use coquina::{ErrorKind, Job, Limits};
    use coquina_plugin::export::{Lists, table};
    use coquina_plugin::{Block, Codec, Filter};

    use super::*;

    /// Panics at what begins with 1, says nonsense of what begins with 2, fails at what begins with 3, and writes
    /// nothing of the rest.
    struct Moody;

    impl Codec for Moody {
        fn id(&self) -> u8 {
            161
        }

        fn name(&self) -> &'static str {
            "moody"
        }

        fn is_lossy(&self, meta: u8, options: &str) -> bool {
            assert!(options != "panic", "told to");
            meta == 1
        }

        fn encode(&self, _: &Block<'_>, input: &[u8], out: &mut [u8]) -> Result<Option<usize>, String> {
            match input.first() {
                Some(1) => panic!("cannot stand {}", input[0]),
                Some(2) => Ok(Some(out.len() + 1)),
                Some(3) => Err("does not like it. ".repeat(1000)),
                _ => Ok(Some(40)),
            }
        }

        fn decode(&self, _: &Block<'_>, input: &[u8], out: &mut [u8]) -> Result<(), String> {
            assert!(input.iter().all(|&byte| byte == 0), "not zeros");
            out.split_at_mut(10).0.fill(7);
            Ok(())
        }
    }

    struct Reversed;

    impl Filter for Reversed {
        fn id(&self) -> u8 {
            161
        }

        fn name(&self) -> &'static str {
            "reversed"
        }

        fn encode(&self, block: &Block<'_>, input: &[u8], out: &mut [u8]) -> Result<(), String> {
            assert_eq!((block.typesize, block.meta, block.kind, block.shape), (2, 9, None, &[][..]));
            out.copy_from_slice(input);
            out.reverse();
            Ok(())
        }

        fn decode(&self, block: &Block<'_>, input: &[u8], out: &mut [u8]) -> Result<(), String> {
            self.encode(block, input, out)
        }
    }

    struct Own;

    impl Lists for Own {
        const CODECS: &'static [&'static dyn Codec] = &[&Moody];
        const FILTERS: &'static [&'static dyn Filter] = &[&Reversed];
    }

    fn own() -> Library {
        // SAFETY: a table of this program.
        unsafe { Library::from_table(table::<Own>(MAJOR)) }.expect("a whole table")
    }

    fn by(codec: &'static dyn coquina::codec::Codec, first: u8) -> Result<Vec<u8>> {
        let bytes: Vec<u8> = (0..=255_u8).cycle().skip(first.into()).take(5000).collect();
        let params = Params { codec, pipeline: Pipeline::default(), ..Params::default() };
        encode(&bytes, &params, &Job::default())
    }

    #[test]
    fn what_a_plugin_does_wrong_is_an_error_that_names_it() {
        for codec in [engine_codec(&Moody), engine_codec(own().codecs[0])] {
            let codec: &'static dyn coquina::codec::Codec = Box::leak(codec);
            for (first, said) in
                [(1, "panicked: cannot stand 1"), (2, "says that it wrote"), (3, "does not like")]
            {
                let error = by(codec, first).unwrap_err();
                assert_eq!(error.kind(), ErrorKind::Invalid);
                let text = error.to_string();
                assert!(text.contains("codec 161 (moody)") && text.contains(said), "{text}");
            }
            assert!(codec.is_lossy(1, "") && !codec.is_lossy(0, "") && codec.is_lossy(0, "panic"));
        }
        let error = by(Box::leak(engine_codec(own().codecs[0])), 3).unwrap_err().to_string();
        assert!(error.len() < 1100, "a library's texts are bounded: {}", error.len());
    }

    #[test]
    fn bytes_that_a_plugin_leaves_out_are_zeros() {
        own().register().unwrap();
        let codec = coquina::codec::by_id(161).unwrap();
        let chunk = by(codec, 4).unwrap();
        for fill in [0, 0xff] {
            let mut out = vec![fill; 5000];
            Chunk::parse(&chunk, &Limits::default()).unwrap().decode_into(&mut out, &Job::default()).unwrap();
            assert!(out.iter().take(10).all(|&byte| byte == 7) && out.iter().skip(10).all(|&byte| byte == 0));
        }
    }

    #[test]
    fn a_filter_works_through_the_functions_as_it_does_without() {
        let reversed: Vec<Box<dyn coquina::filter::Filter>> =
            vec![engine_filter(&Reversed), engine_filter(own().filters[0])];
        let chunks = reversed.into_iter().map(|filter| {
            coquina::filter::register(filter).unwrap();
            let pipeline = Pipeline::new(&[Slot { id: 161, meta: 9 }]).unwrap();
            let params = Params { pipeline, typesize: 2, ..Params::default() };
            let bytes: Vec<u8> = (0..=255_u8).cycle().take(50_000).collect();
            let chunk = encode(&bytes, &params, &Job::default()).unwrap();
            let mut out = vec![0; bytes.len()];
            Chunk::parse(&chunk, &Limits::default()).unwrap().decode_into(&mut out, &Job::default()).unwrap();
            assert_eq!(out, bytes);
            chunk
        });
        let chunks: Vec<_> = chunks.collect();
        assert_eq!(chunks[0], chunks[1]);
    }

    #[test]
    fn a_table_that_is_not_there_or_of_another_version_is_refused() {
        // SAFETY: null is allowed.
        let error = unsafe { Library::from_table(table::<Own>(2)) }.err().unwrap();
        assert_eq!(error.kind(), ErrorKind::Unsupported);
    }

    #[test]
    fn ids_for_users_are_checked() {
        struct Low;

        impl Codec for Low {
            fn id(&self) -> u8 {
                39
            }

            fn name(&self) -> &'static str {
                "low"
            }

            fn encode(&self, _: &Block<'_>, _: &[u8], _: &mut [u8]) -> Result<Option<usize>, String> {
                Ok(None)
            }

            fn decode(&self, _: &Block<'_>, _: &[u8], _: &mut [u8]) -> Result<(), String> {
                Ok(())
            }
        }

        let error = crate::register_codec(&Low).unwrap_err();
        assert_eq!(
            error.to_string(),
            "codec 39 (low): takes ids 160..=255; those below are given out by Blosc2"
        );
        for name in ["", "a b", "\0", "ä", &"x".repeat(65)] {
            assert_eq!(crate::check_name(name).unwrap_err().kind(), ErrorKind::Invalid, "{name:?}");
        }
    }
}
