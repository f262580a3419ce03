//! Laws of the two filters of cells.

use super::*;
use crate::base::layout::BlockLayout;
use crate::filter::{Filter, by_id};

fn layout(shape: &[u64], item_bytes: usize, dtype: &str) -> BlockLayout {
    BlockLayout::new(shape, item_bytes, dtype)
}

fn run(
    filter: &dyn Filter,
    meta: u8,
    layout: &BlockLayout,
    block: &[u8],
    is_encoding: bool,
) -> Result<Vec<u8>> {
    let stage = Stage { typesize: 4, meta, version: 5, reference: None, layout };
    let mut outs = [vec![0; block.len()], vec![0xff; block.len()]];
    for out in &mut outs {
        if is_encoding { filter.encode(&stage, block, out)? } else { filter.decode(&stage, block, out)? }
    }
    assert_eq!(outs[0], outs[1], "bytes that were not written");
    Ok(outs.into_iter().next().unwrap())
}

#[test]
fn the_worked_example_of_the_format_holds() {
    let block: Vec<u8> = (0..15).collect();
    let layout = layout(&[3, 5], 1, "|u1");
    let celled = run(&NdCell, 2, &layout, &block, true).unwrap();
    assert_eq!(celled, [0, 1, 5, 6, 2, 3, 7, 8, 4, 9, 10, 11, 12, 13, 14]);
    assert_eq!(run(&NdCell, 2, &layout, &celled, false).unwrap(), block);
    assert_eq!([by_id(32).unwrap().name(), by_id(33).unwrap().name()], ["ndcell", "ndmean"]);
}

#[test]
fn cells_of_any_side_are_undone() {
    for shape in [&[30][..], &[1, 9], &[7, 8], &[4, 5, 6], &[3, 1, 4, 5], &[2; 8]] {
        for item_bytes in [1, 3, 8] {
            let bytes = usize::try_from(shape.iter().product::<u64>()).unwrap() * item_bytes;
            let block: Vec<u8> = (0..bytes).map(|i| (i * i / 5 + i).to_le_bytes()[0]).collect();
            let layout = layout(shape, item_bytes, "");
            for side in 1..=9 {
                let Ok(celled) = run(&NdCell, side, &layout, &block, true) else {
                    assert!(NdCell.check(side, item_bytes, &layout).is_err(), "{shape:?} {side}");
                    continue;
                };
                assert_eq!(run(&NdCell, side, &layout, &celled, false).unwrap(), block, "{shape:?} {side}");
            }
        }
    }
}

#[test]
fn every_item_of_a_cell_becomes_the_mean() {
    let values: Vec<f32> = (0..15_u8).map(f32::from).collect();
    let block: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    let layout = layout(&[3, 5], 4, "<f4");
    let celled = run(&NdMean, 2, &layout, &block, true).unwrap();
    let decoded = run(&NdMean, 2, &layout, &celled, false).unwrap();
    let items: Vec<f32> = decoded.as_chunks().0.iter().map(|&item| f32::from_le_bytes(item)).collect();
    let rows = [[3.0, 3.0, 5.0, 5.0, 6.5], [3.0, 3.0, 5.0, 5.0, 6.5], [10.5, 10.5, 12.5, 12.5, 14.0]];
    assert_eq!(items, rows.concat());
    // A mean of means is the same again, so that nothing drifts.
    assert_eq!(run(&NdMean, 2, &layout, &decoded, true).unwrap(), celled);
}

#[test]
fn what_cannot_be_cut_is_refused() {
    let square = layout(&[8, 8], 4, "<f4");
    assert!(NdCell.check(0, 4, &square).is_err() && NdMean.check(0, 4, &square).is_err());
    assert!(NdCell.check(9, 4, &square).is_err(), "a cell of more items than the block");
    assert!(NdMean.check(128, 4, &square).is_err() && NdMean.check(2, 2, &square).is_err());
    assert!(NdMean.check(2, 4, &layout(&[8, 8], 4, "<i4")).is_err());
    assert!(NdCell.check(2, 1, &layout(&[2; 9], 1, "")).is_err(), "nine axes");
    assert!(
        NdMean.check(2, 4, &layout(&[u64::from(u32::MAX); 8], 4, "<f4")).is_err(),
        "more than can be counted"
    );
    let narrow = layout(&[2, 9], 4, "<f4");
    assert!(run(&NdMean, 4, &narrow, &[0; 72], true).unwrap_err().to_string().contains("at most 2"));
    for filter in [&NdCell as &dyn Filter, &NdMean] {
        let error = run(filter, 2, &BlockLayout::UNKNOWN, &[0; 64], false).unwrap_err();
        assert_eq!(error.kind(), crate::base::error::ErrorKind::Unsupported);
        assert!(run(filter, 2, &square, &[0; 64], true).is_err(), "bytes that are no block");
    }
}
