//! The examples do what they say.

#[expect(dead_code, reason = "what runs an example alone is not asked for here")]
#[path = "../examples/column_means.rs"]
mod column_means;

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
