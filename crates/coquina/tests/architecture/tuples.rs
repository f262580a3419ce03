//! No function takes a tuple: things that go together are a struct, whose fields have names.
//!
//! A tuple as a parameter hides arguments from the lint that counts them; so does a name that the file gives to one.
//! Those that are left are in `tuple_parameters.txt`; a row that is no longer so fails too, so the list only gets
//! shorter.

use crate::{assert_none, code_of, files, is_test, list_complaints, rows_of, without_tests, words};

const ALLOWED: &str = include_str!("tuple_parameters.txt");

/// The functions of stripped code that take a tuple, by name, once for each parameter that is one.
fn functions_with_tuples(code: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let aliases = tuple_aliases(code);
    for (at, _) in code.match_indices("fn ") {
        let is_word = code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
        let rest = &code[at + 3..];
        let name = words(rest).next().filter(|name| rest.starts_with(name));
        let (false, Some(name)) = (is_word, name) else { continue };
        let parameters = parameters(&rest[name.len()..]);
        found.extend(parameters.into_iter().filter(|parameter| is_tuple(parameter, &aliases)).map(|_| name));
    }
    found
}

/// What stands between the commas of a parameter list; `rest` begins behind the name of the function.
fn parameters(rest: &str) -> Vec<&str> {
    let start = if rest.starts_with('<') { generics_len(rest) } else { 0 };
    let Some(list) = rest[start..].trim_start().strip_prefix('(') else { return Vec::new() };
    cut_at_commas(list)
}

/// The length of `<...>`; the `>` of an arrow closes nothing.
fn generics_len(rest: &str) -> usize {
    let (mut depth, mut before) = (0, ' ');
    for (at, c) in rest.char_indices() {
        match c {
            '<' => depth += 1,
            '>' if before != '-' => depth -= 1,
            _ => {}
        }
        before = c;
        if depth == 0 {
            return at + 1;
        }
    }
    rest.len()
}

/// The parts of a list, up to the bracket that closes it.
fn cut_at_commas(list: &str) -> Vec<&str> {
    let (mut depth, mut start, mut before, mut parts) = (0, 0, ' ', Vec::new());
    for (at, c) in list.char_indices() {
        match c {
            '(' | '[' | '{' | '<' => depth += 1,
            ')' | ']' | '}' if depth == 0 => {
                parts.push(list[start..at].trim());
                break;
            }
            '>' if before == '-' || before == '=' => {}
            ')' | ']' | '}' | '>' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(list[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
        before = c;
    }
    parts.retain(|part| !part.is_empty());
    parts
}

/// The names that `type` items give to tuples.
fn tuple_aliases(code: &str) -> Vec<&str> {
    let items = code.match_indices("type ").map(|(at, word)| &code[at + word.len()..]);
    let aliases = items.filter_map(|item| item.split_once(';')?.0.split_once('='));
    let aliases = aliases.filter(|(_, kind)| holds_many(kind.trim()));
    aliases.filter_map(|(name, _)| words(name).next()).collect()
}

/// Is a type a tuple of several?
fn holds_many(kind: &str) -> bool {
    kind.strip_prefix('(').is_some_and(|inner| cut_at_commas(inner).len() > 1)
}

/// Is the pattern of a parameter a tuple, or its type, perhaps behind a reference or one of these names?
fn is_tuple(parameter: &str, aliases: &[&str]) -> bool {
    let (pattern, kind) = parameter.split_once(':').unwrap_or((parameter, ""));
    let mut kind = kind.trim();
    while let Some(inner) = kind.strip_prefix('&') {
        let inner = inner.trim_start();
        let word = inner.find(' ').filter(|_| inner.starts_with('\'') || inner.starts_with("mut "));
        kind = inner[word.unwrap_or(0)..].trim_start();
        kind = kind.strip_prefix("mut ").unwrap_or(kind).trim_start();
    }
    let is_alias = kind.split('<').next().is_some_and(|name| aliases.contains(&name));
    pattern.starts_with('(') || holds_many(kind) || is_alias
}

#[test]
fn no_function_takes_a_tuple_but_those_of_the_list() {
    let sources =
        files("crates", &["rs"]).into_iter().filter(|(file, _)| file.contains("/src/") && !is_test(file));
    let mut found = Vec::new();
    for (file, text) in sources {
        found.extend(
            functions_with_tuples(&without_tests(&code_of(&text)))
                .iter()
                .map(|name| format!("{file} {name}")),
        );
    }
    assert_none(&list_complaints("a tuple as a parameter", &rows_of(ALLOWED), &found));
}

#[test]
fn a_tuple_parameter_is_found_behind_generics_and_references() {
    let code = "fn one((a, b): (u8, u8)) {} fn two<F: Fn(u8) -> u8>(f: F, ab: &'a mut (u8, u8)) {}\n\
                fn three(&self, a: &[(u8, u8)], f: impl Fn(u8, u8) -> (u8, u8), g: (u8), u: ()) -> (u8, u8) {}\n\
                fn four(a: Option<(u8, u8)>) { let g = |(a, b)| a; call((a, b)); }\n\
                trait T { fn five(self, ab: (u8, u8), cd: &mut (u8, u8)); } type F = fn(&(u8, u8));";
    assert_eq!(functions_with_tuples(code), ["one", "two", "five", "five"]);
    let named = "type Pair<'a> = (&'a [u8], u8); type One = (u8); type Run = fn(u8, u8) -> (u8, u8);\n\
                 fn one(a: &mut Pair<'_>) {} fn two(a: One, b: Run, c: Vec<Pair>, d: Pairs) -> Pair {}";
    assert_eq!(functions_with_tuples(named), ["one"]);
}
