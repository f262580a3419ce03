"""`open`: looks at what a file holds, and gives an array, a frame, a packed file, an HDF5 file or a store.

In: a path, a file object or, for `from_bytes`, a buffer. Out: an open handle that reads what it is asked for.
Frames that stand for data elsewhere, or hold code, are refused: nothing that is opened is run. Saved
expressions read the arrays that they name, where these lie beside them.
"""

from __future__ import annotations

import builtins
import os
from io import BytesIO, FileIO
from typing import TYPE_CHECKING, Any, BinaryIO, Literal, TypedDict, cast, overload

from coquina import _core
from coquina._core import UnsupportedError
from coquina.arrays.array import Array
from coquina.arrays.bloscpack import PackFile
from coquina.arrays.copies import copy_of, storage_of_copy
from coquina.arrays.foreign import what_is, what_is_at
from coquina.arrays.frames import Frame
from coquina.dtypes import parse_dtype
from coquina.folder_members import ARRAY, STORE, TABLE, has_member
from coquina.keyword_hints import names_keywords
from coquina.providers import Provider
from coquina.remote import RangeReader, local_path, new_path, reader_for
from coquina.storage_options import Storage

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Unpack

    from coquina._core import Buffer, Path
    from coquina.arrays.foreign import Foreign
    from coquina.expressions import saved as saved_expressions
    from coquina.hdf5 import files as hdf5_files
    from coquina.stores import opening as stores
    from coquina.tables import directories as table_directories
else:
    hdf5_files, stores, table_directories = map(Provider, ("hdf5_files", "stores", "table_directories"))
    saved_expressions = Provider("saved_expressions")

_SIGNATURE = b"\x89HDF\r\n\x1a\n"
_SUFFIXES = (".h5", ".hdf5", ".hdf", ".he5", ".h5ad", ".nc", ".nc4", ".nxs")
#: The names of files that are ours if anything is: what is wrong with them, the engine says.
_OWN_SUFFIXES = (".b2nd", ".b2frame", ".blp")
_WRITABLE = {"r": False, "r+": True, "a": True}
_ZIP = b"PK"
#: The names of stores that are made.
_STORES = (".b2d", ".b2z")
#: Metalayers of frames that hold more than plain chunks.
_OBJECTS = frozenset(
    {"b2embed", "b2dict", "b2tree", "vlarray", "batcharray", "listarray", "ctable_varlen_scalar"}
)
#: Metalayers of frames that say what is to be computed of other arrays.
_EXPRESSIONS = frozenset({"b2o", "LazyArray"})
#: The metadata of a frame whose chunks are the bytes of an array.
_PACKED = "__pack_tensor__"


class OpenOptions(TypedDict, total=False):
    """The options of `open`, for type checkers."""

    offset: int
    verify: bool
    damaged: bool
    wait: float | None
    durable: bool
    store: Any
    storage_options: Mapping[str, Any] | None
    allow_external: bool | None


@overload
def open(
    source: Path | BinaryIO, mode: Literal["w", "x"], **options: Unpack[OpenOptions]
) -> hdf5_files.File: ...


@overload
def open(
    source: Path | BinaryIO, mode: Literal["r", "r+", "a"] = "r", **options: Unpack[OpenOptions]
) -> Any: ...


