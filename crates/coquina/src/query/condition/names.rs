//! Names that conditions have beside those of columns and functions of items.

use super::functions::{ELSEWHERE, function};
use super::options::OPTIONS;
use super::reductions;
use super::string_functions::string_function;

/// Questions about values, by all their names: functions, and methods of columns.
const QUESTIONS: [(&str, &str); 10] = [
    ("isnull", "is_null"),
    ("is_null", "is_null"),
    ("isna", "is_null"),
    ("notnull", "not_null"),
    ("not_null", "not_null"),
    ("notna", "not_null"),
    ("isin", "isin"),
    ("startswith", "startswith"),
    ("endswith", "endswith"),
    ("contains", "contains"),
];
/// What is asked by a function, or a method of columns, of this name.
pub(super) fn question(name: &str) -> Option<&'static str> {
    QUESTIONS.iter().find(|(known, _)| *known == name).map(|(_, name)| *name)
}

/// Whether a name is that of a function.
pub(super) fn is_function(name: &str) -> bool {
    function(name).is_some()
        || string_function(name).is_some()
        || question(name).is_some()
        || reductions::is_reduction(name)
        || ELSEWHERE.contains(&name)
        || OPTIONS.iter().any(|(known, _)| *known == name)
}
