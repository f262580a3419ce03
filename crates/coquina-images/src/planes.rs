//! Memory of planes that is used again: new memory of this size costs a fifth of the time of decoding, in page faults.
//!
//! In: planes that are done with. Out: planes of any contents. Each thread keeps a few small ones.

use std::cell::RefCell;
use std::thread::LocalKey;

/// The planes that a thread keeps, of each type, and the most samples of one: 16 MiB in all.
const KEPT: usize = 4;
const SAMPLES_MAX: usize = 1 << 20;

type Kept<T> = RefCell<Vec<Vec<T>>>;

/// A type of samples.
pub(crate) trait Sample: Copy + Default + 'static {
    /// The planes that this thread keeps.
    fn kept() -> &'static LocalKey<Kept<Self>>;
}

impl Sample for i32 {
    fn kept() -> &'static LocalKey<Kept<Self>> {
        thread_local!(static WHOLE: Kept<i32> = const { RefCell::new(Vec::new()) });
        &WHOLE
    }
}

impl Sample for f32 {
    fn kept() -> &'static LocalKey<Kept<Self>> {
        thread_local!(static REAL: Kept<f32> = const { RefCell::new(Vec::new()) });
        &REAL
    }
}

/// An empty plane with room for `len` samples.
pub(crate) fn empty<T: Sample>(len: usize) -> Vec<T> {
    let kept = if len > SAMPLES_MAX { None } else { T::kept().with_borrow_mut(Vec::pop) };
    let mut plane = kept.unwrap_or_default();
    plane.clear();
    plane.reserve(len);
    plane
}

/// A plane of `len` zeros.
pub(crate) fn zeros<T: Sample>(len: usize) -> Vec<T> {
    let mut plane = empty(len);
    plane.resize(len, T::default());
    plane
}

/// Keeps the memory of a plane for the next one.
pub(crate) fn keep<T: Sample>(plane: Vec<T>) {
    if plane.capacity() <= SAMPLES_MAX {
        T::kept().with_borrow_mut(|kept| kept.extend((kept.len() < KEPT).then_some(plane)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kept_planes_come_back_as_new_ones() {
        let plane = vec![7_i32; 100];
        let place = plane.as_ptr();
        keep(plane);
        let zeros = zeros::<i32>(50);
        assert_eq!((zeros.as_ptr(), zeros), (place, vec![0; 50]));
        assert!(empty::<i32>(10).is_empty());
    }

    #[test]
    fn few_and_small_ones_are_kept() {
        keep(vec![0.0_f32; SAMPLES_MAX + 1]);
        (0..2 * KEPT).for_each(|_| keep(vec![0.0_f32; 8]));
        assert_eq!(f32::kept().with_borrow(Vec::len), KEPT);
    }
}
