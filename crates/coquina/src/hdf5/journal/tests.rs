//! Laws of commits: a file is at one whatever a kill leaves, readers see one whatever the writer does.

use super::testing::{Budget, Disk, Readers};
use super::{Snapshot, Writer};
use crate::base::io::{ReadAt, WriteAt as _};

/// Numbers that look random, the same each time.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }
}

/// What a program does: writes, lengths, commits.
#[derive(Clone, Debug)]
enum Step {
    Write(u64, Vec<u8>),
    SetLen(u64),
    Commit,
    Rollback,
}

fn steps(seed: u64, commits: usize) -> Vec<Step> {
    let mut random = Random(seed);
    let mut made = Vec::new();
    for round in 0..commits {
        for _ in 0..1 + random.below(5) {
            let at = random.below(40_000);
            let bound = if random.below(4) == 0 { 9000 } else { 300 };
            let len = 1 + random.below(bound);
            let byte = u8::try_from(1 + random.below(250)).unwrap();
            made.push(Step::Write(at, vec![byte; usize::try_from(len).unwrap()]));
        }
        if random.below(4) == 0 {
            made.push(Step::SetLen(random.below(45_000)));
        }
        if random.below(6) == 0 {
            made.push(Step::Rollback);
        }
        if round + 1 < commits || random.below(2) == 0 {
            made.push(Step::Commit);
        }
    }
    made
}

fn start() -> Vec<u8> {
    (0..20_000_u32).map(|n| n.to_le_bytes()[0] ^ n.to_le_bytes()[1]).collect()
}

/// What the file is after each commit, by a plain model; the first is before all.
fn commits_of(steps: &[Step]) -> Vec<Vec<u8>> {
    let mut committed = vec![start()];
    let mut content = start();
    for step in steps {
        match step {
            Step::Write(at, bytes) => {
                let at = usize::try_from(*at).unwrap();
                if content.len() < at + bytes.len() {
                    content.resize(at + bytes.len(), 0);
                }
                content[at..at + bytes.len()].copy_from_slice(bytes);
            }
            Step::SetLen(len) => content.resize(usize::try_from(*len).unwrap(), 0),
            Step::Commit => committed.push(content.clone()),
            Step::Rollback => content = committed.last().unwrap().clone(),
        }
    }
    committed
}

/// Runs the steps until the budget ends; returns how many commits were told as done.
fn run(file: &Disk, journal: &Disk, steps: &[Step], readers: bool, durable: bool) -> usize {
    let mut gate = Readers { are_there: readers };
    let Ok(mut writer) = Writer::open(file.clone(), journal.clone(), &mut gate) else { return 0 };
    let mut told = 0;
    for step in steps {
        let done = match step {
            Step::Write(at, bytes) => writer.write_at(bytes, *at),
            Step::SetLen(len) => writer.set_len(*len),
            Step::Commit => writer.commit(durable, &mut gate).map(drop),
            Step::Rollback => writer.rollback(),
        };
        if done.is_err() {
            return told;
        }
        told += usize::from(matches!(step, Step::Commit));
    }
    let _settled = writer.settle(&mut gate);
    told
}

/// What whoever opens the file next finds.
fn reopened(file: &Disk, journal: &Disk) -> Vec<u8> {
    let (file, journal) = (file.revived(), journal.revived());
    let mut gate = Readers { are_there: false };
    let mut writer = Writer::open(file.clone(), journal.clone(), &mut gate).unwrap();
    assert!(writer.settle(&mut gate).unwrap());
    let content = file.bytes.lock().unwrap().clone();
    content[..usize::try_from(writer.len()).unwrap()].to_vec()
}

fn snapshot(file: &Disk, journal: &Disk) -> Vec<u8> {
    let snapshot = Snapshot::new(file.clone(), Some(journal.clone())).unwrap();
    let mut content = vec![0; usize::try_from(snapshot.len().unwrap()).unwrap()];
    snapshot.read_exact_at(&mut content, 0).unwrap();
    content
}

/// Whether the content is that of a commit that was told, or of the one that was being made. What a program that was
/// killed had added behind the end may still be there, where no commit came to look.
fn check(content: &[u8], commits: &[Vec<u8>], told: usize, place: &str) {
    let candidates = &commits[told..(told + 2).min(commits.len())];
    let fits = |commit: &Vec<u8>| content == commit || content.starts_with(commit) && told == 0;
    assert!(candidates.iter().any(fits), "{place}: {told} commits were told");
}

#[test]
fn a_kill_at_any_byte_leaves_the_last_commit() {
    for (seed, readers, durable) in
        [(1, false, false), (2, true, false), (3, false, true), (4, true, true), (5, false, false)]
    {
        let steps = steps(seed, 5);
        let commits = commits_of(&steps);
        let mut budget_bytes = 0;
        loop {
            let budget = Budget::of(budget_bytes);
            let file = Disk::new(start(), &budget);
            let journal = Disk::new(Vec::new(), &budget);
            let told = run(&file, &journal, &steps, readers, durable);
            let place = format!("seed {seed}, {budget_bytes} bytes, readers {readers}, durable {durable}");
            check_all(&file, &journal, &commits, told, &place);
            if *budget.0.lock().unwrap() > 0 {
                assert_eq!(told, commits.len() - 1);
                break;
            }
            // Every byte where frames are short, fewer where pages are written.
            budget_bytes += if budget_bytes % 997 < 120 { 1 } else { 23 };
        }
    }
}

