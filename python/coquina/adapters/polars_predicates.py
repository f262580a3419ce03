"""Predicates of Polars as conditions on a table, as far as both mean the same.

In: a predicate of Polars, and the dtypes of the columns. Out: the text of a condition with its parameters.
Source: the JSON that Polars writes of expressions. It is not a promised format: what is not known here, or
    not for sure, is left out, and the predicate is Polars' own business as before.
Invariant: every row that the predicate keeps meets the condition; the reverse need not be. So whoever takes
    the rows filters them by the predicate once more. Polars knows three truth values and puts NaN above all
    numbers; our conditions are false where a value is missing, and NaN is NumPy's.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from importlib import import_module
from io import BytesIO
from typing import Any, cast

import numpy as np

#: Polars' names of comparisons and our signs; then what each is where it does not hold, or sides are swapped.
_SIGNS = {"Eq": "==", "NotEq": "!=", "Lt": "<", "LtEq": "<=", "Gt": ">", "GtEq": ">="}
_OPPOSITE = {"==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}
_SWAPPED = {"==": "==", "!=": "!=", "<": ">", ">": "<", "<=": ">=", ">=": "<="}
_BETWEEN = {"Both": (">=", "<="), "Left": (">=", "<"), "Right": (">", "<="), "None": (">", "<")}
_MATCHES = {"StartsWith": "startswith", "EndsWith": "endswith"}
_INTEGERS = frozenset({"Int8", "Int16", "Int32", "Int64", "UInt8", "UInt16", "UInt32", "UInt64"})
_FLOATS = frozenset({"Float32", "Float64"})
_UNITS = {"Nanoseconds": "ns", "Microseconds": "us", "Milliseconds": "ms"}
#: Kinds of columns whose comparisons are those of their values.
_KINDS = frozenset({"number", "bits", "datetime", "nullable", "string", "categorical"})
_DEPTH_MAX = 60


@dataclass(frozen=True)
class ColumnType:
    """What is to be known of a column: our kind of it, and the dtype that Polars has for it."""

    kind: str
    dtype: Any

    @property
    def name(self) -> str:
        """The name of Polars' dtype without its parameters; empty for a column that is not looked at."""
        return str(self.dtype.base_type()) if self.kind in _KINDS else ""


def condition_of(predicate: Any, columns: dict[str, ColumnType]) -> tuple[str, dict[str, Any]] | None:
    """Return the text and the parameters of a condition that all rows meet which `predicate` keeps.

    predicate: a `polars.Expr`. columns: of the table, by name. None where nothing of it can be said.
    """
    translation = _Translation(columns)
    text = translation.kept(json.loads(predicate.meta.serialize(format="json")), True, 0)
    return None if text is None else (text, translation.params)


