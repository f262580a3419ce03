//! Holds the code against ARCHITECTURE.md: arrows, circles, `unsafe`, lengths, and what documents refer to.
//!
//! The tables of ARCHITECTURE.md are the rules; every check is a function from text to complaints, and the last
//! tests show on made-up violations that each can fail.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

mod circles;
mod tuples;

/// A file of more lines needs a reason, one of more than the second number is refused.
const LINES_ASKED: usize = 400;
const LINES_MAX: usize = 800;
/// Files of one idea that takes more lines, and why they are not cut.
const LONG_FILES: &[(&str, &str)] = &[
    ("crates/coquina/src/frame/format/header.rs", "one header: read, checked and written in the same order"),
    ("crates/coquina-py/src/h5py/session.rs", "the calls of libhdf5, which share their unsafe border"),
    (
        "crates/coquina/src/hdf5/journal/writer.rs",
        "one state: what is written, committed, applied and given up",
    ),
    (
        "python/coquina/hdf5/files.py",
        "one class; what its handles share is in open_files.py and new_files.py",
    ),
    (
        "python/coquina/hdf5/open_files.py",
        "one class: a file is opened, committed, given up and closed in one place",
    ),
    ("python/coquina/function_examples.py", "one table: an example for each function"),
    ("python/coquina/hdf5/datasets.py", "one class, all that users call of a dataset, half of it docstrings"),
    ("python/coquina/hdf5/groups.py", "one class, h5py's vocabulary, half of it docstrings"),
    (
        "python/coquina/indexes/index.py",
        "one class, all that is asked of an index; its state is the engine's",
    ),
    (
        "python/coquina/tables/homes.py",
        "what a table asks of its home, and the home of HDF5 files, method by method",
    ),
    ("python/coquina/tables/table.py", "one class, all that users call of a table, half of it docstrings"),
];
/// Where the project's own text is, all of it in UTF-8.
const FOLDERS: &[&str] =
    &["crates", "python", "tests", "fuzz", "bench", "demo", "docs", "examples", "tools", "images"];
const TEXT: &[&str] = &["rs", "py", "pyi", "md", "toml"];
/// Folders of a machine. What the project needs is inside of it, or named by the user.
const MACHINE: &[&str] = &["work", "home", "root", "mnt", "tmp", "opt", "Users"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn page() -> String {
    fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap()
}

/// Files below `folder` with one of these endings, as paths from the root with their text; no built things.
fn files(folder: &str, endings: &[&str]) -> Vec<(String, String)> {
    let (mut found, mut folders) = (Vec::new(), vec![root().join(folder)]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap();
            let ending = path.extension().and_then(|e| e.to_str()).unwrap_or_default();
            if path.is_dir() && !name.starts_with(['.', '_']) && name != "target" {
                folders.push(path);
            } else if path.is_file() && endings.contains(&ending) {
                let shown = path.strip_prefix(root()).unwrap().to_str().unwrap().replace('\\', "/");
                found.push((shown, fs::read_to_string(&path).unwrap()));
            }
        }
    }
    found.sort();
    found
}

/// The rows of the table under a heading, cut into cells; without its head.
fn table<'a>(page: &'a str, heading: &str) -> Vec<Vec<&'a str>> {
    let body = page.lines().skip_while(|line| line.trim_start_matches('#').trim() != heading).skip(1);
    let rows = body.take_while(|line| !line.starts_with('#')).filter(|line| line.starts_with('|')).skip(2);
    rows.map(|row| row.trim_matches('|').split('|').map(str::trim).collect()).collect()
}

/// What stands in backticks.
fn ticked(text: &str) -> Vec<&str> {
    text.split('`').skip(1).step_by(2).collect()
}

/// Rows of an arrow table: a name, and the names in the cell of this number.
fn arrows(page: &str, heading: &str, cell: usize) -> Vec<(String, BTreeSet<String>)> {
    let names = |cell: &str| ticked(cell).into_iter().map(str::to_owned).collect::<BTreeSet<_>>();
    table(page, heading).iter().map(|row| (ticked(row[0])[0].to_owned(), names(row[cell]))).collect()
}

/// Rust code without comments, strings and characters.
fn code_of(text: &str) -> String {
    let (mut code, mut rest) = (String::new(), text);
    while let Some(first) = rest.chars().next() {
        let skipped = comment_len(rest).or_else(|| literal_len(rest, code.chars().last()));
        if skipped.is_none() {
            code.push(first);
        }
        rest = rest.get(skipped.unwrap_or(first.len_utf8())..).unwrap_or_default();
    }
    code
}

