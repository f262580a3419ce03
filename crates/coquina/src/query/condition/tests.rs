//! Types as NumPy has them, errors with their places, and hostile texts. What conditions mean is judged by
//! tests/queries.rs.

use std::sync::Arc;

use coquina_kernels::Type;
use proptest::prelude::*;

use super::super::columns::{Categories, ColumnValues, QueryColumn, TimeType, TimeUnit};
use super::super::testing::Memory;
use super::functions::function;
use super::types::{ItemType, Loop, Operand, resolve};
use super::{Parameter, condition, expression};
use crate::expr::text::TextErrorKind;

const LETTERS: &str = "?bBhHiIqQefdFD123";

fn operand(letter: char) -> Operand {
    match letter {
        '1' => Operand::WeakInt,
        '2' => Operand::WeakFloat,
        '3' => Operand::WeakComplex,
        other => Operand::Strong(item(other)),
    }
}

fn item(letter: char) -> ItemType {
    const TYPES: [Type; 13] = [
        Type::Bool,
        Type::I8,
        Type::U8,
        Type::I16,
        Type::U16,
        Type::I32,
        Type::U32,
        Type::I64,
        Type::U64,
        Type::F32,
        Type::F64,
        Type::C64,
        Type::C128,
    ];
    if letter == 'e' {
        return ItemType::Half;
    }
    ItemType::Number(TYPES["?bBhHiIqQfdFD".find(letter).unwrap()])
}

#[test]
fn types_are_those_that_numpy_answers() {
    let mut wrong = Vec::new();
    let mut found = 0;
    for line in
        include_str!("../../../tests/cases/numpy_types.txt").lines().filter(|line| !line.starts_with('#'))
    {
        let mut words = line.split(' ');
        let function = function(words.next().unwrap()).unwrap();
        let first = words.next().unwrap().chars().next().unwrap();
        for (wanted, second) in words.zip(LETTERS.chars()) {
            let operands = [operand(first), operand(second)];
            let made = resolve(function, &operands[..function.arity]);
            let is_right = match &made {
                Ok(Loop { inputs, output }) => {
                    let all: Vec<ItemType> = wanted.chars().filter(|c| *c != '-').map(item).collect();
                    all.split_last().is_some_and(|(last, before)| before == inputs && last == output)
                }
                Err(error) if error.kind() == TextErrorKind::Unsupported => wanted.contains('e'),
                Err(_) => wanted == "-",
            };
            found += 1;
            if !is_right {
                let made = made.map_err(|error| error.to_string());
                wrong.push(format!("{} {first} {second}: {made:?}, not {wanted}", function.name));
            }
        }
    }
    assert!(wrong.is_empty() && found > 10_000, "{} of {found}\n{}", wrong.len(), wrong.join("\n"));
}

fn columns() -> Vec<QueryColumn> {
    let numbers = |path: &str, ty, source| QueryColumn::new(path, ColumnValues::Numbers { ty, source });
    let texts = ColumnValues::Texts {
        offsets: Memory::of(&[0_i64, 1, 3, 6], 2, None),
        bytes: Memory::of("abbééc".as_bytes(), 2, None),
    };
    let times = ColumnValues::Times {
        ty: TimeType::instant(TimeUnit::Second),
        source: Memory::of(&[0_i64, 86_400, i64::MIN], 2, None),
        zone: None,
    };
    let categories = ColumnValues::Categories {
        ty: Type::I8,
        codes: Memory::of(&[0_i8, 1, -1], 2, None),
        categories: Arc::new(Categories::Texts(vec!["lo".into(), "hi".into()])),
        is_ordered: true,
    };
    vec![
        numbers("x", Type::F64, Memory::of(&[0.5, 2.0, f64::NAN], 2, None)),
        numbers("n", Type::I32, Memory::of(&[1, 2, 3], 2, None)).with_mask(Memory::of(
            &[0_u8, 1, 0],
            2,
            None,
        )),
        QueryColumn::new("s", texts),
        QueryColumn::new("info/t", times),
        QueryColumn::new("c", categories),
    ]
}

#[test]
fn errors_show_the_place_of_the_part_that_they_are_about() {
    for (text, kind, wanted) in [
        ("x > 1 and y < 2", TextErrorKind::Expression, "x > 1 and y < 2\n            ^"),
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

proptest! {
    #[test]
    fn any_text_of_words_gives_a_condition_or_an_error(
        pieces in proptest::collection::vec(
            proptest::sample::select(vec![
                "x", "n", "s", "info.t", "c", "p", "1", "2.5", "'a'", "b'b'", "'2024-01-01'", "None", "null", "True", "2j",
                "(", ")", ",", "==", "<", "!=", "in", "not", "is", "and", "or", "-", "~", "&", "|", "+", "*", "**", "/",
                "[0]", ".startswith(", "sqrt(", "mean(", "where(", "clip(", "round(", "astype(", "col(", "18446744073709551616",
            ]),
            0..14,
        ),
    ) {
        let text = pieces.join(" ");
        let given = [("p".to_owned(), Parameter::List(vec![None, Some(Parameter::Int(1))]))];
        if let Ok(source) = condition(&text, &columns(), &given) {
            let mut truths = [0; 3];
            source.fill(&[0], &[3], &mut truths).unwrap();
        }
        let _ = expression(&text, &columns(), &given).map(|found| found.ty.name());
    }
}