@names_keywords
def open(
    source: Path | BinaryIO,
    mode: Literal["r", "r+", "a", "w", "x"] = "r",
    *,
    offset: int = 0,
    verify: bool = True,
    damaged: bool = False,
    wait: float | None = None,
    durable: bool = False,
    store: Any = None,
    storage_options: Mapping[str, Any] | None = None,
    allow_external: bool | None = None,
) -> Any:
    """Open a file. Its content decides the type of the result; data are read on demand.

    Returns an `Array` for an n-dimensional Blosc2 array (`.b2nd`, or a directory), an `Expr` for a saved
    expression, a `Frame` for other Blosc2 frames (`.b2frame`), a `PackFile` for Bloscpack, an `hdf5.File` for
    HDF5 and NetCDF-4, a `stores.Store` for stores of python-blosc2 (`.b2d`, `.b2z`, `.b2e`), and a `Table`
    for a directory that `create_table` wrote.

    source: a path, a URL that fsspec knows ("https://", "s3://", "memory://"), the path of an object in
        `store`, or a seekable file object opened for reading in binary mode. Remote files are read by byte
        ranges; the attribute `remote` of the result counts the requests.
    mode: "r": read only. "r+", "a": read and write; one process at a time can write. "w", "x": create an HDF5
        file, or a store (`.b2d`, `.b2z`); "a" does so if the file does not exist. See `hdf5.File` and
        `stores.Store`.
    offset: the position of the frame in the file, in bytes.
    verify: verify the checksums of the parts that are read, if the file has checksums.
    damaged: open the readable part of a frame whose header, index or trailer is damaged. Chunks are verified
        by their checksums (see `verify` and `repair`); chunks of zeros, of NaN and unwritten ones have none.
    wait: the number of seconds to wait if another process is writing to the file; BlockingIOError is raised
        after that. HDF5 files and tables only.
    durable: commits of an HDF5 file wait for the disk; see `Array.durable`.
    allow_external: allow an HDF5 file to refer to other files (external storage, external links, virtual
        datasets), and a saved expression to operands, outside its own folder.
    store: an object store of obstore. storage_options: options that fsspec passes to the file system of a
        URL.

    Raises FileNotFoundError, CorruptError, TruncatedError, OSError (BlockingIOError if another process is
    writing), and UnsupportedError, which names the format, for files of other formats.

    >>> import coquina as cq
    >>> cq.arange(5).save("a.b2nd", overwrite=True)
    >>> with cq.open("a.b2nd", "r+") as a:
    ...     a.append([5, 6])
    ...     print(a[-3:])
    [4 5 6]
    """
    if mode != "r" and store is None and isinstance(source, str):
        source = new_path(source)
    reader = reader_for(source, store=store, storage_options=storage_options)
    if reader is not None:
        return _open_remote(reader, mode, offset, verify, damaged)
    target: Path | BinaryIO = source
    if isinstance(source, str | os.PathLike):
        source = local_path(source) or source
        target = os.path.abspath(os.fspath(source))
        if mode in ("w", "x") or (mode == "a" and not os.path.exists(target)):
            if target.lower().endswith(_STORES):
                return stores.open_to_change(target, mode, verify=verify, durable=durable)
            return _new_hdf5(target, mode, wait, durable)
    if mode not in _WRITABLE:
        raise ValueError(_wrong_mode(mode, (*_SUFFIXES, *_STORES)))
    if offset == 0 and is_hdf5(target):
        return _hdf5(target, mode, damaged, wait, durable, allow_external)
    folder = target if isinstance(target, str) and os.path.isdir(target) else None
    if offset == 0 and not damaged and folder is not None and has_member(folder, TABLE):
        return table_directories.open_directory(folder, cast("Any", mode), wait=wait, durable=durable)
    if offset == 0 and not damaged and (store := _store(target, mode, verify, durable)) is not None:
        return store
    try:
        handle = _core.open_content(
            target, writable=_WRITABLE[mode], offset=offset, verify=verify, damaged=damaged
        )
    except (_core.CorruptError, FileNotFoundError) as error:
        is_other = offset == 0 and not (damaged and folder is None)
        raise (_foreign(cast("Any", target)) if is_other else None) or error from None
    if damaged or _WRITABLE[mode]:
        # To be mended, or to be changed: chunk by chunk.
        return _as_stored(handle)
    found = opened(handle, verify=verify, is_whole=offset == 0, allow_external=allow_external)
    if isinstance(found, PackFile) and offset == 0 and isinstance(target, str):
        found.path = os.path.realpath(target)
    return found


def _store(target: Path | BinaryIO, mode: str, verify: bool, durable: bool) -> Any:
    """Return the store that a directory or a ZIP archive is; None for what is none."""
    if not isinstance(target, str):
        file = cast("BinaryIO", target)
        at = file.tell()
        file.seek(0)
        is_zip = file.read(len(_ZIP)) == _ZIP
        file.seek(at)
        return stores.open_archive(file, None, "the file", verify=verify) if is_zip else None
    if os.path.isdir(target):
        is_store = has_member(target, STORE)
        found = stores.open_directory(target, verify=verify) if is_store else None
    elif os.path.isfile(target):
        with builtins.open(target, "rb") as file:
            is_zip = file.read(len(_ZIP)) == _ZIP
            found = stores.open_archive(file, target, target, verify=verify) if is_zip else None
    else:
        return None
    if found is not None and mode != "r":
        found.close()
        return stores.open_to_change(target, mode, verify=verify, durable=durable)
    return found