fn comment_len(rest: &str) -> Option<usize> {
    if rest.starts_with("//") {
        return Some(rest.find('\n').unwrap_or(rest.len()));
    }
    rest.strip_prefix("/*").map(|inner| inner.find("*/").map_or(rest.len(), |end| end + 4))
}

fn literal_len(rest: &str, before: Option<char>) -> Option<usize> {
    let is_in_word = before.is_some_and(|c| c.is_alphanumeric() || c == '_');
    if let Some(raw) = rest.strip_prefix('r').filter(|_| !is_in_word || before == Some('b')) {
        let marks = raw.len() - raw.trim_start_matches('#').len();
        if raw[marks..].starts_with('"') {
            let end = format!("\"{}", "#".repeat(marks));
            return Some(raw[marks + 1..].find(&end).map_or(rest.len(), |at| at + 2 + marks + end.len()));
        }
    }
    let quote = rest.chars().next().filter(|c| ['"', '\''].contains(c))?;
    let mut is_escaped = false;
    let end = rest[1..].char_indices().find(|&(_, c)| {
        let is_end = c == quote && !is_escaped;
        is_escaped = c == '\\' && !is_escaped;
        is_end
    });
    let len = end.map_or(rest.len(), |(at, _)| at + 2);
    // A lifetime has no second quote, or one far away that belongs to something else.
    let is_char = rest.starts_with("'\\") || rest[..len].chars().count() == 3;
    (quote == '"' || is_char).then_some(len)
}

/// Is a Rust file there for tests only?
fn is_test(file: &str) -> bool {
    file.rsplit('/').next().is_some_and(|name| name.starts_with("test"))
}

/// Code without what is compiled for tests only.
fn without_tests(code: &str) -> String {
    let Some((before, after)) = code.split_once("#[cfg(test)]") else { return code.to_owned() };
    let end = after.find(['{', ';']).unwrap_or(after.len());
    let mut depth = 0;
    let close = after.char_indices().skip_while(|&(at, _)| at < end).find(|&(_, c)| {
        depth += i32::from(c == '{') - i32::from(c == '}');
        depth == 0
    });
    let rest = close.map_or("", |(at, c)| &after[at + c.len_utf8()..]);
    format!("{before}{}", without_tests(rest))
}

fn words(code: &str) -> impl Iterator<Item = &str> {
    code.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty())
}

/// The first names of the paths that begin with `start`, also of those in braces.
fn names_after<'a>(code: &'a str, start: &str) -> Vec<&'a str> {
    let mut names = Vec::new();
    for (at, _) in code.match_indices(start) {
        let rest = code[at + start.len()..].trim_start();
        let Some(list) = rest.strip_prefix('{') else {
            names.extend(words(rest).next());
            continue;
        };
        let (mut depth, mut item) = (0, 0);
        for (place, c) in list.char_indices() {
            if depth == 0 && [',', '}'].contains(&c) {
                names.extend(words(&list[item..place]).next());
                item = place + 1;
            }
            match c {
                '{' => depth += 1,
                '}' if depth == 0 => break,
                '}' => depth -= 1,
                _ => {}
            }
        }
    }
    names
}

/// Modules that `text`, a part of `own`, uses and must not.
fn module_complaints(file: &str, text: &str, own: &str, rules: &[(String, BTreeSet<String>)]) -> Vec<String> {
    let code = code_of(text);
    let Some((_, may)) = rules.iter().find(|(name, _)| name == own) else {
        return vec![format!("{file}: `{own}` is not in the table of modules")];
    };
    let is_module = |name: &str| rules.iter().any(|(module, _)| module == name);
    let mut used = names_after(&code, "crate::");
    used.extend(names_after(&code, "super::super::").into_iter().filter(|name| is_module(name)));
    used.retain(|name| *name != own && !may.contains(*name));
    used.iter().map(|name| format!("{file}: `{own}` must not use `{name}`")).collect()
}

/// The names under `[dependencies]` and the like of a Cargo.toml.
fn dependencies(manifest: &str, section: &str) -> BTreeSet<String> {
    let (mut is_inside, mut found) = (false, BTreeSet::new());
    for line in manifest.lines().map(str::trim) {
        if let Some(header) = line.strip_prefix('[') {
            let header = header.trim_end_matches(']');
            is_inside = header == section || header.ends_with(&format!("'.{section}"));
            found.extend(header.strip_prefix(&format!("{section}.")).map(str::to_owned));
        } else if is_inside && !line.starts_with('#') {
            let name = line.split(['.', ' ', '=']).next().filter(|name| !name.is_empty());
            found.extend(name.map(str::to_owned));
        }
    }
    found
}

