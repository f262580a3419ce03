//! Laws of szip: known chunks decode, and any bytes give a value or an error.

use proptest::prelude::*;

use super::super::bits::BitWriter;
use super::*;

fn decoded(stored: &[u8], values: &[u32]) -> Result<Vec<u8>> {
    let bytes = Szip.decoded_bytes(stored, values)?.unwrap().min(1 << 16);
    let (mut zeros, mut ones) = (vec![0; bytes], vec![0xff; bytes]);
    decode(stored, values, &mut zeros)?;
    decode(stored, values, &mut ones)?;
    assert_eq!(zeros, ones);
    Ok(zeros)
}

#[test]
fn known_chunks() {
    let stored = [
        0x40, 0, 0, 0, 0x10, 0, 4, 0x92, 0x49, 0x12, 0x49, 0x24, 0x91, 0x24, 0x92, 0x49, 0x12, 0x49, 0x24,
        0x90,
    ];
    let expected: Vec<u8> = (0..32_u16).flat_map(u16::to_le_bytes).collect();
    assert_eq!(decoded(&stored, &[169, 8, 16, 32]).unwrap(), expected);
    assert_eq!(decoded(&[0x20, 0, 0, 0, 0, 0x51], &[169, 8, 8, 32]).unwrap(), [5; 32]);
    let stored = [
        0x40, 0, 0, 0, 0xec, 0x8c, 0xac, 0xcc, 0xed, 0x0d, 0x2d, 0x4d, 0x7d, 0xb1, 0xb5, 0xb9, 0xbd, 0xc1,
        0xc5, 0xc9, 0xcc, 0x10, 0x41,
    ];
    let expected: Vec<u8> = (100..116_u32).flat_map(u32::to_le_bytes).collect();
    assert_eq!(decoded(&stored, &[141, 8, 32, 16]).unwrap(), expected);
}

#[test]
fn prediction_turns_back_at_both_ends() {
    // 3 bits: from 5 there are 2 steps to both sides, then only down.
    let around = |residual| {
        let mut samples = [5, residual];
        unpredict(&mut samples, 7);
        samples[1]
    };
    assert_eq!([0, 1, 2, 3, 4, 5, 6, 7].map(around), [5, 4, 6, 3, 7, 2, 1, 0]);
    let mut samples = [1, 3, 7];
    unpredict(&mut samples, 7);
    assert_eq!(samples, [1, 3, 7]);
}

#[test]
fn residuals_of_too_many_bits_are_errors() {
    // Samples of 2 bits: the id, a reference, the zeros and the one of a residual, its lower bits.
    for (code, is_fine) in [
        ("001 01 0001", true),
        ("001 01 00001", false),
        ("010 01 01 1", true),
        ("010 01 001 0", false),
        ("110 01 1 00011", true),
        ("110 01 1 00100", false),
    ] {
        let mut writer = BitWriter::default();
        code.bytes().filter(|&bit| bit != b' ').for_each(|bit| writer.put(u64::from(bit - b'0'), 1));
        let stored = [&[2, 0, 0, 0], &writer.bytes[..]].concat();
        let decoded = decode(&stored, &[NN, 2, 2, 2], &mut [0; 2]);
        assert_eq!(decoded.is_ok(), is_fine, "{code} {decoded:?}");
    }
}

#[test]
fn parameters_out_of_range_are_errors() {
    let stored = [4, 0, 0, 0, 0, 0, 0, 0];
    for values in
        [[32, 0, 8, 8], [32, 7, 8, 8], [32, 34, 8, 8], [32, 8, 8, 0], [32, 8, 8, 4097], [32, 8, 0, 8]]
    {
        assert!(decode(&stored, &values, &mut [0; 4]).is_err(), "{values:?}");
    }
    assert!(decode(&stored, &[32, 8, 16], &mut [0; 4]).is_err());
    assert!(decode(&stored[..3], &[32, 8, 8, 8], &mut [0; 4]).is_err());
    assert!(decode(&stored, &[32, 8, 8, 8], &mut [0; 5]).is_err());
    let error = decode(&stored[..4], &[32, 8, 8, 8], &mut [0; 4]).unwrap_err();
    assert_eq!(error.to_string(), "szip: scanline 0: block 0: the stream ends");
}

proptest! {
    #[test]
    fn any_bytes_are_a_value_or_an_error(
        bytes in 0..300_u32,
        stream: Vec<u8>,
        is_predicted: bool,
        block in (1..17_u32).prop_map(|half| half * 2),
        bits in 1..33_u32,
        scanline in 1..200_u32,
    ) {
        let stored = [&bytes.to_le_bytes(), &stream[..]].concat();
        let _ = decoded(&stored, &[u32::from(is_predicted) * NN, block, bits, scanline]);
    }
}
