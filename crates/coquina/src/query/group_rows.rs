//! What is read of groups: a row for each, its keys and what was asked of it.

use super::condition::ItemType;
use super::scan::Part;
use super::select::SelectedColumn;

/// A row for each group, in the order of their first rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupRows {
    /// How many groups there are.
    pub len: usize,
    /// For each column of the keys its value in each group, as [`Select::read`](super::Select::read) gives them.
    pub keys: Vec<SelectedColumn>,
    /// What was asked, in this order.
    pub aggregates: Vec<GroupColumn>,
}

/// An aggregate of each group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupColumn {
    /// What the items are; none for texts.
    pub ty: Option<ItemType>,
    /// The items, in the machine's byte order, or the texts.
    pub values: Part,
    /// A byte for each group, other than 0 where it has no value that could be the least, the first, the mean and the like;
    /// none if all have.
    pub mask: Option<Vec<u8>>,
}
