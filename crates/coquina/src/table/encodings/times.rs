//! Dates and times, and spans of time: an array of int64, and attributes that say what it counts.
//!
//! The least int64 is no time. Values that are missing are written as that, and it is read as a missing value.

use std::sync::Arc;

use coquina_kernels::Type;

use super::stored::{
    Encoding, OpenedArray, StoredColumn, array_marks, check_type, item_rows, read_items, source, text_of,
};
use crate::array::Array;
use crate::base::error::Result;
use crate::base::json::JsonObject;
use crate::query::{ColumnValues, TimeType, TimeUnit};
use crate::table::data::Data;
use crate::table::item_part::ItemPart;
use crate::table::item_type::ItemType;
use crate::table::options::ArrayOptions;
use crate::table::part::{Part, PartRows, RowChoice};
use crate::table::schema::{ColumnSpec, ColumnType};
use crate::table::storage::TableStorage;
use crate::table::values::Values;

/// No time.
pub(crate) const NOT_A_TIME: i64 = i64::MIN;
pub(super) const ITEM: ItemType = ItemType::Number(Type::I64);
/// The longest name of a time zone.
const ZONE_BYTES: usize = 64;
/// Units that the Climate and Forecast conventions have a name for.
const CF_UNITS: [(TimeUnit, &str); 7] = [
    (TimeUnit::Day, "days"),
    (TimeUnit::Hour, "hours"),
    (TimeUnit::Minute, "minutes"),
    (TimeUnit::Second, "seconds"),
    (TimeUnit::Milli, "milliseconds"),
    (TimeUnit::Micro, "microseconds"),
    (TimeUnit::Nano, "nanoseconds"),
];

/// The type of times that a column of them has, and their zone.
pub(super) struct Marked {
    pub(super) ty: TimeType,
    pub(super) zone: Option<String>,
}

/// Makes the array of a column.
pub(super) fn make(
    storage: &mut dyn TableStorage,
    path: &str,
    marked: &Marked,
    options: &ArrayOptions,
) -> Result<()> {
    storage.create_array(path, &options.items(ITEM), None)?;
    storage.set_attributes(path, time_marks(marked))
}

/// The attributes of an array of times.
pub(super) fn time_marks(marked: &Marked) -> JsonObject {
    let Marked { ty, zone } = marked;
    let mut marks = array_marks();
    marks.set("dtype".into(), ty.to_string().as_str().into());
    let known = CF_UNITS.iter().find(|(unit, _)| *unit == ty.unit && ty.step == 1);
    if let Some((_, unit)) = known {
        let since = if ty.is_span { "" } else { " since 1970-01-01 00:00:00" };
        marks.set("units".into(), format!("{unit}{since}").as_str().into());
        if !ty.is_span {
            marks.set("calendar".into(), "proleptic_gregorian".into());
        }
    }
    if let Some(zone) = zone {
        marks.set("zone".into(), zone.as_str().into());
    }
    marks
}

/// The times that an array is marked to hold; `None` if it is not.
pub(super) fn marked_times(attributes: &JsonObject, item: ItemType) -> Option<Marked> {
    let name = text_of(attributes, "dtype").filter(|name| item == ITEM && name.contains("64["))?;
    let ty = TimeType::by_name(&name)?;
    let zone = text_of(attributes, "zone").filter(|zone| !ty.is_span && is_zone(zone));
    Some(Marked { ty, zone })
}

/// Whether text can be the name of a time zone, or an offset.
pub(super) fn is_zone(text: &str) -> bool {
    let is_part = |c: u8| c.is_ascii_alphanumeric() || b"_+:/-".contains(&c);
    (1..=ZONE_BYTES).contains(&text.len()) && text.bytes().all(is_part)
}

/// The column of an array of times.
pub(super) fn open(name: &str, opened: OpenedArray, marked: Marked) -> StoredColumn {
    let Marked { ty, zone } = marked;
    StoredColumn {
        spec: ColumnSpec::new(name, ColumnType::Times { ty, zone: zone.clone() }),
        parts: vec![Box::new(ItemPart::new(opened.array, None))],
        encoding: Box::new(Times { ty, zone }),
        has_mask: false,
    }
}

struct Times {
    ty: TimeType,
    zone: Option<String>,
}

impl Encoding for Times {
    fn encode(&self, values: &Values<'_>) -> Result<Vec<PartRows>> {
        check_type(ITEM, values)?;
        let (Some(missing), Some(times)) = (values.missing(), values.as_slice::<i64>()) else {
            return Ok(vec![item_rows(ITEM, values)]);
        };
        let times = times.iter().zip(missing);
        let times: Vec<i64> =
            times.map(|(&time, &missing)| if missing { NOT_A_TIME } else { time }).collect();
        Ok(vec![item_rows(ITEM, &times.into())])
    }

    fn read(&self, parts: &[Box<dyn Part>], rows: RowChoice<'_>) -> Result<Values<'static>> {
        let data = read_items(&*parts[0], ITEM, rows)?;
        let Data::I64(times) = &data else { return Ok(Values::new(data)) };
        if !times.contains(&NOT_A_TIME) {
            return Ok(Values::new(data));
        }
        let missing: Vec<bool> = times.iter().map(|&time| time == NOT_A_TIME).collect();
        Values::with_missing(data, missing)
    }

    fn query(&self, arrays: &[Arc<Array>]) -> Result<ColumnValues> {
        Ok(ColumnValues::Times { ty: self.ty, source: source(&arrays[0]), zone: self.zone.clone() })
    }
}
