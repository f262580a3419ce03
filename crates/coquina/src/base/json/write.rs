//! Writes JSON as Python's `json.dumps(value, ensure_ascii=False)` does.
//!
//! In: values. Out: their text, in UTF-8 in which surrogates may stand alone.
//! Invariant: what is written is read as the same value.

use super::{Json, JsonObject, JsonText};

pub(super) fn value(value: &Json, out: &mut Vec<u8>) {
    match value {
        Json::Null => out.extend_from_slice(b"null"),
        Json::Bool(true) => out.extend_from_slice(b"true"),
        Json::Bool(false) => out.extend_from_slice(b"false"),
        Json::Number(number) => out.extend_from_slice(number.as_str().as_bytes()),
        Json::Text(text) => string(text, out),
        Json::List(values) => {
            out.push(b'[');
            for (n, value) in values.iter().enumerate() {
                out.extend_from_slice(if n > 0 { b", " } else { b"" });
                value.write(out);
            }
            out.push(b']');
        }
        Json::Object(members) => object(members, out),
    }
}

pub(super) fn object(object: &JsonObject, out: &mut Vec<u8>) {
    out.push(b'{');
    for (n, (name, value)) in object.iter().enumerate() {
        out.extend_from_slice(if n > 0 { b", " } else { b"" });
        string(name, out);
        out.extend_from_slice(b": ");
        value.write(out);
    }
    out.push(b'}');
}

fn string(text: &JsonText, out: &mut Vec<u8>) {
    out.push(b'"');
    let is_special = |byte: &u8| matches!(byte, b'"' | b'\\' | ..0x20);
    for part in text.as_bytes().split_inclusive(is_special) {
        match part.split_last() {
            Some((&special, plain)) if is_special(&special) => {
                out.extend_from_slice(plain);
                escape(special, out);
            }
            _ => out.extend_from_slice(part),
        }
    }
    out.push(b'"');
}

fn escape(byte: u8, out: &mut Vec<u8>) {
    match byte {
        b'"' => out.extend_from_slice(b"\\\""),
        b'\\' => out.extend_from_slice(b"\\\\"),
        8 => out.extend_from_slice(b"\\b"),
        12 => out.extend_from_slice(b"\\f"),
        b'\n' => out.extend_from_slice(b"\\n"),
        b'\r' => out.extend_from_slice(b"\\r"),
        b'\t' => out.extend_from_slice(b"\\t"),
        _ => out.extend_from_slice(format!("\\u{byte:04x}").as_bytes()),
    }
}

/// The shortest text that is this number, as Python's `repr` writes it.
pub(super) fn float(number: f64) -> String {
    if number.is_nan() {
        return "NaN".into();
    }
    if number.is_infinite() {
        return if number > 0.0 { "Infinity" } else { "-Infinity" }.into();
    }
    // Rust changes to exponents where Python does, and leaves out a plus and a zero.
    let text = format!("{number:?}");
    match text.split_once('e') {
        None => text,
        Some((digits, exponent)) => {
            let (sign, exponent) = exponent.strip_prefix('-').map_or(('+', exponent), |rest| ('-', rest));
            format!("{digits}e{sign}{exponent:0>2}")
        }
    }
}
