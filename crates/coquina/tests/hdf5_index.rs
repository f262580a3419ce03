//! The index of chunks is the one that libhdf5 wrote, in golden files of every kind; damage is seen or does no harm.

#![expect(clippy::unwrap_used, reason = "a helper that fails fails its test")]

use std::fs;
use std::path::PathBuf;

use coquina::hdf5::{ChunkRow, IndexKind, Layout, read_index};
use coquina::{Error, ErrorKind, Limits, ReadAt, Result};
use sha2::{Digest as _, Sha256};

type Rows = Vec<(Vec<u64>, ChunkRow)>;

/// A dataset of a golden file, as libhdf5 says.
struct Golden {
    name: String,
    file: Vec<u8>,
    header: u64,
    layout: String,
    rows: Rows,
}

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden/hdf5")
}

fn numbers(text: &str) -> Vec<u64> {
    text.split(',').map(|number| number.parse().unwrap()).collect()
}

fn goldens() -> Vec<Golden> {
    let mut goldens: Vec<Golden> = Vec::new();
    for line in fs::read_to_string(folder().join("index-tables.txt")).unwrap().lines() {
        if let Some(row) = line.strip_prefix(' ') {
            let [start, address, size, mask] = row.split(' ').collect::<Vec<_>>()[..] else {
                panic!("{line}")
            };
            let (address, size) = (address.parse().unwrap(), size.parse().unwrap());
            let row = ChunkRow { address, size, mask: mask.parse().unwrap() };
            goldens.last_mut().unwrap().rows.push((numbers(start), row));
            continue;
        }
        let [file, digest, dataset, header, layout] = line.splitn(5, ' ').collect::<Vec<_>>()[..] else {
            panic!("{line}")
        };
        let bytes = fs::read(folder().join(file)).unwrap();
        let found: String = Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(found, digest, "{file}: a golden file is never rewritten");
        goldens.push(Golden {
            name: format!("{file}/{dataset}"),
            file: bytes,
            header: header.parse().unwrap(),
            layout: layout.into(),
            rows: Vec::new(),
        });
    }
    goldens
}

/// A layout in the words of the table.
fn words(layout: &Layout) -> String {
    match layout {
        Layout::Compact => "compact".into(),
        Layout::Virtual => "virtual".into(),
        Layout::Contiguous { address, size } => {
            let address = address.map_or("None".into(), |address| address.to_string());
            format!("contiguous {address} {size}")
        }
        Layout::Chunked { dims, itemsize, kind, filters_partial_edges, is_complete } => {
            assert!(is_complete);
            let dims: Vec<_> = dims.iter().map(u64::to_string).collect();
            let edges = if *filters_partial_edges { "filtered" } else { "whole" };
            format!("{kind:?} {} {itemsize} {edges}", dims.join(","))
        }
    }
}

fn read(source: &dyn ReadAt, header: u64) -> Result<(Layout, Rows)> {
    let mut rows = Vec::new();
    let layout = read_index(source, header, &Limits::default(), &mut |start, row| {
        rows.push((start.to_vec(), row));
        Ok(())
    })?;
    rows.sort_by(|a, b| a.0.cmp(&b.0));
    Ok((layout, rows))
}

/// Bytes that must be read, as those of a file on disk.
struct Disk<'a>(&'a [u8]);

impl ReadAt for Disk<'_> {
    fn len(&self) -> Result<u64> {
        Ok(self.0.len() as u64)
    }

    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> Result<()> {
        self.0.read_exact_at(buffer, offset)
    }
}

#[test]
fn every_golden_index_is_read_as_its_library_read_it() {
    let goldens = goldens();
    let mut kinds = Vec::new();
    for golden in &goldens {
        for source in [&golden.file as &dyn ReadAt, &Disk(&golden.file)] {
            let (layout, rows) =
                read(source, golden.header).unwrap_or_else(|e| panic!("{}: {e}", golden.name));
            assert_eq!(words(&layout), golden.layout, "{}", golden.name);
            assert_eq!(rows, golden.rows, "{}", golden.name);
            if let Layout::Chunked { kind, .. } = layout
                && !rows.is_empty()
                && !kinds.contains(&kind)
            {
                kinds.push(kind);
            }
        }
    }
    assert_eq!(kinds.len(), 6, "{kinds:?}");
}