fn set_complaints(what: &str, written: &BTreeSet<String>, real: &BTreeSet<String>) -> Vec<String> {
    let stale = written.difference(real).map(|name| format!("{what}: `{name}` is written, and is not so"));
    let new = real.difference(written).map(|name| format!("{what}: `{name}` is so, and is not written"));
    stale.chain(new).collect()
}

/// The rows of a list of exceptions; `#` begins a line that says something.
fn rows_of(list: &str) -> Vec<String> {
    list.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).map(str::to_owned).collect()
}

/// What is so more often than it is listed, and what is listed more often than it is so.
fn list_complaints(what: &str, listed: &[String], found: &[String]) -> Vec<String> {
    let times = |rows: &[String], row: &String| rows.iter().filter(|other| *other == row).count();
    let all: BTreeSet<&String> = listed.iter().chain(found).collect();
    let wrong = all.into_iter().map(|row| (row, times(listed, row), times(found, row)));
    let wrong = wrong.filter(|(_, listed, found)| listed != found);
    wrong.map(|(row, listed, found)| format!("{what}: listed {listed} times, found {found}: {row}")).collect()
}

/// The crates below `crates`.
fn crates() -> Vec<String> {
    let names = fs::read_dir(root().join("crates")).unwrap().map(|entry| entry.unwrap().file_name());
    let mut names: Vec<String> = names.map(|name| name.into_string().unwrap()).collect();
    names.sort();
    names
}

/// The lines that docstrings of Python take, which do not count: an example for users is no code of ours.
fn docstring_lines(file: &str, text: &str) -> usize {
    let quoted = text.split("\"\"\"").skip(1).step_by(2).map(|text| text.matches('\n').count());
    if file.ends_with(".py") { quoted.sum() } else { 0 }
}

fn line_complaints(file: &str, text: &str) -> Option<String> {
    let lines = text.lines().count() - docstring_lines(file, text);
    let most = if LONG_FILES.iter().any(|(name, _)| *name == file) { LINES_MAX } else { LINES_ASKED };
    (lines > most).then(|| format!("{file}: {lines} lines, more than {most}"))
}

/// Paths of some machine, or out of the project.
fn path_complaints(file: &str, text: &str) -> Vec<String> {
    let is_start = |at: usize| !text[..at].ends_with(|c: char| c.is_alphanumeric() || "./_-$}~)".contains(c));
    let roots = MACHINE.iter().map(|name| format!("/{name}/"));
    let starts = roots.flat_map(|root| text.match_indices(&root).map(|(at, _)| at).collect::<Vec<_>>());
    let complain = |at| format!("{file}: a path of a machine: {:.40}", &text[at..]);
    starts.filter(|&at| is_start(at)).map(complain).collect()
}

/// Files that a text names and that are not there: in links, and in backticks below folders of the project.
fn file_complaints(file: &str, text: &str) -> Vec<String> {
    let near = Path::new(file).parent().unwrap();
    let links = text.split("](").skip(1).filter_map(|rest| rest.split([')', '#']).next());
    let links = links.filter(|link| !link.is_empty() && !link.contains(':')).map(|link| near.join(link));
    let is_ours = |name: &&str| {
        let (folder, rest) = name.split_once('/').unwrap_or_default();
        FOLDERS.contains(&folder) && !rest.contains(['*', ' ', '<', '{', ':'])
    };
    let lines = text.lines().flat_map(|line| ticked(line).into_iter().filter(is_ours).map(PathBuf::from));
    let missing = links.chain(lines).filter(|path| !root().join(path).exists());
    missing.map(|path| format!("{file}: names {}, which is not there", path.display())).collect()
}

