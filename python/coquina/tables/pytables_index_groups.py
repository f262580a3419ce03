"""Where the indexes of PyTables are: groups beside a table, and the arrays in them.

In: a table in the rows layout. Out: groups of h5py, and their datasets as arrays.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from coquina.hdf5.places import inside, node_in
from coquina.hdf5.untyped import h5py

if TYPE_CHECKING:
    from collections.abc import Iterable

    from coquina.tables.rows import RowsLayout


def arrays_of(layout: RowsLayout, h5: Any, names: Iterable[str]) -> dict[str, Any]:
    """Return datasets of h5py's group as arrays; h5py's own where there is none of ours."""
    parent = layout.dataset.parent
    return {name: node_in(parent, f"{h5.name}/{name}") for name in names}


def group_of(layout: RowsLayout) -> Any:
    """Return h5py's group of all indexes of a table; None if there is none."""
    h5 = inside(layout.dataset)
    above, _, name = (h5.name or "").rpartition("/")
    return below(h5.file["/"], f"{above}/_i_{name}") if name else None


def below(group: Any, path: str) -> Any:
    """Return the group at a path, through links within the file only; None if there is none."""
    for part in path.split("/"):
        if not part:
            continue
        if not isinstance(group.get(part, getlink=True), h5py.HardLink):
            return None
        group = group[part]
        if not isinstance(group, h5py.Group):
            return None
    return group