@dataclass
class _Translation:
    """A condition that is being written."""

    columns: dict[str, ColumnType]
    params: dict[str, Any] = field(default_factory=dict[str, Any])

    def kept(self, node: Any, wanted: bool, depth: int) -> str | None:
        """Return a condition that all rows meet where `node` is `wanted`; None for all rows."""
        if depth > _DEPTH_MAX:
            return None
        match node:
            case {"BinaryExpr": {"left": left, "op": "And" | "LogicalAnd", "right": right}}:
                return self._joined(left, right, wanted, wanted, depth)
            case {"BinaryExpr": {"left": left, "op": "Or" | "LogicalOr", "right": right}}:
                return self._joined(left, right, not wanted, wanted, depth)
            case {"BinaryExpr": {"left": left, "op": str(op), "right": right}} if op in _SIGNS:
                return self._compared(left, _SIGNS[op], right, wanted)
            case {"Function": {"input": [inner], "function": {"Boolean": "Not"}}}:
                return self.kept(inner, not wanted, depth + 1)
            case {"Function": {"input": inputs, "function": {"Boolean": function}}}:
                return self._asked(cast("list[Any]", inputs), function, wanted)
            case {"Function": {"input": [{"Column": str(name)}, text], "function": {"StringExpr": function}}}:
                return self._matched(name, text, function, wanted)
            case {"Column": str(name)} if self._type(name) == "Boolean":
                return f"{_shown(name)} == {wanted}"
            case _:
                return None

    def _joined(self, left: Any, right: Any, is_and: bool, wanted: bool, depth: int) -> str | None:
        parts = [self.kept(left, wanted, depth + 1), self.kept(right, wanted, depth + 1)]
        known = [f"({part})" for part in parts if part is not None]
        if is_and:
            return " and ".join(known) or None
        return " or ".join(known) if len(known) == 2 else None

    def _compared(self, left: Any, sign: str, right: Any, wanted: bool) -> str | None:
        found = _column(left)
        if found is None:
            found, right, sign = _column(right), left, _SWAPPED[sign]
        if found is None:
            return None
        name, type_name = found[0], found[1] or self._type(found[0])
        sign = sign if wanted else _OPPOSITE[sign]
        if (other := _column(right)) is not None:
            return self._of_two(name, sign, other) if found[1] is None else None
        value = self._constant(right, type_name)
        if value is None or not self._is_compared(name, type_name, sign):
            return None
        if found[1] is not None and self._type(name) not in _INTEGERS:
            return None
        return self._with_nan(name, type_name, sign, value)

    def _is_compared(self, name: str, type_name: str, sign: str) -> bool:
        """Whether our comparison with a constant is that of Polars."""
        if type_name in ("Categorical", "Enum"):
            return sign in ("==", "!=")
        return self.columns[name].kind != "categorical"

    def _with_nan(self, name: str, type_name: str, sign: str, value: Any) -> str:
        """Return a comparison, with NaN where Polars has it above all numbers."""
        text = f"{_shown(name)} {sign} {self._given(value)}"
        # The column of integers that Polars casts has no NaN.
        if type_name in _FLOATS and self._type(name) in _FLOATS and sign in (">", ">="):
            return f"{text} or isnan({_shown(name)})"
        return text

    def _of_two(self, name: str, sign: str, other: tuple[str, str | None]) -> str | None:
        """Return the comparison of two columns of numbers or times of the same dtype."""
        dtype = self._type(name)
        is_plain = dtype in _INTEGERS or dtype in ("Date", "Datetime", "Duration")
        if other[1] is not None or not is_plain or other[0] not in self.columns:
            return None
        one, two = self.columns[name], self.columns[other[0]]
        is_same = one.dtype == two.dtype and "categorical" not in (one.kind, two.kind)
        return f"{_shown(name)} {sign} {_shown(other[0])}" if is_same and two.name else None

    def _asked(self, inputs: list[Any], function: Any, wanted: bool) -> str | None:
        """Return a question of a column."""
        found = _column(inputs[0]) if inputs else None
        if found is None or found[1] is not None or not self._type(found[0]):
            return None
        name, dtype = found[0], self._type(found[0])
        match function:
            case "IsNull" | "IsNotNull":
                return self._missing(name, dtype, wanted == (function == "IsNull"))
            case "IsNan" | "IsNotNan" if dtype in _FLOATS and self.columns[name].kind != "categorical":
                # Of the others some may be missing, which is NaN for us.
                return f"isnan({_shown(name)})" if wanted == (function == "IsNan") else None
            case {"IsBetween": {"closed": str(closed)}} if len(inputs) == 3 and closed in _BETWEEN:
                low, high = _BETWEEN[closed]
                ops = {sign: op for op, sign in _SIGNS.items()}
                one, two = (
                    {"BinaryExpr": {"left": inputs[0], "op": ops[sign], "right": limit}}
                    for sign, limit in ((low, inputs[1]), (high, inputs[2]))
                )
                return self._joined(one, two, wanted, wanted, 0)
            case {"IsIn": {"nulls_equal": bool(nulls_equal)}} if len(inputs) == 2:
                return self._among(name, dtype, inputs[1], wanted, nulls_equal)
            case _:
                return None

    def _missing(self, name: str, dtype: str, is_null: bool) -> str | None:
        if is_null:
            return f"{_shown(name)} is null"
        # Our nulls have NaN among them, which Polars keeps.
        return None if dtype in _FLOATS else f"{_shown(name)} is not null"

    def _among(self, name: str, dtype: str, listed: Any, wanted: bool, nulls_equal: bool) -> str | None:
        values = self._list(listed, self.columns[name].dtype)
        if values is None or dtype not in (*_INTEGERS, "String", "Categorical", "Date", "Datetime"):
            return None
        if dtype != "Categorical" and self.columns[name].kind == "categorical":
            return None
        text = f"{_shown(name)} in {self._given([one for one in values if one is not None])}"
        if wanted:
            return f"{text} or {_shown(name)} is null" if nulls_equal and None in values else text
        return f"not ({text})"

    def _list(self, node: Any, dtype: Any) -> list[Any] | None:
        """Return the values of a list that stands in a predicate, if they are of the column's dtype."""
        match node:
            case {"Literal": {"Scalar": {"List": [*raw]}}}:
                series = import_module("polars").read_ipc_stream(BytesIO(bytes(raw))).to_series()
            case _:
                return None
        is_text = str(dtype.base_type()) == "Categorical" and str(series.dtype) in ("String", "Categorical")
        if not is_text and series.dtype != dtype:
            return None
        values = series.to_list()
        if any(isinstance(one, str) and "\0" in one for one in values):
            return None
        if str(dtype.base_type()) in ("Datetime", "Date"):
            items = series.drop_nulls().to_numpy()
            return [*items, *([None] if series.null_count() else [])]
        return values

    def _matched(self, name: str, text: Any, function: Any, wanted: bool) -> str | None:
        """Return a match of text."""
        match function:
            case str(word) if word in _MATCHES:
                word = _MATCHES[word]
            case {"Contains": {"literal": True}}:
                word = "contains"
            case _:
                return None
        value = self._constant(text, "String") if self._type(name) == "String" else None
        # Zeros at the end of text of fixed width are none; what is empty is not worth a question.
        if not value or self.columns[name].kind == "categorical":
            return None
        found = f"{word}({_shown(name)}, {self._given(value)})"
        return found if wanted else f"not {found}"

    def _constant(self, node: Any, type_name: str) -> Any:
        """Return a constant of just this type; None if it is none, or not for sure."""
        match node:
            case {"Literal": {"Scalar": {"Datetime": [int(value), str(unit), None]}}}:
                is_ours = type_name == "Datetime" and unit in _UNITS
                return np.datetime64(value, cast("Any", _UNITS[unit])) if is_ours else None
            case {"Literal": {"Scalar": {"Duration": [int(value), str(unit)]}}}:
                is_ours = type_name == "Duration" and unit in _UNITS
                return np.timedelta64(value, cast("Any", _UNITS[unit])) if is_ours else None
            case {"Literal": {"Scalar": {"Date": int(days)}}}:
                return np.datetime64(days, "D") if type_name == "Date" else None
            case {"Literal": {"Scalar": {"String": str(text)}}}:
                is_text = type_name in ("String", "Categorical", "Enum") and "\0" not in text
                return text if is_text else None
            case {"Literal": {"Scalar": {"Boolean": bool(value)}}}:
                return value if type_name == "Boolean" else None
            case {"Literal": {"Scalar": scalar}}:
                return _number(scalar, type_name)
            case _:
                return None

    def _given(self, value: Any) -> str:
        """Return the name of a parameter."""
        name = f"given_{len(self.params)}"
        while name in self.columns:
            name += "_"
        self.params[name] = value
        return name

    def _type(self, name: str) -> str:
        found = self.columns.get(name)
        return "" if found is None else found.name


def _number(scalar: Any, type_name: str) -> int | float | None:
    """Return a number of this type; JSON knows no NaN and nothing infinite."""
    value: Any = cast("dict[str, Any]", scalar).get(type_name) if isinstance(scalar, dict) else None
    if type_name in _INTEGERS:
        return value if type(value) is int else None
    return float(value) if type_name in _FLOATS and type(value) in (int, float) else None


def _column(node: Any) -> tuple[str, str | None] | None:
    """Return the name of a column, and "Float64" if it is cast to that; None for anything else."""
    match node:
        case {"Column": str(name)}:
            return name, None
        case {"Cast": {"expr": {"Column": str(name)}, "dtype": {"Literal": "Float64"}}}:
            return name, "Float64"
        case _:
            return None


def _shown(name: str) -> str:
    """Return a column in the text of a condition."""
    return f"col({name!r})"
