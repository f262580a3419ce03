//! Random numbers for tests.

/// Pseudo-random numbers below `end`.
pub(crate) fn random(seed: u64) -> impl FnMut(u64) -> u64 {
    let mut state = seed ^ 0x9e37_79b9_7f4a_7c15;
    move |end| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) % end
    }
}
