//! What the values of a group may come to, and the names of it.

/// What values come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aggregate {
    /// How many there are: I64.
    Count,
    /// The sum: I64, U64 or F64. Integers wrap.
    Sum,
    /// The mean: F64.
    Mean,
    /// The least; NaN if there is one.
    Min,
    /// The greatest; NaN if there is one.
    Max,
    /// The standard deviation, divided by so many values less than there are: F64.
    Std(u32),
    /// The variance: F64.
    Var(u32),
    /// The first in the order of the rows.
    First,
    /// The last one.
    Last,
    /// Whether one is not 0: a byte.
    Any,
    /// Whether none is 0: a byte.
    All,
    /// How many different ones there are, where all NaN are one value: I64.
    Distinct,
}

impl Aggregate {
    /// Its name; `nunique` for how many different values there are.
    pub fn name(self) -> &'static str {
        match self {
            Self::Count => "count",
            Self::Sum => "sum",
            Self::Mean => "mean",
            Self::Min => "min",
            Self::Max => "max",
            Self::Std(_) => "std",
            Self::Var(_) => "var",
            Self::First => "first",
            Self::Last => "last",
            Self::Any => "any",
            Self::All => "all",
            Self::Distinct => "nunique",
        }
    }
}

/// What values come to, and which.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Aggregation {
    /// What they come to.
    pub aggregate: Aggregate,
    /// Whether NaN are passed over. Where all are, a sum is 0, and what stands for a value is NaN.
    pub skips_nan: bool,
}

impl Aggregation {
    /// The aggregate of this name: `count`, `sum`, `mean`, `min`, `max`, `std`, `var`, `first`, `last`, `any`, `all` or
    /// `nunique`; with `nan` before it NaN are passed over, and `:1` behind a `std` or `var` is its `ddof`.
    pub fn by_name(name: &str) -> Option<Self> {
        let plain = name.strip_prefix("nan");
        let (stem, ddof) = match plain.unwrap_or(name).split_once(':') {
            Some((stem @ ("std" | "var"), ddof)) => (stem, ddof.parse().ok()?),
            Some(_) => return None,
            None => (plain.unwrap_or(name), 0),
        };
        let aggregate = match stem {
            "count" => Aggregate::Count,
            "sum" => Aggregate::Sum,
            "mean" => Aggregate::Mean,
            "min" => Aggregate::Min,
            "max" => Aggregate::Max,
            "std" => Aggregate::Std(ddof),
            "var" => Aggregate::Var(ddof),
            "first" => Aggregate::First,
            "last" => Aggregate::Last,
            "any" => Aggregate::Any,
            "all" => Aggregate::All,
            "nunique" => Aggregate::Distinct,
            _ => return None,
        };
        Some(Self { aggregate, skips_nan: plain.is_some() })
    }

    /// Whether the values themselves matter.
    pub(super) fn needs_values(self) -> bool {
        self.aggregate != Aggregate::Count || self.skips_nan
    }

    /// Whether what is left of the values is no longer what another aggregate looks at.
    pub(super) fn changes_values(self) -> bool {
        self.aggregate == Aggregate::Distinct || self.skips_nan
    }
}
