//! Values out of a list that is stored once: an array of codes, places in the list, and the list. Code -1 is none.
//!
//! The list is text or an array. Values that are not in it yet are put behind it, unless it is ordered; codes get wider
//! when they run out.
//! Invariant: a value is stored in the list before any code of it, and keeps its code.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use coquina_kernels::Type;

use super::nodes::{CategoryNodes, codes_type, is_code};
use super::numbers::{column_type, is_number};
use super::stored::{
    Encoding, OpenedArray, StoredColumn, array_marks, open_array, read_items, source, text_of,
};
use super::times::{self, NOT_A_TIME, StoredTimes, marked_times};
use crate::array::{Array, Values as Items};
use crate::base::error::{Error, Result};
use crate::base::json::Json;
use crate::base::pool::Job;
use crate::query::{self, ColumnValues};
use crate::table::data::Data;
use crate::table::item_part::ItemPart;
use crate::table::item_type::{ItemType, taken};
use crate::table::options::ArrayOptions;
use crate::table::part::{Part, PartRows, RowChoice, pieces};
use crate::table::schema::{ColumnSpec, ColumnType};
use crate::table::storage::{NodeKind, TableStorage};
use crate::table::texts::Texts;
use crate::table::values::Values;

/// Puts the values that the type of a new column lists into its list.
pub(super) fn fill(storage: &mut dyn TableStorage, path: &str, values: &Values<'_>) -> Result<()> {
    check_distinct(values)?;
    put(storage, &format!("{path}/{}", CategoryNodes::default().list), values)
}

/// Complains of a type that values of a list cannot have.
pub(super) fn check_kind_of(of: &ColumnType) -> Result<()> {
    if *of == ColumnType::Text { Ok(()) } else { item_of(of).map(drop) }
}

/// The type of the items of a list that is no text.
fn item_of(of: &ColumnType) -> Result<ItemType> {
    match of {
        ColumnType::Number(ty) => Ok(ItemType::Number(*ty)),
        ColumnType::Times { .. } => Ok(times::ITEM),
        other => Err(Error::unsupported(format!("categories are text, numbers or times, not {other}"))),
    }
}

/// Complains of a list that has a value twice, or one that is missing.
fn check_distinct(values: &Values<'_>) -> Result<()> {
    let mut known = HashMap::new();
    for row in 0..values.len() {
        let Some(key) = key_of(values, row) else {
            return Err(Error::invalid(format!("category {row} is missing")));
        };
        if let Some(before) = known.insert(key, row) {
            return Err(Error::invalid(format!("categories {before} and {row} are the same")));
        }
    }
    Ok(())
}

/// What tells a value from others: its bytes, but for zeros of two signs; `None` for what is missing or NaN.
fn key_of(values: &Values<'_>, row: usize) -> Option<Vec<u8>> {
    let is_none = values.is_missing(row)
        || match values.data() {
            Data::F32(items) => items[row].is_nan(),
            Data::F64(items) => items[row].is_nan(),
            Data::I64(items) => items[row] == NOT_A_TIME,
            _ => false,
        };
    let is_zero = match values.data() {
        Data::F32(items) => items[row] == 0.0,
        Data::F64(items) => items[row] == 0.0,
        _ => false,
    };
    let value = || values.data().value(row);
    (!is_none).then(|| if is_zero { vec![0; value().len()] } else { value() })
}

/// Puts values behind the list at a path.
fn put(storage: &mut dyn TableStorage, path: &str, values: &Values<'_>) -> Result<()> {
    if let Some(texts) = values.as_texts() {
        let mut known = storage.texts(path)?;
        known.extend(texts.iter().map(str::to_owned));
        return storage.set_texts(path, &known);
    }
    let array = storage.array(path)?;
    match values.data().bytes() {
        bytes if bytes.is_empty() => Ok(()),
        bytes => array.append(0, values.len() as u64, Items::Bytes(&bytes), &Job::inline()),
    }
}

/// The column of codes and a list.
pub(super) fn open(storage: &dyn TableStorage, path: &str, nodes: &CategoryNodes) -> Result<StoredColumn> {
    let is_code = |item| matches!(item, ItemType::Number(ty) if is_code(ty));
    let codes = open_array(storage, &format!("{path}/{}", nodes.codes), is_code)?;
    let ordered = match storage.attributes(path).get(b"ordered") {
        Some(Json::Bool(ordered)) => *ordered,
        Some(other) => other.as_i64().is_some_and(|number| number != 0),
        None => false,
    };
    let List { of, values } = list_at(storage, &format!("{path}/{}", nodes.list))?;
    let OpenedArray { array, item } = codes;
    let values = Arc::new(values);
    let ty = ColumnType::Categories { of: Box::new(of), values: Arc::clone(&values), ordered };
    let new_item = vec![0xff; item.bytes()];
    Ok(StoredColumn {
        spec: ColumnSpec::new(path, ty.clone()),
        parts: vec![Box::new(ItemPart::new(array, Some(new_item)))],
        encoding: Box::new(Categories { ty, values, ordered, codes: item }),
        has_mask: false,
    })
}

