//! Tests that `include/coquina.h` is what cbindgen makes of the sources.
//!
//! `COQUINA_WRITE_HEADER=1 cargo test -p coquina-c --test header` writes it anew.

use std::fs;
use std::path::Path;

#[test]
fn header_is_that_of_the_sources() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let config = cbindgen::Config::from_file(root.join("cbindgen.toml")).expect("cbindgen.toml");
    let made = cbindgen::generate_with_config(root, config).expect("bindings");
    let mut text = Vec::new();
    made.write(&mut text);
    let path = root.join("include/coquina.h");
    if std::env::var_os("COQUINA_WRITE_HEADER").is_some() {
        fs::write(&path, &text).expect("the header");
    }
    let stands = fs::read(&path).expect("the header");
    assert!(
        stands == text,
        "include/coquina.h is not up to date: set COQUINA_WRITE_HEADER=1 and run this test"
    );
}
