//! Images: the bytes of a block as planes of samples, one plane a component.
//!
//! In: a block of integers of one or two bytes, little-endian, with the components of a pixel beside each other. Out:
//! planes of 32-bit samples, row by row, and back.
//! Source: `docs/formats/image-codecs.md`, "Blocks as images".
//! Invariant: `join(split(bytes)) == bytes`.

use coquina_plugin::Block;

use crate::level::widest;

/// The most components of a pixel: grey, grey and alpha, colours, colours and alpha.
const COMPONENTS_MAX: u32 = 4;
/// The longest side of an image that is written.
const SIDE_MAX: usize = 1 << 15;

/// What an image is, besides its samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Geometry {
    pub(crate) columns: usize,
    pub(crate) rows: usize,
    pub(crate) components: usize,
    /// Bytes of a sample: 1 or 2.
    pub(crate) sample_bytes: usize,
    pub(crate) is_signed: bool,
}

impl Geometry {
    /// The image that a block of `bytes` bytes is.
    ///
    /// # Errors
    /// What is said of the block cannot be an image.
    pub(crate) fn of(block: &Block<'_>, bytes: usize) -> Result<Self, String> {
        let sample_bytes = sample_bytes(block.typesize)?;
        if let Some(kind) = block.kind.filter(|kind| !matches!(kind, 'u' | 'i' | 'b')) {
            return Err(format!("items of kind {kind:?}: images have integers of 8 or 16 bits"));
        }
        if block.shape.is_empty() {
            return Err("blocks of no array: images need the shape of a block".to_owned());
        }
        let (rows, columns, components) = fold(block.shape)?;
        if rows.checked_mul(columns).and_then(|all| all.checked_mul(components * sample_bytes)) != Some(bytes)
        {
            return Err(format!("{bytes} bytes: not a block of {:?} items", block.shape));
        }
        if rows.max(columns) > SIDE_MAX {
            return Err(format!("{rows} x {columns} pixels: the sides of an image are up to {SIDE_MAX}"));
        }
        Ok(Self { columns, rows, components, sample_bytes, is_signed: block.kind == Some('i') })
    }

    /// Bits of a sample.
    pub(crate) fn bits(&self) -> u32 {
        if self.sample_bytes == 1 { 8 } else { 16 }
    }

    /// Pixels.
    pub(crate) fn area(&self) -> usize {
        self.rows * self.columns
    }

    /// The largest sample less the smallest: what PSNR is measured against.
    pub(crate) fn peak(&self) -> f64 {
        f64::from((1_u32 << self.bits()) - 1)
    }

    /// The planes of a block.
    pub(crate) fn split(&self, bytes: &[u8]) -> Vec<Vec<i32>> {
        (0..self.components).map(|component| self.plane(bytes, component)).collect()
    }

    fn plane(&self, bytes: &[u8], component: usize) -> Vec<i32> {
        let step = self.components * self.sample_bytes;
        let pixels = bytes.get(component * self.sample_bytes..).unwrap_or_default();
        match (self.sample_bytes, self.is_signed) {
            (1, false) => pixels.iter().step_by(step).map(|&byte| i32::from(byte)).collect(),
            (1, true) => pixels.iter().step_by(step).map(|&byte| i32::from(byte.cast_signed())).collect(),
            (_, is_signed) => words(pixels, step)
                .map(|word| if is_signed { i32::from(word.cast_signed()) } else { i32::from(word) })
                .collect(),
        }
    }
}

/// The items of two bytes that stand `step` bytes apart.
fn words(bytes: &[u8], step: usize) -> impl Iterator<Item = u16> {
    bytes.chunks(step).filter_map(|pixel| pixel.first_chunk()).map(|&pair| u16::from_le_bytes(pair))
}

/// Bytes of a sample, if images have such ones.
///
/// # Errors
/// Other sizes.
pub(crate) fn sample_bytes(typesize: usize) -> Result<usize, String> {
    match typesize {
        1 | 2 => Ok(typesize),
        _ => Err(format!("items of {typesize} bytes: images have integers of 8 or 16 bits")),
    }
}

/// Rows, columns and components of a block: leading axes of length 1 do not count, the last of three is the
/// components if it is short, and all that is left before the columns is rows.
fn fold(shape: &[u32]) -> Result<(usize, usize, usize), String> {
    let front = shape.iter().take_while(|&&len| len == 1).count();
    let axes = shape.get(front..).unwrap_or_default();
    let (grid, components) = match axes {
        [grid @ .., last] if grid.len() == 2 && *last <= COMPONENTS_MAX => (grid, *last as usize),
        _ => (axes, 1),
    };
    let (columns, above) = grid.split_last().map_or((1, grid), |(&last, above)| (last as usize, above));
    let rows = above.iter().try_fold(1_usize, |rows, &len| rows.checked_mul(len as usize));
    let rows = rows.ok_or_else(|| format!("a block of {shape:?} items is too large for an image"))?;
    Ok((rows, columns, components))
}

