//! The order of keys is that of the items.
#![expect(clippy::cast_possible_truncation, reason = "the edges of doubles are those of singles, too")]

use coquina_kernels::items::bytes_of;
use proptest::prelude::*;

use super::*;
use crate::base::scratch::with_scratch;

/// The key of each item; none where it is missing.
fn keys(kind: KeyKind, bytes: &[u8], item_bytes: usize, mask: Option<&[u8]>) -> Vec<Option<u64>> {
    let len = bytes.len() / item_bytes;
    let mut piece = Piece::new(&(0..len as u64)).unwrap();
    with_scratch(bytes.len(), |room| {
        room.copy_from_slice(bytes);
        kind.push(room, item_bytes, mask, &mut piece);
    });
    let mut found = vec![None; len];
    piece.each(|key, row| found[usize::try_from(row).unwrap()] = Some(key));
    let missing: Vec<u64> = piece.take_missing().collect();
    let gaps = (0..len as u64).filter(|&row| found[usize::try_from(row).unwrap()].is_none());
    assert_eq!(missing, gaps.collect::<Vec<u64>>(), "the rows without a key");
    found
}

/// Keys compare as items do, and a NaN has none.
fn check<T: Number + PartialOrd>(ty: Type, items: &[T]) {
    let found = keys(KeyKind::Number(ty), bytes_of(items), size_of::<T>(), None);
    for (a, a_key) in items.iter().zip(&found) {
        assert_eq!(a_key.is_some(), a.partial_cmp(a).is_some(), "{a:?}");
        for (b, b_key) in items.iter().zip(&found) {
            if let (Some(a_key), Some(b_key)) = (a_key, b_key) {
                assert_eq!(Some(a_key.cmp(b_key)), a.partial_cmp(b), "{a:?} and {b:?} of {ty:?}");
                assert!(ty.bytes() == 8 || a_key >> (8 * ty.bytes()) == 0, "{a_key} of {ty:?}");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn numbers_and_their_keys_have_one_order(bits in prop::collection::vec(any::<u64>(), 1..30)) {
        macro_rules! check {
            ($($ty:ident $number:ty;)*) => { $( {
                let mut items: Vec<$number> = bits.iter().map(|bits| {
                    let bytes = bits.to_be_bytes();
                    <$number>::from_be_bytes(bytes[..size_of::<$number>()].try_into().unwrap())
                }).collect();
                items.extend([<$number>::MIN, <$number>::MAX]);
                items.extend([0_i8, -1, 1].map(|n| n as $number));
                check(Type::$ty, &items);
            } )* };
        }
        check! { I8 i8; I16 i16; I32 i32; I64 i64; }
        macro_rules! unsigned {
            ($($ty:ident $number:ty;)*) => { $( {
                let mut items: Vec<$number> = bits.iter().map(|bits| {
                    let bytes = bits.to_be_bytes();
                    <$number>::from_be_bytes(bytes[..size_of::<$number>()].try_into().unwrap())
                }).collect();
                items.extend([<$number>::MIN, <$number>::MAX]);
                check(Type::$ty, &items);
            } )* };
        }
        unsigned! { U8 u8; U16 u16; U32 u32; U64 u64; F32 f32; F64 f64; }
        let edges = [0.0, -0.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, -f64::NAN, 5e-324, -5e-324];
        check(Type::F64, &edges);
        let small = edges.map(|edge| edge as f32);
        check(Type::F32, &small);
    }

    #[test]
    fn prefixes_of_texts_have_their_order(texts in prop::collection::vec(text(), 1..20)) {
        // As bytes, and as code points: the same UTF-8, so the same keys.
        let bytes: Vec<u8> = texts.iter().flat_map(|text| padded(text.as_bytes(), 48)).collect();
        let found = keys(KeyKind::Bytes, &bytes, 48, None);
        let points: Vec<u32> = texts.iter().flat_map(|text| {
            let mut points: Vec<u32> = text.chars().map(u32::from).collect();
            points.resize(12, 0);
            points
        }).collect();
        prop_assert_eq!(&found, &keys(KeyKind::CodePoints, bytes_of(&points), 48, None));
        for (a, a_key) in texts.iter().zip(&found) {
            let mut first = padded(a.as_bytes(), 8);
            first.truncate(8);
            prop_assert_eq!(*a_key, Some(u64::from_be_bytes(first.try_into().unwrap())));
            for (b, b_key) in texts.iter().zip(&found) {
                prop_assert!(a >= b || a_key <= b_key);
            }
        }
    }

    #[test]
    fn what_is_masked_has_no_key(mask in prop::collection::vec(0..3_u8, 1..40)) {
        let items: Vec<i32> = (0..).take(mask.len()).collect();
        let found = keys(KeyKind::Number(Type::I32), bytes_of(&items), 4, Some(&mask));
        let wanted = mask.iter().zip(0_u64..).map(|(&mask, row)| (mask == 0).then_some((1 << 31) + row));
        prop_assert_eq!(found, wanted.collect::<Vec<_>>());
    }
}

fn text() -> impl Strategy<Value = String> {
    let letter =
        prop_oneof![Just('\0'), Just('a'), Just('b'), Just('ä'), Just('€'), Just('🦪'), any::<char>()];
    prop::collection::vec(letter, 0..12).prop_map(|letters| letters.into_iter().collect())
}

fn padded(bytes: &[u8], len: usize) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    bytes.resize(len.max(bytes.len()), 0);
    bytes
}

#[test]
fn times_that_are_none_have_no_key() {
    let found = keys(KeyKind::Time, bytes_of(&[i64::MIN, -1, 0, i64::MAX]), 8, None);
    assert_eq!(found, [None, Some((1 << 63) - 1), Some(1 << 63), Some(u64::MAX)]);
    let truths = keys(KeyKind::Number(Type::Bool), &[0, 1, 255], 1, None);
    assert_eq!(truths, [Some(0), Some(1), Some(1)]);
}

#[test]
fn code_points_that_are_none_keep_their_order() {
    let points = [0xd7ff, 0xd800, 0xdfff, 0xe000, 0xffff, 0x1_0000, 0x10_ffff, 0x11_0000, u32::MAX];
    let found = keys(KeyKind::CodePoints, bytes_of(&points), 4, None);
    assert!(found.is_sorted() && found.iter().all(Option::is_some), "{found:x?}");
}

#[test]
fn kinds_have_names() {
    for ty in Type::ALL {
        let is_real = !matches!(ty, Type::C64 | Type::C128);
        assert_eq!(KeyKind::by_name(ty.name()).ok(), is_real.then_some(KeyKind::Number(ty)));
    }
    assert!(KeyKind::by_name("object").is_err());
}
