//! What texts are read as, and that no text does harm.

use proptest::prelude::*;

use super::*;

/// A tree as it would be written with all brackets.
fn shown(one: &Syntax) -> String {
    let list = |all: &[Syntax]| all.iter().map(shown).collect::<Vec<_>>().join(", ");
    match &one.kind {
        SyntaxKind::Literal(Literal::Bool(value)) => value.to_string(),
        SyntaxKind::Literal(Literal::Int(value)) => value.to_string(),
        SyntaxKind::Literal(Literal::Float(value)) => format!("{value:?}"),
        SyntaxKind::Literal(Literal::Text(value)) => format!("{value:?}"),
        SyntaxKind::Literal(other) => format!("{other:?}"),
        SyntaxKind::Name(name) => name.clone(),
        SyntaxKind::Binary(first, rest) => rest
            .iter()
            .fold(shown(first), |left, (op, right)| format!("({left} {} {})", op.sign(), shown(right))),
        SyntaxKind::Unary(op, one) => format!("{op:?}({})", shown(one)),
        SyntaxKind::Logical(op, all) => format!("{op:?}[{}]", list(all)),
        SyntaxKind::Compare(first, rest) => {
            let rest: Vec<_> = rest.iter().map(|(op, one)| format!("{op:?} {}", shown(one))).collect();
            format!("<{} {}>", shown(first), rest.join(" "))
        }
        SyntaxKind::Call(function, arguments) => {
            let one = |one: &Argument| {
                let name = one.name.as_ref().map_or(String::new(), |name| format!("{name}="));
                name + &shown(&one.value)
            };
            format!("{}({})", shown(function), arguments.iter().map(one).collect::<Vec<_>>().join(", "))
        }
        SyntaxKind::Part(one, parts) => format!("{}[{}]", shown(one), list(parts)),
        SyntaxKind::Slice(ends) => {
            ends.iter().map(|end| end.as_ref().map_or(String::new(), shown)).collect::<Vec<_>>().join(":")
        }
        SyntaxKind::Attribute(one, name) => format!("{}.{name}", shown(one)),
        SyntaxKind::List(all) => format!("[{}]", list(all)),
    }
}

#[test]
fn operators_bind_as_in_python() {
    for (text, wanted) in [
        ("a + b * c - d", "((a + (b * c)) - d)"),
        ("a - (b - c)", "(a - (b - c))"),
        ("2 ** 3 ** 2", "(2 ** (3 ** 2))"),
        ("-2 ** 2", "Minus((2 ** 2))"),
        ("2 ** -x", "(2 ** Minus(x))"),
        ("(a ** b) ** c", "((a ** b) ** c)"),
        ("not a == b and c or d", "Or[And[Not(<a Equal b>), c], d]"),
        ("a | b ^ c & d << 1 + 1", "(a | (b ^ (c & (d << (1 + 1)))))"),
        ("0 < x <= 5 != y", "<0 Less x LessEqual 5 NotEqual y>"),
        ("x in (1, 2) and y not in [3]", "And[<x In [1, 2]>, <y NotIn [3]>]"),
        ("x is null or x is not None", "Or[<x Is null>, <x IsNot Nothing>]"),
        ("~(a > 1) & b", "(Invert(<a Greater 1>) & b)"),
        ("info.deep.y > pos[-1, 2:3]", "<info.deep.y Greater pos[Minus(1), 2:3]>"),
        ("s.startswith('a\\x41\\u00e9\\n')", "s.startswith(\"aAé\\n\")"),
        ("clip(x, 0, max=.5e1)", "clip(x, 0, max=5.0)"),
        ("0x_ff + 1_000 + 0b11 + 0o17 + 1e3", "((((255 + 1000) + 3) + 15) + 1000.0)"),
        ("b'\\xff' 'a'.x", "error"),
        ("'a' \"b\" r'\\n'", "\"ab\\\\n\""),
        ("x # what it is\n", "x"),
        ("(x >\n 1) # over two lines", "<x Greater 1>"),
        ("x\n> 1", "<x Greater 1>"),
        ("()", "[]"),
        ("(x,)", "[x]"),
        ("x, y", "[x, y]"),
        ("f()()[0].a", "f()()[0].a"),
        ("{1, 2}", "[1, 2]"),
        ("2j", "Imaginary(2.0)"),
    ] {
        let found = parse(text).map_or("error".to_owned(), |tree| shown(&tree));
        assert_eq!(found, wanted, "{text}");
    }
}