/// How samples stand in a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// The components of a pixel are beside each other.
    Pixels,
    /// One plane is behind the other.
    Planes,
}

/// Puts the planes into `out`, samples that are out of range as the nearest that is in it.
pub(crate) fn join(planes: &[Vec<i32>], sample_bytes: usize, is_signed: bool, order: Order, out: &mut [u8]) {
    let (least, greatest) = range(sample_bytes, is_signed);
    let components = planes.len();
    let plane_bytes = out.len() / components.max(1);
    for (component, plane) in planes.iter().enumerate() {
        let (from, step) = match order {
            Order::Pixels => (component * sample_bytes, components * sample_bytes),
            Order::Planes => (component * plane_bytes, sample_bytes),
        };
        let room = out.get_mut(from..).unwrap_or_default();
        if sample_bytes == 2 && step == 2 {
            widest(
                #[inline(always)]
                || put_words(room, plane, least, greatest),
            );
            continue;
        }
        let samples = plane.iter().map(|sample| sample.clamp(&least, &greatest).to_le_bytes());
        match sample_bytes {
            1 => room.iter_mut().step_by(step).zip(samples).for_each(|(out, [byte, ..])| *out = byte),
            2 => room.chunks_mut(step).zip(samples).for_each(|(out, [low, high, ..])| put(out, [low, high])),
            _ => room.chunks_mut(step).zip(samples).for_each(|(out, bytes)| put(out, bytes)),
        }
    }
}

/// Puts samples of two bytes beside each other.
#[inline(always)]
fn put_words(out: &mut [u8], plane: &[i32], least: i32, greatest: i32) {
    for (out, sample) in out.as_chunks_mut().0.iter_mut().zip(plane) {
        let [low, high, ..] = (*sample).clamp(least, greatest).to_le_bytes();
        *out = [low, high];
    }
}

/// Puts an item at the front of a pixel.
fn put<const N: usize>(pixel: &mut [u8], item: [u8; N]) {
    if let Some(out) = pixel.first_chunk_mut() {
        *out = item;
    }
}

/// The least and the greatest sample of so many bytes. Those of four are as they come.
fn range(sample_bytes: usize, is_signed: bool) -> (i32, i32) {
    let half = match sample_bytes {
        1 => 1 << 7,
        2 => 1 << 15,
        _ => return (i32::MIN, i32::MAX),
    };
    if is_signed { (-half, half - 1) } else { (0, 2 * half - 1) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(shape: &[u32], typesize: usize, kind: char) -> Block<'_> {
        Block { typesize, shape, kind: Some(kind), meta: 0, level: 5, options: "" }
    }

    #[test]
    fn leading_ones_do_not_count_and_a_short_third_axis_is_components() {
        let cases: [(&[u32], _); 8] = [
            (&[7], (1, 7, 1)),
            (&[1, 1], (1, 1, 1)),
            (&[5, 7], (5, 7, 1)),
            (&[1, 1, 5, 7], (5, 7, 1)),
            (&[1, 5, 7, 3], (5, 7, 3)),
            (&[5, 7, 4], (5, 7, 4)),
            (&[5, 7, 9], (35, 9, 1)),
            (&[2, 5, 7, 3], (70, 3, 1)),
        ];
        for (shape, wanted) in cases {
            assert_eq!(fold(shape).unwrap(), wanted, "{shape:?}");
        }
    }

    #[test]
    fn planes_give_the_bytes_back() {
        for (typesize, kind) in [(1, 'u'), (1, 'i'), (2, 'u'), (2, 'i')] {
            for shape in [&[3_u32, 5][..], &[3, 5, 3], &[1, 4, 2, 2], &[6]] {
                let bytes: usize = shape.iter().map(|&len| len as usize).product::<usize>() * typesize;
                let plain: Vec<u8> = (0..bytes).map(|i| (i * 89 % 256).to_le_bytes()[0]).collect();
                let geometry = Geometry::of(&block(shape, typesize, kind), bytes).unwrap();
                let mut out = vec![0xff; bytes];
                join(&geometry.split(&plain), typesize, geometry.is_signed, Order::Pixels, &mut out);
                assert_eq!(out, plain, "{shape:?} {typesize} {kind}");
            }
        }
    }

    #[test]
    fn what_is_no_image_is_said_to_be_none() {
        for (shape, typesize, kind) in [(&[4_u32, 4][..], 4, 'u'), (&[4, 4], 2, 'f'), (&[], 1, 'u')] {
            assert!(Geometry::of(&block(shape, typesize, kind), 16 * typesize).is_err());
        }
        assert!(Geometry::of(&block(&[4, 4], 1, 'u'), 15).is_err());
        assert!(Geometry::of(&block(&[1, 40_000], 1, 'u'), 40_000).is_err());
    }
}
