//! Items that stand for more than themselves: broadcast over the axes of a box.
//!
//! In: items in C order of a smaller box, and for each axis of the large one how far a step along it goes in the
//! small one (0: nowhere). Out: a run of the large box in C order.
//! Plain version: for each position, the sum of its coordinates times the steps. Here the last axis goes in runs.

/// One axis of the large box.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpreadAxis {
    /// How many positions.
    pub len: usize,
    /// Items from one position to the next; 0 where one item stands for all.
    pub step: usize,
}

/// Items spread over a box.
#[derive(Clone, Debug)]
pub struct Spread<'a> {
    items: &'a [u8],
    item_bytes: usize,
    axes: Vec<SpreadAxis>,
}

impl<'a> Spread<'a> {
    /// `items` over `axes`, the outermost first.
    pub fn new(items: &'a [u8], item_bytes: usize, axes: &[SpreadAxis]) -> Self {
        let mut merged: Vec<SpreadAxis> = Vec::with_capacity(axes.len().max(1));
        for &axis in axes.iter().filter(|axis| axis.len != 1) {
            match merged.last_mut() {
                // Both go on where the other ends, or neither goes anywhere.
                Some(last) if last.step == axis.step * axis.len => {
                    *last = SpreadAxis { len: last.len * axis.len, step: axis.step };
                }
                _ => merged.push(axis),
            }
        }
        if merged.is_empty() {
            merged.push(SpreadAxis { len: 1, step: 0 });
        }
        Self { items, item_bytes, axes: merged }
    }

    /// Fills `out` with the items from position `start` of the box on.
    pub(super) fn fill(&self, start: usize, out: &mut [u8]) {
        let Some((row, outer)) = self.axes.split_last() else { return };
        let mut at = start;
        let mut out = out;
        while !out.is_empty() {
            let column = at % row.len;
            let count = (row.len - column).min(out.len() / self.item_bytes);
            let mut number = at / row.len;
            let mut place = column * row.step;
            for axis in outer.iter().rev() {
                place += number % axis.len * axis.step;
                number /= axis.len;
            }
            let (run, rest) = std::mem::take(&mut out).split_at_mut(count * self.item_bytes);
            self.fill_run(place, row.step, run);
            out = rest;
            at += count;
        }
    }

    /// Fills a run of one row from the item at `place` on.
    fn fill_run(&self, place: usize, step: usize, run: &mut [u8]) {
        let item = self.item_bytes;
        let from = &self.items[place * item..];
        match step {
            1 => run.copy_from_slice(&from[..run.len()]),
            0 => repeat(&from[..item], run),
            _ => {
                for (n, out) in run.chunks_exact_mut(item).enumerate() {
                    out.copy_from_slice(&from[n * step * item..][..item]);
                }
            }
        }
    }
}

/// Fills `out` with one item over and over.
pub(super) fn repeat(item: &[u8], out: &mut [u8]) {
    let first = item.len().min(out.len());
    out[..first].copy_from_slice(&item[..first]);
    let mut done = first;
    while done < out.len() {
        let count = done.min(out.len() - done);
        let (before, after) = out.split_at_mut(done);
        after[..count].copy_from_slice(&before[..count]);
        done += count;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn naive(items: &[u8], axes: &[SpreadAxis]) -> Vec<u8> {
        let size: usize = axes.iter().map(|axis| axis.len).product();
        let place = |mut at: usize| {
            axes.iter().rev().fold(0, |place, axis| {
                let here = at % axis.len * axis.step;
                at /= axis.len;
                place + here
            })
        };
        (0..size).map(|at| items[place(at)]).collect()
    }

    #[test]
    fn every_run_of_every_box_is_the_naive_one() {
        let items: Vec<u8> = (0..60).collect();
        let boxes: [&[(usize, usize)]; 8] = [
            &[],
            &[(5, 1)],
            &[(5, 0)],
            &[(3, 5), (5, 1)],
            &[(3, 0), (5, 1)],
            &[(3, 1), (5, 0)],
            &[(2, 5), (3, 0), (5, 1)],
            &[(2, 0), (3, 4), (1, 7), (4, 2)],
        ];
        for axes in boxes {
            let axes: Vec<_> = axes.iter().map(|&(len, step)| SpreadAxis { len, step }).collect();
            let all = naive(&items, &axes);
            let spread = Spread::new(&items, 1, &axes);
            for start in 0..all.len() {
                for len in 0..=all.len() - start {
                    let mut out = vec![0xAA; len];
                    spread.fill(start, &mut out);
                    assert_eq!(out, all[start..start + len], "{axes:?} {start} {len}");
                }
            }
        }
    }
}