/// Sections of `docs/formats` that a text cites and that have no such heading.
fn section_complaints(file: &str, text: &str) -> Vec<String> {
    let mut complaints = Vec::new();
    for cited in text.split("docs/formats/").skip(1) {
        let Some((name, rest)) = cited.split_once(".md") else { continue };
        let document = fs::read_to_string(root().join(format!("docs/formats/{name}.md"))).unwrap_or_default();
        let headings = document.lines().filter_map(|line| line.split_once("# ")).map(|(_, heading)| heading);
        let mut rest = rest.trim_start_matches('`');
        while let Some(quoted) = rest.strip_prefix(", \"").or_else(|| rest.strip_prefix(" and \"")) {
            let (section, after) = quoted.split_once('"').unwrap_or((quoted, ""));
            if !headings.clone().any(|heading| heading == section) {
                complaints.push(format!("{file}: docs/formats/{name}.md has no section \"{section}\""));
            }
            rest = after;
        }
    }
    complaints
}

/// A file that does not begin with a sentence that says what it is: `make map` has nothing else to show of it.
fn doc_complaints(file: &str, text: &str) -> Option<String> {
    let first = if file.ends_with(".rs") {
        text.lines().next().and_then(|line| line.strip_prefix("//!"))
    } else {
        let code = text.lines().find(|line| !line.is_empty() && !line.starts_with('#'));
        code.and_then(|line| line.trim_start_matches('r').strip_prefix("\"\"\""))
    };
    let says = words(first.unwrap_or_default()).count() > 1;
    (!says).then(|| format!("{file}: does not begin with what it is"))
}

fn assert_none(complaints: &[String]) {
    assert!(complaints.is_empty(), "\n{}\n", complaints.join("\n"));
}

#[test]
fn modules_use_only_what_the_table_allows() {
    let rules = arrows(&page(), "Arrows between the modules of `coquina`", 1);
    let source = "crates/coquina/src/";
    let complaints = files("crates/coquina/src", &["rs"]).into_iter().flat_map(|(file, text)| {
        match words(&file[source.len()..]).next().unwrap() {
            // The map of the crate names all its modules.
            "lib" => Vec::new(),
            own => module_complaints(&file, &text, own, &rules),
        }
    });
    assert_none(&complaints.collect::<Vec<_>>());
}

#[test]
fn crates_depend_on_what_the_table_says() {
    let mut complaints = Vec::new();
    for (cell, section) in [(1, "dependencies"), (2, "dev-dependencies")] {
        for (name, may) in arrows(&page(), "Arrows between the crates", cell) {
            let folder = if name == "coquina-fuzz" { "fuzz".to_owned() } else { format!("crates/{name}") };
            let manifest = fs::read_to_string(root().join(folder).join("Cargo.toml")).unwrap();
            let is_of = format!("{name}: {section}");
            complaints.extend(set_complaints(&is_of, &may, &dependencies(&manifest, section)));
        }
    }
    let listed = arrows(&page(), "Arrows between the crates", 1).into_iter().map(|(name, _)| name).collect();
    let manifests = files("crates", &["toml"]).into_iter().chain(files("fuzz", &["toml"]));
    let names =
        manifests.filter_map(|(_, text)| Some(text.split_once("name = \"")?.1.split_once('"')?.0.into()));
    let real = names.collect();
    complaints.extend(set_complaints("crates", &listed, &real));
    assert_none(&complaints);
}

#[test]
fn unsafe_stands_only_where_the_table_says() {
    let page = page();
    let rows = table(&page, "Unsafe");
    let written = rows.iter().flat_map(|row| ticked(row[0])).map(str::to_owned).collect();
    let sources = files("crates", &["rs"]).into_iter().chain(files("fuzz", &["rs"]));
    let with = sources.filter(|(_, text)| words(&code_of(text)).any(|word| word == "unsafe"));
    assert_none(&set_complaints("unsafe", &written, &with.map(|(file, _)| file).collect()));
}

#[test]
fn every_file_begins_with_what_it_is() {
    let sources = files("crates", &["rs"]).into_iter().chain(files("fuzz", &["rs"]));
    let all = sources.chain(files("python/coquina", &["py", "pyi"]));
    assert_none(&all.filter_map(|(file, text)| doc_complaints(&file, &text)).collect::<Vec<_>>());
}

#[test]
fn no_source_file_is_too_long() {
    let sources = files("crates", &["rs"]).into_iter().filter(|(file, _)| file.contains("/src/"));
    let all = sources.chain(files("python/coquina", &["py", "pyi"]));
    assert_none(&all.filter_map(|(file, text)| line_complaints(&file, &text)).collect::<Vec<_>>());
}

