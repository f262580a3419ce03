//! Laws of damaged frames and of those that another program changed: right data, or an error.

#![expect(clippy::unwrap_used, reason = "a helper that fails fails its test")]

mod frames;

use std::fs;
use std::sync::Arc;

use coquina::chunk::{Special, encode_special};
use coquina::frame::{Change, Entry, Frame, Kind, Mode, Spec, Stored, SumState};
use coquina::{ErrorKind, Existing};
use frames::{
    EACH, Folder, LIMITS, State, TYPESIZE, append, opened, read_bytes, spec, state, to_count, unpacked,
    written,
};

#[test]
fn every_flipped_bit_is_noticed_or_does_no_harm() {
    let folder = Folder::new("flipped");
    let path = folder.path("f");
    let mut frame = Frame::create(&path, Kind::Contiguous, &spec(), Existing::Refuse).unwrap();
    append(&mut frame, 0..3);
    let value = encode_special(Special::Value, &[1, 2, 3, 4], EACH, TYPESIZE).unwrap();
    let entries = vec![(3, frame.put(&value).unwrap()), (4, Entry::Special(Special::Nans))];
    let vlmetalayers = vec![("note".to_owned(), Some(b"a value that is long enough to compress".repeat(3)))];
    frame.apply(Change { vlmetalayers, ..to_count(5, entries) }).unwrap();
    frame.commit(false).unwrap();
    frame.publish().unwrap();
    let expected = state(&frame.snapshot()).unwrap();
    let bytes = fs::read(&path).unwrap();
    let header_len = usize::try_from(u32::from_be_bytes(bytes[11..15].try_into().unwrap())).unwrap();
    let mut is_recovered = true;
    for bit in 0..8 * bytes.len() {
        let mut flipped = bytes.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        let found = read_bytes(flipped);
        if bit / 8 < header_len {
            is_recovered &= found.is_ok();
        }
        if let Ok(found) = found {
            assert_eq!(found, expected, "bit {bit} of {}", 8 * bytes.len());
        }
    }
    assert!(is_recovered, "the copy of the header replaces a damaged one");
    for end in 0..bytes.len() {
        assert!(read_bytes(bytes[..end].to_vec()).is_err(), "{end}");
    }
}

#[test]
fn hostile_numbers_in_headers_ask_for_nothing() {
    let folder = Folder::new("hostile");
    let path = folder.path("f");
    written(&path, Kind::Contiguous, &Spec { with_sums: false, ..spec() }, 3);
    let mut bytes = fs::read(&path).unwrap();
    // As another program leaves it: without fingerprint, so that nothing but the fields is looked at.
    let end = bytes.len();
    bytes[end - 17..].fill(0);
    read_bytes(bytes.clone()).unwrap();
    let widths =
        [(11, 4), (16, 8), (30, 8), (39, 8), (48, 4), (53, 4), (58, 4), (88, 2), (91, 2), (end - 22, 4)];
    for (at, width) in widths {
        for value in [0_u64, 1, 2, 0x7f, 0x7fff_ffff, 0x8000_0000, u64::MAX >> 1, 1 << 63, u64::MAX] {
            let mut hostile = bytes.clone();
            hostile[at..at + width].copy_from_slice(&value.to_be_bytes()[8 - width..]);
            let _ = read_bytes(hostile);
        }
    }
    for bit in 0..8 * bytes.len() {
        let mut flipped = bytes.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        let _ = read_bytes(flipped);
    }
}

#[test]
fn a_frame_that_another_program_changed_goes_on_without_its_sums() {
    let folder = Folder::new("stale");
    let path = folder.path("f");
    let expected = written(&path, Kind::Contiguous, &spec(), 3);
    let mut bytes = fs::read(&path).unwrap();
    let end = bytes.len();
    bytes[end - 17..].fill(0);
    fs::write(&path, &bytes).unwrap();
    assert_eq!(opened(&path).unwrap(), expected);
    let mut frame = Frame::open(&path, 0, Mode::Write, LIMITS).unwrap();
    assert_eq!(frame.snapshot().sums(), SumState::Stale);
    let has_sum = |frame: &Frame, number| matches!(frame.snapshot().chunk(number).unwrap(), Stored::At { place, .. } if place.sum.is_some());
    assert!(!has_sum(&frame, 0));
    append(&mut frame, 7..8);
    assert_eq!(frame.snapshot().sums(), SumState::Fresh);
    assert!(!has_sum(&frame, 0) && has_sum(&frame, 3));
    frame.compact().unwrap();
    assert!(has_sum(&frame, 0) && has_sum(&frame, 3));
    bytes[end - 17] = 1;
    fs::write(&path, &bytes).unwrap();
    assert!(opened(&path).is_err());
}

