"""`FileRecommendation`: how all arrays of a table or of an HDF5 file should be stored.

In: a `Recommendation` for each array. Out: text, JSON, and a copy of the file or the table that is stored so.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from coquina.tuning.report import explained_file

if TYPE_CHECKING:
    from collections.abc import Callable

    from coquina._core import Path
    from coquina.tuning.recommendation import Recommendation
    from coquina.tuning_options import TuningInfo


@dataclass(frozen=True, slots=True, kw_only=True)
class FileRecommendation:
    """The recommendation of `tune` for a table, a group or an HDF5 file.

    name: of the file or the table. wanted: the goal, the direction and the storage.
    parts: a mapping of paths to `Recommendation`: datasets, columns, or parts of columns.
    automatic: the paths of datasets for which `codec="auto"` is recommended, because HDF5 stores one filter
        for all chunks, and tuned chunks may differ.
    skipped: a mapping of the paths that stay unchanged to the reasons.

    >>> import numpy as np
    >>> import coquina as cq
    >>> with cq.hdf5.File("f.h5", "w") as f:
    ...     d = f.create_dataset("x", data=np.arange(10_000))
    >>> list(cq.tune("f.h5").parts)
    ['/x']
    """

    name: str
    wanted: TuningInfo
    parts: dict[str, Recommendation]
    skipped: dict[str, str]
    automatic: frozenset[str] = frozenset()
    applied: Callable[[FileRecommendation, Path, bool], Any] = field(repr=False, compare=False)

    @property
    def nbytes(self) -> int:
        """Bytes of all items, but of what stays as it is."""
        return sum(one.nbytes for one in self.parts.values())

    @property
    def ratio(self) -> float:
        """Bytes of these items for each stored one."""
        ratios = {
            path: one.automatic.ratio if path in self.automatic else one.ratio
            for path, one in self.parts.items()
        }
        stored = sum(one.nbytes / max(ratios[path], 1e-12) for path, one in self.parts.items())
        return self.nbytes / stored if stored else 1.0

    def __getitem__(self, path: str) -> Recommendation:
        """Return the advice for one array. Raises KeyError for what stays as it is."""
        return self.parts[path]

    def explain(self) -> str:
        """Return what is advised for each array, as lines of text; that of one array says more.

        >>> import numpy as np
        >>> import coquina as cq
        >>> with cq.hdf5.File("f.h5", "w") as f:
        ...     d = f.create_dataset("x", data=np.arange(10_000))
        >>> "x" in str(cq.tune("f.h5").explain())
        True
        """
        return explained_file(self)

    def apply(self, path: Path | None = None, *, overwrite: bool = False) -> Any:
        """Write a copy that is stored so.

        Of an HDF5 file all is copied, as `coquina repack` does it, and what came of it is returned
        (`Repacked`); of a table the rows are, without indexes, and the new table is returned, open.
        Raises ValueError without a path, FileExistsError, and what reading and writing raise.

        >>> import numpy as np
        >>> import coquina as cq
        >>> with cq.hdf5.File("f.h5", "w") as f:
        ...     d = f.create_dataset("x", data=np.arange(10_000))
        >>> done = cq.tune("f.h5").apply("g.h5", overwrite=True)
        >>> cq.open("g.h5")["x"][-1]
        np.int64(9999)
        """
        if path is None:
            raise ValueError("apply: a file or table is copied, so it needs the path of the new one")
        return self.applied(self, path, overwrite)

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as values that JSON knows.

        >>> import numpy as np
        >>> import coquina as cq
        >>> with cq.hdf5.File("f.h5", "w") as f:
        ...     d = f.create_dataset("x", data=np.arange(10_000))
        >>> sorted(cq.tune("f.h5").to_dict())[:2]
        ['automatic', 'bandwidth']
        """
        return {
            "name": self.name,
            **asdict(self.wanted),
            "nbytes": self.nbytes,
            "ratio": self.ratio,
            "parts": {path: one.to_dict() for path, one in self.parts.items()},
            "automatic": sorted(self.automatic),
            "skipped": self.skipped,
        }

    def __str__(self) -> str:
        """Return the text of `explain`."""
        return self.explain()


__all__ = ["FileRecommendation"]
