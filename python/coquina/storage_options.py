"""How arrays are stored: the keywords of all writers, gathered once into a `Storage` that is passed on.

In: the keywords of a call. Out: a value, and what the engine takes for it. A keyword that there is not raises
    TypeError, which names the one that was meant.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from inspect import Parameter, signature
from typing import TYPE_CHECKING, Any, Literal

from coquina.remote import new_path
from coquina.tuning_options import AUTO, DEFAULT_CODEC, DEFAULT_LEVEL, Tuning, tuned

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from coquina._core import Codec, Filters, Path
    from coquina.lossy import Lossy, LossyOption

#: True is "auto", as h5py has it, and False is for HDF5 datasets.
Chunks = tuple[int, ...] | int | bool | Literal["auto"] | None
Access = str | tuple[int, ...]
#: What the engine takes to make an array.
Options = dict[str, Any]


class EncodingOptions(Tuning, total=False):
    """How chunks are encoded, as keywords of every writer; None for its defaults.

    codec, level, filters: see `compress`; the codec "auto" is told more by the keywords of `Tuning`.
        Writers of arrays take no None for a codec.
    checksums: what is written gets checksums, so that flipped bits are found.
    """

    codec: Codec | None
    level: int | None
    filters: Filters | None
    checksums: bool


class ChunkOptions(EncodingOptions, total=False):
    """How the items of an array are cut besides, as keywords of every writer of arrays and datasets."""

    chunks: Chunks
    blocks: tuple[int, ...] | None
    lossy: LossyOption


class StorageOptions(ChunkOptions, total=False):
    """How a new array is stored, as keywords of every writer of arrays; `asarray` tells of each."""

    access: Access
    contiguous: bool
    overwrite: bool


class DatasetOptions(ChunkOptions, total=False):
    """How a new dataset is stored; `Group.create_dataset` tells of each."""

    maxshape: tuple[int | None, ...] | None
    filter: str
    fletcher32: bool
    fillvalue: Any
    zones: Sequence[tuple[int, str]]


class TableOptions(EncodingOptions, total=False):
    """How a new table is stored; `create_table` tells of each."""

    layout: Literal["columns", "rows"]
    title: str
    expected_rows: int | None
    chunk_rows: int | None
    filter: str
    fletcher32: bool
    index: Sequence[str]
    lossy: Mapping[str, Lossy | Mapping[str, Any]] | None


@dataclass(frozen=True, slots=True)
class Storage:
    """How a new array is stored. tuning: the keywords of `Tuning`; the others are as `asarray` takes them."""

    chunks: Chunks = None
    blocks: tuple[int, ...] | None = None
    access: Access = "any"
    codec: Codec | None = None
    level: int | None = None
    filters: Filters | None = None
    lossy: LossyOption = None
    path: Path | None = None
    contiguous: bool = True
    overwrite: bool = False
    checksums: bool = True
    tuning: Mapping[str, Any] = field(default_factory=dict[str, Any])

    @classmethod
    def of(
        cls,
        writer: Callable[..., Any],
        given: Mapping[str, Any],
        path: Path | None = None,
        device: object = None,
    ) -> Storage:
        """Return what a writer was given. Raises TypeError for keywords that there are not.

        device: is checked; ValueError for one that is not there.
        """
        if device is not None:
            check_device(device)
        if not given and path is None:
            return _USUAL
        check_keywords(writer, given, StorageOptions)
        if given.get("codec", DEFAULT_CODEC) is None:
            raise TypeError("codec None: takes a name, a pair of name and parameter, or a codec of your own")
        plain, tuning = parted(given)
        return cls(**plain, path=path, tuning=tuning)

    def encoded(self, encoding: Mapping[str, Any]) -> Storage:
        """Return it with another codec, level and filters, and other keywords of `Tuning`."""
        plain, tuning = parted(encoding)
        return replace(self, **plain, tuning=tuning)

    def for_engine(self) -> Options:
        """Return the options as the engine takes them. Raises ValueError for those that do not fit."""
        if self is _USUAL:
            return {"codec": DEFAULT_CODEC, "level": DEFAULT_LEVEL, "filters": None}
        codec: Any = DEFAULT_CODEC if self.codec is None else self.codec
        level: Any = DEFAULT_LEVEL if self.level is None else self.level
        filters: Any = self.filters
        terms = None
        if codec == AUTO or self.tuning:
            codec, level, filters, terms = tuned(codec, level, filters, self.tuning)
        options: Options = {"codec": codec, "level": level, "filters": filters}
        if terms is not None:
            options["tuning"] = terms
        if self.chunks is False:
            raise ValueError("chunks=False: arrays are stored in chunks; chunks=shape makes one of all items")
        if self.chunks is not None and self.chunks is not True and self.chunks != "auto":
            options["chunks"] = (self.chunks,) if isinstance(self.chunks, int) else self.chunks
        if self.blocks is not None:
            options["blocks"] = (self.blocks,) if isinstance(self.blocks, int) else self.blocks
        if self.access != "any":
            options["access"] = self.access
        if self.lossy is not None:
            from coquina.lossy import lossy_of

            options["lossy"] = lossy_of(self.lossy)
        if self.path is not None:
            place = new_path(self.path)
            _refuse_hdf5_name(place)
            options["path"] = place
            for name in ("contiguous", "overwrite", "checksums"):
                options[name] = getattr(self, name)
        return options


#: What nobody said anything of, which most arrays are.
_USUAL = Storage()


def is_cut(given: StorageOptions) -> bool:
    """Whether something is said of chunks and blocks."""
    is_whole = given.get("chunks") is None and given.get("blocks") is None
    return not is_whole or given.get("access", "any") != "any"


def parted(given: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the keywords that are not of `Tuning`, and those that are."""
    words = Tuning.__annotations__
    if words.keys().isdisjoint(given):
        return dict(given), {}
    plain = {name: value for name, value in given.items() if name not in words}
    return plain, {name: value for name, value in given.items() if name in words}


