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
