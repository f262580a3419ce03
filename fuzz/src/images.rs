//! Code-streams of images: samples that do not depend on what lay in the output before, or an error.

use coquina_images::{CODECS, Codec};
use coquina_plugin::Block;

/// Which codec, the bytes of a sample, rows, columns and components stand in front of a code-stream.
const HEAD_BYTES: usize = 5;
/// The longest side of an image: a decoder takes microseconds for it.
const SIDE_MAX: u8 = 40;

/// The codec, and the block that the front of an input asks for.
fn asked(head: [u8; HEAD_BYTES]) -> (&'static dyn Codec, usize, [u32; 3]) {
    let [which, wide, rows, columns, components] = head;
    let codec = CODECS[usize::from(which) % CODECS.len()];
    let sides = [rows % SIDE_MAX, columns % SIDE_MAX, components % 4].map(|len| u32::from(len) + 1);
    (codec, [1, 2, 4][usize::from(wide) % 3], sides)
}

fn block(typesize: usize, shape: &[u32]) -> Block<'_> {
    Block { typesize, shape, kind: Some('u'), meta: 0, level: 5, options: "" }
}

fn bytes_of(typesize: usize, shape: [u32; 3]) -> usize {
    shape.iter().map(|&len| len as usize).product::<usize>() * typesize
}

/// The first five bytes say of what image, the rest is a code-stream.
pub(crate) fn image_stream(bytes: &[u8]) -> bool {
    let Some((head, stream)) = bytes.split_first_chunk() else { return false };
    let (codec, typesize, shape) = asked(*head);
    let decoded = [0, 0xff].map(|before| {
        let mut out = vec![before; bytes_of(typesize, shape)];
        codec.decode(&block(typesize, &shape), stream, &mut out).map(|()| out)
    });
    let is_sound = decoded[0].is_ok();
    assert_eq!(is_sound, decoded[1].is_ok(), "{}: an error that depends on old bytes", codec.name());
    assert!(!is_sound || decoded[0] == decoded[1], "{}: bytes were not written", codec.name());
    is_sound
}

/// Code-streams of every codec that writes, with and without loss, with heads.
pub(crate) fn image_streams() -> Vec<Vec<u8>> {
    let mut inputs = Vec::new();
    for (which, codec) in (0_u8..).zip(CODECS) {
        for (wide, sides) in [(0, [11, 17, 0]), (1, [20, 9, 0]), (1, [7, 8, 2]), (0, [0, 30, 0])] {
            for options in ["", r#"{"quality_mode": "rates", "quality": 3}"#, r#"{"levels": 1}"#] {
                let head = [which, wide, sides[0], sides[1], sides[2]];
                let (_, typesize, shape) = asked(head);
                let plain: Vec<u8> = (0..bytes_of(typesize, shape))
                    .map(|place| (place * place / 7 % 64).to_le_bytes()[0])
                    .collect();
                let mut out = vec![0; 4 * plain.len() + 1000];
                let wanted = Block { options, ..block(typesize, &shape) };
                if let Ok(Some(len)) = codec.encode(&wanted, &plain, &mut out) {
                    inputs.push([&head[..], &out[..len]].concat());
                }
            }
        }
    }
    inputs
}
