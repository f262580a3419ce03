"""Where the references of a file lead, and how the same is said in a copy of it.

In: values that h5py read, with references in them. Out: the same with references into the copy; or with text
in place of references, so that both files can be compared.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from coquina.hdf5.references import mapped, pointed_at
from coquina.hdf5.untyped import h5o, h5r, h5s

if TYPE_CHECKING:
    from collections.abc import Callable

    from coquina.hdf5.trees import Walk


class Targets:
    """The objects of two walks, of a file and of its copy; both must have been made."""

    def __init__(self, old: Walk, new: Walk) -> None:
        """Made when all objects are there."""
        self._old, self._new = old, new

    def pointed(self, value: Any) -> Any:
        """Return a value of the file with references into the copy; null ones to what it does not have."""

        def point(reference: Any) -> Any:
            path = _path(reference, self._old)
            return pointed_at(reference, self._old.top.file, self._new.top.file, path)

        return mapped(value, point)

    def told(self, value: Any) -> Any:
        """Return a value of the file with text in place of references."""
        return mapped(value, _teller(self._old))

    def told_of_copy(self, value: Any) -> Any:
        """Return a value of the copy with text in place of references."""
        return mapped(value, _teller(self._new))


def _path(reference: Any, walk: Walk) -> bytes | None:
    if not reference:
        return None
    found = h5r.dereference(reference, walk.top.file.id)
    return None if found is None else walk.paths.get(h5o.get_info(found).addr)


def _teller(walk: Walk) -> Callable[[Any], str]:
    def tell(reference: Any) -> str:
        path = _path(reference, walk)
        if path is None:
            return "nowhere"
        if reference.typecode == h5r.OBJECT:
            return path.hex()
        return f"{path.hex()} {selection(h5r.get_region(reference, walk.top.file.id))}"

    return tell


def selection(space: Any) -> str:
    """Return text that tells what is selected in a dataspace."""
    kind = space.get_select_type()
    if kind == h5s.SEL_POINTS:
        return str(space.get_select_elem_pointlist().tolist())
    if kind == h5s.SEL_HYPERSLABS:
        if space.is_regular_hyperslab():
            return str(space.get_regular_hyperslab())
        return str(space.get_select_hyper_blocklist().tolist())
    return f"{kind} {space.shape}"
