//! How fast this machine is, beside the one that the table of times was measured on.
//!
//! Some blocks that are the same everywhere are encoded and decoded by every codec and level; `reference.tsv` says what that
//! took there. The ratios are rounded to steps that are larger than what two runs differ by, so that the same machine nearly
//! always gets the same factors, and chooses the same. Measured once in a process, in some 0.2 seconds.

use std::sync::OnceLock;

use super::math::{exp2, log2};
use super::timing::timed;
use super::ways::{self, Times, Way};
use crate::base::error::{Error, Result};
use crate::chunk::Params;

const REFERENCE: &str = include_str!("reference.tsv");
/// Bytes of a block, and of items.
const BLOCK_BYTES: usize = 32 << 10;
const ITEM_BYTES: usize = 4;
/// The best of so many runs, or of one that takes long.
const RUNS: usize = 5;
/// Factors are powers of two to so many halves.
const STEPS: f64 = 2.0;

/// What a codec and level took for the reference blocks, in nanoseconds per byte.
#[derive(Clone, Copy, Debug)]
pub(super) struct Speed {
    codec: &'static str,
    level: u8,
    times: Times,
}

/// How many times longer than in the table each codec and level takes here.
pub(super) struct Factors(Vec<Speed>);

impl Factors {
    /// Times of the table as this machine has them.
    pub(super) fn applied(&self, way: &Way, times: Times) -> Times {
        let is_it = |speed: &&Speed| (speed.codec, speed.level) == (way.codec.name(), way.level);
        let found = self.0.iter().find(is_it).map(|speed| speed.times);
        let Times { write, read } = found.unwrap_or(Times { write: 1.0, read: 1.0 });
        Times { write: times.write * write, read: times.read * read }
    }
}

/// The factors of this machine.
///
/// # Errors
/// None that a sound build has.
pub(super) fn factors() -> Result<&'static Factors> {
    static FACTORS: OnceLock<Factors> = OnceLock::new();
    if let Some(factors) = FACTORS.get() {
        return Ok(factors);
    }
    let reference = reference().ok_or_else(|| Error::unsupported("the reference times are damaged"))?;
    let here = measured()?;
    Ok(FACTORS.get_or_init(|| Factors(compared(&here, &reference))))
}

fn compared(here: &[Speed], reference: &[Speed]) -> Vec<Speed> {
    let find = |speed: &Speed| {
        reference.iter().find(|other| (other.codec, other.level) == (speed.codec, speed.level))
    };
    let factor = |here: f64, there: f64| exp2((log2(here / there) * STEPS).round() / STEPS);
    here.iter()
        .filter_map(|speed| {
            let there = find(speed)?.times;
            let write = factor(speed.times.write, there.write);
            let read = factor(speed.times.read, there.read);
            Some(Speed { times: Times { write, read }, ..*speed })
        })
        .collect()
}

/// What the machine of the table took.
fn reference() -> Option<Vec<Speed>> {
    let parsed = |line: &'static str| {
        let [codec, level, write, read] = line.split('\t').collect::<Vec<_>>()[..] else { return None };
        let times = Times { write: write.parse().ok()?, read: read.parse().ok()? };
        Some(Speed { codec, level: level.parse().ok()?, times })
    };
    REFERENCE.lines().map(parsed).collect()
}

/// What every codec and level takes here for the reference blocks, as lines of `reference.tsv`.
///
/// # Errors
/// What encoding says.
pub fn measured_text() -> Result<String> {
    let line = |speed: &Speed| {
        let Times { write, read } = speed.times;
        format!("{}\t{}\t{write:.3}\t{read:.3}\n", speed.codec, speed.level)
    };
    Ok(measured()?.iter().map(line).collect())
}

fn measured() -> Result<Vec<Speed>> {
    let filters = ways::filters_for(&Params { typesize: ITEM_BYTES, ..Params::default() });
    let blocks = [smooth(), steps(), words()];
    let mut speeds = Vec::new();
    for (codec, level) in ways::codecs()? {
        let (mut write, mut read) = (0.0, 0.0);
        for (block, &filters) in blocks.iter().zip(&filters) {
            let times = times_of(&Way { codec, level, filters }, block)?;
            write += times.write;
            read += times.read;
        }
        speeds.push(Speed { codec: codec.name(), level, times: Times { write, read } });
    }
    Ok(speeds)
}

/// The shortest times of some runs, per byte of all blocks.
fn times_of(way: &Way, block: &[u8]) -> Result<Times> {
    let params = Params { typesize: ITEM_BYTES, blocksize: Some(BLOCK_BYTES), ..Params::default() };
    Ok(timed(block, &way.params(&params), RUNS, BLOCKS_BYTES)?.1)
}

