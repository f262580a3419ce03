//! LZF (32000): literals, and copies of up to 264 bytes from up to 8 KiB back.
//!
//! In: a LibLZF stream, which holds no length. Out: the bytes of a chunk.
//! Source: `docs/formats/hdf5-legacy-filters.md`, "LZF".

use super::Filter;
use crate::base::error::{Error, Result};

/// What is copied at once where there is room: the compiler moves it through one register.
const STEP: usize = 16;

pub(super) struct Lzf;

impl Filter for Lzf {
    fn id(&self) -> u16 {
        32000
    }

    fn name(&self) -> &'static str {
        "lzf"
    }

    fn decode(&self, stored: &[u8], _values: &[u32], out: &mut [u8]) -> Result<()> {
        decode(stored, out)
    }

    fn decode_within(&self, stored: &[u8], _values: &[u32], room: &mut [u8]) -> Result<usize> {
        decode_within(stored, room)
    }
}

/// Fills `out` with what the stream holds.
pub(super) fn decode(stored: &[u8], out: &mut [u8]) -> Result<()> {
    match decode_within(stored, out)? {
        len if len == out.len() => Ok(()),
        len => Err(Error::truncated(format!("lzf: {len} bytes in place of {}", out.len()))),
    }
}

/// Puts what the stream holds in the front of `out`; returns its length.
fn decode_within(stored: &[u8], out: &mut [u8]) -> Result<usize> {
    let (mut rest, mut at) = (stored, 0);
    while let Some((&control, behind)) = rest.split_first() {
        let control = usize::from(control);
        let step = if control < 32 {
            literals(control + 1, behind, out, at)
        } else {
            copy(control, behind, out, at)
        };
        let (len, behind) = step.map_err(|damage| match damage {
            Damage::Cut => Error::truncated(format!("lzf: the stream ends at byte {at} of {}", out.len())),
            Damage::Long => Error::corrupt(format!("lzf: more than {} bytes", out.len())),
            Damage::Far(distance) => {
                Error::corrupt(format!("lzf: a copy from {distance} bytes back at byte {at}"))
            }
        })?;
        rest = behind;
        at += len;
    }
    Ok(at)
}

/// What is wrong with a step. Smaller than an [`Error`], so that steps return in registers.
enum Damage {
    Cut,
    Long,
    Far(usize),
}

/// Bytes that a step has made, and what is behind it in the stream.
type Step<'a> = Result<(usize, &'a [u8]), Damage>;

/// Copies `len` bytes of the stream.
#[inline]
fn literals<'a>(len: usize, stream: &'a [u8], out: &mut [u8], at: usize) -> Step<'a> {
    let (from, behind) = stream.split_at_checked(len).ok_or(Damage::Cut)?;
    let room = room(len, out, at)?;
    // The 32 bytes that a run can have are moved at once; what is too much of them is written over later.
    if let (Some(to), Some(from)) = (room.first_chunk_mut::<32>(), stream.first_chunk::<32>()) {
        *to = *from;
    } else if let Some(to) = room.get_mut(..len) {
        to.copy_from_slice(from);
    }
    Ok((len, behind))
}

/// Repeats bytes of `out`; the copy has 2 or 3 bytes.
#[inline]
fn copy<'a>(control: usize, stream: &'a [u8], out: &mut [u8], at: usize) -> Step<'a> {
    let (len, stream) = match control >> 5 {
        7 => {
            stream.split_first().map(|(more, behind)| (9 + usize::from(*more), behind)).ok_or(Damage::Cut)?
        }
        short => (short + 2, stream),
    };
    let (low, behind) = stream.split_first().ok_or(Damage::Cut)?;
    let distance = ((control & 31) << 8 | usize::from(*low)) + 1;
    let from = at.checked_sub(distance).ok_or(Damage::Far(distance))?;
    let room = room(len, out, at)?.len();
    if distance >= STEP && room >= len.next_multiple_of(STEP) {
        for step in (0..len).step_by(STEP) {
            out.copy_within(from + step..from + step + STEP, at + step);
        }
    } else {
        repeat(out, from, at, len);
    }
    Ok((len, behind))
}

