"""Facts about a dataset: how it is stored, and how its chunks are accessed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from coquina._core import CorruptError
from coquina.arrays.info import ArrayInfo, asked
from coquina.hdf5.untyped import h5py
from coquina.quoting import quoted
from coquina.tuning_options import tuning_facts

if TYPE_CHECKING:
    from coquina.arrays.array import Array
    from coquina.hdf5.datasets import Dataset

_COUNTERS = ("chunks_direct", "chunks_fetched", "chunks_unchanged", "boxes_whole", "table_rows", "fallbacks")


@dataclass(frozen=True, slots=True, repr=False)
class DatasetInfo(ArrayInfo):
    """How a dataset is stored; the state when `d.info` was read.

    In addition to the fields of `ArrayInfo` (`codec`, `level` and `filters` are those of a copy):

    name: in the file. layout: "chunked", "contiguous", "compact" or "virtual".
    maxshape: None along an unlimited axis.
    pipeline: id, name and parameters of each HDF5 filter, in the order of writing.
    encoding: the encoding of new Blosc2 chunks, if the parameters of the filter cannot express it.
    access, reason: the access path to the chunks, and the reason if it is not "direct".
    chunks_direct, chunks_fetched, boxes_whole: counts of this handle: chunks read directly, chunks and boxes
        read by libhdf5.
    chunks_unchanged: how often decoded blocks were reused without asking libhdf5, because nothing had
        changed.
    table_rows: the number of chunks in the table of chunks, if there is one. fallbacks: how often a slower
        access path was used.

    >>> import numpy as np
    >>> import coquina as cq
    >>> f = cq.hdf5.File.in_memory()
    >>> d = f.create_dataset("x", data=np.arange(10), maxshape=(None,), chunks=4)
    >>> d.info.layout, d.info.nchunks
    ('chunked', 3)
    """

    name: str | None
    layout: str
    maxshape: tuple[int | None, ...]
    pipeline: list[tuple[int, str, tuple[int, ...]]]
    encoding: str | None
    access: str
    reason: str | None
    chunks_direct: int
    chunks_fetched: int
    chunks_unchanged: int
    boxes_whole: int
    table_rows: int
    fallbacks: int

    @classmethod
    def of(cls, array: Array) -> DatasetInfo:
        """Ask a dataset."""
        dataset: Dataset = array  # pyright: ignore[reportAssignmentType]
        stats: dict[str, Any] = dataset.handle.stats()
        stats |= {name: stats.get(name) or 0 for name in _COUNTERS}
        stats |= {"cbytes": dataset.cbytes, "access": dataset.access, "reason": dataset.access_reason}
        return cls(
            shape=dataset.shape,
            dtype=dataset.dtype,
            chunks=dataset.chunks,
            blocks=dataset.blocks,
            path=dataset.path,
            name=dataset.name,
            layout=dataset.layout,
            maxshape=dataset.maxshape,
            pipeline=dataset.filters,
            encoding=_encoding_name(dataset),
            lossy=dataset.lossy,
            **tuning_facts(dataset),
            **stats,
            **asked(dataset),
        )

    def __str__(self) -> str:
        """One line for each fact."""
        lines = [line for line in ArrayInfo.__str__(self).splitlines() if line.split()[0] not in _HIDDEN]
        facts = {
            "name": self.name,
            "maxshape": self.maxshape,
            "filters": " + ".join(described(name, values) for _, name, values in self.pipeline) or "none",
            **({} if self.encoding is None else {"encoding": self.encoding}),
            **({} if self.tuning is None else {"tuning": self.tuning_text}),
            "layout": self.layout,
            "access": self.access if self.reason is None else f"{self.access} ({self.reason})",
        }
        return "\n".join([*lines, *(f"{name:10}  {quoted(value)}" for name, value in facts.items())])

    __repr__ = __str__


def _encoding_name(dataset: Dataset) -> str | None:
    try:
        return None if dataset.encoding is None else str(dataset.encoding)
    except CorruptError:
        return "damaged"


#: Facts of other arrays that an HDF5 dataset does not have.
_HIDDEN = {"codec", "filters", "stored", "dead", "checksums", "statistics"}


def described(name: str, values: tuple[int, ...]) -> str:
    """Return a filter with the one parameter that says something by itself."""
    at = {"gzip": 0, "zstd": 0, "blosc": 4, "blosc2": 4}.get(name)
    return name if at is None or len(values) <= at else f"{name} {values[at]}"


def dtype_name(found: Any) -> str:
    """Return the dtype of a dataset or named datatype, for people."""
    try:
        dtype = found.dtype
    except (TypeError, ValueError):
        return "not known to NumPy"
    if h5py.check_string_dtype(dtype) is not None:
        return "str" if dtype.kind == "O" else str(dtype)
    if h5py.check_ref_dtype(dtype) is not None:
        return "reference"
    if dtype.names is not None:
        return f"{len(dtype.names)} fields"
    inner = h5py.check_vlen_dtype(dtype)
    return str(dtype) if inner is None else f"{inner}, of any length"
