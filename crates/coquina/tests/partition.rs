//! Laws of the default cut of arrays into chunks and blocks, and the examples that its document gives.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use coquina::ErrorKind;
use coquina::array::{Access, Meta, partition};
use proptest::prelude::*;

const NDIM_MAX: usize = 16;
const MIB: f64 = (1 << 20) as f64;

/// Bytes of a block, of a chunk, and of all chunks, padding included; panics if the format cannot hold the cut.
fn sizes(shape: &[u64], chunks: &[u64], blocks: &[u64], typesize: usize) -> [f64; 3] {
    let narrow = |extents: &[u64]| extents.iter().map(|&n| u32::try_from(n).unwrap()).collect();
    let shape = shape.to_vec();
    let meta = Meta { shape, chunks: narrow(chunks), blocks: narrow(blocks), dtype_format: 0, dtype: None };
    // What is read has passed all checks of a reader.
    let sizes = Meta::read(&meta.write()).unwrap().sizes(typesize).unwrap();
    [sizes.block_bytes as f64, sizes.chunk_bytes as f64, sizes.nbytes as f64]
}

fn bytes(shape: &[u64], typesize: usize) -> f64 {
    shape.iter().map(|&n| n as f64).product::<f64>() * typesize as f64
}

/// Shapes of 0 to 16 axes, short and long, with up to a petabyte of items.
fn shapes() -> impl Strategy<Value = Vec<u64>> {
    let length = prop_oneof![0_u64..4, 1_u64..20, 1_u64..2000, 1_u64..1_000_000_000_000];
    prop::collection::vec(length, 0..=NDIM_MAX).prop_map(|mut shape| {
        while shape.iter().map(|&n| n.max(1) as f64).product::<f64>() > 1e13 {
            *shape.iter_mut().max().unwrap() /= 7;
        }
        shape
    })
}

fn typesizes() -> impl Strategy<Value = usize> {
    prop_oneof![prop::sample::select(vec![1_usize, 2, 4, 8, 16]), 1_usize..300, 1_usize..200_000]
}

/// Any access, for shapes of `ndim` axes.
fn access(kind: u8, region: &[u64], ndim: usize) -> Access {
    match kind {
        0 => Access::Any,
        1 => Access::Rows,
        2 => Access::Columns,
        _ => Access::Region((0..ndim).map(|k| region[k]).collect()),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, max_global_rejects: 1 << 20, ..ProptestConfig::default() })]

    #[test]
    fn any_array_gets_a_cut_that_the_format_can_hold(
        shape in shapes(),
        typesize in typesizes(),
        kind in 0_u8..4,
        region in prop::collection::vec(1_u64..5000, NDIM_MAX),
    ) {
        // A pebibyte; far above, a cut that is not full may have more chunks than a frame can list.
        prop_assume!(bytes(&shape, typesize) <= 1024.0 * MIB * MIB);
        let access = access(kind, &region, shape.len());
        let (chunks, blocks) = partition(&shape, typesize, &access, None, None).unwrap();
        let [block_bytes, chunk_bytes, nbytes] = sizes(&shape, &chunks, &blocks, typesize);
        for k in 0..shape.len() {
            prop_assert!(blocks[k] >= 1 && blocks[k] <= chunks[k]);
            prop_assert!(chunks[k].is_multiple_of(blocks[k]) || chunks[k] == shape[k]);
            prop_assert!(chunks[k] <= shape[k].max(1) || shape[k] == 0);
        }
        prop_assert!(block_bytes <= (MIB / 16.0).max(typesize as f64));
        let all = bytes(&shape, typesize);
        let largest = if all > 32.0 * MIB * f64::from(1 << 26) { 1024.0 } else { 32.0 };
        prop_assert!(chunk_bytes <= (1.29 * largest * MIB).max(typesize as f64));
        if all > 0.0 {
            let padded = nbytes / all;
            prop_assert!(padded < 1.29, "{shape:?}: chunks {chunks:?}, blocks {blocks:?}: {padded}");
        }
        if all > 0.0 && all <= MIB / 16.0 {
            prop_assert_eq!((&chunks, &blocks), (&shape, &shape));
        }
        if all > 0.0 && all <= 4.0 * MIB {
            prop_assert_eq!(chunks, shape);
        }
    }

    #[test]
    fn what_the_user_gives_is_kept_and_the_rest_fits_it(
        axes in prop::collection::vec((0_u64..3000, 1_u64..200, 1_u64..40), 1..=4),
        typesize in typesizes(),
        kind in 0_u8..4,
        region in prop::collection::vec(1_u64..5000, NDIM_MAX),
    ) {
        let shape: Vec<u64> = axes.iter().map(|a| a.0).collect();
        let chunks: Vec<u64> = axes.iter().map(|a| a.1).collect();
        let blocks: Vec<u64> = axes.iter().map(|a| a.2.min(a.1)).collect();
        let access = access(kind, &region, shape.len());
        for (chunks, blocks) in [(Some(&chunks), None), (None, Some(&blocks)), (Some(&chunks), Some(&blocks))] {
            let made = partition(&shape, typesize, &access, chunks.map(|c| &c[..]), blocks.map(|b| &b[..]));
            let (got_chunks, got_blocks) = match made {
                Ok(made) => made,
                Err(error) => {
                    // Only what was given can be too large.
                    prop_assert_eq!(error.kind(), ErrorKind::Invalid);
                    let given = chunks.or(blocks).unwrap();
                    let large = bytes(given, typesize) > 100.0 * MIB;
                    let many = given.iter().zip(&shape).map(|(&n, &s)| s.div_ceil(n) as f64).product::<f64>();
                    prop_assert!(large || many > 2e8, "{}", error);
                    continue;
                }
            };
            sizes(&shape, &got_chunks, &got_blocks, typesize);
            prop_assert!(chunks.is_none_or(|chunks| *chunks == got_chunks));
            prop_assert!(blocks.is_none_or(|blocks| *blocks == got_blocks));
            prop_assert!(got_chunks.iter().zip(&got_blocks).all(|(chunk, block)| block <= chunk));
        }
    }

    /// To read one index of an axis, all blocks there are decoded: as many times the plane's bytes as a block is
    /// long. So no axis costs more than `STARVING` times another.
    #[test]
    fn no_axis_starves(
        shape in prop::collection::vec(100_u64..3000, 2..=4),
        typesize in prop::sample::select(vec![1_usize, 2, 3, 4, 8, 12, 16]),
    ) {
        prop_assume!(bytes(&shape, typesize) >= 8.0 * MIB);
        let (_, blocks) = partition(&shape, typesize, &Access::Any, None, None).unwrap();
        let (longest, shortest) = (blocks.iter().max().unwrap(), blocks.iter().min().unwrap());
        prop_assert!(longest <= &(3 * shortest), "{:?} x {}: {:?}", shape, typesize, blocks);
    }

    #[test]
    fn rows_and_columns_are_kept_whole_first(
        shape in prop::collection::vec(100_u64..5000, 1..=3),
        typesize in 1_usize..20,
    ) {
        for (access, is_reversed) in [(Access::Rows, true), (Access::Columns, false)] {
            let (chunks, blocks) = partition(&shape, typesize, &access, None, None).unwrap();
            let steps = |extents: &[u64], unit: &[u64]| {
                let axes = extents.iter().zip(&shape).zip(unit);
                let mut steps: Vec<_> = axes.map(|((n, length), unit)| (n == length, n == unit)).collect();
                if is_reversed {
                    steps.reverse();
                }
                steps
            };
            for steps in [steps(&blocks, &[1; 5]), steps(&chunks, &blocks)] {
                // Whole axes, then at most one that is cut, then extents that were not lengthened.
                let rest = steps.iter().skip_while(|(is_whole, _)| *is_whole).skip(1);
                prop_assert!(rest.copied().all(|(_, is_unit)| is_unit), "{:?}: {:?} {:?}", shape, chunks, blocks);
            }
        }
    }
}

