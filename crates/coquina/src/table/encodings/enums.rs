//! Enumerations: an array of integers that have names. Values are the integers; names stand for them where they are
//! written.

use std::sync::Arc;

use coquina_kernels::Type;

use super::stored::{
    Encoding, OpenedArray, StoredColumn, check_present, check_type, item_rows, read_items, source,
};
use crate::array::Array;
use crate::base::error::{Error, Result};
use crate::query::ColumnValues;
use crate::table::data::Data;
use crate::table::item_part::ItemPart;
use crate::table::item_type::ItemType;
use crate::table::part::{Part, PartRows, RowChoice};
use crate::table::schema::{ColumnSpec, ColumnType};
use crate::table::storage::Members;
use crate::table::values::Values;

/// The column of an array of integers with names.
pub(super) fn open(name: &str, opened: OpenedArray, members: Members) -> Result<StoredColumn> {
    let ItemType::Number(number) = opened.item else { return Err(no_integers(opened.item)) };
    let encoding = Enumeration { number, members };
    encoding.check().map_err(|error| Error::unsupported(error.to_string()))?;
    let members = encoding.members.clone();
    // Files do not keep the order of the names: of numbers without a 0 the least one is the default.
    let least = encoding.members.iter().map(|(_, number)| *number).min();
    let has_zero = encoding.members.iter().any(|(_, number)| *number == 0);
    let new_item = least.filter(|_| !has_zero).map(|least| encoding.bytes_of(least));
    Ok(StoredColumn {
        spec: ColumnSpec::new(name, ColumnType::Enum { number, members }),
        parts: vec![Box::new(ItemPart::new(opened.array, new_item))],
        encoding: Box::new(encoding),
        has_mask: false,
    })
}

fn no_integers(item: ItemType) -> Error {
    Error::unsupported(format!("an enumeration names integers, not {}", item.name()))
}

/// Complains of an enumeration without names, and of one whose numbers its type does not have.
pub(super) fn check(number: Type, members: &Members) -> Result<()> {
    Enumeration { number, members: members.clone() }.check()
}

/// Integers with names.
struct Enumeration {
    number: Type,
    members: Members,
}

impl Enumeration {
    fn item(&self) -> ItemType {
        ItemType::Number(self.number)
    }

    /// Whether there are names, each of a number that the type has.
    fn check(&self) -> Result<()> {
        if !self.item().is_integer() {
            return Err(no_integers(self.item()));
        }
        if self.members.is_empty() {
            return Err(Error::invalid("an enumeration needs at least one name"));
        }
        match self.members.iter().find(|(_, number)| self.number_of(&self.bytes_of(*number)) != *number) {
            None => Ok(()),
            Some((name, number)) => {
                let ty = self.number.name();
                Err(Error::invalid(format!("{name:?} is {number}, which does not fit in {ty}")))
            }
        }
    }

    /// A number as an item.
    fn bytes_of(&self, number: i128) -> Vec<u8> {
        let bytes = number.to_le_bytes();
        let mut item = bytes[..self.number.bytes()].to_vec();
        if cfg!(target_endian = "big") {
            item.reverse();
        }
        item
    }

    /// An item as a number.
    fn number_of(&self, item: &[u8]) -> i128 {
        let mut item = item.to_vec();
        if cfg!(target_endian = "big") {
            item.reverse();
        }
        let is_signed = matches!(self.number, Type::I8 | Type::I16 | Type::I32 | Type::I64);
        let is_negative = is_signed && item.last().is_some_and(|byte| byte & 0x80 != 0);
        let mut bytes = [if is_negative { 0xff } else { 0 }; 16];
        bytes[..item.len()].copy_from_slice(&item);
        i128::from_le_bytes(bytes)
    }

    /// The numbers of names.
    fn named(&self, values: &Values<'_>) -> Result<PartRows> {
        let mut bytes = Vec::new();
        for name in values.as_texts().into_iter().flat_map(|texts| texts.iter()) {
            let Some((_, number)) = self.members.iter().find(|(known, _)| known == name) else {
                return Err(Error::invalid(format!("{name:?} is not one of {}", self.names())));
            };
            bytes.extend_from_slice(&self.bytes_of(*number));
        }
        Ok(PartRows::items(self.number.bytes(), bytes))
    }

    fn names(&self) -> String {
        self.members.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(", ")
    }
}

impl Encoding for Enumeration {
    fn encode(&self, values: &Values<'_>) -> Result<Vec<PartRows>> {
        check_present(values)?;
        if let Data::Text(_) = values.data() {
            return Ok(vec![self.named(values)?]);
        }
        check_type(self.item(), values)?;
        let bytes = values.data().bytes();
        let numbers = bytes.chunks_exact(self.number.bytes()).map(|item| self.number_of(item));
        let known: Vec<i128> = self.members.iter().map(|(_, number)| *number).collect();
        match numbers.into_iter().find(|number| !known.contains(number)) {
            None => Ok(vec![item_rows(self.item(), values)]),
            Some(number) => Err(Error::invalid(format!("{number} is not a value of {}", self.names()))),
        }
    }

    fn read(&self, parts: &[Box<dyn Part>], rows: RowChoice<'_>) -> Result<Values<'static>> {
        Ok(Values::new(read_items(&*parts[0], self.item(), rows)?))
    }

    fn query(&self, arrays: &[Arc<Array>]) -> Result<ColumnValues> {
        let member = |(name, number): &(String, i128)| Some((name.clone(), i64::try_from(*number).ok()?));
        let members: Option<Vec<_>> = self.members.iter().map(member).collect();
        let members =
            members.ok_or_else(|| Error::unsupported("the numbers of an enumeration must fit in int64"))?;
        Ok(ColumnValues::Enumeration { ty: self.number, source: source(&arrays[0]), members: members.into() })
    }
}
