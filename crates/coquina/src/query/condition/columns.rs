//! Columns as operands: their items, where these are missing, and what a column is called in errors.

use std::sync::Arc;

use coquina_kernels::Type;
use coquina_kernels::items::bytes_of;

use super::super::columns::{Categories, ColumnValues, QueryColumn};
use super::super::predicates::Lookup;
use super::Result;
use super::nodes::{BOOL, F64, I64, Item, Nodes};
use super::sources::{Element, Halves};
use super::times::NAT;
use super::types::ItemType;
use super::values::Value;
use crate::array::BoxSource;
use crate::expr::text::{TextError, TextErrorKind};

pub(super) fn type_error(sentence: impl Into<String>) -> TextError {
    TextError::new(TextErrorKind::Type, sentence)
}

/// What to call a column in a sentence.
pub(super) fn described(column: &QueryColumn) -> String {
    let (kind, ty) = match &column.values {
        ColumnValues::Numbers { ty, .. } => ("", ty.name().to_owned()),
        ColumnValues::Halves(_) => ("", "float16".to_owned()),
        ColumnValues::FixedBytes(source) => ("", format!("|S{}", source.item_bytes())),
        ColumnValues::FixedPoints(source) => ("", format!("<U{}", source.item_bytes() / 4)),
        ColumnValues::Enumeration { ty, .. } => ("enum of ", ty.name().to_owned()),
        ColumnValues::Times { ty, .. } => ("", ty.to_string()),
        ColumnValues::Seconds(_) => ("time of ", "float64".to_owned()),
        ColumnValues::Texts { .. } => ("", "text".to_owned()),
        ColumnValues::Categories { categories, .. } => (
            "categorical of ",
            match &**categories {
                Categories::Texts(_) => "text".to_owned(),
                Categories::Numbers { ty, .. } => ty.name().to_owned(),
                Categories::Times { ty, .. } => ty.to_string(),
            },
        ),
    };
    let is_nullable = column.mask.is_some() && ty != "text";
    let axes = column.axes();
    let axes = if axes.is_empty() { String::new() } else { shown(&axes) };
    format!("column '{}' ({}{ty}{axes})", column.path, if is_nullable { "nullable " } else { kind })
}

/// A condition on a column, as an example of one.
pub(super) fn example(column: &QueryColumn) -> String {
    let comparison = match &column.values {
        ColumnValues::FixedBytes(_) | ColumnValues::FixedPoints(_) | ColumnValues::Texts { .. } => {
            "== 'text'"
        }
        ColumnValues::Numbers { .. } | ColumnValues::Halves(_) => "> 0",
        _ => "is not null",
    };
    format!("{} {comparison}", column.path)
}

/// A shape as Python shows it.
fn shown(axes: &[u64]) -> String {
    let lens: Vec<String> = axes.iter().map(u64::to_string).collect();
    if let [len] = &lens[..] { format!("({len},)") } else { format!("({})", lens.join(", ")) }
}

/// The error for a comparison that there is not.
pub(super) fn refused(column: &QueryColumn, sign: &str, value: &str) -> TextError {
    type_error(format!("{} is not compared by {sign} with {value}", described(column)))
}

/// Rows must have one value.
///
/// # Errors
/// `Type` where they have several.
pub(super) fn check_scalar(column: &QueryColumn) -> Result<()> {
    let axes = column.axes();
    if axes.is_empty() {
        return Ok(());
    }
    let index = vec!["0"; axes.len()].join(", ");
    let (name, path) = (described(column), &column.path);
    Err(type_error(format!("{name}: rows have values of shape {}; {path}[{index}] is one", shown(&axes))))
}

