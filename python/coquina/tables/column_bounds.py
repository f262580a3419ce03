"""Bounds on the loss of columns: which columns can have one.

In: bounds by column, as users give them, and how the columns are described. Out: a `Lossy` for each.
Invariant: codes, marks, times and text stay exact.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from coquina.lossy import Lossy, lossy_of

if TYPE_CHECKING:
    from coquina.tables.layout import ColumnSpec, Schema

#: By column, a bound or the keywords of one.
Bounds = Mapping[str, Lossy | Mapping[str, Any]] | None


def bounds_of(lossy: Bounds, schema: Schema) -> dict[str, Lossy]:
    """Return the bound of each column that has one.

    Raises ValueError or TypeError for columns that there are not or that are no numbers, and for what is no
    bound.
    """
    if lossy is None:
        return {}
    if not isinstance(cast("Any", lossy), Mapping):
        raise TypeError(f"lossy: takes a mapping of columns to bounds, not {type(lossy).__name__}")
    specs = {spec.name: spec for spec in schema}
    found: dict[str, Lossy] = {}
    for name, bound in lossy.items():
        if name not in specs:
            raise ValueError(f"lossy: there is no column {name!r}; there are {', '.join(specs)}")
        if not _is_number(specs[name]):
            raise ValueError(f"lossy: column {name!r} is not plain numbers, and others are kept exactly")
        known = lossy_of(bound)
        if known is not None:
            found[name] = known
    return found


def _is_number(spec: ColumnSpec) -> bool:
    is_plain = spec.categories is None and spec.enum is None and spec.time is None and not spec.children
    return is_plain and spec.dtype.kind in "iufc"