/// Items of the blocks, and their bytes.
const ITEMS: u32 = 32 << 10;
const BLOCKS_BYTES: f64 = 131_072.0;

/// A number that looks random.
fn scrambled(n: u32) -> u32 {
    let mixed = (n ^ n >> 16).wrapping_mul(0x7feb_352d);
    (mixed ^ mixed >> 15).wrapping_mul(0x846c_a68b)
}

fn block(item: impl Fn(u32) -> [u8; ITEM_BYTES]) -> Vec<u8> {
    (0..ITEMS).flat_map(item).collect()
}

/// A curve with some noise, as floating-point numbers.
fn smooth() -> Vec<u8> {
    block(|n| {
        let at = f32::from(u16::try_from(n % 4096).unwrap_or(0)) / 4096.0;
        let noise = f32::from(u8::try_from(scrambled(n) >> 24).unwrap_or(0)) / 65536.0;
        (270.0 + 40.0 * at * (1.0 - at) + noise).to_le_bytes()
    })
}

/// Integers that rise in steps.
fn steps() -> Vec<u8> {
    block(|n| (n / 3 * 40 + scrambled(n) % 7).to_le_bytes())
}

/// Some words, over and over in another order.
fn words() -> Vec<u8> {
    const WORDS: [[u8; ITEM_BYTES]; 8] =
        [*b"the ", *b"sea ", *b"and ", *b"sand", *b"ebb ", *b"tide", *b"foam", *b"salt"];
    block(|n| WORDS[scrambled(n / 2) as usize % WORDS.len()])
}

#[cfg(test)]
mod tests {
    use super::super::times::{Model, Probe, Probes};
    use super::super::trial::part_of;
    use super::super::work::Work;
    use super::*;
    use crate::base::pool::Job;
    use crate::chunk;

    #[test]
    fn the_machine_of_the_table_has_factors_of_one() {
        let reference = reference().unwrap();
        let same = compared(&reference, &reference);
        let is_one = |speed: &Speed| speed.times == Times { write: 1.0, read: 1.0 };
        assert!(same.iter().all(is_one));
        assert_eq!(same.len(), ways::codecs().unwrap().len());
        let slower: Vec<Speed> = reference
            .iter()
            .map(|speed| Speed {
                times: Times { write: speed.times.write * 2.1, read: speed.times.read * 1.1 },
                ..*speed
            })
            .collect();
        for speed in compared(&slower, &reference) {
            assert_eq!(speed.times, Times { write: 2.0, read: 1.0 });
        }
    }

    #[test]
    fn the_reference_is_of_the_machine_of_the_table() {
        let model = Model::shipped();
        let filters = ways::filters_for(&Params { typesize: ITEM_BYTES, ..Params::default() });
        let blocks = [smooth(), steps(), words()];
        let probe = |name, block: &[u8], filters| {
            let way = Way { codec: crate::codec::by_name(name).unwrap(), level: 1, filters };
            let params = Params { typesize: ITEM_BYTES, blocksize: Some(BLOCK_BYTES), ..Params::default() };
            let encoded = chunk::encode(block, &way.params(&params), &Job::inline()).unwrap();
            let fraction = part_of(&encoded, block.len(), params.generation);
            Probe { fraction, work: Work::of(&encoded).unwrap().unwrap() }
        };
        let probes: Vec<Probes> = blocks
            .iter()
            .zip(&filters)
            .map(|(block, &filters)| Probes {
                lz4: probe("lz4", block, filters),
                zstd: probe("zstd", block, filters),
            })
            .collect();
        let mut ratios = Vec::new();
        for Speed { codec, level, times } in reference().unwrap() {
            let codec = crate::codec::by_name(codec).unwrap();
            let (mut write, mut read) = (0.0, 0.0);
            for (probes, &filters) in probes.iter().zip(&filters) {
                let way = Way { codec, level, filters };
                let (_, usual) = model.fractions(&way, probes).unwrap();
                let known = model.times(&way, usual, None, probes).unwrap();
                write += known.write;
                read += known.read;
            }
            ratios.extend([write / times.write, read / times.read]);
        }
        // Single ones are off by a factor; another machine is slower or faster as a whole.
        ratios.sort_by(f64::total_cmp);
        let median = ratios[ratios.len() / 2];
        assert!((0.5..2.0).contains(&median), "{median}");
    }

    #[test]
    fn every_codec_is_measured() {
        let text = measured_text().unwrap();
        assert_eq!(text.lines().count(), ways::codecs().unwrap().len());
        assert!(measured().unwrap().iter().all(|speed| speed.times.write > 0.0 && speed.times.read > 0.0));
    }
}
