"""The global heap of an HDF5 file: where the bytes of sequences of variable length are.

In: a file of h5py, and what a dataset has of each sequence: its length, the address of a collection of the
heap, and a number in it. Out: the bytes. Times, bit fields and all else that h5py has no dtype for are bytes
too.
Source: HDF5 File Format Specification 3.0, III.E "Global Heap".
Invariant: addresses and sizes are looked at before they are used; what does not fit is a CorruptError.
"""

from __future__ import annotations

import os
from collections import OrderedDict
from typing import TYPE_CHECKING, Any

import numpy as np

from coquina._core import CorruptError, UnsupportedError
from coquina.hdf5.open_files import OpenFile
from coquina.hdf5.untyped import h5f, h5fd

if TYPE_CHECKING:
    import numpy.typing as npt

#: What a dataset has of a sequence: how many items, and where in the heap they are.
SEQUENCE = np.dtype([("length", "<u4"), ("address", "<u8"), ("index", "<u4")])

_HEAD_BYTES = 16
_COLLECTIONS_MAX = 64


class Heap:
    """The global heap of an open file."""

    def __init__(self, file: Any) -> None:
        """Begin. Raises UnsupportedError for files with addresses of other than 8 bytes."""
        if file.id.get_create_plist().get_sizes() != (8, 8):
            raise UnsupportedError(
                "sequences of variable length in a file with addresses of other than 8 bytes"
            )
        self._file = file
        # The bytes of a collection, and where in them each object is.
        self._collections: OrderedDict[int, tuple[bytes, dict[int, tuple[int, int]]]] = OrderedDict()
        self._image: bytes | None = None

    def sequences(self, places: npt.NDArray[Any], item_bytes: int) -> list[bytes]:
        """Return the bytes of sequences of items. places: `SEQUENCE`s."""
        if self._file.mode != "r":
            self._forget()
        rows = zip(
            places["length"].tolist(), places["address"].tolist(), places["index"].tolist(), strict=True
        )
        return [
            self._object(address, index, length * item_bytes) if length else b""
            for length, address, index in rows
        ]

    def _forget(self) -> None:
        """See what was written since: libhdf5 may have kept it in memory."""
        self._collections.clear()
        self._image = None
        # Within an append session nothing else changes, and a flush would not be that of the session.
        if self._file.id.get_mdc_config().evictions_enabled:
            h5f.flush(self._file.id)

    def _object(self, address: int, index: int, nbytes: int) -> bytes:
        if address not in self._collections:
            self._collections[address] = self._collection(address)
            if len(self._collections) > _COLLECTIONS_MAX:
                self._collections.popitem(last=False)
        content, objects = self._collections[address]
        at, size = objects.get(index, (0, -1))
        if size < nbytes:
            found = "no such object" if size < 0 else f"{size} bytes"
            raise CorruptError(f"object {index} of the heap at {address}: {found}, not {nbytes} bytes")
        return content[at : at + nbytes]

    def _collection(self, address: int) -> tuple[bytes, dict[int, tuple[int, int]]]:
        head = self._bytes(address, _HEAD_BYTES)
        if head[:5] != b"GCOL\x01":
            raise CorruptError(f"heap at {address}: begins with {head[:5]!r}, not with 'GCOL' and version 1")
        content = self._bytes(address, int.from_bytes(head[8:], "little"))
        objects: dict[int, tuple[int, int]] = {}
        at = _HEAD_BYTES
        # A rest that is too small for the head of an object is free.
        while at + _HEAD_BYTES <= len(content):
            index = int.from_bytes(content[at : at + 2], "little")
            size = int.from_bytes(content[at + 8 : at + 16], "little")
            if index == 0:
                break
            if at + _HEAD_BYTES + size > len(content):
                raise CorruptError(f"heap at {address}: object {index} of {size} bytes ends behind the heap")
            objects[index] = at + _HEAD_BYTES, size
            at += _HEAD_BYTES + -(-size // 8) * 8
        return content, objects

    def _bytes(self, address: int, nbytes: int) -> bytes:
        """Return bytes of the file. Raises CorruptError if it does not have so many."""
        opened = OpenFile.of(self._file)
        if opened is not None and opened.journaled is not None:
            found = opened.journaled.read_at(address + self._file.userblock_size, nbytes)
        elif self._file.id.get_access_plist().get_driver() == h5fd.SEC2:
            descriptor = self._file.id.get_vfd_handle()
            start = address + self._file.userblock_size
            has_them = start + nbytes <= os.fstat(descriptor).st_size
            found = os.pread(descriptor, nbytes, start) if has_them else b""
        else:
            image = self._image = self._image or bytes(self._file.id.get_file_image())
            found = image[address : address + nbytes]
        if len(found) != nbytes:
            raise CorruptError(f"heap at {address}: {nbytes} bytes are not in the file")
        return found
