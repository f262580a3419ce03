"""`train`: a profile for `codec="auto"`, learnt from a user's files on the user's machine.

In: files, or folders of them. Out: a `Training`: the profile, and how good its choices are for other files.
Method: blocks from places in every array are encoded and decoded by every way that the tuner knows. The
profile holds by how much times and sizes differ from those of the shipped table. It is judged on files that
are left out in turns.
Memory: at most `samples` times three blocks, and what `tune` takes for an array.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from coquina import _core
from coquina._core import CoquinaError
from coquina.arrays.aligning import aligned
from coquina.disk import new_file
from coquina.dtypes import dtype_text
from coquina.folder_members import ARRAY, STORE, TABLE, has_member
from coquina.keyword_hints import names_keywords
from coquina.remote import new_path
from coquina.tuning.advising import advice_of
from coquina.tuning.arrays import Request
from coquina.tuning.samples import spread
from coquina.tuning.sources import opened
from coquina.tuning_options import info_of, terms_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from coquina._core import Path, Profile
    from coquina.tuning.patterns import Shape
    from coquina.tuning.samples import Place
    from coquina.tuning_options import For, Goal

#: At most so many places of an array.
PLACES = 4
GOALS: tuple[Goal, ...] = ("speed", "balanced", "size")
#: What is in folders that are one array, store or table.
_UNITS = (ARRAY, STORE, TABLE)


@dataclass(frozen=True, slots=True)
class Training:
    """What `train` learnt.

    profile: for `codec="auto", profile=`.
    judged: by goal, the mean part by which choices cost more than the best encoding of each sample:
        with the shipped table, and with a profile from other files.
    samples: of each file. skipped: files without samples, and why.

    >>> import numpy as np
    >>> import coquina as cq
    >>> np.save("x.npy", np.arange(100_000) // 7)
    >>> found = cq.train("x.npy", goals=["balanced"])
    >>> list(found.judged), list(found.samples)
    (['balanced'], ['x.npy'])
    """

    profile: Profile
    judged: dict[str, tuple[float, float]]
    samples: dict[str, int]
    skipped: dict[str, str]

    @property
    def is_better(self) -> bool:
        """Whether the profile chooses better than the shipped table, for files that were left out."""
        shipped, trained = (sum(one[which] for one in self.judged.values()) for which in (0, 1))
        return trained < shipped

    def explain(self) -> str:
        """Return how good the profile is, as lines of text.

        >>> import numpy as np
        >>> import coquina as cq
        >>> np.save("x.npy", np.arange(100_000) // 7)
        >>> "shipped" in cq.train("x.npy", goals=["size"]).explain()
        True
        """
        count, files = sum(self.samples.values()), len(self.samples)
        rows = [["goal", "shipped", "profile"]]
        rows += [
            [goal, f"{shipped:.1%}", f"{trained:.1%}"] for goal, (shipped, trained) in self.judged.items()
        ]
        verdict = "better than" if self.is_better else "not better than"
        return "\n".join(
            [
                f"{count} samples of {files} {'file' if files == 1 else 'files'}. Extra cost beyond the best",
                "encoding, for samples that the profile was not trained with:",
                *aligned(rows, right=1),
                f"The profile is {verdict} the shipped table for these files.",
                *(f"skipped {name}: {why}" for name, why in self.skipped.items()),
            ]
        )

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as values that JSON knows.

        >>> import numpy as np
        >>> import coquina as cq
        >>> np.save("x.npy", np.arange(100_000) // 7)
        >>> sorted(cq.train("x.npy", goals=["size"]).to_dict())
        ['is_better', 'judged', 'profile', 'samples', 'skipped']
        """
        return {
            "profile": self.profile.text,
            "judged": {goal: {"shipped": one[0], "trained": one[1]} for goal, one in self.judged.items()},
            "is_better": self.is_better,
            "samples": self.samples,
            "skipped": self.skipped,
        }


class _Gathered:
    """Places of the arrays of files, by the number of their file."""

    def __init__(self) -> None:
        self.places: list[list[tuple[Place, Shape]]] = []

    def take(self, places: list[Place], blocks: Shape) -> None:
        """Keep some places of an array of the last file."""
        self.places[-1] += [(places[number], blocks) for number in spread(len(places), PLACES)]

    def chosen(self, most: int) -> Iterator[tuple[int, Place, Shape]]:
        """Yield at most so many: one of each file, then another one of each, as long as there are some."""
        longest = max(map(len, self.places), default=0)
        turns = ((at, file) for at in range(longest) for file in range(len(self.places)))
        left = [(file, *self.places[file][at]) for at, file in turns if at < len(self.places[file])]
        yield from left[:most]


@names_keywords
def train(
    x: Path | Sequence[Path],
    *,
    path: Path | None = None,
    goals: Sequence[Goal] = GOALS,
    for_: For = "both",
    bandwidth: float | None = None,
    samples: int = 64,
    overwrite: bool = False,
    progress: Callable[[int], object] | None = None,
) -> Training:
    """Measure encodings on your files and this machine, and return a profile for `codec="auto"`.

    x: the path of a file or a folder, or a list of them; files as for `tune`.
    path: the file to write the profile to, as text, if it is better than the built-in table.
    goals: the goals that the profile is judged by. for_, bandwidth: as for `codec="auto"`; the profile can be
        used with other values.
    samples: the maximal number of places that are measured; each takes about a second.
    progress: a function that is called with the number of samples done.
    overwrite: replace an existing file at `path`.

    Returns a `Training`. Times are measured, so let nothing else run meanwhile. With the same profile, the
    same values give the same bytes on every machine.

    Raises ValueError if the files have no elements, FileNotFoundError, FileExistsError.

    >>> import numpy as np
    >>> import coquina as cq
    >>> np.save("x.npy", np.arange(100_000) // 7)
    >>> found = cq.train("x.npy", goals=["balanced"])
    >>> a = cq.asarray(np.arange(100_000) // 7, codec="auto", profile=found.profile)
    >>> int(a[99_999])
    14285
    """
    if path is not None and not overwrite and os.path.lexists(path):
        raise FileExistsError(f"{os.fsdecode(path)} exists; pass overwrite=True to replace it")
    words: dict[str, Any] = {"for_": for_} | ({} if bandwidth is None else {"bandwidth": bandwidth})
    terms = {str(goal): terms_of({**words, "goal": goal}) for goal in goals}
    names = [x] if isinstance(x, str | os.PathLike) else list(x)
    files = [file for name in names for file in _files(os.fsdecode(name))]
    gathered, skipped = _gather(files)
    trainer, counts = _core.TrainerHandle(), [0] * len(files)
    for file, place, blocks in gathered.chosen(samples):
        _observe(trainer, file, place, blocks)
        counts[file] += 1
        if progress is not None:
            progress(sum(counts))
    if not any(counts):
        reasons = "".join(f"; {name}: {why}" for name, why in skipped.items())
        raise ValueError(f"train: no file has items that an array can have{reasons}")
    training = Training(
        trainer.profile(),
        {goal: trainer.judge(one) for goal, one in terms.items()},
        {name: count for name, count in zip(files, counts, strict=True) if count},
        skipped,
    )
    if path is not None and training.is_better:
        with new_file(new_path(path)) as temporary, open(temporary, "x", encoding="utf-8") as file:
            file.write(training.profile.text)
    return training


def _files(name: str) -> list[str]:
    """Return the files in a folder and below; a folder that is one array, store or table by itself."""
    if not os.path.isdir(name) or _is_unit(name):
        return [name]
    found: list[str] = []
    for one in sorted(os.listdir(name)):
        if not one.startswith("."):
            found += _files(os.path.join(name, one))
    return found


def _is_unit(folder: str) -> bool:
    return any(has_member(folder, one) for one in _UNITS)


def _gather(files: list[str]) -> tuple[_Gathered, dict[str, str]]:
    """Return places of all files, and why files have none. Raises FileNotFoundError."""
    wanted = info_of(terms_of({}))
    assert wanted is not None
    gathered, skipped = _Gathered(), dict[str, str]()
    request = Request(wanted, "any", None, None, None, None, observer=gathered.take)
    for file in files:
        gathered.places.append([])
        try:
            with opened(file) as found:
                advice_of(found, request, file, partial(opened, file))
        except FileNotFoundError:
            raise
        except (CoquinaError, OSError, TypeError, ValueError) as error:
            skipped[file] = str(error)
        if not gathered.places[-1]:
            skipped.setdefault(file, "it has no items that an array can have")
    return gathered, skipped


def _observe(trainer: _core.TrainerHandle, file: int, place: Place, blocks: Shape) -> None:
    """Measure every way on the blocks of a place."""
    items = place.items
    trainer.observe(
        file,
        items.reshape(-1).view(np.uint8),
        items[:1].nbytes,
        items.dtype.itemsize,
        dtype_text(items.dtype),
        blocks,
    )


__all__ = ["Training", "train"]
