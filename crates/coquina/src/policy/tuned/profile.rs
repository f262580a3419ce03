//! What was learnt from a user's own files, on their machine: how its times and sizes differ from those of the shipped table.
//!
//! In and out: a short text. Its first line names the format and the table that it corrects; then there is a line for each codec,
//! level and kind of streams that was measured, with fields between tabs: `codec level streams least usual write read blocks`.
//! `least` and `usual` are the parts of the probe's size, `write` and `read` what the table's times are multiplied by, and
//! `blocks` counts the samples. Lines that begin with `#` are comments. Nothing is named in a file that is not known here.

use std::fmt::Write as _;
use std::sync::Arc;

use super::table::{self, Row};
use super::ways::{Times, Way};
use crate::base::checksum::xxh3;
use crate::base::error::{Error, Result};

/// The first word of a profile.
const MAGIC: &str = "coquina-profile-1";
/// Larger texts are none.
const TEXT_BYTES_MAX: usize = 1 << 18;
/// What a time may be multiplied by, at most, and what of a probe's size a codec may come to.
const FACTOR_MAX: f64 = 1024.0;
const PART_MAX: f64 = 4.0;

/// A line: what is known of a codec and level behind some filters.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Correction {
    pub(super) codec: String,
    pub(super) level: u8,
    pub(super) streams: String,
    /// The least part of the probe's size, and the usual one.
    pub(super) least: f64,
    pub(super) usual: f64,
    /// What times are multiplied by.
    pub(super) times: Times,
    /// Samples that it was learnt from.
    pub(super) blocks: u64,
}

/// Corrections of the shipped table. Cheap to clone.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile(Arc<[Correction]>);

impl Profile {
    pub(super) fn new(corrections: Vec<Correction>) -> Self {
        Self(corrections.into())
    }

    /// The profile in a text.
    ///
    /// # Errors
    /// `Corrupt` for another text; `Unsupported` for a profile that corrects another table.
    pub fn of_text(text: &str) -> Result<Self> {
        let mut lines = text.lines();
        let mut head = lines.next().unwrap_or_default().split('\t');
        if text.len() > TEXT_BYTES_MAX || head.next() != Some(MAGIC) {
            return Err(Error::corrupt(format!("a profile begins with {MAGIC:?}")));
        }
        if head.next() != Some(&table_name()) {
            return Err(Error::unsupported(
                "the profile corrects the times of another version; run `coquina train` again",
            ));
        }
        let is_comment = |line: &&str| line.is_empty() || line.starts_with('#');
        let numbered = (2..).zip(lines).filter(|(_, line)| !is_comment(line));
        let wrong = |number: usize| Error::corrupt(format!("line {number} of the profile is damaged"));
        let read = |(number, line)| correction(line).ok_or_else(|| wrong(number));
        Ok(Self(numbered.map(read).collect::<Result<_>>()?))
    }

    /// The text.
    pub fn text(&self) -> String {
        let mut text = format!(
            "{MAGIC}\t{}\n# codec\tlevel\tstreams\tleast\tusual\twrite\tread\tblocks\n",
            table_name()
        );
        for one in self.0.iter() {
            let Correction { codec, level, streams, least, usual, times: Times { write, read }, blocks } =
                one;
            // Writing into a String does not fail.
            let _ =
                writeln!(text, "{codec}\t{level}\t{streams}\t{least}\t{usual}\t{write}\t{read}\t{blocks}");
        }
        text
    }

    /// How many codecs with a level and kind of streams it corrects.
    pub fn ways(&self) -> usize {
        self.0.len()
    }

    /// What is known of a way.
    pub(super) fn of(&self, way: &Way) -> Option<&Correction> {
        let (codec, streams) = (way.codec.name(), way.filters.streams.name());
        self.0.iter().find(|one| one.level == way.level && one.codec == codec && one.streams == streams)
    }
}

/// A line of a profile; `None` for what is none.
fn correction(line: &str) -> Option<Correction> {
    let fields: Vec<&str> = line.split('\t').collect();
    let [codec, level, streams, least, usual, write, read, blocks] = fields[..] else { return None };
    let number =
        |text: &str, most: f64| text.parse::<f64>().ok().filter(|number| *number > 0.0 && *number <= most);
    let (least, usual) = (number(least, PART_MAX)?, number(usual, PART_MAX)?);
    let times = Times { write: number(write, FACTOR_MAX)?, read: number(read, FACTOR_MAX)? };
    let level = level.parse().ok()?;
    let is_known = |row: &Row| (row.codec, row.level, row.streams) == (codec, level, streams);
    let is_sound = least <= usual && table::rows().ok()?.iter().any(is_known);
    let made = Correction {
        codec: codec.to_owned(),
        level,
        streams: streams.to_owned(),
        least,
        usual,
        times,
        blocks: blocks.parse().ok()?,
    };
    is_sound.then_some(made)
}

/// A name of the shipped table: another one has other times, which the factors do not fit.
fn table_name() -> String {
    format!("table-{:016x}", xxh3(table::TABLE.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn profile() -> Profile {
        let times = Times { write: 1.25, read: 0.1 + 0.2 };
        let one = |codec: &str, level| Correction {
            codec: codec.to_owned(),
            level,
            streams: "planes".to_owned(),
            least: 0.7,
            usual: 1.0 / 1.1,
            times,
            blocks: 12,
        };
        Profile::new(vec![one("zstd", 5), one("lz4", 1)])
    }

    #[test]
    fn profiles_come_back_from_their_text() {
        let profile = profile();
        assert_eq!(Profile::of_text(&profile.text()).unwrap(), profile);
        assert_eq!(Profile::of_text(&Profile::new(vec![]).text()).unwrap(), Profile::new(vec![]));
    }

    #[test]
    fn every_cut_and_changed_byte_of_a_profile_is_an_error_or_numbers_in_range() {
        let text = profile().text();
        let check = |text: &str| {
            if let Ok(Profile(found)) = Profile::of_text(text) {
                for Correction { least, usual, times: Times { write, read }, .. } in found.iter() {
                    assert!(0.0 < *least && least <= usual && *usual <= PART_MAX, "{text}");
                    assert!(
                        (0.0..=FACTOR_MAX).contains(write) && (0.0..=FACTOR_MAX).contains(read),
                        "{text}"
                    );
                }
            }
        };
        for at in 0..text.len() {
            check(&text[..at]);
            for byte in [b'0', b'9', b'-', b'e', b'\t', b'\n', b'N'] {
                let mut bytes = text.clone().into_bytes();
                bytes[at] = byte;
                check(&String::from_utf8(bytes).unwrap());
            }
        }
        for line in [
            "zstd\t5\tplanes\t1\t1\tNaN\t1\t1",
            "zstd\t5\tplanes\t2\t1\t1\t1\t1",
            "gzip\t5\tplanes\t1\t1\t1\t1\t1",
        ] {
            let text = format!("{}{line}\n", Profile::new(vec![]).text());
            assert!(Profile::of_text(&text).is_err(), "{line}");
        }
    }
}
