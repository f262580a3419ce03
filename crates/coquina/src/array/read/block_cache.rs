//! The block cache of an array: a few decoded blocks, and heads of chunks.
//!
//! It outlives reads, and all threads share it. Both are known by the identity of what is stored, so a chunk that is written
//! again is another one and nothing need be forgotten. Bounded: the oldest go first. What a thread needs again within
//! one step of a computation is kept beside it, in `decoded_boxes.rs`: whole boxes, without a lock, for that step only.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use crate::base::error::Result;
use crate::store::OpenChunk;

/// Bytes of decoded blocks that are kept, unless the user says otherwise.
pub(crate) const BLOCK_BYTES: usize = 4 << 20;
/// Bytes of heads that are kept: they are small, and spare a read each.
const HEAD_BYTES: usize = 4 << 20;

/// Kept by key, up to a number of bytes.
struct Kept<K, V> {
    values: HashMap<K, (V, usize)>,
    ages: VecDeque<K>,
    bytes: usize,
    bytes_max: usize,
}

impl<K: Copy + Eq + std::hash::Hash, V: Clone> Kept<K, V> {
    fn new(bytes_max: usize) -> Self {
        Self { values: HashMap::new(), ages: VecDeque::new(), bytes: 0, bytes_max }
    }

    fn get(&self, key: K) -> Option<V> {
        self.values.get(&key).map(|(value, _)| value.clone())
    }

    /// Keeps a value; gives back one that it takes the place of, if there is one.
    fn put(&mut self, key: K, value: V, bytes: usize) -> Option<V> {
        if bytes > self.bytes_max {
            return Some(value);
        }
        if let Some((before, _)) = self.values.insert(key, (value, bytes)) {
            return Some(before);
        }
        self.ages.push_back(key);
        self.bytes += bytes;
        self.shrink()
    }

    fn shrink(&mut self) -> Option<V> {
        let mut last = None;
        while self.bytes > self.bytes_max
            && let Some(oldest) = self.ages.pop_front()
            && let Some((value, bytes)) = self.values.remove(&oldest)
        {
            self.bytes -= bytes;
            last = Some(value);
        }
        last
    }
}

/// A block: the identity of its chunk, and its number in it.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct BlockKey {
    chunk: u64,
    block: usize,
}

/// What threads that may wait are decoding, each by one of them at a time.
#[derive(Default)]
struct Decoding {
    /// With the number of the process: the threads of a parent do not go on in a forked child.
    keys: Mutex<HashSet<(u32, BlockKey)>>,
    is_over: Condvar,
}

impl Decoding {
    /// Waits until no other thread has the turn of this block; none has until it is dropped.
    fn enter(&self, key: BlockKey) -> Turn<'_> {
        let key = (std::process::id(), key);
        let keys = lock(&self.keys);
        let waited = self.is_over.wait_while(keys, |keys| keys.contains(&key));
        waited.unwrap_or_else(PoisonError::into_inner).insert(key);
        Turn { decoding: self, key }
    }
}

/// The right to decode a block.
pub(super) struct Turn<'d> {
    decoding: &'d Decoding,
    key: (u32, BlockKey),
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        lock(&self.decoding.keys).remove(&self.key);
        self.decoding.is_over.notify_all();
    }
}

/// Kept by the threads that read an array.
pub(crate) struct BlockCache {
    heads: Mutex<Kept<u64, Arc<dyn OpenChunk>>>,
    blocks: Mutex<Kept<BlockKey, Arc<Vec<u8>>>>,
    decoding: Decoding,
    /// Memory of a block that is no longer kept: to use it again is faster than to clear fresh memory.
    spare: Mutex<Vec<u8>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl BlockCache {
    pub(crate) fn new() -> Self {
        Self {
            heads: Mutex::new(Kept::new(HEAD_BYTES)),
            blocks: Mutex::new(Kept::new(BLOCK_BYTES)),
            decoding: Decoding::default(),
            spare: Mutex::default(),
        }
    }

    pub(crate) fn head(&self, id: u64) -> Option<Arc<dyn OpenChunk>> {
        lock(&self.heads).get(id)
    }

    pub(crate) fn keep_head(&self, id: u64, head: &Arc<dyn OpenChunk>) {
        lock(&self.heads).put(id, Arc::clone(head), head.memory_bytes());
    }

    pub(crate) fn block(&self, id: u64, block: usize) -> Option<Arc<Vec<u8>>> {
        lock(&self.blocks).get(BlockKey { chunk: id, block })
    }

    /// Waits until no other thread decodes this block; until the turn is dropped, those that may wait wait for it.
    /// Whoever has the turn must not ask for that of another block: a thread that decodes waits for nobody.
    pub(super) fn turn(&self, id: u64, block: usize) -> Turn<'_> {
        self.decoding.enter(BlockKey { chunk: id, block })
    }

