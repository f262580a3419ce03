//! The examples do what they say.

#[expect(dead_code, reason = "what runs an example alone is not asked for here")]
#[path = "../examples/column_means.rs"]
mod column_means;
#[expect(dead_code, reason = "what runs an example alone is not asked for here")]
#[path = "../examples/indexes.rs"]
mod indexes;
#[expect(dead_code, reason = "what runs an example alone is not asked for here")]
#[path = "../examples/table.rs"]
mod table;

#[test]
fn column_means_are_those_of_the_items() {
    let path = std::env::temp_dir().join(format!("coquina-column-means-{}.b2nd", std::process::id()));
    column_means::write(&path).expect("a new file");
    let part = column_means::read(&path, 10..12, 5..8).expect("it is there");
    assert_eq!(part, [6.25, 7.5, 8.75, 6.875, 8.25, 9.625]);
    let means = column_means::means(&path).expect("it is there");
    assert_eq!(means.len(), 300);
    for (column, mean) in means.iter().enumerate() {
        let items = (0..2000_usize).map(|row| (row * column % 1000) as f64 / 8.0);
        assert!((mean - items.sum::<f64>() / 2000.0).abs() < 1e-9, "column {column}");
    }
    std::fs::remove_file(&path).expect("it is there");
}

#[test]
fn a_table_in_a_directory_holds_what_the_example_wrote_and_changed() {
    let path = std::env::temp_dir().join(format!("coquina-example-table-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&path);
    table::write(&path).expect("a new directory");
    table::change(&path).expect("it is there");
    let found = table::read(&path).expect("it is there");
    assert_eq!(
        found,
        [
            "Trees of the town: 9997 rows",
            "oak in harbour: 25.3 m",
            "lime in park: 0.8 m",
            "oak in street 0: 0.3 m"
        ]
    );
    std::fs::remove_dir_all(&path).expect("it is there");
}

#[test]
fn indexes_find_rows_that_the_example_appended_and_changed() {
    let path = std::env::temp_dir().join(format!("coquina-example-indexes-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&path);
    indexes::make(&path).expect("a new directory");
    indexes::append(&path).expect("it is there");
    indexes::change(&path).expect("it is there");
    let asked = |condition: &str| indexes::ask(&path, condition).expect("it is there");
    assert_eq!(asked("id == 7"), ("id".to_owned(), vec![5, 70_000]));
    assert_eq!(asked("name == 'seven'"), ("name".to_owned(), vec![5, 70_000]));
    assert_eq!(asked("id == 7919"), ("id".to_owned(), vec![1]));
    std::fs::remove_dir_all(&path).expect("it is there");
}