/// Gives the layer `shape` other content in the header, as C-Blosc2 does where no chunk comes or goes: it writes
/// its numbers of threads too, and nothing else.
fn changed_by_another_program(bytes: &[u8], shape: &[u8; 4]) -> Vec<u8> {
    let mut changed = bytes.to_vec();
    let at = bytes.windows(5).position(|window| window == [0xc6, 0, 0, 0, 4]).unwrap() + 5;
    changed[at..at + 4].copy_from_slice(shape);
    changed[64] = 3;
    changed[67] = 1;
    changed
}

#[test]
fn a_header_that_another_program_wrote_is_believed_if_all_else_is_as_it_was() {
    let folder = Folder::new("foreign-header");
    let path = folder.path("f");
    for count in [0, 3] {
        let _ = fs::remove_file(&path);
        let before = written(&path, Kind::Contiguous, &spec(), count);
        let bytes = fs::read(&path).unwrap();
        // "0001" is one bit away from what was there.
        for shape in [b"0001", b"7392"] {
            let changed = changed_by_another_program(&bytes, shape);
            let expected = State { shape: shape.to_vec(), ..before.clone() };
            let frame = Frame::from_source(Arc::new(changed.clone()), 0, LIMITS).unwrap();
            assert_eq!(state(&frame.snapshot()).unwrap(), expected);
            assert_eq!(frame.snapshot().sums(), SumState::Stale);
            // Bytes behind the frame are no part of it: of an unfinished commit, or of what it is embedded in.
            let longer = [b"before", &changed[..], b"behind"].concat();
            let frame = Frame::from_source(Arc::new(longer), 6, LIMITS).unwrap();
            assert_eq!(state(&frame.snapshot()).unwrap(), expected);
            fs::write(&path, &changed).unwrap();
            let mut frame = Frame::open(&path, 0, Mode::Write, LIMITS).unwrap();
            append(&mut frame, 7..8);
            let after = state(&frame.snapshot()).unwrap();
            assert_eq!((after.shape.as_slice(), after.chunks.len()), (&shape[..], before.chunks.len() + 1));
            drop(frame);
            let frame = Frame::open(&path, 0, Mode::Read, LIMITS).unwrap();
            assert_eq!(state(&frame.snapshot()).unwrap(), after);
            assert_eq!(frame.snapshot().sums(), SumState::Fresh);
        }
        // Without its numbers of threads it is damage, and the copy tells what was there.
        let mut damaged = changed_by_another_program(&bytes, b"7392");
        damaged[64] = 0;
        match read_bytes(damaged) {
            Ok(found) => assert!(count > 0 && found == before),
            Err(error) => assert!(count == 0 && error.kind() == ErrorKind::Corrupt),
        }
    }
}

#[test]
fn damage_beside_the_header_of_another_program_is_noticed() {
    let folder = Folder::new("foreign-damage");
    let path = folder.path("f");
    let before = written(&path, Kind::Contiguous, &spec(), 3);
    let bytes = changed_by_another_program(&fs::read(&path).unwrap(), b"7392");
    let expected = State { shape: b"7392".to_vec(), ..before.clone() };
    let number = |at: usize| u64::from_be_bytes(*bytes[at..].first_chunk().unwrap());
    let header_len = usize::try_from(u32::from_be_bytes(*bytes[11..].first_chunk().unwrap())).unwrap();
    let index_at = header_len + usize::try_from(number(39)).unwrap();
    for at in (0..87).chain(index_at..bytes.len()) {
        for bit in 0..8 {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1 << bit;
            // The copy of our own header is the state before the change; a bit that undoes it is no damage.
            if let Ok(found) = read_bytes(damaged) {
                assert!(found == expected || found == before, "bit {bit} of byte {at}");
                assert!(at < 87, "bit {bit} of byte {at}");
            }
        }
    }
}

