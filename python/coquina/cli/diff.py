"""compare two files, or parts of them: names, shapes, dtypes, attributes and values

Compares arrays, tables, groups or whole files of any formats; compression and chunks are ignored. A file that
holds one table or one array, and nothing else, is compared with another table or array by that. Numbers are
equal within --atol + --rtol * |OTHER|, and NaN equals NaN. Files are read in parts. Exit codes are those of
diff: 0 for equal, 1 for different, 2 for a failure.

Examples:
  coquina diff climate.npy climate.b2nd
  coquina diff climate.npy.blp climate.b2nd --atol 0.1 --json
  coquina diff trades.h5 trades.parquet                 a file with a table alone, that table
  coquina diff before.h5 run.h5 --brief
  coquina diff before.h5:/images/raw run.h5:/images/raw --values-only --rtol 1e-6 --threads 2
"""

from __future__ import annotations

import argparse
from contextlib import ExitStack
from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np

from coquina.arrays.aligning import aligned
from coquina.arrays.regions import boxes
from coquina.cli import arguments, inputs
from coquina.cli.diff_trees import Node, attributes_of, matched, nodes, readable
from coquina.cli.diff_values import EXACT, Difference, Tolerance, are_comparable, are_same
from coquina.cli.table_text import values_json
from coquina.cli.terminal import cell, show, show_json
from coquina.hdf5.references import has_references

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    Found = dict[str, Any]

