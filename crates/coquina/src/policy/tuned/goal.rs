//! What tuning is for: size or speed, of reading or of writing, over which storage.
//!
//! In: what users say. Out: a [`Goal`], and its text, which stands in a variable metalayer of frames and in an attribute of
//! HDF5 datasets, so that what is appended later is tuned too.

use super::math::exp2;
use super::profile::Profile;
use crate::base::error::{Error, Result};

/// The metalayer that keeps the goal.
pub const LAYER: &str = "coquina.tuning";

/// Bytes per second of the storage where users name none: a network of a gigabit.
const BANDWIDTH: f64 = 125e6;
/// So many powers of two lie between the bandwidth and what counts at either end.
const OCTAVES: f64 = 4.0;
/// Numbers below this one are written with an exponent.
const TINY: f64 = 1e-5;
/// The mark of a short text in MessagePack.
const TEXT_MARK: u8 = 0xd9;

/// What is to be fast.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Wants {
    /// Decoding.
    Read,
    /// Encoding.
    Write,
    /// Each once.
    #[default]
    Both,
}

impl Wants {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Both => "both",
        }
    }

    /// The one of that name.
    ///
    /// # Errors
    /// `Invalid` if there is none.
    pub fn of(name: &str) -> Result<Self> {
        let all = [Self::Read, Self::Write, Self::Both];
        let found = all.into_iter().find(|wants| wants.name() == name);
        found.ok_or_else(|| Error::invalid(format!("for_ {name:?}: takes read, write or both")))
    }
}

/// What chunks are to be good for.
#[derive(Clone, Debug, PartialEq)]
pub struct Goal {
    tradeoff: f64,
    wants: Wants,
    bandwidth: Option<f64>,
    is_calibrated: bool,
    profile: Option<Profile>,
}

impl Default for Goal {
    /// Speed and size alike.
    fn default() -> Self {
        Self { tradeoff: 0.5, wants: Wants::Both, bandwidth: None, is_calibrated: false, profile: None }
    }
}

impl Goal {
    /// A goal between speed (0) and size (1), over storage of so many bytes per second. One that is calibrated looks at
    /// how fast this machine is, so that other machines may choose otherwise.
    ///
    /// # Errors
    /// `Invalid` for numbers out of range.
    pub fn new(tradeoff: f64, wants: Wants, bandwidth: Option<f64>, is_calibrated: bool) -> Result<Self> {
        if !(0.0..=1.0).contains(&tradeoff) {
            return Err(Error::invalid(format!("goal {tradeoff}: takes 0 (speed) to 1 (size)")));
        }
        if let Some(bandwidth) = bandwidth
            && !(bandwidth.is_finite() && bandwidth >= 1.0)
        {
            return Err(Error::invalid(format!("bandwidth {bandwidth}: takes bytes per second, 1 and more")));
        }
        Ok(Self { tradeoff, wants, bandwidth, is_calibrated, profile: None })
    }

    /// From 0, speed, to 1, size.
    pub fn tradeoff(&self) -> f64 {
        self.tradeoff
    }

    /// What is to be fast.
    pub fn wants(&self) -> Wants {
        self.wants
    }

    /// Bytes per second of the storage, if they were told.
    pub fn bandwidth(&self) -> Option<f64> {
        self.bandwidth
    }

    /// Whether times are those of this machine.
    pub fn is_calibrated(&self) -> bool {
        self.is_calibrated
    }

    /// What was learnt from a user's files, by which times and sizes are estimated.
    pub fn profile(&self) -> Option<&Profile> {
        self.profile.as_ref()
    }

    /// The same goal with a profile, or without. A profile is not stored: the text of the goal is that of the one without.
    #[must_use]
    pub fn with_profile(&self, profile: Option<Profile>) -> Self {
        Self { profile, ..self.clone() }
    }

    /// Whether files say the same of both: one may have a profile that the other lacks.
    pub fn is_stored_as(&self, other: &Self) -> bool {
        self.with_profile(None) == other.with_profile(None)
    }

    /// The cost of an item byte: nanoseconds of a core to write and to read it, and what is left of it on the storage.
    pub(super) fn cost(&self, write_ns: f64, read_ns: f64, fraction: f64) -> f64 {
        if self.is_size() {
            return fraction;
        }
        let moved = fraction * 1e9 / self.rate();
        match self.wants {
            Wants::Write => write_ns + moved,
            Wants::Read => read_ns + moved,
            Wants::Both => write_ns + read_ns + 2.0 * moved,
        }
    }

    /// Whether only the size counts.
    pub(super) fn is_size(&self) -> bool {
        self.tradeoff >= 1.0
    }

    /// Bytes per second as they count.
    fn rate(&self) -> f64 {
        self.bandwidth.unwrap_or(BANDWIDTH) * exp2(OCTAVES * (1.0 - 2.0 * self.tradeoff))
    }