/// The values of a column as items; what stands where one is missing means nothing.
///
/// # Errors
/// `Type` for text.
pub(super) fn item(nodes: &mut Nodes, column: &QueryColumn) -> Result<Item> {
    check_scalar(column)?;
    Ok(match &column.values {
        ColumnValues::Numbers { ty, source } | ColumnValues::Enumeration { ty, source, .. } => {
            nodes.load(source, ItemType::Number(*ty))
        }
        ColumnValues::Halves(source) => {
            let halves: Arc<dyn BoxSource> = Arc::new(Halves(Arc::clone(source)));
            nodes.load(&halves, ItemType::Half)
        }
        ColumnValues::Times { ty, source, .. } => nodes.load(source, ItemType::Time(*ty)),
        ColumnValues::Seconds(source) => seconds(nodes, source),
        ColumnValues::Categories { categories, .. } => match &**categories {
            Categories::Numbers { ty: own, items } => {
                looked_up(nodes, column, items, &vec![0; own.bytes()], ItemType::Number(*own))?
            }
            Categories::Times { ty: own, items } => {
                looked_up(nodes, column, bytes_of(items), bytes_of(&[NAT]), ItemType::Time(*own))?
            }
            Categories::Texts(_) => return Err(not_computed(column)),
        },
        ColumnValues::FixedBytes(_) | ColumnValues::FixedPoints(_) | ColumnValues::Texts { .. } => {
            return Err(not_computed(column));
        }
    })
}

fn not_computed(column: &QueryColumn) -> TextError {
    type_error(format!(
        "{}: text is compared (==, <, in) and matched (startswith, endswith, contains), not computed with",
        described(column)
    ))
}

/// Seconds and microseconds as one float.
fn seconds(nodes: &mut Nodes, source: &Arc<dyn BoxSource>) -> Item {
    const MICRO: f64 = 1e-6;
    let raw = nodes.load(source, I64);
    let bits = nodes.integer(32);
    let whole = nodes.raw("right_shift", &[raw, bits], I64);
    let whole = nodes.cast(whole, F64);
    let micros = nodes.cast(raw, ItemType::Number(Type::I32));
    let micros = nodes.cast(micros, F64);
    let factor = nodes.constant(F64, bytes_of(&[MICRO]).to_vec());
    let micros = nodes.raw("multiply", &[factor, micros], F64);
    nodes.raw("add", &[whole, micros], F64)
}

/// What the codes of a column stand for.
pub(super) fn looked_up(
    nodes: &mut Nodes,
    column: &QueryColumn,
    table: &[u8],
    missing: &[u8],
    ty: ItemType,
) -> Result<Item> {
    let ColumnValues::Categories { ty: codes_type, codes, .. } = &column.values else {
        return Err(type_error(format!("{} has no categories", described(column))));
    };
    let lookup: Arc<dyn BoxSource> = Arc::new(Lookup::new(Arc::clone(codes), *codes_type, table, missing)?);
    Ok(nodes.load(&lookup, ty))
}

/// Where a column has no value; nothing if it always has one.
///
/// # Errors
/// What goes wrong with codes.
pub(super) fn nulls(nodes: &mut Nodes, column: &QueryColumn) -> Result<Option<Item>> {
    let mask = |mask| nodes.load(mask, BOOL);
    let masked = column.mask.as_ref().map(mask);
    let ColumnValues::Categories { categories, .. } = &column.values else { return Ok(masked) };
    let without = looked_up(nodes, column, &vec![0; categories.len()], &[1], BOOL)?;
    Ok(Some(match masked {
        None => without,
        Some(masked) => nodes.or(masked, without),
    }))
}

/// Truth bytes: where a value of a column is missing; none if none can be.
///
/// # Errors
/// What goes wrong with binding them.
pub(in super::super) fn missing(column: &QueryColumn) -> Result<Option<Arc<dyn BoxSource>>> {
    let mut nodes = Nodes::new(column.rows());
    nulls(&mut nodes, column)?.map(|nulls| nodes.source(nulls)).transpose()
}

