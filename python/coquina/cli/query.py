"""print the rows of a table that meet a condition, or aggregates of them

The condition is one word for the shell: put it in quotes, and text within it in others. It uses names of
columns with and, or, not, comparisons, arithmetic, functions, x in (1, 2), x is null. Blocks that cannot
match are skipped.

Examples:
  coquina query trades.h5 "price > 10 and sym == 'ABC'" --columns time,price --head 20
  coquina query trades.h5:/trades "volume > 50" --agg "count,mean(price),max(price)" --threads 2
  coquina query trades.h5 --by sym --agg "count,sum(volume)" --json
  coquina query trades.h5 "price > 10 and volume < 5" --explain
  coquina query trades.h5 "price > 10" --head 3 --format json    one JSON object a line
  coquina query trades.h5 "price > 10" --order-by price --descending -o dear.csv
  coquina query trades.h5 "price > 10" --columns sym,price -o dear.h5    or .parquet, .arrow, .jsonl, a folder
  coquina query trades.csv "price > 10" --agg "count,mean(price)"        files of rows, too
"""

from __future__ import annotations

import argparse
import io
import os
import re
import shlex
import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from coquina.arrays.info import human
from coquina.cli import arguments, convert_tables, hdf5_paths, row_files
from coquina.cli.table_text import items_json, rows_text, values_json
from coquina.cli.terminal import cell, json_text, show, show_json

if TYPE_CHECKING:
    from coquina.tables.layout import Schema

