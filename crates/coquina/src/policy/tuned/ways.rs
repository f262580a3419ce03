//! The ways of encoding that may be chosen: a codec, a level and filters each.
//!
//! Other levels of BloscLZ and zlib are not among them: LZ4 and Zstd are as small in less time. Of levels that do the same to
//! blocks of usual sizes one is taken.

use crate::base::error::Result;
use crate::chunk::{Generation, Params, Split};
use crate::codec::{self, Codec};
use crate::filter::{BITSHUFFLE, BYTEDELTA, Pipeline, SHUFFLE, Slot};

/// Codecs and levels, the fast ones first.
const CODECS: &[(&str, &[u8])] = &[
    ("lz4", &[1, 5, 9]),
    ("zstd", &[1, 2, 3, 4, 5, 6, 7, 9]),
    ("lz4hc", &[1, 5, 9]),
    ("zlib", &[1]),
    ("blosclz", &[9]),
];

/// What streams look like behind the filters, as the table of times tells them apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Streams {
    Plain,
    Planes,
    Bits,
    Deltas,
}

impl Streams {
    /// Its name in the table.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Planes => "planes",
            Self::Bits => "bits",
            Self::Deltas => "deltas",
        }
    }
}

/// Filters that may be chosen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Filters {
    pub(super) pipeline: Pipeline,
    pub(super) streams: Streams,
}

/// A way to encode blocks.
#[derive(Clone, Copy)]
pub(super) struct Way {
    pub(super) codec: &'static dyn Codec,
    /// 0 to store items as they are.
    pub(super) level: u8,
    pub(super) filters: Filters,
}

impl Way {
    /// The parameters, but for these.
    pub(super) fn params(&self, params: &Params) -> Params {
        Params {
            codec: self.codec,
            level: self.level,
            pipeline: self.filters.pipeline,
            split: Split::Auto,
            dictionary: false,
            codec_meta: 0,
            codec_options: "",
            ..*params
        }
    }

    pub(super) fn is_same(&self, other: &Self) -> bool {
        (self.codec.id(), self.level, self.filters.pipeline)
            == (other.codec.id(), other.level, other.filters.pipeline)
    }
}

/// Nanoseconds of a core per byte.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Times {
    pub(super) write: f64,
    pub(super) read: f64,
}

/// The way that stores items as they are.
///
/// # Errors
/// None, as long as there is Zstd.
pub(super) fn stored() -> Result<Way> {
    let filters = Filters { pipeline: Pipeline::default(), streams: Streams::Plain };
    Ok(Way { codec: codec::by_name("zstd")?, level: 0, filters })
}

/// What is good for most items: Zstd behind a shuffle.
///
/// # Errors
/// None, as long as there is Zstd.
pub(super) fn usual(params: &Params) -> Result<Way> {
    let all = filters_for(params);
    let none = Filters { pipeline: Pipeline::default(), streams: Streams::Plain };
    let planes = all.into_iter().find(|filters| filters.streams == Streams::Planes);
    Ok(Way { codec: codec::by_name("zstd")?, level: 1, filters: planes.unwrap_or(none) })
}

/// The codecs and levels.
///
/// # Errors
/// None, as long as the codecs have these names.
pub(super) fn codecs() -> Result<Vec<(&'static dyn Codec, u8)>> {
    let mut found = Vec::new();
    for (name, levels) in CODECS {
        let codec = codec::by_name(name)?;
        found.extend(levels.iter().map(|&level| (codec, level)));
    }
    Ok(found)
}

/// The filters that suit items such as those of `params`.
pub(super) fn filters_for(params: &Params) -> Vec<Filters> {
    let none = Filters { pipeline: Pipeline::default(), streams: Streams::Plain };
    let bits = of(&[(BITSHUFFLE, 0)], Streams::Bits);
    let item_bytes = params.layout.item_bytes().unwrap_or(params.typesize);
    let is_blosc2 = params.generation == Generation::Blosc2;
    if params.typesize == 1 && item_bytes == 1 {
        let deltas = is_blosc2.then(|| of(&[(BYTEDELTA, 1)], Streams::Deltas));
        return [Some(none), Some(bits), deltas].into_iter().flatten().collect();
    }
    let mut all = vec![none];
    if let Ok(width) = u8::try_from(params.typesize) {
        all.push(of(&[(SHUFFLE, 0)], Streams::Planes));
        if is_blosc2 {
            all.push(of(&[(SHUFFLE, 0), (BYTEDELTA, width)], Streams::Deltas));
        }
    }
    all.push(bits);
    if !is_blosc2 {
        return all;
    }
    // Characters of text have four bytes, most of which are mostly 0.
    if params.layout.kind() == Some('U') && item_bytes > CHARACTER_BYTES.into() {
        all.push(of(&[(SHUFFLE, CHARACTER_BYTES)], Streams::Planes));
        all.push(of(&[(SHUFFLE, CHARACTER_BYTES), (BYTEDELTA, CHARACTER_BYTES)], Streams::Deltas));
    }
    all
}

const CHARACTER_BYTES: u8 = 4;

fn of(slots: &[(u8, u8)], streams: Streams) -> Filters {
    let mut pipeline = Pipeline::default();
    for (place, &(id, meta)) in pipeline.slots.iter_mut().zip(slots) {
        *place = Slot { id, meta };
    }
    Filters { pipeline, streams }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::layout::BlockLayout;

    #[test]
    fn every_way_is_one_that_chunks_can_have() {
        let dtypes =
            [("|u1", 1), ("<f4", 4), ("<c8", 8), ("<U12", 48), ("|S300", 300), ("[('a', '<i4')]", 12)];
        for (dtype, typesize) in dtypes {
            for generation in [Generation::Blosc1, Generation::Blosc2] {
                let layout = BlockLayout::new(&[32], typesize, dtype);
                let params = Params { typesize, generation, layout, ..Params::default() };
                for filters in filters_for(&params) {
                    for (codec, level) in codecs().unwrap() {
                        let way = Way { codec, level, filters };
                        assert!(way.params(&params).check().is_ok(), "{dtype} {filters:?}");
                    }
                }
            }
        }
    }
}
