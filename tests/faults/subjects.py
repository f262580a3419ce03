"""What is changed in the scenarios: kinds of files and directories, by whom and how they were made.

In: a path. Out: complete, closed files, handles for writing, and one change more that is made after a fault.
Rows follow from their numbers, so that a batch tells which one it is.
"""

from __future__ import annotations

import io
import os
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import h5py
import numpy as np

import coquina as cq
from coquina.storage_options import Storage
from coquina.tables.layout import ColumnSpec
from coquina.tables.values import TEXT
from tests.faults import states

if TYPE_CHECKING:
    from collections.abc import Callable

LATEST = ("v110", "latest")
#: What commits of ours leave where a program is killed while it makes a new file.
PART = r"\..*\.part"


@dataclass(frozen=True)
class Subject:
    """A kind of file. name: with which its scenarios begin. file: how the file is called.

    make: writes it and closes it. open: returns a handle for writing; by `durable=True` where that is wished.
    go_on: one change more, and a commit. tell: all that can be observed. left: patterns of names that a kill
    may leave beside it for good.
    """

    name: str
    file: str
    make: Callable[[str], None]
    open: Callable[..., Any]
    go_on: Callable[[Any], None]
    tell: states.Tell
    left: tuple[str, ...] = ()
    close: Callable[[Any], None] = lambda handle: handle.close()

    def state(self, path: str) -> states.State:
        """Return all that can be observed."""
        return states.state_of(self.tell, path)


def read_by_others(path: str) -> None:
    """Read an HDF5 file by h5py, unless a journal is left, of which h5py knows nothing."""
    if not path.endswith(".h5") or os.path.exists(f"{path}.journal"):
        return

    def read(name: str, node: Any) -> None:
        for key in node.attrs:
            node.attrs[key]
        if isinstance(node, h5py.Dataset):
            node[()]

    with h5py.File(path) as file:
        file.visititems(read)


def verified(path: str) -> str:
    """Return what `coquina verify` has against a file; nothing if it is good."""
    from coquina.cli import main

    with redirect_stdout(io.StringIO()) as out, redirect_stderr(io.StringIO()) as err:
        code = main(["verify", path])
    return f"verify: exit code {code}: {out.getvalue()}{err.getvalue()}" if code else ""


# Rows


def column_rows(start: int, stop: int) -> dict[str, Any]:
    """Return rows of every kind of column; there are more categories all the time."""
    n = np.arange(start, stop)
    return {
        "n": n * 2654435761 % 1000003,
        "x": n * 0.5,
        "text": [f"é{i}" * (i % 5) for i in range(start, stop)],
        "maybe": [None if i % 3 == 0 else f"m{i}" for i in range(start, stop)],
        "fixed": np.array([f"f{i % 97}" for i in range(start, stop)], "U8"),
        "kind": [None if i % 7 == 0 else f"kind {i // 40 % 5000}" for i in range(start, stop)],
        "int": np.ma.masked_array(n.astype("i4"), n % 2 == 0),
        "when": (n * 1000).astype("M8[ms]"),
    }


RECORD = np.dtype([("n", "<i8"), ("x", "<f8"), ("s", "S8"), ("flag", "?"), ("pos", "<i4", (2,))])


def records(start: int, stop: int) -> np.ndarray[Any, Any]:
    """Return rows of the rows layout."""
    n = np.arange(start, stop)
    out = np.zeros(len(n), RECORD)
    out["n"], out["x"], out["flag"] = n * 2654435761 % 1000003, n * 0.5, n % 3 == 0
    out["s"] = [b"s%d" % (i % 97) for i in range(start, stop)]
    out["pos"] = np.stack([n, -n], axis=1)
    return out


def matrix(start: int, stop: int) -> np.ndarray[Any, Any]:
    """Return rows of a dataset."""
    return (np.arange(start * 12, stop * 12) * 7919 % 100003).reshape(-1, 12).astype("<i4")


# Tables

#: Rows in a table, so that chunks are filled in part and more than once: 300 rows are 5 chunks of 64.
_CHUNK_ROWS = {300: 64, 100_000: 8192}
SPECS = (
    ColumnSpec("n", np.dtype("i8")),
    ColumnSpec("x", np.dtype("f8")),
    ColumnSpec("text", TEXT),
    ColumnSpec("maybe", TEXT, nullable=True),
    ColumnSpec("fixed", np.dtype("U8")),
    ColumnSpec("kind", TEXT, categories=()),
    ColumnSpec("int", np.dtype("i4"), nullable=True),
    ColumnSpec("when", np.dtype("M8[ms]")),
)