_HEAD = 20
#: Aggregates of a column that need no groups.
_OF_ALL = ("sum", "mean", "min", "max", "std", "var")
_CALL = re.compile(r"\s*(\w+)\s*\((.*)\)\s*")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `coquina query`."""
    parser.add_argument(
        "file", help="FILE.h5, FILE.h5:/table, the folder of a table, STORE:/table, .parquet, .csv"
    )
    parser.add_argument(
        "condition", nargs="?", help="which rows, as \"price > 10 and sym == 'ABC'\" (default: all)"
    )
    parser.add_argument(
        "--columns", type=_names, help="columns to print: a,b,c; of columns within columns a/b"
    )
    parser.add_argument(
        "--head",
        type=int,
        metavar="N",
        help=f"only the first N rows (default: {_HEAD} are printed, and all are written)",
    )
    parser.add_argument("--order-by", type=_names, metavar="COLUMNS", help="sort by these columns")
    parser.add_argument("--descending", action="store_true", help="sort in descending order")
    parser.add_argument(
        "--agg",
        help="aggregates to print: count, sum(x), mean(x), min, max, std, var; "
        "with --by also first, last, any, all, nunique",
    )
    parser.add_argument("--by", type=_names, metavar="COLUMNS", help="group by these columns")
    parser.add_argument("--explain", action="store_true", help="explain how the query runs and what it skips")
    parser.add_argument(
        "--format", choices=("table", "csv", "arrow", "json"), default="table", help="json: one row per line"
    )
    parser.add_argument(
        "-o", "--output", help="write the rows to this file; the format is that of its extension, or --format"
    )
    arguments.add_threads(parser)
    arguments.add_force(parser)
    arguments.add_json(parser)


def meant(options: argparse.Namespace, left: list[str]) -> str:
    """Return the call that is meant where words are left over: a condition without quotes."""
    return shlex.join(["coquina", "query", options.file, " ".join([options.condition or "", *left]).strip()])


def run(options: argparse.Namespace) -> None:
    """Run the query."""
    if options.output is not None:
        _check_output(options)
    if options.json and options.format in ("csv", "arrow"):
        raise ValueError(f"--json: prints JSON, and --format {options.format} does not; use one of the two")
    with row_files.opened(options.file, *_wanted(options)) as table:
        rows = table if options.condition is None else table.where(options.condition)
        if options.explain:
            _explain(rows, options)
        elif options.agg or options.by:
            _aggregate(rows, options)
        else:
            _print(rows, options)


def _check_output(options: argparse.Namespace) -> None:
    """Raise ValueError for an output that takes no rows, FileExistsError for one that would be replaced."""
    if options.format == "json" or options.json or options.explain:
        raise ValueError(f"--output {options.output}: needs rows; leave out --json and --explain")
    if options.agg and not options.by:
        raise ValueError(f"--output {options.output}: needs rows; add --by, or leave out --agg")
    if options.format == "table":
        target = hdf5_paths.new_place(options.output, "/table")
        if target is not None:
            hdf5_paths.check_new(target, is_forced=options.force)
            return
        if not row_files.is_writable(options.output):
            raise ValueError(f"{options.output}: rows are written to {row_files.KINDS}")
    if os.path.exists(options.output) and not options.force:
        raise FileExistsError(f"{options.output} exists; --force replaces it")


def _wanted(options: argparse.Namespace) -> list[str | None]:
    """Return all that names columns; nothing where all columns are wanted."""
    if not options.columns and not options.agg and not options.by:
        return []
    lists = (options.columns, options.by, options.order_by)
    return [options.condition, options.agg, *(",".join(one) for one in lists if one)]


def _names(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _explain(rows: Any, options: argparse.Namespace) -> None:
    found = rows.explain()
    if options.json:
        _document({"explain": found.to_dict()}, options)
        return
    if options.format == "json":
        show_json(found.to_dict(), str)
    else:
        show(found)


def _document(result: dict[str, Any], options: argparse.Namespace) -> None:
    """Print the one document of --json."""
    asked = {"file": options.file, "condition": options.condition}
    show_json(asked | result, str)


def _aggregate(rows: Any, options: argparse.Namespace) -> None:
    wanted = [_aggregate_of(part) for part in _parts(options.agg or "count")]
    if options.by:
        named: dict[str, Any] = {
            name: kind if column is None else (column, kind) for name, column, kind in wanted
        }
        groups = rows.group_by(options.by).agg(**named)
        if options.order_by:
            groups = np.sort(groups, order=options.order_by)
            groups = groups[::-1] if options.descending else groups
        if options.output is not None:
            _store(groups[: options.head], options)
            return
        _show(groups[: options.head], len(groups), options)
        return
    grouped = [f"{kind}({column})" for _, column, kind in wanted if column and kind not in _OF_ALL]
    if grouped:
        known = ", ".join(_OF_ALL)
        raise ValueError(f"--agg {grouped[0]}: needs --by; without it there are count, {known}")
    made = {
        name: rows.count() if column is None else getattr(rows, kind)(column) for name, column, kind in wanted
    }
    if options.json:
        _document({"aggregates": {name: values_json(value) for name, value in made.items()}}, options)
        return
    if options.format == "json":
        show_json({name: values_json(value) for name, value in made.items()})
        return
    if options.format != "table":
        raise ValueError(f"--format {options.format}: needs rows; --agg without --by prints table or json")
    width = max(map(len, made))
    for name, value in made.items():
        show(f"{name:{width}}  {cell(value)}")


def _parts(text: str) -> list[str]:
    """Cut at commas outside of brackets."""
    parts, depth = [""], 0
    for sign in text:
        depth += (sign == "(") - (sign == ")")
        if sign == "," and not depth:
            parts.append("")
        else:
            parts[-1] += sign
    return [part.strip() for part in parts if part.strip()]


def _aggregate_of(text: str) -> tuple[str, str | None, str]:
    """Return name, column and kind of an aggregate such as `mean(price)` or `count`."""
    from coquina.tables.grouping import AGGREGATES

    if text == "count":
        return "count", None, "count"
    match = _CALL.fullmatch(text)
    if match is None or match[1] not in AGGREGATES:
        known = [name for name in AGGREGATES if name != "count"]
        raise ValueError(f"--agg {text!r}: write count, or {', '.join(known)} of a column: {known[0]}(price)")
    return re.sub(r"\W+", "_", f"{match[1]}_{match[2]}").strip("_"), match[2].strip(), match[1]


def _print(rows: Any, options: argparse.Namespace) -> None:
    if options.columns:
        rows = rows.select(options.columns)
    if options.order_by:
        rows = rows.order_by(options.order_by, options.descending)
    if options.output is not None and options.format == "table":
        _store(rows if options.head is None else rows.head(options.head), options)
        return
    if options.format in ("csv", "arrow"):
        rows = rows if options.head is None else rows.head(options.head)
        _write(rows, options)
        return
    if options.json or options.format == "json":
        rows = rows if options.head is None else rows.head(options.head)
        _json_document(rows, options) if options.json else _json_lines(rows)
        return
    count = rows.count()
    most = _HEAD if options.head is None else options.head
    _show(rows.head(most).to_numpy(), count, options, rows.schema)


def _store(rows: Any, options: argparse.Namespace) -> None:
    """Write rows to a file of the kind that its extension says, some at a time."""
    names = (
        "codec",
        "level",
        "filters",
        "layout",
        "chunks",
        "goal",
        "for_",
        "bandwidth",
        "calibrate",
        "profile",
    )
    said = convert_tables.convert(rows, argparse.Namespace(**dict.fromkeys(names), **vars(options)))
    _report(options.output, said["rows"] if said else len(rows))


def _report(output: str, rows: int) -> None:
    """Print what was written: where, how many rows, and the size of a file."""
    size = f", {human(os.path.getsize(output))}" if os.path.isfile(output) else ""
    show(f"{cell(output)}: {rows} row{'s' * (rows != 1)}{size}")


def _show(rows: Any, count: int, options: argparse.Namespace, schema: Schema = ()) -> None:
    if options.json:
        _document({"groups": [_row(rows.dtype.names, row) for row in items_json(rows)]}, options)
        return
    if options.format == "json":
        show_json([_row(rows.dtype.names, row) for row in items_json(rows)])
        return
    if options.format != "table":
        raise ValueError(f"--format {options.format}: groups are printed as table or json")
    show(rows_text(rows, schema))
    show(f"{count} row{'s' * (count != 1)}" + (f", the first {len(rows)} shown" if count > len(rows) else ""))


def _row(names: Any, cells: list[Any]) -> dict[str, Any]:
    return dict(zip(names, cells, strict=True))


def _json_lines(rows: Any) -> None:
    """Print one JSON object a line, so that no reader needs all of them."""
    for batch in rows.batches():
        for row in items_json(batch):
            show_json(_row(batch.dtype.names, row))


def _json_document(rows: Any, options: argparse.Namespace) -> None:
    """Print all rows as one document, some at a time, so that they are never all in memory."""
    asked = json_text({"file": options.file, "condition": options.condition})
    show(asked[:-1], end=', "rows": [')
    between = ""
    for batch in rows.batches():
        for row in items_json(batch):
            show(between + json_text(_row(batch.dtype.names, row)), end="")
            between = ", "
    show("]}")


def _write(rows: Any, options: argparse.Namespace) -> None:
    from coquina.tables import files_out
    from coquina.tables.arrow import reader
    from coquina.tables.arrow_module import pyarrow

    is_shown = options.output is None and sys.stdout.isatty()
    if is_shown and options.format == "arrow":
        raise ValueError(
            "--format arrow: prints bytes, which a terminal cannot show; add --output FILE, or a pipe"
        )
    target: Any = io.BytesIO() if is_shown else options.output or sys.stdout.buffer
    count = 0
    if options.format == "csv":
        count = files_out.to_csv(rows, target)
        if is_shown:
            show(target.getvalue().decode("utf-8", "backslashreplace"), end="")
    else:
        source = reader(rows)
        with pyarrow("ipc").new_stream(target, source.schema) as writer:
            for batch in source:
                writer.write_batch(batch)
                count += len(batch)
    if options.output is not None:
        _report(options.output, count)
