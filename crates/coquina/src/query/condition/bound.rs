//! A text that was bound to columns: its nodes, in the order in which they are computed, and what their inputs are.
//!
//! Invariant: what is shown of the nodes is what is computed.

use std::sync::Arc;

use super::super::columns::ColumnPlace;
use super::Result;
use super::nodes::{Item, Nodes};
use super::origins::Origin;
use super::types::ItemType;
use crate::array::BoxSource;
use crate::compute::Bound;
use crate::expr::Node;

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

    /// The number of the node of the values.
    pub fn node(&self) -> usize {
        self.item.node
    }

    /// The number of the node that says where a value is missing.
    pub fn nulls_node(&self) -> Option<usize> {
        self.nulls.map(|nulls| nulls.node)
    }

    /// The nodes, each behind what it is computed of.
    pub fn nodes(&self) -> impl Iterator<Item = BoundNode<'_>> {
        let parts = self.nodes.nodes.iter().zip(&self.nodes.types).zip(&self.nodes.taken);
        parts.map(|((node, ty), taken)| BoundNode { node, ty: *ty, taken })
    }

    /// The inputs that nodes load, and what they are.
    pub fn inputs(&self) -> impl Iterator<Item = (&Arc<dyn BoxSource>, &Origin)> {
        self.nodes.inputs.iter().map(|input| &input.source).zip(&self.nodes.origins)
    }

    /// The program of a node, bound to the inputs.
    ///
    /// # Errors
    /// As [`Self::source`].
    pub fn bound(&self, node: usize) -> Result<Bound> {
        self.nodes.bound(Item { node, ty: self.nodes.types[node] })
    }
}

/// A node of a text.
#[derive(Clone, Copy)]
pub struct BoundNode<'b> {
    /// What it does.
    pub node: &'b Node,
    /// What its items are.
    pub ty: ItemType,
    /// As what it takes the items that it is computed of: times are integers to some.
    pub taken: &'b [ItemType],
}
