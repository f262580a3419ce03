//! The index in memory: what it says about each chunk, the chunk's sum, and what is known of its items.
//!
//! Chunks are in pages. A page whose chunks are all alike is one entry, so that an array of very many chunks of
//! zeros costs next to nothing; and a changed index shares the pages that did not change with the old one.

use std::sync::Arc;

use super::statistics::Statistics;
use crate::base::error::Result;

/// Chunks of a page.
const PAGE: usize = 1024;
/// Bytes of a slot where it is stored.
pub(crate) const RAW_BYTES: usize = 8;

/// What the index says about a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Slot {
    /// As stored: a place if it is not negative, else a special value.
    pub(crate) raw: i64,
    /// The chunk's sum, 0 for none.
    pub(crate) sum: u64,
    /// What is known of its items, if it is stored.
    pub(crate) statistics: Option<Statistics>,
}

impl Slot {
    /// One of which the index alone is known.
    pub(crate) fn new(raw: i64) -> Self {
        Self { raw, sum: 0, statistics: None }
    }

    /// Where the chunk is, if it is stored.
    pub(crate) fn key(self) -> Option<u64> {
        u64::try_from(self.raw).ok()
    }
}

#[derive(Clone, Debug)]
enum Page {
    Same(Slot),
    Listed(Arc<[Slot]>),
}

/// One slot for each chunk.
#[derive(Clone, Debug, Default)]
pub(crate) struct Slots {
    pages: Vec<Page>,
    len: u64,
}

/// Where a chunk's slot is.
fn place(number: u64) -> (usize, usize) {
    let page = usize::try_from(number / PAGE as u64).unwrap_or(usize::MAX);
    (page, usize::try_from(number % PAGE as u64).unwrap_or(0))
}

impl Slots {
    /// `len` equal slots.
    pub(crate) fn same(slot: Slot, len: u64) -> Self {
        let mut slots = Self::default();
        slots.resize(len, slot);
        slots
    }

    pub(crate) fn len(&self) -> u64 {
        self.len
    }

    pub(crate) fn get(&self, number: u64) -> Option<Slot> {
        let (page, within) = place(number);
        if number >= self.len {
            return None;
        }
        match self.pages.get(page)? {
            Page::Same(slot) => Some(*slot),
            Page::Listed(slots) => slots.get(within).copied(),
        }
    }

    /// Where the slots end that are equal to that at `number`: beyond it, `end` at most.
    pub(crate) fn alike_until(&self, number: u64, end: u64) -> u64 {
        let end = end.min(self.len);
        let Some(slot) = self.get(number) else { return number };
        let mut at = number + 1;
        while at < end {
            let (page, within) = place(at);
            at = match self.pages.get(page) {
                Some(Page::Same(same)) if *same == slot => (page as u64 + 1) * PAGE as u64,
                Some(Page::Listed(slots)) => {
                    let alike = slots.iter().skip(within).take_while(|other| **other == slot).count();
                    if within + alike < slots.len() {
                        return (at + alike as u64).min(end);
                    }
                    at + alike as u64
                }
                _ => return at,
            };
        }
        at.min(end)
    }

    /// Puts `slot` at `number`, which is there.
    pub(crate) fn set(&mut self, number: u64, slot: Slot) {
        let (at, within) = place(number);
        let bytes = self.page_len(at);
        let Some(page) = self.pages.get_mut(at) else { return };
        if let Page::Same(same) = page {
            if *same == slot {
                return;
            }
            *page = Page::Listed(vec![*same; bytes].into());
        }
        if let Page::Listed(slots) = page
            && let Some(place) = Arc::make_mut(slots).get_mut(within)
        {
            *place = slot;
        }
    }

    /// Makes it `len` long; new slots are `fill`.
    pub(crate) fn resize(&mut self, len: u64, fill: Slot) {
        let kept = self.len.min(len);
        let whole = usize::try_from(kept / PAGE as u64).unwrap_or(usize::MAX);
        let rest: Vec<Slot> = (whole as u64 * PAGE as u64..kept).filter_map(|n| self.get(n)).collect();
        self.pages.truncate(whole);
        self.len = whole as u64 * PAGE as u64;
        let fills = self.len + (rest.len() as u64);
        let mut tail = rest;
        if !tail.is_empty() {
            let more = (len - fills).min((PAGE - tail.len()) as u64);
            tail.extend((0..more).map(|_| fill));
            self.push_page(&tail);
        }
        let pages = (len - self.len).div_ceil(PAGE as u64);
        self.pages.extend((0..pages).map(|_| Page::Same(fill)));
        self.len = len;
    }

