"""How Blosc2 chunks of a dataset are encoded, where the parameters of HDF5's filter cannot say it.

In: what a writer was asked for, or the attribute of a dataset that keeps it for writes to come. Out: what the
    engine takes, and the nearest that the parameters can say, by which others encode chunks that they write.
Source: docs/formats/hdf5-filters.md, "Encodings of their own".
Invariant: C-Blosc2 in HDF5's filter reads every chunk that is made so: codecs and filters of which that is
    not known are refused. Readers need nothing of it, for each chunk says itself how it is encoded.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from coquina._core import CorruptError
from coquina.dtypes import dtype_text
from coquina.hdf5.untyped import h5a, h5s, h5t
from coquina.tuning_options import DEFAULT_CODEC, DEFAULT_LEVEL

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coquina.storage_options import Storage

#: A text in JSON.
ATTRIBUTE = b"coquina_encoding"
#: What the parameters of the filter can say.
CODECS = {"blosclz": 0, "lz4": 1, "lz4hc": 2, "zlib": 4, "zstd": 5}
FILTERS = {"nofilter": 0, "shuffle": 1, "bitshuffle": 2, "delta": 3}
#: What C-Blosc2 has besides, in hdf5plugin and in PyTables, and one of ours.
_MORE_CODECS = ("ndlz", "zfp_accuracy", "zfp_precision", "zfp_rate", "predict")
#: Codecs of images, which C-Blosc2 reads with blosc2_j2k and blosc2_htj2k. A parameter is ten times
#: a ratio: something is lost.
_IMAGE_CODECS = ("j2k", "htj2k")
_MORE_FILTERS = ("trunc_prec", "ndcell", "ndmean", "bytedelta", "int_trunc")
_LOSSY_CODECS = _MORE_CODECS[1:]
_LOSSY_FILTERS = ("trunc_prec", "ndmean", "int_trunc")
#: What the engine takes: codec, level, filters, whether with a dictionary, dtype and bytes of an item.
Terms = tuple[Any, int, list[Any] | None, bool, str, int]


@dataclass(frozen=True, slots=True)
class ChunkEncoding:
    """How chunks are encoded.

    codec: its name, and its parameter if it has one. filters: names and parameters, None for a filter's own;
    None for those that suit the codec. dtype, typesize: of the items, which some work with.
    """

    codec: str
    parameter: int | None
    level: int
    filters: tuple[tuple[str, int | None], ...] | None
    dictionary: bool
    dtype: str
    typesize: int

    @classmethod
    def of(cls, storage: Storage, dtype: np.dtype[Any] | None, typesize: int) -> ChunkEncoding | None:
        """Return what a writer was asked for; None where the parameters of the filter can say it.

        dtype: of the items; None if NumPy has none. Raises ValueError for names that there are not, and for
        what others would not read, TypeError for what is no name and no pair.
        """
        codec, parameter = _codec(storage.codec)
        filters = None if storage.filters is None else _named(storage.filters)
        dictionary = bool(storage.dictionary)
        _check("codec", codec, (*CODECS, *_MORE_CODECS, *_IMAGE_CODECS))
        for name, _ in filters or ():
            _check("filter", name, (*FILTERS, *_MORE_FILTERS))
        if dictionary and codec != "zstd":
            raise ValueError(
                f"dictionary with codec {codec!r}: in HDF5 files a dictionary needs codec 'zstd'"
            )
        is_plain = codec in CODECS and parameter is None and not dictionary
        if is_plain and (not filters or (len(filters) == 1 and _is_plain(filters[0]))):
            return None
        level = DEFAULT_LEVEL if storage.level is None else storage.level
        text = "" if dtype is None else dtype_text(dtype.base)
        return cls(codec, parameter, level, filters, dictionary, text, typesize)

    @property
    def nearest(self) -> tuple[int, int]:
        """The filter and the codec of the parameters: what comes nearest without losing anything."""
        named = [name for name, _ in self.filters or () if name in FILTERS]
        suited = "nofilter" if self.codec in (*_LOSSY_CODECS, *_IMAGE_CODECS) else "shuffle"
        last = suited if self.filters is None else named[-1] if named else "nofilter"
        return FILTERS[last], CODECS.get(self.codec, CODECS[DEFAULT_CODEC])

    @property
    def is_lossy(self) -> bool:
        """Whether items may be read as others than were written."""
        return _is_lossy((self.codec, self.parameter), [name for name, _ in self.filters or ()])

    @property
    def terms(self) -> Terms:
        """It as the engine takes it."""
        codec = self.codec if self.parameter is None else (self.codec, self.parameter)
        filters: list[Any] | None = None
        if self.filters is not None:
            filters = [name if meta is None else (name, meta) for name, meta in self.filters]
        return codec, self.level, filters, self.dictionary, self.dtype, self.typesize

    def __str__(self) -> str:
        """Codec, level and filters, for people."""
        codec = self.codec if self.parameter is None else f"{self.codec}({self.parameter})"
        filters = [name if meta is None else f"{name}({meta})" for name, meta in self.filters or ()]
        return " + ".join([*filters, f"{codec} {self.level}{' with a dictionary' * self.dictionary}"])


def loses(storage: Storage) -> bool:
    """Whether a codec or filter that is asked for by its name may give back other items than were written."""
    filters: Any = storage.filters
    # A pair of a name and a parameter alone is a filter as well.
    given = cast("list[Any]", filters) if isinstance(filters, list | tuple) else [filters]
    codec: Any = storage.codec
    named = cast("tuple[Any, Any]", codec) if isinstance(codec, tuple) else (codec, None)
    return _is_lossy(named, [_first(one) for one in given])


def _is_lossy(codec: tuple[Any, Any], filters: Sequence[Any]) -> bool:
    """Whether a codec with its parameter, or one of these filters, may change items."""
    name, parameter = codec
    if name in _LOSSY_CODECS or (name in _IMAGE_CODECS and parameter not in (None, 0)):
        return True
    return any(name in _LOSSY_FILTERS for name in filters)


def _first(term: Any) -> Any:
    """Return the name of a pair of a name and a parameter."""
    if isinstance(term, tuple) and term:
        return cast("Any", term)[0]
    return cast("Any", term)


def plain_filter(filters: Any) -> int:
    """Return the number of the one filter that the parameters of Blosc2 can say, or of none."""
    named = (("shuffle", None),) if filters is None else _named(filters)
    return FILTERS[named[0][0]] if named else FILTERS["nofilter"]


def put(did: Any, encoding: ChunkEncoding | None) -> None:
    """State how the chunks of a dataset are encoded; None for as the parameters of its filter say."""
    if h5a.exists(did, ATTRIBUTE):
        h5a.delete(did, ATTRIBUTE)
    if encoding is None:
        return
    stated: dict[str, Any] = {"level": encoding.level, "codec": [encoding.codec, encoding.parameter]}
    stated["filters"] = None if encoding.filters is None else [list(one) for one in encoding.filters]
    stated |= {"dictionary": encoding.dictionary, "dtype": encoding.dtype, "typesize": encoding.typesize}
    text = json.dumps(stated).encode()
    tid = h5t.C_S1.copy()
    tid.set_size(len(text))
    tid.set_cset(h5t.CSET_UTF8)
    made = h5a.create(did, ATTRIBUTE, tid, h5s.create(h5s.SCALAR))
    made.write(np.array(text, f"S{len(text)}"), mtype=tid)


def is_stated(did: Any) -> bool:
    """Return whether a dataset has the attribute."""
    return bool(h5a.exists(did, ATTRIBUTE))


def read(did: Any, filters: Sequence[tuple[int, Sequence[int]]]) -> ChunkEncoding | None:
    """Return what the attribute of a dataset says; None if there is none, or if it is not of these filters.

    filters: id and parameters. Copies by other programs may have others than the attribute is about. Raises
    CorruptError for one that says nothing of this kind.
    """
    if len(filters) != 1 or not h5a.exists(did, ATTRIBUTE):
        return None
    stored = h5a.open(did, ATTRIBUTE)
    try:
        content = np.empty((), f"S{stored.get_type().get_size()}")
        stored.read(content, mtype=stored.get_type())
        found = _parsed(json.loads(bytes(content.item()).decode()))
    except (ValueError, TypeError, KeyError, OSError, RuntimeError) as error:
        raise CorruptError(f"the attribute {ATTRIBUTE.decode()}: {error}") from error
    values = tuple(filters[0][1])
    return found if values[4:7] == (found.level, *found.nearest) else None


def of_dataset(h5: Any) -> ChunkEncoding | None:
    """Return what the attribute of a dataset of h5py says, if it is of its filters. Raises CorruptError."""
    plist = h5.id.get_create_plist()
    filters = [(code, values) for code, _, values, _ in map(plist.get_filter, range(plist.get_nfilters()))]
    try:
        return read(h5.id, filters)
    except CorruptError as error:
        raise CorruptError(f"{h5.name}: {error}") from error


def check(h5: Any) -> None:
    """Raise CorruptError where the attribute of a dataset of h5py says nothing that is understood."""
    if is_stated(h5.id):
        of_dataset(h5)


def _parsed(stated: Any) -> ChunkEncoding:
    (codec, parameter), level, filters = stated["codec"], stated["level"], stated["filters"]
    named = None if filters is None else tuple((_text(name), _number(meta)) for name, meta in filters)
    dictionary, typesize = stated["dictionary"], _number(stated["typesize"])
    if type(level) is not int or type(dictionary) is not bool or typesize is None:
        raise TypeError("level, dictionary or typesize is nothing of the kind")
    _check("codec", codec, (*CODECS, *_MORE_CODECS, *_IMAGE_CODECS))
    for name, _ in named or ():
        _check("filter", name, (*FILTERS, *_MORE_FILTERS))
    return ChunkEncoding(
        codec, _number(parameter), level, named, dictionary, _text(stated["dtype"]), typesize
    )


def _codec(given: Any) -> tuple[str, int | None]:
    if given is None or isinstance(given, str):
        return given or DEFAULT_CODEC, None
    name, parameter = given
    if type(parameter) is not int:
        raise ValueError(f"codec {given!r}: chunks in HDF5 take a number as the parameter of a codec")
    return name, parameter


def _named(filters: Any) -> tuple[tuple[str, int | None], ...]:
    given: Any = filters
    is_one = isinstance(filters, str)
    if isinstance(filters, tuple):
        is_one = len(given) == 2 and type(given[1]) is int
    named: list[tuple[str, int | None]] = []
    for one in [given] if is_one else given:
        name, meta = (one, None) if isinstance(one, str) else one
        named.append((_text(name), _number(meta)))
    return tuple(named)


def _is_plain(named: tuple[str, int | None]) -> bool:
    return named[0] in FILTERS and named[1] is None


def _check(what: str, name: str, known: Sequence[str]) -> None:
    if name not in known:
        # The filter "blosc" has Snappy; chunks of Blosc2 do not.
        meant = "; did you mean codec='lz4', or filter='blosc', which has Snappy?" if name == "snappy" else ""
        raise ValueError(f"{what} {name!r}: HDF5 files take one of {', '.join(known)}{meant}")


def _text(found: Any) -> str:
    if not isinstance(found, str):
        raise TypeError(f"{found!r} is not text")
    return found


def _number(found: Any) -> int | None:
    if found is not None and type(found) is not int:
        raise TypeError(f"{found!r} is not a number")
    return found
