//! Named byte strings, as the header and the trailer of a frame hold them: an index of offsets, then the values.
//!
//! Source: `docs/formats/frame.md`, "Metalayers".

use std::collections::BTreeSet;
use std::ops::Range;

use super::fields::Fields;
use crate::base::error::{Error, Result};

/// The longest name.
pub(crate) const NAME_BYTES_MAX: usize = 31;
/// Before each value: its marker and its length.
const VALUE_HEAD_BYTES: usize = 5;

/// A named part of a header or a trailer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Layer {
    pub(crate) name: String,
    /// Where its content is, counted as the stored offsets are.
    pub(crate) content: Range<usize>,
}

/// Reads the layers of `bytes`, whose structure begins at `start` and may reach to the end.
pub(crate) fn read(bytes: &[u8], start: usize, count_max: usize) -> Result<Vec<Layer>> {
    let mut r = Fields::new(bytes, start);
    r.marker(0x93, "metalayers")?;
    r.marker(0xcd, "size of the index of metalayers")?;
    let _ = r.u16("size of the index of metalayers")?;
    r.marker(0xde, "index of metalayers")?;
    let count = usize::from(r.u16("count of metalayers")?);
    if count > count_max {
        return Err(Error::corrupt(format!("metalayers: {count}, takes 0..={count_max}")));
    }
    let mut places = Vec::new();
    for _ in 0..count {
        let name = r.short_string("name of a metalayer")?;
        r.marker(0xd2, "offset of a metalayer")?;
        places.push((name, r.size("offset of a metalayer")?));
    }
    r.marker(0xdc, "values of metalayers")?;
    let values = usize::from(r.u16("count of values")?);
    if values != count {
        return Err(Error::corrupt(format!("metalayers: {count} names and {values} values")));
    }
    let values_start = r.at();
    let mut layers = Vec::with_capacity(places.len());
    let (mut names, mut total) = (BTreeSet::new(), values_start);
    for (name, offset) in places {
        let content = content(bytes, offset, values_start).map_err(|e| e.at(format!("metalayer {name}")))?;
        total = total.saturating_add(VALUE_HEAD_BYTES + content.len());
        if !names.insert(name.clone()) {
            return Err(Error::corrupt(format!("metalayer {name}: there are two of this name")));
        }
        layers.push(Layer { name, content });
    }
    // Values that overlap could make a few bytes look like very many.
    if total > bytes.len() {
        return Err(Error::corrupt(format!("metalayers: {total} bytes of {}", bytes.len())));
    }
    Ok(layers)
}

/// The content of the value at `offset`.
fn content(bytes: &[u8], offset: usize, values_start: usize) -> Result<Range<usize>> {
    if offset < values_start {
        return Err(Error::corrupt(format!("offset: {offset} is before the values at {values_start}")));
    }
    let mut r = Fields::new(bytes, offset);
    r.marker(0xc6, "value")?;
    let length = r.size("length")?;
    let start = r.at();
    let end = start.checked_add(length).filter(|&end| end <= bytes.len());
    end.map(|end| start..end).ok_or_else(|| {
        Error::truncated(format!("length: {length} bytes announced, {} left", bytes.len() - start))
    })
}

/// Appends the structure to `out`, in which offsets count from the first byte. `index_from` is the byte of the
/// structure from which the size of its index is counted: 0 in a header, 1 in a trailer.
pub(crate) fn write<'l>(
    out: &mut Vec<u8>,
    layers: impl Iterator<Item = (&'l str, &'l [u8])> + Clone,
    index_from: usize,
) -> Result<()> {
    let start = out.len();
    out.extend([0x93, 0xcd, 0, 0, 0xde]);
    let count = u16::try_from(layers.clone().count());
    let count = count.map_err(|_| Error::limit("metalayers: takes at most 65535"))?.to_be_bytes();
    out.extend(count);
    let index: usize = layers.clone().map(|(name, _)| 1 + name.len() + 1 + 4).sum();
    let mut offset = out.len() + index + 3;
    for (name, content) in layers.clone() {
        check_name(name)?;
        let marker = 0xa0 | u8::try_from(name.len()).unwrap_or(0);
        out.push(marker);
        out.extend(name.as_bytes());
        out.push(0xd2);
        out.extend(size(offset, "metalayers")?);
        offset += VALUE_HEAD_BYTES + content.len();
    }
    let index_bytes = u16::try_from(out.len() - start - index_from);
    let index_bytes =
        index_bytes.map_err(|_| Error::limit("metalayers: their names take 65535 bytes at most"))?;
    if let Some(place) = out.get_mut(start + 2..start + 4) {
        place.copy_from_slice(&index_bytes.to_be_bytes());
    }
    out.push(0xdc);
    out.extend(count);
    for (name, content) in layers {
        out.push(0xc6);
        out.extend(size(content.len(), name)?);
        out.extend(content);
    }
    Ok(())
}

fn size(bytes: usize, what: &str) -> Result<[u8; 4]> {
    let bytes =
        i32::try_from(bytes).map_err(|_| Error::limit(format!("{what}: {bytes} bytes are too many")))?;
    Ok(bytes.to_be_bytes())
}

/// Whether a metalayer may have this name.
pub(crate) fn check_name(name: &str) -> Result<()> {
    if name.len() <= NAME_BYTES_MAX {
        return Ok(());
    }
    Err(Error::invalid(format!("name {name:?}: {} bytes, takes at most {NAME_BYTES_MAX}", name.len())))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(layers: &[(&str, &[u8])], base: usize) -> Vec<u8> {
        let mut out = vec![0; base];
        write(&mut out, layers.iter().copied(), 0).unwrap();
        out
    }

    #[test]
    fn what_was_written_is_read() {
        for layers in [&[][..], &[("", &b"x"[..])], &[("a", b""), ("thirty-one-bytes-of-a-metalayer", b"yy")]]
        {
            let out = written(layers, 87);
            let read = read(&out, 87, 16).unwrap();
            let again: Vec<_> =
                read.iter().map(|layer| (layer.name.as_str(), &out[layer.content.clone()])).collect();
            assert_eq!(again, layers);
        }
        assert_eq!(written(&[], 0), [0x93, 0xcd, 0, 7, 0xde, 0, 0, 0xdc, 0, 0]);
        assert_eq!(
            written(&[("m1", b"\x81\xa1a\x01")], 87)[87..114],
            [
                0x93, 0xcd, 0, 0x0f, 0xde, 0, 1, 0xa2, b'm', b'1', 0xd2, 0, 0, 0, 0x69, 0xdc, 0, 1, 0xc6, 0,
                0, 0, 4, 0x81, 0xa1, b'a', 1
            ]
        );
        assert!(write(&mut Vec::new(), [("x".repeat(32).as_str(), &[][..])].into_iter(), 0).is_err());
    }

    #[test]
    fn cut_overlapping_and_doubled_layers_are_refused() {
        let out = written(&[("a", b"one"), ("b", b"two")], 2);
        for end in 0..out.len() {
            assert!(read(&out[..end], 2, 16).is_err(), "{end}");
        }
        assert!(read(&out, 2, 1).is_err());
        let mut doubled = out.clone();
        doubled[2 + 15] = b'a';
        assert!(read(&doubled, 2, 16).unwrap_err().to_string().contains("two of this name"));
        let mut overlapping = out.clone();
        overlapping.copy_within(11..15, 11 + 8);
        assert!(read(&overlapping, 2, 16).is_err() || overlapping == out);
    }
}