/// Copies `len` bytes from `from` to `at`, which may be nearer than `len`: then what was copied is copied
/// again.
fn repeat(out: &mut [u8], from: usize, at: usize, len: usize) {
    let mut done = 0;
    while done < len {
        // All from `from` on repeats with the distance, so twice as many bytes can be taken each time.
        let part = (at - from + done).min(len - done);
        out.copy_within(from..from + part, at + done);
        done += part;
    }
}

/// What is left of `out`, at least `len` bytes.
#[inline]
fn room(len: usize, out: &mut [u8], at: usize) -> Result<&mut [u8], Damage> {
    out.get_mut(at..).filter(|room| room.len() >= len).ok_or(Damage::Long)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A slow encoder: the longest copy among those from `near` distances, else a literal.
    fn encode(plain: &[u8], near: &[usize]) -> Vec<u8> {
        let (mut out, mut literals, mut at) = (Vec::new(), Vec::new(), 0);
        let flush = |literals: &mut Vec<u8>, out: &mut Vec<u8>| {
            for run in literals.chunks(32) {
                out.push(u8::try_from(run.len() - 1).unwrap());
                out.extend_from_slice(run);
            }
            literals.clear();
        };
        while at < plain.len() {
            let len_at =
                |&d: &usize| (at..plain.len()).take(264).take_while(|&i| plain[i] == plain[i - d]).count();
            let best = near.iter().filter(|&&d| d <= at).map(|d| (len_at(d), *d)).max();
            match best {
                Some((len, distance)) if len >= 3 => {
                    flush(&mut literals, &mut out);
                    let (long, far) = ((len - 2).min(7), distance - 1);
                    out.push(u8::try_from(long << 5 | far >> 8).unwrap());
                    if long == 7 {
                        out.push(u8::try_from(len - 9).unwrap());
                    }
                    out.push(u8::try_from(far & 255).unwrap());
                    at += len;
                }
                _ => {
                    literals.push(plain[at]);
                    at += 1;
                }
            }
        }
        flush(&mut literals, &mut out);
        out
    }

    proptest! {
        #[test]
        fn what_was_encoded_decodes(
            runs in prop::collection::vec((prop::collection::vec(0..4_u8, 1..40), 1..20_usize), 0..12),
            near in prop::collection::vec(1..=8192_usize, 0..3),
        ) {
            let plain: Vec<u8> = runs.iter().flat_map(|(run, times)| run.repeat(*times)).collect();
            let near = [&near[..], &[1, 2, 3, 5, 15, 16, 17, 40]].concat();
            let stored = encode(&plain, &near);
            for fill in [0, 0xff] {
                let mut out = vec![fill; plain.len()];
                decode(&stored, &mut out).unwrap();
                prop_assert_eq!(&out, &plain);
            }
            let mut long = vec![0; plain.len() + 1];
            prop_assert_eq!(decode_within(&stored, &mut long).unwrap(), plain.len());
            prop_assert_eq!(&long[..plain.len()], &plain);
            prop_assert!(decode(&stored, &mut long).is_err());
            prop_assert!(plain.is_empty() || decode(&stored, &mut long[2..]).is_err());
        }

        #[test]
        fn any_bytes_are_a_value_or_an_error(stored: Vec<u8>, len in 0..600_usize) {
            let (mut zeros, mut ones) = (vec![0; len], vec![0xff; len]);
            let results = (decode(&stored, &mut zeros), decode(&stored, &mut ones));
            prop_assert_eq!(results.0.is_ok(), results.1.is_ok());
            prop_assert!(results.0.is_err() || zeros == ones);
        }
    }

    #[test]
    fn far_copies_reach_8_kib() {
        let noise: Vec<u8> = (0..8192_u32).map(|i| i.wrapping_mul(2_654_435_761).to_be_bytes()[0]).collect();
        let plain = noise.repeat(3);
        let stored = encode(&plain, &[8192]);
        assert!(stored.len() < 9000);
        let mut out = vec![0; plain.len()];
        decode(&stored, &mut out).unwrap();
        assert!(out == plain);
    }

    #[test]
    fn a_copy_from_before_the_start_is_an_error() {
        let error = decode(&[0, 7, 0x20, 1], &mut [0; 4]).unwrap_err();
        assert!(error.to_string().contains("2 bytes back at byte 1"), "{error}");
    }
}
