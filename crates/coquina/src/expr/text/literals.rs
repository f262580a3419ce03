//! Numbers as Python writes them: `1_000`, `0xff`, `.5e-3`, `2j`.

use super::syntax::Literal;

/// What is wrong, and how many bytes it takes.
type Wrong = (String, usize);

/// The number that a text begins with, and its length.
pub(super) fn number(text: &str) -> Result<(Literal, usize), Wrong> {
    let bases = [("0x", 16, "hexadecimal"), ("0o", 8, "octal"), ("0b", 2, "binary")];
    let start = text.get(..2).unwrap_or_default().to_ascii_lowercase();
    for (prefix, base, name) in bases {
        if start == prefix {
            let len = 2 + digits(&text[2..], base, true);
            let kind = format!("invalid {name} literal");
            return finished(
                text,
                len,
                integer(&text[2..len], base).ok_or_else(|| (kind.clone(), len))?,
                &kind,
            );
        }
    }
    decimal(text)
}

fn decimal(text: &str) -> Result<(Literal, usize), Wrong> {
    let wrong = "invalid decimal literal";
    let mut len = digits(text, 10, false);
    let whole = len;
    let mut is_float = false;
    if text[len..].starts_with('.') {
        is_float = true;
        len += 1;
        len += digits(&text[len..], 10, false);
    }
    let rest = &text[len..];
    if rest.starts_with(['e', 'E']) {
        let sign = usize::from(rest[1..].starts_with(['+', '-']));
        let exponent = digits(&rest[1 + sign..], 10, false);
        if exponent > 0 {
            is_float = true;
            len += 1 + sign + exponent;
        }
    }
    let plain = text[..len].replace('_', "");
    if text[..len].contains("__") || text[..len].split(['.', 'e', 'E']).any(|part| part.ends_with('_')) {
        return Err((wrong.to_owned(), len));
    }
    if text[len..].starts_with(['j', 'J']) {
        let value = plain.parse().map_err(|_| (wrong.to_owned(), len))?;
        return finished(text, len + 1, Literal::Imaginary(value), "invalid imaginary literal");
    }
    if is_float {
        let value = plain.parse().map_err(|_| (wrong.to_owned(), len))?;
        return finished(text, len, Literal::Float(value), wrong);
    }
    if plain.len() > 1 && plain.starts_with('0') && plain.bytes().any(|digit| digit != b'0') {
        let sentence = "leading zeros in decimal integer literals are not permitted; \
                        use an 0o prefix for octal integers";
        return Err((sentence.to_owned(), whole));
    }
    finished(text, len, integer(&plain, 10).ok_or_else(|| (wrong.to_owned(), len))?, wrong)
}

/// A number must not run into a name.
fn finished(text: &str, len: usize, value: Literal, wrong: &str) -> Result<(Literal, usize), Wrong> {
    let after = &text[len..];
    let word: String = after.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
    // As in `1if x else y`, which Python still reads.
    let is_word = ["and", "else", "for", "if", "in", "is", "not", "or"].contains(&word.as_str());
    if word.is_empty() || is_word { Ok((value, len)) } else { Err((wrong.to_owned(), len)) }
}

/// How many digits of a base stand here, with single lines between them.
fn digits(text: &str, base: u32, may_begin_with_line: bool) -> usize {
    let len = text.find(|c: char| !c.is_digit(base) && c != '_').unwrap_or(text.len());
    if text.starts_with('_') && !may_begin_with_line { 0 } else { len }
}

/// The integer of some digits; nothing for none, and for lines in wrong places.
fn integer(text: &str, base: u32) -> Option<Literal> {
    let has_line_at_end = text.is_empty() || text.ends_with('_') || text.contains("__");
    let plain = text.replace('_', "");
    if has_line_at_end || plain.is_empty() {
        return None;
    }
    if let Ok(value) = i128::from_str_radix(&plain, base) {
        return Some(Literal::Int(value));
    }
    // About so many bits: it is only told to a person.
    let significant = plain.trim_start_matches('0').len();
    let bits = match base {
        16 => significant * 4,
        8 => significant * 3,
        2 => significant,
        _ => significant * 3322 / 1000,
    };
    Some(Literal::LongInt(bits))
}
