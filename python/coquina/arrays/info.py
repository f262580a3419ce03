"""What an array says of itself: how it is stored, and what is damaged."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from coquina._core import CoquinaError
from coquina.quoting import quoted
from coquina.tuning_options import TuningInfo, tuning_facts, tuning_text

if TYPE_CHECKING:
    import numpy as np

    from coquina.arrays.array import Array
    from coquina.lossy import LossyInfo


@dataclass(frozen=True, slots=True)
class ArrayInfo:
    """How an array is stored; the state when `a.info` was read.

    shape, chunks, blocks: elements along each axis of the array, of a chunk, of a block.
    codec, level, filters: the encoding of new chunks; chunks of other writers may differ.
    codec_parameter: the parameter of the codec, or None.
    nbytes, cbytes: bytes of the elements, and of the stored chunks.
    nchunks, special_chunks: the number of chunks, and of chunks of one value, which store nothing.
    dead_bytes: bytes of old versions in the file, which `compact` releases.
    checksums: "fresh": chunks have checksums. "stale": another program has written to the file since; its
        chunks have none until the array is compacted. "absent": there are none.
    known_chunks: the number of chunks whose minimum and maximum are stored; None for elements that are not
        ordered numbers.
    blocks_decoded, blocks_cached: counts of this handle: blocks decoded, and blocks found in the cache.
    lossy: the error bound and the greatest error; None for an exact array, text if the record is damaged.
    tuning: the goal of a tuned array; None for others, text if the record is damaged.
    encodings: the number of chunks of each encoding, for tuned arrays; None for others and for remote arrays.
    url, requests, bytes_read: of a remote array: its URL, the number of requested ranges of its file, and the
        bytes received; None for others.

    >>> import coquina as cq
    >>> cq.zeros((100, 100), chunks=(50, 100)).info.nchunks
    2
    """

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    chunks: tuple[int, ...]
    blocks: tuple[int, ...]
    codec: str
    level: int
    filters: list[tuple[str, int]]
    nbytes: int
    cbytes: int
    nchunks: int
    special_chunks: int
    dead_bytes: int
    checksums: str
    path: str | None
    blocks_decoded: int
    blocks_cached: int
    codec_parameter: int | None = field(default=None, kw_only=True)
    known_chunks: int | None = field(default=None, kw_only=True)
    lossy: LossyInfo | str | None = field(default=None, kw_only=True)
    tuning: TuningInfo | str | None = field(default=None, kw_only=True)
    encodings: dict[str, int] | None = field(default=None, kw_only=True)
    url: str | None = field(default=None, kw_only=True)
    requests: int | None = field(default=None, kw_only=True)
    bytes_read: int | None = field(default=None, kw_only=True)

    @classmethod
    def of(cls, array: Array) -> ArrayInfo:
        """Ask an array."""
        return cls(
            shape=array.shape,
            dtype=array.dtype,
            chunks=array.chunks,
            blocks=array.blocks,
            path=array.path,
            lossy=_lossy(array),
            **tuning_facts(array),
            **array.handle.stats(),
            **asked(array),
        )

    @property
    def cratio(self) -> float:
        """Decoded bytes for each stored one; infinite where nothing needs to be stored."""
        return ratio(self.nbytes, self.cbytes)

    @property
    def codec_option(self) -> str | tuple[str, int]:
        """The codec as `codec=` takes it: with its parameter, if it has one."""
        return self.codec if self.codec_parameter is None else (self.codec, self.codec_parameter)

    @property
    def _codec_text(self) -> str:
        if self.tuning is None:
            codec = self.codec if self.codec_parameter is None else f"{self.codec}:{self.codec_parameter}"
            return f"{codec}, level {self.level}"
        return self.tuning_text

    @property
    def tuning_text(self) -> str:
        """What chunks are tuned for, and how many are encoded how, in one line."""
        return tuning_text(self.tuning, self.encodings)

    @property
    def _filters_text(self) -> str:
        return "auto" if self.tuning is not None else ", ".join(name for name, _ in self.filters) or "none"

    @property
    def _statistics(self) -> str:
        return "none" if self.known_chunks is None else f"{self.known_chunks} of {self.nchunks} chunks"

    def to_dict(self) -> dict[str, Any]:
        """Return the facts as values that JSON knows.

        >>> import coquina as cq
        >>> cq.zeros(10).info.to_dict()["shape"]
        (10,)
        """
        cratio = self.cratio if self.cbytes or not self.nbytes else None
        return {**asdict(self), "dtype": str(self.dtype), "cratio": cratio}

    def __str__(self) -> str:
        """One line for each fact."""
        facts = {
            "shape": self.shape,
            "dtype": self.dtype,
            "chunks": self.chunks,
            "blocks": self.blocks,
            "codec": self._codec_text,
            "filters": self._filters_text,
            "size": f"{human(self.nbytes)} in {human(self.cbytes)}, {self.cratio:.2f}x"
            if self.cbytes
            else human(self.nbytes),
            "stored": f"{self.nchunks} chunks, {self.special_chunks} of one value",
            "lossy": self.lossy or "no",
            "dead": human(self.dead_bytes),
            "checksums": self.checksums,
            "statistics": self._statistics,
            "path": self.path or self.url or "in memory",
        }
        if self.requests is not None:
            facts["requests"] = f"{self.requests}, {human(self.bytes_read or 0)}"
        return "\n".join(f"{name:10}  {quoted(value)}" for name, value in facts.items())

    __repr__ = __str__


def _lossy(array: Array) -> LossyInfo | str | None:
    try:
        return array.lossy
    except CoquinaError as error:
        return str(error)


def asked(array: Array) -> dict[str, Any]:
    """Return the URL of a remote array, and the ranges that were requested."""
    reader = array.remote
    if reader is None:
        return {}
    return {"url": reader.url, "requests": reader.requests, "bytes_read": reader.bytes_read}


@dataclass(frozen=True, slots=True)
class Damage:
    """A damaged chunk: its number, its region of the array, and the error.

    >>> import coquina as cq
    >>> a = cq.arange(3, path="a.b2nd", overwrite=True)
    >>> [damage.chunk for damage in a.verify()]
    []
    """

    chunk: int
    region: tuple[slice, ...]
    error: Exception

    @classmethod
    def of(cls, chunk: int, ranges: list[tuple[int, int]], error: Exception) -> Damage:
        """Take over what the engine found."""
        return cls(chunk, tuple(slice(start, stop) for start, stop in ranges), error)

    def __str__(self) -> str:
        """Say where it is and what it is."""
        region = ", ".join(f"{part.start}:{part.stop}" for part in self.region)
        return f"chunk {self.chunk}, items [{region}]: {quoted(self.error)}"


def ratio(nbytes: int, cbytes: int) -> float:
    """Return decoded bytes for each stored one; infinite where nothing needs to be stored."""
    if cbytes:
        return nbytes / cbytes
    return float("inf") if nbytes else 1.0


def human(nbytes: float) -> str:
    """Return a number of bytes with a unit that fits."""
    for unit in ("B", "KiB", "MiB", "GiB"):
        if abs(nbytes) < 1024:
            return f"{nbytes:.0f} {unit}" if unit == "B" else f"{nbytes:.1f} {unit}"
        nbytes /= 1024
    return f"{nbytes:.1f} TiB"
