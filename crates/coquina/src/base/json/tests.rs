//! Laws of JSON: what Python writes is read and written again as it was, and nothing else is believed.

use super::*;
use crate::base::error::ErrorKind;
use crate::base::testing::random;

fn written(value: &Json) -> Vec<u8> {
    let mut out = Vec::new();
    value.write(&mut out);
    out
}

/// Made by `json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass")` of Python 3.11.
const TEXTS: &[&[u8]] = &[
    b"null",
    b"[true, false, null, [], {}, [[]], \"\"]",
    b"{\"a\": 1, \"b\": [1.5, -0.0, 1e+16, 1e-05, 5e-324, NaN, Infinity, -Infinity]}",
    b"[123456789012345678901234567890, -9223372036854775808, 18446744073709551615, -0, 0]",
    b"\"\\\"\\\\/\\b\\f\\n\\r\\t\\u0000\\u001f\x7f\"",
    "\"é €😀 \u{2028}\"".as_bytes(),
    b"\"lone \xed\xa0\x80 and \xed\xbf\xbf, and \xed\xa0\xbd\xed\xb8\x80 side by side\"",
    b"{\"\xed\xb2\x80\": \"name\", \"\": {\"kind\": \"group\", \"attrs\": {}}}",
];

#[test]
fn texts_that_python_writes_are_written_again_as_they_were() {
    for text in TEXTS {
        let value = Json::read(text).unwrap();
        assert_eq!(written(&value), *text, "{}", String::from_utf8_lossy(text));
        let spaced = [b" \r\n\t", *text, b"\n"].concat();
        assert_eq!(Json::read(&spaced).unwrap(), value);
    }
}

#[test]
fn other_spellings_are_read_as_python_reads_them() {
    let cases: [(&[u8], &[u8]); 6] = [
        (b"[1,2 ,\t3]", b"[1, 2, 3]"),
        (b"{\"a\":1,\"b\":2,\"a\":3}", b"{\"a\": 3, \"b\": 2}"),
        (b"\"\\ud83d\\ude00\\u00e9\\/\"", "\"😀é/\"".as_bytes()),
        (b"\"\\ud83d\\ud83d\\ude00\\ud83dx\"", b"\"\xed\xa0\xbd\xf0\x9f\x98\x80\xed\xa0\xbdx\""),
        (b"\"\\ude00\\ud83d\"", b"\"\xed\xb8\x80\xed\xa0\xbd\""),
        (b"[1E5, 1.50, 2e-3]", b"[1E5, 1.50, 2e-3]"),
    ];
    for (text, wanted) in cases {
        assert_eq!(written(&Json::read(text).unwrap()), wanted, "{}", String::from_utf8_lossy(text));
    }
    let many: Vec<u8> = (0..300).flat_map(|n| format!(",\"{}\":{n}", n % 100).into_bytes()).collect();
    let found = Json::read(&[b"{", &many[1..], b"}"].concat()).unwrap();
    let found: Vec<_> = found.as_object().unwrap().iter().collect();
    assert_eq!(found.len(), 100);
    for (n, (name, value)) in (0_i64..).zip(found) {
        assert_eq!((name.as_str(), value.as_i64()), (Some(&*n.to_string()), Some(n + 200)));
    }
}

#[test]
fn what_is_no_json_is_refused() {
    let cases: [&[u8]; 30] = [
        b"",
        b" ",
        b"nul",
        b"nulll",
        b"+1",
        b"01",
        b"-",
        b"1.",
        b".5",
        b"1e",
        b"1e+",
        b"- 1",
        b"[1,]",
        b"[,]",
        b"[1 2]",
        b"{\"a\"}",
        b"{\"a\":}",
        b"{a: 1}",
        b"{\"a\": 1,}",
        b"\"",
        b"\"\n\"",
        b"\"\\x\"",
        b"\"\\u12g4\"",
        b"\"\\u+123\"",
        b"\"\xff\"",
        b"\"\xc0\x80\"",
        b"\"\xed\xa0\"",
        b"nan",
        b"1 2",
        b"\xef\xbb\xbf1",
    ];
    for text in cases {
        let error = Json::read(text).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{}: {error}", String::from_utf8_lossy(text));
    }
}