#: What other libraries call ours.
_OTHER_NAMES = {
    "blockshape": "blocks",
    "chunkshape": "chunks",
    "clevel": "level",
    "cname": "codec",
    "complevel": "level",
    "complib": "codec",
    "compression": "codec",
    "compression_level": "level",
    "compression_opts": "level",
    "compressor": "codec",
    "expectedrows": "expected_rows",
    "fill_value": "fillvalue",
    "max_error": "lossy={'max_error': ...}",
    "nthreads": "threads",
    "urlpath": "path",
}
#: What h5py calls a compression, and is a filter here.
_H5PY_FILTERS = ("gzip", "lzf", "szip")
_FILTER_NAMES = ("bitshuffle", "shuffle")


def check_keywords(writer: Callable[..., Any], given: Mapping[str, Any], kinds: Any) -> None:
    """Raise TypeError for a keyword that `kinds`, the TypedDict of a writer, does not have."""
    known: Mapping[str, Any] = kinds.__annotations__
    if given.keys() <= known.keys():
        return
    for name, value in given.items():
        if name not in known:
            own = [one.name for one in signature(writer).parameters.values() if _is_keyword(one)]
            hint = _hint(name, value, [*known, *own])
            place = writer.__qualname__
            raise TypeError(f"{place}() got an unexpected keyword argument {name!r}; {hint}")


def _is_keyword(parameter: Parameter) -> bool:
    return parameter.name != "self" and parameter.kind in (
        Parameter.KEYWORD_ONLY,
        Parameter.POSITIONAL_OR_KEYWORD,
    )


def _hint(name: str, value: object, known: list[str]) -> str:
    """Say which keyword was meant, or all that there are."""
    if name in _FILTER_NAMES:
        return f"did you mean filters={name if value else 'nofilter'!r}?"
    meant = _OTHER_NAMES.get(name)
    if name == "compression" and "filter" in known and value in _H5PY_FILTERS:
        meant = "filter"
    if meant is not None and meant.partition("=")[0] in known:
        return f"did you mean {meant if '=' in meant else repr(meant)}?"
    from difflib import get_close_matches

    near = get_close_matches(name, known, 1)
    return f"did you mean {near[0]!r}?" if near else f"it takes {', '.join(sorted(known))}"


def _refuse_hdf5_name(path: str) -> None:
    """Raise ValueError for the name of an HDF5 file: what is written is a frame, and might replace one."""
    if path.lower().endswith((".h5", ".hdf5", ".nc")):
        raise ValueError(
            f"{path}: arrays are written as Blosc2 frames (.b2nd); open(path, 'w') makes HDF5 files"
        )


def check_device(device: object) -> None:
    """Raise ValueError for a device that is not there."""
    if device is not None and device != "cpu":
        raise ValueError(f"device {device!r}: the only one is 'cpu'")
