//! Streams of the codecs that work along the axes of a block: a block that does not depend on what lay there before, or
//! an error.

use coquina::BlockLayout;
use coquina::codec::{CODECS, Codec, DecodeOptions, EncodeOptions, Streams};

use crate::seeds::sample;

/// Which codec, its parameter, the bytes of an item, axes, and the lengths of up to four of these stand in front of a
/// stream.
const HEAD_BYTES: usize = 8;
/// The longest axis of a block.
const AXIS_MAX: u8 = 40;

fn codecs() -> impl Iterator<Item = &'static dyn Codec> {
    CODECS.iter().copied().filter(|codec| codec.streams() != Streams::Bytes)
}

/// The codec, its parameter and the blocks that the front of an input asks for, with the bytes of one.
fn asked(head: &[u8; HEAD_BYTES]) -> Option<(&'static dyn Codec, u8, BlockLayout, usize)> {
    let [which, meta, width, axes, lens @ ..] = *head;
    let codec = codecs().nth(usize::from(which) % codecs().count())?;
    let width = [4, 8, 1, 2][usize::from(width) % 4];
    let shape: Vec<u64> =
        lens.iter().take(usize::from(axes) % 5).map(|&len| u64::from(len % AXIS_MAX + 1)).collect();
    let items = shape.iter().try_fold(1_u64, |items, len| items.checked_mul(*len))?;
    let bytes = usize::try_from(items).ok()? * width;
    let is_small = bytes <= crate::targets::LIMIT_BYTES;
    is_small.then(|| (codec, meta, BlockLayout::new(&shape, width, ""), bytes))
}

/// The first eight bytes say how, the rest is one stream.
pub(crate) fn block_stream(bytes: &[u8]) -> bool {
    let Some((head, stream)) = bytes.split_first_chunk() else { return false };
    let Some((codec, meta, layout, nbytes)) = asked(head) else { return false };
    let options = DecodeOptions { meta, layout, ..DecodeOptions::default() };
    let Ok(decoder) = codec.decoder(&options) else { return false };
    let mut low = vec![0; nbytes];
    let is_sound = decoder.decode(stream, &mut low).is_ok();
    let mut high = vec![0xff; nbytes];
    assert_eq!(is_sound, decoder.decode(stream, &mut high).is_ok(), "{}", codec.name());
    assert!(!is_sound || low == high, "{}: bytes of the output were not written", codec.name());
    is_sound
}

/// Streams of every such codec, with heads: blocks of one to four axes, whole cells and others.
pub(crate) fn block_streams() -> Vec<Vec<u8>> {
    let mut streams = Vec::new();
    for (number, codec) in (0_u8..).zip(codecs()) {
        for (axes, lens) in [(1, [39, 0, 0, 0]), (2, [15, 18, 0, 0]), (3, [7, 8, 9, 0]), (4, [4, 3, 5, 7])] {
            for width in 0..3 {
                for meta in [4, 8, 20, 253] {
                    let head = [[number, meta, width, axes], lens].concat();
                    let Some((_, _, layout, nbytes)) = head.first_chunk().and_then(asked) else { continue };
                    // Small numbers and large ones: whatever the bytes are as numbers, they are finite.
                    let mut block = sample(nbytes);
                    block.iter_mut().for_each(|byte| *byte &= 0x3f);
                    let mut out = vec![0; nbytes];
                    let options = EncodeOptions { meta, layout, ..EncodeOptions::default() };
                    let encoded =
                        codec.encoder(&options).and_then(|encoder| encoder.encode(&block, &mut out));
                    if let Ok(Some(taken)) = encoded {
                        streams.push([&head[..], &out[..taken]].concat());
                    }
                }
            }
        }
    }
    streams
}
