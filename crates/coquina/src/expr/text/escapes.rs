//! Texts and bytes as Python writes them: in one or three quotes, raw or with escapes.

use super::syntax::Literal;

/// What is wrong, where, and how many bytes it takes.
type Wrong = (String, usize, usize);

/// The text that stands in the quotes that `text` begins with, and how many bytes these take. `kinds` has the letters
/// before the quote: `b` for bytes, `r` for no escapes.
pub(super) fn quoted(text: &str, kinds: &str) -> Result<(Literal, usize), Wrong> {
    let quote = &text[..1];
    let triple = quote.repeat(3);
    let fence = if text.starts_with(&triple) { &triple[..] } else { quote };
    let inner = &text[fence.len()..];
    let unclosed = || {
        (format!("unterminated {}string literal", if fence.len() == 3 { "triple-quoted " } else { "" }), 0, 1)
    };
    let len = end_of(inner, fence).ok_or_else(unclosed)?;
    let body = &inner[..len];
    let is_raw = kinds.contains('r');
    let value = if kinds.contains('b') {
        if let Some((at, c)) = body.char_indices().find(|(_, c)| !c.is_ascii()) {
            let sentence = "bytes can only contain ASCII literal characters".to_owned();
            return Err((sentence, fence.len() + at, c.len_utf8()));
        }
        Literal::Bytes(if is_raw { body.as_bytes().to_vec() } else { bytes(body, fence.len())? })
    } else {
        Literal::Text(if is_raw { body.to_owned() } else { characters(body, fence.len())? })
    };
    Ok((value, 2 * fence.len() + len))
}

/// Where a text ends: before the next such quotes that no backslash stands before.
fn end_of(inner: &str, fence: &str) -> Option<usize> {
    let mut is_escaped = false;
    for (at, c) in inner.char_indices() {
        if is_escaped {
            is_escaped = false;
        } else if inner[at..].starts_with(fence) {
            return Some(at);
        } else if matches!(c, '\n' | '\r') && fence.len() == 1 {
            return None;
        } else {
            is_escaped = c == '\\';
        }
    }
    None
}

/// One escape: what it stands for, and how many bytes stand behind the backslash.
enum Escape {
    Value(u32, usize),
    /// A line that goes on.
    Nothing(usize),
    /// It stands for itself, with the backslash.
    Itself,
}

fn escape(after: &str, is_bytes: bool) -> Result<Escape, &'static str> {
    let Some(first) = after.chars().next() else { return Ok(Escape::Itself) };
    let hex = |len: usize, sentence: &'static str| {
        let digits = after.get(1..1 + len).filter(|part| part.bytes().all(|c| c.is_ascii_hexdigit()));
        let value = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok());
        value.map(|value| Escape::Value(value, 1 + len)).ok_or(sentence)
    };
    Ok(match first {
        '\n' => Escape::Nothing(1),
        '\r' => Escape::Nothing(if after.starts_with("\r\n") { 2 } else { 1 }),
        '\\' | '\'' | '"' => Escape::Value(first.into(), 1),
        'a' => Escape::Value(7, 1),
        'b' => Escape::Value(8, 1),
        't' => Escape::Value(9, 1),
        'n' => Escape::Value(10, 1),
        'v' => Escape::Value(11, 1),
        'f' => Escape::Value(12, 1),
        'r' => Escape::Value(13, 1),
        '0'..='7' => {
            let len = after.bytes().take(3).take_while(|c| (b'0'..=b'7').contains(c)).count();
            Escape::Value(u32::from_str_radix(&after[..len], 8).unwrap_or(0), len)
        }
        'x' => return hex(2, "truncated \\xXX escape"),
        'u' if !is_bytes => return hex(4, "truncated \\uXXXX escape"),
        'U' if !is_bytes => return hex(8, "truncated \\UXXXXXXXX escape"),
        'N' if !is_bytes => return Err("characters by their names, \\N{...}, are not read: write \\u"),
        _ => Escape::Itself,
    })
}

fn bytes(body: &str, before: usize) -> Result<Vec<u8>, Wrong> {
    let mut out = Vec::with_capacity(body.len());
    each(body, before, true, |value| {
        // Octal ones beyond a byte lose their ninth bit, as in Python.
        out.push(value.to_le_bytes()[0]);
        Ok(())
    })?;
    Ok(out)
}

fn characters(body: &str, before: usize) -> Result<String, Wrong> {
    let mut out = String::with_capacity(body.len());
    each(body, before, false, |value| {
        out.push(char::from_u32(value).ok_or("no character: it stands for none, or for half of one")?);
        Ok(())
    })?;
    Ok(out)
}

/// Calls `push` for each character, escaped or not.
fn each(
    body: &str,
    before: usize,
    is_bytes: bool,
    mut push: impl FnMut(u32) -> Result<(), &'static str>,
) -> Result<(), Wrong> {
    let mut at = 0;
    while let Some(c) = body[at..].chars().next() {
        let wrong = |sentence: &str, len: usize| (sentence.to_owned(), before + at, len);
        if c != '\\' {
            push(c.into()).map_err(|sentence| wrong(sentence, c.len_utf8()))?;
            at += c.len_utf8();
            continue;
        }
        match escape(&body[at + 1..], is_bytes).map_err(|sentence| wrong(sentence, 2.min(body.len() - at)))? {
            Escape::Value(value, len) => {
                push(value).map_err(|sentence| wrong(sentence, 1 + len))?;
                at += 1 + len;
            }
            Escape::Nothing(len) => at += 1 + len,
            Escape::Itself => {
                push(c.into()).map_err(|sentence| wrong(sentence, 1))?;
                at += 1;
            }
        }
    }
    Ok(())
}