    /// Adds a page of slots. All pages before it are whole.
    fn push_page(&mut self, slots: &[Slot]) {
        let Some(first) = slots.first() else { return };
        self.pages.push(if slots.iter().all(|slot| slot == first) {
            Page::Same(*first)
        } else {
            Page::Listed(slots.into())
        });
        self.len += slots.len() as u64;
    }

    fn run<'s>(&self, number: usize, page: &'s Page) -> Run<'s> {
        match page {
            Page::Same(slot) => Run::Same(*slot, self.page_len(number)),
            Page::Listed(slots) => Run::Listed(slots),
        }
    }

    fn page_len(&self, page: usize) -> usize {
        let start = page as u64 * PAGE as u64;
        usize::try_from(self.len.saturating_sub(start)).unwrap_or(usize::MAX).min(PAGE)
    }

    /// Forgets what is known of the items of all chunks.
    pub(crate) fn forget_statistics(&mut self) {
        for page in &mut self.pages {
            match page {
                Page::Same(slot) => slot.statistics = None,
                Page::Listed(slots) if slots.iter().any(|slot| slot.statistics.is_some()) => {
                    Arc::make_mut(slots).iter_mut().for_each(|slot| slot.statistics = None);
                }
                Page::Listed(_) => {}
            }
        }
    }

    /// The slot that all are equal to, if they are.
    pub(crate) fn all_same(&self) -> Option<Slot> {
        let Page::Same(first) = self.pages.first()? else { return None };
        let is_first = |page: &Page| matches!(page, Page::Same(slot) if slot == first);
        self.pages.iter().all(is_first).then_some(*first)
    }

    /// What is stored of the slots from `start` on, as bytes in little-endian order.
    pub(crate) fn write_raw(&self, start: u64, out: &mut [u8]) {
        let (mut number, mut out) = (start, out);
        while !out.is_empty() {
            let (at, within) = place(number);
            let count = (out.len() / RAW_BYTES).min(self.page_len(at).saturating_sub(within));
            let Some((part, rest)) = out.split_at_mut_checked(count * RAW_BYTES).filter(|_| count > 0) else {
                return;
            };
            let entries = part.as_chunks_mut().0;
            match self.pages.get(at) {
                Some(Page::Same(slot)) => entries.fill(slot.raw.to_le_bytes()),
                Some(Page::Listed(slots)) => {
                    let slots = slots.iter().skip(within);
                    entries.iter_mut().zip(slots).for_each(|(entry, slot)| *entry = slot.raw.to_le_bytes());
                }
                None => {}
            }
            (number, out) = (number + count as u64, rest);
        }
    }

    /// Shows the slots of stored chunks, in order: what every commit does with all of them, so page by page.
    pub(crate) fn visit_stored(&self, mut see: impl FnMut(&Slot)) {
        for (number, page) in self.pages.iter().enumerate() {
            match self.run(number, page) {
                Run::Same(slot, len) if slot.raw >= 0 => (0..len).for_each(|_| see(&slot)),
                Run::Same(..) => {}
                Run::Listed(slots) => slots.iter().filter(|slot| slot.raw >= 0).for_each(&mut see),
            }
        }
    }

    /// How many chunks are stored.
    pub(crate) fn stored_count(&self) -> usize {
        let counts = self.pages.iter().enumerate().map(|(number, page)| match self.run(number, page) {
            Run::Same(slot, len) => {
                if slot.raw < 0 {
                    0
                } else {
                    len
                }
            }
            Run::Listed(slots) => slots.iter().filter(|slot| slot.raw >= 0).count(),
        });
        counts.sum()
    }

    /// Changes the slots of stored chunks, in order, page by page: each is shown with its number. Stops at an error.
    pub(crate) fn change_stored(
        &mut self,
        mut change: impl FnMut(u64, &mut Slot) -> Result<()>,
    ) -> Result<()> {
        for at in 0..self.pages.len() {
            let (len, numbers) = (self.page_len(at), at as u64 * PAGE as u64..);
            let Some(page) = self.pages.get_mut(at) else { break };
            if let Page::Same(same) = page {
                if same.raw < 0 {
                    continue;
                }
                *page = Page::Listed(vec![*same; len].into());
            }
            if let Page::Listed(slots) = page {
                let each = numbers.zip(Arc::make_mut(slots)).filter(|(_, slot)| slot.raw >= 0);
                for (number, slot) in each {
                    change(number, slot)?;
                }
            }
        }
        Ok(())
    }

    /// The numbers of slots that are not what they were in `old`, or were not there. Pages that both share are passed over.
    pub(crate) fn changed_since(&self, old: &Self) -> Vec<u64> {
        let mut changed = Vec::new();
        for (number, page) in self.pages.iter().enumerate() {
            let before = old.pages.get(number);
            let is_shared = match (page, before) {
                (Page::Listed(now), Some(Page::Listed(then))) => Arc::ptr_eq(now, then),
                (Page::Same(now), Some(Page::Same(then))) => {
                    now == then && self.page_len(number) <= old.page_len(number)
                }
                _ => false,
            };
            if is_shared {
                continue;
            }
            let first = number as u64 * PAGE as u64;
            let numbers = first..first + self.page_len(number) as u64;
            changed.extend(numbers.filter(|&number| self.get(number) != old.get(number)));
        }
        changed
    }

    /// The slots of stored chunks, with their numbers.
    pub(crate) fn stored(&self) -> impl Iterator<Item = (u64, Slot)> {
        self.stored_from(0)
    }

    /// The same from chunk `from` on.
    pub(crate) fn stored_from(&self, from: u64) -> impl Iterator<Item = (u64, Slot)> {
        let first_page = usize::try_from(from / PAGE as u64).unwrap_or(usize::MAX);
        let mut start = first_page as u64 * PAGE as u64;
        let runs =
            self.pages.iter().enumerate().skip(first_page).map(|(number, page)| self.run(number, page));
        let stored = runs.flat_map(move |run| {
            let first = start;
            start += run.len() as u64;
            let (slots, same): (&[Slot], _) = match run {
                Run::Same(slot, len) => (&[], (slot.raw >= 0).then_some((slot, len))),
                Run::Listed(slots) => (slots, None),
            };
            let listed = (first..).zip(slots.iter().copied()).filter(|(_, slot)| slot.raw >= 0);
            let repeated = same
                .into_iter()
                .flat_map(move |(slot, len)| (first..first + len as u64).map(move |number| (number, slot)));
            listed.chain(repeated)
        });
        stored.skip_while(move |(number, _)| *number < from)
    }
}

