//! The byte planes of a block, decoded as far as they are wanted.
//!
//! Plane `k` of some items is byte `k` of each of them, one behind another: so shuffled blocks are stored, and blocks that
//! are split store each plane as a stream of its own. Who looks for few items often knows after a plane or two that there
//! are none.
//! Invariant: a plane that is decoded holds what decoding all of the block gives.

use coquina_kernels::{best_level, unshuffle};

/// The planes of a block, of which some are decoded.
pub struct BytePlanes {
    bytes: Vec<u8>,
    items: usize,
    is_decoded: Vec<bool>,
}

/// Says which plane is wanted next; none where those that are decoded are enough.
pub type NextPlane<'n> = dyn FnMut(&BytePlanes) -> Option<usize> + 'n;

impl BytePlanes {
    /// None yet, of items of `item_bytes` bytes, in memory for all of them.
    pub fn new(bytes: Vec<u8>, item_bytes: usize) -> Self {
        let items = bytes.len() / item_bytes.max(1);
        Self { bytes, items, is_decoded: vec![false; item_bytes] }
    }

    /// Byte `number` of all items, if it is decoded.
    pub fn get(&self, number: usize) -> Option<&[u8]> {
        let is_decoded = self.is_decoded.get(number).copied().unwrap_or(false);
        is_decoded.then(|| &self.bytes[number * self.items..(number + 1) * self.items])
    }

    /// Bytes of an item.
    pub fn item_bytes(&self) -> usize {
        self.is_decoded.len()
    }

    /// How many planes are decoded.
    pub fn decoded(&self) -> usize {
        self.is_decoded.iter().filter(|&&is_decoded| is_decoded).count()
    }

    /// The first plane that is not decoded.
    pub fn first_missing(&self) -> Option<usize> {
        self.is_decoded.iter().position(|&is_decoded| !is_decoded)
    }

    /// Bytes of all planes.
    pub fn nbytes(&self) -> usize {
        self.bytes.len()
    }

    /// The items, where all planes are decoded.
    pub fn join(&self, items: &mut [u8]) {
        unshuffle(best_level(), self.item_bytes(), &self.bytes, items);
    }

    /// Its memory, to be used again.
    pub fn into_memory(self) -> Vec<u8> {
        self.bytes
    }

    /// Decodes plane `number`; where it fails the plane is not decoded.
    pub(super) fn put<E>(
        &mut self,
        number: usize,
        decode: impl FnOnce(&mut [u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        if let (Some(is_decoded), items) = (self.is_decoded.get_mut(number), self.items) {
            *is_decoded = false;
            decode(&mut self.bytes[number * items..(number + 1) * items])?;
            *is_decoded = true;
        }
        Ok(())
    }

    /// Decodes planes from the first one on, plane `number` among them; `decode` gets room for all planes and the bytes that
    /// must be there at least, and says how many are.
    pub(super) fn put_front<E>(
        &mut self,
        number: usize,
        decode: impl FnOnce(&mut [u8], usize) -> Result<usize, E>,
    ) -> Result<(), E> {
        self.is_decoded.fill(false);
        let end = (number + 1) * self.items;
        let bytes = if end > self.bytes.len() { 0 } else { decode(&mut self.bytes, end)? };
        let planes = bytes / self.items.max(1);
        self.is_decoded.iter_mut().take(planes).for_each(|is_decoded| *is_decoded = true);
        Ok(())
    }
}
