//! Small arrays in memory, made at once: results of a few items, of which programs make many.
//!
//! One chunk of one block, stored as it is: to compress some hundred bytes costs more than it saves. What is written
//! to the array later is compressed as in any other one.

use std::sync::Arc;

use super::geometry::Grid;
use super::handle::{Array, Opened};
use crate::base::error::{Error, Result};
use crate::base::limits::Limits;
use crate::base::pool::Job;
use crate::chunk::{self, Params};
use crate::frame::b2nd::{METALAYER, Meta};
use crate::store::{BloscFormat, Change, MemoryStore, Store};

impl Array {
    /// An array in memory of these items, in C order.
    ///
    /// # Errors
    /// `Invalid` for bytes that are not the items of the shape; `Limit` for more than a chunk has.
    pub fn small(shape: &[u64], typesize: usize, dtype: &str, items: &[u8]) -> Result<Self> {
        let grid = Grid::new(shape, shape, shape, typesize)?;
        let params = Params { typesize, blocksize: Some(grid.block_bytes().max(1)), ..Params::default() };
        let meta = Meta { dtype: Some(dtype.into()), ..grid.meta() };
        let nchunks = grid.nchunks();
        let wanted = if nchunks == 0 { 0 } else { grid.chunk_bytes() };
        if items.len() != wanted {
            return Err(Error::invalid(format!("{} bytes of items of shape {shape:?}", items.len())));
        }
        let mut store = MemoryStore::new(nchunks, vec![(METALAYER.into(), meta.write())], None);
        if nchunks > 0 {
            let plain = Params { level: 0, ..params };
            let entry = store.put(chunk::encode(items, &plain, &Job::inline())?, None)?;
            store.apply(Change { nchunks: Some(nchunks), entries: vec![(0, entry)], ..Change::default() })?;
        }
        let opened = Opened { store: Box::new(store), format: Arc::new(BloscFormat(params)), library: None };
        Ok(Self::new(opened, grid, meta, params, Limits::default()))
    }
}

#[cfg(test)]
mod tests {
    use super::super::geometry::{Selection, Window};
    use super::*;

    #[test]
    fn what_goes_in_comes_out() {
        for shape in [&[][..], &[1], &[3, 4], &[0, 4], &[70, 10]] {
            let count: u64 = shape.iter().product();
            let items: Vec<u8> = (0..u16::try_from(count).unwrap()).flat_map(u16::to_le_bytes).collect();
            let array = Array::small(shape, 2, "<u2", &items).unwrap();
            let mut out = vec![0; items.len()];
            let window = Window { offset: 0, bytes: 2 };
            array.read(&Selection::all(shape), window, &mut out, &Job::inline()).unwrap();
            assert_eq!(out, items, "{shape:?}");
            assert_eq!(array.dtype(), Some("<u2"));
            assert!(array.is_writable());
        }
        assert!(Array::small(&[3], 2, "<u2", &[0; 5]).is_err());
    }
}
