"""The arrays and attributes of a new index of PyTables, with their exact datatypes.

In: how the index is cut, and of what values it is. Out: datasets without items, in a group that is given.
Source: docs/formats/pytables-indexes.md.
Invariant: PyTables opens what is made here, and goes on writing to it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from coquina.hdf5 import fixed_attributes
from coquina.hdf5.filters import DEFLATE, SHUFFLE
from coquina.hdf5.untyped import h5d, h5p, h5py, h5s, h5t, h5z
from coquina.tables.pytables_index_shape import ARRAYS, VERSION

if TYPE_CHECKING:
    Shapes = dict[str, tuple[int, ...]]

#: zlib at level 1 behind a shuffle, which PyTables takes for indexes if nobody says otherwise.
_FILTERS, _LEVEL = 65793, 1
_BOUND_BYTES = 64 << 10


@dataclass(frozen=True, slots=True)
class Plan:
    """An index that is to be made.

    sizes: as the attributes say. dtype: of the values, in the byte order of the column. is_bits: whether they
    are truth values. is_big: whether the table is big-endian. title: of the index.
    """

    sizes: dict[str, int]
    rows: int
    dtype: np.dtype[Any]
    is_bits: bool
    is_big: bool
    title: str

    @property
    def slice(self) -> int:
        """Rows of a slice."""
        return self.sizes["slicesize"]

    @property
    def chunk(self) -> int:
        """Rows of a chunk."""
        return self.sizes["chunksize"]

    @property
    def slices(self) -> int:
        """Slices that are full."""
        return self.rows // self.slice

    @property
    def rest(self) -> int:
        """Rows behind them."""
        return self.rows % self.slice


def make_arrays(group: Any, plan: Plan) -> None:
    """Make all arrays of an index in a group of h5py, as long as they will be."""
    shapes, chunks = _shapes(plan), _chunks(plan)
    values = _datatype(plan.dtype, plan.is_bits)
    rows = h5t.STD_U64BE if plan.is_big else h5t.STD_U64LE
    for name, kind, title in ARRAYS:
        tid = rows if name.startswith("indices") else values
        made = _dataset(group, tid, (shapes[name], chunks[name]), is_fixed=kind == "LASTROWARRAY")
        group[name] = made
        fixed_attributes.put_text(made, "CLASS", kind.encode())
        fixed_attributes.put_text(made, "TITLE", title.encode())
        fixed_attributes.put_text(made, "VERSION", b"1.1")
        if kind == "LASTROWARRAY":
            fixed_attributes.put_number(made, "nelements", plan.rest, h5t.STD_I64LE)
        else:
            fixed_attributes.put_number(made, "EXTDIM", 0, h5t.STD_I32LE)


def put_attributes(group: Any, plan: Plan) -> None:
    """Say of a group that it is an index, complete and up to date."""
    sizes = plan.sizes
    fixed_attributes.put_text(group, "CLASS", "INDEX")
    fixed_attributes.put_text(group, "VERSION", VERSION)
    fixed_attributes.put_text(group, "TITLE", plan.title)
    numbers: list[tuple[str, int, Any]] = [
        ("FILTERS", _FILTERS, h5t.STD_I64LE),
        ("superblocksize", sizes["superblocksize"], h5t.STD_U64LE),
        ("blocksize", sizes["blocksize"], h5t.STD_U64LE),
        ("slicesize", sizes["slicesize"], h5t.STD_U32LE),
        ("chunksize", sizes["chunksize"], h5t.STD_U32LE),
        ("optlevel", sizes["optlevel"], h5t.STD_I64LE),
        ("reduction", sizes["reduction"], h5t.STD_I64LE),
        ("DIRTY", 0, h5t.STD_I32LE),
    ]
    for name, value, tid in numbers:
        fixed_attributes.put_number(group, name, value, tid)
    fixed_attributes.put_raw(group, "is_csi", h5t.STD_B8LE, b"\1")


def mark_container(group: Any, kind: str, title: str) -> None:
    """Say of a group that it has the indexes of a table, or of the columns below one."""
    fixed_attributes.put_text(group, "CLASS", kind)
    fixed_attributes.put_text(group, "VERSION", "1.0")
    fixed_attributes.put_text(group, "TITLE", title)


def _shapes(plan: Plan) -> Shapes:
    slices, size, chunks = plan.slices, plan.slice, plan.slice // plan.chunk
    every = (slices * chunks,)
    return {
        "sorted": (slices, size),
        "indices": (slices, size),
        "ranges": (slices, 2),
        "mranges": (slices,),
        "bounds": (slices, chunks - 1),
        "abounds": every,
        "zbounds": every,
        "mbounds": every,
        "sortedLR": (size + chunks + 1,),
        "indicesLR": (size,),
    }


def _chunks(plan: Plan) -> Shapes:
    chunk, bound = plan.chunk, max(_BOUND_BYTES // plan.dtype.itemsize, 1)
    return {
        **dict.fromkeys((name for name, _, _ in ARRAYS), (bound,)),
        "sorted": (1, chunk),
        "indices": (1, chunk),
        "ranges": (max(bound // 2, 1), 2),
        "bounds": (1, plan.slice // chunk - 1),
        "sortedLR": (chunk,),
        "indicesLR": (chunk,),
    }


def _datatype(dtype: np.dtype[Any], is_bits: bool) -> Any:
    if is_bits:
        return h5t.STD_B8LE
    if dtype.kind != "S":
        return h5t.py_create(dtype)
    tid = h5t.C_S1.copy()
    tid.set_size(dtype.itemsize)
    return tid


def _dataset(group: Any, tid: Any, sizes: tuple[tuple[int, ...], tuple[int, ...]], *, is_fixed: bool) -> Any:
    """Return a new dataset without a name and items. sizes: its shape, and its chunks."""
    shape, chunks = sizes
    plist = h5p.create(h5p.DATASET_CREATE)
    plist.set_obj_track_times(False)
    plist.set_chunk(chunks)
    plist.set_fill_time(h5d.FILL_TIME_ALLOC)
    plist.set_alloc_time(h5d.ALLOC_TIME_INCR)
    plist.set_filter(SHUFFLE, h5z.FLAG_OPTIONAL, (tid.get_size(),))
    plist.set_filter(DEFLATE, h5z.FLAG_OPTIONAL, (_LEVEL,))
    space = h5s.create_simple(shape, shape if is_fixed else (h5s.UNLIMITED, *shape[1:]))
    return h5py.Dataset(h5d.create(group.id, None, tid, space, plist))