_WIDTH = 40
#: Items that are pointers, and bytes of a text beside them, perhaps.
_OBJECT_BYTES = 256


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `coquina diff`."""
    parser.add_argument("file", help="a file, FILE.h5:/path, STORE:/path, FILE.npz:NAME, a table's directory")
    parser.add_argument("other", help="the file to compare with")
    parser.add_argument(
        "--rtol", type=_bound, default=0.0, metavar="X", help="relative tolerance, of numbers of OTHER"
    )
    parser.add_argument("--atol", type=_bound, default=0.0, metavar="X", help="absolute tolerance")
    parser.add_argument(
        "--brief", action="store_true", help="report only whether they differ; stop at the first difference"
    )
    parser.add_argument("--values-only", action="store_true", help="ignore dtypes of numbers and attributes")
    parser.add_argument("-a", "--all", action="store_true", help="also compare nodes that PyTables hides")
    arguments.add_plain(parser)
    arguments.add_threads(parser)
    arguments.add_report(parser)
    parser.set_defaults(failed=2)


def _bound(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not (isfinite(value) and value >= 0):
        raise argparse.ArgumentTypeError(f"{text!r}: takes a number, 0 or more")
    return value


def run(options: argparse.Namespace) -> int:
    """Compare, and return the exit code."""
    inputs.check(options.other)
    found: list[Found] = []
    with ExitStack() as stack:
        sides = [nodes(text, options, stack) for text in (options.file, options.other)]
        for one in differences(*matched(sides[0], sides[1]), options):
            found.append(one)
            if options.brief:
                break
    if options.json:
        shown = [_document(one) for one in found]
        show_json({"file": options.file, "other": options.other, "equal": not found, "differences": shown})
    elif not options.quiet:
        show(f"{cell(options.file)} and {cell(options.other)} {'differ' if found else 'are equal'}")
        if found and not options.brief:
            _show(found, options)
    return 1 if found else 0


def differences(
    ours: Mapping[str, Node], theirs: Mapping[str, Node], options: argparse.Namespace
) -> Iterator[Found]:
    """Yield what differs, in the order of paths. what: missing, extra, kind, link, shape and so on."""
    tolerance = Tolerance(options.rtol, options.atol)
    for path in sorted({*ours, *theirs}):
        a, b = ours.get(path), theirs.get(path)
        if a is None or b is None:
            here = a or b
            yield {"path": path, "what": "extra" if b is None else "missing", "kind": here and here.kind}
            continue
        yield from ({"path": path, **one} for one in _node(a, b, tolerance, options.values_only))


def _node(a: Node, b: Node, tolerance: Tolerance, values_only: bool) -> Iterator[Found]:
    if a.kind != b.kind:
        yield {"what": "kind", "a": a.kind, "b": b.kind}
        return
    if a.kind == "link":
        if a.to != b.to:
            yield {"what": "link", "a": a.to, "b": b.to}
        return
    one, other = a.open(), b.open()
    if not values_only:
        yield from _attributes(attributes_of(one), attributes_of(other))
    if a.kind == "array":
        yield from _arrays(one, other, tolerance, values_only)
    elif a.kind == "table":
        yield from _tables(one, other, tolerance, values_only)
    elif a.kind == "sequence":
        yield from _sequences(one, other, tolerance)
    elif a.kind == "datatype" and str(one.dtype) != str(other.dtype):
        yield {"what": "dtype", "a": str(one.dtype), "b": str(other.dtype)}


def _attributes(a: Mapping[str, Any], b: Mapping[str, Any]) -> Iterator[Found]:
    for name in sorted({*a, *b}):
        if name not in b:
            yield {"what": "attribute", "name": name, "a": a[name]}
        elif name not in a:
            yield {"what": "attribute", "name": name, "b": b[name]}
        elif not are_same(a[name], b[name], EXACT):
            yield {"what": "attribute", "name": name, "a": a[name], "b": b[name]}


def _arrays(a: Any, b: Any, tolerance: Tolerance, values_only: bool) -> Iterator[Found]:
    if a.shape is None or b.shape is None or tuple(a.shape) != tuple(b.shape):
        if a.shape is not b.shape:
            yield {"what": "shape", "a": a.shape, "b": b.shape}
        return
    kinds = np.dtype(a.dtype), np.dtype(b.dtype)
    if (kinds[0] != kinds[1] and not values_only) or not are_comparable(*kinds):
        yield {"what": "dtype", "a": str(kinds[0]), "b": str(kinds[1])}
    if not are_comparable(*kinds):
        return
    shape = tuple(a.shape)
    item = max(_OBJECT_BYTES if one.hasobject or one.kind == "T" else one.itemsize for one in kinds)
    found = Difference()
    for region in boxes(shape, tuple(getattr(a, "chunks", None) or (1,) * len(shape)), item):
        start = tuple(part.start for part in region)
        parts = [np.asarray(one[region]) for one in (a, b)]
        if any(map(has_references, kinds)):
            parts = [readable(part, one) for part, one in zip(parts, (a, b), strict=True)]
        found.add(start, parts[0], parts[1], tolerance)
    yield from _values(found)


def _values(found: Difference, **where: Any) -> Iterator[Found]:
    if found.count:
        yield {"what": "values", **where, "difference": found}


def _tables(a: Any, b: Any, tolerance: Tolerance, values_only: bool) -> Iterator[Found]:
    for name in [*a.columns, *(name for name in b.columns if name not in a.columns)]:
        if name not in a.columns or name not in b.columns:
            yield {"what": "column", "name": name, "is_extra": name in a.columns}
    if len(a) != len(b):
        yield {"what": "rows", "a": len(a), "b": len(b)}
    for name in a.columns:
        if name in b.columns:
            yield from _columns(name, a[name], b[name], tolerance, values_only)


def _columns(name: str, a: Any, b: Any, tolerance: Tolerance, values_only: bool) -> Iterator[Found]:
    """Compare the rows that both have."""
    first, second = np.asarray(a[:0]).dtype, np.asarray(b[:0]).dtype
    is_text = {first.kind, second.kind} <= set("SUTO")
    if (first != second and not values_only and not is_text) or not are_comparable(first, second):
        yield {"what": "dtype", "name": name, "a": str(first), "b": str(second)}
    if not are_comparable(first, second):
        return
    found, rows, axes = Difference(), min(len(a), len(b)), np.ndim(a[:0])
    item = max(_OBJECT_BYTES if one.kind in "TO" else one.itemsize for one in (first, second))
    for (region,) in boxes((rows,), (1 << 14,), max(item, 1)):
        start = (region.start, *[0] * (axes - 1))
        found.add(start, np.asanyarray(a[region]), np.asanyarray(b[region]), tolerance)
    yield from _values(found, name=name)


def _sequences(a: Any, b: Any, tolerance: Tolerance) -> Iterator[Found]:
    """Compare values of any kind, one by one: object arrays of stores, arrays of PyTables of many lengths."""
    if len(a) != len(b):
        yield {"what": "rows", "a": len(a), "b": len(b)}
    count = min(len(a), len(b))
    differ = [at for at in range(count) if not are_same(a[at], b[at], tolerance)]
    first = [((at,), a[at], b[at]) for at in differ[:5]]
    yield from _values(Difference(len(differ), count, first))


def _document(found: Found) -> Found:
    """Return a difference as JSON has it."""
    made = {name: values_json(value) if name in ("a", "b") else value for name, value in found.items()}
    if (counted := made.pop("difference", None)) is not None:
        first = [{"at": at, "a": values_json(a), "b": values_json(b)} for at, a, b in counted.first]
        made |= {"differ": counted.count, "of": counted.total, "first": first}
        if counted.largest is not None:
            made |= {"largest": values_json(counted.largest[0]), "largest_at": counted.largest[1]}
    return made


def _show(found: list[Found], options: argparse.Namespace) -> None:
    """Print what differs, a line each, and the first values that do."""
    heads = aligned([[cell(_place(one)), _sentence(one, options)] for one in found])
    for head, one in zip(heads, found, strict=True):
        show(f"  {head}")
        counted = one.get("difference")
        for at, a, b in () if counted is None else counted.first:
            show(f"      {list(at)}: {_value(a)} and {_value(b)}")


def _place(found: Found) -> str:
    name = found.get("name")
    if name is None:
        return found["path"]
    return f"{found['path']} @{name}" if found["what"] == "attribute" else f"{found['path']}[{name!r}]"


def _sentence(found: Found, options: argparse.Namespace) -> str:
    what = found["what"]
    names = cell(options.file), cell(options.other)
    if what in ("extra", "missing"):
        return f"{found['kind']}, only in {names[what == 'missing']}"
    if what == "column":
        return f"column, only in {names[not found['is_extra']]}"
    if what == "values":
        counted: Difference = found["difference"]
        text = f"{counted.count} of {counted.total} values differ"
        if counted.largest is not None:
            text += f", by at most {counted.largest[0]:.6g} at {list(counted.largest[1])}"
        return text
    if what == "attribute" and ("a" not in found or "b" not in found):
        side = "a" if "a" in found else "b"
        return f"{_value(found[side])}, only in {names[side == 'b']}"
    what = "" if what == "attribute" else f"{what} "
    return f"{what}{_value(found['a'])} and {_value(found['b'])}"


def _value(value: Any) -> str:
    """Return a value on one line, all digits of numbers."""
    if isinstance(value, bytes):
        value = value.decode("utf-8", "backslashreplace")
    if value is np.ma.masked:
        return "null"
    text = repr(str(value)) if isinstance(value, str) else str(value)
    text = " ".join(text.split())
    return cell(text if len(text) <= _WIDTH else f"{text[: _WIDTH - 3]}...")
