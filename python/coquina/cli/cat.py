"""print part of an array (in NumPy's notation), or rows of a table

Only the blocks of the requested part are read. Long results are abbreviated without --all or --json.

Examples:
  coquina cat climate.b2nd "[3:5, ::-1]"
  coquina cat "climate.b2nd[..., 0]" --json
  coquina cat records.b2nd "['id']" --all --threads 1
  coquina cat "run.h5:/images/raw[0, ::100]"
  coquina cat trades.h5:/trades "[5:9]"
  coquina cat "trades.h5:/trades['price']"
  coquina cat "run.b2z:/raw/images[0, ::100]"
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, cast

import numpy as np

import coquina
from coquina.cli import arguments, hdf5_paths, inputs, row_files, sources, store_paths, tables
from coquina.cli.keys import key, split
from coquina.cli.table_text import items_json, rows_text, values_json
from coquina.cli.terminal import show, show_json

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

_ROWS = 20


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `coquina cat`."""
    parser.add_argument(
        "file",
        help="a .b2nd file or directory, a Bloscpack file of an array, a .npy file, FILE.npz:NAME, "
        "FILE.h5:/path, "
        "STORE.b2z:/path, or a table's directory",
    )
    parser.add_argument(
        "key",
        nargs="?",
        type=key,
        help="the part to print, as [3:5, ::-1] or ['column'] (default: all; the first rows)",
    )
    parser.add_argument("-a", "--all", action="store_true", help="print every item")
    arguments.add_threads(parser)
    arguments.add_json(parser)


def run(options: argparse.Namespace) -> None:
    """Print the part."""
    place = hdf5_paths.place(options.file)
    if place is None and options.key is None:
        options.file, options.key = split(options.file)
        place = hdf5_paths.place(options.file)
    is_all = options.all or options.json
    if place is None and tables.is_directory(options.file):
        with coquina.open_table(options.file) as table:
            _show_rows(*rows_of(table, options.key, is_all), options, table)
        return
    if place is not None:
        place, options.key = key_of(place, options.key)
        with hdf5_paths.opened(place) as found:
            if place.path == "/" and (only := tables.only_of(found.h5)) is not None:
                found = found[only]
            if tables.is_table(found):
                _show_rows(*rows_of(found, options.key, is_all), options, found)
                return
    elif (place := store_paths.place(options.file)) is not None:
        place, options.key = key_of(place, options.key, store_paths.with_key)
        with store_paths.opened(place) as found:
            if tables.is_table(found):
                _show_rows(*rows_of(found, options.key, is_all), options, found)
                return
            if store_paths.is_group(found):
                raise ValueError(f"{place.file}:{place.path} is a group; `coquina ls {place.file}` lists it")
            _show_part(found[slice(None) if options.key is None else options.key], options)
        return
    part: Any = part_of_file(options.file, options.key) if place is None else part_of(place, options.key)
    _show_part(part, options)


def _show_part(part: Any, options: argparse.Namespace) -> None:
    """Print items."""
    if options.json:
        if isinstance(part, list):
            show_json({"items": values_json(part)})
            return
        items = np.asarray(part)
        show_json({"dtype": str(items.dtype), "shape": items.shape, "items": items.tolist()}, _text)
        return
    if isinstance(part, list):
        _show_sequences(cast("list[Any]", part), options)
        return
    threshold = sys.maxsize if options.all else 1000
    with np.printoptions(threshold=threshold):
        show(part)


def _show_sequences(rows: list[Any], options: argparse.Namespace) -> None:
    """Print rows that have a length each, one on a line."""
    for row in rows if options.all else rows[:_ROWS]:
        show(repr(row) if isinstance(row, str | bytes) else row)
    if len(rows) > _ROWS and not options.all:
        show(f"{len(rows) - _ROWS} more; --all prints them")


def _show_rows(rows: Any, left: int, options: argparse.Namespace, table: Any) -> None:
    """Print rows of a table, or values of a column. left: how many more there are."""
    values = np.atleast_1d(rows)
    if options.json:
        items = items_json(values)
        show_json({"dtype": str(values.dtype), "shape": values.shape, "items": items})
    elif values.dtype.names is not None:
        show(rows_text(values, table.schema))
    else:
        with np.printoptions(threshold=sys.maxsize if options.all else 1000):
            show(rows)
    if left:
        show(f"{left} more; --all prints them")


def rows_of(table: Any, key: Any, is_all: bool) -> tuple[Any, int]:
    """Return rows, or the values of a column; and how many more there are, where no key says which."""
    if isinstance(key, str):
        return table[key][:], 0
    if key is not None and not (isinstance(key, tuple) and not key):
        return table[key], 0
    most = len(table) if is_all else min(len(table), _ROWS)
    return table[:most], len(table) - most


def part_of_file(path: str, key: Any) -> Any:
    """Return a part of the array that a file is; all of it for no key."""
    if row_files.is_rows(path):
        raise ValueError(f"{path} is a file of rows; `coquina query {path} --head 20` prints some")
    if path.lower().endswith(".npy"):
        return np.load(path, mmap_mode="r", allow_pickle=False)[() if key is None else key]
    if ".npz" in path.lower():
        return sources.archived(path)[() if key is None else key]
    file = inputs.opened(path)
    if isinstance(file, coquina.Frame) or (isinstance(file, coquina.PackFile) and file.array is None):
        raise ValueError(f"{path} holds plain chunks, not an array; `coquina info {path}` describes them")
    return file[() if key is None else key]


def key_of(
    place: hdf5_paths.Place, key: Any, split: Callable[[hdf5_paths.Place], Any] = hdf5_paths.with_key
) -> tuple[hdf5_paths.Place, Any]:
    """Return a place without the key in brackets that may follow its name, and the key, from either side."""
    place, inner = split(place)
    if inner is not None and key is not None:
        raise ValueError(f"{place.file}:{place.path}: two keys, {inner!r} and {key!r}")
    return place, inner if key is None else key


def part_of(place: hdf5_paths.Place, key: Any) -> Any:
    """Return a part of a dataset."""
    with hdf5_paths.opened(place) as opened:
        found: Any = opened
        if not hasattr(found, "shape"):
            raise ValueError(
                f"{place.file}:{place.path} is not a dataset; `coquina ls {place.file}` lists them"
            )
        if found.shape is None:
            raise ValueError(f"{place.file}:{place.path} is empty")
        # Strings of variable length are h5py's, which has them as bytes.
        is_text = hasattr(found, "asstr") and found.dtype.metadata == {"vlen": str}
        return (found.asstr() if is_text else found)[() if key is None else key]


def _text(item: Any) -> Any:
    """What JSON does not know, as text."""
    return item.decode("latin-1") if isinstance(item, bytes) else str(item)