fn check_all(file: &Disk, journal: &Disk, commits: &[Vec<u8>], told: usize, place: &str) {
    let end = commits[told].len();
    let content = reopened(file, journal);
    let is_tail_left = content.len() > end && content.starts_with(&commits[told]);
    if !is_tail_left {
        check(&content, commits, told, place);
    }
    let seen = snapshot(&file.revived(), &journal.revived());
    assert!(seen.starts_with(&content) || content.starts_with(&seen), "{place}: readers see another commit");
}

#[test]
fn a_reader_keeps_its_commit_while_the_writer_goes_on() {
    for seed in 10..40 {
        let steps = steps(seed, 12);
        let commits = commits_of(&steps);
        let budget = Budget::of(u64::MAX);
        let (file, journal) = (Disk::new(start(), &budget), Disk::new(Vec::new(), &budget));
        let mut gate = Readers { are_there: true };
        let mut writer = Writer::open(file.clone(), journal.clone(), &mut gate).unwrap();
        let mut readers = vec![Snapshot::new(file.clone(), Some(journal.clone())).unwrap()];
        for step in &steps {
            match step {
                Step::Write(at, bytes) => writer.write_at(bytes, *at).unwrap(),
                Step::SetLen(len) => writer.set_len(*len).unwrap(),
                Step::Rollback => writer.rollback().unwrap(),
                Step::Commit => {
                    writer.commit(false, &mut gate).unwrap();
                    readers.push(Snapshot::new(file.clone(), Some(journal.clone())).unwrap());
                }
            }
            for (reader, commit) in readers.iter().zip(&commits) {
                let mut content = vec![0; usize::try_from(reader.len().unwrap()).unwrap()];
                reader.read_exact_at(&mut content, 0).unwrap();
                assert!(content.starts_with(commit), "seed {seed}, {step:?}");
            }
        }
    }
}

#[test]
fn what_was_written_is_read_before_it_is_committed() {
    for seed in 50..90 {
        let steps = steps(seed, 6);
        let budget = Budget::of(u64::MAX);
        let (file, journal) = (Disk::new(start(), &budget), Disk::new(Vec::new(), &budget));
        let mut gate = Readers { are_there: seed % 2 == 0 };
        let mut writer = Writer::open(file, journal, &mut gate).unwrap();
        for (number, step) in steps.iter().enumerate() {
            match step {
                Step::Write(at, bytes) => {
                    writer.write_at(bytes, *at).unwrap();
                    let mut found = vec![0; bytes.len()];
                    writer.read_at(&mut found, *at).unwrap();
                    assert_eq!(&found, bytes, "seed {seed}, step {number}");
                }
                Step::SetLen(len) => writer.set_len(*len).unwrap(),
                Step::Rollback => writer.rollback().unwrap(),
                Step::Commit => assert!(writer.commit(false, &mut gate).is_ok()),
            }
        }
    }
}

#[test]
fn a_write_that_fails_is_told_by_the_commit_and_can_be_made_up_for() {
    let budget = Budget::of(10_000);
    let (file, journal) = (Disk::new(start(), &budget), Disk::new(Vec::new(), &budget));
    let mut gate = Readers { are_there: false };
    let mut writer = Writer::open(file.clone(), journal.clone(), &mut gate).unwrap();
    writer.write_at(&[1; 300_000], 20_000).unwrap();
    writer.write_at(&[2; 300_000], 320_000).unwrap();
    writer.write_at(&[3; 10], 5).unwrap();
    assert!(writer.commit(false, &mut gate).is_err());
    assert!(reopened(&file, &journal).starts_with(&start()));
    let mut seen = [0; 2];
    writer.read_at(&mut seen, 319_999).unwrap();
    assert_eq!(seen, [1, 2]);
    assert!(writer.commit(false, &mut gate).is_err(), "the disk is still full");
    *budget.0.lock().unwrap() = 10_000_000;
    assert!(writer.commit(false, &mut gate).unwrap());
    let content = reopened(&file, &journal);
    assert_eq!((content.len(), content[5], content[319_999], content[320_000]), (620_000, 3, 1, 2));
}

