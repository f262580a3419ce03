"""list the groups, datasets, tables and links of an HDF5 file, and how they are stored

Nothing is decoded. The ratio is the uncompressed size divided by the size in the file. --all also lists the
datasets inside tables, and nodes that PyTables hides.

Examples:
  coquina ls run.h5
  coquina ls run.h5 --depth 1
  coquina ls run.h5 --sort size                         the largest first, with their paths
  coquina ls run.h5 -v                                  attributes, too
  coquina ls run.h5:/detector --json
  coquina ls trades.h5 --all
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

from coquina import CoquinaError
from coquina.arrays.info import human
from coquina.cli import arguments, attribute_text, hdf5_paths, store_paths, tables
from coquina.cli.inputs import unknown
from coquina.cli.terminal import cell, show, show_json
from coquina.hdf5 import tuning_attribute
from coquina.hdf5.dataset_info import described, dtype_name
from coquina.hdf5.describing import filters_of
from coquina.hdf5.filters import is_blosc2_alone
from coquina.hdf5.trees import Walk
from coquina.tuning_options import info_of

if TYPE_CHECKING:
    import argparse

_NAMES_WIDTH = 60


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `coquina ls`."""
    parser.add_argument("file", help="an HDF5 file, a store (.b2z, .b2d, .b2e), or FILE:/path of a group")
    parser.add_argument(
        "-a", "--all", action="store_true", help="also list the datasets inside tables, and indexes"
    )
    parser.add_argument("-v", "--verbose", action="store_true", help="also list attributes and their values")
    parser.add_argument(
        "--sort",
        choices=("size", "name"),
        help="size: largest first, without groups; name: within groups",
    )
    parser.add_argument("--depth", type=arguments.count, metavar="N", help="at most N levels of groups")
    arguments.add_json(parser)


def run(options: argparse.Namespace) -> None:
    """List the file."""
    place = hdf5_paths.place(options.file)
    if place is not None:
        with hdf5_paths.opened(place) as top:
            rows = shown(top, options.all, verbose=options.verbose)
            h5 = getattr(top, "h5", top)
            is_group = options.verbose and hasattr(h5, "keys") and not tables.is_table(top)
            attrs = attribute_text.values(h5.attrs, h5) if is_group else {}
    elif (place := store_paths.place(options.file)) is not None:
        with store_paths.opened(place) as top:
            rows = store_paths.listed(top, verbose=options.verbose)
            attrs = attribute_text.values(top.attrs) if options.verbose and hasattr(top, "attrs") else {}
    else:
        raise unknown(options.file, "HDF5 files and stores of python-blosc2")
    rows = _sorted(rows, options.sort, options.depth)
    if options.json:
        for row in rows:
            if "attributes" in row:
                row["attributes"] = attribute_text.document(row["attributes"])
        own = {"attributes": attribute_text.document(attrs)} if options.verbose else {}
        show_json({"file": place.file, "path": place.path, **own, "objects": rows})
        return
    show(f"{cell(place.file)}:{cell(place.path)}")
    for line in attribute_text.lines(attrs):
        show(f"  @{line}")
    _show(rows, is_tree=options.sort != "size")


def _sorted(rows: list[dict[str, Any]], by: str | None, depth: int | None) -> list[dict[str, Any]]:
    """Return the rows that are wanted, in their order."""
    if depth is not None:
        rows = [row for row in rows if row["path"].count("/") <= depth]
    if by == "size":
        sized = [row for row in rows if "cbytes" in row]
        return sorted(sized, key=lambda row: (-row["cbytes"], row["path"]))
    return rows if by is None else sorted(rows, key=lambda row: row["path"].split("/"))


def _show(rows: list[dict[str, Any]], *, is_tree: bool) -> None:
    """Print the rows. is_tree: names below those of their groups, and not paths."""
    lines = [[cell(text) for text in _cells(row, is_tree=is_tree)] for row in rows]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)][:-1]
    for cells, row in zip(lines, rows, strict=True):
        *kept, last = cells
        columns = [f"{cell:{width}}" for cell, width in zip(kept, widths, strict=True)]
        show("  ".join([*columns, last]).rstrip())
        margin = "  " * (row["path"].count("/") if is_tree else 1)
        for line in attribute_text.lines(row.get("attributes", {})):
            show(f"{margin}  @{line}")


def shown(top: Any, is_all: bool, *, verbose: bool = False) -> list[dict[str, Any]]:
    """Return a row of facts for each object, table and link below what was found at a place.

    is_all: also list the datasets inside tables, and what PyTables hides. verbose: with attributes.
    """
    rows: list[dict[str, Any]] = []
    inside: list[str] = []  # the columns tables that were met: what is below them
    h5: Any = getattr(top, "h5", top)
    if not is_all and tables.is_table(top):
        return [_table_facts(top, "/" + h5.name.rpartition("/")[2], h5)]
    for entry in Walk(h5):
        if not is_all and (entry.name.startswith(tuple(inside)) or tables.is_hidden(entry.name)):
            continue
        table = _table_of(top, entry)
        row = _facts(entry) if table is None else _table_facts(table, entry.name, entry.object)
        if verbose and "attrs" in row:
            plain = entry.object.attrs if table is None else attribute_text.of_table(table)
            row["attributes"] = attribute_text.values(plain, entry.object)
        rows.append(row)
        if table is None:
            continue
        inside.append(f"{entry.name}/")
    return rows


