//! Types as NumPy has them, errors with their places, and hostile texts.

use std::sync::Arc;

use coquina::expr::text::TextErrorKind;
use coquina::query::condition::{Constant, ItemType, NumberType, Parameter, condition, expression};
use coquina::query::{Categories, ColumnValues, QueryColumn, TimeType, TimeUnit};
use proptest::prelude::*;

use crate::tables::array;

/// NumPy's letters of types, and the types; then Python's numbers.
const LETTERS: &str = "?bBhHiIqQefdFD123";

fn item(letter: char) -> ItemType {
    if letter == 'e' {
        return ItemType::Half;
    }
    let names = ["?", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8", "c8", "c16"];
    ItemType::Number(ItemType::by_name(names["?bBhHiIqQfdFD".find(letter).unwrap()]).unwrap())
}

/// What stands for an operand in a text: a column of its type, or a number.
fn operand(letter: char) -> String {
    match letter {
        '1' => "3".to_owned(),
        '2' => "3.5".to_owned(),
        '3' => "3j".to_owned(),
        other => format!("col('{other}')"),
    }
}

#[test]
fn types_are_those_that_numpy_answers() {
    let column = |letter: char| {
        let ty = item(letter);
        let bytes = if ty == ItemType::Half { 2 } else { ty.stored().bytes() };
        let source = array(&vec![0; bytes], bytes, &[1], 1);
        let values = match ty {
            ItemType::Number(ty) => ColumnValues::Numbers { ty, source },
            _ => ColumnValues::Halves(source),
        };
        QueryColumn::new(letter.to_string(), values)
    };
    let columns: Vec<QueryColumn> = LETTERS.chars().take(14).map(column).collect();
    let (mut wrong, mut count) = (Vec::new(), 0);
    for line in include_str!("../cases/numpy_types.txt").lines().filter(|line| !line.starts_with('#')) {
        let words: Vec<&str> = line.split(' ').collect();
        let (name, first) = (words[0], words[1].chars().next().unwrap());
        // Of these, conditions take truth values and integers alone.
        if name.starts_with("logical") || name.starts_with("bitwise") || name == "invert" {
            continue;
        }
        for (wanted, second) in words[2..].iter().zip(LETTERS.chars()) {
            let is_one = words.len() == 3;
            let is_comparison = ["equal", "less", "greater"].iter().any(|part| name.contains(part));
            // NumPy asks for arrays here; two numbers are compared as they are.
            if is_comparison && (first, second) == ('1', '1') {
                continue;
            }
            let text = if is_one {
                format!("{name}({})", operand(first))
            } else {
                format!("{name}({}, {})", operand(first), operand(second))
            };
            let found = expression(&text, &columns, &[]).map(|found| found.ty);
            let is_right = match &found {
                Ok(ty) => wanted.chars().last().filter(|letter| *letter != '-').map(item) == Some(*ty),
                // Half precision is not computed with, nor are some functions of complex numbers, and powers that
                // could be negative.
                Err(error) if error.kind() == TextErrorKind::Unsupported => {
                    wanted.contains(['e', 'F', 'D']) || name == "power"
                }
                Err(_) => *wanted == "-",
            };
            count += 1;
            if !is_right {
                let found = found.map_err(|error| error.sentence().to_owned());
                wrong.push(format!("{text}: {found:?}, not {wanted}"));
            }
        }
    }
    assert!(wrong.is_empty() && count > 8_000, "{} of {count}\n{}", wrong.len(), wrong.join("\n"));
}

fn le<const N: usize>(items: &[[u8; N]]) -> Vec<u8> {
    items.concat()
}

fn columns() -> Vec<QueryColumn> {
    let ty = |name: &str| -> NumberType { ItemType::by_name(name).unwrap() };
    let floats = array(&le(&[0.5, 2.0, f64::NAN].map(f64::to_le_bytes)), 8, &[3], 2);
    let ints = array(&le(&[1_i32, 2, 3].map(i32::to_le_bytes)), 4, &[3], 2);
    let text = "abbéc";
    let texts = ColumnValues::Texts {
        offsets: array(&le(&[0_i64, 1, 3, 6].map(i64::to_le_bytes)), 8, &[4], 2),
        bytes: array(text.as_bytes(), 1, &[text.len() as u64], 2),
    };
    let times = ColumnValues::Times {
        ty: TimeType::instant(TimeUnit::Second),
        source: array(&le(&[0_i64, 86_400, i64::MIN].map(i64::to_le_bytes)), 8, &[3], 2),
        zone: None,
    };
    let categories = ColumnValues::Categories {
        ty: ty("i1"),
        codes: array(&[0, 1, 255], 1, &[3], 2),
        categories: Arc::new(Categories::Texts(vec!["lo".into(), "hi".into()])),
        is_ordered: true,
    };
    vec![
        QueryColumn::new("x", ColumnValues::Numbers { ty: ty("f8"), source: floats }),
        QueryColumn::new("n", ColumnValues::Numbers { ty: ty("i4"), source: ints }).with_mask(array(
            &[0, 1, 0],
            1,
            &[3],
            2,
        )),
        QueryColumn::new("s", texts),
        QueryColumn::new("info/t", times),
        QueryColumn::new("c", categories),
    ]
}

#[test]
fn errors_show_the_place_of_the_part_that_they_are_about() {
    for (text, kind, wanted) in [
        ("x > 1 and y < 2", TextErrorKind::Name, "x > 1 and y < 2\n            ^"),
        ("x > 1 and n == 'a'", TextErrorKind::Type, "x > 1 and n == 'a'\n            ^^^^^^^^"),
        ("info.t > 'soon'", TextErrorKind::Value, "info.t > 'soon'\n  ^^^^^^^^^^^^^^^"),
        ("x + 300 * n[0] > 1", TextErrorKind::Type, "x + 300 * n[0] > 1\n            ^^^^"),
        ("sqrt(x, 2)", TextErrorKind::Expression, "sqrt(x, 2)\n  ^^^^^^^^^^"),
        ("n + 99999999999 > 1", TextErrorKind::Overflow, "n + 99999999999 > 1\n  ^^^^^^^^^^^^^^^"),
        ("info > 1", TextErrorKind::Expression, "'info' has columns in it: info.t\n  info > 1\n  ^^^^"),
    ] {
        let error = condition(text, &columns(), &[]).err().unwrap();
        assert_eq!(error.kind(), kind, "{text}");
        assert!(error.to_string().ends_with(wanted), "{error}");
    }
}

#[test]
fn values_of_expressions_have_types_and_nulls() {
    for (text, name, has_nulls) in [
        ("x * 2", "float64", false),
        ("n", "int32", true),
        ("n + 1.5", "float64", true),
        ("info.t", "datetime64[s]", false),
        ("info.t - info.t", "timedelta64[s]", false),
        ("2", "int64", false),
        ("x > 1", "bool", false),
    ] {
        let found = expression(text, &columns(), &[]).unwrap();
        assert_eq!((found.ty.name().as_str(), found.nulls.is_some()), (name, has_nulls), "{text}");
    }
}

#[test]
fn rows_that_a_column_has_too_many_of_are_never_read() {
    let source = array(&le(&[5_i64, 6, 7, 8, 9].map(i64::to_le_bytes)), 8, &[5], 2);
    let long = ColumnValues::Numbers { ty: ItemType::by_name("i8").unwrap(), source };
    let mut columns = columns();
    columns.push(QueryColumn::new("long", long));
    let source = condition("long > 5 and x > 1 or s == 'b'", &columns, &[]).unwrap();
    let mut truths = [2; 3];
    assert_eq!(source.shape(), [3]);
    source.fill(&[0], &[3], &mut truths).unwrap();
    assert_eq!(truths, [0, 1, 0]);
}

proptest! {
    #[test]
    fn any_text_of_words_gives_a_condition_or_an_error(
        pieces in proptest::collection::vec(
            proptest::sample::select(vec![
                "x", "n", "s", "info.t", "c", "p", "1", "2.5", "'a'", "b'b'", "'2024-01-01'", "None", "null", "True", "2j",
                "(", ")", ",", "==", "<", "!=", "in", "not", "is", "and", "or", "-", "~", "&", "|", "+", "*", "**", "/",
                "[0]", ".startswith(", "sqrt(", "mean(", "where(", "clip(", "round(", "astype(", "col(",
                "18446744073709551616",
            ]),
            0..14,
        ),
    ) {
        let text = pieces.join(" ");
        let given = [("p".to_owned(), Parameter::List(vec![None, Some(Constant::Int(1).into())]))];
        if let Ok(source) = condition(&text, &columns(), &given) {
            let mut truths = [0; 3];
            source.fill(&[0], &[3], &mut truths).unwrap();
        }
        let _ = expression(&text, &columns(), &given).map(|found| found.ty.name());
    }
}
