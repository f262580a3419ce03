//! Times in conditions: what text spells, how many units that is, and how times compare.
//!
//! Source: NumPy's `datetime64` and `timedelta64`, and ISO 8601. NaT is the least integer.
//! Invariant: comparisons are exact, whatever the units; a time with an offset is taken to UTC.

use std::cmp::Ordering;

use super::super::columns::{TimeType, TimeUnit};
use super::Result;
use crate::expr::text::{TextError, TextErrorKind};

/// The year that times count from.
const EPOCH: i128 = 1970;
/// No time.
pub(super) const NAT: i64 = i64::MIN;

fn type_error(sentence: String) -> TextError {
    TextError::new(TextErrorKind::Type, sentence)
}

/// A time of the text or of a parameter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Moment {
    pub(super) ty: TimeType,
    pub(super) count: i64,
}

impl Moment {
    pub(super) fn is_nat(self) -> bool {
        self.count == NAT
    }

    /// How many steps of `ty` it is, rounded down, and whether that is exact. Beyond 128 bits it is the end of them.
    ///
    /// # Errors
    /// `Type` where months are to be compared with units that have a length.
    pub(super) fn counted(self, ty: TimeType) -> Result<(i128, bool)> {
        let (count, step) = (i128::from(self.count), i128::from(ty.step));
        let (own, other) = (self.ty.unit.attoseconds(), ty.unit.attoseconds());
        match (own, other) {
            (Some(own), Some(other)) => Ok(scaled(count, own * i128::from(self.ty.step), other * step)),
            (None, None) => {
                let months =
                    |ty: TimeType| i128::from(ty.step) * if ty.unit == TimeUnit::Year { 12 } else { 1 };
                Ok(scaled(count, months(self.ty), months(ty)))
            }
            _ if self.ty.is_span => {
                Err(type_error(format!("months have no length: {} is not compared with {ty}", self.ty)))
            }
            (None, Some(other)) => {
                let years = self.ty.unit == TimeUnit::Year;
                let months = count * i128::from(self.ty.step) * if years { 12 } else { 1 };
                let days = days_of(EPOCH + months.div_euclid(12), months.rem_euclid(12) + 1, 1);
                Ok(scaled(days, TimeUnit::Day.attoseconds().unwrap_or(1), other * step))
            }
            (Some(own), None) => {
                let (days, is_day) =
                    scaled(count, own * i128::from(self.ty.step), TimeUnit::Day.attoseconds().unwrap_or(1));
                let (year, month, day) = date_of(days);
                let months = (year - EPOCH) * 12 + month - 1;
                let per = step * if ty.unit == TimeUnit::Year { 12 } else { 1 };
                let is_exact = is_day && day == 1 && months.rem_euclid(per) == 0;
                Ok((months.div_euclid(per), is_exact))
            }
        }
    }
}

/// `count * factor / divisor`, rounded down, and whether that is exact.
fn scaled(count: i128, factor: i128, divisor: i128) -> (i128, bool) {
    let common = gcd(factor, divisor);
    let (factor, divisor) = (factor / common, divisor / common);
    match count.checked_mul(factor) {
        Some(total) => (total.div_euclid(divisor), total.rem_euclid(divisor) == 0),
        None => (if count < 0 { i128::MIN } else { i128::MAX }, false),
    }
}

fn gcd(a: i128, b: i128) -> i128 {
    if b == 0 { a.max(1) } else { gcd(b, a % b) }
}

/// Days from 1970 to a date of the Gregorian calendar. Source: "chrono-compatible low-level date algorithms", Hinnant.
fn days_of(year: i128, month: i128, day: i128) -> i128 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * (month + if month > 2 { -3 } else { 9 }) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

