//! A plain model of tables: kinds of columns, cells, and vectors of these.

mod goldens;
pub(crate) mod steps;

use std::collections::BTreeSet;
use std::path::PathBuf;

use coquina::table::{ColumnSpec, ColumnType, MemoryStorage, TableOptions, TableStorage, Texts, Values};
use coquina_kernels::Type;

/// The bytes of a value; `None` for a missing one.
pub(crate) type Cell = Option<Vec<u8>>;

/// The name of a directory that is removed in the end.
pub(crate) struct Folder(pub(crate) PathBuf);

impl Folder {
    pub(crate) fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("coquina-table-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A storage in memory.
pub(crate) fn memory() -> Box<dyn TableStorage> {
    Box::new(MemoryStorage::new())
}

/// Chunks and blocks of so many rows.
pub(crate) fn options(chunk_rows: u64, block_rows: u64) -> TableOptions {
    TableOptions { chunk_rows: Some(chunk_rows), block_rows: Some(block_rows), ..TableOptions::default() }
}

macro_rules! kinds {
    ($($kind:ident),* $(,)?) => {
        /// Kinds of columns.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Kind { $($kind),* }

        impl Kind {
            pub(crate) const ALL: &'static [Self] = &[$(Self::$kind),*];
        }
    };
}
kinds!(
    Bool,
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    U64,
    F16,
    F32,
    F64,
    C64,
    C128,
    Bytes,
    Text,
    NullableText,
    Dates,
    Spans,
    Enum,
    NullableBool,
    NullableI16,
    NullableU64,
    NullableF16,
    NullableF64,
    NullableC128,
    Categories,
    Ordered,
    NumberCategories,
    DateCategories,
);

const WORDS: [&str; 6] = ["low", "middle", "high", "", "größer", "a rather long word, longer than others"];

impl Kind {
    fn number(self) -> Option<Type> {
        Some(match self {
            Self::Bool | Self::NullableBool => Type::Bool,
            Self::I8 | Self::Enum => Type::I8,
            Self::I16 | Self::NullableI16 => Type::I16,
            Self::I32 | Self::NumberCategories => Type::I32,
            Self::I64 | Self::Dates | Self::Spans | Self::DateCategories => Type::I64,
            Self::U8 => Type::U8,
            Self::U16 => Type::U16,
            Self::U32 => Type::U32,
            Self::U64 | Self::NullableU64 => Type::U64,
            Self::F32 => Type::F32,
            Self::F64 | Self::NullableF64 => Type::F64,
            Self::C64 => Type::C64,
            Self::C128 | Self::NullableC128 => Type::C128,
            _ => return None,
        })
    }

    /// Whether it has values for none.
    pub(crate) fn may_be_missing(self) -> bool {
        let name = format!("{self:?}");
        name.starts_with("Nullable")
            || name.contains("Categories")
            || name.ends_with('s') && name != "Bytes"
            || self == Self::Ordered
    }

    /// What describes such a column.
    pub(crate) fn spec(self, name: &str) -> ColumnSpec {
        let ty = match self {
            Self::F16 | Self::NullableF16 => ColumnType::Half,
            Self::Bytes => ColumnType::Bytes(5),
            Self::Text | Self::NullableText => ColumnType::Text,
            Self::Dates => ColumnType::times("datetime64[ns]").unwrap(),
            Self::Spans => ColumnType::times("timedelta64[10s]").unwrap(),
            Self::Enum => {
                let members = vec![("minus".into(), -3), ("one".into(), 1), ("seven".into(), 7)];
                ColumnType::Enum { number: Type::I8, members }
            }
            Self::Categories => ColumnType::categories(),
            Self::Ordered => ColumnType::ordered(WORDS),
            Self::NumberCategories => ColumnType::Categories {
                of: Box::new(ColumnType::Number(Type::I32)),
                values: std::sync::Arc::new(vec![5_i32].into()),
                ordered: false,
            },
            Self::DateCategories => ColumnType::Categories {
                of: Box::new(ColumnType::times("datetime64[D]").unwrap()),
                values: std::sync::Arc::new(Vec::<i64>::new().into()),
                ordered: false,
            },
            other => ColumnType::Number(other.number().unwrap()),
        };
        let spec = ColumnSpec::new(name, ty);
        if format!("{self:?}").starts_with("Nullable") { spec.nullable() } else { spec }
    }

    /// Value `n`: any bits that the kind has.
    pub(crate) fn cell(self, n: usize) -> Cell {
        if self.may_be_missing() && n % 4 == 1 {
            return None;
        }
        Some(match self {
            Self::Bool | Self::NullableBool => vec![u8::from(n.is_multiple_of(3))],
            Self::Enum => vec![[1, 7, -3_i8][n % 3].to_le_bytes()[0]],
            Self::Bytes => [&b"ab"[..], b"", b"abcde", b"\xff\x00z"][n % 4]
                .iter()
                .copied()
                .chain([0; 5])
                .take(5)
                .collect(),
            Self::Text | Self::NullableText | Self::Categories | Self::Ordered => {
                WORDS[n % WORDS.len()].into()
            }
            Self::NumberCategories => (n % 5).to_le_bytes()[..4].to_vec(),
            Self::DateCategories => (n % 7 * 1000).to_le_bytes().to_vec(),
            Self::F16 | Self::NullableF16 => ((n * 9973) % 65536).to_le_bytes()[..2].to_vec(),
            other => {
                let size = other.number().unwrap().bytes();
                let bits = (n as u64 + 1)
                    .wrapping_mul(0x9e37_79b9_7f4a_7c15)
                    .rotate_left(u32::try_from(n % 64).unwrap());
                // NaNs of any bits too.
                let bits = if n.is_multiple_of(5) { u64::MAX - n as u64 } else { bits };
                bits.to_le_bytes().into_iter().cycle().take(size).collect()
            }
        })
    }

    /// So many values.
    pub(crate) fn cells(self, count: usize, seed: usize) -> Vec<Cell> {
        (0..count).map(|n| self.cell(n * 13 + seed)).collect()
    }

    /// What a row has that was added without values.
    pub(crate) fn empty(self) -> Cell {
        match self {
            // They have zero, which is a time.
            Self::Dates | Self::Spans => Some(vec![0; 8]),
            Self::Enum => Some(vec![(-3_i8).to_le_bytes()[0]]),
            Self::Text => Some(Vec::new()),
            Self::Bytes => Some(vec![0; 5]),
            Self::F16 => Some(vec![0; 2]),
            _ if self.may_be_missing() => None,
            other => Some(vec![0; other.number().unwrap().bytes()]),
        }
    }
}

/// Cells as values.
pub(crate) fn values(kind: Kind, cells: &[Cell]) -> Values<'static> {
    let missing: Vec<bool> = cells.iter().map(Option::is_none).collect();
    let size = kind.number().map_or(2, Type::bytes);
    let bytes: Vec<u8> =
        cells.iter().flat_map(|cell| cell.clone().unwrap_or_else(|| vec![0; size])).collect();
    let data = match kind {
        Kind::Text | Kind::NullableText | Kind::Categories | Kind::Ordered => {
            let texts = cells
                .iter()
                .map(|cell| cell.as_deref().map_or("", |text| std::str::from_utf8(text).unwrap()));
            return with_missing(Values::from(texts.collect::<Texts>()), &missing);
        }
        Kind::Bytes => return Values::byte_strings(5, bytes).unwrap(),
        Kind::F16 | Kind::NullableF16 => {
            let bits = bytes.chunks_exact(2).map(|item| u16::from_le_bytes([item[0], item[1]]));
            return with_missing(Values::half(bits.collect::<Vec<_>>()), &missing);
        }
        other => number_values(other.number().unwrap(), &bytes),
    };
    with_missing(data, &missing)
}

fn with_missing(values: Values<'static>, missing: &[bool]) -> Values<'static> {
    if !missing.contains(&true) {
        return values;
    }
    Values::with_missing(values.into_data(), missing.to_vec()).unwrap()
}

fn number_values(ty: Type, bytes: &[u8]) -> Values<'static> {
    macro_rules! of {
        ($number:ty) => {
            bytes
                .chunks_exact(size_of::<$number>())
                .map(|item| <$number>::from_le_bytes(item.try_into().unwrap()))
                .collect::<Vec<_>>()
        };
    }
    match ty {
        Type::Bool => bytes.iter().map(|&byte| byte != 0).collect::<Vec<_>>().into(),
        Type::I8 => of!(i8).into(),
        Type::I16 => of!(i16).into(),
        Type::I32 => of!(i32).into(),
        Type::I64 => of!(i64).into(),
        Type::U8 => of!(u8).into(),
        Type::U16 => of!(u16).into(),
        Type::U32 => of!(u32).into(),
        Type::U64 => of!(u64).into(),
        Type::F32 => of!(f32).into(),
        Type::F64 => of!(f64).into(),
        Type::C64 => of!(f32).chunks_exact(2).map(|pair| [pair[0], pair[1]]).collect::<Vec<_>>().into(),
        Type::C128 => of!(f64).chunks_exact(2).map(|pair| [pair[0], pair[1]]).collect::<Vec<_>>().into(),
    }
}

/// A column of the model.
#[derive(Clone, Debug)]
pub(crate) struct ModelColumn {
    pub(crate) name: String,
    pub(crate) kind: Kind,
    pub(crate) cells: Vec<Cell>,
}

/// Columns as vectors.
#[derive(Clone, Debug, Default)]
pub(crate) struct Model {
    pub(crate) columns: Vec<ModelColumn>,
    named: usize,
}

impl Model {
    pub(crate) fn rows(&self) -> usize {
        self.columns.first().map_or(0, |column| column.cells.len())
    }

