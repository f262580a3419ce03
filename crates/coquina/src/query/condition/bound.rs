//! A text that was bound to columns: the program of its values, and of where these are missing.

use std::sync::Arc;

use super::super::columns::ColumnPlace;
use super::Result;
use super::nodes::{Item, Nodes};
use super::types::ItemType;
use crate::array::BoxSource;
use crate::compute::Bound;

/// What a text comes to on some columns.
#[derive(Clone)]
pub struct BoundText {
    nodes: Nodes,
    item: Item,
    nulls: Option<Item>,
    column: Option<ColumnPlace>,
}

impl BoundText {
    pub(super) fn new(nodes: Nodes, item: Item, nulls: Option<Item>) -> Self {
        Self { nodes, item, nulls, column: None }
    }

    pub(super) fn of_column(self, column: Option<ColumnPlace>) -> Self {
        Self { column, ..self }
    }

    /// What a value is.
    pub fn ty(&self) -> ItemType {
        self.item.ty
    }

    /// The values, one for each row.
    ///
    /// # Errors
    /// What goes wrong with binding them.
    pub fn source(&self) -> Result<Arc<dyn BoxSource>> {
        self.nodes.source(self.item)
    }

    /// Truth bytes: where a value is missing; nothing where none can be.
    ///
    /// # Errors
    /// As [`Self::source`].
    pub fn nulls(&self) -> Result<Option<Arc<dyn BoxSource>>> {
        self.nulls.map(|nulls| self.nodes.source(nulls)).transpose()
    }

    /// The column that the text is the name of.
    pub fn column(&self) -> Option<&ColumnPlace> {
        self.column.as_ref()
    }

    /// The program of the values, bound to the columns.
    ///
    /// # Errors
    /// As [`Self::source`].
    pub fn bound(&self) -> Result<Bound> {
        self.nodes.bound(self.item)
    }

    /// The program of what [`Self::nulls`] gives, bound to the columns.
    ///
    /// # Errors
    /// As [`Self::source`].
    pub fn bound_nulls(&self) -> Result<Option<Bound>> {
        self.nulls.map(|nulls| self.nodes.bound(nulls)).transpose()
    }
}