/// The slots of a page.
#[derive(Clone, Copy, Debug)]
enum Run<'a> {
    /// So many equal ones.
    Same(Slot, usize),
    /// These.
    Listed(&'a [Slot]),
}

impl Run<'_> {
    fn len(&self) -> usize {
        match self {
            Self::Same(_, len) => *len,
            Self::Listed(slots) => slots.len(),
        }
    }
}

/// Takes slots one after another.
#[derive(Default)]
pub(crate) struct Builder {
    slots: Slots,
    page: Vec<Slot>,
    listed: usize,
}

impl Builder {
    /// Takes slots as they are stored, without what is known of their chunks.
    pub(crate) fn push_raw(&mut self, mut entries: &[[u8; RAW_BYTES]]) {
        while let Some((&first, _)) = entries.split_first() {
            let page = entries
                .get(..PAGE)
                .filter(|page| self.page.is_empty() && page.iter().all(|raw| *raw == first));
            let slot = |raw: [u8; RAW_BYTES]| Slot::new(i64::from_le_bytes(raw));
            let taken = match page {
                Some(page) => {
                    self.push_same(slot(first), PAGE as u64);
                    page.len()
                }
                None => {
                    let count = entries.len().min(PAGE - self.page.len());
                    entries.iter().take(count).for_each(|&raw| self.push(slot(raw)));
                    count
                }
            };
            entries = entries.get(taken..).unwrap_or_default();
        }
    }

    /// Takes a slot `count` times.
    pub(crate) fn push_same(&mut self, slot: Slot, count: u64) {
        let mut left = count;
        while left > 0 {
            if self.page.is_empty() && left >= PAGE as u64 {
                self.slots.pages.push(Page::Same(slot));
                self.slots.len += PAGE as u64;
                left -= PAGE as u64;
            } else {
                self.push(slot);
                left -= 1;
            }
        }
    }

    pub(crate) fn push(&mut self, slot: Slot) {
        self.page.push(slot);
        if self.page.len() == PAGE {
            self.slots.push_page(&self.page);
            self.page.clear();
            if let Some(Page::Listed(_)) = self.slots.pages.last() {
                self.listed += PAGE;
            }
        }
    }

    /// How many slots take memory of their own, up to a page.
    pub(crate) fn listed(&self) -> usize {
        self.listed
    }

    pub(crate) fn finish(mut self) -> Slots {
        self.slots.push_page(&self.page);
        self.slots
    }
}

#[cfg(test)]
mod tests;
