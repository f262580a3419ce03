"""Tables that are written as those of python-blosc2 (CTable): in a store, or as all of one.

In: data that tables take. Out: the leaves of a table; it appears when it is complete.
Source: docs/formats/blosc2-stores.md, "Tables". Invariant: what such a table cannot say is an error, before
    anything is written.
"""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from coquina import _core
from coquina._core import UnsupportedError
from coquina.arrays.creation import filled, new_array
from coquina.arrays.opening import open as open_content
from coquina.msgpack_values import pack
from coquina.stores.contents import META, TABLE_ATTRS
from coquina.stores.ctable_categories import DESCRIBED, Categories
from coquina.stores.ctable_columns import NUMBERS
from coquina.stores.ctable_encoding import encoded
from coquina.stores.ctable_schema import KIND, Described
from coquina.stores.directory import leaves_of_directory
from coquina.stores.homes import ArchiveHome, DirectoryHome
from coquina.stores.value_batches import BATCH_ROWS, ValueBatches, layers_of
from coquina.tables.column_storage import column_storage, for_array, for_bytes
from coquina.tables.incoming import batches
from coquina.tables.layout import leaves_of
from coquina.tables.making import expecting
from coquina.tables.values import TEXT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from coquina.arrays.array import Array
    from coquina.storage_options import Storage
    from coquina.tables.layout import Batch, ColumnSpec, Schema
    from coquina.tables.making import NewTable
    from coquina.tables.table import Table

    Rows = tuple[Schema, Iterator[Batch]]

SUFFIXES = (".b2d", ".b2z")
_NOT_A_TIME = int(np.iinfo(np.int64).min)


def write_table(folder: str, data: Any, new: NewTable) -> None:
    """Make a folder with the leaves of a table. Raises UnsupportedError for a column that it cannot have."""
    write_rows(folder, batches(data), expecting(new, data))


def write_rows(folder: str, rows: Rows, new: NewTable) -> None:
    """Make a folder with the leaves of a table of these rows; see `write_table`."""
    schema, parts = rows
    for option, is_given in (
        ("layout='rows'", new.layout != "columns"),
        ("index", bool(new.index)),
        ("lossy", bool(new.lossy)),
        ("dictionary", new.storage.dictionary),
        (f"filter {new.storage.filter!r}", new.storage.compressor != "blosc2"),
    ):
        if is_given:
            raise UnsupportedError(f"{option}: tables of python-blosc2 do not have it")
    os.mkdir(folder)
    try:
        _write(folder, schema, parts, new)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def create_whole(path: str, rows: Rows, mode: str, new: NewTable, *, overwrite: bool) -> Table:
    """Return a table that is all of a directory or an archive. Raises FileExistsError, BlockingIOError."""
    path = os.path.realpath(path)
    is_archive = path.lower().endswith(".b2z")
    is_replaced = is_archive and mode != "x" and (overwrite or mode == "w")
    if os.path.lexists(path) and not (is_replaced and _is_store(path)):
        raise FileExistsError(f"{path} exists; overwrite=True replaces archives that are stores")
    if is_archive:
        _make_archive(path, rows, new)
    else:
        home = DirectoryHome.make(path, durable=True, make_folder=lambda place: write_rows(place, rows, new))
        home.close()
    return open_content(path, "r+")


def _make_archive(path: str, rows: Rows, new: NewTable) -> None:
    """Make or replace an archive. Raises BlockingIOError if another writer has it."""
    home = ArchiveHome(path, is_new=True, durable=True)
    try:
        made = home.new()
        write_rows(made, rows, new)
        home.commit(leaves_of_directory(made))
    finally:
        home.close()


def _is_store(path: str) -> bool:
    with open_content(path):
        return True


