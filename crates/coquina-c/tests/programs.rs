//! The programs in C of `examples/`, compiled by the C compiler against the header and the library, and run.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use coquina::array::{Access, Array, ArraySpec, Fill, Selection, Target, Values, Window};
use coquina::chunk::{Params, Special};
use coquina::frame::Kind;
use coquina::table::{Batch, ColumnSpec, Schema, Table, TableOptions};
use coquina::{Existing, Job};

/// A file or directory of this name for a test, where nothing is yet.
fn fresh(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    match std::fs::remove_file(&path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => panic!("{}: {error}", path.display()),
        _ => path,
    }
}

/// The folder that the library was built to: that of the tests, or the one above.
fn library_folder() -> PathBuf {
    let name = if cfg!(target_os = "macos") { "libcoquina_c.dylib" } else { "libcoquina_c.so" };
    let tests = std::env::current_exe().expect("the test");
    let found = tests.ancestors().skip(1).find(|folder| folder.join(name).exists());
    found.unwrap_or_else(|| panic!("{name} is not beside {}", tests.display())).to_owned()
}

/// Compiles a program, with warnings as errors.
fn compiled(name: &str, program: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (folder, program) = (library_folder(), fresh(program));
    let done = Command::new(std::env::var_os("CC").unwrap_or_else(|| "cc".into()))
        .args(["-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror"])
        .arg(root.join("examples").join(format!("{name}.c")))
        .arg("-I")
        .arg(root.join("include"))
        .arg("-L")
        .arg(&folder)
        .arg("-lcoquina_c")
        .arg(format!("-Wl,-rpath,{}", folder.display()))
        .arg("-o")
        .arg(&program)
        .output()
        .expect("a C compiler");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    program
}

fn ran(program: &Path, arguments: &[&str]) -> Output {
    Command::new(program).args(arguments).output().expect("the program")
}

/// Writes an array of doubles, 4 x 5, whose item is ten times its row and its column.
fn written(path: &Path) {
    let spec = ArraySpec {
        shape: vec![4, 5],
        chunks: Some(vec![2, 3]),
        blocks: None,
        access: Access::Any,
        dtype: "<f8".into(),
        fill: Fill::Special(Special::Zeros),
        params: Params { typesize: 8, ..Params::default() },
        checksums: true,
        statistics: true,
        tuning: None,
    };
    let target = Target::File { path: path.into(), kind: Kind::Contiguous, existing: Existing::Replace };
    let array = Array::create(&spec, &target).expect("an array");
    let items: Vec<u8> = (0..20).flat_map(|at| f64::from(at / 5 * 10 + at % 5).to_le_bytes()).collect();
    let all = Selection::region(&[0..4, 0..5]);
    let window = Window { offset: 0, bytes: 8 };
    array.write(&all, window, Values::Bytes(&items), &Job::default()).expect("a write");
    array.publish().expect("the file");
}

#[test]
fn corner_of_an_array_is_printed() {
    let path = fresh("corner.b2nd");
    written(&path);
    let program = compiled("corner", "corner");
    let name = path.to_str().expect("a name");
    let done = ran(&program, &[name, "3"]);
    assert_eq!(String::from_utf8_lossy(&done.stdout), "0 1 2\n10 11 12\n20 21 22\n", "{done:?}");
    assert!(done.status.success());
    // All of it, as it has fewer items than are asked for.
    assert_eq!(ran(&program, &[name, "9"]).stdout.iter().filter(|byte| **byte == b'\n').count(), 4);
}

/// Writes a table of trees: their heights and names, of which one is missing.
fn trees(path: &Path) {
    let schema = Schema::new([ColumnSpec::number::<f64>("height"), ColumnSpec::text("name").nullable()]);
    let mut table = Table::create(path, &schema, &TableOptions::default()).expect("a table");
    let names = vec![Some("oak"), None, Some("Ölbaum"), Some("ash"), Some("")];
    let batch = Batch::new().with("height", [31.5, 4.0, 12.25, 18.0, 20.0]).with("name", names);
    table.append(&batch).expect("rows");
    table.close().expect("a commit");
}

#[test]
fn rows_that_meet_a_condition_are_printed() {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("trees");
    if path.exists() {
        std::fs::remove_dir_all(&path).expect("the table of the last run");
    }
    trees(&path);
    let (program, name) = (compiled("query", "query"), path.to_str().expect("a name"));
    let told = |condition: &str, column: &str| {
        let done = ran(&program, &[name, condition, column]);
        String::from_utf8_lossy(if done.status.success() { &done.stdout } else { &done.stderr }).into_owned()
    };
    assert_eq!(told("height > 10", "name"), "0: oak\n2: Ölbaum\n3: ash\n4: \n4 rows\n");
    assert_eq!(told("name is null", "height"), "1: 4\n1 rows\n");
    assert_eq!(told("height < 10", "name"), "1: missing\n1 rows\n");
    assert_eq!(told("height > 99", "name"), "0 rows\n");
    assert!(
        told("heigth > 10", "name").contains("\n  heigth > 10\n  ^^^^^^"),
        "{}",
        told("heigth > 10", "name")
    );
    assert!(told("height > 10", "age").contains("age"));
}

#[test]
fn damage_is_told_by_a_sentence_with_the_place() {
    let path = fresh("damaged.b2nd");
    written(&path);
    let mut bytes = std::fs::read(&path).expect("the file");
    let middle = bytes.len() / 2;
    bytes.truncate(middle);
    std::fs::write(&path, bytes).expect("the file");
    let done = ran(&compiled("corner", "corner_of_damaged"), &[path.to_str().expect("a name"), "3"]);
    let told = String::from_utf8_lossy(&done.stderr);
    assert!(!done.status.success() && told.starts_with("open: ") && told.contains("damaged.b2nd"), "{told}");
}
