"""New tables of records, as PyTables makes them: the dataset without rows, its attributes, the groups above.

In: columns, and how they are to be stored. Out: a dataset of h5py under its name.
Source: docs/formats/tables-rows.md.
Invariant: what is made here, PyTables opens, queries, appends to and indexes. What it has nothing for is
    refused with what to do instead.
"""

from __future__ import annotations

from math import gcd
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from coquina._core import UnsupportedError
from coquina.hdf5 import checksums, chunk_encoding, fixed_attributes, tuning_attribute
from coquina.hdf5.creation import first_missing, link
from coquina.hdf5.filters import ChunkShape, as_set, encoding_of, pipeline
from coquina.hdf5.item_types import stored_dtype
from coquina.hdf5.places import inside
from coquina.hdf5.sessions import Session
from coquina.hdf5.untyped import h5d, h5p, h5py, h5s, h5t, h5z
from coquina.tables import rows_attributes as attributes
from coquina.tables.rows_datatypes import check_names, compound, default_row, fill_dtype
from coquina.tables.rows_types import breadth_first, read_schema

if TYPE_CHECKING:
    from coquina.hdf5.groups import Group
    from coquina.storage_options import Storage
    from coquina.tables.layout import Schema
    from coquina.tables.rows_types import Field

CHUNK_BYTES = 2 << 20
#: At most, where many rows are expected.
_CHUNK_BYTES_MAX = 8 << 20
#: Where chunks are as many as 2 to this power they get larger, up to this size.
_CHUNKS_LOG2, _CHUNK_BYTES_LAST = 27, 1 << 30
BLOCK_BYTES = 64 << 10
#: PyTables has no others of ours.
FILTERS = ("blosc2", "blosc", "gzip", "none")
#: libhdf5 keeps a fill value in the header of a dataset, where a message has at most 64 KiB.
_FILL_BYTES_MAX = 60_000
#: What the header of a Blosc2 chunk can say of the size of an item.
_TYPESIZE_MAX = 255


def make_dataset(
    group: Group, name: str, schema: Schema, title: str, storage: Storage, expected_rows: int | None = None
) -> tuple[Any, int]:
    """Make a table without rows, and return h5py's dataset and the rows of a block.

    expected_rows: about how many are to come, if somebody said it. Groups on the way are made. Raises
    ValueError if the name exists already, or for options that do not fit; UnsupportedError for
    columns that PyTables has nothing for.
    """
    h5 = inside(group)
    if name in h5:
        raise ValueError(f"create_table: {name!r} exists already")
    check_names(schema)
    tid = compound(schema)
    dtype = stored_dtype(tid)
    if dtype is None:  # Of what `compound` makes nothing is unknown.
        raise UnsupportedError("a table of these columns has no dtype")
    fields = read_schema(tid, dtype, {}, name)[1]
    defaults = default_row(schema, fields, dtype)
    plist, block_rows = _plist(dtype.itemsize, storage, expected_rows)
    _set_fill(plist, schema, fields, defaults)
    space = h5s.create_simple((0,), (h5s.UNLIMITED,))
    dataset = h5py.Dataset(h5d.create(h5.id, None, tid, space, plist))
    records = ChunkShape((), dtype.itemsize, typesize_of(dtype.itemsize), 0, dtype)
    if (encoding := encoding_of(storage, records)) is not None:
        if encoding.is_lossy:
            raise ValueError(f"{encoding}: records are kept exactly")
        chunk_encoding.put(dataset.id, encoding)
    if storage.checksums is False and storage.compressor == "blosc2":
        checksums.forgo(dataset.id)
    _put_attributes(dataset, schema, title, (fields, defaults))
    tuning_attribute.put(dataset, storage.tuning)
    _link(h5, name, dataset)
    # There may have been another dataset at its place in the file.
    session, place = Session.at(dataset)
    session.changes(place).happened()
    return dataset, block_rows


