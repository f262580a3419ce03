"""A group or file as a tree of text: `print(f.tree())`; and which names are shown of what a group holds.

In: a group. Out: `Tree`, a line for each object and link, with shape, dtype, chunks and size of datasets. The
columns of a table stand in its line.
Source of hidden names: PyTables calls indexes `_i_TABLE`; ours begin with `_p_coquina`. Users have others.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from coquina.arrays.info import human
from coquina.hdf5.attributes import attributes
from coquina.hdf5.dataset_info import dtype_name
from coquina.hdf5.places import inside
from coquina.hdf5.trees import Walk
from coquina.hdf5.untyped import h5t

if TYPE_CHECKING:
    from collections.abc import Iterator

    from coquina.hdf5.groups import Group
    from coquina.hdf5.trees import Entry

_HIDDEN = ("_i_", "_p_coquina")


def is_hidden(name: str) -> bool:
    """Whether a name is that of an index."""
    return name.startswith(_HIDDEN)


def is_hidden_path(path: str) -> bool:
    """Whether something of this path is hidden, or is in what is hidden."""
    return "_" in path and any(is_hidden(part) for part in path.split("/"))


@dataclass(frozen=True, slots=True)
class Tree:
    """What a group holds, as text: `print` it, or let a notebook show it."""

    text: str

    def __str__(self) -> str:
        """Return the lines."""
        return self.text

    def __repr__(self) -> str:
        """Return the lines, for interpreters."""
        return self.text


def group_tree(group: Group, depth: int | None, *, show_hidden: bool) -> Tree:
    """Return the tree of a group; see `Group.tree`."""
    top = inside(group)
    below: dict[str, list[tuple[str, str]]] = {"": []}
    for entry in _shown(Walk(top), show_hidden=show_hidden):
        parent, _, name = entry.name.rpartition("/")
        if depth is None or entry.name.count("/") <= depth:
            below.setdefault(parent, []).append((entry.name, f"{name}{_facts(entry)}"))
    return Tree("\n".join([str(group.name), *_lines(below)]))


def _shown(walk: Walk, *, show_hidden: bool) -> Iterator[Entry]:
    """Yield the entries that are shown: without the inside of tables, and without hidden ones."""
    tables: list[str] = []
    for entry in walk:
        if not show_hidden and (is_hidden_path(entry.name) or entry.name.startswith(tuple(tables))):
            continue
        if entry.kind == "group" and _is_table(entry.object):
            tables.append(f"{entry.name}/")
        yield entry


def _lines(below: dict[str, list[tuple[str, str]]]) -> Iterator[str]:
    """Yield the lines of all entries. Without recursion: a file may nest groups thousands deep."""
    left = [(iter(_marked(below[""])), "")]
    while left:
        entries, margin = left[-1]
        found = next(entries, None)
        if found is None:
            left.pop()
            continue
        name, text, is_last = found
        yield f"{margin}{'└── ' if is_last else '├── '}{text}"
        left.append((iter(_marked(below.get(name, []))), margin + ("    " if is_last else "│   ")))


def _marked(entries: list[tuple[str, str]]) -> list[tuple[str, str, bool]]:
    """Return the entries of a group, each with whether it is the last one."""
    return [(name, text, number == len(entries)) for number, (name, text) in enumerate(entries, 1)]


def _facts(entry: Entry) -> str:
    if entry.kind in ("soft", "external", "again"):
        to = entry.to if isinstance(entry.to, bytes) else b":".join(entry.to)
        return f" -> {to.decode('utf-8', 'backslashreplace')}"
    if entry.kind == "group":
        return f"  table: {', '.join(_columns(entry.object))}" if _is_table(entry.object) else "/"
    if entry.kind == "type":
        return f"  datatype {dtype_name(entry.object)}"
    dataset = entry.object
    if attributes(dataset).get("CLASS") in ("TABLE", b"TABLE") and (names := _fields(dataset)):
        return f"  table, {len(dataset)} rows: {', '.join(names)}"
    chunks = "" if dataset.chunks is None else f", chunks {dataset.chunks}"
    return f"  {dataset.shape} {dtype_name(dataset)}{chunks}, {human(dataset.id.get_storage_size())}"


def _fields(dataset: Any) -> list[str]:
    """Return the names of the fields of records, also of those that NumPy does not know."""
    kind = dataset.id.get_type()
    if not isinstance(kind, h5t.TypeCompoundID) or not dataset.shape:
        return []
    return [kind.get_member_name(at).decode("utf-8", "replace") for at in range(kind.get_nmembers())]


def _is_table(h5: Any) -> bool:
    """Whether a group says that it is a table in columns."""
    mark = attributes(h5).get("encoding-type")
    return mark in ("dataframe", b"dataframe")


def _columns(h5: Any) -> list[str]:
    """Return the names of the columns of a table in columns."""
    order = attributes(h5).get("column-order")
    if order is None:
        return [name for name in h5 if not is_hidden(name)]
    return [name.decode("utf-8", "replace") if isinstance(name, bytes) else str(name) for name in order]
