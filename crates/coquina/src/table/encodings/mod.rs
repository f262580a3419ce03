//! How columns are stored, one file a kind: the encodings of AnnData's dataframes, and a few attributes besides.
//!
//! In: a description, or what stands in a storage. Out: a column, whose encoding turns values into rows of its parts.
//! Source: anndata, on-disk format, "dataframes"; `docs/formats/columns.md`, "Columns".
//! Invariant: what is not understood is `Unsupported`; no attribute is trusted to fit its arrays.

mod categories;
mod enums;
mod forms;
mod nodes;
mod nullable;
mod numbers;
mod stored;
mod texts;
mod times;

pub(crate) use categories::{extend as extend_categories, new_categories};
pub use nodes::{
    CategoryNodes, ColumnNodes, NewCategories, NewColumn, NewNode, NodeRole, TextNodes, ValueNodes,
    column_nodes, stored_nodes,
};
pub(crate) use stored::{StoredColumn, text_of};
pub(crate) use times::NOT_A_TIME;
pub use times::{StoredTimes, stored_times};

use coquina_kernels::Type;
use coquina_kernels::items::bytes_of;

use super::item_type::ItemType;
use super::options::ArrayOptions;
use super::schema::{ColumnSpec, ColumnType};
use super::storage::{Members, NodeKind, TableStorage};
use crate::array::Values as Items;
use crate::base::error::{Error, Result};
use crate::base::pool::Job;

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
    check(spec)?;
    let (of, list) = match spec.ty() {
        ColumnType::Categories { of, values, ordered } => (&**of, Some((values, *ordered))),
        ty => (ty, None),
    };
    let item = item_of(of);
    let dtype = match of {
        ColumnType::Times { ty, .. } => ty.to_string(),
        _ => item.name(),
    };
    let nodes = column_nodes(&NewColumn {
        kind: kind_of(of, item),
        dtype: &dtype,
        is_nullable: spec.is_nullable(),
        zone: if let ColumnType::Times { zone, .. } = of { zone.as_deref() } else { None },
        categories: list.map(|(values, is_ordered)| NewCategories { count: values.len(), is_ordered }),
    });
    let members = if let ColumnType::Enum { members, .. } = of { Some(members) } else { None };
    for node in nodes {
        make_node(storage, spec.name(), node, &NewItems { item, members, options })?;
    }
    list.map_or(Ok(()), |(values, _)| categories::fill(storage, spec.name(), values))
}

/// What the values of a column are as items of an array.
struct NewItems<'a> {
    item: ItemType,
    members: Option<&'a Members>,
    options: &'a ArrayOptions,
}

fn make_node(
    storage: &mut dyn TableStorage,
    column: &str,
    node: NewNode,
    items: &NewItems<'_>,
) -> Result<()> {
    let NewItems { item, members, options } = items;
    let NewNode { name, role, item: own, attributes } = node;
    let path = if name.is_empty() { column.to_owned() } else { format!("{column}/{name}") };
    let (item, members) = own.map_or((*item, *members), |ty| (ItemType::Number(ty), None));
    match role {
        NodeRole::Group => storage.create_group(&path)?,
        NodeRole::Texts => storage.set_texts(&path, &[])?,
        NodeRole::Bytes => drop(storage.create_array(&path, &options.text_bytes(item), None)?),
        NodeRole::List => drop(storage.create_array(&path, &options.few(item), None)?),
        NodeRole::Values | NodeRole::Mask | NodeRole::Codes => {
            storage.create_array(&path, &options.items(item), members.cloned())?;
        }
        NodeRole::Offsets => {
            let offsets = storage.create_array(&path, &options.items(item), None)?;
            offsets.append(0, 1, Items::Bytes(bytes_of(&[0_i64])), &Job::inline())?;
        }
    }
    storage.set_attributes(&path, attributes)
}

/// Complains of a column that cannot be stored.
fn check(spec: &ColumnSpec) -> Result<()> {
    match spec.ty() {
        ColumnType::Bytes(0) => Err(Error::invalid("byte strings need a width of at least 1")),
        ColumnType::Bytes(_) if spec.is_nullable() => {
            Err(Error::unsupported("byte strings cannot be missing; use text"))
        }
        ColumnType::Times { ty, zone: Some(zone) } if ty.is_span || !times::is_zone(zone) => {
            Err(Error::invalid(format!("{zone:?} is not a time zone for {ty}")))
        }
        ColumnType::Enum { .. } if spec.is_nullable() => {
            Err(Error::unsupported("values of an enumeration cannot be missing; use categories"))
        }
        ColumnType::Enum { number, members } => enums::check(*number, members),
        ColumnType::Categories { of, .. } => categories::check_kind_of(of),
        _ => Ok(()),
    }
}

/// The items that values are; for text, which is several arrays, its bytes.
fn item_of(ty: &ColumnType) -> ItemType {
    match ty {
        ColumnType::Number(ty) | ColumnType::Enum { number: ty, .. } => ItemType::Number(*ty),
        ColumnType::Half => ItemType::Half,
        ColumnType::Bytes(width) => ItemType::Bytes(*width),
        ColumnType::Times { .. } => times::ITEM,
        ColumnType::Text | ColumnType::Categories { .. } => ItemType::Number(Type::U8),
    }
}

/// NumPy's letter for the kind of values.
fn kind_of(ty: &ColumnType, item: ItemType) -> char {
    match ty {
        ColumnType::Text => 'T',
        ColumnType::Times { .. } => 'M',
        _ => item.kind(),
    }
}

/// The column at a path.
///
/// # Errors
/// `Unsupported` for what is no column that is known here; `Corrupt`, `Io`.
pub(crate) fn open_column(storage: &dyn TableStorage, path: &str) -> Result<StoredColumn> {
    let attributes = storage.attributes(path);
    let nodes = match storage.kind(path) {
        Some(NodeKind::Array) => return open_array(storage, path),
        Some(NodeKind::Group) => stored_nodes(|name| Ok(text_of(&attributes, name)))?,
        Some(NodeKind::Texts) => None,
        None => return Err(Error::unsupported(format!("there is no column {path:?}"))),
    };
    match nodes {
        Some(ColumnNodes::Values(nodes)) => nullable::open(storage, path, &nodes),
        Some(ColumnNodes::Texts(nodes)) => texts::open(storage, path, &nodes),
        Some(ColumnNodes::Categories(nodes)) => categories::open(storage, path, &nodes),
        Some(ColumnNodes::WholeTexts { .. }) | None => {
            let encoding = text_of(&attributes, "encoding-type").unwrap_or_else(|| "none".into());
            Err(Error::unsupported(format!("{path:?}: encoding {encoding:?} cannot be read as a column")))
        }
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
