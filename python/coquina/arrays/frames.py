"""`Frame`: a file or directory of plain chunks, chunk by chunk; what python-blosc2 calls an SChunk.

In: bytes of chunks. Out: chunks by number, decoded or as they are stored, and metadata. Arrays are frames
too, and are better used as `Array`.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from coquina import _core
from coquina._core import CoquinaError
from coquina.attrs import Attrs, Meta
from coquina.html import caption_html, facts_html
from coquina.msgpack_values import pack
from coquina.remote import new_path
from coquina.storage_options import FrameOptions, encoding_of
from coquina.tuning_options import info_of

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Mapping
    from typing import Unpack

    from coquina._core import Buffer, Path
    from coquina.remote import RangeReader
    from coquina.tuning_options import TuningInfo


class Frame:
    """A sequence of compressed chunks of bytes, in a file, a directory or memory.

    `frame[n]` decodes chunk `n` to bytes. Each change is one commit.

    attrs: metadata that can be changed. meta: fixed metadata.

    >>> import coquina as cq
    >>> frame = cq.Frame.create("x.b2frame", overwrite=True)
    >>> number = frame.append(b"first chunk")
    >>> frame[0], len(frame)
    (b'first chunk', 1)
    """

    def __init__(self, handle: _core.FrameHandle) -> None:
        """Wrap an open handle; users call `coquina.open` or `Frame.create`."""
        self._handle = handle
        #: The reader of a frame behind a URL, with counts of `requests` and `bytes_read`; else None.
        self.remote: RangeReader | None = None

    @classmethod
    def create(
        cls,
        path: Path,
        *,
        typesize: int = 1,
        chunk_size: int = 0,
        meta: Mapping[str, Any] | None = None,
        **storage: Unpack[FrameOptions],
    ) -> Frame:
        """Create a frame without chunks.

        chunk_size: bytes of each chunk except the last, before compression; 0 allows any sizes.
        typesize, codec, level, filters: the encoding of chunks. The codec "auto" chooses for each chunk, by
            the keywords of `Tuning`: goal, for_, and others. path, threads and the other options are those of
            `asarray`.
        meta: fixed metadata.

        >>> import coquina as cq
        >>> frame = cq.Frame.create("x.b2frame", typesize=8, codec="lz4", overwrite=True)
        >>> len(frame)
        0
        """
        handle = _core.create_frame(
            new_path(path),
            typesize=typesize,
            chunk_size=chunk_size,
            metalayers=[(name, pack(value)) for name, value in (meta or {}).items()],
            **encoding_of(Frame.create, storage, FrameOptions),
        )
        handle.publish()
        return cls(handle)

    @property
    def path(self) -> str | None:
        """The absolute path of the file or directory; None for bytes and file objects."""
        return self._handle.path

    @property
    def attrs(self) -> Attrs:
        """Metadata by name, a mapping that can be changed."""
        return Attrs(self._handle)

    @property
    def meta(self) -> Meta:
        """The fixed metadata by name."""
        return Meta(self._handle)

    @property
    def tuning(self) -> TuningInfo | None:
        """What chunks are tuned for; None where all are encoded in the same way. Raises CorruptError."""
        return info_of(self._handle.tuning())

    @property
    def nbytes(self) -> int:
        """Bytes that all chunks decode to."""
        return self._handle.stats()["nbytes"]

    @property
    def cbytes(self) -> int:
        """Bytes of the chunks as stored."""
        return self._handle.stats()["cbytes"]

    def info(self) -> dict[str, Any]:
        """Return how the frame is stored, as plain values; `tuning` is there only where chunks are tuned.

        >>> import coquina as cq
        >>> frame = cq.Frame.create("x.b2frame", overwrite=True)
        >>> number = frame.append(b"x" * 1000)
        >>> frame.info()["nchunks"]
        1
        """
        stats = self._handle.stats()
        try:
            found = self.tuning
        except CoquinaError as error:
            return {**stats, "tuning": str(error)}
        return stats if found is None else {**stats, "tuning": str(found)}

    def __len__(self) -> int:
        """Return how many chunks there are."""
        return self._handle.stats()["nchunks"]

    def __getitem__(self, number: int) -> bytes:
        """Return what a chunk decodes to. Raises IndexError, CorruptError."""
        return self._handle.chunk(self._number(number))

    def __iter__(self) -> Iterator[bytes]:
        """Iterate over what the chunks decode to."""
        return (self[number] for number in range(len(self)))

    def stored(self, number: int) -> bytes:
        """Return a chunk as it is stored: what `decompress` takes.

        >>> import coquina as cq
        >>> frame = cq.Frame.create("x.b2frame", overwrite=True)
        >>> frame.append(b"x" * 1000)
        >>> len(frame.stored(0)) < 1000
        True
        """
        return self._handle.stored_chunk(self._number(number))

    def append(self, data: Buffer) -> None:
        """Add a chunk of `data` at the end.

        >>> import coquina as cq
        >>> frame = cq.Frame.create("x.b2frame", overwrite=True)
        >>> frame.append(b"first")
        >>> frame[0]
        b'first'
        """
        self.insert(len(self), data)

    def insert(self, number: int, data: Buffer) -> None:
        """Add a chunk of `data` before chunk `number`, or at the end for `len(frame)`.

        >>> import coquina as cq
        >>> frame = cq.Frame.create("x.b2frame", chunk_size=0, overwrite=True)
        >>> frame.append(b"last")
        >>> frame.insert(0, b"first")
        >>> frame[0]
        b'first'
        """
        number = number if number == len(self) else self._number(number)
        self._handle.put_chunk(number, self._encode(data), insert=True)

    def __setitem__(self, number: int, data: Buffer) -> None:
        """Put a chunk of `data` in place of chunk `number`."""
        self._handle.put_chunk(self._number(number), self._encode(data))

    def __delitem__(self, number: int) -> None:
        """Remove a chunk; the ones behind it move up."""
        self._handle.remove_chunk(self._number(number))

    def _encode(self, data: Buffer) -> bytes:
        if (made := self._handle.tuned_chunk(data)) is not None:
            return made
        info = self._handle.stats()
        parameter = info["codec_parameter"]
        codec = info["codec"] if parameter is None else (info["codec"], parameter)
        return _core.compress(
            data,
            typesize=info["typesize"],
            codec=codec,
            level=info["level"],
            filters=info["filters"],
        )

    def _number(self, number: int) -> int:
        count = len(self)
        if not -count <= number < count:
            raise IndexError(f"chunk {number} of a frame of {count}")
        return number % count

    @contextmanager
    def transaction(self) -> Generator[Frame]:
        """Make all changes within one commit. An exception undoes them all.

        >>> import coquina as cq
        >>> frame = cq.Frame.create("x.b2frame", chunk_size=0, overwrite=True)
        >>> with frame.transaction():
        ...     first, second = frame.append(b"one"), frame.append(b"two")
        >>> len(frame)
        2
        """
        self._handle.begin()
        try:
            yield self
        except BaseException:
            self._handle.rollback()
            raise
        self._handle.commit()

    def compact(self) -> None:
        """Give back the space that old versions of chunks take in the file.

        >>> import coquina as cq
        >>> frame = cq.Frame.create("x.b2frame", overwrite=True)
        >>> frame.compact()
        """
        self._handle.compact()

    def refresh(self) -> bool:
        """Go to the newest commit of whoever writes the file; return whether there was one.

        >>> import coquina as cq
        >>> frame = cq.Frame.create("x.b2frame", overwrite=True)
        >>> with cq.open("x.b2frame") as reader:
        ...     number = frame.append(b"first")
        ...     changed = reader.refresh()
        ...     print(len(reader))
        1
        """
        return self._handle.refresh()

    @property
    def is_closed(self) -> bool:
        """Whether it was closed, so that it can no longer be read."""
        return self._handle.is_closed

    def close(self) -> None:
        """Let go of the file.

        >>> import coquina as cq
        >>> frame = cq.Frame.create("x.b2frame", overwrite=True)
        >>> frame.close()
        >>> frame.is_closed
        True
        """
        self._handle.close()

    def __enter__(self) -> Frame:
        """Return the frame; it is closed at the end of the `with` block."""
        return self

    def __exit__(self, *exception: object) -> None:
        """Close it."""
        self.close()

    def _repr_html_(self) -> str:
        """Return a table of facts, for notebooks."""
        return caption_html(self) if self.is_closed else facts_html(self.info().items())

    def __repr__(self) -> str:
        """Say how many chunks there are and how small they are."""
        if self.is_closed:
            return "<Frame, closed>"
        info = self.info()
        return f"<Frame of {info['nchunks']} chunks, {info['nbytes']} bytes in {info['cbytes']}>"
