//! Laws of the three codecs, and streams that C-Blosc2 wrote.

use super::super::by_id;
use super::*;

/// A smooth field with some noise, the same on every machine.
fn field(items: usize, noise: f64) -> Vec<f64> {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut wave = (1.0_f64, 0.0_f64);
    (0..items)
        .map(|_| {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            // A slow turn, so that nothing depends on a library's sine.
            wave = (wave.0 - wave.1 * 0.03, wave.1 + wave.0 * 0.03);
            let random = f64::from(u32::try_from(state >> 40).unwrap()) / f64::from(1 << 24) - 0.5;
            wave.0 * 20.0 + noise * random
        })
        .collect()
}

#[expect(clippy::cast_possible_truncation, reason = "float32 of a float64")]
fn bytes_of(values: &[f64], width: usize) -> Vec<u8> {
    match width {
        4 => values.iter().flat_map(|&value| (value as f32).to_le_bytes()).collect(),
        _ => values.iter().flat_map(|value| value.to_le_bytes()).collect(),
    }
}

fn values_of(bytes: &[u8], width: usize) -> Vec<f64> {
    match width {
        4 => bytes.as_chunks().0.iter().map(|&item| f64::from(f32::from_le_bytes(item))).collect(),
        _ => bytes.as_chunks().0.iter().map(|&item| f64::from_le_bytes(item)).collect(),
    }
}

fn layout(shape: &[u32], width: usize) -> BlockLayout {
    let shape: Vec<u64> = shape.iter().map(|&size| size.into()).collect();
    BlockLayout::new(&shape, width, if width == 4 { "<f4" } else { "<f8" })
}

fn encoded(codec: &Zfp, meta: u8, layout: BlockLayout, stream: &[u8]) -> Option<Vec<u8>> {
    let encoder = codec.encoder(&EncodeOptions { meta, layout, ..EncodeOptions::default() }).unwrap();
    let mut out = vec![0xaa; stream.len()];
    let bytes = encoder.encode(stream, &mut out).unwrap()?;
    out.truncate(bytes);
    Some(out)
}

fn decode_into(codec: &Zfp, meta: u8, layout: BlockLayout, stream: &[u8], out: &mut [u8]) -> Result<()> {
    codec.decoder(&DecodeOptions { meta, layout, ..DecodeOptions::default() }).unwrap().decode(stream, out)
}

const SHAPES: &[&[u32]] = &[
    &[400],
    &[403],
    &[20, 20],
    &[21, 18],
    &[4, 101],
    &[8, 8, 8],
    &[7, 9, 10],
    &[8, 4, 8, 4],
    &[5, 6, 7, 9],
    &[1, 400],
    &[3, 2, 70],
];

/// Runs `law` over shapes and widths, with a field.
fn over_fields(noise: f64, law: impl Fn(BlockLayout, usize, &[f64], &[u8])) {
    for shape in SHAPES {
        let items = shape.iter().product::<u32>() as usize;
        for width in [4, 8] {
            let stream = bytes_of(&field(items, noise), width);
            law(layout(shape, width), width, &values_of(&stream, width), &stream);
        }
    }
}

fn error_of(codec: &Zfp, meta: u8, layout: BlockLayout, width: usize, values: &[f64], coded: &[u8]) -> f64 {
    let mut out = vec![0x55; values.len() * width];
    decode_into(codec, meta, layout, coded, &mut out).unwrap();
    values_of(&out, width).iter().zip(values).fold(0.0, |most: f64, (a, b)| most.max((a - b).abs()))
}

#[test]
fn accuracy_bounds_the_error() {
    over_fields(0.5, |layout, width, values, stream| {
        for power in [-5_i8, -3, -1, 0, 1, 2] {
            let meta = power.cast_unsigned();
            let Some(coded) = encoded(&ACCURACY, meta, layout, stream) else { continue };
            let error = error_of(&ACCURACY, meta, layout, width, values, &coded);
            assert!(error <= 10_f64.powi(power.into()), "{layout:?} 10^{power}: {error}");
        }
    });
}

#[test]
fn more_planes_and_more_bits_lose_less() {
    over_fields(0.01, |layout, width, values, stream| {
        for (codec, parameters) in [(&PRECISION, [4, 12, 20]), (&RATE, [15, 25, 40])] {
            let errors = parameters.map(|meta| {
                let coded = encoded(codec, meta, layout, stream);
                coded.map_or(0.0, |coded| error_of(codec, meta, layout, width, values, &coded))
            });
            assert!(
                errors[2] < 2.0 && errors.is_sorted_by(|a, b| a >= b),
                "{} {layout:?} {errors:?}",
                codec.name
            );
        }
    });
}

#[test]
fn a_rate_says_how_long_streams_are() {
    for (shape, cells) in [(&[64_u32, 64][..], 256), (&[16, 16, 16], 64), (&[401], 101)] {
        let items = shape.iter().product::<u32>() as usize;
        let stream = bytes_of(&field(items, 1.0), 4);
        for meta in [3_u8, 10, 25, 50] {
            let coded = encoded(&RATE, meta, layout(shape, 4), &stream).unwrap();
            let cell_bits =
                (128 * 4_usize.pow(u32::try_from(shape.len() - 1).unwrap()) * usize::from(meta) + 50) / 100;
            assert_eq!(coded.len(), (cells * cell_bits.max(9)).div_ceil(64) * 8, "{shape:?} {meta}");
        }
    }
}