def _fill_columns(group: Any, name: str, rows: int) -> None:
    from coquina.tables.columns_layout import create_columns

    chunk_rows = _CHUNK_ROWS[rows]
    layout = create_columns(group, name, SPECS, Storage(chunks=(chunk_rows,), blocks=(chunk_rows // 2,)))
    layout.append(column_rows(0, rows))
    layout.close()


def _made_columns(rows: int, options: dict[str, Any]) -> Callable[[str], None]:
    def make(path: str) -> None:
        with cq.hdf5.File(path, "w", **options) as file:
            _fill_columns(file, "table", rows)
            file["table"].attrs["unit"] = "mm"

    return make


def _made_rows(rows: int, options: dict[str, Any]) -> Callable[[str], None]:
    def make(path: str) -> None:
        with cq.hdf5.File(path, "w", **options) as file:
            file.create_table("table", records(0, rows), layout="rows", chunk_rows=_CHUNK_ROWS[rows]).close()
            file["table"].attrs["unit"] = "mm"

    return make


def _pytables_rows(path: str) -> None:
    import tables

    filters = tables.Filters(5, "blosc2:zstd", shuffle=True)
    with tables.open_file(path, "w") as file:
        table = file.create_table("/", "table", records(0, 300), filters=filters, chunkshape=64)
        table.attrs.unit = "mm"


def _open_table(path: str, **options: Any) -> Any:
    return cq.open_table(path, "/table" if path.endswith(".h5") else None, mode="r+", **options)


def _more_columns(table: Any) -> None:
    rows = column_rows(7_000_000, 7_000_003)
    # A fault may be before or after columns came and went.
    known = {name: rows.get(name, rows["n"]) for name in table.columns}
    known = {name: rows["text"] if name.startswith(("text", "cat")) else known[name] for name in known}
    table.append(known)
    table.flush()


def _more_records(table: Any) -> None:
    table.append(records(7_000_000, 7_000_003))
    table.flush()


def _made_directory(path: str) -> None:
    from coquina.tables.column_storage import column_storage
    from coquina.tables.columns_layout import ColumnsLayout
    from coquina.tables.frames_home import FramesHome

    layout = ColumnsLayout.create(
        FramesHome.make(path), SPECS, column_storage(Storage(chunks=(64,), blocks=(32,)))
    )
    layout.append(column_rows(0, 300))
    layout.close()


def _two_tables(options: dict[str, Any]) -> Callable[[str], None]:
    def make(path: str) -> None:
        with cq.hdf5.File(path, "w", **options) as file:
            _fill_columns(file, "one", 300)
            file.create_table("two", records(0, 300), layout="rows", chunk_rows=64).close()
            file.table("one").create_index("n")
            file.attrs["rows"] = 300

    return make


# Datasets


def _made_datasets(options: dict[str, Any]) -> Callable[[str], None]:
    def make(path: str) -> None:
        with cq.hdf5.File(path, "w", **options) as file:
            cut = {"chunks": (16, 12), "maxshape": (None, 12)}
            file.create_dataset("grows", data=matrix(0, 100), **cut).attrs["unit"] = "mm"
            file.create_dataset("g/gzip", data=matrix(0, 100), filter="gzip", **cut)
            file.create_dataset("g/plain", data=matrix(0, 100), chunks=(16, 12), filter="none")
            file.create_dataset("g/both", data=matrix(0, 96), chunks=(16, 6), maxshape=(None, None))
            file.attrs["rows"] = 100

    return make


def _default_datasets(path: str) -> None:
    """Datasets as they are by default: what has no filter can have no checksum either."""
    with cq.open(path, "w") as file:
        file.create_dataset("grows", data=matrix(0, 300), chunks=(16, 12), maxshape=(None, 12))
        file.create_dataset("g/floats", data=matrix(0, 300) / 7, chunks=(64, 6))
        file["g/one"] = matrix(0, 1000).ravel()


def _h5py_datasets(options: dict[str, Any]) -> Callable[[str], None]:
    def make(path: str) -> None:
        with h5py.File(path, "w", **options) as file:
            cut = {"chunks": (16, 12), "maxshape": (None, 12)}
            file.create_dataset("grows", data=matrix(0, 100), compression="gzip", **cut).attrs["unit"] = "mm"
            file.create_dataset("g/gzip", data=matrix(0, 100), compression="lzf", shuffle=True, **cut)
            file.create_dataset("g/plain", data=matrix(0, 100), fletcher32=True, chunks=(16, 12))
            file.create_dataset("g/both", data=matrix(0, 96), chunks=(16, 6), maxshape=(None, None))
            file.create_dataset("g/names", data=["a", "é", "b"], dtype=h5py.string_dtype())
            file.attrs["rows"] = 100

    return make


def _open_file(path: str, **options: Any) -> Any:
    return cq.open(path, "r+", **options)


#: Append sessions that are open, by their file; each run is a process of its own.
SESSIONS: dict[int, Any] = {}


def _more_in_file(file: Any) -> None:
    file.attrs["went on"] = 1
    session = SESSIONS.get(id(file))
    if session is not None:
        # As long as it is open, its rows are appended by it alone.
        session.append(matrix(9000, 9003))
        session.flush()
    elif "grows" in file:
        file["grows"].append(matrix(9000, 9003))
    file.flush()


def _more_in_tables(file: Any) -> None:
    _more_columns(file["one"])
    _more_records(file["two"])
    file.attrs["went on"] = 1
    file.flush()


# Frames


def _made_frame(contiguous: bool) -> Callable[[str], None]:
    def make(path: str) -> None:
        cut = {"chunks": (16, 12), "blocks": (8, 12)}
        with cq.asarray(matrix(0, 100), path=path, contiguous=contiguous, **cut) as array:
            array.attrs["unit"] = "mm"

    return make


def _open_frame(path: str, durable: bool = False) -> Any:
    array = cq.open(path, "r+")
    array.durable = durable
    return array


def _more_in_frame(array: Any) -> None:
    with array.transaction():
        array.attrs["went on"] = 1
        array.append(np.resize(matrix(9000, 9003), (3, array.shape[1])))


# Stores of python-blosc2


def _made_store(path: str) -> None:
    with cq.open(path, "w") as store:
        cut = {"chunks": (16, 12), "blocks": (8, 12)}
        store.create_dataset("grows", data=matrix(0, 100), **cut).attrs["unit"] = "mm"
        store.create_dataset("g/deep/one", data=matrix(0, 40), **cut)
        store.create_dataset("g/two", data=matrix(0, 40) / 7, **cut)
        store["g"].attrs["rows"] = 40
        store.attrs["title"] = "é"


def _more_in_store(store: Any) -> None:
    store.attrs["went on"] = 1
    if "more" not in store:
        store["more"] = matrix(9000, 9003)
    store.flush()


# Paths: what is done to a closed file as a whole.


def _more_at_path(path: str) -> None:
    with cq.open(path, "r+") as file:
        _more_in_file(file)


def _more_in_table_at(path: str) -> None:
    with _open_table(path) as table:
        _more_columns(table)


def _tell_with_copy(path: str, telling: states.Telling) -> None:
    """Tell the file, and the one that was recovered from it."""
    states.tell_hdf5(path, telling)
    out = f"{os.path.dirname(path)}/out.h5"
    if os.path.exists(out):
        telling.state |= {f"out{name}": told for name, told in states.state_of(states.tell_hdf5, out).items()}


def _hdf5(name: str, make: Any, opened: Any, go_on: Any) -> Subject:
    return Subject(name, "x.h5", make, opened, go_on, states.tell_hdf5, (PART,))


_OPTIONS: dict[str, dict[str, Any]] = {"": {}, "_latest": {"libver": LATEST}}

SUBJECTS: dict[str, Subject] = {}
for _suffix, _libver in _OPTIONS.items():
    for _rows in _CHUNK_ROWS:
        _size = "" if _rows == 300 else "_long"
        for _one in (
            _hdf5(f"columns{_size}{_suffix}", _made_columns(_rows, _libver), _open_table, _more_columns),
            _hdf5(f"rows{_size}{_suffix}", _made_rows(_rows, _libver), _open_table, _more_records),
        ):
            SUBJECTS[_one.name] = _one
    for _one in (
        _hdf5(f"tables{_suffix}", _two_tables(_libver), _open_file, _more_in_tables),
        _hdf5(f"datasets{_suffix}", _made_datasets(_libver), _open_file, _more_in_file),
        _hdf5(f"h5py_datasets{_suffix}", _h5py_datasets(_libver), _open_file, _more_in_file),
        Subject(
            f"path{_suffix}",
            "x.h5",
            _made_datasets(_libver),
            lambda path: path,
            _more_at_path,
            _tell_with_copy,
            (PART, r"\..*"),
            lambda path: None,
        ),
    ):
        SUBJECTS[_one.name] = _one
SUBJECTS["defaults"] = _hdf5("defaults", _default_datasets, _open_file, _more_in_file)
SUBJECTS["pytables_rows"] = _hdf5("pytables_rows", _pytables_rows, _open_table, _more_records)
SUBJECTS["directory"] = Subject(
    "directory", "x", _made_directory, _open_table, _more_columns, states.tell_directory
)
for _name in ("b2d", "b2z"):
    SUBJECTS[f"store_{_name}"] = Subject(
        f"store_{_name}",
        f"x.{_name}",
        _made_store,
        _open_file,
        _more_in_store,
        states.tell_store,
        (PART, r"\..*\.tmp"),
    )
SUBJECTS["directory_path"] = Subject(
    "directory_path",
    "x",
    _made_directory,
    lambda path: path,
    _more_in_table_at,
    states.tell_directory,
    (PART,),
    lambda path: None,
)
# A new file that is to take the place of the old one keeps its temporary name: another program may be at it.
SUBJECTS["frame"] = Subject(
    "frame", "x.b2nd", _made_frame(True), _open_frame, _more_in_frame, states.tell_frame, (r"\..*\.tmp",)
)
SUBJECTS["sparse"] = Subject(
    "sparse", "x.b2nd", _made_frame(False), _open_frame, _more_in_frame, states.tell_frame
)
