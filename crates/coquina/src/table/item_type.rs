//! The type of the items of one array of a column, as the text of its dtype says it.
//!
//! Source: NumPy's array interface, "typestr"; `docs/formats/columns.md`.

use std::borrow::Cow;

use coquina_kernels::Type;

use super::data::Data;
use super::item::{Item, filled};
use super::texts::Texts;
use super::values::Values;
use crate::base::error::{Error, Result};

/// What the items of an array are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ItemType {
    /// A number type that loops are compiled for.
    Number(Type),
    /// Half precision.
    Half,
    /// Byte strings of this width.
    Bytes(usize),
}

impl ItemType {
    /// The type that the text of a dtype says, of items of so many bytes; `None` for one that columns do not have, and
    /// for numbers of the other byte order.
    pub(crate) fn of_dtype(dtype: &str, item_bytes: usize) -> Option<Self> {
        let (order, rest) = dtype.split_at_checked(1)?;
        let (kind, size) = rest.split_at_checked(1)?;
        let size: usize = size.parse().ok()?;
        let native = if cfg!(target_endian = "little") { "<" } else { ">" };
        let found = match (kind, size) {
            ("S", 1..) => Self::Bytes(size),
            _ if size > 1 && order != native => return None,
            ("f", 2) => Self::Half,
            ("b", 1) => Self::Number(Type::Bool),
            ("i" | "u" | "f" | "c", _) => {
                let name = match kind {
                    "i" => "int",
                    "u" => "uint",
                    "f" => "float",
                    _ => "complex",
                };
                Self::Number(Type::by_name(&format!("{name}{}", size.checked_mul(8)?))?)
            }
            _ => return None,
        };
        (found.bytes() == item_bytes).then_some(found)
    }

    /// The text of the dtype.
    pub(crate) fn dtype(self) -> String {
        let order = match self.bytes() {
            _ if matches!(self, Self::Bytes(_)) => '|',
            1 => '|',
            _ if cfg!(target_endian = "little") => '<',
            _ => '>',
        };
        format!("{order}{}{}", self.kind(), self.bytes())
    }

    /// NumPy's letter for the kind.
    pub(crate) fn kind(self) -> char {
        match self {
            Self::Bytes(_) => 'S',
            Self::Half => 'f',
            Self::Number(ty) => match ty {
                Type::Bool => 'b',
                Type::I8 | Type::I16 | Type::I32 | Type::I64 => 'i',
                Type::U8 | Type::U16 | Type::U32 | Type::U64 => 'u',
                Type::F32 | Type::F64 => 'f',
                Type::C64 | Type::C128 => 'c',
            },
        }
    }

    /// NumPy's name.
    pub(crate) fn name(self) -> String {
        match self {
            Self::Number(ty) => ty.name().into(),
            Self::Half => "float16".into(),
            Self::Bytes(width) => format!("bytes of width {width}"),
        }
    }

    /// Bytes of an item.
    pub(crate) fn bytes(self) -> usize {
        match self {
            Self::Number(ty) => ty.bytes(),
            Self::Half => 2,
            Self::Bytes(width) => width,
        }
    }

    /// Whether items are integers, with a sign or without, and no truth values.
    pub(crate) fn is_integer(self) -> bool {
        let Self::Number(ty) = self else { return false };
        !matches!(ty, Type::Bool | Type::F32 | Type::F64 | Type::C64 | Type::C128)
    }