#[test]
fn a_journal_of_another_file_is_refused() {
    let budget = Budget::of(u64::MAX);
    let (file, journal) = (Disk::new(start(), &budget), Disk::new(Vec::new(), &budget));
    let mut gate = Readers { are_there: true };
    let mut writer = Writer::open(file.clone(), journal.clone(), &mut gate).unwrap();
    writer.write_at(b"new", 100).unwrap();
    writer.commit(false, &mut gate).unwrap();
    gate.are_there = false;
    for changed in [101, 4000] {
        let other = file.revived();
        other.write_all_at(b"x", changed).unwrap();
        let refused = Writer::open(other, journal.revived(), &mut gate).err().unwrap().to_string();
        assert!(refused.contains("another state of the file"), "{refused}");
    }
    let shorter = file.revived();
    shorter.set_len(19_000).unwrap();
    assert!(Snapshot::new(shorter, Some(journal.revived())).is_err());
    assert_eq!(&reopened(&file, &journal)[100..103], b"new");
}

#[test]
fn a_journal_whose_pages_were_being_applied_is_refused_for_another_file() {
    let budget = Budget::of(u64::MAX);
    let (file, journal) = (Disk::new(start(), &budget), Disk::new(Vec::new(), &budget));
    let mut gate = Readers { are_there: false };
    let mut writer = Writer::open(file.clone(), journal.clone(), &mut gate).unwrap();
    // Both commits are in the file, and stay in the journal, as they are durable.
    for (at, bytes) in [(100, b"one"), (101, b"two"), (9000, b"one")] {
        writer.write_at(bytes, at).unwrap();
        writer.commit(true, &mut gate).unwrap();
    }
    assert!(journal.len().unwrap() > 8192);
    let mut open = |file: Disk| Writer::open(file, journal.revived(), &mut gate).map(drop);
    open(file.revived()).unwrap();
    // A power cut may take what was applied from the disk again, sector by sector.
    let older = start();
    for (from, to) in [(0, 512), (100, 101), (0, 102), (8704, 9728), (0, 20_000)] {
        let torn = file.revived();
        torn.write_all_at(&older[from..to], from as u64).unwrap();
        open(torn.clone()).unwrap();
        assert_eq!(&reopened(&torn, &journal)[100..104], b"otwo");
    }
    for place in [0, 90, 99, 101, 600, 9002, 12_000] {
        let changed = file.revived();
        changed.write_all_at(b"?", place).unwrap();
        let refused = open(changed).unwrap_err().to_string();
        assert!(refused.contains("another state of the file"), "{place}: {refused}");
    }
    assert!(open(Disk::new(vec![7; 20_000], &budget)).is_err());
}

#[test]
fn pages_that_are_as_they_were_are_no_commit() {
    let budget = Budget::of(u64::MAX);
    let (file, journal) = (Disk::new(start(), &budget), Disk::new(Vec::new(), &budget));
    let mut gate = Readers { are_there: false };
    let mut writer = Writer::open(file, journal.clone(), &mut gate).unwrap();
    let mut bytes = [0; 500];
    writer.read_at(&mut bytes, 700).unwrap();
    writer.write_at(&bytes, 700).unwrap();
    assert!(!writer.commit(false, &mut gate).unwrap());
    assert!(journal.is_empty().unwrap());
}

#[test]
fn a_new_file_keeps_the_journal_of_an_older_one_until_it_is_published() {
    let budget = Budget::of(u64::MAX);
    let (file, journal) = (Disk::new(start(), &budget), Disk::new(Vec::new(), &budget));
    let mut gate = Readers { are_there: true };
    let mut writer = Writer::open(file.clone(), journal.clone(), &mut gate).unwrap();
    writer.write_at(b"kept", 300).unwrap();
    writer.commit(false, &mut gate).unwrap();

    let made = Disk::new(Vec::new(), &budget);
    let mut new = Writer::create(made.clone(), journal.clone()).unwrap();
    new.write_at(b"new file", 0).unwrap();
    new.commit(false, &mut gate).unwrap();
    assert!(new.has_old_journal().unwrap());
    assert_eq!(&reopened(&file, &journal)[300..304], b"kept");
    new.publish(&mut gate).unwrap();
    assert!(!new.has_old_journal().unwrap());
    assert_eq!(reopened(&made, &journal), b"new file");
}

#[test]
fn many_changed_pages_go_to_the_journal_before_the_commit() {
    let budget = Budget::of(u64::MAX);
    let len = 80 << 20;
    let (file, journal) = (Disk::new(vec![7; len], &budget), Disk::new(Vec::new(), &budget));
    let mut gate = Readers { are_there: false };
    let mut writer = Writer::open(file.clone(), journal.clone(), &mut gate).unwrap();
    for part in 0..80 {
        writer.write_at(&vec![part; 1 << 20], u64::from(part) << 20).unwrap();
    }
    assert!(journal.len().unwrap() > 60 << 20);
    let mut byte = [0];
    writer.read_at(&mut byte, 3 << 20).unwrap();
    assert_eq!(byte, [3]);
    assert_eq!(file.bytes.lock().unwrap()[3 << 20], 7);
    writer.commit(false, &mut gate).unwrap();
    let content = file.bytes.lock().unwrap();
    assert!((0..80_u8).all(|part| content[(usize::from(part) << 20) + 5] == part));
}
