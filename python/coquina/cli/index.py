"""list, create, refresh or drop the indexes of a table

An index finds rows with values in a range without a scan, and returns rows in the order of its column.
Conditions use indexes automatically; `coquina query --explain` shows whether.

Examples:
  coquina index trades.h5                               what there is
  coquina index trades.h5 --create time
  coquina index trades.h5:/trades --create "price * volume" --name turnover --kind light
  coquina index trades.h5 --refresh                     index what was appended or changed
  coquina index trades.h5 --compact price
  coquina index trades.h5 --drop price
"""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

from coquina.arrays.aligning import aligned
from coquina.arrays.info import human
from coquina.cli import arguments, tables
from coquina.cli.terminal import cell

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from coquina.tables.table import Table

#: Words that people write before the file, and the options that stand for them.
_VERBS = {
    "list": "",
    "ls": "",
    "add": "--create",
    "create": "--create",
    "refresh": "--refresh",
    "drop": "--drop",
    "remove": "--drop",
}
KINDS = ("full", "partial", "light", "zones", "pytables")
_MEMORY = 1 << 30
#: What the bar shows is bytes: those of keys.
_ROW_BYTES = 8


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `coquina index`."""
    parser.add_argument("file", help="FILE.h5, FILE.h5:/table, or the folder of a table")
    task = parser.add_mutually_exclusive_group()
    task.add_argument("--create", metavar="COLUMN", help="index a column, or an expression of columns")
    task.add_argument("--drop", metavar="NAME", help="remove an index")
    task.add_argument(
        "--refresh",
        metavar="NAME",
        nargs="?",
        const="",
        help="index new and changed rows, for one index or all",
    )
    task.add_argument(
        "--compact", metavar="NAME", nargs="?", const="", help="refresh, and merge the index into one run"
    )
    parser.add_argument(
        "--kind",
        choices=KINDS,
        default="full",
        help="kind of the new index: full (default) also gives orders; partial needs less memory; light is "
        "smaller; zones is tiny, for rows nearly in order; pytables is for PyTables too",
    )
    parser.add_argument("--name", help="name of the new index (default: its column)")
    parser.add_argument(
        "--memory-limit",
        type=arguments.size,
        default=_MEMORY,
        metavar="SIZE",
        help="memory for sorting (default: 1G)",
    )
    arguments.add_threads(parser)
    arguments.add_report(parser)


def meant(options: argparse.Namespace, left: list[str]) -> str:
    """Return the call that is meant by `index FILE COLUMN` or `index create FILE COLUMN`."""
    words = [options.file, *left]
    verb = next((word for word in words[:2] if word in _VERBS), None)
    if verb is not None:
        words.remove(verb)
    option = "--create" if verb is None else _VERBS[verb]
    rest = [option, *words[1:2]] if option else []
    return shlex.join(["coquina", "index", words[0], *rest])


def run(options: argparse.Namespace) -> None:
    """Do what is asked, and list the indexes that there are then."""
    is_change = any(
        one is not None for one in (options.create, options.drop, options.refresh, options.compact)
    )
    with tables.opened(options.file, "r+" if is_change else "r") as table:
        _change(table, options)
        found = [one.info for one in table.indexes.values()]
    arguments.report({"file": options.file, "indexes": found}, _listed(found), options)


def _change(table: Table, options: argparse.Namespace) -> None:
    if options.create is not None:
        with arguments.progress(_ROW_BYTES * table.nrows, "index", options) as progress:
            table.create_index(
                options.create,
                kind=options.kind,
                memory_limit=options.memory_limit,
                name=options.name,
                progress=None if progress is None else _by_rows(progress),
            )
    elif options.drop is not None:
        table.drop_index(options.drop)
    elif options.refresh is not None:
        table.refresh_index(options.refresh or None)
    elif options.compact is not None:
        wanted = [options.compact] if options.compact else list(table.indexes)
        for name in wanted:
            if name not in table.indexes:
                raise KeyError(f"there is no index {name!r}; there is {', '.join(table.indexes) or 'none'}")
            table.indexes[name].compact()


def _by_rows(progress: Callable[[int], object]) -> Callable[[int, int], None]:
    """Return what is told of rows, for a bar of bytes."""

    def told(done: int, total: int) -> None:
        del total
        progress(_ROW_BYTES * done)

    return told


def _listed(found: list[dict[str, Any]]) -> str:
    if not found:
        return "no index"
    lines: list[list[str]] = [["name", "of", "kind", "rows", "unindexed", "runs", "size", ""]]
    for one in found:
        counts = [str(one.get(key, "")) for key in ("rows", "unindexed_rows", "runs")]
        size = human(one["nbytes"]) if one.get("nbytes") else ""
        reason = "" if one.get("is_usable", True) else f"not used: {one.get('reason', '')}"
        texts = (one["name"], one.get("column", ""), one["kind"], *counts, size, reason)
        lines.append([cell(text) for text in texts])
    return "\n".join(aligned(lines))