/// The values of a column that has no text, those of half precision in single precision.
///
/// # Errors
/// As [`item`].
pub(crate) fn singles(column: &QueryColumn) -> Result<Arc<dyn BoxSource>> {
    let mut nodes = Nodes::new(column.rows());
    let item = item(&mut nodes, column)?;
    nodes.source(item)
}

/// A column as items, which can be missing; anything else as it is.
///
/// # Errors
/// As [`item`].
pub(super) fn lowered(nodes: &mut Nodes, value: Value) -> Result<Value> {
    let Value::Column(column) = value else { return Ok(value) };
    let item = item(nodes, &column)?;
    Ok(match nulls(nodes, &column)? {
        None => Value::Item(item),
        Some(nulls) => Value::Masked(item, nulls),
    })
}

/// Where a value is missing, or is no number and no time.
///
/// # Errors
/// What goes wrong with columns.
pub(super) fn is_missing(nodes: &mut Nodes, value: &Value) -> Result<Item> {
    let (item, nulls) = match value {
        Value::Column(column) => {
            check_scalar(column)?;
            let nulls = nulls(nodes, column)?;
            let has_none = column.is_text()
                || matches!(
                    column.values,
                    ColumnValues::Seconds(_)
                        | ColumnValues::Enumeration { .. }
                        | ColumnValues::Categories { .. }
                );
            (if has_none { None } else { Some(item(nodes, column)?) }, nulls)
        }
        Value::Item(item) => (Some(*item), None),
        Value::Masked(item, nulls) => (Some(*item), Some(*nulls)),
        Value::Moment(moment) => return Ok(nodes.truth(moment.is_nat())),
        Value::Constant(_) | Value::Scalar(..) => return Ok(nodes.truth(false)),
    };
    let is_float = |ty: ItemType| {
        matches!(ty, ItemType::Half | ItemType::Number(Type::F32 | Type::F64 | Type::C64 | Type::C128))
    };
    let own = match item {
        Some(item) if is_float(item.ty) => Some(nodes.named("isnan", &[item.into()])?),
        Some(item) if matches!(item.ty, ItemType::Time(_)) => Some(nodes.named("isnat", &[item.into()])?),
        _ => None,
    };
    Ok(match (own, nulls) {
        (Some(own), Some(nulls)) => nodes.or(nulls, own),
        (Some(one), None) | (None, Some(one)) => one,
        (None, None) => nodes.truth(false),
    })
}

/// One of the values that each row of a column has.
///
/// # Errors
/// `Type` where rows have one value, `Expression` for a place that there is not.
pub(super) fn element(column: &QueryColumn, index: &[i128]) -> Result<QueryColumn> {
    let (axes, name) = (column.axes(), described(column));
    let listed = index.iter().map(i128::to_string).collect::<Vec<_>>().join(", ");
    if axes.is_empty() {
        return Err(type_error(format!("{name} has no axes of its own: [{listed}] names no part")));
    }
    if index.len() != axes.len() {
        let sentence = format!("{name}: [{listed}] names {} of {} axes", index.len(), axes.len());
        return Err(TextError::new(TextErrorKind::Expression, sentence));
    }
    let mut places = Vec::with_capacity(index.len());
    for (axis, (&at, &len)) in index.iter().zip(&axes).enumerate() {
        let from_start = if at < 0 { at + i128::from(len) } else { at };
        let place = u64::try_from(from_start).ok().filter(|&place| place < len).ok_or_else(|| {
            let sentence = format!("index {at} is out of bounds for axis {axis} with size {len}");
            TextError::new(TextErrorKind::Expression, sentence)
        })?;
        places.push(place);
    }
    let mut made = column.clone();
    made.path = format!("{}[{listed}]", column.path);
    if let Some(place) = &mut made.place {
        place.element.clone_from(&places);
    }
    // Texts and categories have no axes.
    *made.source_mut() = Arc::new(Element { source: Arc::clone(column.source()), index: places });
    Ok(made)
}
