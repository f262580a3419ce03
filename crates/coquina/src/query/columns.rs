//! What a condition or a result needs to know of a column: what its values are, and the sources of its parts.
//!
//! In: whoever stores columns describes them so. Out: conditions, groups and gathered rows read them.
//! Invariant: numbers are in the machine's byte order, and all sources of a column have as many rows, but for the
//! offsets of texts, which have one more, and for their bytes.

use std::fmt;
use std::sync::Arc;

use coquina_kernels::Type;

use super::first_rows::FirstRows;
use super::scan::Column;
use crate::array::BoxSource;

/// A column of a table.
#[derive(Clone)]
pub struct QueryColumn {
    /// Its path from the table: `b` within `a` is `a/b`.
    pub path: String,
    /// What its values are.
    pub values: ColumnValues,
    /// Bytes, other than 0 where a value is missing. None: each row has a value. Codes of categories need none, as
    /// a code without a category is a missing value.
    pub mask: Option<Arc<dyn BoxSource>>,
    /// Which one it is of the columns that a condition is bound to; nothing for what is computed.
    pub(super) place: Option<ColumnPlace>,
}

/// A column of those that a condition is bound to, or one of the values that each of its rows has.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ColumnPlace {
    /// Its number.
    pub column: usize,
    /// The place of the value along each axis that rows have of their own.
    pub element: Vec<u64>,
}

/// What the values of a column are, and where they come from. The axes of a source behind the first one are those
/// of the values of one row; texts and categories have none.
#[derive(Clone)]
pub enum ColumnValues {
    /// Numbers and truth values; of a truth value every byte but 0 is true.
    Numbers {
        /// The type of an item.
        ty: Type,
        /// The items.
        source: Arc<dyn BoxSource>,
    },
    /// Numbers of half precision, 2 bytes each.
    Halves(Arc<dyn BoxSource>),
    /// Bytes of a fixed width, as NumPy's "S": zeros at the end do not count.
    FixedBytes(Arc<dyn BoxSource>),
    /// Code points of 4 bytes each, of a fixed width, as NumPy's "U".
    FixedPoints(Arc<dyn BoxSource>),
    /// Integers that have names.
    Enumeration {
        /// The type of the integers.
        ty: Type,
        /// The integers.
        source: Arc<dyn BoxSource>,
        /// The names and what they stand for.
        members: Arc<[(String, i64)]>,
    },
    /// Dates and times, or spans of time, as 64-bit integers; the least of these is no time.
    Times {
        /// What an integer counts.
        ty: TimeType,
        /// The integers.
        source: Arc<dyn BoxSource>,
        /// Where dates are shown with a time zone: its name. They are stored in UTC.
        zone: Option<String>,
    },
    /// `PyTables`' seconds since 1970: in a 64-bit integer the seconds above, the microseconds below.
    Seconds(Arc<dyn BoxSource>),
    /// UTF-8 of any length.
    Texts {
        /// Where each text begins, and where the last one ends: one more than rows, 64-bit integers.
        offsets: Arc<dyn BoxSource>,
        /// The bytes of all texts.
        bytes: Arc<dyn BoxSource>,
    },
    /// Places in a list of values. One that the list does not have is a missing value.
    Categories {
        /// The type of the codes, an integer.
        ty: Type,
        /// The codes.
        codes: Arc<dyn BoxSource>,
        /// The values.
        categories: Arc<Categories>,
        /// Whether values compare as they stand in the list.
        is_ordered: bool,
    },
}

/// The values that codes stand for.
#[derive(Clone, Debug, PartialEq)]
pub enum Categories {
    /// Texts.
    Texts(Vec<String>),
    /// Numbers or truth values.
    Numbers {
        /// The type of an item.
        ty: Type,
        /// The items, one behind another.
        items: Vec<u8>,
    },
    /// Dates and times, or spans of time.
    Times {
        /// What an integer counts.
        ty: TimeType,
        /// The integers.
        items: Vec<i64>,
    },
}

