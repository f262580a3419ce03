"""Columns of categories in tables of python-blosc2: the codes of values, and the list of the categories.

In: values as tables take them. Out: codes, -1 for none; a frame of one batch that holds the categories.
Source: docs/formats/blosc2-stores.md, "Tables" and "Objects"; docs/formats/chunk.md, "Variable blocks".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from coquina.casting import is_missing
from coquina.msgpack_values import pack
from coquina.stores.value_batches import ValueBatches, layers_of
from coquina.tables.values import Coded

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy.typing as npt

#: How a schema describes such a column.
DESCRIBED: dict[str, Any] = {
    "kind": "dictionary",
    "index_type": {"kind": "int32"},
    "value_type": {"kind": "vlstring", "nullable": False, "serializer": "msgpack", "batch_rows": 2048},
    "nullable": True,
    "null_code": -1,
}


class Categories:
    """The categories of a column, by code."""

    def __init__(self, name: str, names: Iterable[str] = (), *, grows: bool, ordered: bool) -> None:
        """The column's name, and its categories. grows: whether values that are none yet become some."""
        self._name, self._grows, self._ordered = name, grows, ordered
        self._codes = {one: code for code, one in enumerate(names)}

    def codes(self, values: Any) -> npt.NDArray[np.int32]:
        """Return the codes of values. Raises ValueError for one that is no category and cannot become one."""
        if isinstance(values, Coded):
            known = np.array([*map(self._code, values.categories.tolist()), -1], np.int32)
            if self._ordered and np.any(np.diff(known[:-1]) < 0):
                raise ValueError(f"column {self._name!r}: its ordered categories come in another order")
            return known[np.asarray(values.codes)]
        found = values.tolist() if hasattr(values, "tolist") else list(values)
        return np.array([-1 if is_missing(one) else self._code(one) for one in found], np.int32)

    def _code(self, value: Any) -> int:
        if not isinstance(value, str):
            raise ValueError(f"column {self._name!r}: {value!r} is not text, as its categories are")
        if value not in self._codes and not self._grows:
            raise ValueError(f"column {self._name!r}: {value!r} is not one of its categories")
        return self._codes.setdefault(value, len(self._codes))

    def write(self, path: str) -> None:
        """Make the frame of the categories."""
        batches = ValueBatches.create(path, layers_of({"kind": "vlstring"}))
        batches.append(map(pack, self._codes))
        batches.close()
