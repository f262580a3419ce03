//! Ranges of keys that comparisons of texts ask for: a key is the first bytes of a text.
//!
//! In: a constant as its bytes, UTF-8 or those of "S". Out: keys of which all texts compare so, and of which some do.
//! `width`: bytes of a text at most; 0 for any number.

use std::sync::Arc;

use super::super::{KeyKind, KeyRanges, Wanted};

/// Bytes of a text that its key holds.
const PREFIX_BYTES: usize = size_of::<u64>();

/// The key of a text, and whether that is all of it.
fn key_of(text: &[u8]) -> u64 {
    let mut first = [0; PREFIX_BYTES];
    let len = text.len().min(PREFIX_BYTES);
    first[..len].copy_from_slice(&text[..len]);
    u64::from_be_bytes(first)
}

/// A constant as texts of a kind are: zeros at the end of what has a fixed width do not count.
fn own(kind: KeyKind, constant: &[u8]) -> Option<&[u8]> {
    match kind {
        KeyKind::Bytes | KeyKind::CodePoints => {
            let len = constant.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
            Some(&constant[..len])
        }
        KeyKind::Text => Some(constant),
        KeyKind::Number(_) | KeyKind::Time => None,
    }
}

fn is_in_key(width: usize) -> bool {
    (1..=PREFIX_BYTES).contains(&width)
}

/// What asks for keys of which some texts are meant.
fn maybe(sure: KeyRanges, maybe: KeyRanges) -> Wanted {
    Wanted { sure: Arc::new(sure), maybe: Arc::new(maybe), nan: Some(false), null: None }
}

fn exactly(keys: KeyRanges) -> Wanted {
    Wanted::exactly(keys, Some(false), None)
}

/// What asks for texts that compare so with a constant, or start with it; nothing for other tests, and other kinds.
pub(super) fn tested(op: &str, kind: KeyKind, constant: &[u8], width: usize) -> Option<Wanted> {
    let constant = own(kind, constant)?;
    let key = key_of(constant);
    let below = || key.checked_sub(1).map(|end| 0..=end);
    let above = || key.checked_add(1).map(|start| start..=u64::MAX);
    let base = match op {
        "startswith" => return Some(starting(constant, key, width)),
        "not_equal" => return tested("equal", kind, constant, width).map(|found| found.not()),
        "equal" => None,
        "less" | "less_equal" => below(),
        "greater" | "greater_equal" => above(),
        _ => return None,
    };
    let base = KeyRanges::union(base.into_iter().collect());
    let more = base.or(&KeyRanges::points(&[key]));
    Some(match at_key(op, constant, width) {
        Some(false) => exactly(base),
        Some(true) => exactly(more),
        None => maybe(base, more),
    })
}

/// Whether texts that begin as a constant does, as far as keys go, compare so with it; nothing: some do.
fn at_key(op: &str, constant: &[u8], width: usize) -> Option<bool> {
    let is_short = constant.len() <= PREFIX_BYTES;
    if is_in_key(width) {
        // The key is all of the text: it is the constant, or the beginning of it.
        return Some(match op {
            "equal" | "greater_equal" => is_short,
            "less_equal" => true,
            "less" => !is_short,
            _ => false,
        });
    }
    if is_short && !constant.contains(&0) {
        // It is the constant, or goes on.
        return match op {
            "less" => Some(false),
            "greater_equal" => Some(true),
            _ => None,
        };
    }
    None
}

fn starting(constant: &[u8], key: u64, width: usize) -> Wanted {
    let nothing = KeyRanges::default;
    if constant.len() > PREFIX_BYTES {
        return if (1..constant.len()).contains(&width) {
            exactly(nothing())
        } else {
            maybe(nothing(), KeyRanges::points(&[key]))
        };
    }
    let bits = 8 * u32::try_from(PREFIX_BYTES - constant.len()).unwrap_or(0);
    let rest = u64::MAX.checked_shr(u64::BITS - bits).unwrap_or(0);
    let found = KeyRanges::union(vec![key..=key | rest]);
    if constant.contains(&0) { maybe(nothing(), found) } else { exactly(found) }
}

/// What asks for texts that are one of these; nothing for what is no text.
pub(super) fn among(kind: KeyKind, constants: &[Vec<u8>], width: usize) -> Option<Wanted> {
    let own: Option<Vec<&[u8]>> = constants.iter().map(|one| own(kind, one)).collect();
    let fits = |one: &&[u8]| width == 0 || one.len() <= width;
    let keys: Vec<u64> = own?.into_iter().filter(fits).map(key_of).collect();
    let found = KeyRanges::points(&keys);
    let is_all = found.is_empty() || is_in_key(width);
    Some(if is_all { exactly(found) } else { maybe(KeyRanges::default(), found) })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Whether a text meets a test, plainly.
    fn holds(op: &str, text: &[u8], constant: &[u8]) -> bool {
        match op {
            "equal" => text == constant,
            "not_equal" => text != constant,
            "less" => text < constant,
            "less_equal" => text <= constant,
            "greater" => text > constant,
            "greater_equal" => text >= constant,
            _ => text.starts_with(constant),
        }
    }

    fn some_text() -> impl Strategy<Value = Vec<u8>> {
        prop::collection::vec(prop::sample::select(&b"\0\0aab\xff"[..]), 0..12)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn keys_are_wanted_where_texts_meet_the_test(
            (texts, constant, more) in (prop::collection::vec(some_text(), 1..8), some_text(), some_text()),
            (op, kind, width) in (0..7_usize, 0..2_usize, 0..14_usize),
        ) {
            let ops = ["equal", "not_equal", "less", "less_equal", "greater", "greater_equal", "startswith"];
            let (op, kind) = (ops[op], [KeyKind::Bytes, KeyKind::Text][kind]);
            let is_fixed = kind == KeyKind::Bytes;
            let width = if is_fixed { width.max(1) } else { 0 };
            let trimmed = |text: &[u8]| own(kind, text).unwrap().to_vec();
            let wanted = tested(op, kind, &constant, width).unwrap();
            let listed = [constant.clone(), more];
            let members = among(kind, &listed, width).unwrap();
            for text in texts.iter().chain([&constant]) {
                let text = trimmed(if is_fixed { &text[..text.len().min(width)] } else { text });
                let key = key_of(&text);
                let is_in = listed.iter().any(|one| trimmed(one) == text);
                for (wanted, holds) in [(&wanted, holds(op, &text, &trimmed(&constant))), (&members, is_in)] {
                    prop_assert!(!wanted.sure.contains(key) || holds, "{op} {text:?} {constant:?} {width}");
                    prop_assert!(wanted.maybe.contains(key) || !holds, "{op} {text:?} {constant:?} {width}");
                }
            }
        }
    }

    #[test]
    fn short_texts_are_told_by_their_keys() {
        for op in ["equal", "less", "greater", "startswith"] {
            assert!(tested(op, KeyKind::Bytes, b"ab", 4).unwrap().is_sharp());
        }
        assert!(tested("less", KeyKind::Text, b"ab", 0).unwrap().is_sharp());
        assert!(!tested("equal", KeyKind::Text, b"ab", 0).unwrap().is_sharp());
        assert!(tested("endswith", KeyKind::Text, b"ab", 0).is_none());
        assert!(tested("equal", KeyKind::Time, b"ab", 0).is_none() && among(KeyKind::Time, &[], 0).is_some());
    }
}
