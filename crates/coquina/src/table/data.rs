//! Items or texts in memory, of one type.

use std::borrow::Cow;

use coquina_kernels::items::bytes_of;

use super::texts::Texts;

/// The items or texts of some values.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Data<'a> {
    /// Truth values.
    Bool(Cow<'a, [bool]>),
    /// 8-bit signed integers.
    I8(Cow<'a, [i8]>),
    /// 16-bit signed integers.
    I16(Cow<'a, [i16]>),
    /// 32-bit signed integers.
    I32(Cow<'a, [i32]>),
    /// 64-bit signed integers; also times, as counts of the unit of the column.
    I64(Cow<'a, [i64]>),
    /// 8-bit unsigned integers.
    U8(Cow<'a, [u8]>),
    /// 16-bit unsigned integers.
    U16(Cow<'a, [u16]>),
    /// 32-bit unsigned integers.
    U32(Cow<'a, [u32]>),
    /// 64-bit unsigned integers.
    U64(Cow<'a, [u64]>),
    /// Half precision, as bits.
    F16(Cow<'a, [u16]>),
    /// Single precision.
    F32(Cow<'a, [f32]>),
    /// Double precision.
    F64(Cow<'a, [f64]>),
    /// Real and imaginary part, of single precision.
    C64(Cow<'a, [[f32; 2]]>),
    /// Real and imaginary part, of double precision.
    C128(Cow<'a, [[f64; 2]]>),
    /// Byte strings of one width, one behind another; shorter ones end with zeros.
    Bytes {
        /// Bytes of each.
        width: usize,
        /// The bytes of all.
        bytes: Cow<'a, [u8]>,
    },
    /// Text.
    Text(Cow<'a, Texts>),
}

/// Runs an expression with the slice of items, whatever their type; bytes and texts are arms of their own.
macro_rules! with_items {
    ($data:expr, $items:ident => $body:expr, $($rest:tt)*) => {
        match $data {
            Data::I8($items) => $body,
            Data::I16($items) => $body,
            Data::I32($items) => $body,
            Data::I64($items) => $body,
            Data::U8($items) => $body,
            Data::U16($items) | Data::F16($items) => $body,
            Data::U32($items) => $body,
            Data::U64($items) => $body,
            Data::F32($items) => $body,
            Data::F64($items) => $body,
            Data::C64($items) => $body,
            Data::C128($items) => $body,
            $($rest)*
        }
    };
}

impl Data<'_> {
    /// How many values.
    pub fn len(&self) -> usize {
        with_items!(self, items => items.len(),
            Self::Bool(items) => items.len(),
            Self::Bytes { width, bytes } => bytes.len() / (*width).max(1),
            Self::Text(texts) => texts.len(),
        )
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What they are, for errors: NumPy's name of the type.
    pub fn type_name(&self) -> String {
        match self {
            Self::Bool(_) => "bool".into(),
            Self::I8(_) => "int8".into(),
            Self::I16(_) => "int16".into(),
            Self::I32(_) => "int32".into(),
            Self::I64(_) => "int64".into(),
            Self::U8(_) => "uint8".into(),
            Self::U16(_) => "uint16".into(),
            Self::U32(_) => "uint32".into(),
            Self::U64(_) => "uint64".into(),
            Self::F16(_) => "float16".into(),
            Self::F32(_) => "float32".into(),
            Self::F64(_) => "float64".into(),
            Self::C64(_) => "complex64".into(),
            Self::C128(_) => "complex128".into(),
            Self::Bytes { width, .. } => format!("bytes of width {width}"),
            Self::Text(_) => "text".into(),
        }
    }

    /// The bytes of the items, as arrays store them; of text those of all texts.
    pub(crate) fn bytes(&self) -> Cow<'_, [u8]> {
        with_items!(self, items => Cow::Borrowed(bytes_of(items)),
            Self::Bool(items) => items.iter().map(|&item| u8::from(item)).collect(),
            Self::Bytes { bytes, .. } => Cow::Borrowed(&**bytes),
            Self::Text(texts) => Cow::Borrowed(texts.bytes()),
        )
    }

    /// The bytes of value `number`.
    pub(crate) fn value(&self, number: usize) -> Vec<u8> {
        with_items!(self, items => bytes_of(&items[number..=number]).to_vec(),
            Self::Bool(items) => vec![u8::from(items[number])],
            Self::Bytes { width, bytes } => bytes[number * width..(number + 1) * width].to_vec(),
            Self::Text(texts) => texts.bytes_at(number).unwrap_or_default().to_vec(),
        )
    }

    /// Codes of categories as numbers of one type; none of what are no signed integers.
    pub(crate) fn as_codes(&self) -> Vec<i64> {
        match self {
            Self::I8(codes) => codes.iter().map(|&code| code.into()).collect(),
            Self::I16(codes) => codes.iter().map(|&code| code.into()).collect(),
            Self::I32(codes) => codes.iter().map(|&code| code.into()).collect(),
            Self::I64(codes) => codes.to_vec(),
            _ => Vec::new(),
        }
    }

    /// These values, borrowed from nobody.
    pub fn into_owned(self) -> Data<'static> {
        macro_rules! owned {
            ($($name:ident),*) => {
                match self {
                    $(Self::$name(items) => Data::$name(Cow::Owned(items.into_owned())),)*
                    Self::Bytes { width, bytes } => Data::Bytes { width, bytes: Cow::Owned(bytes.into_owned()) },
                }
            };
        }
        owned!(Bool, I8, I16, I32, I64, U8, U16, U32, U64, F16, F32, F64, C64, C128, Text)
    }
}
