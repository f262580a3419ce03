//! New values for some columns of rows that are selected later: values, or expressions of the row.

use super::values::Values;

/// What rows are changed to, by the name of the column.
///
/// ```
/// use coquina::table::Changes;
///
/// let changes = Changes::new().with("stock", [0_i32]).computed("price", "price * 1.1");
/// assert_eq!(changes.names().collect::<Vec<_>>(), ["stock", "price"]);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Changes<'a> {
    columns: Vec<(String, Change<'a>)>,
}

/// What a column is changed to.
#[derive(Clone, Debug)]
pub(super) enum Change<'a> {
    /// One value for all rows, or one for each.
    Values(Values<'a>),
    /// An expression of the columns, which is computed of each row.
    Expression(String),
}

impl<'a> Changes<'a> {
    /// No changes.
    pub fn new() -> Self {
        Self::default()
    }

    /// These changes and values for one more column: one for all rows, or one for each. They are of the type of the
    /// column, as in a [`Batch`](super::Batch).
    #[must_use]
    pub fn with(self, name: impl Into<String>, values: impl Into<Values<'a>>) -> Self {
        self.and(name.into(), Change::Values(values.into()))
    }

    /// These changes and an expression for one more column. Its values are computed of the rows as they are before the
    /// change, and converted to the type of the column: integers to any number, floats to floats of another precision. A value
    /// that the type does not have is an error.
    #[must_use]
    pub fn computed(self, name: impl Into<String>, expression: impl Into<String>) -> Self {
        self.and(name.into(), Change::Expression(expression.into()))
    }

    /// The names of the columns.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.columns.iter().map(|(name, _)| name.as_str())
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &Change<'a>)> {
        self.columns.iter().map(|(name, change)| (name.as_str(), change))
    }

    fn and(mut self, name: String, change: Change<'a>) -> Self {
        self.columns.retain(|(known, _)| *known != name);
        self.columns.push((name, change));
        self
    }
}
