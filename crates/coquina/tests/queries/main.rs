//! Runs `tests/queries/*.test`, the queries and answers that judge every way of asking tables, in the homes of the engine.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    reason = "values of the files are small"
)]

use std::collections::BTreeMap;
use std::path::Path;
use std::rc::Rc;

mod answers;
mod change_laws;
mod files;
mod group_laws;
mod homes;
mod laws;
mod runs;
mod tables;
mod words;

use files::{Case, Table, cases};
use homes::{Folder, Home, Subject};
use runs::{Failure, Run, is_change};

/// Tables that no case changes: the one that was asked last in each home.
#[derive(Default)]
struct Shared([Option<(Rc<Table>, Subject)>; Home::ALL.len()]);

impl Shared {
    /// Runs a case in a home, and what it asks after its last change again when the table was closed and opened.
    fn run(&mut self, case: &Case, home: Home, folder: &Folder) -> Result<(), Failure> {
        let path = folder.next_path();
        let make = || Subject::new(&case.table, home, &path);
        let Some(last) = case.steps.iter().rposition(is_change) else {
            let shared = self.0[home as usize].take().filter(|(table, _)| Rc::ptr_eq(table, &case.table));
            let mut run = Run { case, subject: shared.map_or_else(make, |(_, subject)| subject) };
            let done = run.steps(&case.steps);
            self.0[home as usize] = Some((Rc::clone(&case.table), run.subject));
            return done;
        };
        let mut run = Run { case, subject: make() };
        run.steps(&case.steps)?;
        run.subject = run.subject.opened_again(&path);
        run.steps(&case.steps[last + 1..])
    }
}

#[test]
fn every_case_gives_what_it_says() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/queries");
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "test"));
    paths.sort();
    let (tables, mut shared) = (Folder::new("cases"), Shared::default());
    let (mut wrong, mut left, mut passed) = (Vec::new(), BTreeMap::new(), [0; Home::ALL.len()]);
    for path in paths {
        let file = path.file_stem().unwrap().to_str().unwrap().to_owned();
        for case in cases(&std::fs::read_to_string(&path).unwrap()) {
            let name = format!("{file}: {}: {}", case.table.name, case.title);
            let homes = Home::ALL.into_iter().filter(|home| home.takes(&case));
            for home in homes {
                match shared.run(&case, home, &tables) {
                    Ok(()) => passed[home as usize] += 1,
                    Err(Failure::Left(reason)) => {
                        left.insert(name.clone(), reason);
                    }
                    Err(Failure::Wrong(reason)) => wrong.push(format!("{name}, {home:?}: {reason}")),
                }
            }
        }
    }
    let found: Vec<String> = left.iter().map(|(name, reason)| format!("{name} | {reason}")).collect();
    let known: Vec<&str> = include_str!("left_out.txt").lines().collect();
    assert!(
        wrong.is_empty(),
        "{passed:?} passed, {} left out, these not:\n{}",
        found.len(),
        wrong.join("\n")
    );
    // A case that passes is no longer left out, and none is left out that is not on the list.
    let new: Vec<&String> = found.iter().filter(|line| !known.contains(&line.as_str())).collect();
    let stale: Vec<&&str> = known.iter().filter(|line| !found.iter().any(|one| one == **line)).collect();
    assert!(
        new.is_empty() && stale.is_empty(),
        "not on the list: {new:#?}, on it and not left out: {stale:#?}"
    );
    let least = [700, 600, 600];
    assert!(passed.iter().zip(least).all(|(passed, least)| *passed > least), "only {passed:?} cases passed");
}
