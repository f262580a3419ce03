"""What `test_crash.py` kills: programs that change an array for ever, and say which commits they have made.

A step follows from the seed, its number and the shape of the array: so the tests know what each commit holds.
Importing takes longer than most of these programs live: `nursery` imports once, and forks one for each line
that it reads.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

import numpy as np

import coquina as cq

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

LONGEST = (90, 400)


def step(seed: int, number: int, x: Any) -> Any:
    """Make step `number` on an array, or on the NumPy array that stands for it; return the result."""
    rng = np.random.default_rng((seed, number))
    is_plain = isinstance(x, np.ndarray)
    kind = rng.integers(6)
    rows = rng.integers(0, 1 << 20, (int(rng.integers(1, 12)), x.shape[1]))
    if kind == 0 and x.shape[0] < LONGEST[0]:
        if is_plain:
            return np.concatenate([x, rows])
        x.append(rows)
    elif kind == 1 and x.shape[1] < LONGEST[1]:
        columns = rng.integers(0, 1 << 20, (x.shape[0], int(rng.integers(1, 40))))
        if is_plain:
            return np.concatenate([x, columns], axis=1)
        x.append(columns, axis=1)
    elif kind == 2:
        shape = tuple(int(rng.integers(1, longest)) for longest in LONGEST)
        if is_plain:
            kept = x[: shape[0], : shape[1]]
            return np.pad(kept, [(0, new - old) for new, old in zip(shape, kept.shape, strict=True)])
        x.resize(shape)
    elif kind == 3:
        key = (slice(None, None, int(rng.integers(1, 4))), slice(int(rng.integers(x.shape[1])), None))
        if is_plain:
            x = x.copy()
        x[key] = number
    elif is_plain:
        x = np.concatenate([x, rows])
        x[0] = number
    else:
        # Several changes, one commit.
        with x.transaction():
            x[0] = number
            x.append(rows)
            x[0] = number
            x.attrs["step"] = number
    if not is_plain and number % 7 == 3:
        x.compact()
    return x


def change(path: str, seed: int, number: int) -> None:
    """Make steps from `number` on until somebody ends this."""
    a = cq.open(path, "r+")
    a.durable = seed % 5 == 0
    while True:
        step(seed, number, a)
        number += 1
        os.write(1, b"made %d\n" % number)


def replace(path: str, seed: int, number: int) -> None:
    """Write the file anew until somebody ends this; each file holds its number."""
    while True:
        options = {"chunks": (50, 50), "path": path, "overwrite": True, "contiguous": seed % 2 == 0}
        cq.asarray(np.full((150, 150), number), level=0, **options).close()
        number += 1
        os.write(1, b"made %d\n" % number)


def rows_of(seed: int, number: int) -> Any:
    """Return rows that compress badly, 4 MiB of them."""
    return np.random.default_rng((seed, number)).integers(0, 256, (64, 1 << 16), "u1")


def grow(path: str, seed: int, number: int) -> None:
    """Append much at once until somebody ends this: most of the time is spent in writing."""
    a = cq.open(path, "r+")
    while True:
        a.append(rows_of(seed, number))
        number += 1
        os.write(1, b"made %d\n" % number)


PROGRAMS = {"change": change, "replace": replace, "grow": grow}


def nursery(programs: Mapping[str, Callable[..., None]]) -> None:
    """Fork a program for each line `name path numbers...`; each says which process it is."""
    for line in sys.stdin:
        name, path, *numbers = line.split()
        child = os.fork()
        if child == 0:
            os.write(1, b"started %d\n" % os.getpid())
            try:
                programs[name](path, *map(int, numbers))
            except BaseException as error:
                os.write(1, f"failed {error!r}\n".encode())
            finally:
                os._exit(1)
        os.waitpid(child, 0)
        os.write(1, b"ended\n")


if __name__ == "__main__":
    # What is imported on first use is so here, and not in each program.
    step(0, 1, cq.asarray(np.ones((2, 2), "i8")))
    nursery(PROGRAMS)
