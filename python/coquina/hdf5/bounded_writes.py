"""Writes to datasets that have a bound: what comes is rounded within it, and what is lost is noted.

In: what `Array` writes. Out: the same, by an engine that knows the bound of the attributes.
Invariant: the engine knows the bound before the first write, and the attributes what was reached after each.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from coquina.arrays.creation import asarray
from coquina.hdf5 import quantization
from coquina.hdf5.tuned_writes import TunedWrites
from coquina.tuning_options import DEFAULT_CODEC, DEFAULT_LEVEL

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable

    import numpy.typing as npt

    from coquina.hdf5.describing import Facts
    from coquina.lossy import Lossy, LossyInfo


class BoundedWrites(TunedWrites):
    """The part of `Dataset` that keeps its bound."""

    __slots__ = ()
    _facts: Facts
    _h5: Any
    _is_lossy: bool

    @property
    def lossy(self) -> LossyInfo | None:
        """The bound on what is lost, and what was reached; None if all is kept exactly."""
        return quantization.state(self._h5)

    def promise(self, lossy: Lossy) -> None:
        """Put a new dataset under a bound. Raises ValueError for items that cannot have one."""
        self.handle.set_lossy(lossy.terms)
        self._is_lossy = True
        quantization.put(self._h5, lossy)

    def _has_bound(self) -> bool:
        """Whether writes are under a bound, which the engine is told when it is first asked."""
        known = getattr(self, "_is_lossy", None)
        if known is None:
            known = self._is_lossy = quantization.bind(self._h5, self.handle)
        return known

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
        """Write values to the items of a selection, as near as the bound asks for."""
        self._has_bound()
        is_written = super().write_selection(
            axes, points, points_at, values, offset, threads, uniform=uniform, shape=shape
        )
        self.note_reached()
        return is_written

    def append_items(self, axis: int, len: int, values: npt.NDArray[Any], threads: int | None = None) -> None:
        """Make an axis longer, by items as near as the bound asks for."""
        self._has_bound()
        super().append_items(axis, len, values, threads)
        self.note_reached()

    def rounded(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return values as near as the bound asks for: for who writes them by `exactly`, perhaps often."""
        if not self._has_bound() or not values.size:
            return values
        known = self.handle.lossy()
        assert known is not None
        bound, value, means, reached = known
        chunks = tuple(min(one, length) for one, length in zip(self.chunks, values.shape, strict=True))
        # Fast, as it is not kept; but where sizes are asked for they are those of the usual codec.
        codec, level = (DEFAULT_CODEC, DEFAULT_LEVEL) if bound == "ratio" else ("lz4", 1)
        near = asarray(
            values, chunks=chunks, codec=codec, level=level, lossy={bound: value, "means": "round"}
        )
        made = near.handle.lossy()
        if made is not None:
            self.handle.set_lossy((bound, value, means), quantization.worse(reached, made[3]))
        items = near[...]
        is_nothing = _raw(values) == np.frombuffer(self._facts.fill, f"V{self.itemsize}")
        _raw(items)[is_nothing] = _raw(values)[is_nothing]
        return items

    def note_reached(self) -> None:
        """Let the attributes say what was lost so far."""
        if self._has_bound():
            quantization.put_reached(self._h5, self.handle)

    @contextmanager
    def exactly(self) -> Generator[None]:
        """Write what is rounded already: it stays as it is within the block."""
        known = self.handle.lossy() if self._has_bound() else None
        if known is None:
            yield
            return
        self.handle.set_exact()
        self._is_lossy = False
        try:
            yield
        finally:
            self._is_lossy = True
            self.handle.set_lossy(known[:3], known[3])


def _raw(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return numbers as the bytes that they are: by these NaN equals itself."""
    return np.ascontiguousarray(values).view(f"V{values.dtype.itemsize}")
