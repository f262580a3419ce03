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
use crate::table::part::{Part, PartRows, RowChoice};
use crate::table::schema::{ColumnSpec, ColumnType};
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

/// The attributes of an array of times. `dtype`: NumPy's name of their type.
pub(super) fn time_marks(dtype: &str, zone: Option<&str>) -> JsonObject {
    let mut marks = array_marks();
    marks.set("dtype".into(), dtype.into());
    let ty = TimeType::by_name(dtype).filter(|ty| ty.step == 1);
    let known = ty.and_then(|ty| Some((ty, CF_UNITS.iter().find(|(unit, _)| *unit == ty.unit)?)));
    if let Some((ty, (_, unit))) = known {
        let since = if ty.is_span { "" } else { " since 1970-01-01 00:00:00" };
        marks.set("units".into(), format!("{unit}{since}").as_str().into());
        if !ty.is_span {
            marks.set("calendar".into(), "proleptic_gregorian".into());
        }
    }
    if let Some(zone) = zone {
        marks.set("zone".into(), zone.into());
    }
    marks
}

/// What the integers of an array of times count, and the zone that dates are shown in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredTimes {
    /// What an integer counts.
    pub ty: TimeType,
    /// The time zone.
    pub zone: Option<String>,
}

/// The times that an array of 64-bit integers is marked to hold; `None` if it is not. `attribute` gives those of its
/// attributes that are text.
///
/// # Errors
/// What goes wrong with reading attributes.
pub fn stored_times(
    mut attribute: impl FnMut(&str) -> Result<Option<String>>,
) -> Result<Option<StoredTimes>> {
    let name = attribute("dtype")?.filter(|name| name.contains("64["));
    let Some(ty) = name.and_then(|name| TimeType::by_name(&name)) else { return Ok(None) };
    let zone = if ty.is_span { None } else { attribute("zone")?.filter(|zone| is_zone(zone)) };
    Ok(Some(StoredTimes { ty, zone }))
}

/// The times that an array of such items is marked to hold.
pub(super) fn marked_times(attributes: &JsonObject, item: ItemType) -> Option<StoredTimes> {
    let times = stored_times(|name| Ok(text_of(attributes, name)));
    times.ok().flatten().filter(|_| item == ITEM)
}

/// Whether text can be the name of a time zone, or an offset.
pub(super) fn is_zone(text: &str) -> bool {
    let is_part = |c: u8| c.is_ascii_alphanumeric() || b"_+:/-".contains(&c);
    (1..=ZONE_BYTES).contains(&text.len()) && text.bytes().all(is_part)
}

/// The column of an array of times.
pub(super) fn open(name: &str, opened: OpenedArray, times: StoredTimes) -> StoredColumn {
    let StoredTimes { ty, zone } = times;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_as_they_were_marked() {
        let marked = |dtype: &str, zone: Option<&str>| {
            let attributes = time_marks(dtype, zone);
            stored_times(|name| Ok(text_of(&attributes, name))).unwrap()
        };
        let berlin = Some("Europe/Berlin");
        let found = marked("datetime64[25s]", berlin).unwrap();
        assert_eq!((found.ty.to_string().as_str(), found.zone.as_deref()), ("datetime64[25s]", berlin));
        assert_eq!(marked("timedelta64[h]", berlin).unwrap().zone, None);
        assert_eq!(marked("datetime64[h]", Some("no zone")).unwrap().zone, None);
        assert_eq!(marked("datetime64", None), None);
    }
}
