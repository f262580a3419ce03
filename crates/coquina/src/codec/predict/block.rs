//! A block as a stream, and back.
//!
//! Source: `docs/formats/predict.md`, "Stream".
//! Invariant: memory is asked for only where the header agrees with the room that the caller has; no bytes make it panic.

use super::lattice::{Item, Lattice, quantise, restore};
use super::rans::{self, DecodeTable};
use super::symbols;
use super::tables::{self, Frequencies, SEGMENT, TABLES_MAX};
use super::walk::{self, AXES, Method, Plan};
use super::{plan, symbols::NEW_HOLE, symbols::SAME_HOLE};
use crate::base::scratch::{Scratch, ScratchStack, with_scratch_of};

const VERSION: u8 = 1;

/// What a block is worked on in.
#[derive(Default)]
struct Room {
    numbers: Vec<i32>,
    residuals: Vec<i32>,
    symbols: Vec<u8>,
}

impl Room {
    /// Makes room for so many items; what it holds is of no account.
    fn grow(&mut self, count: usize) {
        self.numbers.resize(count, 0);
        self.residuals.resize(count, 0);
        self.symbols.resize(count, 0);
    }
}

impl Scratch for Room {
    fn memory_bytes(&self) -> usize {
        4 * (self.numbers.capacity() + self.residuals.capacity()) + self.symbols.capacity()
    }
}

thread_local! {
    static ROOM: ScratchStack<Room> = const { ScratchStack::new(40 << 20) };
}

/// What stands in front of a stream.
struct Header {
    item_bytes: usize,
    plan: Plan,
    lattice: Lattice,
    tables: usize,
    /// How many items are stored exactly, not counting repeats of the one before.
    exact: usize,
    has_holes: bool,
    /// Bytes of the bits beside symbols.
    bits: usize,
}

impl Header {
    fn write(&self, out: &mut Vec<u8>) {
        let method = match self.plan.method {
            Method::Lorenzo => 0,
            Method::Linear => 1,
            Method::Cubic => 2,
        };
        let order = self.plan.order.iter().rev().fold(0, |order, &axis| order << 2 | byte(axis));
        let holes = u8::from(self.has_holes);
        out.extend([VERSION, byte(self.item_bytes), method, order, byte(self.tables), holes, 0, 0]);
        out.extend(self.lattice.step.to_le_bytes());
        out.extend(self.lattice.origin.to_le_bytes());
        for size in self.plan.shape.into_iter().chain([self.exact, self.bits]) {
            out.extend(u32::try_from(size).unwrap_or(u32::MAX).to_le_bytes());
        }
    }

    /// Reads it from the front of `bytes`; `None` for one that cannot be.
    fn read(bytes: &mut &[u8]) -> Option<Self> {
        let [version, item_bytes, method, order, tables, holes, 0, 0] = take(bytes)? else { return None };
        let step = f64::from_le_bytes(take(bytes)?);
        let origin = f64::from_le_bytes(take(bytes)?);
        let mut sizes = [0; AXES + 2];
        for size in &mut sizes {
            *size = u32::from_le_bytes(take(bytes)?) as usize;
        }
        let [a, b, c, d, exact, bits] = sizes;
        let order = [0, 2, 4, 6].map(|shift| usize::from(order >> shift & 3));
        let method = [Method::Lorenzo, Method::Linear, Method::Cubic].get(usize::from(method)).copied()?;
        let lattice = Lattice { step, origin };
        let is_order = (0..AXES).all(|axis| order.contains(&axis));
        let is_sound = version == VERSION && is_order && lattice.is_sound() && holes < 2;
        let plan = Plan { shape: [a, b, c, d], method, order };
        let tables = usize::from(tables);
        let header =
            Self { item_bytes: item_bytes.into(), plan, lattice, tables, exact, has_holes: holes == 1, bits };
        (is_sound && (1..=TABLES_MAX).contains(&tables)).then_some(header)
    }
}

fn byte(number: usize) -> u8 {
    u8::try_from(number).unwrap_or(u8::MAX)
}

/// Takes as many bytes from the front.
fn take<const N: usize>(bytes: &mut &[u8]) -> Option<[u8; N]> {
    let (first, rest) = bytes.split_first_chunk()?;
    *bytes = rest;
    Some(*first)
}

fn split<'a>(bytes: &mut &'a [u8], count: usize) -> Option<&'a [u8]> {
    let (first, rest) = bytes.split_at_checked(count)?;
    *bytes = rest;
    Some(first)
}

/// The stream of a block, no item further than `bound` from what it was; `None` if it is better stored as it is.
pub(super) fn encode<T: Item>(
    bytes: &[u8],
    shape: [usize; AXES],
    bound: f64,
    fill: Option<u64>,
) -> Option<Vec<u8>> {
    let items = T::items(bytes);
    let count = shape.iter().try_fold(1_usize, |count, &len| count.checked_mul(len))?;
    if count != items.len() || count == 0 {
        return None;
    }
    let stream = with_scratch_of(&ROOM, |room| {
        room.grow(count);
        encode_in::<T>(room, items, shape, &Wanted { bound, fill })
    })?;
    (stream.len() < bytes.len()).then_some(stream)
}

