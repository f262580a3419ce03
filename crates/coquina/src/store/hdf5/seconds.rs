//! PyTables' times of 8 bytes ("time64"), which are float64 seconds to their users.
//!
//! In: items as they are stored: an int32 of seconds, the higher half of an int64, and an int32 of microseconds. Out:
//! float64, in the same byte order; and back.
//! Source: PyTables, "PyTables File Format"; `docs/formats/pytables-nodes.md`.
//! Invariant: `store` undoes `show` for all times whose microseconds are fewer than 10^6.

use crate::base::error::{Error, Result};

/// The byte order of times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seconds {
    /// The lowest byte first.
    Little,
    /// The highest byte first.
    Big,
}

impl Seconds {
    /// Turns stored times into seconds. Bytes behind the last whole item stay.
    pub(super) fn show(self, items: &mut [u8]) {
        for item in items.as_chunks_mut().0 {
            let seconds = shown(match self {
                Self::Little => i64::from_le_bytes(*item),
                Self::Big => i64::from_be_bytes(*item),
            });
            *item = match self {
                Self::Little => seconds.to_le_bytes(),
                Self::Big => seconds.to_be_bytes(),
            };
        }
    }

    /// Turns seconds into times as they are stored; `Invalid` for what 32 bits cannot count, NaN among them.
    pub(super) fn store(self, items: &mut [u8]) -> Result<()> {
        for item in items.as_chunks_mut().0 {
            let seconds = match self {
                Self::Little => f64::from_le_bytes(*item),
                Self::Big => f64::from_be_bytes(*item),
            };
            let time = stored(seconds)
                .ok_or_else(|| Error::invalid(format!("{seconds} seconds do not fit 32 bits")))?;
            *item = match self {
                Self::Little => time.to_le_bytes(),
                Self::Big => time.to_be_bytes(),
            };
        }
        Ok(())
    }
}

#[expect(clippy::cast_possible_truncation, reason = "the two halves of the number")]
fn shown(time: i64) -> f64 {
    let (seconds, micros) = ((time >> 32) as i32, time as i32);
    f64::from(seconds) + 1e-6 * f64::from(micros)
}

#[expect(clippy::cast_possible_truncation, reason = "whole numbers of 32 bits, which were checked")]
fn stored(seconds: f64) -> Option<i64> {
    let whole = seconds.trunc();
    if !(f64::from(i32::MIN)..=f64::from(i32::MAX)).contains(&whole) {
        return None;
    }
    let micros = ((seconds - whole) * 1e6).round_ties_even();
    Some((whole as i64) << 32 | i64::from((micros as i32).cast_unsigned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_both_byte_orders_are_seconds() {
        for (seconds, time) in [
            (0.0, 0),
            (7.0, 7 << 32),
            (1.5, (1 << 32) | 500_000),
            (-2.25, (-2 << 32) | (0xffff_ffff_i64 - 249_999)),
            (-2_147_483_648.0, i64::from(i32::MIN) << 32),
            (2_147_483_647.25, (0x7fff_ffff << 32) | 250_000),
        ] {
            assert_eq!((shown(time), stored(seconds)), (seconds, Some(time)));
            let mut little = time.to_le_bytes();
            Seconds::Little.show(&mut little);
            assert_eq!(little, seconds.to_le_bytes());
            Seconds::Little.store(&mut little).unwrap();
            assert_eq!(little, time.to_le_bytes());
            let mut big = [&time.to_be_bytes()[..], &[1, 2]].concat();
            Seconds::Big.show(&mut big);
            assert_eq!(big, [&seconds.to_be_bytes()[..], &[1, 2]].concat());
            Seconds::Big.store(&mut big).unwrap();
            assert_eq!(big, [&time.to_be_bytes()[..], &[1, 2]].concat());
        }
    }

    #[test]
    fn what_32_bits_cannot_count_is_refused() {
        for seconds in [f64::NAN, f64::INFINITY, 2_147_483_648.0, -2_147_483_649.0] {
            assert!(Seconds::Little.store(&mut seconds.to_le_bytes()).is_err(), "{seconds}");
        }
    }
}
