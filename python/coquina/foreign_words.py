"""Keywords of other libraries, and what stands for each of them here: one table.

In: a keyword of h5py, PyTables, python-blosc2, Zarr or xarray, with its value. Out: keywords of ours.
Invariant: the values of strangers are looked at and never called; what is not understood is left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from collections.abc import Callable

#: What h5py calls a compression, and is a filter here.
H5PY_FILTERS = ("gzip", "lzf", "szip")
#: Codecs by the names of others, and by the numbers of HDF5's filters.
_CODECS: Mapping[Any, str] = {
    "gzip": "zlib",
    "deflate": "zlib",
    "lzf": "lz4",
    "lzo": "lz4",
    "blosc": "blosclz",
    "blosc2": "zstd",
    "bzip2": "zstd",
    "szip": "zstd",
    "btune": "auto",
    32001: "blosclz",
    32004: "lz4",
    32008: "lz4",
    32015: "zstd",
    32026: "zstd",
}
_OWN_CODECS = ("blosclz", "lz4", "lz4hc", "zlib", "zstd", "auto")
_SHUFFLES: Mapping[Any, str] = {0: "nofilter", 1: "shuffle", 2: "bitshuffle"}
#: The greatest level of h5py's `compression=4`, which is gzip.
_MOST_LEVEL = 9

Words = dict[str, Any]


def _plain(value: Any) -> Any:
    """Return the word or number that a member of an enumeration stands for."""
    name, inner = getattr(value, "name", None), getattr(value, "value", None)
    if isinstance(inner, int) and isinstance(name, str):  # python-blosc2's: numbers by their names
        return name.lower()
    return value if inner is None else inner


def _codec(value: Any) -> Words:
    """Return the codec of a name, a number of HDF5's filters, or an object that says how it compresses."""
    value = _plain(value)
    if isinstance(value, str):
        # PyTables: "blosc2:zstd".
        name = value.lower().rpartition(":")[2]
        return {"codec": _CODECS.get(name, name)}
    if _is_level(value):
        return {"codec": "zlib", "level": value}
    if isinstance(value, int) and not isinstance(value, bool):
        return {"codec": _CODECS.get(value, ...)}
    if value is None or isinstance(value, bool):
        return {"codec": "zlib"} if value else {"level": 0}
    return _object(value)


def _compression(value: Any) -> Words:
    """Return what h5py's compression is: a filter where there are filters, else a codec."""
    words = _codec(value)
    if isinstance(value, str) and value in H5PY_FILTERS:
        return {"filter": value, **words}
    return {"filter": "gzip", **words} if _is_level(value) else words


def _is_level(value: Any) -> bool:
    """Whether a number is a level of gzip, and no number of a filter."""
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MOST_LEVEL


def _object(value: Any) -> Words:
    """Return the options of an object or a mapping: cparams, a codec of Zarr, Filters of PyTables."""
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        parts: Words = {}
        for part in cast("Sequence[Any]", value):
            parts |= _object(part)
        return parts
    words: Words = {}
    has: Callable[[str], Any] = (
        cast("Mapping[str, Any]", value).get
        if isinstance(value, Mapping)
        else lambda name: getattr(value, name, None)
    )
    for name in ("codec", "cname", "complib", "compression", "codec_id"):
        if has(name) is not None and not callable(has(name)):
            words |= _codec(has(name))
            break
    for name in ("clevel", "complevel", "level", "compression_opts"):
        if isinstance(has(name), int):
            words["level"] = has(name)
            break
    words |= _filters(has("filters")) if has("filters") else {}
    for name in ("shuffle", "bitshuffle"):
        if has(name) is not None and has(name) is not False and not callable(has(name)):
            words |= _shuffle(has(name)) if name == "shuffle" else {"filters": "bitshuffle"}
    if isinstance(has("nthreads"), int):
        words["threads"] = has("nthreads")
    return words


def _shuffle(value: Any) -> Words:
    value = _plain(value)
    if isinstance(value, str):
        name = value.lower()
        return {"filters": name if name in _SHUFFLES.values() else "nofilter"}
    return {"filters": _SHUFFLES.get(int(value), "shuffle") if isinstance(value, int) else "shuffle"}


def _filters(value: Any) -> Words:
    """Return the filters of python-blosc2: members of an enumeration, with NOFILTER where none is."""
    given = cast("Sequence[Any]", value) if isinstance(value, Sequence) else [value]
    names = [_plain(one) for one in given]
    known = [name for name in names if isinstance(name, str) and name != "nofilter"]
    return {"filters": known[0] if len(known) == 1 else known} if known else {}


def _level(value: Any) -> Words:
    return {"level": value} if isinstance(value, int) else {"level": ...}


def _bitshuffle(value: Any) -> Words:
    return {"filters": "nofilter" if value is False or value is None else "bitshuffle"}


def _mode(value: Any) -> Words:
    return {"overwrite": isinstance(value, str) and value == "w"}


def _ascending(value: Any) -> Words:
    """Return what pandas' order is: a truth value, or one for each column."""
    if isinstance(value, list | tuple):
        flags = [_ascending(one)["descending"] for one in cast("Sequence[Any]", value)]
        return {"descending": ... if ... in flags else flags}
    return {"descending": not value if isinstance(value, bool) else ...}


