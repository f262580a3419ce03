//! What the laws of chunks are tried on: inputs, and parameters of all kinds.

#![allow(dead_code, unreachable_pub, reason = "compiled into several tests, which do not all use everything")]

use coquina::chunk::{Generation, Params, Split};
use coquina::codec::{self, CODECS, Streams};
use coquina::filter::{FILTERS, Pipeline, Slot};
use proptest::prelude::*;

/// Items that rise in small steps, with a noisy stretch and a constant one; the same for the same seed.
pub fn sample(nbytes: usize, seed: u64) -> Vec<u8> {
    let mut state = seed | 1;
    let mut level = 0_u64;
    let items = (0..nbytes.div_ceil(4)).flat_map(|i| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        level += state & 7;
        let item = match i / 300 % 4 {
            0 | 1 => level,
            2 => state,
            _ => 0x0101_0101,
        };
        let [a, b, c, d, ..] = item.to_le_bytes();
        [a, b, c, d]
    });
    items.take(nbytes).collect()
}

/// Bytes that no codec makes fewer.
pub fn noise(nbytes: usize) -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let byte = |_| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.wrapping_mul(0x2545_f491_4f6c_dd1d).to_be_bytes()[0]
    };
    (0..nbytes).map(byte).collect()
}

pub fn pipeline(slots: &[(u8, u8)]) -> Pipeline {
    let slots: Vec<_> = slots.iter().map(|&(id, meta)| Slot { id, meta }).collect();
    Pipeline::new(&slots).unwrap()
}

/// Parameters that can be printed, for the report of a failing case.
#[derive(Clone)]
pub struct Case(pub Params);

impl std::fmt::Debug for Case {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Params { codec, level, typesize, pipeline, blocksize, split, dictionary, generation, .. } =
            &self.0;
        write!(f, "{} {level} typesize {typesize} blocksize {blocksize:?} {split:?} ", codec.name())?;
        write!(f, "dictionary {dictionary} {generation:?} {:?}", pipeline.slots)
    }
}

/// Whether it can write any bytes.
pub fn is_general(codec: &dyn codec::Codec) -> bool {
    codec.is_writable() && codec.streams() == Streams::Bytes
}

pub fn any_codec() -> impl Strategy<Value = &'static str> {
    let writable: Vec<_> =
        CODECS.iter().filter(|codec| is_general(**codec)).map(|codec| codec.name()).collect();
    prop::sample::select(writable)
}

/// Lossless filters in any slots, delta at most once.
pub fn any_pipeline() -> impl Strategy<Value = Pipeline> {
    let lossless: Vec<u8> = FILTERS
        .iter()
        .filter(|f| !f.is_lossy() && f.is_writable() && !f.needs_reference() && !f.needs_layout())
        .map(|f| f.id())
        .collect();
    let slot = prop_oneof![Just((0_u8, 0_u8)), (prop::sample::select(lossless), 0_u8..20)];
    (prop::collection::vec(slot, 0..=5), prop::option::of(0_usize..6)).prop_map(|(mut slots, delta)| {
        if let Some(at) = delta {
            slots.insert(at.min(slots.len()), (3, 0));
        }
        pipeline(&slots)
    })
}

pub fn any_params() -> impl Strategy<Value = Case> {
    let split = prop::sample::select(vec![Split::Auto, Split::Always, Split::Never]);
    let typesize = prop_oneof![1_usize..=20, 1_usize..=300];
    let blocksize = prop::option::of(1_usize..6000);
    (any_codec(), 0_u8..=9, typesize, any_pipeline(), blocksize, split, any::<bool>()).prop_map(
        |(codec, level, typesize, pipeline, blocksize, split, dictionary)| {
            let codec = codec::by_name(codec).unwrap();
            let dictionary = dictionary && codec.takes_dictionary();
            let generation = Generation::Blosc2;
            Case(Params {
                codec,
                level,
                typesize,
                pipeline,
                blocksize,
                split,
                dictionary,
                generation,
                ..Params::default()
            })
        },
    )
}

pub fn any_blosc1_params() -> impl Strategy<Value = Case> {
    (any_params(), prop::sample::select(vec![0_u8, 1, 2])).prop_map(|(Case(params), filter)| {
        let pipeline = pipeline(&[(filter, 0)]);
        Case(Params { generation: Generation::Blosc1, dictionary: false, pipeline, ..params })
    })
}

pub fn any_bytes() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        (0_usize..9000, any::<u64>()).prop_map(|(nbytes, seed)| sample(nbytes, seed)),
        (0_usize..400, any::<u8>()).prop_map(|(nbytes, byte)| vec![byte; nbytes]),
        prop::collection::vec(any::<u8>(), 0..300),
    ]
}
