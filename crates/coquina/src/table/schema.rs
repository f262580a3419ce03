//! What a table's columns are: their names, the types of their values, and whether these may be missing.

use std::fmt;
use std::sync::Arc;

use coquina_kernels::Type;

use super::item::Item;
use super::storage::Members;
use super::texts::Texts;
use super::values::Values;
use crate::base::error::{Error, Result};
use crate::query::TimeType;

/// The type of a column's values.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ColumnType {
    /// Numbers and truth values.
    Number(Type),
    /// Numbers of half precision.
    Half,
    /// Byte strings of a fixed width; shorter ones end with zeros.
    Bytes(usize),
    /// Text of any length.
    Text,
    /// Dates and times since 1970-01-01 UTC, or spans of time, as 64-bit integers. `i64::MIN` is none.
    Times {
        /// What an integer counts.
        ty: TimeType,
        /// The time zone that dates are shown in, such as `Europe/Berlin` or `+02:00`.
        zone: Option<String>,
    },
    /// Integers that have names.
    Enum {
        /// The type of the integers.
        number: Type,
        /// The number of each name.
        members: Members,
    },
    /// Values out of a list that is stored once. New values join the list, unless it is ordered.
    Categories {
        /// The type of the values: text, numbers, or times.
        of: Box<ColumnType>,
        /// The values of the list.
        values: Arc<Values<'static>>,
        /// Whether the values stand in an order of their own.
        ordered: bool,
    },
}

impl ColumnType {
    /// Times, by NumPy's name of the type: `datetime64[ns]`, `timedelta64[10s]`.
    ///
    /// # Errors
    /// `Invalid` for another name.
    pub fn times(name: &str) -> Result<Self> {
        let ty = TimeType::by_name(name);
        let hint = "no type of times, as \"datetime64[ns]\" and \"timedelta64[10s]\" are";
        let ty = ty.ok_or_else(|| Error::invalid(format!("{name:?} is {hint}")))?;
        Ok(Self::Times { ty, zone: None })
    }

    /// Categories of text, of which none is known yet.
    pub fn categories() -> Self {
        let values = Arc::new(Texts::default().into());
        Self::Categories { of: Box::new(Self::Text), values, ordered: false }
    }

    /// Categories of text that stand in this order.
    pub fn ordered<'t>(values: impl IntoIterator<Item = &'t str>) -> Self {
        let values: Texts = values.into_iter().collect();
        Self::Categories { of: Box::new(Self::Text), values: Arc::new(values.into()), ordered: true }
    }
}

impl fmt::Display for ColumnType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(ty) => f.write_str(ty.name()),
            Self::Half => f.write_str("float16"),
            Self::Bytes(width) => write!(f, "bytes of width {width}"),
            Self::Text => f.write_str("text"),
            Self::Times { ty, zone: None } => write!(f, "{ty}"),
            Self::Times { ty, zone: Some(zone) } => write!(f, "{ty} shown in {zone}"),
            Self::Enum { number, .. } => write!(f, "enumeration of {}", number.name()),
            Self::Categories { of, ordered: false, .. } => write!(f, "categories of {of}"),
            Self::Categories { of, ordered: true, .. } => write!(f, "ordered categories of {of}"),
        }
    }
}

/// What a column is.
///
/// ```
/// use coquina::table::{ColumnSpec, ColumnType};
///
/// let price = ColumnSpec::number::<f64>("price");
/// let time = ColumnSpec::new("time", ColumnType::times("datetime64[ns]")?);
/// let name = ColumnSpec::text("name").nullable();
/// assert_eq!(time.ty().to_string(), "datetime64[ns]");
/// assert!(name.is_nullable() && !price.is_nullable());
/// # Ok::<(), coquina::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ColumnSpec {
    name: String,
    ty: ColumnType,
    is_nullable: bool,
    default: Option<Values<'static>>,
}

impl ColumnSpec {
    /// A column none of whose values is missing, but for those of times and categories, which have a value for none.
    pub fn new(name: impl Into<String>, ty: ColumnType) -> Self {
        let is_nullable = matches!(ty, ColumnType::Categories { .. });
        Self { name: name.into(), ty, is_nullable, default: None }
    }

    /// A column of numbers or truth values.
    pub fn number<T: Item>(name: impl Into<String>) -> Self {
        Self::new(name, ColumnType::Number(T::TYPE))
    }

    /// A column of text.
    pub fn text(name: impl Into<String>) -> Self {
        Self::new(name, ColumnType::Text)
    }

    /// This column, with values that may be missing.
    #[must_use]
    pub fn nullable(mut self) -> Self {
        self.is_nullable = true;
        self
    }

    /// This column with a default: what rows get that are there when the column is added, and for which no values are
    /// given. It is not stored.
    ///
    /// # Errors
    /// `Invalid` unless it is one value.
    pub fn with_default(mut self, value: impl Into<Values<'static>>) -> Result<Self> {
        let value = value.into();
        if value.len() != 1 {
            return Err(Error::invalid(format!(
                "column {:?}: {} values as its default",
                self.name,
                value.len()
            )));
        }
        self.default = Some(value);
        Ok(self)
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The type of its values.
    pub fn ty(&self) -> &ColumnType {
        &self.ty
    }

    /// Whether values may be missing.
    pub fn is_nullable(&self) -> bool {
        self.is_nullable
    }

    /// What rows get for which no values are given.
    pub fn default_value(&self) -> Option<&Values<'static>> {
        self.default.as_ref()
    }
}

/// The columns of a table, in order.
///
/// ```
/// use coquina::table::{ColumnSpec, Schema};
///
/// let schema = Schema::new([ColumnSpec::number::<f64>("price"), ColumnSpec::text("name")]);
/// assert_eq!(schema.names().collect::<Vec<_>>(), ["price", "name"]);
/// assert_eq!(schema.get("name").map(|column| column.ty().to_string()).as_deref(), Some("text"));
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Schema {
    columns: Vec<ColumnSpec>,
}

impl Schema {
    /// A schema of these columns.
    pub fn new(columns: impl IntoIterator<Item = ColumnSpec>) -> Self {
        Self { columns: columns.into_iter().collect() }
    }

    /// The columns.
    pub fn columns(&self) -> &[ColumnSpec] {
        &self.columns
    }

    /// Their names.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.columns.iter().map(ColumnSpec::name)
    }

    /// The column of a name.
    pub fn get(&self, name: &str) -> Option<&ColumnSpec> {
        self.columns.iter().find(|column| column.name == name)
    }
}
