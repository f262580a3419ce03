//! How a chunk is encoded, in words.

use super::header::Header;
use crate::filter::{self, Slot};

impl Header {
    /// The name of the codec, or where it is not here its id.
    pub fn codec_name(&self) -> String {
        self.codec().map_or_else(|_| self.codec_id.to_string(), |codec| codec.name().to_owned())
    }

    /// The names of the filters, joined by " + ", each with its parameter where that is not the usual one.
    pub fn filter_names(&self) -> String {
        let name = |slot: &Slot| match filter::by_id(slot.id) {
            Ok(filter) if [0, filter.default_meta(self.typesize)].contains(&slot.meta) => {
                filter.name().to_owned()
            }
            Ok(filter) => format!("{} {}", filter.name(), slot.meta),
            Err(_) => format!("{} {}", slot.id, slot.meta),
        };
        let names: Vec<String> = self.pipeline.slots.iter().filter(|slot| slot.id != 0).map(name).collect();
        names.join(" + ")
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Params, encode};
    use super::*;
    use crate::base::limits::Limits;
    use crate::base::pool::Job;
    use crate::filter::{BYTEDELTA, Pipeline, SHUFFLE};

    #[test]
    fn a_chunk_names_its_codec_and_its_filters() {
        let bytes: Vec<u8> = (0..4000_u32).flat_map(|n| (n * n).to_le_bytes()).collect();
        let named = |slots: &[Slot]| {
            let pipeline = Pipeline::new(slots).unwrap();
            let chunk =
                encode(&bytes, &Params { typesize: 4, pipeline, ..Params::default() }, &Job::inline())
                    .unwrap();
            let header = Header::read(&chunk, &Limits::default()).unwrap();
            (header.codec_name(), header.filter_names())
        };
        let slot = |id, meta| Slot { id, meta };
        assert_eq!(named(&[]), ("zstd".into(), String::new()));
        assert_eq!(named(&[slot(SHUFFLE, 0)]).1, "shuffle");
        assert_eq!(named(&[slot(SHUFFLE, 2), slot(BYTEDELTA, 4)]).1, "shuffle 2 + bytedelta");
    }
}