def _foreign(target: str | BinaryIO) -> Exception | None:
    """Return the error of what is none of ours: a folder, or a file of another format."""
    if not isinstance(target, str):
        return _foreign_file(target, "the file")
    if os.path.isdir(target):
        if has_member(target, TABLE):
            return UnsupportedError(f"{target}: a directory with a table, which opens without damaged=True")
        if has_member(target, ARRAY):
            return None
        found = what_is_at(target)
        if found is not None and found.advice:
            return _refused(target, found)
        return FileNotFoundError(f"{target}: a folder without an array in it")
    if not os.path.isfile(target):
        return None
    with builtins.open(target, "rb") as file:
        return _foreign_file(file, target)


def _foreign_file(file: BinaryIO, name: str) -> Exception | None:
    """Return the error of a file of another format; None for one that is ours, but damaged."""
    file.seek(0)
    head = file.read(32)
    # Of a damaged frame the first bytes may be wrong, and of a cut one missing.
    if b"b2frame" in head or head.startswith(b"blpk") or name.lower().endswith(_OWN_SUFFIXES):
        found = what_is(file, name)
        return None if found is None or not found.advice else _refused(name, found)
    found = what_is(file, name)
    if found is None:
        return UnsupportedError(f"{name}: no format that coquina opens")
    return _refused(name, found)


def _refused(name: str, found: Foreign) -> UnsupportedError:
    return UnsupportedError(
        f"{name}: {found.name}, which coquina does not open{found.advice and '; '}{found.advice}"
    )


def _open_remote(reader: RangeReader, mode: str, offset: int, verify: bool, damaged: bool) -> Any:
    if mode != "r":
        raise ValueError(f"{reader.url}: mode {mode!r}: remote files can only be read")
    reader.warm()
    try:
        file, source = cast("BinaryIO", reader.file()), cast("Any", reader)
        if offset == 0 and _has_signature(file):
            return _hdf5(file, "r", damaged)
        file.seek(0)
        if offset == 0 and not damaged and file.read(len(_ZIP)) == _ZIP:
            store = stores.open_archive(file, None, reader.url, verify=verify, reader=reader)
            if store is not None:
                return store
        handle = _core.open_content(source, offset=offset, verify=verify, damaged=damaged)
        found = _as_stored(handle) if damaged else opened(handle, verify=verify, is_whole=offset == 0)
    except _core.CoquinaError as error:
        is_other = isinstance(error, _core.CorruptError) and offset == 0 and not damaged
        if is_other and (other := _foreign_file(cast("BinaryIO", reader.file()), reader.url)) is not None:
            raise other from None
        raise error if reader.url in str(error) else type(error)(f"{reader.url}: {error}") from error
    if not isinstance(found, Array):
        found.remote = reader
    return found


@names_keywords
def from_bytes(buffer: Buffer) -> Any:
    """Open the content of a file that is in memory, for reading; see `open`.

    buffer: the bytes of the file. Returns the same types as `open`. Raises CorruptError, TruncatedError and
        UnsupportedError.

    >>> import coquina as cq
    >>> cq.from_bytes(cq.arange(5).to_bytes())[:]
    array([0, 1, 2, 3, 4])
    """
    content = memoryview(cast("Any", buffer))
    if content.contiguous and bytes(content.cast("B")[:8]) == _SIGNATURE:
        return _hdf5(BytesIO(content), "r", damaged=False)
    try:
        if content.contiguous and bytes(content.cast("B")[: len(_ZIP)]) == _ZIP:
            store = stores.open_archive(BytesIO(content), None, "the buffer")
            if store is not None:
                return store
        return opened(_core.open_content(buffer))
    except _core.CorruptError as error:
        is_known = content.contiguous and content.nbytes
        raise (_foreign_file(BytesIO(content), "the buffer") if is_known else None) or error from None


