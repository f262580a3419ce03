//! Values of a column, in memory: items of one type or texts, and which of them are missing.
//!
//! In: slices and vectors of Rust's types. Out: the same, whatever the column stores.

use std::borrow::Cow;

use super::data::Data;
use super::item::Item;
use super::texts::Texts;
use crate::base::error::{Error, Result};

/// Values of a column: one for each row, or none where it is missing.
///
/// They are made of slices, vectors and arrays of numbers, truth values and text, and of vectors of options:
///
/// ```
/// use coquina::table::Values;
///
/// let prices = Values::from([1.5, 2.5]);
/// let names = Values::from(["oak", "beech"]);
/// let counts = Values::from(vec![Some(3_i64), None]);
/// assert_eq!(counts.len(), 2);
/// assert_eq!(counts.missing(), Some(&[false, true][..]));
/// assert_eq!(prices.as_slice::<f64>(), Some(&[1.5, 2.5][..]));
/// assert_eq!(names.as_texts().and_then(|texts| texts.get(1)), Some("beech"));
/// ```
///
/// Two of them are equal if the same values are missing and the others have the same bits.
#[derive(Clone, Debug)]
pub struct Values<'a> {
    data: Data<'a>,
    missing: Option<Cow<'a, [bool]>>,
}

impl<'a> Values<'a> {
    /// Values none of which is missing.
    pub fn new(data: Data<'a>) -> Self {
        Self { data, missing: None }
    }

    /// Values some of which are missing: true in `missing`, which has as many items. What stands in `data` there means
    /// nothing.
    ///
    /// # Errors
    /// `Invalid` for a mask of another length.
    pub fn with_missing(data: Data<'a>, missing: impl Into<Cow<'a, [bool]>>) -> Result<Self> {
        let missing = missing.into();
        if missing.len() != data.len() {
            let (mask, values) = (missing.len(), data.len());
            return Err(Error::invalid(format!("a mask of {mask} for {values} values")));
        }
        Ok(Self { data, missing: Some(missing) })
    }

    /// Byte strings of one width, one behind another.
    ///
    /// # Errors
    /// `Invalid` for a width of 0, and for bytes that are no multiple of it.
    pub fn byte_strings(width: usize, bytes: impl Into<Cow<'a, [u8]>>) -> Result<Self> {
        let bytes = bytes.into();
        if width == 0 || !bytes.len().is_multiple_of(width) {
            return Err(Error::invalid(format!("{} bytes for byte strings of width {width}", bytes.len())));
        }
        Ok(Self::new(Data::Bytes { width, bytes }))
    }

    /// Numbers of half precision, as bits.
    pub fn half(bits: impl Into<Cow<'a, [u16]>>) -> Self {
        Self::new(Data::F16(bits.into()))
    }

    /// How many values, with those that are missing.
    pub fn len(&self) -> usize {
        self.data.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The items or texts. Those of missing values mean nothing.
    pub fn data(&self) -> &Data<'a> {
        &self.data
    }

    /// The items or texts alone.
    pub fn into_data(self) -> Data<'a> {
        self.data
    }

    /// For each value, whether it is missing; `None` if none can be.
    pub fn missing(&self) -> Option<&[bool]> {
        self.missing.as_deref()
    }

    /// Whether value `number` is missing.
    pub fn is_missing(&self, number: usize) -> bool {
        self.missing().is_some_and(|missing| missing.get(number) == Some(&true))
    }

    /// The first value that is missing.
    pub(crate) fn first_missing(&self) -> Option<usize> {
        self.missing()?.iter().position(|&missing| missing)
    }

    /// The items, if they are of this type; without regard to which are missing.
    pub fn as_slice<T: Item>(&self) -> Option<&[T]> {
        T::slice_of(&self.data)
    }

    /// The texts, if they are text.
    pub fn as_texts(&self) -> Option<&Texts> {
        if let Data::Text(texts) = &self.data { Some(texts) } else { None }
    }

    /// These values, borrowed from nobody.
    pub fn into_owned(self) -> Values<'static> {
        let missing = self.missing.map(|missing| Cow::Owned(missing.into_owned()));
        Values { data: self.data.into_owned(), missing }
    }
}

impl PartialEq for Values<'_> {
    fn eq(&self, other: &Self) -> bool {
        let same_type = self.data.type_name() == other.data.type_name() && self.len() == other.len();
        same_type
            && (0..self.len()).all(|row| match (self.is_missing(row), other.is_missing(row)) {
                (false, false) => self.data.value(row) == other.data.value(row),
                (mine, its) => mine && its,
            })
    }
}

impl<'a, T: Item> From<&'a [T]> for Values<'a> {
    fn from(items: &'a [T]) -> Self {
        Self::new(T::data(Cow::Borrowed(items)))
    }
}

impl<'a, T: Item> From<&'a Vec<T>> for Values<'a> {
    fn from(items: &'a Vec<T>) -> Self {
        Self::from(&items[..])
    }
}

impl<T: Item> From<Vec<T>> for Values<'_> {
    fn from(items: Vec<T>) -> Self {
        Self::new(T::data(Cow::Owned(items)))
    }
}

impl<T: Item, const N: usize> From<[T; N]> for Values<'_> {
    fn from(items: [T; N]) -> Self {
        Self::from(items.to_vec())
    }
}

impl<T: Item> From<Vec<Option<T>>> for Values<'_> {
    fn from(items: Vec<Option<T>>) -> Self {
        let missing: Vec<bool> = items.iter().map(Option::is_none).collect();
        let items = items.into_iter().map(Option::unwrap_or_default).collect();
        Self { data: T::data(Cow::Owned(items)), missing: Some(Cow::Owned(missing)) }
    }
}

impl From<Texts> for Values<'_> {
    fn from(texts: Texts) -> Self {
        Self::new(Data::Text(Cow::Owned(texts)))
    }
}

impl<'a> From<&'a Texts> for Values<'a> {
    fn from(texts: &'a Texts) -> Self {
        Self::new(Data::Text(Cow::Borrowed(texts)))
    }
}

impl From<&[&str]> for Values<'_> {
    fn from(texts: &[&str]) -> Self {
        texts.iter().copied().collect::<Texts>().into()
    }
}

impl<const N: usize> From<[&str; N]> for Values<'_> {
    fn from(texts: [&str; N]) -> Self {
        Self::from(&texts[..])
    }
}

impl From<Vec<&str>> for Values<'_> {
    fn from(texts: Vec<&str>) -> Self {
        Self::from(&texts[..])
    }
}

impl From<&[String]> for Values<'_> {
    fn from(texts: &[String]) -> Self {
        texts.iter().map(String::as_str).collect::<Texts>().into()
    }
}

impl From<Vec<String>> for Values<'_> {
    fn from(texts: Vec<String>) -> Self {
        Self::from(&texts[..])
    }
}

impl From<Vec<Option<&str>>> for Values<'_> {
    fn from(texts: Vec<Option<&str>>) -> Self {
        let missing: Vec<bool> = texts.iter().map(Option::is_none).collect();
        let texts: Texts = texts.into_iter().map(Option::unwrap_or_default).collect();
        Self { data: Data::Text(Cow::Owned(texts)), missing: Some(Cow::Owned(missing)) }
    }
}
