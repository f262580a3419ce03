"""Damages of files at rest: bits, sectors, swaps and cuts, by a seed.

In: a folder with a file or a directory. Out: one of its files damaged, and a sentence that says how.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

SECTOR = 512
KINDS = ("bit", "byte", "sector of zeros", "sector of noise", "swap", "old sector", "cut")


def damage(folder: str, seed: int) -> str:
    """Damage a file of a folder. Which, where and how follow from the seed."""
    rng = np.random.default_rng((20260106, seed))
    files = sorted(one for one in Path(folder).rglob("*") if one.is_file())
    # Larger files are hit more often, and small ones often enough.
    weights = np.array([one.stat().st_size + 500 for one in files], float)
    path = files[int(rng.choice(len(files), p=weights / weights.sum()))]
    content = bytearray(path.read_bytes())
    kind = KINDS[int(rng.choice(len(KINDS), p=[0.4, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1]))]
    at = int(rng.integers(len(content)))
    start = at // SECTOR * SECTOR
    stop = min(start + SECTOR, len(content))
    other = int(rng.integers(len(content))) // SECTOR * SECTOR
    if kind == "bit":
        content[at] ^= 1 << int(rng.integers(8))
    elif kind == "byte":
        content[at] = int(rng.integers(256))
    elif kind == "sector of zeros":
        content[start:stop] = bytes(stop - start)
    elif kind == "sector of noise":
        content[start:stop] = rng.bytes(stop - start)
    elif kind == "swap":
        length = min(stop - start, len(content) - other)
        one, two = content[start : start + length], content[other : other + length]
        content[start : start + length], content[other : other + length] = two, one
    elif kind == "old sector":
        length = min(stop - start, len(content) - other)
        content[start : start + length] = content[other : other + length]
    else:
        del content[at:]
    is_same = bytes(content) == path.read_bytes()
    path.write_bytes(content)
    return f"{kind} at {at} of {path.name}{', which changes nothing' if is_same else ''}"


__all__ = ["damage"]
