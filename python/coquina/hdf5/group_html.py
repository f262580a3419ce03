"""A group or file for notebooks: what is in it, and how it is stored.

In: a group. Out: HTML, a line for each object and link below it, without its data. Of many the first ones
are shown.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

from coquina.arrays.info import human
from coquina.hdf5.dataset_info import dtype_name
from coquina.hdf5.group_tree import is_hidden_path
from coquina.hdf5.places import inside
from coquina.hdf5.trees import Walk
from coquina.html import caption_html, rows_html

if TYPE_CHECKING:
    from coquina.hdf5.groups import Group
    from coquina.hdf5.trees import Entry

_ENTRIES_MAX = 50
_HEAD = ("name", "is", "shape", "dtype", "chunks", "in the file")


def group_html(group: Group) -> str:
    """Return what a notebook shows of a group or a file."""
    if not group:
        return caption_html(group)
    walk = (entry for entry in Walk(inside(group)) if not is_hidden_path(entry.name))
    shown = [_row(entry) for entry in islice(walk, _ENTRIES_MAX)]
    more = ", the first ones of more" if next(walk, None) is not None else ""
    return rows_html(_HEAD, shown) + caption_html(f"{group!r}{more}")


def _row(entry: Entry) -> tuple[str, ...]:
    depth = entry.path.count(b"/") - 1
    name = "\N{NO-BREAK SPACE}" * 4 * depth + entry.name.rpartition("/")[2]
    if entry.kind in ("soft", "external", "again"):
        to = entry.to if isinstance(entry.to, bytes) else b":".join(entry.to)
        return (name, f"link to {to.decode('utf-8', 'backslashreplace')}", "", "", "", "")
    if entry.kind == "dataset":
        return (name, "dataset", *_stored(entry.object))
    members = f", {len(entry.object)} members" if entry.kind == "group" else ""
    return (name, entry.kind + members, "", "", "", "")


def _stored(dataset: Any) -> tuple[str, str, str, str]:
    chunks = "" if dataset.chunks is None else str(dataset.chunks)
    return str(dataset.shape), dtype_name(dataset), chunks, human(dataset.id.get_storage_size())
