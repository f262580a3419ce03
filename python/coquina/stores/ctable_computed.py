"""Computed columns of tables of python-blosc2: values of an expression of stored columns.

In: the schema of a table. Out: columns that are only read, computed when they are first used.
Source: docs/formats/blosc2-stores.md, "Tables".
Invariant: an expression is read by our grammar, and no part of it is run as code. Kernels, which are Python's
    source code, and expressions that the grammar does not have are not shown.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from coquina._core import CoquinaError, CorruptError
from coquina.expressions.constructors import CONSTRUCTORS
from coquina.expressions.text import expr
from coquina.lazy_property import lazy_property
from coquina.stores.ctable_columns import NUMBERS, nullable, number_column
from coquina.stores.later_columns import later
from coquina.stores.metadata import list_of, map_of
from coquina.tables.null_columns import NullableColumn
from coquina.tables.number_columns import NumberColumn

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy.typing as npt

    from coquina.stores.ctable_columns import Parts
    from coquina.stores.ctable_schema import Described
    from coquina.tables.column import Column

_KINDS = NUMBERS | {"bool"}
_OPERAND = re.compile(r"\bo(\d+)\b")


@dataclass(frozen=True)
class Computed:
    """A computed column. text: its expression, of operands o0, o1 and so on: the columns `inputs`."""

    name: str
    kind: str
    text: str
    inputs: tuple[str, ...]
    type_name: str

    @property
    def readable(self) -> str:
        """The expression with the names of the columns."""
        return _OPERAND.sub(lambda found: self._name(int(found[1]), found[0]), self.text)

    def _name(self, at: int, text: str) -> str:
        return self.inputs[at] if at < len(self.inputs) else text

    @lazy_property
    def dtype(self) -> np.dtype[Any] | None:
        """The dtype of the values; None for what is no number."""
        return np.dtype(self.type_name) if self.type_name in _KINDS else None

    def column(self, described: Mapping[str, Described], parts: Parts) -> Column | None:
        """Return the column; None if it cannot be computed here."""
        stored = [described.get(name) for name in self.inputs]
        dtype = self.dtype
        is_read = self.kind == "expression" and dtype is not None
        # Parts and new arrays have other lengths than the columns.
        is_read = is_read and "[" not in self.text and not CONSTRUCTORS.keys() & self._words
        if not is_read or not all(one is not None and one.kind in _KINDS for one in stored):
            return None
        inputs = cast("list[Described]", stored)
        try:
            made = self._of([np.ones(1, parts.array(one.key, "biufc", 0).dtype) for one in inputs])
            assert dtype is not None
            if made.shape != (1,) or not np.can_cast(made.dtype, dtype, "unsafe"):
                return None
        except (CorruptError, OSError):
            raise
        except (CoquinaError, ValueError, TypeError, IndexError, ArithmeticError, RecursionError):
            return None
        kind = NullableColumn if any(map(_can_miss, inputs)) else NumberColumn
        return later(kind, self.name, parts.rows, dtype, (), lambda: self._made(inputs, parts))

    @property
    def _words(self) -> set[str]:
        return set(re.findall(r"[A-Za-z_]\w*", self.text))

    def _of(self, operands: Sequence[Any]) -> Any:
        named = {f"o{at}": operand for at, operand in enumerate(operands)}
        used = {name: operand for name, operand in named.items() if name in self._words}
        return expr(self.text, **used)

    def _made(self, inputs: Sequence[Described], parts: Parts) -> Column:
        """Compute the values. Those of rows in which an operand is missing are missing."""
        arrays = [parts.array(one.key, "biufc", parts.rows) for one in inputs]
        views = [one if len(one) == parts.rows else one.view(np.s_[: parts.rows]) for one in arrays]
        with np.errstate(all="ignore"):
            values = np.asarray(self._of(views)[...]).astype(cast("Any", self.dtype), copy=False)
        if values.shape != (parts.rows,):
            raise CorruptError(f"{parts.where}: {self.name!r}: {values.shape} values for {parts.rows} rows")
        missing = [_missing(one, parts) for one in inputs if _can_miss(one)]
        if not missing:
            return number_column(self.name, values)
        return nullable(self.name, values, np.logical_or.reduce(missing))


def _can_miss(column: Described) -> bool:
    # A NaN says itself that it is none.
    null = column.null_value
    return column.has_mask or (null is not None and null == null)


def _missing(column: Described, parts: Parts) -> npt.NDArray[np.bool_]:
    if (null := column.null_value) is not None:
        return np.asarray(np.asarray(parts.array(column.key, "biufc", parts.rows)[: parts.rows]) == null)
    valid = parts.valid(column)
    return np.zeros(parts.rows, bool) if valid is None else ~valid


def computed_of(schema: Mapping[str, Any], where: str) -> list[Computed]:
    """Return the computed columns that a schema names. Raises CorruptError. where: for errors."""
    found: list[Computed] = []
    for one in map(map_of, list_of(schema.get("computed_columns")) or []):
        one = {} if one is None else one
        name, kind = one.get("name"), one.get("kind", "expression")
        if not isinstance(name, str) or not isinstance(kind, str) or not name:
            raise CorruptError(f"{where}: schema: a computed column without name and kind")
        inputs = list_of(one.get("col_deps")) or []
        texts = [one.get("expression", ""), one.get("dtype", ""), *inputs]
        if not all(isinstance(text, str) for text in texts):
            raise CorruptError(f"{where}: schema: computed column {name!r}: no texts")
        found.append(Computed(name, kind, texts[0], tuple(cast("list[str]", inputs)), texts[1]))
    return found


__all__ = ["Computed", "computed_of"]
