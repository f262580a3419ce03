//! Hostile-bytes targets.
