//! Numbers and truth values that may be missing: an array of them, and an array of truth values, true where there is
//! none.

use std::sync::Arc;

use coquina_kernels::Type;

use super::forms::{AwkwardParts, awkward_numbers, marked};
use super::numbers::{column_type, is_bool, is_number, query_values};
use super::stored::{
    Encoding, OpenedArray, StoredColumn, array_marks, check_type, item_rows, marks, mask_rows, open_array,
    read_items, read_mask,
};
use crate::array::Array;
use crate::base::error::Result;
use crate::base::json::JsonObject;
use crate::query::ColumnValues;
use crate::table::item_part::ItemPart;
use crate::table::item_type::ItemType;
use crate::table::options::ArrayOptions;
use crate::table::part::{Part, PartRows, RowChoice};
use crate::table::schema::ColumnSpec;
use crate::table::storage::TableStorage;
use crate::table::values::Values;

pub(super) const MASK: ItemType = ItemType::Number(Type::Bool);

/// Makes the arrays of a column.
pub(super) fn make(
    storage: &mut dyn TableStorage,
    path: &str,
    item: ItemType,
    options: &ArrayOptions,
) -> Result<()> {
    storage.create_group(path)?;
    let Made { marks, values, mask } = layout(item);
    storage.set_attributes(path, marks)?;
    for (name, item) in [(values, item), (mask, MASK)] {
        let path = format!("{path}/{name}");
        storage.create_array(&path, &options.items(item), None)?;
        storage.set_attributes(&path, array_marks())?;
    }
    Ok(())
}

/// What the group of a column says, and what its arrays are called.
struct Made {
    marks: JsonObject,
    values: String,
    mask: String,
}

/// AnnData has an encoding for integers and one for truth values; other numbers are an awkward array.
fn layout(item: ItemType) -> Made {
    let kind = match item {
        _ if is_bool(item) => "nullable-boolean",
        _ if item.is_integer() => "nullable-integer",
        _ => {
            let (form, parts) = awkward_numbers(&item.name());
            return Made { marks: marked(&form), values: parts.data, mask: parts.mask.unwrap_or_default() };
        }
    };
    Made { marks: marks(kind, "0.1.0"), values: "values".into(), mask: "mask".into() }
}

/// The column of a group of values and mask.
pub(super) fn open(storage: &dyn TableStorage, path: &str) -> Result<StoredColumn> {
    let parts = AwkwardParts { data: "values".into(), offsets: None, mask: Some("mask".into()) };
    open_parts(storage, path, &parts)
}

/// The column of an awkward array of numbers.
pub(super) fn open_parts(
    storage: &dyn TableStorage,
    path: &str,
    parts: &AwkwardParts,
) -> Result<StoredColumn> {
    let values = open_array(storage, &format!("{path}/{}", parts.data), is_number)?;
    let Some(mask) = &parts.mask else { return Ok(super::numbers::open(path, values)) };
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
