//! The arrays of indexes in a storage of arrays, such as the directory `index` within that of a table.
//!
//! In: paths of arrays. Out: arrays, and metadata among the attributes of the storage.
//! Source: `docs/formats/indexes.md`, "Where".
//! Invariant: whoever has the place has begun a change of the storage, and commits or undoes it.

use std::path::PathBuf;

use super::storage::{NodeKind, TableStorage};
use crate::array::{Access, ArraySpec, Fill, Values};
use crate::base::error::{Error, Result};
use crate::base::json::JsonObject;
use crate::base::pool::Job;
use crate::chunk::{Params, Special};
use crate::codec;
use crate::filter::{BYTEDELTA, Pipeline, SHUFFLE, Slot};
use crate::index::store::{AppendItems, IndexPlace, ItemKind, NewIndexArray, PlacedArray};

/// The attribute of an index is called this and its key.
pub(super) const PREFIX: &str = "coquina_index:";

/// A storage as the place of indexes.
pub(super) struct StoragePlace<'s>(pub(super) &'s mut dyn TableStorage);

fn dtype_of(kind: ItemKind) -> &'static str {
    match kind {
        ItemKind::U8 => "|u1",
        ItemKind::U16 => "<u2",
        ItemKind::U32 => "<u4",
        ItemKind::U64 => "<u8",
        ItemKind::Span => "|V16",
        ItemKind::Zone => "|V24",
    }
}

fn spec_of(array: &NewIndexArray) -> Result<ArraySpec> {
    let typesize = array.kind.bytes();
    let mut params =
        Params { codec: codec::by_name(array.codec)?, level: array.level, typesize, ..Params::default() };
    if array.rises {
        let planes = u8::try_from(typesize).unwrap_or(1);
        let slots = [Slot { id: SHUFFLE, meta: 0 }, Slot { id: BYTEDELTA, meta: planes }];
        params.pipeline = Pipeline::new(&slots)?;
    }
    Ok(ArraySpec {
        shape: vec![0],
        chunks: Some(vec![array.chunk]),
        blocks: Some(vec![array.chunk]),
        access: Access::Any,
        dtype: dtype_of(array.kind).to_owned(),
        fill: Fill::Special(Special::Zeros),
        params,
        checksums: true,
        statistics: true,
        tuning: None,
    })
}

impl IndexPlace for StoragePlace<'_> {
    fn names(&self, path: &str) -> Result<Vec<String>> {
        Ok(self.0.names(path))
    }

    fn array(&self, path: &str) -> Result<PlacedArray> {
        if self.0.kind(path) != Some(NodeKind::Array) {
            return Err(Error::corrupt(format!("{path}: there is no array")));
        }
        let array = self.0.array(path)?;
        let dtype = array.dtype().unwrap_or_default().to_owned();
        let is_unsigned = matches!(&dtype[..], "|u1" | "<u2" | "<u4" | "<u8");
        Ok(PlacedArray { source: array, is_unsigned, dtype })
    }

    fn write(
        &mut self,
        arrays: &[NewIndexArray],
        fill: &mut dyn FnMut(&mut AppendItems<'_>) -> Result<()>,
    ) -> Result<()> {
        let mut made = Vec::with_capacity(arrays.len());
        for array in arrays {
            made.push(self.0.create_array(&array.path, &spec_of(array)?, None)?);
        }
        fill(&mut |parts| {
            made.iter().zip(&parts).try_for_each(|(array, part)| {
                let bytes = part.bytes();
                let len = (bytes.len() / array.typesize().max(1)) as u64;
                if len == 0 {
                    return Ok(());
                }
                array.append(0, len, Values::Bytes(bytes), &Job::default())
            })
        })
    }

    fn remove(&mut self, path: &str) -> Result<()> {
        remove_arrays(self.0, path)
    }

    fn set_metadata(&mut self, key: &str, text: &str) -> Result<()> {
        let mut attributes = JsonObject::default();
        attributes.set(format!("{PREFIX}{key}").as_str().into(), text.into());
        self.0.set_attributes("", attributes)
    }

    fn flush(&mut self) -> Result<()> {
        Ok(())
    }

    fn folder(&self) -> Option<PathBuf> {
        let path = PathBuf::from(self.0.place()?);
        path.parent().map(PathBuf::from)
    }
}

/// Removes all arrays at a path, and below: paths between have no nodes of their own.
pub(super) fn remove_arrays(storage: &mut dyn TableStorage, path: &str) -> Result<()> {
    for name in storage.names(path) {
        remove_arrays(storage, &format!("{path}/{name}"))?;
    }
    if storage.kind(path).is_some() { storage.remove(path) } else { Ok(()) }
}
