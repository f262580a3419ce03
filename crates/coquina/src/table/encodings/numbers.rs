//! Numbers, truth values and byte strings of a fixed width: an array.

use std::sync::Arc;

use coquina_kernels::Type;

use super::stored::{
    Encoding, OpenedArray, StoredColumn, check_present, check_type, item_rows, read_items, source,
};
use crate::array::Array;
use crate::base::error::Result;
use crate::query::ColumnValues;
use crate::table::item_part::ItemPart;
use crate::table::item_type::ItemType;
use crate::table::part::{Part, PartRows, RowChoice};
use crate::table::schema::{ColumnSpec, ColumnType};
use crate::table::values::Values;

/// The column of an array.
pub(super) fn open(name: &str, opened: OpenedArray) -> StoredColumn {
    let OpenedArray { array, item } = opened;
    StoredColumn {
        spec: ColumnSpec::new(name, column_type(item)),
        parts: vec![Box::new(ItemPart::new(array, None))],
        encoding: Box::new(Numbers { item }),
        has_mask: false,
    }
}

/// The type of a column of such items.
pub(super) fn column_type(item: ItemType) -> ColumnType {
    match item {
        ItemType::Number(ty) => ColumnType::Number(ty),
        ItemType::Half => ColumnType::Half,
        ItemType::Bytes(width) => ColumnType::Bytes(width),
    }
}

/// What conditions know such items by.
pub(super) fn query_values(item: ItemType, array: &Arc<Array>) -> ColumnValues {
    match item {
        ItemType::Number(ty) => ColumnValues::Numbers { ty, source: source(array) },
        ItemType::Half => ColumnValues::Halves(source(array)),
        ItemType::Bytes(_) => ColumnValues::FixedBytes(source(array)),
    }
}

/// Whether items are numbers or truth values, of half precision too.
pub(super) fn is_number(item: ItemType) -> bool {
    !matches!(item, ItemType::Bytes(_))
}

/// Whether items are truth values.
pub(super) fn is_bool(item: ItemType) -> bool {
    item == ItemType::Number(Type::Bool)
}

struct Numbers {
    item: ItemType,
}

impl Encoding for Numbers {
    fn encode(&self, values: &Values<'_>) -> Result<Vec<PartRows>> {
        check_type(self.item, values)?;
        check_present(values)?;
        Ok(vec![item_rows(self.item, values)])
    }

    fn read(&self, parts: &[Box<dyn Part>], rows: RowChoice<'_>) -> Result<Values<'static>> {
        Ok(Values::new(read_items(&*parts[0], self.item, rows)?))
    }

    fn query(&self, arrays: &[Arc<Array>]) -> Result<ColumnValues> {
        Ok(query_values(self.item, &arrays[0]))
    }
}
