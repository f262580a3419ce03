//! The copies are judged by a loop over all positions that copies one item.

use super::*;
use crate::testing::Random;

fn place(steps: Steps<'_>, at: usize) -> usize {
    match steps {
        Steps::Even { start, step } => start.checked_add_signed(step * at.cast_signed()).unwrap(),
        Steps::Listed(places) => places[at],
    }
}

fn copy_naively(dst: &mut [u8], src: &[u8], axes: &[Axis<'_>], item: usize) {
    let total: usize = axes.iter().map(|axis| axis.len).product();
    for mut number in 0..total {
        let (mut to, mut from) = (0, 0);
        for axis in axes.iter().rev() {
            to += place(axis.to, number % axis.len);
            from += place(axis.from, number % axis.len);
            number /= axis.len;
        }
        dst[to..to + item].copy_from_slice(&src[from..from + item]);
    }
}

/// A box of random axes; each list is kept by the caller.
fn random_axes<'a>(
    random: &mut Random,
    item: usize,
    lists: &'a mut Vec<Vec<usize>>,
) -> (Vec<Axis<'a>>, usize, usize) {
    let ndim = random.below(5);
    let lens: Vec<usize> = (0..ndim).map(|_| 1 + random.below(6)).collect();
    *lists = lens.iter().map(|&len| (0..len).map(|_| random.below(9) * item).collect()).collect();
    let (mut to_stride, mut from_stride) = (item, item);
    let (mut to_end, mut from_end) = (item, item);
    let mut axes = Vec::new();
    for (at, &len) in lens.iter().enumerate().rev() {
        // Gaps now and then, so that only some axes merge.
        to_stride *= 1 + random.below(8) / 7;
        from_stride *= 1 + random.below(8) / 7;
        let to = Steps::Even { start: to_stride, step: to_stride.cast_signed() };
        to_end += len * to_stride;
        let back = Steps::Even { start: (len - 1) * from_stride, step: -from_stride.cast_signed() };
        let from = match random.below(6) {
            0 => back,
            1 => Steps::Even { start: from_stride, step: 0 },
            2 => Steps::Listed(&lists[at]),
            _ => Steps::Even { start: 0, step: from_stride.cast_signed() },
        };
        from_end += from.extent(len).unwrap().1;
        axes.push(Axis { len, to, from });
        to_stride *= len;
        from_stride *= len;
    }
    axes.reverse();
    (axes, to_end, from_end)
}

#[test]
fn copies_equal_the_naive_loop() {
    let mut random = Random::new(7);
    for _ in 0..3000 {
        let item = [1, 2, 3, 4, 8, 16, 24][random.below(7)];
        let mut lists = Vec::new();
        let (axes, to_bytes, from_bytes) = random_axes(&mut random, item, &mut lists);
        let src = random.bytes(from_bytes);
        let (mut expected, mut got) = (vec![0; to_bytes], vec![0; to_bytes]);
        copy_naively(&mut expected, &src, &axes, item);
        copy_box(&mut got, &src, &axes, item);
        assert_eq!(got, expected, "{axes:?}, items of {item}");
    }
}

#[test]
#[should_panic(expected = "leaves its source")]
fn a_box_outside_of_its_source_is_refused() {
    let axis =
        Axis { len: 3, to: Steps::Even { start: 0, step: 1 }, from: Steps::Even { start: 0, step: 2 } };
    copy_box(&mut [0; 8], &[0; 4], &[axis], 1);
}

#[test]
fn cells_fill_the_output_between_them() {
    let mut random = Random::new(3);
    for _ in 0..500 {
        let ndim = random.below(4);
        let lens: Vec<usize> = (0..ndim).map(|_| 1 + random.below(7)).collect();
        let mut cuts = Vec::new();
        for &len in &lens {
            let middle = random.below(len + 1);
            let bounds = vec![0, middle, len];
            let mut order: Vec<usize> = (0..len).collect();
            order.rotate_left(random.below(len));
            let listed = random.below(2) == 0;
            cuts.push(if listed { Cuts::ordered(bounds, order) } else { Cuts::in_order(bounds) });
        }
        let total: usize = lens.iter().product();
        let mut out = vec![0_u8; total];
        let shared = SharedOutput::new(&mut out, 1, cuts);
        for number in 0..1_usize << ndim {
            let groups: Vec<usize> = (0..ndim).map(|at| number >> at & 1).collect();
            let mut cell = shared.cell(&groups);
            let value = u8::try_from(number + 1).unwrap();
            if let Some(slice) = cell.as_slice_mut() {
                slice.fill(value);
            } else {
                cell.copy_from(&[value], &vec![NO_STEP; ndim]);
            }
        }
        drop(shared);
        assert!(out.iter().all(|&value| value > 0), "{out:?}");
    }
}

const NO_STEP: Steps<'static> = Steps::Even { start: 0, step: 0 };

#[test]
#[should_panic(expected = "taken already")]
fn a_cell_is_taken_once() {
    let mut out = [0; 4];
    let shared = SharedOutput::new(&mut out, 1, vec![Cuts::in_order(vec![0, 2, 4])]);
    let _first = shared.cell(&[1]);
    let _second = shared.cell(&[1]);
}

#[test]
#[should_panic(expected = "two groups")]
fn a_position_is_in_one_group() {
    Cuts::ordered(vec![0, 1, 3], vec![0, 1, 1]);
}
