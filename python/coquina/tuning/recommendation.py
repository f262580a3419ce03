"""`Recommendation`: how an array should be stored, what was tried for that, and why.

In: what was tried and counted. Out: options of `asarray`, text for people, JSON, and the array, stored so.
"""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from coquina.arrays.array import Array
from coquina.arrays.creation import asarray
from coquina.hdf5_names import is_hdf5_name
from coquina.tuning.report import explained, reason
from coquina.tuning.sources import is_dataset

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    import numpy as np

    from coquina._core import Path
    from coquina.lossy import Lossy
    from coquina.tuning.patterns import Use
    from coquina.tuning.shapes import Cut
    from coquina.tuning.ways import Automatic, Choice, Pipeline, Trial
    from coquina.tuning_options import TuningInfo


@dataclass(frozen=True, slots=True, kw_only=True)
class Recommendation:
    """The recommendation of `tune` for an array.

    name: of the array, if it has one. shape, dtype: of the array.
    wanted: the goal, the direction and the storage. uses: the expected reads, with their numbers.
    cuts: the candidate shapes of chunks and blocks, with the cost of each read; the first one is recommended.
    choice: the encodings that were tried; the first one is recommended.
    sample_bytes, places: the number of bytes sampled, and of places.
    lossy: the error bound; None for exact.
    threads: the number of threads of `apply`.

    >>> import numpy as np
    >>> import coquina as cq
    >>> found = cq.tune(np.arange(100_000))
    >>> found.ratio > 1
    True
    """

    name: str
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    wanted: TuningInfo
    uses: tuple[Use, ...]
    cuts: tuple[Cut, ...]
    choice: Choice
    sample_bytes: int
    places: int
    lossy: Lossy | None = None
    threads: int | None = field(default=None, repr=False)
    source: Callable[[], AbstractContextManager[Any]] = field(repr=False, compare=False)

    @property
    def best(self) -> Trial:
        """What the advised codec, level and filters came to."""
        return self.choice.best

    @property
    def tried(self) -> tuple[Trial, ...]:
        """All ways that were tried, the cheapest first."""
        return self.choice.tried

    @property
    def automatic(self) -> Automatic:
        """What `codec="auto"` would come to, which chooses for each chunk."""
        return self.choice.automatic

    @property
    def codec(self) -> str:
        """The advised codec."""
        return self.best.way.codec

    @property
    def level(self) -> int:
        """The advised level."""
        return self.best.way.level

    @property
    def filters(self) -> Pipeline:
        """The advised filters, as `filters=` takes them."""
        return self.best.way.filters

    @property
    def cut(self) -> Cut:
        """The advised shapes of chunks and blocks."""
        return self.cuts[0]

    @property
    def chunks(self) -> tuple[int, ...]:
        """Items of a chunk along each axis."""
        return self.cut.chunks

    @property
    def blocks(self) -> tuple[int, ...]:
        """Items of a block along each axis."""
        return self.cut.blocks

    @property
    def ratio(self) -> float:
        """Bytes of the items for each stored one."""
        return self.best.ratio

    @property
    def write_mbs(self) -> float:
        """Millions of bytes that one core encodes in a second."""
        return self.best.write_mbs

    @property
    def read_mbs(self) -> float:
        """Millions of bytes that one core decodes in a second."""
        return self.best.read_mbs

    @property
    def cost(self) -> float:
        """What the goal is the least of; see `Trial`."""
        return self.best.cost

    @property
    def why(self) -> str:
        """Why this way to encode is advised, in a sentence."""
        return reason(self)

    @property
    def nbytes(self) -> int:
        """Bytes of all items."""
        nbytes = self.dtype.itemsize
        for length in self.shape:
            nbytes *= length
        return nbytes

    @property
    def options(self) -> dict[str, Any]:
        """What to give `asarray` and others that make arrays: `cq.asarray(x, **advice.options)`."""
        found: dict[str, Any] = {"codec": self.codec, "level": self.level, "filters": self.filters}
        found |= {"chunks": self.chunks, "blocks": self.blocks}
        return found if self.lossy is None else found | {"lossy": self.lossy}

    def explain(self) -> str:
        """Return the encodings and shapes that were tried, their costs, and the reason for the choice.

        >>> import numpy as np
        >>> import coquina as cq
        >>> "tried" in str(cq.tune(np.arange(100_000)).explain())
        False
        """
        return explained(self)

    def apply(self, path: Path | None = None, *, overwrite: bool = False) -> Any:
        """Store the data with the recommended encoding. Returns the array, in a file or in memory.

        path: the file to write; None: in memory. overwrite: replace an existing file.

        The data are read again, so a file must still exist. A dataset of an HDF5 file can be copied to a new
        HDF5 file, as by `coquina repack`; the result is then a `Repacked`. Raises ValueError for a suffix of
        another format, FileExistsError, and the errors of `asarray`.

        >>> import numpy as np
        >>> import coquina as cq
        >>> cq.tune(np.arange(100_000)).apply()[-1]
        np.int64(99999)
        """
        check_name(path)
        given: dict[str, Any] = {"path": path, "overwrite": overwrite, "threads": self.threads}
        with self.source() as x:
            if path is not None and is_dataset(x) and is_hdf5_name(path):
                from coquina.tuning.dataset_copies import copy_dataset

                return copy_dataset(self, x, path, overwrite)
            if type(x) is Array:
                return x.copy(**self.options, **given)
            return asarray(x, copy=True, **self.options, **given)

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as values that JSON knows.

        >>> import numpy as np
        >>> import coquina as cq
        >>> cq.tune(np.arange(100_000)).to_dict()["shape"]
        [100000]
        """
        automatic, features = asdict(self.automatic), self.choice.features
        return {
            "name": self.name,
            "shape": list(self.shape),
            "dtype": self.dtype.str
            if self.dtype.names is None
            else f"records of {len(self.dtype.names)} fields",
            "nbytes": self.nbytes,
            **asdict(self.wanted),
            "access": {use.word: use.weight for use in self.uses},
            "sample": {"nbytes": self.sample_bytes, "places": self.places},
            "codec": self.codec,
            "level": self.level,
            "filters": self.best.way.pipeline,
            "chunks": list(self.chunks),
            "blocks": list(self.blocks),
            "lossy": None if self.lossy is None else {self.lossy.bound: self.lossy.value},
            "ratio": self.ratio,
            "write_mbs": self.write_mbs,
            "read_mbs": self.read_mbs,
            "cost": self.cost,
            "why": self.why,
            "features": {
                **asdict(features),
                "entropies": list(features.entropies),
                "delta_entropies": list(features.delta_entropies),
            },
            "tried": [trial_facts(one) for one in self.tried],
            "automatic": automatic,
            "cuts": [cut_facts(one) for one in self.cuts],
        }

    def __str__(self) -> str:
        """Return the text of `explain`."""
        return self.explain()


def trial_facts(one: Trial) -> dict[str, Any]:
    """Return a way that was tried as JSON has it."""
    return {
        "codec": one.way.codec,
        "level": one.way.level,
        "filters": one.way.pipeline,
        "ratio": one.ratio,
        "write_mbs": one.write_mbs,
        "read_mbs": one.read_mbs,
        "cost": one.cost,
        "places": one.places,
    }


def cut_facts(one: Cut) -> dict[str, Any]:
    """Return a way to cut an array as JSON has it."""
    return {
        "name": one.name,
        "chunks": list(one.chunks),
        "blocks": list(one.blocks),
        "seconds": one.seconds,
        "reads": [
            {
                "key": str(each.pattern),
                "blocks": each.blocks,
                "chunks": each.chunks,
                "decoded_bytes": each.decoded_bytes,
                "wanted_bytes": each.wanted_bytes,
                "seconds": each.seconds,
                "often": each.often,
            }
            for each in one.readings
        ],
    }


#: Names of files that are no frames.
_OTHERS = (".npy", ".npz", ".blp", ".csv", ".parquet", ".tif", ".tiff", ".png", ".zarr")


def check_name(path: Path | None) -> None:
    """Raise ValueError for the name of a file that is no frame: it would be taken for what it is not."""
    name = "" if path is None else os.fsdecode(path)
    if name.lower().endswith(_OTHERS) or ".h5:" in name:
        raise ValueError(f"apply: {name}: arrays are written as .b2nd files")


__all__ = ["Recommendation"]