def cut_rows(
    row_bytes: int, chunk_rows: int | None = None, expected_rows: int | None = None
) -> tuple[int, int]:
    """Return how many rows a chunk has, and a block: powers of two, of about 2 MiB and at most 64 KiB.

    expected_rows: a chunk has about an eighth of them then, from one block to 8 MiB, or more where there
    would be more than 2**27 chunks. Rows are never cut: a large one is a block and a chunk of its own.
    """
    if chunk_rows is not None and not 1 <= chunk_rows < 1 << 32:
        raise ValueError(f"chunk_rows {chunk_rows}: takes 1 and more, below 2**32")
    block = _power(BLOCK_BYTES // row_bytes)
    chunk = chunk_rows or max(block, _power(CHUNK_BYTES // row_bytes))
    if chunk_rows is None and expected_rows is not None:
        wanted = 1 << max(expected_rows // 8, 1).bit_length()
        # More rows than arrays have chunks for: larger ones, as long as the format has them.
        least = min(2 * _power(expected_rows >> _CHUNKS_LOG2), _power(_CHUNK_BYTES_LAST // row_bytes))
        chunk = max(block, min(wanted, _power(_CHUNK_BYTES_MAX // row_bytes)), least)
    return chunk, min(block, chunk)


def _power(rows: int) -> int:
    """Return the largest power of two that is at most `rows`, or 1."""
    return 1 << max(rows.bit_length() - 1, 0)


def typesize_of(row_bytes: int) -> int:
    """Return the size of the items that bytes are shuffled by: a row's, or 8, 4 or 2 that divide it, or 1.

    Blosc2 has one byte to store it.
    """
    return row_bytes if row_bytes <= _TYPESIZE_MAX else gcd(row_bytes, 8)


def _plist(row_bytes: int, storage: Storage, expected_rows: int | None) -> tuple[Any, int]:
    """Return how the dataset is to be created, but for the fill value, and the rows of a block."""
    if storage.tuning is not None and not storage.is_blosc2_alone:
        raise ValueError("codec='auto' is for chunks whose only filter is 'blosc2'")
    if storage.compressor not in FILTERS:
        raise ValueError(f"filter {storage.filter!r}: PyTables reads tables with {', '.join(FILTERS)}")
    (wanted,) = cast("Any", storage.chunks or (None,))
    chunk_rows, block_rows = cut_rows(row_bytes, wanted, expected_rows)
    shape = ChunkShape((chunk_rows,), row_bytes, typesize_of(row_bytes), block_rows * row_bytes)
    plist = h5p.create(h5p.DATASET_CREATE)
    plist.set_obj_track_times(False)
    plist.set_chunk((chunk_rows,))
    plist.set_alloc_time(h5d.ALLOC_TIME_INCR)
    for slot in pipeline(storage, shape):
        flags = h5z.FLAG_OPTIONAL if slot[1] else h5z.FLAG_MANDATORY
        plist.set_filter(slot[0], flags, as_set(slot))
    return plist, block_rows


def _set_fill(plist: Any, schema: Schema, fields: list[Field], defaults: Any) -> None:
    """Make rows that nobody wrote those of the defaults, where h5py can tell libhdf5 so."""
    plist.set_fill_time(h5d.FILL_TIME_ALLOC)
    if not any(defaults.tobytes()) or defaults.dtype.itemsize > _FILL_BYTES_MAX:
        return
    dtype = fill_dtype(schema, fields, defaults)
    if dtype is None:
        return
    fill = np.zeros((), dtype)
    for field in fields:
        value = field.of(defaults)
        if any(np.asarray(value).tobytes()):
            field.of(fill)[...] = value
    plist.set_fill_value(fill)
    plist.set_fill_time(h5d.FILL_TIME_IFSET)


def _put_attributes(dataset: Any, schema: Schema, title: str, filled: tuple[list[Field], Any]) -> None:
    fixed_attributes.put_text(dataset, "CLASS", "TABLE")
    fixed_attributes.put_text(dataset, "VERSION", attributes.TABLE_VERSION)
    fixed_attributes.put_text(dataset, "TITLE", title)
    for at, spec in enumerate(schema):
        fixed_attributes.put_text(dataset, f"FIELD_{at}_NAME", spec.name)
    fields = {field.path: field for field in filled[0]}
    for at, path in enumerate(breadth_first(schema)):
        _put_default(dataset, f"FIELD_{at}_FILL", fields[path], filled[1])
    attributes.put_rows(dataset, 0)
    attributes.put_times(dataset, schema)


def _put_default(dataset: Any, name: str, field: Field, row: Any) -> None:
    """Set the attribute that tells a column's default: one number or string of the machine's byte order."""
    dtype = field.dtype.base
    single = np.asarray(field.of(row)).reshape(-1)[:1].astype(dtype.newbyteorder("="))
    if field.spec.time == "time64":
        raw = int(single[0])
        micros = ((raw & 0xFFFF_FFFF) ^ 0x8000_0000) - 0x8000_0000
        single = np.array([(raw >> 32) + micros / 1e6])
    if dtype.kind == "S":
        fixed_attributes.put_text(dataset, name, bytes(single[0]))
        return
    tid = h5t.STD_B8LE if field.is_bits else h5t.py_create(single.dtype)
    fixed_attributes.put_raw(dataset, name, tid, single.tobytes())


def _link(h5: Any, name: str, dataset: Any) -> None:
    """Give the dataset its name; the file and new groups on the way get what PyTables knows them by."""
    attributes.mark_file(h5)
    above = name.rpartition("/")[0]
    first = first_missing(h5, name)
    try:
        if above and above not in h5:
            made = h5.create_group(above)
            while made.name != "/" and not made.attrs:
                attributes.mark_group(made)
                made = made.parent
        link(h5, name, dataset)
    except BaseException:
        if first in h5:
            del h5[first]
        raise
