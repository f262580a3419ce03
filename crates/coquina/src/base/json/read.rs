//! Reads JSON.
//!
//! In: bytes from anywhere. Out: a value, or an error that says where it is not JSON.
//! Invariant: what is allocated is no more than a small multiple of the text.

use super::{DEPTH_MAX, Json, JsonNumber, JsonText};
use crate::base::error::{Error, Result};

/// The three bytes of a surrogate.
const SURROGATE: [std::ops::RangeInclusive<u8>; 3] = [0xed..=0xed, 0xa0..=0xbf, 0x80..=0xbf];

pub(super) fn read(text: &[u8]) -> Result<Json> {
    let mut reader = Reader { text, at: 0, depth: 0 };
    let value = reader.value()?;
    match reader.next_mark() {
        None => Ok(value),
        Some(_) => Err(reader.wrong("the end")),
    }
}

/// Whether bytes are UTF-8, in which surrogates may stand alone.
pub(super) fn is_text(mut bytes: &[u8]) -> bool {
    while let Err(error) = std::str::from_utf8(bytes) {
        let rest = bytes.get(error.valid_up_to()..).unwrap_or_default();
        let Some((three, behind)) = rest.split_first_chunk::<3>() else { return false };
        if !three.iter().zip(&SURROGATE).all(|(byte, range)| range.contains(byte)) {
            return false;
        }
        bytes = behind;
    }
    true
}

struct Reader<'a> {
    text: &'a [u8],
    at: usize,
    depth: usize,
}

impl<'a> Reader<'a> {
    fn wrong(&self, wanted: &str) -> Error {
        Error::corrupt(format!("not JSON: byte {} is not {wanted}", self.at))
    }

    fn rest(&self) -> &'a [u8] {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// The next byte that is no space, which stays.
    fn next_mark(&mut self) -> Option<u8> {
        let rest = self.rest();
        let spaces = rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r')).count();
        self.at += spaces;
        rest.get(spaces).copied()
    }

    /// Goes past the next byte that is no space, if it is this one.
    fn takes(&mut self, mark: u8) -> bool {
        let is_it = self.next_mark() == Some(mark);
        self.at += usize::from(is_it);
        is_it
    }

    fn expect(&mut self, mark: u8) -> Result<()> {
        if self.takes(mark) { Ok(()) } else { Err(self.wrong(&format!("{:?}", char::from(mark)))) }
    }

    fn value(&mut self) -> Result<Json> {
        match self.next_mark() {
            Some(b'{') => self.nested(Self::object),
            Some(b'[') => self.nested(Self::list),
            Some(b'"') => Ok(Json::Text(self.string()?)),
            _ => self.word(),
        }
    }

    fn nested(&mut self, content: impl FnOnce(&mut Self) -> Result<Json>) -> Result<Json> {
        if self.depth == DEPTH_MAX {
            return Err(Error::limit(format!(
                "JSON with more than {DEPTH_MAX} lists and objects in each other"
            )));
        }
        self.at += 1;
        self.depth += 1;
        let made = content(self)?;
        self.depth -= 1;
        Ok(made)
    }

    fn list(&mut self) -> Result<Json> {
        let mut values = Vec::new();
        if self.takes(b']') {
            return Ok(Json::List(values));
        }
        loop {
            values.push(self.value()?);
            if !self.takes(b',') {
                self.expect(b']')?;
                return Ok(Json::List(values));
            }
        }
    }

    fn object(&mut self) -> Result<Json> {
        let mut entries = Vec::new();
        if !self.takes(b'}') {
            loop {
                if self.next_mark() != Some(b'"') {
                    return Err(self.wrong("a name"));
                }
                let name = self.string()?;
                self.expect(b':')?;
                entries.push((name, self.value()?));
                if !self.takes(b',') {
                    self.expect(b'}')?;
                    break;
                }
            }
        }
        Ok(Json::Object(entries.into_iter().collect()))
    }

    /// A number, or one of the words.
    fn word(&mut self) -> Result<Json> {
        let rest = self.rest();
        for (word, value) in
            [(&b"null"[..], Json::Null), (b"true", Json::Bool(true)), (b"false", Json::Bool(false))]
        {
            if rest.starts_with(word) {
                self.at += word.len();
                return Ok(value);
            }
        }
        let length = ["NaN", "Infinity", "-Infinity"].iter().find(|word| rest.starts_with(word.as_bytes()));
        let length = length.map_or_else(|| number_len(rest), |word| Some(word.len()));
        let number = length.and_then(|length| std::str::from_utf8(rest.get(..length)?).ok());
        let number = number.ok_or_else(|| self.wrong("a value"))?;
        self.at += number.len();
        Ok(Json::Number(JsonNumber(number.into())))
    }

