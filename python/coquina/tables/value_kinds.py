"""Kinds of values of any length, lists and mappings: as schemas describe them, as Arrow's types, and checked.

In: values of people, or Arrow types. Out: descriptions in the words of python-blosc2's schemas, such as
    `{"kind": "list", "item": {"kind": "int64"}}`; values as a description says; Arrow types.
Source: docs/formats/blosc2-stores.md, "Tables".
"""

from __future__ import annotations

from datetime import datetime
from itertools import chain
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from coquina.tables.arrow_module import pyarrow

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    import numpy.typing as npt

    #: How a schema describes values.
    Kind = dict[str, Any]

_NUMBERS = frozenset(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)) | {
    "float32",
    "float64",
}
_TEXTS = frozenset({"string", "vlstring", "utf8", "dictionary"})
_BYTES = frozenset({"bytes", "vlbytes"})
_OF_PYTHON = ((bool, "bool"), (int, "int64"), (float, "float64"), (str, "vlstring"), (bytes, "vlbytes"))
_LISTS = (list, tuple, np.ndarray)


def objects_of(values: Iterable[Any]) -> npt.NDArray[Any]:
    """Return values as an array of objects with one axis, also of lists of equal lengths."""
    listed = list(values)
    made = np.empty(len(listed), object)
    for at, value in enumerate(listed):
        made[at] = value
    return made


def are_values(values: npt.NDArray[Any]) -> bool:
    """Whether objects are lists and mappings, or None among these."""
    there = [one for one in values.tolist() if one is not None]
    return bool(there) and all(isinstance(one, (*_LISTS, dict)) for one in there)


def kind_of_values(values: Iterable[Any]) -> Kind:
    """Return what values are. Raises TypeError for values that have no common kind."""
    there = [_as_plain(one) for one in values]
    count = len(there)
    there = [one for one in there if one is not None]
    return _kind_of_plain(there) | ({"nullable": True} if len(there) < count else {})


def _as_plain(value: Any) -> Any:
    """Return what NumPy has as what Python has."""
    return cast("Any", value).tolist() if isinstance(value, np.generic | np.ndarray) else value


def _kind_of_plain(values: list[Any]) -> Kind:
    if all(isinstance(one, dict) for one in values) and values:
        names = dict.fromkeys(chain.from_iterable(values))
        fields = [{"name": name, **kind_of_values([one.get(name) for one in values])} for name in names]
        if not names or not all(isinstance(name, str) for name in names):
            raise TypeError("mappings without names, or with names that are no text")
        return {"kind": "struct", "fields": fields}
    if all(isinstance(one, list | tuple) for one in values) and values:
        return {"kind": "list", "item": kind_of_values(chain.from_iterable(values))}
    kinds = {next((name for kind, name in _OF_PYTHON if isinstance(one, kind)), "") for one in values}
    if kinds == {"int64", "float64"}:
        kinds = {"float64"}
    if "" in kinds or len(kinds) > 1:
        found = ", ".join(sorted({type(one).__name__ for one in values}))
        raise TypeError(f"values of no common kind: {found}")
    return {"kind": kinds.pop() if kinds else "float64"}


def checked(kind: Kind, value: Any, what: str) -> Any:
    """Return a value as a schema describes it. Raises ValueError, TypeError for others. what: for errors."""
    if value is None:
        if kind.get("nullable") or kind["kind"] == "object":
            return None
        raise ValueError(f"{what}: a value is missing, and the column takes none")
    return _CHECKS.get(kind["kind"], _checked_number)(kind, value, what)


def _checked_list(kind: Kind, value: Any, what: str) -> Any:
    if not isinstance(value, _LISTS):
        raise TypeError(f"{what}: {value!r} is no list")
    return [checked(kind["item"], one, what) for one in _as_plain(value)]


def _checked_struct(kind: Kind, value: Any, what: str) -> Any:
    if not isinstance(value, dict):
        raise TypeError(f"{what}: {value!r} is no mapping")
    given = cast("dict[str, Any]", value)
    names = {field["name"]: field for field in kind["fields"]}
    if unknown := [name for name in given if name not in names]:
        raise ValueError(f"{what}: {unknown[0]!r} is none of {', '.join(names)}")
    return {name: checked(field, given.get(name), f"{what}, {name!r}") for name, field in names.items()}