#[test]
fn documents_and_code_refer_to_what_is_there() {
    let top = [
        "README.md",
        "ARCHITECTURE.md",
        "CONTRIBUTING.md",
        "CHANGELOG.md",
        "Makefile",
        "Cargo.toml",
        "pyproject.toml",
    ];
    let top = top.map(|name| (name.to_owned(), fs::read_to_string(root().join(name)).unwrap()));
    let all = FOLDERS.iter().flat_map(|folder| files(folder, TEXT)).chain(top);
    // This file holds the violations that its own tests are made of.
    let complaints = all.filter(|(file, _)| !file.contains("tests/architecture")).flat_map(|(file, text)| {
        let mut found = path_complaints(&file, &text);
        found.extend(section_complaints(&file, &text));
        if file.ends_with(".md") {
            found.extend(file_complaints(&file, &text));
        }
        found
    });
    assert_none(&complaints.collect::<Vec<_>>());
}

#[test]
fn a_module_that_uses_a_later_one_is_named() {
    let page = "## Arrows\n\n| Module | May use |\n|---|---|\n| `base` | nothing |\n| `codec` | `base` |\n";
    let rules = arrows(page, "Arrows", 1);
    let complaints = |own, text| module_complaints("x.rs", text, own, &rules).len();
    assert_eq!(complaints("codec", "use crate::base::{a, b::c}; let x = crate::codec::y;"), 0);
    assert_eq!(complaints("base", "use crate::codec::Codec;"), 1);
    assert_eq!(complaints("base", "use crate::{base::error::{A, B}, codec::{C, D}, base};"), 1);
    assert_eq!(complaints("base", "fn f() { super::super::codec::f() }"), 1);
    assert_eq!(complaints("base", "// use crate::codec::Codec;\nlet s = \"crate::codec\";"), 0);
    assert_eq!(complaints("chunk", ""), 1);
}

#[test]
fn the_other_checks_fail_too() {
    let has_unsafe = |text: &str| words(&code_of(text)).any(|word| word == "unsafe");
    assert!(has_unsafe("let c = '\"'; unsafe { f::<'a>() }"));
    assert!(has_unsafe("let s = \"\\\\\"; unsafe { g(r#\"x\"#) }"));
    assert!(!has_unsafe(
        "#![forbid(unsafe_code)] // unsafe\n/* unsafe */ f(\"\\\" unsafe\", r#\"unsafe \" \"#, '\\'')"
    ));
    let manifest = "[dependencies]\nrayon.workspace = true\n[target.'cfg(unix)'.dependencies]\nlibc = \"0.2\"\n\
                    [dev-dependencies]\nproptest = \"1\"\n[dependencies.zstd]\nversion = \"1\"\n";
    let found = dependencies(manifest, "dependencies");
    assert_eq!(found, ["libc", "rayon", "zstd"].map(String::from).into());
    assert_eq!(set_complaints("x", &BTreeSet::from(["a".into()]), &BTreeSet::from(["b".into()])).len(), 2);
    assert!(line_complaints("x.rs", &"\n".repeat(LINES_ASKED + 1)).is_some());
    assert!(line_complaints("x.rs", &"\n".repeat(LINES_ASKED)).is_none());
    assert!(line_complaints(LONG_FILES[0].0, &"\n".repeat(LINES_MAX)).is_none());
    assert!(line_complaints(LONG_FILES[0].0, &"\n".repeat(LINES_MAX + 1)).is_some());
    assert_eq!(docstring_lines("x.py", "\"\"\"One.\n\nTwo.\n\"\"\"\nx = 1\n"), 3);
    assert_eq!(docstring_lines("x.rs", "\"\"\"One.\n\"\"\""), 0);
    assert!(doc_complaints("x.rs", "use std::fs;\n//! Late words.").is_some());
    assert!(doc_complaints("x.rs", "//!\n//! Late words.").is_some());
    assert!(doc_complaints("x.rs", "//! What it is.\n").is_none());
    assert!(doc_complaints("x.py", "import os\n\"\"\"Late words.\"\"\"").is_some());
    assert!(doc_complaints("x.py", "#!/bin/x\n\n\"\"\"What it is.\"\"\"").is_none());
    assert_eq!(path_complaints("x.md", "see /home/me/x and ~/home/x, http://a.b/home/x").len(), 1);
    assert_eq!(
        file_complaints("x.md", "[a](no/such.md), [b](README.md), `docs/none.md`, `docs/formats`").len(),
        2
    );
    let cited = "`docs/formats/chunk.md`, \"Header\" and \"No such\"";
    assert_eq!(section_complaints("x.rs", cited), ["x.rs: docs/formats/chunk.md has no section \"No such\""]);
}