    fn string(&mut self) -> Result<JsonText> {
        self.at += 1;
        let rest = self.rest();
        let plain = rest.iter().take_while(|byte| !matches!(byte, b'"' | b'\\' | ..0x20)).count();
        if rest.get(plain) == Some(&b'"') {
            return self.text_of(rest.get(..plain).unwrap_or_default(), plain + 1);
        }
        let start = self.at;
        let mut made = Vec::new();
        loop {
            let rest = self.rest();
            let plain = rest.iter().take_while(|byte| !matches!(byte, b'"' | b'\\' | ..0x20)).count();
            made.extend_from_slice(rest.get(..plain).unwrap_or_default());
            self.at += plain;
            match rest.get(plain) {
                Some(b'"') => {
                    let length = self.at + 1 - start;
                    self.at = start;
                    return self.text_of(&made, length);
                }
                Some(b'\\') => self.escape(&mut made)?,
                _ => return Err(self.wrong("part of a text")),
            }
        }
    }

    /// The text of these bytes, which stands in so many.
    fn text_of(&mut self, bytes: &[u8], length: usize) -> Result<JsonText> {
        let text = JsonText::from_bytes(bytes).map_err(|_| self.wrong("the start of a text in UTF-8"))?;
        self.at += length;
        Ok(text)
    }

    fn escape(&mut self, out: &mut Vec<u8>) -> Result<()> {
        let named = match self.rest().get(1) {
            Some(&mark @ (b'"' | b'\\' | b'/')) => mark,
            Some(b'b') => 8,
            Some(b'f') => 12,
            Some(b'n') => b'\n',
            Some(b'r') => b'\r',
            Some(b't') => b'\t',
            Some(b'u') => return self.escaped_number(out),
            _ => return Err(self.wrong("an escape")),
        };
        out.push(named);
        self.at += 2;
        Ok(())
    }

    fn escaped_number(&mut self, out: &mut Vec<u8>) -> Result<()> {
        let high = unit(self.rest()).ok_or_else(|| self.wrong("an escape"))?;
        self.at += 6;
        let low = unit(self.rest()).filter(|low| (0xdc00..0xe000).contains(low));
        let code = match low {
            Some(low) if (0xd800..0xdc00).contains(&high) => {
                self.at += 6;
                0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00)
            }
            _ => high,
        };
        match char::from_u32(code) {
            Some(char) => out.extend_from_slice(char.encode_utf8(&mut [0; 4]).as_bytes()),
            None => {
                // A surrogate alone: the three bytes that UTF-8 would have for its number.
                let six = |shift: u32| u8::try_from(code >> shift & 0x3f).unwrap_or_default();
                out.extend_from_slice(&[0xed, 0x80 | six(6), 0x80 | six(0)]);
            }
        }
        Ok(())
    }
}

/// The code unit of the escape `\u1234` in front.
fn unit(text: &[u8]) -> Option<u32> {
    let digits = text.strip_prefix(b"\\u")?.get(..4)?;
    let is_hex = digits.iter().all(u8::is_ascii_hexdigit);
    is_hex.then(|| u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok())?
}

/// How many bytes in front are a number.
fn number_len(text: &[u8]) -> Option<usize> {
    let digits = |at: usize| {
        text.get(at..).unwrap_or_default().iter().take_while(|byte| byte.is_ascii_digit()).count()
    };
    let start = usize::from(text.first() == Some(&b'-'));
    let whole = digits(start);
    if whole == 0 || whole > 1 && text.get(start) == Some(&b'0') {
        return None;
    }
    let mut end = start + whole;
    if text.get(end) == Some(&b'.') {
        end += 1 + Some(digits(end + 1)).filter(|&count| count > 0)?;
    }
    if matches!(text.get(end), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(text.get(end + 1), Some(b'+' | b'-')));
        end += 1 + sign + Some(digits(end + 1 + sign)).filter(|&count| count > 0)?;
    }
    Some(end)
}