/// What an encoder is asked for: the greatest error, and the bits of a value that is kept.
struct Wanted {
    bound: f64,
    fill: Option<u64>,
}

fn encode_in<T: Item>(
    room: &mut Room,
    items: &[T::Bytes],
    shape: [usize; AXES],
    wanted: &Wanted,
) -> Option<Vec<u8>> {
    let Room { numbers, residuals, symbols: coded } = room;
    let found = quantise::<T>(items, wanted.bound, wanted.fill, numbers)?;
    let plan = plan::of(shape, numbers);
    let holes = walk::forward(&plan, numbers, residuals, found.has_holes);
    let mut exact: Vec<u8> = Vec::new();
    let mut last = None;
    let is_new: Vec<bool> = holes
        .into_iter()
        .map(|place| {
            let item = items[place];
            let is_new = last.replace(T::bits(item)) != Some(T::bits(item));
            if is_new {
                exact.extend(&T::bits(item).to_le_bytes()[..size_of::<T>()]);
            }
            is_new
        })
        .collect();
    let bits = symbols::encode(residuals, is_new.into_iter(), coded);
    let (tables, classes) = tables::of(coded);
    let header = Header {
        item_bytes: size_of::<T>(),
        plan,
        lattice: found.lattice,
        tables: tables.len(),
        exact: exact.len() / size_of::<T>(),
        has_holes: found.has_holes,
        bits: bits.len(),
    };
    let mut out = Vec::with_capacity(size_of_val(items) / 4);
    header.write(&mut out);
    tables.iter().for_each(|table| table.write(&mut out));
    if tables.len() > 1 {
        out.extend(classes.chunks(2).map(|pair| pair[0] | pair.get(1).unwrap_or(&0) << 4));
    }
    out.extend(exact);
    out.extend(bits);
    rans::encode(&tables, &classes, coded, &mut out);
    Some(out)
}

/// Fills `out` with the items of a stream; `None` if it is damaged, or not of as many items.
pub(super) fn decode<T: Item>(mut stream: &[u8], out: &mut [u8]) -> Option<()> {
    let header = Header::read(&mut stream)?;
    let items = T::items_mut(out);
    let shape = header.plan.shape;
    let count = shape.iter().try_fold(1_usize, |count, &len| count.checked_mul(len))?;
    if header.item_bytes != size_of::<T>() || count != items.len() || count == 0 {
        return None;
    }
    let mut decoders = Vec::with_capacity(header.tables);
    for _ in 0..header.tables {
        decoders.push(DecodeTable::new(&Frequencies::read(&mut stream)?)?);
    }
    let segments = count.div_ceil(SEGMENT);
    let mut classes = vec![0; segments];
    if header.tables > 1 {
        let packed = split(&mut stream, segments.div_ceil(2))?;
        for (pair, &packed) in classes.chunks_mut(2).zip(packed) {
            pair.iter_mut().zip([packed & 15, packed >> 4]).for_each(|(class, bits)| *class = bits);
        }
    }
    let exact = split(&mut stream, header.exact.checked_mul(size_of::<T>())?)?;
    let bits = split(&mut stream, header.bits)?;
    let coded = Coded { header: &header, decoders: &decoders, classes: &classes, exact, bits, words: stream };
    with_scratch_of(&ROOM, |room| {
        room.grow(count);
        coded.decode_in::<T>(room, items)
    })
}

/// The parts of a stream.
struct Coded<'s> {
    header: &'s Header,
    decoders: &'s [DecodeTable],
    classes: &'s [u8],
    exact: &'s [u8],
    bits: &'s [u8],
    words: &'s [u8],
}

impl Coded<'_> {
    fn decode_in<T: Item>(&self, room: &mut Room, items: &mut [T::Bytes]) -> Option<()> {
        let Room { numbers, residuals, symbols: coded } = room;
        let header = self.header;
        rans::decode(self.decoders, self.classes, self.words, coded)?;
        symbols::decode(coded, self.bits, residuals, header.has_holes)?;
        let holes = walk::backward(&header.plan, residuals, numbers, header.has_holes);
        restore::<T>(&header.lattice, numbers, items);
        if header.has_holes {
            let kinds = coded.iter().filter(|&&symbol| symbol >= SAME_HOLE);
            return put_exact::<T>(&holes, kinds, self.exact, items);
        }
        self.exact.is_empty().then_some(())
    }
}

/// Puts items that are stored exactly where they belong.
fn put_exact<'c, T: Item>(
    holes: &[usize],
    mut kinds: impl Iterator<Item = &'c u8>,
    exact: &[u8],
    items: &mut [T::Bytes],
) -> Option<()> {
    let mut exact = T::items(exact).iter();
    let mut last = None;
    for &place in holes {
        if *kinds.next()? == NEW_HOLE {
            last = Some(*exact.next()?);
        }
        *items.get_mut(place)? = last?;
    }
    (exact.next().is_none() && kinds.next().is_none()).then_some(())
}
