//! Text of any length: offsets, the bytes of all texts, and where text may be missing an array of truth values.

use std::sync::Arc;

use coquina_kernels::Type;

use super::nodes::TextNodes;
use super::numbers::is_bool;
use super::stored::{Encoding, StoredColumn, check_present, mask_rows, open_array, read_mask, source};
use crate::array::Array;
use crate::base::error::{Error, Result};
use crate::query::ColumnValues;
use crate::table::data::Data;
use crate::table::item_part::ItemPart;
use crate::table::item_type::ItemType;
use crate::table::part::{Part, PartRows, RowChoice};
use crate::table::schema::ColumnSpec;
use crate::table::storage::TableStorage;
use crate::table::text_part::TextPart;
use crate::table::texts::Texts;
use crate::table::values::Values;

const OFFSET: ItemType = ItemType::Number(Type::I64);
const BYTE: ItemType = ItemType::Number(Type::U8);

/// The column of these arrays.
pub(super) fn open(storage: &dyn TableStorage, path: &str, nodes: &TextNodes) -> Result<StoredColumn> {
    let TextNodes { offsets, bytes, mask } = nodes;
    let offsets = open_array(storage, &format!("{path}/{offsets}"), |item| item == OFFSET)?;
    let bytes = open_array(storage, &format!("{path}/{bytes}"), |item| item == BYTE)?;
    let mut spec = ColumnSpec::text(path);
    let mut parts: Vec<Box<dyn Part>> = vec![Box::new(TextPart::new(offsets.array, bytes.array))];
    if let Some(mask) = mask {
        let mask = open_array(storage, &format!("{path}/{mask}"), is_bool)?;
        parts.push(Box::new(ItemPart::new(mask.array, Some(vec![1]))));
        spec = spec.nullable();
    }
    let has_mask = parts.len() > 1;
    Ok(StoredColumn { spec, parts, encoding: Box::new(TextEncoding { has_mask }), has_mask })
}

struct TextEncoding {
    has_mask: bool,
}

impl Encoding for TextEncoding {
    fn encode(&self, values: &Values<'_>) -> Result<Vec<PartRows>> {
        let Data::Text(texts) = values.data() else {
            return Err(Error::invalid(format!("takes text, not {}", values.data().type_name())));
        };
        if !self.has_mask {
            check_present(values)?;
            return Ok(vec![PartRows::Texts(Texts::clone(texts))]);
        }
        let present = |row: usize| if values.is_missing(row) { None } else { texts.bytes_at(row) };
        let texts = match values.first_missing() {
            None => Texts::clone(texts),
            Some(_) => (0..texts.len()).map(|row| present(row).unwrap_or_default()).collect(),
        };
        Ok(vec![PartRows::Texts(texts), mask_rows(values)])
    }

    fn read(&self, parts: &[Box<dyn Part>], rows: RowChoice<'_>) -> Result<Values<'static>> {
        let texts = parts[0].texts(rows)?;
        texts.check_utf8()?;
        let texts = Data::Text(std::borrow::Cow::Owned(texts));
        match parts.get(1) {
            Some(mask) => Values::with_missing(texts, read_mask(&**mask, rows)?),
            None => Ok(Values::new(texts)),
        }
    }

    fn query(&self, arrays: &[Arc<Array>]) -> Result<ColumnValues> {
        Ok(ColumnValues::Texts { offsets: source(&arrays[0]), bytes: source(&arrays[1]) })
    }
}
