//! Every variant against the naive loops, for all widths and lengths that meet an edge.

use super::{Layout, join, shuffle, split, unshuffle};
use crate::levels;
use crate::testing::{Random, lengths, run, widths};

fn shuffled_naively(width: usize, src: &[u8]) -> Vec<u8> {
    let mut out = src.to_vec();
    let count = src.len() / width;
    for i in 0..count {
        for j in 0..width {
            out[j * count + i] = src[i * width + j];
        }
    }
    out
}

#[test]
fn the_examples_of_the_format() {
    let src = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10];
    for &level in levels() {
        let by_4 = run(&src, |src, dst| shuffle(level, 4, src, dst));
        assert_eq!(by_4, [1, 5, 2, 6, 3, 7, 4, 8, 9, 10]);
        let by_3 = run(&src, |src, dst| shuffle(level, 3, src, dst));
        assert_eq!(by_3, [1, 4, 7, 2, 5, 8, 3, 6, 9, 10]);
    }
}

#[test]
fn all_levels_equal_the_naive_loop_and_undo_it() {
    let mut random = Random::new(1);
    for width in widths() {
        for bytes in lengths(width) {
            let src = random.bytes(bytes);
            let expected = shuffled_naively(width, &src);
            for &level in levels() {
                let out = run(&src, |src, dst| shuffle(level, width, src, dst));
                assert!(out == expected, "shuffle {level:?}, width {width}, {bytes} bytes");
                let back = run(&expected, |src, dst| unshuffle(level, width, src, dst));
                assert!(back == src, "unshuffle {level:?}, width {width}, {bytes} bytes");
            }
        }
    }
}

#[test]
fn spread_rows_and_streams_leave_what_lies_between_alone() {
    let mut random = Random::new(2);
    for (width, row_step) in [(2, 2), (3, 3), (8, 8), (11, 11), (16, 16), (16, 17), (16, 100), (24, 40)] {
        for rows in (0..100).chain([200]) {
            let stream_step = rows + 5;
            let layout = Layout { width, row_step, rows, stream_step };
            let src = random.bytes(rows * row_step);
            for &level in levels() {
                let mut streams = vec![0x5A; stream_step * width];
                split(level, layout, &src, &mut streams);
                let mut back = vec![0x5A; src.len()];
                join(level, layout, &streams, &mut back);
                for (i, row) in src.chunks(row_step).enumerate() {
                    for j in 0..row_step {
                        let at = format!("{level:?} {layout:?}, row {i}, column {j}");
                        let moved = if j < width { row[j] } else { 0x5A };
                        assert_eq!(back[i * row_step + j], moved, "{at}");
                        assert!(j >= width || streams[j * stream_step + i] == row[j], "{at}");
                    }
                }
                let between = streams.chunks(stream_step).flat_map(|stream| &stream[rows..]);
                assert!(between.copied().all(|byte| byte == 0x5A), "{level:?} {layout:?}");
            }
        }
    }
}
