//! How columns are stored, one file a kind: the encodings of AnnData's dataframes, and a few attributes besides.
//!
//! In: a description, or what stands in a storage. Out: a column, whose encoding turns values into rows of its parts.
//! Source: anndata, on-disk format, "dataframes"; `docs/formats/columns.md`, "Columns".
//! Invariant: what is not understood is `Unsupported`; no attribute is trusted to fit its arrays.

mod categories;
mod enums;
mod forms;
mod nullable;
mod numbers;
mod stored;
mod texts;
mod times;

pub(crate) use categories::{extend as extend_categories, new_categories};
pub use forms::{AwkwardForm, AwkwardParts, awkward_numbers, awkward_parts, awkward_texts};
pub(crate) use stored::{StoredColumn, text_of};
pub(crate) use times::NOT_A_TIME;

use super::item_type::ItemType;
use super::options::ArrayOptions;
use super::schema::{ColumnSpec, ColumnType};
use super::storage::{NodeKind, TableStorage};
use crate::base::error::{Error, Result};

/// Makes a column without rows, within a change.
///
/// # Errors
/// `Unsupported` for a column that cannot be stored so, and what goes wrong with making arrays.
pub(crate) fn make_column(
    storage: &mut dyn TableStorage,
    spec: &ColumnSpec,
    options: &ArrayOptions,
) -> Result<StoredColumn> {
    let made = make(storage, spec, options).and_then(|()| open_column(&*storage, spec.name()));
    made.map_err(|e| e.at(format!("column {:?}", spec.name())))
}

fn make(storage: &mut dyn TableStorage, spec: &ColumnSpec, options: &ArrayOptions) -> Result<()> {
    let path = spec.name();
    let item = match spec.ty() {
        ColumnType::Number(ty) => ItemType::Number(*ty),
        ColumnType::Half => ItemType::Half,
        ColumnType::Bytes(0) => return Err(Error::invalid("byte strings need a width of at least 1")),
        ColumnType::Bytes(_) if spec.is_nullable() => {
            return Err(Error::unsupported("byte strings cannot be missing; use text"));
        }
        ColumnType::Bytes(width) => ItemType::Bytes(*width),
        ColumnType::Text => return texts::make(storage, path, spec, options),
        ColumnType::Times { ty, zone } => {
            let is_wrong = |zone: &String| ty.is_span || !times::is_zone(zone);
            if let Some(zone) = zone.as_ref().filter(|zone| is_wrong(zone)) {
                return Err(Error::invalid(format!("{zone:?} is not a time zone for {ty}")));
            }
            let marked = times::Marked { ty: *ty, zone: zone.clone() };
            return times::make(storage, path, &marked, options);
        }
        ColumnType::Enum { .. } if spec.is_nullable() => {
            return Err(Error::unsupported("values of an enumeration cannot be missing; use categories"));
        }
        ColumnType::Enum { number, members } => {
            let enumeration = enums::Enumeration { number: *number, members: members.clone() };
            return enums::make(storage, path, &enumeration, options);
        }
        ColumnType::Categories { .. } => return categories::make(storage, path, spec, options),
    };
    if spec.is_nullable() {
        return nullable::make(storage, path, item, options);
    }
    numbers::make(storage, path, item, options)
}

/// The column at a path.
///
/// # Errors
/// `Unsupported` for what is no column that is known here; `Corrupt`, `Io`.
pub(crate) fn open_column(storage: &dyn TableStorage, path: &str) -> Result<StoredColumn> {
    let attributes = storage.attributes(path);
    let encoding = text_of(&attributes, "encoding-type");
    match storage.kind(path) {
        Some(NodeKind::Array) => open_array(storage, path),
        Some(NodeKind::Group) => match encoding.as_deref() {
            Some("categorical") => categories::open(storage, path),
            Some("nullable-integer" | "nullable-boolean") => nullable::open(storage, path),
            Some("awkward-array") => texts::open(storage, path, text_of(&attributes, "form").as_deref()),
            _ => Err(unknown(path, encoding.as_deref())),
        },
        Some(NodeKind::Texts) => Err(unknown(path, encoding.as_deref())),
        None => Err(Error::unsupported(format!("there is no column {path:?}"))),
    }
}

fn open_array(storage: &dyn TableStorage, path: &str) -> Result<StoredColumn> {
    let opened = stored::open_array(storage, path, |_| true)?;
    if let Some(marked) = times::marked_times(&storage.attributes(path), opened.item) {
        return Ok(times::open(path, opened, marked));
    }
    match storage.members(path) {
        Some(members) => enums::open(path, opened, members),
        None => Ok(numbers::open(path, opened)),
    }
}

fn unknown(path: &str, encoding: Option<&str>) -> Error {
    let encoding = encoding.unwrap_or("none");
    Error::unsupported(format!("{path:?}: encoding {encoding:?} cannot be read as a column"))
}