def _write(folder: str, schema: Schema, parts: Iterator[Batch], new: NewTable) -> None:
    storage = column_storage(new.storage, new.expected_rows)
    leaves = {path: _leaf(path, spec, new) for path, spec in leaves_of(schema).items()}
    columns = {path: _Column(spec, folder, storage) for path, spec in leaves.items()}
    if not columns:
        raise ValueError("create_table: a table needs a column")
    rows = 0
    for batch in parts:
        for name, column in columns.items():
            column.append(batch[name])
        rows += len(batch[next(iter(columns))])
    for column in columns.values():
        column.close()
    options = _options(for_array(storage, "_valid_rows"), folder, "_valid_rows")
    filled((rows,), np.dtype(bool), options, b"\1").close()
    described = [column.described for column in columns.values()]
    has_masks = any("null_storage" in one for one in described)
    has_more = any(one["kind"] == "dictionary" or "." in one["name"] for one in described)
    version = 3 if has_masks else 2 if has_more else 1
    text = json.dumps({"version": version, "columns": described, "n_rows": rows})
    epochs: dict[str, Any] = {"value_epoch": 0, "visibility_epoch": 0, "index_catalog": {}}
    _put_frame(f"{folder}/{META}.b2f", {"kind": KIND, "version": 1, "schema": text, **epochs})
    attrs = {**({"title": new.title} if new.title else {}), **new.attrs}
    if attrs:
        _put_frame(f"{folder}/{TABLE_ATTRS}.b2f", attrs)


def _leaf(path: str, spec: ColumnSpec, new: NewTable) -> ColumnSpec:
    """Return a column as it is called: those below a nested one have dots in their names."""
    if new.is_dotted:
        return spec
    if "." in spec.name or "\\" in path:
        raise _unsupported(spec)
    return replace(spec, name=path.replace("/", ".") if path != spec.name else path)


def _put_frame(path: str, values: Any) -> None:
    frame = _core.create_frame(path)
    for name, value in values.items():
        frame.set_layer(name, pack(value))
    frame.publish()
    frame.close()


def _options(storage: Storage, folder: str, key: str) -> dict[str, Any]:
    path = os.path.join(folder, *f"{key}.b2nd".split("/"))
    os.makedirs(os.path.dirname(path), exist_ok=True)
    return replace(storage, path=path).for_engine()


class _Column:
    """A column that is written: its arrays, and how the schema describes it."""

    def __init__(self, spec: ColumnSpec, folder: str, storage: Storage) -> None:
        """Make its arrays. Raises UnsupportedError if there is no kind of column for it."""
        kind = _kind(spec)
        self.described: dict[str, Any] = {"name": spec.name, **kind}
        self._spec, self._folder, self._storage = spec, folder, storage
        self._column = Described(spec.name, kind["kind"], self.described)
        self._key = self._column.key
        self._end = 0
        self._categories: Categories | None = None
        self._arrays: dict[str, Array] = {}
        self._batches: ValueBatches | None = None
        if spec.values is not None:
            self._batches = ValueBatches.create(f"{folder}/{self._key}.b2b", layers_of(kind))
        elif kind["kind"] == "utf8":
            self._make("", np.dtype("<i8")).append(np.zeros(1, np.int64))
            self._make(".utf8", np.dtype("u1"))
        elif kind["kind"] == "timestamp":
            self._make("", np.dtype("<i8"))
        elif kind["kind"] == "dictionary":
            self._make("", np.dtype("<i4"))
            names = spec.categories or ()
            self._categories = Categories(spec.name, names, grows=True, ordered=spec.ordered)
        else:
            self._make("", spec.dtype.newbyteorder("="), spec.shape)
        if "null_storage" in kind:
            self._make(".notnull", np.dtype(bool))

    def _make(self, suffix: str, dtype: np.dtype[Any], shape: tuple[int, ...] = ()) -> Array:
        storage = for_bytes(self._storage) if suffix == ".utf8" else self._storage
        storage = for_array(storage, self._spec.name)
        if shape:
            # Rows with axes of their own are cut by the default rule of arrays.
            storage = replace(storage, chunks=None, blocks=None)
        array = new_array((0, *shape), dtype, _options(storage, self._folder, f"{self._key}{suffix}"))
        self._arrays[suffix] = array
        return array

    def append(self, values: Any) -> None:
        """Put values behind the last ones."""
        if self._categories is not None:
            self._arrays[""].append(self._categories.codes(values))
            return
        made = encoded(self._column, self._spec, values)
        if self._batches is not None:
            self._batches.append(made.items)
        elif made.text is None:
            self._arrays[""].append(made.items)
        else:
            self._arrays[""].append(made.items + self._end)
            self._arrays[".utf8"].append(made.text)
            self._end += len(made.text)
        if (valid := self._arrays.get(".notnull")) is not None:
            valid.append(made.valid)

    def close(self) -> None:
        """Have all files be under their names."""
        for array in self._arrays.values():
            array.handle.publish()
            array.close()
        if self._batches is not None:
            self._batches.close()
        if self._categories is not None:
            self._categories.write(f"{self._folder}/{self._key}_dict.b2b")