/// The date that is so many days after 1970: year, month, day.
fn date_of(days: i128) -> (i128, i128, i128) {
    let days = days + 719_468;
    let (era, of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let shifted = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    (year + era * 400 + i128::from(month <= 2), month, day)
}

/// The time that text spells; nothing if it spells none.
pub(super) fn parsed(text: &str) -> Option<Moment> {
    let text = text.trim();
    if text.eq_ignore_ascii_case("nat") || text.is_empty() {
        return Some(Moment { ty: TimeType::instant(TimeUnit::Second), count: NAT });
    }
    let mut digits = Digits { rest: text };
    let is_negative = digits.took('-') || {
        digits.took('+');
        false
    };
    let (year, width) = digits.number()?;
    if width < 4 {
        return None;
    }
    let year = if is_negative { -year } else { year };
    let moment = |unit: TimeUnit, count: i128| {
        let count = i64::try_from(count).ok().filter(|count| *count != NAT)?;
        Some(Moment { ty: TimeType::instant(unit), count })
    };
    if digits.rest.is_empty() {
        return moment(TimeUnit::Year, year - EPOCH);
    }
    let is_compact = !digits.took('-');
    if is_compact {
        return None;
    }
    let month = digits.two(1..=12)?;
    if digits.rest.is_empty() {
        return moment(TimeUnit::Month, (year - EPOCH) * 12 + month - 1);
    }
    if !digits.took('-') {
        return None;
    }
    let day = digits.two(1..=31)?;
    let days = days_of(year, month, day);
    if date_of(days) != (year, month, day) {
        return None;
    }
    if digits.rest.is_empty() {
        return moment(TimeUnit::Day, days);
    }
    if !digits.took('T') && !digits.took(' ') {
        return None;
    }
    let (unit, count) = time_of_day(&mut digits, days)?;
    let Some(offset) = offset(&mut digits)? else { return moment(unit, count) };
    // With an offset it is a time of Python's, in microseconds.
    let (unit, per) = (TimeUnit::Micro, unit.attoseconds()?);
    let (micros, _) = scaled(count, per, unit.attoseconds()?);
    moment(unit, micros - offset * 60_000_000)
}

/// The time of day behind a date: its unit, and how many of these since 1970.
fn time_of_day(digits: &mut Digits<'_>, days: i128) -> Option<(TimeUnit, i128)> {
    let hours = days * 24 + digits.two(0..=23)?;
    if !digits.took(':') {
        return Some((TimeUnit::Hour, hours));
    }
    let minutes = hours * 60 + digits.two(0..=59)?;
    if !digits.took(':') {
        return Some((TimeUnit::Minute, minutes));
    }
    let seconds = minutes * 60 + digits.two(0..=59)?;
    if !digits.took('.') {
        return Some((TimeUnit::Second, seconds));
    }
    let (fraction, width) = digits.number()?;
    let units =
        [TimeUnit::Milli, TimeUnit::Micro, TimeUnit::Nano, TimeUnit::Pico, TimeUnit::Femto, TimeUnit::Atto];
    let unit = *units.get(width.div_ceil(3).checked_sub(1)?)?;
    let places = u32::try_from(width.div_ceil(3) * 3).ok()?;
    let fraction = fraction * 10_i128.pow(places - u32::try_from(width).ok()?);
    Some((unit, seconds * 10_i128.pow(places) + fraction))
}

/// The minutes that a time is ahead of UTC, where it says that; nothing for what is no offset.
#[expect(clippy::option_option, reason = "an offset that is none, none at all, and one")]
fn offset(digits: &mut Digits<'_>) -> Option<Option<i128>> {
    if digits.rest.is_empty() {
        return Some(None);
    }
    if digits.took('Z') || digits.took('z') {
        return digits.rest.is_empty().then_some(Some(0));
    }
    let sign = if digits.took('-') {
        -1
    } else if digits.took('+') {
        1
    } else {
        return None;
    };
    let hours = digits.two(0..=23)?;
    digits.took(':');
    let minutes = if digits.rest.is_empty() { 0 } else { digits.two(0..=59)? };
    digits.rest.is_empty().then_some(Some(sign * (hours * 60 + minutes)))
}

/// What is left of a text.
struct Digits<'t> {
    rest: &'t str,
}

impl Digits<'_> {
    fn took(&mut self, sign: char) -> bool {
        let found = self.rest.strip_prefix(sign);
        self.rest = found.unwrap_or(self.rest);
        found.is_some()
    }

    /// A number, and how many digits it has.
    fn number(&mut self) -> Option<(i128, usize)> {
        let width = self.rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(self.rest.len());
        let found = self.rest[..width].parse().ok().filter(|_| width <= 18)?;
        self.rest = &self.rest[width..];
        Some((found, width))
    }

    fn two(&mut self, range: std::ops::RangeInclusive<i128>) -> Option<i128> {
        let found = self.rest.get(..2).filter(|part| part.bytes().all(|c| c.is_ascii_digit()))?;
        let found = found.parse().ok().filter(|found| range.contains(found))?;
        self.rest = &self.rest[2..];
        Some(found)
    }
}

/// The comparison of a column of times with a moment, as one of integers: which, and with what. Nothing where it is
/// decided for all rows.
pub(super) fn compared(
    op: &'static str,
    moment: Moment,
    ty: TimeType,
) -> Result<Option<(&'static str, i128)>> {
    if moment.is_nat() {
        return Ok(None);
    }
    let (count, is_exact) = moment.counted(ty)?;
    if is_exact {
        return Ok(Some((op, count)));
    }
    // The lower one of two neighbours is taken for what lies between them.
    Ok(match op {
        "less" | "less_equal" => Some(("less_equal", count)),
        "greater" | "greater_equal" => Some(("greater", count)),
        _ => None,
    })
}

/// How two times compare, exactly; nothing where one is NaT.
pub(super) fn order(a: Moment, b: Moment) -> Result<Option<Ordering>> {
    if a.is_nat() || b.is_nat() {
        return Ok(None);
    }
    let (count, is_exact) = b.counted(a.ty)?;
    let order = i128::from(a.count).cmp(&count);
    Ok(Some(if order.is_eq() && !is_exact { Ordering::Less } else { order }))
}
