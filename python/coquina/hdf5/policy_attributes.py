"""The attributes of a dataset that say how the engine encodes its chunks: within which bound, for which goal.

In: a dataset of h5py, under h5py's lock. Out: bound and goal as the engine takes them.
The engine reads them before the first write to a dataset and writes them with the chunks, through
`_core.Hdf5Library(dataset, attributes=policy_attributes)`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from coquina.hdf5 import chunk_encoding, quantization, tuning_attribute
from coquina.lossy import reached_of

if TYPE_CHECKING:
    from coquina.hdf5.quantization import Reached
    from coquina.tuning_options import Terms


def read_bound(h5: Any) -> tuple[tuple[str, float, str | None], Reached] | None:
    """Return the bound and what was reached; None if nothing that is understood is stated."""
    known = quantization.state(h5)
    return None if known is None else (known.error_bound.terms, reached_of(known))


def write_reached(h5: Any, reached: Reached) -> None:
    """State what was reached, with what other handles of the dataset have noted."""
    quantization.put_reached(h5, reached)


def read_goal(h5: Any) -> Terms | None:
    """Return what chunks are tuned for. Raises CorruptError for an attribute that says nothing of it.

    So it does for one that is to say how chunks are encoded: others must not come in between.
    """
    chunk_encoding.check(h5)
    return tuning_attribute.read(h5)


def write_goal(h5: Any, terms: Terms | None) -> None:
    """State what chunks are tuned for; None for nothing."""
    tuning_attribute.put(h5, terms)