def _kind(spec: ColumnSpec) -> dict[str, Any]:
    """Return how a schema describes a column. Raises UnsupportedError if it cannot."""
    dtype, kind = spec.dtype, spec.dtype.kind
    mask = {"nullable": True, "null_storage": "mask"} if spec.nullable else {}
    if spec.categories is not None and kind == "T" and not spec.shape:
        return {**DESCRIBED, "ordered": spec.ordered}
    has_more = spec.categories is not None or spec.enum is not None or spec.time is not None
    if has_more:
        raise _unsupported(spec)
    if spec.values is not None:
        return _kind_of_values(spec.values, nullable=spec.nullable)
    if spec.shape:
        if kind not in "biufcSU":
            raise _unsupported(spec)
        item = {"item_shape": list(spec.shape), "dtype_str": dtype.newbyteorder("=").str}
        return {"kind": "ndarray", **item, **mask}
    if dtype == TEXT or kind == "T":
        return {"kind": "utf8", **mask}
    if kind == "M":
        unit, count = np.datetime_data(dtype)
        if unit not in ("s", "ms", "us", "ns") or count != 1:
            raise _unsupported(spec)
        zone = {} if spec.zone is None else {"timezone": spec.zone}
        return {"kind": "timestamp", "unit": unit, **zone, "nullable": True, "null_value": _NOT_A_TIME}
    if kind in "US" and dtype.itemsize:
        width = dtype.itemsize // (4 if kind == "U" else 1)
        return {"kind": "string" if kind == "U" else "bytes", "max_length": width, **mask}
    if kind == "b" or (kind in "iufc" and dtype.name in _NUMBERS):
        return {"kind": dtype.name, **mask}
    raise _unsupported(spec)


def _kind_of_values(values: dict[str, Any], *, nullable: bool) -> dict[str, Any]:
    """Return how a schema describes values of any length."""
    batches = {"serializer": "msgpack", "batch_rows": BATCH_ROWS}
    if values["kind"] == "list":
        batches = {"storage": "batch", **batches}
        return {"kind": "list", "item": _item_of(values["item"]), "nullable": nullable, **batches}
    if values["kind"] == "struct":
        fields = [_item_of(field) for field in values["fields"]]
        return {"kind": "struct", "fields": fields, "nullable": nullable}
    return {"kind": values["kind"], "nullable": nullable, **batches}


def _item_of(values: dict[str, Any]) -> dict[str, Any]:
    """Return how a schema describes values within others."""
    if values["kind"] not in ("list", "struct"):
        return values
    name = {"name": values["name"]} if "name" in values else {}
    return {**name, **_kind_of_values(values, nullable=bool(values.get("nullable")))}


#: Kinds of numbers that are written: python-blosc2 makes no columns of float16.
_NUMBERS = NUMBERS - {"float16"}


def _unsupported(spec: ColumnSpec) -> UnsupportedError:
    what = "categories" if spec.categories is not None else "an enumeration" if spec.enum else str(spec.dtype)
    what = f"{what} of shape {spec.shape}" if spec.shape else what
    is_date = spec.dtype.kind == "M" and spec.dtype.str.endswith("[D]")
    hint = "; cast it to datetime64[s]" if is_date else "; cast it to int64" if spec.dtype.kind == "m" else ""
    return UnsupportedError(
        f"column {spec.name!r} ({what}): a table of python-blosc2 is not written with such a column{hint}"
    )