def _checked_text(kind: Kind, value: Any, what: str) -> Any:
    wanted = str if kind["kind"] in _TEXTS else bytes
    if not isinstance(value, wanted):
        raise TypeError(f"{what}: {value!r} is no {wanted.__name__}")
    limit = kind.get("max_length")
    if isinstance(limit, int) and len(value) > limit:
        raise ValueError(f"{what}: {value!r} is longer than {limit}")
    return value


def _checked_time(kind: Kind, value: Any, what: str) -> Any:
    time: Any = np.datetime64(value) if isinstance(value, str | datetime) else value
    if isinstance(time, np.datetime64):
        return int(time.astype(f"M8[{kind['unit']}]").astype(np.int64))
    if not isinstance(time, int):
        raise TypeError(f"{what}: {value!r} is no time")
    return time


def _checked_number(kind: Kind, value: Any, what: str) -> Any:
    name, value = kind["kind"], _as_plain(value)
    if name == "bool":
        if not isinstance(value, bool):
            raise TypeError(f"{what}: {value!r} is no truth value")
        return value
    if name not in _NUMBERS:
        raise TypeError(f"{what}: values of kind {name!r} are only read")
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"{what}: {value!r} is no number")
    if name.startswith("float"):
        return float(np.dtype(name).type(value))
    limits = np.iinfo(name)
    if (isinstance(value, float) and not value.is_integer()) or not limits.min <= value <= limits.max:
        raise ValueError(f"{what}: {value!r} is no {name}")
    return int(value)


def _as_it_is(kind: Kind, value: Any, what: str) -> Any:
    del kind, what
    return value


_CHECKS: dict[str, Callable[[Kind, Any, str], Any]] = {
    "list": _checked_list,
    "struct": _checked_struct,
    "object": _as_it_is,
    "timestamp": _checked_time,
    **dict.fromkeys((*_TEXTS, *_BYTES), _checked_text),
}


def arrow_of(kind: Kind) -> Any:
    """Return the Arrow type of values. Raises TypeError if there is none."""
    pa, name = pyarrow(), kind["kind"]
    if name == "list":
        return pa.list_(arrow_of(kind["item"]))
    if name == "struct":
        return pa.struct([(field["name"], arrow_of(field)) for field in kind["fields"]])
    if name in _TEXTS or name in _BYTES:
        return pa.large_string() if name in _TEXTS else pa.large_binary()
    if name == "timestamp":
        return pa.timestamp(kind["unit"], kind.get("timezone"))
    if name == "bool" or name in _NUMBERS:
        return pa.bool_() if name == "bool" else pa.from_numpy_dtype(np.dtype(name))
    raise TypeError(f"values of kind {name!r}")


def kind_of_arrow(ty: Any) -> Kind | None:
    """Return what values of an Arrow type are; None for types that have no such values."""
    types = pyarrow().types
    item: Kind | None
    if types.is_struct(ty):
        fields = [ty.field(at) for at in range(ty.num_fields)]
        kinds = [kind_of_arrow(field.type) for field in fields]
        if not fields or None in kinds:
            return None
        # Arrow says of few fields that nothing is missing in them: any may be.
        named = zip(fields, cast("list[Kind]", kinds), strict=True)
        return {"kind": "struct", "fields": [{"name": f.name, **k, "nullable": True} for f, k in named]}
    if types.is_list(ty) or types.is_large_list(ty) or types.is_fixed_size_list(ty):
        item = kind_of_arrow(ty.value_type)
        return None if item is None else {"kind": "list", "item": item | {"nullable": True}}
    if types.is_string(ty) or types.is_large_string(ty) or types.is_string_view(ty):
        return {"kind": "vlstring"}
    if types.is_binary(ty) or types.is_large_binary(ty) or types.is_binary_view(ty):
        return {"kind": "vlbytes"}
    if types.is_timestamp(ty):
        return {"kind": "timestamp", "unit": ty.unit} | ({} if ty.tz is None else {"timezone": ty.tz})
    if types.is_boolean(ty):
        return {"kind": "bool"}
    return {"kind": str(np.dtype(ty.to_pandas_dtype()))} if _is_number(ty) else None


def _is_number(ty: Any) -> bool:
    types = pyarrow().types
    return bool(types.is_integer(ty) or types.is_float32(ty) or types.is_float64(ty))
