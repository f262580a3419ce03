"""Tables as the command sees them: where they are, their metadata, and their rows.

In: what stands on the command line, or nodes of HDF5 files. Out: tables, facts for people and programs.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Literal, cast

from coquina.arrays.info import human
from coquina.cli import hdf5_paths, inputs
from coquina.cli.terminal import cell
from coquina.folder_members import TABLE, has_member
from coquina.hdf5.attributes import attributes
from coquina.tuning_options import tuning_text

if TYPE_CHECKING:
    from collections.abc import Generator

    from coquina.tables.table import Table

_HIDDEN = ("_i_", "_p_")
_MARKS = ("TABLE", "dataframe")


def is_directory(path: str) -> bool:
    """Whether this is the directory of a table."""
    return has_member(path, TABLE)


def is_marked(h5: Any) -> bool:
    """Whether a group or a dataset of h5py says that it is a table."""
    marks: list[Any] = [attributes(h5).get("CLASS"), attributes(h5).get("encoding-type")]
    return any(
        (mark.decode("utf-8", "replace") if isinstance(mark, bytes) else mark) in _MARKS
        for mark in marks
        if isinstance(mark, str | bytes)
    )


def is_hidden(path: str) -> bool:
    """Whether PyTables does not show what has this path."""
    return any(part.startswith(_HIDDEN) for part in path.split("/"))


def is_table(found: Any) -> bool:
    """Whether what was found is a table; nothing of tables is imported to know it."""
    kind = cast("Any", type(found))
    # Tables of Arrow have groups too.
    return hasattr(kind, "group_by") and hasattr(kind, "batches")


@contextmanager
def opened(text: str, mode: Literal["r", "r+"] = "r") -> Generator[Table]:
    """Open the table that is named: FILE.h5, FILE.h5:/table, or a directory. Raises ValueError for others."""
    from coquina.tables.opening import open_table

    place = hdf5_paths.place(text)
    if place is None and not is_directory(text):
        raise inputs.unknown(text, "tables: FILE.h5, FILE.h5:/table, STORE:/table, or the directory of one")
    file, name = (text, None) if place is None else place
    with open_table(file, None if name == "/" else name, mode) as table:
        yield table


def facts(table: Table) -> dict[str, Any]:
    """Return what is known of a table without reading rows: sizes, and its columns by their paths."""
    info = table.info
    stored: dict[str, Any] = info.pop("columns", {})
    for name in ("path", "name", "nrows", "rows", "skipped"):
        info.pop(name, None)
    nbytes, cbytes = info.pop("nbytes"), info.pop("cbytes")
    goal, encodings = info.pop("tuning", None), info.pop("encodings", None)
    codec = {} if goal is None else {"codec": tuning_text(goal, encodings)}
    columns: dict[str, Any] = {}
    for path, column in table.layout.columns.items():
        about: dict[str, Any] = {"kind": column.kind, "dtype": _dtype_name(column.dtype)}
        if column.shape:
            about["shape"] = list(column.shape)
        if column.is_nullable:
            about["nullable"] = True
        sizes = stored.get(path, {})
        columns[path] = about | {key: sizes[key] for key in ("nbytes", "cbytes") if key in sizes}
        if sizes.get("lossy") is not None:
            columns[path]["lossy"] = asdict(sizes["lossy"])
        if sizes.get("tuning") is not None:
            columns[path]["codec"] = tuning_text(sizes["tuning"], sizes["encodings"])
    return {
        "rows": table.nrows,
        **info,
        **codec,
        "nbytes": nbytes,
        "cbytes": cbytes,
        "cratio": nbytes / cbytes if cbytes else None,
        **({"indexes": indexes} if (indexes := _indexes(table)) else {}),
        "columns": columns,
    }


def _indexes(table: Table) -> list[str]:
    """Return the indexes of a table, and of what kind each is."""
    return [f"{name} ({one.kind})" for name, one in table.indexes.items()]


def _dtype_name(dtype: Any) -> str:
    return "text" if dtype.kind in "TO" else str(dtype)


def bound_text(lossy: dict[str, Any]) -> str:
    """Return the error bound of numbers that may lose something."""
    name, value = next((name, one) for name, one in lossy["error_bound"].items() if one is not None)
    return f"{name.replace('_', ' ')} {value:g}"


def columns_text(columns: dict[str, Any]) -> str:
    """Return columns as lines that line up: name, kind, dtype, sizes."""
    lines: list[list[str]] = []
    for name, about in columns.items():
        dtype = about["dtype"] + str(about.get("shape", "")) + "?" * about.get("nullable", False)
        kind = "" if about["kind"] == "number" else about["kind"]
        size = f"{human(about['nbytes'])} in {human(about['cbytes'])}" if about.get("cbytes") else ""
        bound = bound_text(about["lossy"]) if "lossy" in about else ""
        lines.append([cell(one) for one in (name, dtype, kind, size, bound, about.get("codec", ""))])
    if not lines:
        return ""
    widths = [max(map(len, cells)) for cells in zip(*lines, strict=True)]
    padded = [
        "  ".join([f"{cell:{width}}" for cell, width in zip(line, widths, strict=True)]) for line in lines
    ]
    return "\n".join([f"  {line}".rstrip() for line in padded])


def of_file(top: Any) -> list[str]:
    """Return the names of the tables in a file or group of h5py, but for hidden ones."""
    found: list[str] = []

    def look(name: str, h5: Any) -> None:
        if not is_hidden(name) and is_marked(h5):
            found.append(f"/{name}")

    if is_marked(top):
        return []
    top.visititems(look)
    return found


def only_of(top: Any) -> str | None:
    """Return the name of the table that a file of h5py has and nothing else; None for another file."""
    names = of_file(top)
    if len(names) != 1:
        return None
    others: list[str] = []

    def look(name: str, h5: Any) -> None:
        is_within = f"/{name}/".startswith(f"{names[0]}/") or is_hidden(name)
        if not is_within and not hasattr(h5, "keys"):
            others.append(name)

    top.visititems(look)
    return None if others else names[0]
