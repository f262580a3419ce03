"""copy the undamaged part of an array, or of a table directory, to a new one

Damaged chunks of an array become NaN or zeros, rows of a table nulls, NaN, zeros or empty text.

Examples:
  coquina repair climate.b2nd good.b2nd
  coquina repair climate.b2nd good.b2nd --force --json
  coquina repair trades_table good_table
  coquina repair run.b2z:/raw/images good.b2nd
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import coquina
from coquina.cli import arguments, store_paths, tables
from coquina.cli.terminal import cell
from coquina.cli.verify import facts, open_or_recover
from coquina.quoting import quoted

if TYPE_CHECKING:
    import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `coquina repair`."""
    parser.add_argument("file", help="the array, also in a store (FILE:/path), or the directory of a table")
    parser.add_argument("output", help="the new file or directory")
    arguments.add_threads(parser)
    arguments.add_force(parser)
    arguments.add_report(parser)


def run(options: argparse.Namespace) -> None:
    """Repair the array, or the table that is a directory."""
    if tables.is_directory(options.file):
        _repair_directory(options)
        return
    if (store := store_paths.place(options.file)) is not None:
        # An archive has a checksum of all of an array, which says that nothing is good.
        with store_paths.opened(store, verify=False) as node:
            _repair_array(node, None, options)
        return
    array, error = open_or_recover(options.file)
    if error and not options.json:
        print(quoted(f"{error}; going on with what is left"), file=sys.stderr)
    _repair_array(array, error, options)


def _repair_array(array: Any, error: coquina.CoquinaError | None, options: argparse.Namespace) -> None:
    if not isinstance(array, coquina.Array):
        raise ValueError(f"{options.file} is not an array of Blosc2: repair takes one .b2nd file at a time")
    nchunks = array.info.nchunks
    with arguments.bars(options):
        damage = array.repair(options.output, overwrite=options.force, threads=options.threads)
    sentence = f"{cell(options.output)}: {nchunks - len(damage)} of {nchunks} chunks saved"
    lines = [sentence, *(f"  lost: {cell(one)}" for one in damage)]
    result = {"output": options.output, "nchunks": nchunks, "damage": [facts(one) for one in damage]}
    result["error"] = str(error) if error else None
    arguments.report(result, "\n".join(lines), options)


def _repair_directory(options: argparse.Namespace) -> None:
    from coquina.tables.directory_checking import repair_directory

    with arguments.bars(options):
        lost = repair_directory(options.file, options.output, overwrite=options.force)
    lines = [f"{cell(options.output)}: {'all' if not lost else 'not all'} rows saved"]
    damage: list[dict[str, object]] = []
    for one in lost:
        rows = None if one.rows is None else [one.rows.start, one.rows.stop]
        where = "all rows" if one.rows is None else f"rows {one.rows.start} to {one.rows.stop}"
        lines.append(f"  lost: column {cell(one.column)}, {where}: {cell(one.error)}")
        damage.append({"column": one.column, "rows": rows, "error": str(one.error)})
    result = {"output": options.output, "damage": damage, "error": None}
    arguments.report(result, "\n".join(lines), options)