impl Categories {
    /// How many there are.
    pub fn len(&self) -> usize {
        match self {
            Self::Texts(texts) => texts.len(),
            Self::Numbers { ty, items } => items.len() / ty.bytes(),
            Self::Times { items, .. } => items.len(),
        }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl QueryColumn {
    /// A column without missing values.
    pub fn new(path: impl Into<String>, values: ColumnValues) -> Self {
        Self { path: path.into(), values, mask: None, place: None }
    }

    /// The same with a mask.
    #[must_use]
    pub fn with_mask(mut self, mask: Arc<dyn BoxSource>) -> Self {
        self.mask = Some(mask);
        self
    }

    /// How many rows there are now: those that all parts have.
    pub fn rows(&self) -> u64 {
        let len = |source: &Arc<dyn BoxSource>| source.shape().first().copied().unwrap_or(0);
        let rows = match &self.values {
            ColumnValues::Texts { offsets, .. } => len(offsets).saturating_sub(1),
            _ => len(self.source()),
        };
        self.mask.as_ref().map_or(rows, |mask| rows.min(len(mask)))
    }

    /// The column with its first rows only: a column of a table may have more that were never committed.
    #[must_use]
    pub fn cut_to(mut self, rows: u64) -> Self {
        let cut = |source: &mut Arc<dyn BoxSource>, rows: u64| {
            if source.shape().first().is_some_and(|&len| len > rows) {
                *source = Arc::new(FirstRows { source: Arc::clone(source), rows });
            }
        };
        let one_more = u64::from(matches!(self.values, ColumnValues::Texts { .. }));
        cut(self.source_mut(), rows.saturating_add(one_more));
        if let Some(mask) = &mut self.mask {
            cut(mask, rows);
        }
        self
    }

    /// The axes of the values of one row.
    pub fn axes(&self) -> Vec<u64> {
        match &self.values {
            ColumnValues::Texts { .. } | ColumnValues::Categories { .. } => Vec::new(),
            _ => self.source().shape().into_iter().skip(1).collect(),
        }
    }

    /// The source with an item for each row: values, codes, or offsets.
    pub fn source(&self) -> &Arc<dyn BoxSource> {
        match &self.values {
            ColumnValues::Numbers { source, .. }
            | ColumnValues::Enumeration { source, .. }
            | ColumnValues::Times { source, .. }
            | ColumnValues::Halves(source)
            | ColumnValues::FixedBytes(source)
            | ColumnValues::FixedPoints(source)
            | ColumnValues::Seconds(source) => source,
            ColumnValues::Texts { offsets, .. } => offsets,
            ColumnValues::Categories { codes, .. } => codes,
        }
    }

    /// The values as a scan gathers them.
    pub(crate) fn gathered(&self) -> Column<'_> {
        match &self.values {
            ColumnValues::Texts { offsets, bytes } => {
                Column::Strings { offsets: &**offsets, bytes: &**bytes }
            }
            _ => Column::Items(&**self.source()),
        }
    }

    /// As [`Self::source`], to put another one in its place.
    pub(super) fn source_mut(&mut self) -> &mut Arc<dyn BoxSource> {
        match &mut self.values {
            ColumnValues::Numbers { source, .. }
            | ColumnValues::Enumeration { source, .. }
            | ColumnValues::Times { source, .. }
            | ColumnValues::Halves(source)
            | ColumnValues::FixedBytes(source)
            | ColumnValues::FixedPoints(source)
            | ColumnValues::Seconds(source) => source,
            ColumnValues::Texts { offsets, .. } => offsets,
            ColumnValues::Categories { codes, .. } => codes,
        }
    }

    /// Whether a value can be missing.
    pub fn is_nullable(&self) -> bool {
        self.mask.is_some() || matches!(self.values, ColumnValues::Categories { .. })
    }

    /// Whether the values are texts.
    pub fn is_text(&self) -> bool {
        match &self.values {
            ColumnValues::FixedBytes(_) | ColumnValues::FixedPoints(_) | ColumnValues::Texts { .. } => true,
            ColumnValues::Categories { categories, .. } => matches!(**categories, Categories::Texts(_)),
            _ => false,
        }
    }
}

/// What an integer counts that is a date, a time or a span of time; as NumPy's `datetime64` and `timedelta64`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TimeType {
    /// Whether it is a span of time, and not one since 1970.
    pub is_span: bool,
    /// The unit.
    pub unit: TimeUnit,
    /// How many units make one step, at least 1.
    pub step: u32,
}

impl TimeType {
    /// Dates and times that count single units.
    pub fn instant(unit: TimeUnit) -> Self {
        Self { is_span: false, unit, step: 1 }
    }

    /// Spans that count single units.
    pub fn span(unit: TimeUnit) -> Self {
        Self { is_span: true, unit, step: 1 }
    }

    /// The type that NumPy writes so: `M8[us]`, `m8[25s]`, with or without a mark of the byte order in front.
    pub fn by_name(name: &str) -> Option<Self> {
        let name = name.trim_start_matches(['<', '>', '=', '|']);
        let names = [("M8[", false), ("m8[", true), ("datetime64[", false), ("timedelta64[", true)];
        let (inner, is_span) =
            names.iter().find_map(|&(start, is_span)| Some((name.strip_prefix(start)?, is_span)))?;
        let inner = inner.strip_suffix(']')?;
        let unit = inner.trim_start_matches(|c: char| c.is_ascii_digit());
        let digits = &inner[..inner.len() - unit.len()];
        let step = if digits.is_empty() { 1 } else { digits.parse().ok().filter(|&step| step > 0)? };
        Some(Self { is_span, unit: TimeUnit::by_name(unit)?, step })
    }
}

