"""Reads every chunk of every leaf of a store, and tells what is damaged.

In: an open store, or a table that is all of one. Out: how much was read, and what of it cannot be.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from coquina import _core
from coquina._core import CoquinaError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from coquina.stores.contents import Contents


@dataclass(slots=True)
class Checked:
    """What was read. bad: the key of a leaf, the number of a chunk or None for all of it, and the error."""

    nleaves: int = 0
    nchunks: int = 0
    bad: list[tuple[str, int | None, Exception]] = field(default_factory=list[Any])


def check(contents: Contents, threads: int | None = None) -> Checked:
    """Return what was read of all leaves, and what is damaged or cannot be decoded here."""
    checked = Checked()
    for key, leaf in sorted(contents.top.leaves().items()):
        checked.nleaves += 1
        try:
            handle = leaf.open(verify=True)
            checked.nchunks += handle.stats()["nchunks"]
            checked.bad += [(key, number, error) for number, error in _bad_chunks(handle, threads)]
        except CoquinaError as error:
            checked.bad.append((key, None, error))
    return checked


def _bad_chunks(handle: Any, threads: int | None) -> Iterator[tuple[int, Exception]]:
    if isinstance(handle, _core.ArrayHandle):
        for number, _, error in handle.verify(threads=threads):
            yield number, error
        return
    for number in range(handle.stats()["nchunks"]):
        try:
            handle.chunk(number)
        except CoquinaError as error:
            yield number, error
