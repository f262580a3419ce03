//! Numbers of rows, ascending and each once.
//!
//! In: numbers that are not negative, in any order. Where there are many in a small span, they are marks in a row of
//! bits; else they are sorted.

/// As long as there are no more than so many words of bits for each number, marks are faster.
const WORDS_EACH: usize = 8;

/// The same numbers in order, each once.
pub(super) fn distinct(mut rows: Vec<i64>) -> Vec<i64> {
    if rows.is_sorted_by(|a, b| a < b) {
        return rows;
    }
    let (min, max) = rows.iter().fold((i64::MAX, 0), |(min, max), &row| (min.min(row), max.max(row)));
    let words = max.checked_sub(min).and_then(|span| usize::try_from(span / 64 + 1).ok());
    match words {
        Some(words) if words <= rows.len().saturating_mul(WORDS_EACH) => marked(&mut rows, min, words),
        _ => {
            rows.sort_unstable();
            rows.dedup();
        }
    }
    rows
}

fn marked(rows: &mut Vec<i64>, min: i64, words: usize) {
    let mut marks = vec![0_u64; words];
    for &row in &*rows {
        let at = (row - min).cast_unsigned();
        if let Some(word) = usize::try_from(at / 64).ok().and_then(|word| marks.get_mut(word)) {
            *word |= 1 << (at % 64);
        }
    }
    rows.clear();
    let mut start = min.cast_unsigned();
    for mut word in marks {
        while word != 0 {
            rows.push((start + u64::from(word.trailing_zeros())).cast_signed());
            word &= word - 1;
        }
        start += 64;
    }
}