    /// So many items, whose bytes `fill` writes.
    pub(crate) fn read(
        self,
        count: usize,
        fill: &mut dyn FnMut(&mut [u8]) -> Result<()>,
    ) -> Result<Data<'static>> {
        fn of<T: Item>(count: usize, fill: &mut dyn FnMut(&mut [u8]) -> Result<()>) -> Result<Data<'static>> {
            Ok(T::data(T::filled(count, fill)?.into()))
        }
        match self {
            Self::Number(Type::Bool) => of::<bool>(count, fill),
            Self::Number(Type::I8) => of::<i8>(count, fill),
            Self::Number(Type::I16) => of::<i16>(count, fill),
            Self::Number(Type::I32) => of::<i32>(count, fill),
            Self::Number(Type::I64) => of::<i64>(count, fill),
            Self::Number(Type::U8) => of::<u8>(count, fill),
            Self::Number(Type::U16) => of::<u16>(count, fill),
            Self::Number(Type::U32) => of::<u32>(count, fill),
            Self::Number(Type::U64) => of::<u64>(count, fill),
            Self::Number(Type::F32) => of::<f32>(count, fill),
            Self::Number(Type::F64) => of::<f64>(count, fill),
            Self::Number(Type::C64) => of::<[f32; 2]>(count, fill),
            Self::Number(Type::C128) => of::<[f64; 2]>(count, fill),
            Self::Half => Ok(Data::F16(filled::<u16>(count, fill)?.into())),
            Self::Bytes(width) => {
                let bytes = count.checked_mul(width);
                let bytes =
                    bytes.ok_or_else(|| Error::limit(format!("{count} byte strings of width {width}")))?;
                Ok(Data::Bytes { width, bytes: filled::<u8>(bytes, fill)?.into() })
            }
        }
    }

    /// The items that these bytes are.
    pub(crate) fn of_bytes(self, bytes: &[u8]) -> Result<Data<'static>> {
        self.read(bytes.len() / self.bytes(), &mut |out| {
            out.copy_from_slice(&bytes[..out.len()]);
            Ok(())
        })
    }

    /// The type of items.
    fn of_data(data: &Data<'_>) -> Result<Self> {
        let numbers = Type::ALL.into_iter().map(Self::Number);
        let found = match data {
            Data::Bytes { width, .. } => Some(Self::Bytes(*width)),
            data => numbers.chain([Self::Half]).find(|item| item.name() == data.type_name()),
        };
        found.ok_or_else(|| Error::invalid(format!("{} is no type of items", data.type_name())))
    }

    /// Whether these values are items of the type; byte strings may be shorter.
    pub(crate) fn takes(self, data: &Data<'_>) -> bool {
        match (self, data) {
            (Self::Bytes(width), Data::Bytes { width: given, .. }) => *given <= width,
            (Self::Bytes(_), _) => false,
            _ => data.type_name() == self.name(),
        }
    }
}

/// Some of the values, in any order and as often as one likes.
pub(crate) fn taken(values: &Values<'_>, rows: &[usize]) -> Result<Values<'static>> {
    let data = match values.data() {
        Data::Text(texts) => {
            let texts: Texts = rows.iter().map(|&row| texts.bytes_at(row).unwrap_or_default()).collect();
            Data::Text(Cow::Owned(texts))
        }
        data => {
            let bytes: Vec<u8> = rows.iter().flat_map(|&row| data.value(row)).collect();
            ItemType::of_data(data)?.of_bytes(&bytes)?
        }
    };
    match values.missing() {
        Some(missing) => Values::with_missing(data, rows.iter().map(|&row| missing[row]).collect::<Vec<_>>()),
        None => Ok(Values::new(data)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_of_a_type_says_the_type() {
        let numbers = Type::ALL.into_iter().map(ItemType::Number);
        for item in numbers.chain([ItemType::Half, ItemType::Bytes(1), ItemType::Bytes(17)]) {
            assert_eq!(ItemType::of_dtype(&item.dtype(), item.bytes()), Some(item));
            assert_eq!(ItemType::of_dtype(&item.dtype(), item.bytes() + 1), None);
            let data = item.of_bytes(&vec![1; 3 * item.bytes()]).unwrap();
            assert_eq!(data.len(), 3);
            assert!(item.takes(&data), "{item:?}");
        }
        for wrong in ["", "<", "<f", "<fé", ">f8", "<U4", "|V8", "<i3", "|S0", "<f16", "<b2", "é8"] {
            assert_eq!(ItemType::of_dtype(wrong, 8), None, "{wrong}");
        }
    }
}
