//! Laws of directories: each change is one commit, whatever fails, and what is read was committed.

mod test_commits;
mod test_files;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::*;
use crate::array::{Access, Array, ArraySpec, Fill, Selection, Values, Window, commit_together};
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::json::{Json, JsonObject, JsonText};
use crate::base::pool::Job;
use crate::base::testing::random;
use crate::chunk::{Params, Special};
use crate::frame::{Manifest, faults};
use crate::table::{NodeKind, TableStorage};

const WRITE: DirectoryOptions =
    DirectoryOptions { writable: true, durable: false, wait: std::time::Duration::ZERO, damaged: false };
const READ: DirectoryOptions = DirectoryOptions { writable: false, ..WRITE };

/// A folder for one test, which goes with it.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("coquina-directory-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn table(&self) -> PathBuf {
        self.0.join("t")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn spec() -> ArraySpec {
    ArraySpec {
        shape: vec![0],
        chunks: Some(vec![8]),
        blocks: Some(vec![4]),
        access: Access::Any,
        dtype: "|u1".into(),
        fill: Fill::Special(Special::Zeros),
        params: Params { typesize: 1, ..Params::default() },
        checksums: true,
        statistics: true,
        tuning: None,
    }
}

fn array(directory: &TableDirectory, path: &str) -> Arc<Array> {
    directory.array(path.as_bytes()).unwrap().unwrap()
}

fn append(directory: &TableDirectory, path: &str, items: &[u8]) -> Result<()> {
    let array = directory.array(path.as_bytes())?.unwrap();
    array.append(0, items.len() as u64, Values::Bytes(items), &Job::inline())
}

fn items(array: &Array) -> Result<Vec<u8>> {
    let len = array.grid().shape()[0];
    let mut out = vec![0; usize::try_from(len).unwrap()];
    let window = Window { offset: 0, bytes: 1 };
    array.read(&Selection::region(std::slice::from_ref(&(0..len))), window, &mut out, &Job::inline())?;
    Ok(out)
}

/// All that there is: paths, what the manifest says of them, and the items of arrays.
fn shown(directory: &TableDirectory) -> Result<Vec<(String, String, Vec<u8>)>> {
    let one = |path: JsonText| {
        let node = directory.node(path.as_bytes()).unwrap();
        let mut text = Vec::new();
        Node::clone(&node).with_state(None).write(&mut text);
        let found = directory.array(path.as_bytes())?.map_or(Ok(Vec::new()), |array| items(&array))?;
        Ok((path.to_string(), String::from_utf8_lossy(&text).into_owned(), found))
    };
    directory.paths().into_iter().map(one).collect()
}

fn at(path: &Path, options: DirectoryOptions) -> Vec<(String, String, Vec<u8>)> {
    shown(&TableDirectory::open(path, options).unwrap()).unwrap()
}

/// A table with two arrays of ten items and a list of texts.
fn made(path: &Path) -> Arc<TableDirectory> {
    let directory = TableDirectory::make(path, false).unwrap();
    let fill = || {
        for name in ["a", "g/b"] {
            directory.create_array(&name.into(), &spec(), None)?;
            append(&directory, name, &[1; 10])?;
        }
        directory.put_texts(&"kinds".into(), vec!["é".into(), "".into()])
    };
    directory.change(fill).unwrap();
    directory
}

/// A change, and whether it is one of nodes too.
type Change = fn(&TableDirectory) -> Result<()>;

/// What changes a table in each way that there is.
const CHANGES: [Change; 6] = [
    |directory| {
        append(directory, "a", &[2; 5])?;
        append(directory, "g/b", &[3; 5])
    },
    |directory| {
        append(directory, "a", &[2; 5])?;
        directory.change_attributes(b"", |attributes| attributes.set("unit".into(), "mm".into()))
    },
    |directory| {
        directory.create_array(&"more".into(), &spec(), None)?;
        append(directory, "more", &[7; 3])
    },
    |directory| directory.remove_below(b"g"),
    |directory| {
        directory.move_to(b"a", b"c/d")?;
        append(directory, "c/d", &[4])
    },
    |directory| {
        array(directory, "a").resize(&[3], &Job::inline())?;
        directory.put_texts(&"kinds".into(), vec!["new".into()])
    },
];
