//! One chunk of bytes in memory, encoded as a tuner chooses.
//!
//! In: bytes, and the parameters that a tuner does not choose. Out: a chunk; of one item over and over a special value.

use super::goal::Goal;
use super::tuner::{Choice, Tuner};
use crate::base::error::{Error, Result};
use crate::base::pool::Job;
use crate::chunk::{self, Generation, Params, Special, encode_repeated, encode_special};

/// Whether parameters leave a tuner the choice.
///
/// # Errors
/// `Invalid` if their codec or a filter loses something, which no other would, and if they ask for a dictionary.
pub fn check(params: &Params) -> Result<()> {
    if params.is_lossy() {
        return Err(Error::invalid("tuning: the codec or a filter is lossy; leave out one of the two"));
    }
    if params.dictionary {
        return Err(Error::invalid(
            "tuning chooses codecs, and not all of them take a dictionary; leave it out",
        ));
    }
    Ok(())
}

impl Tuner {
    /// A tuner for chunks whose other parameters are these.
    ///
    /// # Errors
    /// `Invalid` if they leave it no choice.
    pub fn for_params(goal: Goal, params: &Params) -> Result<Self> {
        check(params)?;
        Ok(Self::new(goal))
    }
}

/// Encodes `bytes` as a chunk at the front of `out`, which has [`Params::bound`] bytes; returns its length.
///
/// # Errors
/// As [`Tuner::choose_for_bytes`] and [`chunk::encode_into`].
pub fn encode_into(
    tuner: &Tuner,
    bytes: &[u8],
    params: &Params,
    out: &mut [u8],
    job: &Job<'_>,
) -> Result<usize> {
    let Choice { params, is_uniform } = tuner.choose_for_bytes(bytes, params, job)?;
    if is_uniform
        && let Some(item) = one_item(bytes, params.typesize)
        && let Some(made) = repeated(item, bytes.len(), &params)?
        && let Some(out) = out.get_mut(..made.len())
    {
        out.copy_from_slice(&made);
        return Ok(made.len());
    }
    chunk::encode_into(bytes, &params, out, job)
}

/// The item that `bytes` are over and over, if they are.
pub fn one_item(bytes: &[u8], typesize: usize) -> Option<&[u8]> {
    let (item, rest) = bytes.split_at_checked(typesize)?;
    // Each item is the one before it.
    let is_one = typesize > 0 && bytes.len().is_multiple_of(typesize) && *rest == bytes[..rest.len()];
    is_one.then_some(item)
}

/// The special value that an item is over and over, if it needs no bytes at all.
fn special_of(item: &[u8]) -> Option<Special> {
    let is_same = |special: &Special| special.item(item.len()).is_ok_and(|same| same == item);
    [Special::Zeros, Special::Nans].into_iter().find(is_same)
}

/// A chunk of one item over and over; `None` where there is none for such items, or they are too few.
///
/// # Errors
/// `Limit` for more bytes than a chunk holds.
pub fn repeated(item: &[u8], nbytes: usize, params: &Params) -> Result<Option<Vec<u8>>> {
    // What Blosc1 cannot say; and one item alone takes no more as it is.
    if params.generation != Generation::Blosc2 || nbytes <= item.len() {
        return Ok(None);
    }
    let made = match special_of(item) {
        Some(special) => encode_special(special, &[], nbytes, params.typesize)?,
        None => encode_repeated(item, nbytes, params)?,
    };
    Ok(Some(made))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_one_item_if_each_item_is_the_first() {
        assert_eq!(one_item(&[1, 2, 1, 2], 2), Some(&[1, 2][..]));
        assert_eq!(one_item(&[1, 2], 2), Some(&[1, 2][..]));
        for (bytes, typesize) in
            [(&[1, 2, 1, 3][..], 2), (&[1, 2, 1], 2), (&[], 1), (&[1], 2), (&[1, 1, 1, 2], 1)]
        {
            assert_eq!(one_item(bytes, typesize), None, "{bytes:?} by {typesize}");
        }
        assert_eq!(one_item(&[1], 0), None);
    }

    #[test]
    fn zeros_and_the_usual_nan_need_no_bytes() {
        assert_eq!(special_of(&[0; 3]), Some(Special::Zeros));
        assert_eq!(special_of(&f32::NAN.to_le_bytes()), Some(Special::Nans));
        assert_eq!(special_of(&f64::NAN.to_le_bytes()), Some(Special::Nans));
        assert_eq!(special_of(&(-f64::NAN).to_le_bytes()), None);
        assert_eq!(special_of(&[1]), None);
        for item in [vec![0; 8], f64::NAN.to_le_bytes().to_vec(), 1.5_f64.to_le_bytes().to_vec()] {
            let params = Params { typesize: 8, ..Params::default() };
            let made = repeated(&item, 80, &params).unwrap().unwrap();
            let mut out = vec![1; 80];
            let chunk = chunk::Chunk::parse(&made, &crate::base::limits::Limits::default()).unwrap();
            chunk.decode_into(&mut out, &Job::inline()).unwrap();
            assert_eq!(one_item(&out, 8), Some(&item[..]));
            let blosc1 = Params { generation: Generation::Blosc1, ..params };
            assert!(repeated(&item, 80, &blosc1).unwrap().is_none());
            assert!(repeated(&item, 8, &params).unwrap().is_none());
        }
    }
}
