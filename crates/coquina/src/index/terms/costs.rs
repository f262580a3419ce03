//! How many bytes are decoded for each row to compute a condition.

use std::collections::HashMap;
use std::sync::Arc;

use crate::array::{Array, BoxSource, Elements, Part};
use crate::compute::Bound;
use crate::query::FirstRows;
use crate::query::condition::{Element, Halves};
use crate::query::predicates::{Among, FixedText, Lookup, Strings};

/// What a text of any length is taken to be.
const TEXT_BYTES: u64 = 48;
/// What a row costs in a part that has no stored array.
const UNKNOWN_BYTES: u64 = 8;

/// The bytes of a row: of each array all of its items, however many parts of them are read.
pub fn row_bytes(condition: &Arc<dyn BoxSource>) -> u64 {
    let mut arrays: HashMap<usize, u64> = HashMap::new();
    let mut total = 0;
    let mut waiting = vec![condition];
    while let Some(source) = waiting.pop() {
        let mut stored = |array: &Array| {
            arrays.insert(std::ptr::from_ref(array).addr(), array.typesize() as u64);
        };
        let Some(any) = source.as_any() else {
            total += UNKNOWN_BYTES;
            continue;
        };
        if let Some(bound) = any.downcast_ref::<Bound>() {
            let inputs = bound.inputs().iter().zip(bound.program().operands());
            waiting.extend(inputs.filter(|(_, ty)| ty.is_some()).map(|(input, _)| &input.source));
        } else if let Some(array) = any.downcast_ref::<Array>() {
            stored(array);
        } else if let Some(part) = any.downcast_ref::<Part>() {
            stored(&part.array);
        } else if let Some(elements) = any.downcast_ref::<Elements>() {
            stored(&elements.array);
        } else if let Some(strings) = any.downcast_ref::<Strings>() {
            total += TEXT_BYTES;
            waiting.extend(strings.texts());
        } else {
            waiting.extend(wrapped(any));
        }
    }
    total + arrays.values().sum::<u64>()
}

/// The one source that another is made of.
fn wrapped(any: &dyn std::any::Any) -> Option<&Arc<dyn BoxSource>> {
    let element = || any.downcast_ref::<Element>().map(|element| &element.source);
    let rows = || any.downcast_ref::<FirstRows>().map(|rows| &rows.source);
    let halves = || any.downcast_ref::<Halves>().map(|halves| &halves.0);
    let lookup = || any.downcast_ref::<Lookup>().map(|lookup| lookup.codes().0);
    let among = || any.downcast_ref::<Among>().map(|among| among.numbers().0);
    let texts = || any.downcast_ref::<FixedText>().map(FixedText::texts);
    element().or_else(rows).or_else(halves).or_else(lookup).or_else(among).or_else(texts)
}