def is_hdf5(source: Path | BinaryIO) -> bool:
    """Return whether a file begins as HDF5 does: at its start, or behind a block for the user's own bytes."""
    if not isinstance(source, str | os.PathLike):
        at = source.tell()
        try:
            return _has_signature(source)
        finally:
            source.seek(at)
    if not os.path.isfile(source):
        return False
    # Without a buffer: a few bytes are read.
    with FileIO(source) as file:
        return _has_signature(file)


def _has_signature(file: BinaryIO | FileIO) -> bool:
    size = file.seek(0, os.SEEK_END)
    at = 0
    while at + len(_SIGNATURE) <= size:
        file.seek(at)
        head = file.read(10)
        if head.startswith(_SIGNATURE):
            return True
        if at == 0 and (head.startswith(b"blpk") or head[2:] == b"b2frame\0"):
            return False
        at = max(512, 2 * at)
    return False


def _hdf5(
    source: Path | BinaryIO,
    mode: Literal["r", "r+", "a", "w", "x"],
    damaged: bool,
    wait: float | None = None,
    durable: bool = False,
    allow_external: bool | None = None,
) -> Any:
    if damaged:
        raise UnsupportedError(
            "repair does not take HDF5 files; `coquina recover` writes a new file with what can be read"
        )
    return hdf5_files.File(source, mode, wait=wait, durable=durable, allow_external=allow_external)


def _wrong_mode(mode: str, suffixes: tuple[str, ...]) -> str:
    """Return what is wrong with a mode: none that there is, or one that makes files of other kinds."""
    return f"mode {mode!r}: takes 'r', 'r+' or 'a'; 'w' and 'x' are for {', '.join(suffixes)}"


def _new_hdf5(path: str, mode: Literal["a", "w", "x"], wait: float | None, durable: bool) -> Any:
    if not path.lower().endswith(_SUFFIXES):
        if mode == "a":
            raise FileNotFoundError(f"{path}: there is no such file")
        raise ValueError(f"{path}: {_wrong_mode(mode, _SUFFIXES)}")
    return hdf5_files.File(path, mode, wait=wait, durable=durable)


def reopen(path: str | RangeReader, offset: int) -> Array:
    """Open what a pickle refers to."""
    array = open(cast("Any", path), offset=offset)
    if not isinstance(array, Array):
        raise TypeError(f"{path}: the pickled file was an array, and is not one now")
    return array


def restore(content: bytes, mode: str) -> Array:
    """Return the array of a pickle; one that could be changed can be again."""
    array = from_bytes(content)
    return _same_as(array) if _WRITABLE[mode] else array


def opened(
    handle: _core.ArrayHandle | _core.FrameHandle | _core.PackReader,
    *,
    verify: bool = True,
    is_whole: bool = True,
    allow_external: bool | None = None,
    store: saved_expressions.StorePlace | None = None,
) -> Any:
    """Return what a handle is of. is_whole: whether it is all that its file holds. store: that it lies in."""
    if isinstance(handle, _core.FrameHandle):
        names = {name for name, _ in handle.metalayers()}
        if not _EXPRESSIONS.isdisjoint(names):
            return saved_expressions.opened(
                handle, is_whole=is_whole, allow_external=allow_external, store=store
            )
        if not _OBJECTS.isdisjoint(names) or _PACKED in handle.layer_names():
            return stores.of_frame(handle, verify=verify, is_whole=is_whole)
    return _as_stored(handle)


def _as_stored(handle: _core.ArrayHandle | _core.FrameHandle | _core.PackReader) -> Any:
    if isinstance(handle, _core.ArrayHandle):
        return Array(handle, parse_dtype(handle.dtype_text, handle.typesize))
    if isinstance(handle, _core.PackReader):
        return PackFile(handle)
    return Frame(handle)


def _same_as(array: Array) -> Array:
    """Return an array in memory with the chunks of another one as they are stored, and its bound.

    Codecs that lose something would lose it again if the items were encoded again.
    """
    known = array.lossy
    alike = Storage(chunks=array.chunks, blocks=array.blocks, lossy=known and known.error_bound)
    storage, _ = storage_of_copy(array, alike)
    return copy_of(Array, array, storage, keeps_chunks=True)