/// The numbers of `(1, 20)`.
fn extents(text: &str) -> Vec<u64> {
    let inner = text.trim().trim_start_matches('(').trim_end_matches(')');
    inner.split(',').filter(|n| !n.trim().is_empty()).map(|n| n.trim().parse().unwrap()).collect()
}

#[test]
fn the_examples_of_the_document_are_true() {
    let page = include_str!("../../../docs/partition.md");
    let rows: Vec<_> = page.lines().filter(|line| line.starts_with("| (")).collect();
    assert!(rows.len() > 20);
    for row in rows {
        let [shape, item, access, chunks, blocks] =
            row.trim_matches('|').split('|').collect::<Vec<_>>().try_into().unwrap();
        let access = match access.trim() {
            "any" => Access::Any,
            "rows" => Access::Rows,
            "columns" => Access::Columns,
            region => Access::Region(extents(region)),
        };
        let made = partition(&extents(shape), item.trim().parse().unwrap(), &access, None, None).unwrap();
        assert_eq!(made, (extents(chunks), extents(blocks)), "{row}");
    }
}

/// Shape, item, access, chunks, blocks, and words of the error.
type Case = (&'static [u64], usize, Access, Option<&'static [u64]>, Option<&'static [u64]>, &'static str);

#[test]
fn what_makes_no_sense_is_refused_with_its_values() {
    let cases: &[Case] = &[
        (&[10], 0, Access::Any, None, None, "items of 0 bytes"),
        (&[1; 17], 1, Access::Any, None, None, "17 axes"),
        (&[1 << 40, 1 << 40], 1, Access::Any, None, None, "[1099511627776, 1099511627776]"),
        (&[10], 1, Access::Any, Some(&[0]), None, "chunks [0]"),
        (&[10], 1, Access::Any, Some(&[5, 5]), None, "chunks [5, 5]"),
        (&[10], 1, Access::Any, None, Some(&[1 << 31]), "blocks [2147483648]"),
        (&[10], 1, Access::Any, Some(&[5]), Some(&[6]), "larger than chunks [5]"),
        (&[10], 8, Access::Any, Some(&[1 << 29]), None, "bytes of a chunk"),
        (&[10], 1, Access::Any, None, Some(&[1 << 30]), "bytes of a block"),
        (&[1 << 40], 1, Access::Any, Some(&[1]), None, "number of chunks"),
        (&[10], 1, Access::Region(vec![0]), None, None, "region [0]"),
        (&[10], 1, Access::Region(vec![1, 1]), None, None, "region [1, 1]"),
        (&[10], 536_866_817, Access::Any, None, None, "bytes of a block"),
    ];
    for (shape, typesize, access, chunks, blocks, words) in cases {
        let error = partition(shape, *typesize, access, *chunks, *blocks).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid);
        assert!(error.to_string().contains(words), "{error}");
    }
    // What may grow may have chunks larger than itself; zeros may stay where there are no items.
    let kept = partition(&[10, 0], 8, &Access::Any, Some(&[500, 0]), None).unwrap();
    assert_eq!(kept, (vec![500, 0], vec![500, 0]));
}
