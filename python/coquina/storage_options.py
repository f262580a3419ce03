"""How arrays are stored: the keywords of all writers, gathered once into a `Storage` that is passed on.

In: the keywords of a call. Out: a value, and what the engine takes for it. A keyword that there is not raises
    TypeError, which names the one that was meant.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from operator import index
from typing import TYPE_CHECKING, Any, Literal, TypedDict

from coquina.foreign_words import as_keywords, codec_meant
from coquina.keyword_hints import check_keywords
from coquina.remote import new_path
from coquina.tuning_options import ARRAYS, AUTO, DATASETS, Tuning, tuned

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from coquina._core import Codec, Filters, Path
    from coquina.lossy import Lossy, LossyOption
    from coquina.tuning_options import Base, Terms

#: True is "auto", as h5py has it, and False is for HDF5 datasets.
Chunks = tuple[int, ...] | int | bool | Literal["auto"] | None
Access = str | tuple[int, ...]
#: What the engine takes to make an array.
Options = dict[str, Any]


class CodecOptions(Tuning, total=False):
    """What chunks are encoded by, as keywords of every writer; None for its defaults.

    codec, level, filters: see `compress`; the codec "auto" is told more by the keywords of `Tuning`. Only
        writers of HDF5 and tables take None for a codec.
    """

    codec: Codec | None
    level: int | None
    filters: Filters | None


class EncodingOptions(CodecOptions, total=False):
    """How chunks are encoded and protected, as keywords of every writer of files.

    checksums: what is written gets checksums, so that flipped bits are found.
    """

    checksums: bool


class FrameOptions(EncodingOptions, total=False):
    """How a new frame is stored; `Frame.create` tells of each."""

    contiguous: bool
    overwrite: bool


class ChunkOptions(EncodingOptions, total=False):
    """How the items of an array are cut besides, as keywords of every writer of arrays and datasets."""

    chunks: Chunks
    blocks: tuple[int, ...] | None
    lossy: LossyOption


def _lengths(what: str, given: Any) -> tuple[int, ...]:
    """Return items along each axis. Raises TypeError for what are none."""
    if isinstance(given, int):
        return (given,)
    if isinstance(given, str):
        raise TypeError(f"{what} {given!r}: takes items along each axis, such as (100, 200), or 'auto'")
    return tuple(map(index, given))


class StorageOptions(ChunkOptions, total=False):
    """How a new array is stored, as keywords of every writer of arrays; `asarray` tells of each."""

    access: Access
    contiguous: bool
    overwrite: bool


class H5pyOptions(TypedDict, total=False):
    """How h5py makes a dataset, where it has other words; see its `create_dataset`."""

    compression: str | int | bool | None
    compression_opts: Any
    shuffle: bool | None
    scaleoffset: int | bool | None
    external: Any
    track_times: bool | None
    track_order: bool | None
    fill_time: str | None
    virtual_prefix: str | None
    efile_prefix: str | None
    dcpl: Any
    dapl: Any
    rdcc_nslots: int | None
    rdcc_nbytes: int | None
    rdcc_w0: float | None
    allow_unknown_filter: bool


class DatasetOptions(ChunkOptions, H5pyOptions, total=False):
    """How a new dataset is stored; `Group.create_dataset` tells of each."""

    maxshape: tuple[int | None, ...] | int | Literal[True] | None
    filter: str
    dictionary: bool
    fletcher32: bool
    fillvalue: Any
    zones: Sequence[tuple[int, str]]


class DatasetCopyOptions(CodecOptions, total=False):
    """How the copy of a dataset is stored; None for as the dataset is. `hdf5.repack` tells of each."""

    filter: str | None
    dictionary: bool
    fletcher32: bool | None
    chunks: tuple[int, ...] | Literal["auto"] | None
    blocks: tuple[int, ...] | None
    lossy: LossyOption


class RepackOptions(DatasetCopyOptions, total=False):
    """How the copy of a file is stored; `hdf5.repack` tells of each."""

    checksums: bool | None


class TableCopyOptions(Tuning, total=False):
    """How the copy of a table is stored; `Table.copy` tells of each."""

    codec: str | None
    level: int | None
    lossy: Mapping[str, Lossy | Mapping[str, Any]] | None


class TableOptions(EncodingOptions, total=False):
    """How a new table is stored; `create_table` tells of each."""

    layout: Literal["columns", "rows"]
    title: str
    expected_rows: int | None
    chunk_rows: int | None
    filter: str
    dictionary: bool
    fletcher32: bool
    index: Sequence[str]
    lossy: Mapping[str, Lossy | Mapping[str, Any]] | None


@dataclass(frozen=True, slots=True)
class Storage:
    """How something new is stored: an array, an HDF5 dataset, the columns of a table, a copy.

    None leaves a field to the writer: its default, or in copies what the source has. `asarray` tells of the
    fields for arrays, `Group.create_dataset` of those for datasets; writers ignore those of the other.
    tuning: what chunks are tuned for; codec, level and filters are then those that tuning starts from.
    each: of parts, by their paths: columns of a table, datasets of a copy. See `part`.
    """

    codec: Codec | None = None
    level: int | None = None
    filters: Filters | None = None
    tuning: Terms | None = None
    checksums: bool | None = None
    chunks: Chunks = None
    blocks: tuple[int, ...] | int | None = None
    lossy: Lossy | None = None

    # Arrays
    access: Access = "any"
    path: Path | None = None
    contiguous: bool = True
    overwrite: bool = False

    # HDF5 datasets
    filter: str | None = None
    dictionary: bool = False
    fletcher32: bool | None = None
    maxshape: tuple[int | None, ...] | int | Literal[True] | None = None
    fillvalue: Any = None
    zones: Sequence[tuple[int, str]] = ()

    each: Mapping[str, Storage] | None = None

    @classmethod
    def of(
        cls,
        writer: Callable[..., Any],
        given: Mapping[str, Any],
        kinds: Any = StorageOptions,
        *,
        base: Base = ARRAYS,
    ) -> Storage:
        """Return what a writer was given, by the keywords of `kinds`, its TypedDict.

        base: what the writer does by default. Raises TypeError for other keywords, and as `tuned`.
        """
        if not given:
            return _USUAL
        codec, level, filters, terms, rest = _encoding(writer, given, kinds, base)
        if (lossy := rest.get("lossy")) is not None:
            from coquina.lossy import lossy_of

            rest["lossy"] = lossy_of(lossy)
        return cls(codec, level, filters, terms, **rest)

    @classmethod
    def for_array(
        cls,
        writer: Callable[..., Any],
        given: Mapping[str, Any],
        path: Path | None = None,
        device: object = None,
    ) -> Storage:
        """Return what a writer of arrays was given. device: is checked; ValueError for an unknown one."""
        if device is not None:
            check_device(device)
        storage = cls.of(writer, given)
        return storage if path is None else replace(storage, path=path)

    def part(self, path: str) -> Storage:
        """Return how the part at `path` is stored: as `each` says of it, and else as the whole."""
        own = None if self.each is None else self.each.get(path)
        if own is None:
            return self
        said = {one.name: getattr(own, one.name) for one in fields(own)}
        said = {name: value for name, value in said.items() if value != getattr(_USUAL, name)}
        # What names a codec is not tuned.
        return replace(self, **{"tuning": None, **said, "each": None})

    @property
    def chunk_lengths(self) -> tuple[int, ...] | None:
        """Items along each axis of a chunk; None where they are left to the default rule."""
        if self.chunks is None or self.chunks == "auto" or isinstance(self.chunks, bool):
            return None
        return _lengths("chunks", self.chunks)

    @property
    def block_lengths(self) -> tuple[int, ...] | None:
        """The same of a block."""
        if self.blocks is None:
            return None
        return _lengths("blocks", self.blocks)

    @property
    def compressor(self) -> str:
        """The filter that compresses chunks of an HDF5 dataset."""
        return "blosc2" if self.filter is None else self.filter

    @property
    def is_blosc2_alone(self) -> bool:
        """Whether chunks of an HDF5 dataset have no filter but Blosc2; only such are tuned."""
        return self.compressor == "blosc2" and not self.fletcher32

    def encoding(self, base: Base = ARRAYS) -> Options:
        """Return how chunks are encoded, as the engine takes it."""
        return _for_engine(self.codec, self.level, self.filters, self.tuning, base)

    def for_engine(self) -> Options:
        """Return the options of an array as the engine takes them. ValueError for those that do not fit."""
        options = self.encoding()
        if self is _USUAL:
            return options
        if self.chunks is False:
            raise ValueError("chunks=False: arrays are always chunked; chunks=shape makes a single chunk")
        if (chunks := self.chunk_lengths) is not None:
            options["chunks"] = chunks
        if (blocks := self.block_lengths) is not None:
            options["blocks"] = blocks
        if self.access != "any":
            options["access"] = self.access
        if self.lossy is not None:
            options["lossy"] = self.lossy
        if self.path is not None:
            place = new_path(self.path)
            _refuse_hdf5_name(place)
            options["path"] = place
            options["contiguous"], options["overwrite"] = self.contiguous, self.overwrite
            options["checksums"] = self.checksums is not False
        return options


#: What nobody said anything of, which most arrays are.
_USUAL = Storage()


def encoding_of(
    writer: Callable[..., Any], given: Mapping[str, Any], kinds: Any = CodecOptions, *, base: Base = ARRAYS
) -> Options:
    """Return what a writer of single chunks was given, as the engine takes it; raises as `Storage.of`."""
    codec, level, filters, terms, rest = _encoding(writer, given, kinds, base)
    return {**_for_engine(codec, level, filters, terms, base), **rest}


def _encoding(
    writer: Callable[..., Any], given: Mapping[str, Any], kinds: Any, base: Base
) -> tuple[Any, Any, Any, Terms | None, dict[str, Any]]:
    """Return codec, level, filters, what chunks are tuned for, and the keywords that are of none of these."""
    check_keywords(writer, given, kinds)
    rest, tuning = parted(given)
    if base is not DATASETS and rest.get("codec", AUTO) is None:
        raise TypeError("codec None: takes a name, a pair of name and parameter, or a codec of your own")
    codec, level, filters = rest.pop("codec", None), rest.pop("level", None), rest.pop("filters", None)
    has_filter = "filter" in kinds.__annotations__
    if isinstance(codec, str) and (word := codec_meant(codec, has_filter=has_filter)) is not None:
        raise ValueError(f"codec {codec!r}: did you mean {word[0]}={word[1]!r}?")
    if filters is not None and (meant := as_keywords(filters)):
        raise TypeError(f"filters {type(filters).__name__}: takes names; did you mean {meant}?")
    return *tuned(codec, level, filters, tuning, base), rest


def _for_engine(codec: Any, level: Any, filters: Any, terms: Terms | None, base: Base) -> Options:
    options: Options = {
        "codec": base.codec if codec is None else codec,
        "level": base.level if level is None else level,
        "filters": base.filters if filters is None else filters,
    }
    if terms is not None:
        options["tuning"] = terms
    return options


def is_cut(given: StorageOptions) -> bool:
    """Whether chunks or blocks are given."""
    is_whole = given.get("chunks") is None and given.get("blocks") is None
    return not is_whole or given.get("access", "any") != "any"


def parted(given: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the keywords that are not of `Tuning`, and those that are."""
    words = Tuning.__annotations__
    if words.keys().isdisjoint(given):
        return dict(given), {}
    plain = {name: value for name, value in given.items() if name not in words}
    return plain, {name: value for name, value in given.items() if name in words}


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