#[test]
fn every_prefix_is_an_error_or_the_whole_table() {
    for golden in goldens() {
        // The ends of short files, and of long ones every 61st: they are made of the same blocks.
        let step = if golden.file.len() < 10_000 { 1 } else { 61 };
        for end in (0..golden.file.len()).step_by(step) {
            if let Ok((_, rows)) = read(&&golden.file[..end], golden.header) {
                assert_eq!(rows, golden.rows, "{} cut at {end}", golden.name);
            }
        }
        assert_eq!(read(&&golden.file[..0], golden.header).unwrap_err().kind(), ErrorKind::Corrupt);
    }
}

#[test]
fn a_flipped_bit_is_seen_wherever_there_are_checksums() {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    for golden in goldens() {
        // Headers of version 1 and B-trees of version 1 have no checksums: rows may be wrong, but there is an end.
        let has_checksums = !golden.name.contains("earliest") && !golden.layout.starts_with("BTree1");
        let mut file = golden.file.clone();
        for _ in 0..2000 {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
            let bit = usize::try_from(state >> 20).unwrap() % (8 * file.len());
            file[bit / 8] ^= 1 << (bit % 8);
            if let Ok((layout, rows)) = read(&file, golden.header) {
                assert!(rows.len() <= file.len(), "{}", golden.name);
                if has_checksums {
                    assert!(
                        (words(&layout), rows) == (golden.layout.clone(), golden.rows.clone()),
                        "{}",
                        golden.name
                    );
                }
            }
            file[bit / 8] ^= 1 << (bit % 8);
        }
    }
}

/// Puts `address` where the file has the one of a root of a version 1 B-tree.
fn with_root(file: &[u8], root: usize, address: usize) -> Vec<u8> {
    let old = (root as u64).to_le_bytes();
    let places: Vec<usize> = (0..file.len() - 8).filter(|&at| file[at..at + 8] == old).collect();
    let [place] = places[..] else { panic!("the root is named at {places:?}") };
    let mut file = file.to_vec();
    file[place..place + 8].copy_from_slice(&(address as u64).to_le_bytes());
    file
}

#[test]
fn links_that_meet_or_lead_in_circles_end() {
    let golden = goldens().into_iter().find(|golden| golden.name.ends_with("earliest-deep.h5/deep")).unwrap();
    let file = &golden.file;
    let nodes = (0..file.len() - 6).filter(|&at| file[at..].starts_with(b"TREE\x01"));
    let root = nodes.max_by_key(|&at| file[at + 5]).unwrap();
    // A node that is its own child is not one level below itself.
    let level = file[root + 5];
    let mut circle = file.clone();
    circle[root + 48..root + 56].copy_from_slice(&(root as u64).to_le_bytes());
    let error = read(&circle, golden.header).unwrap_err().to_string();
    assert!(error.contains(&format!("level {level} where {} must be", level - 1)), "{error}");
    // A tower of 60 levels, both children of each node the same one: 2^60 ways down to a leaf.
    let mut tower = with_root(file, root, file.len());
    for level in (0..60_u8).rev() {
        let below = tower.len() as u64 + 112;
        tower.extend(*b"TREE\x01");
        tower.extend([level, 2, 0]);
        tower.extend([0xff; 16]);
        for start in 0..2_u64 {
            tower.extend([2, 0, 0, 0, 0, 0, 0, 0]);
            tower.extend(start.to_le_bytes());
            tower.extend([0; 8]);
            tower.extend(below.to_le_bytes());
        }
        tower.extend([0; 24]);
    }
    let error = read(&tower, golden.header).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt);
    assert!(error.to_string().contains("more metadata than"), "{error}");
}

#[test]
fn an_error_of_the_caller_ends_the_walk_and_comes_back() {
    let golden = goldens().into_iter().find(|golden| golden.rows.len() > 5).unwrap();
    let mut seen = 0;
    let error = read_index(&golden.file, golden.header, &Limits::default(), &mut |_, _| {
        seen += 1;
        if seen == 3 { Err(Error::cancelled()) } else { Ok(()) }
    });
    assert_eq!((seen, error.unwrap_err().kind()), (3, ErrorKind::Cancelled));
}

#[test]
fn blocks_longer_than_the_limit_are_refused() {
    let goldens = goldens();
    let golden = goldens.iter().find(|golden| golden.name.ends_with("pages.h5/growing")).unwrap();
    let limits = Limits { chunk_bytes: 5000 };
    let error = read_index(&golden.file, golden.header, &limits, &mut |_, _| Ok(())).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Limit, "{error}");
    assert!(error.to_string().starts_with(IndexKind::ExtensibleArray.name()), "{error}");
}