/// The values that codes stand for.
struct List {
    of: ColumnType,
    values: Values<'static>,
}

fn list_at(storage: &dyn TableStorage, path: &str) -> Result<List> {
    if storage.kind(path) == Some(NodeKind::Texts) {
        let texts = storage.texts(path)?;
        return Ok(List { of: ColumnType::Text, values: texts.into() });
    }
    let OpenedArray { array, item } = open_array(storage, path, |_| true)?;
    let count = array.grid().shape().first().copied().unwrap_or(0);
    let data = read_items(&ItemPart::new(array, None), item, RowChoice::range(0..count))?;
    if let Data::Bytes { width, bytes } = &data {
        let texts: Texts = bytes.chunks_exact(*width).map(without_zeros).collect();
        texts.check_utf8()?;
        return Ok(List { of: ColumnType::Text, values: texts.into() });
    }
    let attributes = storage.attributes(path);
    if text_of(&attributes, "encoding-type").is_some_and(|kind| kind != "array") || !is_number(item) {
        return Err(Error::unsupported(format!("{path:?}: categories of {}", item.name())));
    }
    let of = match marked_times(&attributes, item) {
        Some(StoredTimes { ty, .. }) => ColumnType::Times { ty, zone: None },
        None => column_type(item),
    };
    Ok(List { of, values: Values::new(data) })
}

fn without_zeros(text: &[u8]) -> &[u8] {
    let end = text.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
    &text[..end]
}

/// The values of a batch that a column of categories does not have yet, each once, in their order; `None` for a column
/// without categories, and where there is none.
///
/// # Errors
/// `Invalid` for new values of ordered categories, and for values of another type.
pub(crate) fn new_categories(column: &StoredColumn, values: &Values<'_>) -> Result<Option<Values<'static>>> {
    let ColumnType::Categories { of, values: known, ordered } = column.spec.ty() else { return Ok(None) };
    check_kind(of, known, values).map_err(|e| column.placed(e))?;
    let mut seen = index_of(known);
    let mut new = Vec::new();
    for row in 0..values.len() {
        let Some(key) = key_of(values, row) else { continue };
        let Entry::Vacant(place) = seen.entry(key) else { continue };
        if *ordered {
            let text = values.as_texts().and_then(|texts| texts.get(row));
            let shown = text.map_or_else(|| format!("value {row}"), |text| format!("{text:?}"));
            let error = Error::invalid(format!("{shown} is not one of its ordered categories"));
            return Err(column.placed(error));
        }
        place.insert(0);
        new.push(row);
    }
    if new.is_empty() {
        return Ok(None);
    }
    Ok(Some(taken(values, &new)?))
}

fn check_kind(of: &ColumnType, known: &Values<'_>, values: &Values<'_>) -> Result<()> {
    let (wanted, given) = (known.data().type_name(), values.data().type_name());
    if wanted == given { Ok(()) } else { Err(Error::invalid(format!("takes {of}, not {given}"))) }
}

fn index_of(values: &Values<'_>) -> HashMap<Vec<u8>, usize> {
    let mut index = HashMap::with_capacity(values.len());
    for row in 0..values.len() {
        if let Some(key) = key_of(values, row) {
            index.entry(key).or_insert(row);
        }
    }
    index
}

/// Puts new values behind the list of a column, within a change; its codes are written again if they are too narrow.
pub(crate) fn extend(
    storage: &mut dyn TableStorage,
    column: &StoredColumn,
    new: &Values<'_>,
    options: &ArrayOptions,
) -> Result<StoredColumn> {
    let path = column.spec.name().to_owned();
    let ColumnType::Categories { values: known, .. } = column.spec.ty() else {
        return Err(Error::invalid("not categories"));
    };
    let count = known.len() + new.len();
    let nodes = CategoryNodes::default();
    let codes = format!("{path}/{}", nodes.codes);
    let old = open_array(&*storage, &codes, |_| true)?;
    if codes_type(count).bytes() > old.item.bytes() {
        widen(storage, &codes, old, count, options)?;
    }
    put(storage, &format!("{path}/{}", nodes.list), new)?;
    open(&*storage, &path, &nodes)
}

/// Writes codes again as wider integers.
fn widen(
    storage: &mut dyn TableStorage,
    path: &str,
    old: OpenedArray,
    count: usize,
    options: &ArrayOptions,
) -> Result<()> {
    let waiting = format!("{path}~");
    let ty = codes_type(count);
    let new = storage.create_array(&waiting, &options.items(ItemType::Number(ty)), None)?;
    storage.set_attributes(&waiting, array_marks())?;
    let OpenedArray { array, item } = old;
    let rows = array.grid().shape().first().copied().unwrap_or(0);
    let part = ItemPart::new(array, None);
    for piece in pieces(0, rows) {
        let read = read_items(&part, item, RowChoice::range(piece.clone()))?;
        let bytes = codes_bytes(&read.as_codes(), ty);
        new.append(0, piece.end - piece.start, Items::Bytes(&bytes), &Job::default())?;
    }
    storage.remove(path)?;
    storage.rename(&waiting, path)
}

/// Codes as items of an integer type, which they fit.
fn codes_bytes(codes: &[i64], ty: Type) -> Vec<u8> {
    let size = ty.bytes();
    let item = |code: &i64| {
        let mut bytes = code.to_le_bytes()[..size].to_vec();
        if cfg!(target_endian = "big") {
            bytes.reverse();
        }
        bytes
    };
    codes.iter().flat_map(item).collect()
}

struct Categories {
    ty: ColumnType,
    values: Arc<Values<'static>>,
    ordered: bool,
    codes: ItemType,
}

impl Categories {
    fn of(&self) -> &ColumnType {
        if let ColumnType::Categories { of, .. } = &self.ty { of } else { &self.ty }
    }

    /// The value of each code; missing where the list has none.
    fn decoded(&self, codes: &[i64]) -> Result<Values<'static>> {
        let place = |code: &i64| usize::try_from(*code).ok().filter(|place| *place < self.values.len());
        let places: Vec<Option<usize>> = codes.iter().map(place).collect();
        let missing: Vec<bool> = places.iter().map(Option::is_none).collect();
        let data = match self.values.data() {
            Data::Text(texts) => {
                let text = |place: &Option<usize>| place.and_then(|place| texts.bytes_at(place));
                let texts: Texts = places.iter().map(|place| text(place).unwrap_or_default()).collect();
                Data::Text(std::borrow::Cow::Owned(texts))
            }
            data => {
                let item = ItemType::Number(Type::U8);
                let item = item_of(self.of()).unwrap_or(item);
                let zeros = vec![0; item.bytes()];
                let value = |place: &Option<usize>| place.map_or_else(|| zeros.clone(), |at| data.value(at));
                item.of_bytes(&places.iter().flat_map(value).collect::<Vec<u8>>())?
            }
        };
        Values::with_missing(data, missing)
    }
}