    /// The text of the goal.
    pub fn text(&self) -> String {
        let bandwidth = self.bandwidth.map_or_else(|| "any".to_owned(), |bandwidth| format!("{bandwidth:e}"));
        let times = if self.is_calibrated { "measured" } else { "table" };
        // Of a number of hundreds of zeros the text would be longer than the metalayer can say.
        let tradeoff = match self.tradeoff {
            tiny if tiny > 0.0 && tiny < TINY => format!("{tiny:e}"),
            tradeoff => tradeoff.to_string(),
        };
        format!("goal={tradeoff} for={} bandwidth={bandwidth} times={times}", self.wants.name())
    }

    /// The goal of a text.
    ///
    /// # Errors
    /// `Corrupt` for another text.
    pub fn of_text(text: &str) -> Result<Self> {
        let wrong = || Error::corrupt(format!("{text:?} is not a tuning goal"));
        let names = ["goal=", "for=", "bandwidth=", "times="];
        let words: Vec<&str> = text.split(' ').collect();
        if words.len() != names.len() {
            return Err(wrong());
        }
        let values: Vec<&str> =
            words.into_iter().zip(names).filter_map(|(word, name)| word.strip_prefix(name)).collect();
        let [tradeoff, wants, bandwidth, times] = values[..] else { return Err(wrong()) };
        let number = |text: &str| text.parse::<f64>().map_err(|_| wrong());
        let bandwidth = if bandwidth == "any" { None } else { Some(number(bandwidth)?) };
        let is_calibrated = match times {
            "table" => false,
            "measured" => true,
            _ => return Err(wrong()),
        };
        let wants = Wants::of(wants).map_err(|_| wrong())?;
        Self::new(number(tradeoff)?, wants, bandwidth, is_calibrated).map_err(|_| wrong())
    }

    /// The content of the metalayer: the text, as MessagePack.
    pub fn write(&self) -> Vec<u8> {
        let text = self.text();
        let len = u8::try_from(text.len()).unwrap_or(u8::MAX);
        [&[TEXT_MARK, len], text.as_bytes()].concat()
    }

    /// The goal in the content of the metalayer.
    ///
    /// # Errors
    /// `Corrupt` for other bytes.
    pub fn read(content: &[u8]) -> Result<Self> {
        let text = match content {
            [TEXT_MARK, len, text @ ..] if usize::from(*len) == text.len() => std::str::from_utf8(text).ok(),
            _ => None,
        };
        let read = text.map(Self::of_text);
        read.unwrap_or_else(|| Err(Error::corrupt("it is not text"))).map_err(|e| e.at(LAYER))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn goals_come_back_from_their_text_and_nothing_else_does() {
        let told = [None, Some(1.0), Some(2.5e9), Some(f64::MAX)];
        for (number, bandwidth) in told.into_iter().enumerate() {
            for wants in [Wants::Read, Wants::Write, Wants::Both] {
                let goal =
                    Goal::new(f64::from(u8::try_from(number).unwrap()) / 3.0, wants, bandwidth, number == 1);
                let goal = goal.unwrap();
                let content = goal.write();
                assert_eq!(Goal::read(&content).unwrap(), goal);
                for end in 0..content.len() {
                    assert!(Goal::read(&content[..end]).is_err(), "{end} of {content:?}");
                }
            }
        }
        for tradeoff in [0.0, 5e-324, 1e-9, 1e-5, 0.1, 1.0] {
            let goal = Goal::new(tradeoff, Wants::Read, Some(1.0), true).unwrap();
            assert_eq!(Goal::read(&goal.write()).unwrap(), goal);
        }
        for text in ["", "goal=2 for=both bandwidth=any times=table", "goal=0.5 for=both bandwidth=any"] {
            assert!(Goal::of_text(text).is_err(), "{text}");
        }
    }

    #[test]
    fn what_is_slower_costs_more_and_for_size_nothing_but_bytes_do() {
        let goal = |tradeoff| Goal::new(tradeoff, Wants::Both, None, false).unwrap();
        assert!(goal(0.5).cost(1.0, 1.0, 0.5) < goal(0.5).cost(2.0, 1.0, 0.5));
        assert_eq!(goal(1.0).cost(1.0, 1.0, 0.5).to_bits(), goal(1.0).cost(9.0, 9.0, 0.5).to_bits());
        // Twice a nanosecond of a core, and a byte each way at 125 MB/s.
        assert!((goal(0.5).cost(1.0, 1.0, 1.0) - 18.0).abs() < 1e-9);
        for wrong in [-0.1, 1.1, f64::NAN] {
            assert!(Goal::new(wrong, Wants::Both, None, false).is_err());
        }
        for wrong in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(Goal::new(0.5, Wants::Both, Some(wrong), false).is_err());
        }
    }
}
