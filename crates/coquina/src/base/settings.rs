//! What the environment says: the only place that reads it.

use std::sync::OnceLock;

/// Settings that come from the environment, read once when the pool is first made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Settings {
    /// `COQUINA_NUM_THREADS`, if it holds a positive number.
    pub(crate) num_threads: Option<usize>,
}

impl Settings {
    #[expect(clippy::disallowed_methods, reason = "this file is where the environment is read")]
    pub(crate) fn from_env() -> Self {
        let num_threads = std::env::var("COQUINA_NUM_THREADS").ok();
        Self { num_threads: num_threads.and_then(|text| text.trim().parse().ok()).filter(|&n| n > 0) }
    }

    /// `COQUINA_STRICT`: whether to fail where the way that was meant to be taken cannot be, instead of taking another.
    #[expect(clippy::disallowed_methods, reason = "this file is where the environment is read")]
    pub(crate) fn is_strict() -> bool {
        static STRICT: OnceLock<bool> = OnceLock::new();
        *STRICT.get_or_init(|| {
            std::env::var("COQUINA_STRICT").is_ok_and(|text| !matches!(text.trim(), "" | "0"))
        })
    }
}

/// Whether the environment asks for an error wherever the fast way cannot be taken: `COQUINA_STRICT`.
pub fn is_strict() -> bool {
    Settings::is_strict()
}