#[test]
fn every_prefix_and_every_flipped_bit_is_an_error_or_a_value_and_never_a_panic() {
    let mut next = random(1);
    for text in TEXTS {
        for end in 0..text.len() {
            let _ = Json::read(&text[..end]).map(|value| written(&value));
        }
        for bit in 0..8 * text.len() {
            let mut bad = text.to_vec();
            bad[bit / 8] ^= 1 << (bit % 8);
            if let Ok(value) = Json::read(&bad) {
                assert_eq!(Json::read(&written(&value)).unwrap(), value);
            }
        }
        for _ in 0..2000 {
            let mut bad = text.to_vec();
            for _ in 0..1 + next(4) {
                let at = usize::try_from(next(bad.len() as u64)).unwrap();
                bad[at] = b"[]{}\",:\\u0e-\xed\xa0"[usize::try_from(next(14)).unwrap()];
            }
            if let Ok(value) = Json::read(&bad) {
                assert_eq!(Json::read(&written(&value)).unwrap(), value);
            }
        }
    }
}

#[test]
fn values_that_are_too_deep_are_refused() {
    let nested = |depth: usize| [b"[".repeat(depth), b"]".repeat(depth)].concat();
    let deepest = nested(DEPTH_MAX);
    assert_eq!(written(&Json::read(&deepest).unwrap()), deepest);
    for depth in [DEPTH_MAX + 1, 1_000_000] {
        assert_eq!(Json::read(&nested(depth)).unwrap_err().kind(), ErrorKind::Limit);
        assert_eq!(Json::read(&b"{\"\":".repeat(depth)).unwrap_err().kind(), ErrorKind::Limit);
    }
}

#[test]
fn numbers_are_those_of_python() {
    // As `repr` of Python writes them.
    let cases: [(f64, &str); 12] = [
        (0.0, "0.0"),
        (-0.0, "-0.0"),
        (1.0, "1.0"),
        (0.1, "0.1"),
        (1e15, "1000000000000000.0"),
        (1e16, "1e+16"),
        (1.5e300, "1.5e+300"),
        (0.0001, "0.0001"),
        (0.00001, "1e-05"),
        (-1.25e-7, "-1.25e-07"),
        (f64::INFINITY, "Infinity"),
        (f64::NEG_INFINITY, "-Infinity"),
    ];
    for (number, text) in cases {
        let value = Json::from(number);
        assert_eq!(value.as_number().unwrap().as_str(), text);
        assert_eq!(Json::read(text.as_bytes()).unwrap(), value);
        assert_eq!(value.as_f64().unwrap().to_bits(), number.to_bits());
        assert!(!value.as_number().unwrap().is_integer() && value.as_i64().is_none());
    }
    assert!(Json::from(f64::NAN).as_f64().unwrap().is_nan());
    assert_eq!(written(&Json::from(f64::NAN)), b"NaN");
    assert_eq!(Json::read(b"18446744073709551615").unwrap().as_u64(), Some(u64::MAX));
    assert_eq!(Json::read(b"18446744073709551615").unwrap().as_i64(), None);
    assert_eq!(Json::from(i64::MIN).as_i64(), Some(i64::MIN));
    assert!(Json::read(b"123456789012345678901234567890").unwrap().as_number().unwrap().is_integer());
}

#[test]
fn objects_keep_their_order() {
    let mut object = JsonObject::default();
    for name in ["b", "a", "c", "b"] {
        object.set(name.into(), name.into());
    }
    object.set("a".into(), 1_i64.into());
    assert_eq!(object.remove(b"c"), Some("c".into()));
    assert_eq!((object.remove(b"c"), object.len()), (None, 2));
    assert_eq!(written(&object.into()), b"{\"b\": \"b\", \"a\": 1}");
}