impl Encoding for Categories {
    fn encode(&self, values: &Values<'_>) -> Result<Vec<PartRows>> {
        check_kind(self.of(), &self.values, values)?;
        let index = index_of(&self.values);
        let mut codes = Vec::with_capacity(values.len());
        for row in 0..values.len() {
            codes.push(match key_of(values, row) {
                None => -1,
                Some(key) => match index.get(&key) {
                    Some(&place) => place.cast_signed() as i64,
                    None => return Err(Error::invalid(format!("value {row} is not one of its categories"))),
                },
            });
        }
        let ItemType::Number(ty) = self.codes else {
            return Err(Error::invalid("category codes must be integers"));
        };
        Ok(vec![PartRows::items(ty.bytes(), codes_bytes(&codes, ty))])
    }

    fn read(&self, parts: &[Box<dyn Part>], rows: RowChoice<'_>) -> Result<Values<'static>> {
        self.decoded(&read_items(&*parts[0], self.codes, rows)?.as_codes())
    }

    fn query(&self, arrays: &[Arc<Array>]) -> Result<ColumnValues> {
        let ItemType::Number(ty) = self.codes else {
            return Err(Error::invalid("category codes must be integers"));
        };
        let categories = match (self.values.data(), self.of()) {
            (Data::Text(texts), _) => query::Categories::Texts(texts.iter().map(str::to_owned).collect()),
            (Data::I64(items), ColumnType::Times { ty, .. }) => {
                query::Categories::Times { ty: *ty, items: items.to_vec() }
            }
            (data, ColumnType::Number(ty)) => {
                query::Categories::Numbers { ty: *ty, items: data.bytes().into_owned() }
            }
            (_, of) => return Err(Error::unsupported(format!("conditions on categories of {of}"))),
        };
        let (codes, is_ordered) = (source(&arrays[0]), self.ordered);
        Ok(ColumnValues::Categories { ty, codes, categories: Arc::new(categories), is_ordered })
    }
}