    /// The bytes of a block, kept: `decode` fills them unless they are kept already.
    pub(crate) fn block_or_decode(
        &self,
        id: u64,
        block: usize,
        block_bytes: usize,
        decode: impl FnOnce(&mut [u8]) -> Result<()>,
    ) -> Result<Arc<Vec<u8>>> {
        if let Some(bytes) = self.block(id, block) {
            return Ok(bytes);
        }
        let key = BlockKey { chunk: id, block };
        let mut bytes = self.block_memory(block_bytes);
        decode(&mut bytes)?;
        let bytes = Arc::new(bytes);
        let replaced = lock(&self.blocks).put(key, Arc::clone(&bytes), block_bytes);
        if let Some(spare) = replaced.and_then(Arc::into_inner) {
            *lock(&self.spare) = spare;
        }
        Ok(bytes)
    }

    /// Memory for a block of so many bytes, of any content.
    fn block_memory(&self, bytes: usize) -> Vec<u8> {
        let mut memory = std::mem::take(&mut *lock(&self.spare));
        memory.resize(bytes, 0);
        memory
    }

    /// How many bytes of blocks may be kept.
    pub(crate) fn block_bytes(&self) -> usize {
        lock(&self.blocks).bytes_max
    }

    pub(crate) fn set_block_bytes(&self, bytes: usize) {
        let mut blocks = lock(&self.blocks);
        blocks.bytes_max = bytes;
        blocks.shrink();
    }

    /// Forgets all: identities are going to be given anew.
    pub(crate) fn clear(&self) {
        let bytes = self.block_bytes();
        *lock(&self.heads) = Kept::new(HEAD_BYTES);
        *lock(&self.blocks) = Kept::new(bytes);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::base::error::Error;

    #[test]
    fn the_oldest_go_first_and_the_bound_holds() {
        let mut kept: Kept<u64, u64> = Kept::new(100);
        for key in 0..50 {
            kept.put(key, key, 30);
            assert!(kept.bytes <= 100);
        }
        assert_eq!((kept.get(46), kept.get(47), kept.get(49)), (None, Some(47), Some(49)));
        kept.put(1, 1, 101);
        assert_eq!(kept.get(1), None);
    }

    #[test]
    fn a_block_that_many_threads_need_is_decoded_once() {
        let (cache, decoded) = (BlockCache::new(), AtomicUsize::new(0));
        let all_are_here = Barrier::new(8);
        let read = || {
            all_are_here.wait();
            let _turn = cache.turn(7, 3);
            let bytes = cache.block_or_decode(7, 3, 100, |out| {
                std::thread::yield_now();
                decoded.fetch_add(1, Ordering::Relaxed);
                out.fill(5);
                Ok(())
            });
            assert_eq!(*bytes.unwrap(), [5; 100]);
        };
        std::thread::scope(|scope| (0..8).for_each(|_| drop(scope.spawn(read))));
        assert_eq!(decoded.into_inner(), 1);
    }

    #[test]
    fn a_thread_decodes_a_block_on_its_own_after_another_thread_failed() {
        let cache = BlockCache::new();
        let decode = |decode: fn(&mut [u8]) -> Result<()>| {
            let _turn = cache.turn(1, 0);
            cache.block_or_decode(1, 0, 4, decode)
        };
        let failing = decode(|_| Err(Error::corrupt("a flipped bit")));
        assert_eq!(failing.unwrap_err().to_string(), "a flipped bit");
        let panics = || decode(|_| panic!("within a decoder"));
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(panics)).unwrap_err();
        let bytes = decode(|out| {
            out.fill(1);
            Ok(())
        });
        assert_eq!(*bytes.unwrap(), [1; 4]);
    }
}