#[test]
fn a_commit_over_the_header_of_another_program_is_torn_into_one_state_or_the_other() {
    let folder = Folder::new("foreign-torn");
    let path = folder.path("f");
    for is_fingerprint_gone in [false, true] {
        let _ = fs::remove_file(&path);
        written(&path, Kind::Contiguous, &spec(), 3);
        let mut old_bytes = changed_by_another_program(&fs::read(&path).unwrap(), b"7392");
        if is_fingerprint_gone {
            let end = old_bytes.len();
            old_bytes[end - 17..].fill(0);
        }
        fs::write(&path, &old_bytes).unwrap();
        let old = opened(&path).unwrap();
        let mut frame = Frame::open(&path, 0, Mode::Write, LIMITS).unwrap();
        let metalayers = vec![("shape".to_owned(), b"8888".to_vec())];
        frame.apply(Change { metalayers, ..to_count(3, vec![]) }).unwrap();
        frame.commit(false).unwrap();
        let new = state(&frame.snapshot()).unwrap();
        drop(frame);
        let after = fs::read(&path).unwrap();
        assert_eq!((old.shape.as_slice(), new.shape.as_slice()), (&b"7392"[..], &b"8888"[..]));
        let header_len = usize::try_from(u32::from_be_bytes(*after[11..].first_chunk().unwrap())).unwrap();
        // The numbers of threads are written first, then all of the header.
        let mut torn = [&old_bytes[..header_len], &after[header_len..]].concat();
        for at in (63..68).chain(0..header_len) {
            torn[at] = after[at];
            let found = read_bytes(torn.clone()).unwrap_or_else(|e| panic!("{at}: {e}"));
            assert!(found == old || found == new, "{at}");
        }
        assert_eq!(read_bytes(torn).unwrap(), new);
    }
}

#[test]
fn what_is_left_of_a_damaged_frame_is_right_where_sums_hold() {
    let folder = Folder::new("recovered");
    let path = folder.path("f");
    let expected = written(&path, Kind::Contiguous, &spec(), 3);
    let bytes = fs::read(&path).unwrap();
    let header_len = usize::try_from(u32::from_be_bytes(*bytes[11..].first_chunk().unwrap())).unwrap();
    let cbytes = usize::try_from(u64::from_be_bytes(*bytes[39..].first_chunk().unwrap())).unwrap();
    let [mut opened, mut whole, mut saved] = [0; 3];
    for bit in 8 * (header_len + cbytes)..8 * bytes.len() {
        let mut damaged = bytes.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        assert!(read_bytes(damaged.clone()).is_err(), "bit {bit}");
        fs::write(&path, &damaged).unwrap();
        let Ok(mut frame) = Frame::open_damaged(&path, 0, LIMITS) else { continue };
        opened += 1;
        let snapshot = frame.snapshot();
        assert_eq!((snapshot.nchunks(), frame.is_writable()), (3, false), "bit {bit}");
        let from_bytes = Frame::from_damaged_source(Arc::new(damaged), 0, LIMITS).unwrap();
        assert_eq!(from_bytes.snapshot().sums(), snapshot.sums());
        assert!(!frame.refresh().unwrap());
        let mut good = 0;
        for (number, content) in (0..).zip(&expected.chunks) {
            let chunk = snapshot.chunk_data(number).and_then(|chunk| unpacked(&chunk));
            good += usize::from(chunk.is_ok());
            // Where the damage makes the frame one without sums, nothing can be promised.
            let has_sum =
                matches!(snapshot.chunk(number), Ok(Stored::At { place, .. }) if place.sum.is_some());
            assert!(!has_sum || chunk.is_err() || chunk.unwrap() == *content, "bit {bit}, chunk {number}");
        }
        whole += usize::from(good == 3);
        saved += usize::from(good > 0);
    }
    assert!(whole > 500 && saved > whole && opened >= saved, "{opened} opened, {saved} saved, {whole} whole");
    // An undamaged one is opened as ever.
    fs::write(&path, &bytes).unwrap();
    let frame = Frame::open_damaged(&path, 0, LIMITS).unwrap();
    assert_eq!(state(&frame.snapshot()).unwrap(), expected);
    assert_eq!(frame.snapshot().sums(), SumState::Fresh);
}
