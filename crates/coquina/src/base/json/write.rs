//! Writes JSON as Python's `json.dumps(value, ensure_ascii=False)` does.
//!
//! In: values. Out: their text, in UTF-8 in which surrogates may stand alone.
//! Invariant: what is written is read as the same value.

use super::{Json, JsonText};

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
        Json::Object(object) => {
            out.push(b'{');
            for (n, (name, value)) in object.iter().enumerate() {
                out.extend_from_slice(if n > 0 { b", " } else { b"" });
                string(name, out);
                out.extend_from_slice(b": ");
                value.write(out);
            }
            out.push(b'}');
        }
    }
}

fn string(text: &JsonText, out: &mut Vec<u8>) {
    out.push(b'"');
    for &byte in text.as_bytes() {
        let escaped: &[u8] = match byte {
            b'"' => b"\\\"",
            b'\\' => b"\\\\",
            8 => b"\\b",
            12 => b"\\f",
            b'\n' => b"\\n",
            b'\r' => b"\\r",
            b'\t' => b"\\t",
            ..0x20 => {
                out.extend_from_slice(format!("\\u{byte:04x}").as_bytes());
                continue;
            }
            _ => {
                out.push(byte);
                continue;
            }
        };
        out.extend_from_slice(escaped);
    }
    out.push(b'"');
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
