//! Words that are nearly a name: for errors about names that stand for nothing.
//!
//! In: a name, and the words that there are. Out: the word that may be meant.

/// The word of which the fewest letters have to be changed to make `name`: a third of them at most.
pub(super) fn near<'a>(name: &str, words: &mut dyn Iterator<Item = &'a str>) -> Option<&'a str> {
    let most = name.chars().count() / 3;
    words
        .map(|word| (distance(name, word), word))
        .filter(|found| found.0 <= most)
        .min_by_key(|found| found.0)
        .map(|found| found.1)
}

/// How many letters have to be changed, added or removed to make one word of another.
fn distance(a: &str, b: &str) -> usize {
    // Of the letters of `a` so far, for each number of letters of `b`.
    let mut row: Vec<usize> = (0..=b.chars().count()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut above_left = std::mem::replace(&mut row[0], i + 1);
        for (j, y) in b.chars().enumerate() {
            let above = row[j + 1];
            row[j + 1] = (above_left + usize::from(x != y)).min(above + 1).min(row[j] + 1);
            above_left = above;
        }
    }
    row[b.chars().count()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_with_a_letter_wrong_is_near_and_others_are_not() {
        let words = ["price", "volume", "info/lon", "x"];
        let found = |name| near(name, &mut words.into_iter());
        assert_eq!(found("prise"), Some("price"));
        assert_eq!(found("volum"), Some("volume"));
        assert_eq!(found("info/lo"), Some("info/lon"));
        for name in ["y", "prxxx", "sym", ""] {
            assert_eq!(found(name), None, "{name}");
        }
    }

    #[test]
    fn distances_are_those_of_the_definition() {
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("é", "e"), 1);
        assert_eq!(distance("same", "same"), 0);
    }
}
