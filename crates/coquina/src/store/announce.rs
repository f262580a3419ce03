//! Telling the system which parts of a file are read soon.

use std::ops::Range;

use super::chunks::Extent;
use crate::base::io::ReadAt;

/// Parts with no more between them than this are one.
const GAP_BYTES_MAX: u64 = 4 << 10;
/// Less the system reads by itself, around what is asked for.
const TOLD_BYTES_MIN: u64 = 16 << 10;

/// Tells a source of stored chunks; of those that stand one behind another at once.
pub(super) fn announce(source: &dyn ReadAt, extents: impl Iterator<Item = Extent>) {
    let mut held: Range<u64> = 0..0;
    for Extent { bytes, .. } in extents {
        let is_next = (held.end..=held.end.saturating_add(GAP_BYTES_MAX)).contains(&bytes.start);
        if is_next && !held.is_empty() {
            held.end = bytes.end;
            continue;
        }
        tell(source, std::mem::replace(&mut held, bytes));
    }
    tell(source, held);
}

fn tell(source: &dyn ReadAt, bytes: Range<u64>) {
    if bytes.end.saturating_sub(bytes.start) >= TOLD_BYTES_MIN {
        source.will_read(bytes);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::super::chunks::Parts;
    use super::*;
    use crate::base::error::Result;

    #[derive(Default)]
    struct Told(Mutex<Vec<Range<u64>>>);

    impl ReadAt for Told {
        fn len(&self) -> Result<u64> {
            Ok(u64::MAX)
        }

        fn read_exact_at(&self, _buffer: &mut [u8], _offset: u64) -> Result<()> {
            Ok(())
        }

        fn will_read(&self, range: Range<u64>) {
            self.0.lock().unwrap().push(range);
        }
    }

    #[test]
    fn neighbours_are_told_of_at_once_and_little_is_not_worth_it() {
        let told = |ranges: &[Range<u64>]| {
            let source = Told::default();
            announce(&source, ranges.iter().map(|bytes| Extent { bytes: bytes.clone(), parts: Parts::All }));
            source.0.into_inner().unwrap()
        };
        assert_eq!(
            told(&[100..9000, 9000..20_000, 21_000..30_000, 90_000..120_000]),
            [100..30_000, 90_000..120_000]
        );
        assert_eq!(
            told(&[0..20_000, 30_000..60_000, 10_000..29_000]),
            [0..20_000, 30_000..60_000, 10_000..29_000]
        );
        assert!(told(&[0..1000, 50_000..51_000]).is_empty());
        assert!(told(&[]).is_empty());
    }
}
