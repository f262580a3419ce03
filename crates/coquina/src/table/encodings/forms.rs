//! AnnData's "awkward-array" for columns: text as offsets and bytes, and numbers of which some are missing.
//!
//! In: what a column is. Out: the JSON form that says which arrays it has, as Awkward Array knows them, and back. Each
//! array of the group is called by a key of the form and by what it is to it.
//! Source: anndata, on-disk format, "awkward arrays"; Awkward Array, `ak.to_buffers` and `ak.forms`.

use super::stored::marks;
use crate::base::error::{Error, Result};
use crate::base::json::{Json, JsonObject};

const DEPTH_MAX: usize = 4;

/// The arrays of a column that is an awkward array, by their names in its group.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct AwkwardParts {
    /// Numbers, or the bytes of texts.
    pub(super) data: String,
    /// Where texts begin and end.
    pub(super) offsets: Option<String>,
    /// What is missing.
    pub(super) mask: Option<String>,
}

/// A form, and the arrays that it names.
pub(super) struct AwkwardForm {
    pub(super) json: String,
    pub(super) parts: AwkwardParts,
}

/// The form of text, which may be missing if it is nullable.
pub(super) fn awkward_texts(is_nullable: bool) -> AwkwardForm {
    if !is_nullable {
        let (data, offsets) = ("node1-data".into(), Some("node0-offsets".into()));
        return AwkwardForm { json: text_form(0), parts: AwkwardParts { data, offsets, mask: None } };
    }
    let (offsets, mask) = (Some("node1-offsets".into()), Some("node0-mask".into()));
    let parts = AwkwardParts { data: "node2-data".into(), offsets, mask };
    AwkwardForm { json: masked(&text_form(1)), parts }
}

/// The form of numbers that may be missing. `name`: NumPy's of their type.
pub(super) fn awkward_numbers(name: &str) -> AwkwardForm {
    let inner = format!(
        "{{\"class\": \"NumpyArray\", \"primitive\": \"{name}\", \"inner_shape\": [], \"parameters\": {{}}, \
         \"form_key\": \"node1\"}}"
    );
    let mask = Some("node0-mask".into());
    let parts = AwkwardParts { data: "node1-data".into(), offsets: None, mask };
    AwkwardForm { json: masked(&inner), parts }
}

fn text_form(first: usize) -> String {
    let second = first + 1;
    format!(
        "{{\"class\": \"ListOffsetArray\", \"offsets\": \"i64\", \"content\": {{\"class\": \"NumpyArray\", \
         \"primitive\": \"uint8\", \"inner_shape\": [], \"parameters\": {{\"__array__\": \"char\"}}, \
         \"form_key\": \"node{second}\"}}, \"parameters\": {{\"__array__\": \"string\"}}, \
         \"form_key\": \"node{first}\"}}"
    )
}

fn masked(content: &str) -> String {
    format!(
        "{{\"class\": \"ByteMaskedArray\", \"mask\": \"i8\", \"valid_when\": false, \"content\": {content}, \
         \"parameters\": {{}}, \"form_key\": \"node0\"}}"
    )
}

/// The attributes of a column with a form.
pub(super) fn marked(form: &str) -> JsonObject {
    let mut attributes = marks("awkward-array", "0.1.0");
    attributes.set("form".into(), form.into());
    attributes.set("length".into(), 0_u64.into());
    attributes
}

/// The arrays of a form.
///
/// # Errors
/// `Unsupported` for one that is neither text nor numbers.
pub(super) fn awkward_parts(form: Option<&str>) -> Result<AwkwardParts> {
    let unknown =
        || Error::unsupported("an awkward array of neither numbers nor text with offsets of 64 bits");
    let no_json = |_| Error::unsupported("an awkward array whose form is not JSON");
    let form = Json::read(form.unwrap_or_default().as_bytes()).map_err(no_json)?;
    let (mut node, mut mask, mut offsets) = (&form, None, None);
    for _ in 0..DEPTH_MAX {
        let text = |name: &str| node.get(name).and_then(Json::as_str);
        let key = text("form_key").ok_or_else(unknown)?;
        let content = || node.get("content").ok_or_else(unknown);
        match text("class") {
            Some("ByteMaskedArray")
                if mask.is_none()
                    && offsets.is_none()
                    && node.get("valid_when") == Some(&Json::Bool(false)) =>
            {
                mask = Some(format!("{key}-mask"));
                node = content()?;
            }
            Some("UnmaskedArray") if offsets.is_none() => node = content()?,
            Some("ListOffsetArray")
                if offsets.is_none() && text("offsets") == Some("i64") && has_parameter(node, "string") =>
            {
                offsets = Some(format!("{key}-offsets"));
                node = content()?;
            }
            Some("NumpyArray") if is_flat(node) => {
                let is_text = text("primitive") == Some("uint8") && has_parameter(node, "char");
                if is_text != offsets.is_some() {
                    return Err(unknown());
                }
                return Ok(AwkwardParts { data: format!("{key}-data"), offsets, mask });
            }
            _ => return Err(unknown()),
        }
    }
    Err(unknown())
}

fn has_parameter(node: &Json, wanted: &str) -> bool {
    let parameters = node.get("parameters").and_then(Json::as_object);
    parameters.is_some_and(|all| all.iter().any(|(_, value)| value.as_str() == Some(wanted)))
}

/// Whether the items of an array have no axes of their own.
fn is_flat(node: &Json) -> bool {
    match node.get("inner_shape") {
        None | Some(Json::Null) => true,
        Some(shape) => shape.as_list().is_some_and(<[Json]>::is_empty),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_says_the_arrays_that_it_was_made_for() {
        for form in [awkward_texts(false), awkward_texts(true), awkward_numbers("float64")] {
            assert_eq!(awkward_parts(Some(&form.json)).unwrap(), form.parts);
        }
    }

    #[test]
    fn other_forms_are_refused() {
        let deep = (0..9).fold(text_form(0), |inner, _| masked(&inner));
        let wrong = [
            "",
            "null",
            "{}",
            "{\"class\": \"NumpyArray\"}",
            "{\"class\": \"NumpyArray\", \"form_key\": 1}",
            "{\"class\": \"NumpyArray\", \"form_key\": \"a\", \"inner_shape\": [2]}",
            "{\"class\": \"ListOffsetArray\", \"form_key\": \"a\", \"offsets\": \"i32\"}",
            "{\"class\": \"UnmaskedArray\", \"form_key\": \"a\"}",
            deep.as_str(),
        ];
        for form in wrong {
            assert!(awkward_parts(Some(form)).is_err(), "{form}");
        }
        assert!(awkward_parts(None).is_err());
    }
}