def _table_of(top: Any, entry: Any) -> Any:
    """Return the table that an entry is; None if it is none."""
    if entry.kind not in ("group", "dataset") or not tables.is_marked(entry.object):
        return None
    found = top if tables.is_table(top) else top[entry.name.strip("/")]
    return found if tables.is_table(found) else None


def _table_facts(table: Any, path: str, h5: Any) -> dict[str, Any]:
    about = tables.facts(table)
    names = ("layout", "rows", "nbytes", "cbytes", "cratio")
    head = {"path": path, "kind": "table", "attrs": len(h5.attrs)}
    return {**head, **{name: about[name] for name in names}, "columns": list(table.columns)}


def listed(top: Any) -> list[dict[str, Any]]:
    """Return a row of facts for each object and link below `top`, a group or dataset of h5py."""
    return [_facts(entry) for entry in Walk(top)]


def _facts(entry: Any) -> dict[str, Any]:
    facts: dict[str, Any] = {"path": entry.name, "kind": entry.kind}
    if entry.kind == "again":
        return {**facts, "to": entry.to.decode("utf-8", "backslashreplace")}
    if entry.kind == "soft":
        return {**facts, "to": entry.to.decode("utf-8", "backslashreplace")}
    if entry.kind == "external":
        return {**facts, "to": ":".join(part.decode("utf-8", "backslashreplace") for part in entry.to)}
    facts["attrs"] = len(entry.object.attrs)
    if entry.kind == "group":
        return {**facts, "members": len(entry.object)}
    if entry.kind == "type":
        return {**facts, "dtype": dtype_name(entry.object)}
    return facts | stored(entry.object)


def stored(dataset: Any) -> dict[str, Any]:
    """Return how a dataset of h5py is stored."""
    shape = dataset.shape
    nbytes = 0 if shape is None else prod(shape) * dataset.id.get_type().get_size()
    cbytes = dataset.id.get_storage_size()
    rows = filters_of(dataset.id.get_create_plist())
    return {
        "shape": shape,
        "dtype": dtype_name(dataset),
        "chunks": dataset.chunks,
        "maxshape": None if shape is None else dataset.maxshape,
        "filters": [described(name, values) for _, name, _, values in rows],
        **({} if (goal := _tuning(dataset, rows)) is None else {"tuning": goal}),
        "nbytes": nbytes,
        "cbytes": cbytes,
        "cratio": nbytes / cbytes if cbytes else None,
    }


def _tuning(dataset: Any, rows: list[tuple[int, str, bool, tuple[int, ...]]]) -> str | None:
    """Return what the chunks of a dataset of h5py are tuned for; None if they are all encoded alike."""
    try:
        terms = tuning_attribute.read(dataset) if is_blosc2_alone(row[0] for row in rows) else None
    except CoquinaError as error:
        return str(error)
    return None if terms is None else str(info_of(terms))


def _cells(row: dict[str, Any], *, is_tree: bool = True) -> list[str]:
    """Return name, datatype, shape, storage and size, or what there is of it."""
    depth = row["path"].count("/") - 1
    name = "  " * depth + row["path"].rpartition("/")[2] if is_tree else row["path"]
    kind = row["kind"]
    if "to" in row:
        return [name, "", "", "", f"{'=' if kind == 'again' else '->'} {row['to']}"]
    if kind == "group":
        return [f"{name}/", "", "", "", ""]
    if kind == "table":
        names = ", ".join(row["columns"])
        names = names if len(names) <= _NAMES_WIDTH else f"{names[:_NAMES_WIDTH]}..."
        return [name, "table", f"{row['rows']} rows", f"{row['layout']}: {names}", _size(row)]
    if kind == "type":
        return [name, row["dtype"], "", "", "datatype"]
    shape = "no items" if row["shape"] is None else str(tuple(row["shape"]))
    pipeline = " + ".join(row["filters"]) + (f" auto ({row['tuning']})" if "tuning" in row else "")
    how = f"chunks {tuple(row['chunks'])} {pipeline}" if row["chunks"] else ""
    return [name, row["dtype"], shape, how.strip(), _size(row)]


def _size(row: dict[str, Any]) -> str:
    size = human(row["nbytes"])
    if row.get("chunks", True) and row["cbytes"]:
        size = f"{size} in {human(row['cbytes'])}, {row['cratio']:.2f}x"
    return size
