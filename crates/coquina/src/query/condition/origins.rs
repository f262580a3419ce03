//! What the inputs of a condition are, for those who can answer in another way than by reading: what is asked of which
//! column.

use super::super::columns::{ColumnPlace, QueryColumn};
use super::types::ItemType;

/// What an input of a condition gives for each row.
#[derive(Clone, Debug, PartialEq)]
pub enum Origin {
    /// The values of a column: the integers of times, the seconds and microseconds of seconds.
    Values(ColumnPlace),
    /// Where a column has no value.
    Mask(ColumnPlace),
    /// What a table has for the codes of a column.
    Lookup {
        /// The column.
        of: ColumnPlace,
        /// What the items are.
        ty: ItemType,
        /// The items of the codes from 0 on.
        table: Vec<u8>,
        /// The item of all others.
        other: Vec<u8>,
    },
    /// Whether the values of a column are among these items.
    Among(ColumnPlace, ItemType, Vec<u8>),
    /// Whether the texts of a column are among these, in UTF-8.
    AmongTexts(ColumnPlace, Vec<Vec<u8>>),
    /// How the texts of a column compare with one in UTF-8, by NumPy's name, or whether they match it.
    Matches(ColumnPlace, &'static str, Vec<u8>),
    /// The rows of the parameter of this name.
    Parameter(String),
    /// Anything else.
    Other,
}

impl Origin {
    /// What is asked of a column, if it is one that the condition was bound to.
    pub(super) fn of(column: &QueryColumn, asked: impl FnOnce(ColumnPlace) -> Self) -> Self {
        column.place.clone().map_or(Self::Other, asked)
    }
}