def _lossy(value: Any) -> Words:
    return {"lossy": {"max_error": value}}


def _filter(value: Any) -> Words:
    """Return what HDF5's filter is for an array: filters that rearrange bytes, or a codec."""
    is_shuffle = isinstance(value, str) and value in _SHUFFLES.values()
    return {"filters": value} if is_shuffle else _codec(value)


def _zlib(value: Any) -> Words:
    """Return what xarray's and netCDF4's `zlib=True` is."""
    return {"level": 0} if value is False else {"filter": "gzip", "codec": "zlib"}


def _renamed(*names: str) -> Callable[[Any], Words]:
    """Return a translation that keeps the value, which is only named; of several names a function has one."""
    return lambda value: dict.fromkeys(names, ...)


#: What each keyword of another library is here; `...` for a value that is left as it is.
FOREIGN: Mapping[str, Callable[[Any], Words]] = {
    # h5py
    "compression": _compression,
    "compression_opts": _level,
    "filter": _filter,
    "fill_value": _renamed("fillvalue"),
    "shuffle": _shuffle,
    "bitshuffle": _bitshuffle,
    # PyTables
    "chunkshape": _renamed("chunks"),
    "condvars": _renamed("params"),
    "colname": _renamed("columns"),
    "complevel": _level,
    "complib": _codec,
    "expectedrows": _renamed("expected_rows"),
    "field": _renamed("columns"),
    "max_rows": _renamed("expected_rows"),
    "where": _renamed("name"),
    "obj": _renamed("data"),
    # python-blosc2
    "blockshape": _renamed("blocks"),
    "blocksize": _renamed("blocks"),
    "chunksize": _renamed("chunks", "rows"),
    "clevel": _level,
    "cname": _codec,
    "cparams": _object,
    "dparams": _object,
    "filters_meta": _renamed("filters"),
    "mode": _mode,
    "nthreads": _renamed("threads"),
    "num_threads": _renamed("threads"),
    "urlpath": _renamed("path", "source"),
    # Zarr and xarray
    "chunk_shape": _renamed("chunks"),
    "codecs": _object,
    "compression_level": _level,
    "compressor": _codec,
    "compressors": _codec,
    "encoding": _object,
    "shards": _renamed("chunks"),
    "sortby": _renamed("sort_by"),
    "zlib": _zlib,
    # Others
    "ascending": _ascending,
    "batch_size": _renamed("rows", "chunks"),
    "by": _renamed("columns", "keys"),
    "file": _renamed("path", "source"),
    "filename": _renamed("path", "source"),
    "max_error": _lossy,
    "n_jobs": _renamed("threads"),
    "sep": _renamed("delimiter"),
    "usecols": _renamed("columns"),
}
#: Keywords of others that say where, and not how something is stored.
PLACES = (
    *(
        "ascending",
        "batch_size",
        "by",
        "colname",
        "condvars",
        "field",
        "file",
        "filename",
        "mode",
        "obj",
        "sep",
    ),
    *("sortby", "urlpath", "usecols", "where"),
)
#: Keywords of others that something else than a keyword does. `t` is the table.
CALLS: Mapping[str, str] = {
    "index": "to_pandas().set_index(name) makes an index of a column",
    "limit": "t.head(n) takes the first rows",
    "order_by": "t.order_by(columns) sorts",
    "sort": "t.order_by(columns) sorts",
    "start": "t[start:stop] takes some rows",
    "step": "t[start:stop:step] takes some rows",
    "stop": "t[start:stop] takes some rows",
}
#: Options of h5py's files.
FILE_OPTIONS = ("backing_store", "driver", "fs_strategy", "libver", "locking", "swmr", "track_order")
#: Those that say how many threads work.
THREADS = ("dparams", "n_jobs", "nthreads", "num_threads")


def translated(name: str, value: Any, known: Sequence[str]) -> str:
    """Return what is written here in place of a keyword of others; empty where there is nothing like it.

    known: the keywords of the function. Those that it does not have are left out.
    """
    foreign = FOREIGN.get(name)
    if foreign is None:
        return ""
    words = {word: said for word, said in foreign(value).items() if word in known}
    if "filter" in words:
        words.pop("codec", None)
    # An object that is not understood still says how something is compressed.
    if not words and foreign in (_object, _codec) and "codec" in known:
        words = {"codec": ..., "level": ...}
    return ", ".join(f"{word}={'...' if said is ... else repr(said)}" for word, said in words.items())


def codec_meant(name: str, *, has_filter: bool) -> tuple[str, str] | None:
    """Return keyword and value that a codec of other programs stands for; None for ours and unknown ones.

    has_filter: whether filters of HDF5 can be named, too.
    """
    word = name.lower().rpartition(":")[2]
    if has_filter and word in (*H5PY_FILTERS, "bzip2", "bitshuffle", "blosc"):
        return "filter", word
    if word in _SHUFFLES.values():
        return "filters", word
    found = _CODECS.get(word, word if word in _OWN_CODECS else None)
    return None if found is None or found == name else ("codec", found)


def as_keywords(filters: Any) -> str:
    """Return the keywords that an object of filters stands for, as PyTables' `Filters`; empty for others."""
    if not hasattr(filters, "complevel"):
        return ""
    return ", ".join(f"{word}={said!r}" for word, said in _object(filters).items())
