//! No circle among the files of a crate: a file of a circle cannot be read, tested or moved without the others.
//!
//! An arrow goes from a file to the file that defines what it names: `use` and paths in code, through the names that a
//! `mod.rs` passes on. A module may name its own parts, so arrows from it down to them are not counted; tests may name
//! everything. The circles that are left are in `circles.txt`, which has to say exactly what is so: it only gets shorter.

use std::collections::{BTreeMap, BTreeSet};

use crate::{assert_none, code_of, files, is_test, list_complaints, rows_of, without_tests, words};

const ALLOWED: &str = include_str!("circles.txt");
type Path = Vec<String>;

/// A module: its file, its code without tests, and what each name that it uses stands for.
struct Module {
    file: String,
    code: String,
    uses: Vec<(String, Path)>,
}

/// The modules of a crate by their paths, of files as `(path below src, text)`.
fn modules(files: &[(String, String)]) -> BTreeMap<Path, Module> {
    let mut found = BTreeMap::new();
    for (file, text) in files.iter().filter(|(file, _)| !is_test(file)) {
        let mut path: Path = file.trim_end_matches(".rs").split('/').map(str::to_owned).collect();
        path.pop_if(|last| ["mod", "lib"].contains(&last.as_str()));
        let (code, uses) = without_uses(&without_tests(&code_of(text)));
        found.insert(path, Module { file: file.clone(), code, uses });
    }
    found
}

/// Code without its `use` items, and these as pairs of a name and the path it stands for; a glob's name is `*`.
fn without_uses(code: &str) -> (String, Vec<(String, Path)>) {
    let (mut left, mut uses, mut rest) = (String::new(), Vec::new(), code);
    while let Some(at) = rest.match_indices("use ").map(|(at, _)| at).find(|&at| is_item(&rest[..at])) {
        let end = rest[at..].find(';').map_or(rest.len(), |len| at + len);
        expand(&rest[at + 4..end], &[], &mut uses);
        left.push_str(&rest[..at]);
        rest = &rest[end..];
    }
    (left + rest, uses)
}

fn is_item(before: &str) -> bool {
    before.trim_end().ends_with(['}', ';', ')', ']', '{'])
        || before.trim().is_empty()
        || before.ends_with("pub ")
}

/// `a::{b, c as d}` as paths below `start`.
fn expand(tree: &str, start: &[String], uses: &mut Vec<(String, Path)>) {
    let tree = tree.trim();
    if let Some((head, list)) = tree.split_once('{') {
        let start: Path = start.iter().cloned().chain(words(head).map(str::to_owned)).collect();
        let (mut depth, mut item) = (0, 0);
        for (at, c) in list.char_indices() {
            if depth == 0 && [',', '}'].contains(&c) {
                expand(&list[item..at], &start, uses);
                item = at + 1;
            }
            depth += i32::from(c == '{') - i32::from(c == '}');
        }
        return;
    }
    let (path, alias) = tree.split_once(" as ").unwrap_or((tree, ""));
    let mut path: Path = start.iter().cloned().chain(words(path).map(str::to_owned)).collect();
    if tree.ends_with('*') {
        return uses.push(("*".to_owned(), path));
    }
    // `a::{self}` names `a` itself.
    path.pop_if(|last| last == "self" && !start.is_empty());
    let name = if alias.is_empty() { path.last().cloned() } else { Some(alias.trim().to_owned()) };
    uses.extend(name.map(|name| (name, path)));
}

/// The paths in code, such as `super::grid::Grid`, word by word.
fn paths(code: &str) -> BTreeSet<Path> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
    let runs = code.split(|c: char| !is_part(c)).filter(|run| run.contains("::"));
    runs.map(|run| run.split("::").map(str::to_owned).collect()).collect()
}

/// The module that defines what `path` names in the module `own`; None for what is not of this crate.
fn defined(modules: &BTreeMap<Path, Module>, own: &[String], path: &[String], depth: usize) -> Option<Path> {
    let (mut here, mut rest) = (own.to_vec(), path);
    match path.first()?.as_str() {
        "crate" => here.clear(),
        "self" => {}
        "super" => drop(here.pop()),
        child => {
            here.push(child.to_owned());
            modules.get(&here)?;
        }
    }
    rest = &rest[1..];
    while let Some(next) = rest.first() {
        here.push(next.clone());
        if next == "super" {
            here.truncate(here.len() - 2);
        } else if !modules.contains_key(&here) {
            here.pop();
            break;
        }
        rest = &rest[1..];
    }
    let name = rest.first();
    // What a module has from elsewhere is defined there.
    let passed_on = |name: &String| {
        let (_, target) = modules.get(&here)?.uses.iter().find(|(used, _)| used == name)?;
        let target: Path = target.iter().chain(&rest[1..]).cloned().collect();
        defined(modules, &here, &target, depth + 1)
    };
    name.filter(|_| depth < 8).and_then(passed_on).or(Some(here))
}

