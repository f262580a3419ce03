"""How rows are grouped in an index.

Source: docs/formats/indexes.md, "Spans", "Zones" and "Metadata".
"""

from __future__ import annotations

#: Rows of a span, which is owned as a whole.
SPAN_ROWS = 1 << 16
#: Rows of a zone, whose bounds are known.
ZONE_ROWS = 1 << 14
#: Rows that share a number in an index of kind "light".
BUCKET_ROWS = 1 << 10
#: Entries of a block of a run.
BLOCK_ENTRIES = 1 << 12
#: Spans of a run of kind "partial".
PARTIAL_SPANS = 16
#: As many runs of one tier are sorted anew as one; the next tier's are so many times as long.
TIER_RUNS = 8


def params() -> tuple[int, int, int, int, int, int]:
    """Return all of them, as the engine takes them."""
    return SPAN_ROWS, ZONE_ROWS, BUCKET_ROWS, BLOCK_ENTRIES, PARTIAL_SPANS, TIER_RUNS
