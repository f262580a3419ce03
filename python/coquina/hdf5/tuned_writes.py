"""Datasets whose chunks are tuned: an attribute keeps the goal, which the engine is told before it writes.

In: what `Array` writes. Out: the same, by an engine that chooses codec, level and filters for each chunk.
Source: docs/hdf5.md, "Tuning".
Invariant: the engine knows the goal before the first write; readers need nothing of it, for Blosc2's chunks
    say themselves how they are encoded. Beside other filters, as other programs copy them, it means nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from coquina import _core
from coquina._core import CorruptError
from coquina.arrays.array import Array
from coquina.hdf5.attributes import attributes
from coquina.hdf5.filters import BLOSC2
from coquina.hdf5.untyped import h5a
from coquina.tuning_options import info_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy.typing as npt

    from coquina.hdf5.describing import Facts
    from coquina.tuning_options import Terms, TuningInfo

#: The goal as a text, the one that arrays in files keep.
ATTRIBUTE = "coquina_tuning"


def is_tunable(codes: Iterable[int]) -> bool:
    """Whether chunks with these filters may differ in how they are encoded: those of Blosc2 say it."""
    return list(codes) == [BLOSC2]


def is_stated(h5: Any) -> bool:
    """Whether a dataset of h5py has the attribute."""
    return h5a.exists(h5.id, ATTRIBUTE.encode())


def read(h5: Any) -> Terms | None:
    """Return what the attribute of a dataset of h5py says; None if there is none. Raises CorruptError."""
    if not is_stated(h5):
        return None
    try:
        text = attributes(h5)[ATTRIBUTE]
    except (OSError, ValueError, TypeError, UnicodeDecodeError) as error:
        raise CorruptError(f"{h5.name}: the attribute {ATTRIBUTE} cannot be read: {error}") from error
    if isinstance(text, bytes):
        text = text.decode(errors="replace")
    if not isinstance(text, str):
        raise CorruptError(f"{h5.name}: the attribute {ATTRIBUTE} is no text")
    try:
        return _core.tuning_of_text(text)
    except CorruptError as error:
        raise CorruptError(f"{h5.name}: the attribute {ATTRIBUTE}: {error}") from error


def put(h5: Any, terms: Terms | None) -> None:
    """State for what the chunks of a dataset of h5py are tuned; None for not at all."""
    if terms is not None:
        h5.attrs[ATTRIBUTE] = _core.tuning_text(terms)
    elif is_stated(h5):
        del h5.attrs[ATTRIBUTE]


class TunedWrites(Array):
    """The part of `Dataset` that keeps its goal."""

    __slots__ = ()
    _facts: Facts
    _h5: Any
    _is_tuned: bool

    @property
    def tuning(self) -> TuningInfo | None:
        """What chunks are tuned for; None where all are encoded in the same way.

        Raises CorruptError where the attribute is damaged: the dataset can be read then, not written.
        """
        return info_of(self.goal)

    @property
    def tuning_name(self) -> str:
        """What stands behind the name of the filter: "auto", and for what; nothing where all are alike."""
        try:
            found = self.tuning
        except CorruptError:
            return " auto (damaged)"
        return "" if found is None else f" auto ({found})"

    def tune(self, terms: Terms) -> None:
        """Tune a new dataset. Raises ValueError or UnsupportedError for chunks that cannot be."""
        self.handle.set_tuning(terms)
        self._is_tuned = True
        put(self._h5, terms)

    @property
    def goal(self) -> Terms | None:
        """The same as the engine takes it."""
        codes = (code for code, _, _, _ in self._facts.filters)
        return read(self._h5) if is_tunable(codes) and self._facts.layout == "chunked" else None

    def _tune(self) -> None:
        """Tell the engine of the goal, before the first write."""
        if getattr(self, "_is_tuned", False):
            return
        terms = self.goal
        # Where libhdf5 encodes, all chunks are alike: as its filter is set up.
        if terms is not None and self._facts.gear != "whole":
            self.handle.set_tuning(terms)
        self._is_tuned = True

    def write_selection(
        self,
        axes: list[Any],
        points: list[Any] | None,
        points_at: int,
        values: npt.NDArray[Any],
        offset: int = 0,
        threads: int | None = None,
        *,
        uniform: bool = False,
        shape: Iterable[int] | None = None,
    ) -> bool:
        """Write values to the items of a selection."""
        self._tune()
        return super().write_selection(
            axes, points, points_at, values, offset, threads, uniform=uniform, shape=shape
        )

    def append_items(self, axis: int, len: int, values: npt.NDArray[Any], threads: int | None = None) -> None:
        """Make an axis longer by items."""
        self._tune()
        super().append_items(axis, len, values, threads)

    def resize_axes(self, shape: Iterable[int], threads: int | None = None) -> None:
        """Give all axes other lengths; chunks at the edges may be written again."""
        self._tune()
        super().resize_axes(shape, threads)