/// The arrows between the modules of a crate.
fn arrows(modules: &BTreeMap<Path, Module>) -> BTreeMap<&str, BTreeSet<&str>> {
    let mut found: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (own, module) in modules.iter().filter(|(path, _)| !path.is_empty()) {
        let named = paths(&module.code).into_iter().chain(module.uses.iter().map(|(_, path)| path.clone()));
        let targets = named.filter_map(|path| defined(modules, own, &path, 0));
        let targets = targets.filter(|target| !target.is_empty() && !target.starts_with(own));
        let targets = targets.filter_map(|target| modules.get(&target)).map(|target| target.file.as_str());
        found.entry(&module.file).or_default().extend(targets);
    }
    found
}

/// The files that reach each other, in sets of two and more.
fn circles<'a>(arrows: &BTreeMap<&'a str, BTreeSet<&'a str>>) -> BTreeSet<BTreeSet<&'a str>> {
    let reached: BTreeMap<&str, BTreeSet<&str>> =
        arrows.keys().map(|&file| (file, reached_from(file, arrows))).collect();
    let of = |file: &'a str| {
        reached[file].iter().copied().filter(|&other| reached[other].contains(file)).collect()
    };
    arrows.keys().map(|&file| of(file)).filter(|circle: &BTreeSet<&str>| circle.len() > 1).collect()
}

fn reached_from<'a>(file: &'a str, arrows: &BTreeMap<&'a str, BTreeSet<&'a str>>) -> BTreeSet<&'a str> {
    let (mut found, mut open) = (BTreeSet::new(), vec![file]);
    while let Some(file) = open.pop() {
        open.extend(arrows[file].iter().copied().filter(|&next| found.insert(next)));
    }
    found
}

#[test]
fn files_stand_in_no_circle_but_those_of_the_list() {
    let names = crate::crates();
    let mut found = Vec::new();
    for folder in names.iter().map(|name| format!("crates/{name}/src")) {
        let below = |(file, text): (String, String)| (file[folder.len() + 1..].to_owned(), text);
        let modules = modules(&files(&folder, &["rs"]).into_iter().map(below).collect::<Vec<_>>());
        for circle in circles(&arrows(&modules)) {
            found.push(format!("{folder} {}", circle.into_iter().collect::<Vec<_>>().join(" ")));
        }
    }
    assert_none(&list_complaints("a circle", &rows_of(ALLOWED), &found));
}

#[test]
fn a_circle_is_found_through_names_that_are_passed_on() {
    let circles_of = |grid: &str, plan: &str| {
        let texts = [
            ("lib.rs", "pub mod array; pub use array::Plan;"),
            (
                "array/mod.rs",
                "mod grid; mod plan; pub use plan::Plan; pub(crate) use grid::{Grid, self as g}; fn f() { plan::h() }",
            ),
            ("array/grid.rs", grid),
            ("array/plan.rs", plan),
            ("array/tests.rs", "use super::{Grid, Plan};"),
        ];
        let files = texts.map(|(file, text)| (file.to_owned(), text.to_owned()));
        let modules = modules(&files);
        circles(&arrows(&modules))
            .into_iter()
            .map(|circle| circle.into_iter().collect::<Vec<_>>().join(" "))
            .collect::<Vec<_>>()
    };
    let both = ["array/grid.rs array/plan.rs"];
    assert_eq!(circles_of("", "use super::Grid;"), [""; 0]);
    assert_eq!(circles_of("use crate::array::Plan;", "use super::{Grid, x};"), both);
    assert_eq!(circles_of("fn f() -> super::plan::Plan {}", "fn f(g: crate::array::g::Grid) {}"), both);
    assert_eq!(circles_of("fn f() -> crate::Plan {}", "pub(super) use super::grid::{self};"), both);
    assert_eq!(
        circles_of("#[cfg(test)] mod tests { use super::super::Plan; fn f() {} }", "use super::Grid;"),
        [""; 0]
    );
    assert_eq!(circles_of("// use super::Plan;\nlet s = \"super::Plan\";", "use super::Grid;"), [""; 0]);
    assert_eq!(circles_of("use super::f;", "").len(), 0);
}
