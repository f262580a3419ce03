//! Laws that every row of [`FILTERS`] obeys.

use super::*;

/// No array is known.
static LAYOUT: BlockLayout = BlockLayout::UNKNOWN;

fn sample(bytes: usize) -> Vec<u8> {
    (0..bytes).map(|i| (i * i / 7 + 3 * i).to_le_bytes()[0]).collect()
}

fn stage(typesize: usize, meta: u8, reference: Option<&[u8]>) -> Stage<'_> {
    Stage { typesize, meta, version: 5, reference, layout: &LAYOUT }
}

#[test]
fn ids_are_those_of_the_format_for_ever() {
    let rows: Vec<_> = FILTERS.iter().map(|f| (f.id(), f.name())).collect();
    let known = [
        (1, "shuffle"),
        (2, "bitshuffle"),
        (3, "delta"),
        (4, "trunc_prec"),
        (32, "ndcell"),
        (33, "ndmean"),
        (34, "bytedelta-old"),
        (35, "bytedelta"),
        (36, "int_trunc"),
    ];
    assert_eq!(rows, known);
    assert!(by_id(37).err().unwrap().to_string().contains("plugin"));
}

#[test]
fn decoding_undoes_encoding_and_writes_every_byte() {
    let reference = sample(3000);
    for filter in FILTERS.iter().filter(|f| !f.is_lossy() && !f.needs_layout()) {
        for typesize in (1..=18).chain([24, 31, 32, 100, 255]) {
            for bytes in (0..70).chain([255, 256, 257, 1000, 2049]) {
                for reference in [None, Some(&reference[..])] {
                    let stage = stage(typesize, filter.default_meta(typesize), reference);
                    let block = sample(bytes);
                    let (mut low, mut high) = (vec![0; bytes], vec![255; bytes]);
                    filter.encode(&stage, &block, &mut low).unwrap();
                    filter.encode(&stage, &block, &mut high).unwrap();
                    assert_eq!(low, high, "{} encode {typesize} {bytes}", filter.name());
                    let mut decoded = vec![170; bytes];
                    filter.decode(&stage, &low, &mut decoded).unwrap();
                    assert_eq!(decoded, block, "{} {typesize} {bytes}", filter.name());
                }
            }
        }
    }
}

#[test]
fn worked_examples_of_the_format_hold() {
    let encode = |name: &str, typesize, meta, block: &[u8], reference| {
        let mut out = vec![0; block.len()];
        by_name(name).unwrap().encode(&stage(typesize, meta, reference), block, &mut out).unwrap();
        out
    };
    let ten = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10];
    assert_eq!(encode("shuffle", 4, 0, &ten, None), [1, 5, 2, 6, 3, 7, 4, 8, 9, 10]);
    assert_eq!(encode("shuffle", 8, 3, &ten, None), [1, 4, 7, 2, 5, 8, 3, 6, 9, 10]);
    let pairs = [1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0, 7, 0, 8, 0, 0xaa, 0xbb, 0xcc];
    let bits = [0x55, 0x66, 0x78, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xaa, 0xbb, 0xcc];
    assert_eq!(encode("bitshuffle", 2, 0, &pairs, None), bits);
    let chain = [5, 0, 7, 0, 7, 0, 5, 1, 0x99];
    assert_eq!(encode("delta", 2, 0, &chain, None), [5, 0, 2, 0, 0, 0, 2, 1, 0x99]);
    assert_eq!(encode("delta", 2, 0, &[5, 0, 6, 0, 7, 0], Some(&chain)), [0, 0, 1, 0, 0, 0]);
    let planes = [0x0a, 0x0c, 0x0f, 0x0f, 1, 0, 0xff, 2, 0x4d];
    assert_eq!(encode("bytedelta", 2, 2, &planes, None), [0x0a, 2, 3, 0, 1, 0xff, 0xff, 3, 0x4d]);
    let pi = 0x4049_0fdb_u32.to_le_bytes();
    assert_eq!(encode("trunc_prec", 4, 10, &pi, None), 0x4049_0000_u32.to_le_bytes());
    assert_eq!(encode("trunc_prec", 4, 243, &pi, None), 0x4049_0000_u32.to_le_bytes());
    let twelve = 0x1234_5678_u32.to_le_bytes();
    assert_eq!(encode("int_trunc", 4, 12, &twelve, None), 0x1230_0000_u32.to_le_bytes());
}

#[test]
fn parameters_out_of_range_are_refused_with_the_range() {
    for (name, typesize, meta) in
        [("trunc_prec", 4, 0), ("trunc_prec", 4, 24), ("trunc_prec", 2, 5), ("trunc_prec", 8, 204)]
    {
        assert!(by_name(name).unwrap().check(meta, typesize, &LAYOUT).is_err(), "{name} {typesize} {meta}");
    }
    let error = by_name("int_trunc").unwrap().check(0, 4, &LAYOUT).unwrap_err();
    assert_eq!(
        error.to_string(),
        "int_trunc: parameter 0: takes 1..=32 bits to keep or -31..=-1 bits to zero"
    );
}

#[test]
fn a_pipeline_undoes_all_of_its_filters() {
    let slots = [(1, 0), (35, 4), (0, 0), (3, 0), (2, 0)].map(|(id, meta)| Slot { id, meta });
    let steps = Pipeline::new(&slots).unwrap().for_encoding(4, 5, &LAYOUT).unwrap();
    let (block, reference) = (sample(1003), sample(2000));
    let mut buffers = Buffers::default();
    let filtered = steps.encode(&block, Some(&reference), &mut buffers).unwrap().to_vec();
    buffers.first[..1003].copy_from_slice(&filtered);
    let mut decoded = vec![0; 1003];
    steps.decode(Some(&reference), &mut buffers, &mut decoded).unwrap();
    assert_eq!(decoded, block);
}
