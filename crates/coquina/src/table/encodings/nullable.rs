//! Numbers and truth values that may be missing: an array of them, and an array of truth values, true where there is
//! none.

use std::sync::Arc;

use super::nodes::ValueNodes;
use super::numbers::{column_type, is_bool, is_number, query_values};
use super::stored::{
    Encoding, OpenedArray, StoredColumn, check_type, item_rows, mask_rows, open_array, read_items, read_mask,
};
use crate::array::Array;
use crate::base::error::Result;
use crate::query::ColumnValues;
use crate::table::item_part::ItemPart;
use crate::table::item_type::ItemType;
use crate::table::part::{Part, PartRows, RowChoice};
use crate::table::schema::ColumnSpec;
use crate::table::storage::TableStorage;
use crate::table::values::Values;

/// The column of an array of values, and of a mask if there is one.
pub(super) fn open(storage: &dyn TableStorage, path: &str, nodes: &ValueNodes) -> Result<StoredColumn> {
    let values = open_array(storage, &format!("{path}/{}", nodes.values), is_number)?;
    let Some(mask) = &nodes.mask else { return Ok(super::numbers::open(path, values)) };
    let mask = open_array(storage, &format!("{path}/{mask}"), is_bool)?;
    let OpenedArray { array, item } = values;
    Ok(StoredColumn {
        spec: ColumnSpec::new(path, column_type(item)).nullable(),
        parts: vec![Box::new(ItemPart::new(array, None)), Box::new(ItemPart::new(mask.array, Some(vec![1])))],
        encoding: Box::new(Nullable { item }),
        has_mask: true,
    })
}

struct Nullable {
    item: ItemType,
}

impl Encoding for Nullable {
    fn encode(&self, values: &Values<'_>) -> Result<Vec<PartRows>> {
        check_type(self.item, values)?;
        Ok(vec![item_rows(self.item, values), mask_rows(values)])
    }

    fn read(&self, parts: &[Box<dyn Part>], rows: RowChoice<'_>) -> Result<Values<'static>> {
        let data = read_items(&*parts[0], self.item, rows)?;
        Values::with_missing(data, read_mask(&*parts[1], rows)?)
    }

    fn query(&self, arrays: &[Arc<Array>]) -> Result<ColumnValues> {
        Ok(query_values(self.item, &arrays[0]))
    }
}
