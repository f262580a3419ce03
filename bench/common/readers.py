"""Readers of the formats the real sets come in: small ones, for the files at hand, with no library but NumPy.

In: paths. Out: arrays in native byte order; tables as structured arrays.
Sources: Met Office UM documentation paper F03 (PP), the NIfTI-1 header, teem's NRRD definition, DICOM PS3.5.
"""

from __future__ import annotations

import csv
import gzip
import io
import struct
import zipfile
from pathlib import Path

import numpy as np

from bench.common.packages import UnavailableError


def read_pp(paths: list[Path], quantity: int) -> np.ndarray:
    """Met Office PP files: the unpacked float32 fields of one quantity (STASH code), stacked in order."""
    fields = []
    for raw in (path.read_bytes() for path in paths):
        at = 0
        while at < len(raw):
            header = np.frombuffer(raw, ">i4", 45, at + 4)
            at += 8 + struct.unpack_from(">i", raw, at)[0]
            rows, cols = int(header[17]), int(header[18])
            if header[41] == quantity and header[20] == 0:
                fields.append(np.frombuffer(raw, ">f4", rows * cols, at + 4).reshape(rows, cols))
            at += 8 + struct.unpack_from(">i", raw, at)[0]
    return np.stack(fields).astype(np.float32)


def read_hdf5(path: Path, name: str) -> np.ndarray:
    """One dataset of an HDF5 or netCDF-4 file."""
    try:
        import h5py
    except ImportError:
        raise UnavailableError(f"{path.name}: reading it needs h5py") from None
    with h5py.File(path, "r") as file:
        return np.asarray(file[name])


def read_nifti(path: Path) -> np.ndarray:
    """The 16-bit voxels of a gzipped NIfTI-1 file, slowest axis first."""
    raw = gzip.decompress(path.read_bytes())
    rank, *sizes = struct.unpack_from("<8h", raw, 40)
    start = int(struct.unpack_from("<f", raw, 108)[0])
    shape = sizes[:rank][::-1]
    return np.frombuffer(raw, "<i2", int(np.prod(shape)), start).reshape(shape)


def read_nrrd(path: Path) -> np.ndarray:
    """The 16-bit voxels of a gzip-encoded NRRD file, slowest axis first."""
    head, body = path.read_bytes().split(b"\n\n", 1)
    fields = dict(line.split(": ", 1) for line in head.decode("latin1").split("\n") if ": " in line)
    shape = [int(size) for size in fields["sizes"].split()][::-1]
    return np.frombuffer(gzip.decompress(body), "<i2").reshape(shape)


def read_dicom(path: Path) -> np.ndarray:
    """The 16-bit pixels of an uncompressed DICOM file whose elements do not name their types."""
    raw = path.read_bytes()

    def number(element: int) -> int:
        """Of group 0028, two bytes."""
        return struct.unpack_from("<H", raw, raw.index(struct.pack("<HHI", 0x28, element, 2)) + 8)[0]

    pixels = raw.index(struct.pack("<HHI", 0x7FE0, 0x10, 2 * number(0x10) * number(0x11))) + 8
    return np.frombuffer(raw, "<u2", number(0x10) * number(0x11), pixels).reshape(number(0x10), number(0x11))


FLIGHT = (
    "year:<i2 month:i1 day:i1 dep_time:<i2 sched_dep_time:<i2 dep_delay:<i2 arr_time:<i2 sched_arr_time:<i2 "
    "arr_delay:<i2 carrier:S2 flight:<i2 tailnum:S6 origin:S3 dest:S3 air_time:<f4 distance:<f4 hour:i1 "
    "minute:i1 time_hour:<M8[s]"
)


def read_flights(path: Path) -> np.ndarray:
    """The flights as rows of 19 columns; a missing integer is -9999, a missing float NaN."""
    columns = [tuple(column.split(":")) for column in FLIGHT.split()]
    with zipfile.ZipFile(path) as archive, archive.open("flights.csv") as raw:
        names, *rows = csv.reader(io.TextIOWrapper(raw))
    cells = dict(zip(names, zip(*rows, strict=True), strict=True))
    table = np.zeros(len(rows), columns)  # zeros, so that no byte is left to chance
    for name, dtype in columns:
        if dtype[0] == "S" or "M8" in dtype:
            table[name] = np.array([cell.rstrip("Z") for cell in cells[name]], dtype)
        else:
            missing = "nan" if "f" in dtype else "-9999"
            values = [missing if cell in ("", "NA") else cell for cell in cells[name]]
            table[name] = np.array(values).astype(np.float64).astype(dtype)
    return table


def read_integers(path: Path) -> np.ndarray:
    """Integers of a gzipped text file."""
    return np.array(gzip.decompress(path.read_bytes()).split(), "<i4")
