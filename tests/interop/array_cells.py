"""Arrays exchanged with python-blosc2: what is in them, how they are cut and encoded, where they are."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random

import blosc2
import numpy as np

import coquina as cq
from tests.array_cases import DTYPES, random_items
from tests.interop.test_blosc2_chunks import CODECS, FILTERS, KEEP, LOSSY

#: Filters in the order of encoding; which items they take is said by `takes`.
PIPELINES = (
    (),
    ("shuffle",),
    ("bitshuffle",),
    ("delta", "shuffle"),
    ("shuffle", "bytedelta"),
    ("trunc_prec", "shuffle"),
    ("int_trunc", "bitshuffle"),
)
PLACES = ("bytes", "file", "directory")
#: The largest item that a chunk's header can tell.
TYPESIZE_MAX = 255


def takes(pipeline: tuple[str, ...], dtype: np.dtype) -> bool:
    """Whether a pipeline is defined for these items."""
    if "trunc_prec" in pipeline:
        return dtype.str in ("<f4", "<f8")
    if "int_trunc" in pipeline:
        return dtype.kind in "iu" and dtype.isnative
    return "bytedelta" not in pipeline or dtype.itemsize <= TYPESIZE_MAX


@dataclass(frozen=True)
class Cell:
    """One choice of everything."""

    number: int
    dtype: np.dtype
    shape: tuple[int, ...]
    chunks: tuple[int, ...]
    blocks: tuple[int, ...]
    codec: str
    pipeline: tuple[str, ...]
    level: int
    place: str

    def items(self) -> np.ndarray:
        return random_items(Random(self.number), self.shape, self.dtype)

    @property
    def is_lossy(self) -> bool:
        return bool(LOSSY & set(self.pipeline))

    def ours(self, x: np.ndarray, path: Path) -> cq.Array:
        filters = [(name, KEEP) if name in LOSSY else name for name in self.pipeline]
        return cq.asarray(
            x,
            chunks=self.chunks,
            blocks=self.blocks,
            codec=self.codec,
            level=self.level,
            filters=filters,
            path=None if self.place == "bytes" else path,
            contiguous=self.place == "file",
        )

    def theirs(self, x: np.ndarray, path: Path, **options: object) -> blosc2.NDArray:
        # A copy: the peer may write into its input.
        return blosc2.asarray(
            x.copy(),
            chunks=self.chunks,
            blocks=self.blocks,
            cparams=blosc2.CParams(
                codec=CODECS[self.codec],
                clevel=self.level,
                typesize=self.dtype.itemsize,
                filters=[FILTERS[name] for name in self.pipeline] or [blosc2.Filter.NOFILTER],
                filters_meta=[KEEP if name in LOSSY else 0 for name in self.pipeline] or [0],
                nthreads=1,
            ),
            urlpath=None if self.place == "bytes" else str(path),
            contiguous=self.place != "directory",
            **options,
        )


def cells(codec: str, pipeline: tuple[str, ...], count: int) -> Iterator[Cell]:
    """Yield so many cells with chunks and blocks of all kinds, always the same ones."""
    rng = Random(f"{codec} {pipeline}")
    dtypes = [dtype for dtype in DTYPES if takes(pipeline, dtype)]
    for number in range(count):
        shape = tuple(rng.randint(1, 14) for _ in range(rng.choice((1, 1, 2, 2, 3, 4))))
        while np.prod(shape) > 1500:
            shape = shape[1:]
        # The peer makes no chunks that are longer than the array is.
        chunks = tuple(rng.choice((rng.randint(1, n), n)) for n in shape)
        blocks = tuple(rng.choice((rng.randint(1, n), n)) for n in chunks)
        level = rng.choice((0, 1, 5, 5, 9) if codec != "zstd" else (0, 1, 3, 5))
        place = PLACES[number % len(PLACES)]
        yield Cell(number, dtypes[number % len(dtypes)], shape, chunks, blocks, codec, pipeline, level, place)