#[test]
fn powers_of_ten_lie_between_powers_of_two() {
    for power in i8::MIN..=i8::MAX {
        let (exponent, tolerance) = (exponent_of_ten(power), 10_f64.powi(power.into()));
        assert!(2_f64.powi(exponent) <= tolerance && tolerance < 2_f64.powi(exponent + 1), "10^{power}");
    }
}

#[test]
fn what_zfp_cannot_hold_is_left_as_it_is() {
    let whole = layout(&[8, 8], 4);
    for odd in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let mut values = field(64, 0.0);
        values[37] = odd;
        assert_eq!(encoded(&ACCURACY, 0, whole, &bytes_of(&values, 4)), None);
    }
    let values = bytes_of(&field(60, 0.0), 4);
    assert_eq!(encoded(&ACCURACY, 0, whole, &values), None, "not a whole block");
    assert_eq!(encoded(&ACCURACY, 0, BlockLayout::UNKNOWN, &values), None);
    assert_eq!(encoded(&RATE, 101, whole, &bytes_of(&field(64, 1.0), 4)), None, "not shorter");
}

#[test]
fn arrays_that_cannot_be_coded_are_refused_with_what_to_do() {
    let said = |typesize, layout| ACCURACY.check(0, typesize, &layout).unwrap_err().to_string();
    assert!(said(4, BlockLayout::UNKNOWN).contains("chunks of arrays"));
    assert!(said(4, BlockLayout::new(&[4; 5], 4, "<f4")).contains("1 to 4 axes"));
    assert!(said(4, BlockLayout::new(&[8, 3], 4, "<f4")).contains("[8, 3]"));
    for (typesize, dtype) in [(4, "<i4"), (8, "<c8"), (8, "<M8[s]"), (4, ">f4"), (2, "<f2")] {
        assert!(said(typesize, BlockLayout::new(&[8], typesize, dtype)).contains("float64"), "{dtype}");
    }
    assert!(RATE.check(0, 4, &layout(&[8], 4)).is_err());
    for codec in [&ACCURACY, &PRECISION, &RATE] {
        assert!(codec.check(25, 4, &layout(&[8], 4)).is_ok() && codec.is_lossy(0, ""));
    }
}

#[test]
fn cut_and_flipped_streams_give_an_error_or_items_that_do_not_depend_on_the_output() {
    for (codec, meta) in [(&ACCURACY, 254), (&PRECISION, 8), (&RATE, 12)] {
        for shape in [&[50_u32][..], &[9, 10], &[5, 4, 6], &[4, 5, 4, 4]] {
            let layout = layout(shape, 8);
            let items = shape.iter().product::<u32>() as usize;
            let stream = bytes_of(&field(items, 0.1), 8);
            let coded = encoded(codec, meta, layout, &stream).unwrap();
            let mut out = vec![0; stream.len()];
            for end in 0..coded.len() {
                // The padding is not missed.
                let is_whole = end + 8 > coded.len();
                let decoded = decode_into(codec, meta, layout, &coded[..end], &mut out);
                assert!(decoded.is_err() || is_whole, "{} {shape:?} cut at {end}", codec.name);
            }
            for bit in 0..8 * coded.len() {
                let mut flipped = coded.clone();
                flipped[bit / 8] ^= 1 << (bit % 8);
                let mut ones = vec![0xff; stream.len()];
                let results =
                    [&mut out, &mut ones].map(|out| decode_into(codec, meta, layout, &flipped, out).is_ok());
                assert_eq!(results[0], results[1]);
                assert!(!results[0] || out == ones, "{} {shape:?} bit {bit}", codec.name);
            }
            let unknown = decode_into(codec, meta, BlockLayout::UNKNOWN, &coded, &mut out);
            assert_eq!(unknown.unwrap_err().kind(), crate::base::error::ErrorKind::Unsupported);
            assert!(decode_into(codec, meta, layout, &coded, &mut out[8..]).is_err());
        }
    }
}

#[test]
fn any_bytes_with_any_parameter_are_an_error_or_items() {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    for (number, shape) in SHAPES.iter().enumerate() {
        for (codec, width) in [(&ACCURACY, 4), (&PRECISION, 4), (&RATE, 4), (&ACCURACY, 8), (&RATE, 8)] {
            for meta in 0..=255_u8 {
                let random = |_| {
                    state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
                    // Ones, zeros and others: each begins cells of another kind.
                    [state.to_le_bytes()[7], 0xff, 0][usize::from(meta) % 3]
                };
                let stream: Vec<u8> = (0..97 * (number + 1)).map(random).collect();
                let items = shape.iter().product::<u32>() as usize;
                let (mut out, mut ones) = (vec![0; items * width], vec![0xff; items * width]);
                let is_ok = decode_into(codec, meta, layout(shape, width), &stream, &mut out).is_ok();
                let again = decode_into(codec, meta, layout(shape, width), &stream, &mut ones).is_ok();
                assert!(is_ok == again && (!is_ok || out == ones), "{} {shape:?} {meta}", codec.name);
            }
        }
    }
}

#[test]
fn blocks_of_more_axes_are_left_as_they_are_and_damage_where_they_are_read() {
    let many = layout(&[1; 16], 8);
    for codec in [&ACCURACY, &PRECISION, &RATE] {
        assert_eq!(encoded(codec, 255, many, &[1; 8]), None);
        assert!(decode_into(codec, 255, many, &[1; 8], &mut [0; 8]).is_err());
    }
}

#[test]
fn rows_of_the_table_have_the_ids_of_the_format() {
    for (id, name) in [(33, "zfp_accuracy"), (34, "zfp_precision"), (35, "zfp_rate")] {
        assert_eq!(by_id(id).unwrap().name(), name);
    }
}