    pub(crate) fn new_name(&mut self) -> String {
        self.named += 1;
        format!("column {}", self.named)
    }

    pub(crate) fn add(&mut self, name: &str, kind: Kind, cells: Vec<Cell>) {
        self.columns.push(ModelColumn { name: name.into(), kind, cells });
    }

    pub(crate) fn append(&mut self, rows: usize, seed: usize) {
        self.columns.iter_mut().for_each(|one| one.cells.extend(one.kind.cells(rows, seed)));
    }

    pub(crate) fn write_at(&mut self, rows: &[usize], seed: usize) {
        for one in &mut self.columns {
            let cells = one.kind.cells(rows.len(), seed);
            rows.iter().zip(cells).for_each(|(&row, cell)| one.cells[row] = cell);
        }
    }

    pub(crate) fn delete(&mut self, rows: &[usize]) {
        let gone: BTreeSet<usize> = rows.iter().copied().collect();
        for one in &mut self.columns {
            let kept = one.cells.iter().enumerate().filter(|(row, _)| !gone.contains(row));
            one.cells = kept.map(|(_, cell)| cell.clone()).collect();
        }
    }

    pub(crate) fn resize(&mut self, rows: usize) {
        self.columns.iter_mut().for_each(|one| one.cells.resize(rows, one.kind.empty()));
    }
}