impl fmt::Display for TimeType {
    /// NumPy's name: `datetime64[us]`, `timedelta64[25s]`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = if self.is_span { "timedelta64" } else { "datetime64" };
        match self.step {
            1 => write!(f, "{name}[{}]", self.unit.name()),
            step => write!(f, "{name}[{step}{}]", self.unit.name()),
        }
    }
}

/// NumPy's units of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TimeUnit {
    /// Years, which have no one length.
    Year,
    /// Months, which have no one length.
    Month,
    /// Weeks.
    Week,
    /// Days.
    Day,
    /// Hours.
    Hour,
    /// Minutes.
    Minute,
    /// Seconds.
    Second,
    /// 1e-3 seconds.
    Milli,
    /// 1e-6 seconds.
    Micro,
    /// 1e-9 seconds.
    Nano,
    /// 1e-12 seconds.
    Pico,
    /// 1e-15 seconds.
    Femto,
    /// 1e-18 seconds.
    Atto,
}

/// The units with NumPy's names.
const UNITS: [(TimeUnit, &str); 13] = [
    (TimeUnit::Year, "Y"),
    (TimeUnit::Month, "M"),
    (TimeUnit::Week, "W"),
    (TimeUnit::Day, "D"),
    (TimeUnit::Hour, "h"),
    (TimeUnit::Minute, "m"),
    (TimeUnit::Second, "s"),
    (TimeUnit::Milli, "ms"),
    (TimeUnit::Micro, "us"),
    (TimeUnit::Nano, "ns"),
    (TimeUnit::Pico, "ps"),
    (TimeUnit::Femto, "fs"),
    (TimeUnit::Atto, "as"),
];

impl TimeUnit {
    /// NumPy's name.
    pub fn name(self) -> &'static str {
        UNITS.iter().find(|(unit, _)| *unit == self).map_or("", |(_, name)| name)
    }

    /// The unit of this name.
    pub fn by_name(name: &str) -> Option<Self> {
        UNITS.iter().find(|(_, known)| *known == name).map(|(unit, _)| *unit)
    }

    /// How long it is, in attoseconds; nothing for years and months.
    pub fn attoseconds(self) -> Option<i128> {
        const SECOND: i128 = 1_000_000_000_000_000_000;
        Some(match self {
            Self::Year | Self::Month => return None,
            Self::Week => 7 * 86_400 * SECOND,
            Self::Day => 86_400 * SECOND,
            Self::Hour => 3_600 * SECOND,
            Self::Minute => 60 * SECOND,
            Self::Second => SECOND,
            Self::Milli => SECOND / 1_000,
            Self::Micro => SECOND / 1_000_000,
            Self::Nano => SECOND / 1_000_000_000,
            Self::Pico => 1_000_000,
            Self::Femto => 1_000,
            Self::Atto => 1,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::Memory;
    use super::*;

    #[test]
    fn a_type_of_times_is_the_one_that_its_name_says() {
        for (unit, name) in UNITS {
            assert_eq!(TimeUnit::by_name(name), Some(unit));
            for ty in
                [TimeType::instant(unit), TimeType::span(unit), TimeType { step: 25, ..TimeType::span(unit) }]
            {
                assert_eq!(TimeType::by_name(&ty.to_string()), Some(ty));
            }
        }
        assert_eq!(TimeType::by_name("<M8[us]"), Some(TimeType::instant(TimeUnit::Micro)));
        for wrong in ["", "M8", "M8[]", "M8[0s]", "M8[xs]", "m8[s", "i8", "M8[99999999999s]", "M8[s]]"] {
            assert_eq!(TimeType::by_name(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_column_has_the_rows_that_all_of_its_parts_have() {
        let offsets = Memory::of(&[0_i64, 1, 3, 3], 2, None);
        let bytes = Memory::of(b"abc", 2, None);
        let texts = QueryColumn::new("a", ColumnValues::Texts { offsets, bytes });
        assert_eq!(
            (texts.rows(), texts.axes(), texts.is_nullable(), texts.is_text()),
            (3, vec![], false, true)
        );
        let texts = texts.with_mask(Memory::of(&[0_u8, 1], 2, None));
        assert_eq!((texts.rows(), texts.is_nullable()), (2, true));
    }
}