#[test]
fn an_error_shows_the_place_below_the_text() {
    for (text, wanted) in [
        ("n = 1", "a comparison is written ==, <= or >=\n  n = 1\n    ^"),
        ("é > 1 && p", "write and for &&\n  é > 1 && p\n         ^"),
        ("n <> 1", "write != for <>\n  n <> 1\n    ^^"),
        ("!p", "write not for !\n  !p\n  ^"),
        ("n > @low", "write the name without @, and pass its value under this name\n  n > @low\n      ^"),
        ("`n` > 1", "write col('my name') for `my name`\n  `n` > 1\n  ^"),
        ("x > 1 AND y", "write and for AND\n  x > 1 AND y\n        ^^^"),
        ("s like 'a'", "write contains, startswith or endswith for like\n  s like 'a'\n    ^^^^"),
        ("x between 1 and 2", "write 1 <= x <= 2 for between\n  x between 1 and 2\n    ^^^^^^^"),
        ("(x > 1", "'(' was never closed\n  (x > 1\n  ^"),
        ("", "the text is empty"),
        ("x >", "the text ends too early\n  x >\n     ^"),
        ("'abc", "unterminated string literal\n  'abc\n  ^"),
        (
            "1 if p else 0",
            "'if' and 'else' choose once; where(condition, x, y) chooses for each item\n  1 if p else 0\n  ^^^^",
        ),
        ("lambda: 1", "lambda: not a part of expressions\n  lambda: 1\n  ^^^^^^"),
        ("x == f'a'", "an f-string: not a part of expressions\n  x == f'a'\n       ^^^^"),
        ("[n for n in s]", "a comprehension: not a part of expressions\n  [n for n in s]\n   ^^^^^"),
        ("f(*x)", "'*': not a part of expressions\n  f(*x)\n    ^"),
    ] {
        let error = parse(text).unwrap_err();
        assert_eq!(error.to_string(), wanted);
        assert_eq!(error.kind(), TextErrorKind::Expression);
    }
    let long = format!("{}! {}", "x + ".repeat(40), "y".repeat(200));
    let error = parse(&long).unwrap_err();
    let lines: Vec<_> = error.to_string().lines().map(str::to_owned).collect();
    assert_eq!((lines[1].len(), lines[2].find('^'), error.column()), (102, Some(62), 160));
}

#[test]
fn long_rows_are_read_and_deep_ones_are_refused() {
    let row = vec!["x"; 4000].join(" + ");
    let SyntaxKind::Binary(_, rest) = parse(&row).unwrap().kind else { panic!("no row") };
    assert_eq!(rest.len(), 3999);
    for (open, close) in
        [("(", ")"), ("-", ""), ("not ", ""), ("f(", ")"), ("[", ",]"), ("x ** ", ""), ("x[", "]")]
    {
        let nested = |levels: usize| open.repeat(levels) + "x" + &close.repeat(levels);
        parse(&nested(60)).unwrap();
        let error = parse(&nested(1500)).unwrap_err().to_string();
        assert!(error.contains("nested") || error.contains("levels"), "{open}: {error}");
    }
    let error = parse(&("x".to_owned() + &".a".repeat(2000))).unwrap_err().to_string();
    assert!(error.contains("more than 64 levels"), "{error}");
    assert!(parse(&"x".repeat(TEXT_MAX + 1)).unwrap_err().to_string().contains("at most 16384 are read"));
}

const VALID: &[&str] = &[
    "(price > 10.5e-3) & ~(sym == 'A\\x41') or not x in (1, 0x2f, None)",
    "0 <= a.b.c[1, -2] < 5 and s.startswith(b\"\\xff\") or clip(x, None, max=1_0j) is not null",
    "'''three ''' \"\"\"times\"\"\" == u'\\u00e9\\U0001f600\\101' # behind\n",
    "-2 ** -3 // 4 % 5 << 6 ^ 7",
];

#[test]
fn every_beginning_and_every_part_of_a_text_gives_a_tree_or_an_error() {
    for text in VALID {
        parse(text).unwrap();
        for start in 0..text.len() {
            for end in start..=text.len() {
                let _ = text.get(start..end).map(|part| parse(part).map_err(|error| error.to_string()));
            }
        }
    }
}

proptest! {
    #[test]
    fn any_text_gives_a_tree_or_an_error(text in "\\PC{0,60}") {
        let _ = parse(&text).map_err(|error| error.to_string());
    }

    #[test]
    fn any_text_of_the_grammar_gives_a_tree_or_an_error(
        pieces in proptest::collection::vec(
            proptest::sample::select(vec![
                "x", "1", "(", ")", "[", "]", "{", "}", ",", ":", ".", "==", "<", "not", "in", "is", "and", "or", "-", "~",
                "**", "*", "'a'", "b'", "\\", "\"", "#", "\n", "=", "if", "else", "lambda", "for", "é", "1e", "0x", "_",
            ]),
            0..40,
        ),
        gap in "[ ]{0,1}",
    ) {
        let text = pieces.join(&gap);
        if let Err(error) = parse(&text) {
            prop_assert!(!error.to_string().is_empty());
            prop_assert!(error.column() <= text.chars().count());
        }
    }
}
