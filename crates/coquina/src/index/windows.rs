//! Which entries are read together.
//!
//! In: where the entries of ranges stand, in order. Out: windows of entries, each read at once, and what in them is
//! wanted. Entries close to each other share a window, and none is long.

use std::ops::Range;

use super::ends::Ends;

/// What lies between entries that are read together is no more than this,
const GAP: u64 = 2048;
/// and no more than this are read at once.
const WINDOW: u64 = 1 << 17;

/// Entries that are wanted.
pub(super) struct Segment {
    pub(super) entries: Range<u64>,
    /// Whether their keys are in the ranges for sure.
    pub(super) is_sure: bool,
}

/// Entries that are read at once.
pub(super) struct Window {
    pub(super) start: u64,
    pub(super) len: usize,
    pub(super) segments: Vec<Segment>,
}

/// The windows of all entries.
pub(super) fn windows(ends: &[Ends]) -> Vec<Window> {
    let mut windows: Vec<Window> = Vec::new();
    for Ends { all, sure } in ends {
        let parts = [(all.start..sure.start, false), (sure.clone(), true), (sure.end..all.end, false)];
        for (part, is_sure) in parts {
            let mut at = part.start;
            while at < part.end {
                // Cut at even places, so that blocks are not read by two tasks.
                let end = part.end.min((at / WINDOW + 1) * WINDOW);
                push(&mut windows, Segment { entries: at..end, is_sure });
                at = end;
            }
        }
    }
    windows
}

fn push(windows: &mut Vec<Window>, segment: Segment) {
    let Range { start, end } = segment.entries;
    if let Some(last) = windows.last_mut() {
        let is_near = start - (last.start + last.len as u64) <= GAP;
        if is_near && end - last.start <= WINDOW {
            last.len = usize::try_from(end - last.start).unwrap_or(usize::MAX);
            last.segments.push(segment);
            return;
        }
    }
    let len = usize::try_from(end - start).unwrap_or(usize::MAX);
    windows.push(Window { start, len, segments: vec![segment] });
}
