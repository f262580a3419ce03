//! Laws of the codec `predict`.

use super::*;

/// A smooth field with some noise, and what is given where it is not: holes of a fill value, NaN, infinities, zeros.
fn field(shape: &[u64], is_holed: bool) -> Vec<f64> {
    let count: u64 = shape.iter().product();
    let width = *shape.last().unwrap();
    let mut state = 9_u64;
    (0..count)
        .map(|i| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let (x, y) = ((i % width) as f64, (i / width) as f64);
            let value = 280.0 + 20.0 * (x / 9.0).sin() * (y / 7.0).cos() + (state >> 40) as f64 / 1e8;
            match (is_holed, state >> 58) {
                (true, 0) => f64::NAN,
                (true, 1) => f64::NEG_INFINITY,
                (true, 2) => -0.0,
                (true, 3) => 0.0,
                (true, 4..12) => -1e34,
                (true, 12) => 1e-300,
                _ => value,
            }
        })
        .collect()
}

fn bytes_of(values: &[f64], item_bytes: usize) -> Vec<u8> {
    match item_bytes {
        4 => values.iter().flat_map(|&x| (x as f32).to_le_bytes()).collect(),
        _ => values.iter().flat_map(|&x| x.to_le_bytes()).collect(),
    }
}

fn values(bytes: &[u8], item_bytes: usize) -> Vec<f64> {
    match item_bytes {
        4 => bytes.as_chunks::<4>().0.iter().map(|b| f32::from_le_bytes(*b).into()).collect(),
        _ => bytes.as_chunks::<8>().0.iter().map(|b| f64::from_le_bytes(*b)).collect(),
    }
}

/// The stream of a block, if it is shorter.
fn encoded(bytes: &[u8], shape: &[u64], item_bytes: usize, text: &str) -> Option<Vec<u8>> {
    let layout = BlockLayout::new(shape, item_bytes, if item_bytes == 4 { "<f4" } else { "<f8" });
    let options = EncodeOptions { typesize: item_bytes, layout, text, ..EncodeOptions::default() };
    let mut out = vec![0; bytes.len()];
    let length = Predict.encoder(&options).unwrap().encode(bytes, &mut out).unwrap()?;
    out.truncate(length);
    Some(out)
}

fn decoded(stream: &[u8], room: usize, filled: u8) -> Result<Vec<u8>> {
    let mut out = vec![filled; room];
    Predict.decoder(&DecodeOptions::default())?.decode(stream, &mut out).map(|()| out)
}

const SHAPES: [&[u64]; 9] = [
    &[5000],
    &[1, 3000],
    &[41, 67],
    &[64, 64],
    &[9, 17, 33],
    &[1, 8, 128],
    &[3, 5, 7, 11],
    &[2, 2, 3, 4, 31],
    &[700, 2],
];

#[test]
fn no_item_is_further_off_than_the_bound_and_what_is_no_number_stays() {
    for shape in SHAPES {
        for item_bytes in [4, 8] {
            for (is_holed, bound) in [(false, 0.1), (true, 0.01), (false, 7.0), (true, 1e-4), (false, 1e-6)] {
                let given = bytes_of(&field(shape, is_holed), item_bytes);
                let text = options(bound, None);
                let Some(stream) = encoded(&given, shape, item_bytes, &text) else {
                    assert!(bound < 1e-3 || given.len() < 8000, "{shape:?} {bound}");
                    continue;
                };
                let got = decoded(&stream, given.len(), 0).unwrap();
                assert_eq!(got, decoded(&stream, given.len(), 255).unwrap());
                for (x, y) in values(&given, item_bytes).into_iter().zip(values(&got, item_bytes)) {
                    let is_kept = x.to_bits() == y.to_bits();
                    assert!(is_kept || (x - y).abs() <= bound && x != 0.0, "{shape:?} {bound}: {x} {y}");
                }
            }
        }
    }
}

#[test]
fn fill_values_stay_bit_for_bit() {
    let mut given = field(&[50, 60], false);
    given.iter_mut().step_by(3).for_each(|x| *x = 281.25);
    let text = options(5.0, Some(u64::from(281.25_f32.to_bits())));
    let bytes = bytes_of(&given, 4);
    let stream = encoded(&bytes, &[50, 60], 4, &text).unwrap();
    let got = values(&decoded(&stream, bytes.len(), 0).unwrap(), 4);
    assert!(got.iter().step_by(3).all(|&x| x == 281.25));
}

#[test]
fn smooth_fields_get_much_smaller_and_equal_ones_take_next_to_nothing() {
    let smooth = bytes_of(&field(&[128, 128], false), 4);
    assert!(encoded(&smooth, &[128, 128], 4, &options(0.1, None)).unwrap().len() * 12 < smooth.len());
    let equal = bytes_of(&[3.25; 16384], 8);
    assert!(encoded(&equal, &[128, 128], 8, &options(0.1, None)).unwrap().len() < 200);
}

#[test]
fn damaged_streams_are_refused_or_give_as_many_items() {
    for (shape, is_holed) in [(&[20_u64, 30][..], true), (&[600], false), (&[7, 9, 10], true)] {
        let given = bytes_of(&field(shape, is_holed), 4);
        let stream = encoded(&given, shape, 4, &options(0.01, None)).unwrap();
        for end in 0..stream.len() {
            assert!(decoded(&stream[..end], given.len(), 0).is_err(), "{end}");
        }
        for bit in 0..stream.len() * 8 {
            let mut stream = stream.clone();
            stream[bit / 8] ^= 1 << (bit % 8);
            let low = decoded(&stream, given.len(), 0).ok();
            assert_eq!(low, decoded(&stream, given.len(), 255).ok());
        }
        assert!(
            decoded(&stream, given.len() - 4, 0).is_err() && decoded(&stream, given.len() + 4, 0).is_err()
        );
        assert!(decoded(&[&stream[..], &[0]].concat(), given.len(), 0).is_err());
    }
}

#[test]
fn options_are_read_as_written() {
    let text = options(1e-3, Some(0xc61c_4000));
    let bound = Bound::of(&EncodeOptions { text: &text, ..EncodeOptions::default() }).unwrap();
    assert_eq!((bound.max_error, bound.fill), (1e-3, Some(0xc61c_4000)));
    let by_byte = Bound::of(&EncodeOptions { meta: 253, ..EncodeOptions::default() }).unwrap();
    assert_eq!((by_byte.max_error, by_byte.fill), (1e-3, None));
    for text in ["{}", "3", r#"{"max_error": 0}"#, r#"{"max_error": "1"}"#] {
        assert!(Bound::of(&EncodeOptions { text, ..EncodeOptions::default() }).is_err(), "{text}");
    }
    for (typesize, dtype) in [(4, "<i4"), (4, ">f4"), (2, "<f2"), (8, "<M8[s]")] {
        assert!(Predict.check(0, typesize, &BlockLayout::new(&[4], typesize, dtype)).is_err(), "{dtype}");
    }
}
