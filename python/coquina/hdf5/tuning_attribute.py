"""The attribute of a dataset that keeps the goal its chunks are tuned for.

In: a dataset of h5py. Out: its goal, or the attribute that states one.
Source: docs/hdf5.md, "Tuning".
Invariant: readers need nothing of it, for Blosc2's chunks say themselves how they are encoded. Beside other
    filters, as other programs copy them, it means nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from coquina import _core
from coquina._core import CorruptError
from coquina.hdf5.attributes import attributes
from coquina.hdf5.untyped import h5a

if TYPE_CHECKING:
    from coquina.tuning_options import Terms

#: The goal as a text, the one that arrays in files keep.
ATTRIBUTE = "coquina_tuning"


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
        raise CorruptError(f"{h5.name}: the attribute {ATTRIBUTE} is not text")
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
