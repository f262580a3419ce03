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
    """How an array is stored, as of one moment.

    shape, chunks, blocks: items along each axis of the array, of a chunk, of a block.
    codec, level, filters: how new chunks are encoded; those of other writers may differ.
    codec_parameter: of a codec that has one, else None.
    nbytes, cbytes: bytes of the items, and of the chunks as stored.
    nchunks, special_chunks: how many chunks, and how many of them are one value and store nothing.
    dead_bytes: bytes of the file that nothing refers to any more; `compact` gives them back.
    checksums: "fresh" where chunks have them, "stale" after another program wrote the file, until this one
        writes again (chunks of the other one have none until the array is compacted), "absent".
    known_chunks: of how many chunks the least and the greatest item are known; None if items are no numbers
        that have an order.
    blocks_decoded, blocks_cached: work of this handle's reads so far: blocks decoded, and blocks found
        decoded.
    lossy: what may be lost of the items, and what was; None where they are kept exactly, a text where this is
        not known, as what the file says of it is damaged.
    tuning: what chunks are tuned for; None where all are encoded as codec, level and filters say, a text
        where what the file says of it is damaged.
    encodings: how many chunks of a tuned array are encoded how; None for others, and for remote arrays.
    url, requests, bytes_read: of a remote array: where it is, how many ranges of its file were asked for
        by all who read it, and how many bytes came; else None.

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
    """A chunk that cannot be read: its number, the region of the array that it holds, and what is wrong.

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
