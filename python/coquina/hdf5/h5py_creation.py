"""Datasets that are made as h5py makes them, by its options; and those that are required, or like others.

In: what `Group.create_dataset` and its kin were given. Out: a dataset of ours, filled by us.
Invariant: as with h5py, chunks have no filter but those that are asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from coquina import _core
from coquina.arrays.writes import wrote
from coquina.foreign_words import H5PY_FILTERS
from coquina.hdf5.creation import content, datatype, missing
from coquina.hdf5.filters import COMPRESSORS
from coquina.hdf5.places import inside
from coquina.hdf5.untyped import h5py
from coquina.keyword_hints import near_word
from coquina.storage_options import H5pyOptions

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

#: Options of ours that are h5py's too.
_COMMON = ("chunks", "maxshape", "fillvalue", "fletcher32")


def is_as_h5py(shape: Any, dtype: Any, data: Any, options: Mapping[str, Any]) -> bool:
    """Whether h5py alone makes such a dataset: by options of its own, of a named type, or without items."""
    is_empty = (shape is None and data is None) or isinstance(data, h5py.Empty)
    is_theirs = not H5pyOptions.__annotations__.keys().isdisjoint(options)
    return is_empty or is_theirs or isinstance(dtype, h5py.Datatype)


def create_as_h5py(
    group: Any,
    name: str | None,
    shape: Any,
    dtype: Any,
    data: Any,
    options: Mapping[str, Any],
    fill: Callable[[Any, Any], None],
) -> Any:
    """Return a new dataset with h5py's options. fill: puts values into a dataset of ours.

    Raises TypeError for options that are only ours, and what h5py raises.
    """
    ours = options.keys() - H5pyOptions.__annotations__ - set(_COMMON)
    if ours:
        theirs = ", ".join(sorted(options.keys() & H5pyOptions.__annotations__.keys()))
        raise TypeError(
            f"create_dataset: {', '.join(sorted(ours))} cannot be combined with options of h5py ({theirs}); "
            "use codec=, filters= and level=, or those of h5py"
        )
    if shape is None and dtype is None and data is None:
        raise TypeError("create_dataset: needs a shape, a dtype or data")
    compression = options.get("compression")
    if isinstance(compression, str) and compression not in H5PY_FILTERS:
        known = ", ".join(map(repr, H5PY_FILTERS))
        raise ValueError(f"compression {compression!r}: h5py has {known}; {_meant(compression)}")
    h5 = inside(group)
    plain: Any = dtype.dtype if dtype is not None and isinstance(dtype, h5py.Datatype) else dtype
    made = None if data is None or isinstance(data, h5py.Empty) else content(shape, plain, data)
    if made is None or datatype(made.dtype) is None:
        return group._nodes.node(h5.create_dataset(name, shape, dtype, data, **options))
    first = None if name is None else missing(h5, name)
    dataset = group._nodes.node(h5.create_dataset(name, made.shape, dtype or made.dtype, **options))
    # There may have been another dataset at its place in the file.
    wrote(dataset)
    try:
        fill(dataset, made.values)
    except BaseException:
        if first is not None:
            del h5[first]
        raise
    return dataset


def _meant(compression: str) -> str:
    """Return which of our options stands for a compression that h5py does not know."""
    if compression in _core.codecs():
        return f"did you mean codec={compression!r}?"
    near = near_word(compression, COMPRESSORS)
    return f"did you mean filter={near!r}?" if near else "codec= and filter= choose others"


def required(group: Any, name: str, shape: Any, dtype: Any, exact: bool, options: Mapping[str, Any]) -> Any:
    """Return the dataset of a name, which is made if there is none; see `Group.require_dataset`."""
    if name not in group:
        return group.create_dataset(name, shape, dtype, **options)
    found = group.dataset(name)
    wanted = (shape,) if isinstance(shape, int) else tuple(shape)
    if found.shape != wanted and options.get("maxshape", ()) != found.maxshape:
        raise TypeError(f"{found.name}: its shape is {found.shape}, not {wanted}")
    is_right = found.dtype == dtype if exact else np.can_cast(dtype, found.dtype)
    if not is_right:
        raise TypeError(f"{found.name}: its dtype is {found.dtype}, not {np.dtype(dtype)}")
    return found


def create_like(group: Any, name: str | None, other: Any, changes: Mapping[str, Any]) -> Any:
    """Return a new dataset that is stored as another one; see `Group.create_dataset_like`."""
    h5 = inside(other)
    options = {"shape": h5.shape, "dtype": h5.dtype, "dcpl": h5.id.get_create_plist(), **changes}
    if h5.maxshape != h5.shape:
        options.setdefault("maxshape", h5.maxshape)
    return group.create_dataset(name, **options)
