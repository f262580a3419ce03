"""Computes on compressed arrays: expressions and reductions of real data, each compared with NumPy.

    make demo        or        python demo/compute_demo.py

A real array (computed tomography or climate, if `python -m bench.common.data --fetch` has brought them,
else the sample in the repository) and a generated weather field become .b2nd files. Sums and extremes along
each axis, standard scores and conditions are computed from the files and held against NumPy on plain
memory; one result is written to a file, block by block. The exit code is 1 if anything differs. Takes some
seconds.
"""

from __future__ import annotations

import statistics
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from array_demo import ROOT, examples  # first: it shows where the benches' modules are

import coquina as cq

# isort: split
import numpy as np

from bench.common import harness
from bench.common.harness import Effort

EFFORT = Effort(seconds=0.3, rounds_min=2, rounds_max=7)
#: What is computed: the same code for a compressed array and for a NumPy array.
TASKS: dict[str, Callable[[Any, Any], Any]] = {
    "x.sum(axis=0)": lambda x, np: x.sum(axis=0),
    "x.max(axis=1)": lambda x, np: x.max(axis=1),
    "x.mean(axis=2)": lambda x, np: x.mean(axis=2),
    "x.min()": lambda x, np: x.min(),
    "(x > x.mean()).sum()": lambda x, np: (x > x.mean()).sum(),
    "((x - x.mean(axis=0)) / x.std() > 3).sum()": lambda x, np: ((x - x.mean(axis=0)) / x.std() > 3).sum(),
    "np.sqrt(abs(x - 1.5)).max(axis=0)": lambda x, np: np.sqrt(abs(x - 1.5)).max(axis=0),
}


def is_close(x: Any, y: Any) -> bool:
    """Same dtype and shape; numbers equal but for the last places of sums."""
    x, y = np.asarray(x), np.asarray(y)
    bound = {"f": 1e-4 if x.dtype.itemsize == 4 else 1e-11}.get(x.dtype.kind, 0)
    return x.dtype == y.dtype and x.shape == y.shape and np.allclose(x, y, rtol=bound, atol=bound)


def show(x: np.ndarray, path: Path) -> bool:
    """Computes every task from the file and from memory, prints a table, and says whether all agree."""
    rows, is_right = [], True
    with cq.open(path) as a:
        a.cache_bytes = 0  # else the second read of a block would cost nothing
        for title, task in TASKS.items():
            same = is_close(task(a, np), task(x, np))
            is_right &= same
            calls = {"coquina": lambda task=task: task(a, np), "NumPy": lambda task=task: task(x, np)}
            seconds = harness.take_turns(calls, EFFORT)
            times = [1e3 * statistics.median(values) for values in seconds.values()]
            rows.append([title, *times, "same" if same else "DIFFERENT"])
        print(harness.markdown(["computed", "coquina, file, ms", "NumPy, memory, ms", "result"], rows))
        target = path.with_name(f"{path.stem}-score.b2nd")
        score = ((a - a.mean()) / a.std()).compute(path=target, level=5, overwrite=True)
        same = is_close(score[...], (x - x.mean()) / x.std())
        verdict = "same" if same else "DIFFERENT"
        print(f"standard scores in {target.name}: {score.cratio:.1f}x smaller, {verdict}")
        print(f"how a condition is computed:\n{(a > a.mean()).explain()}\n")
    return is_right and same


def main() -> int:
    """Runs all examples."""
    folder = ROOT / "demo-out"
    folder.mkdir(exist_ok=True)
    is_right = True
    for example in examples():
        path = folder / f"compute-{example.name.split()[0]}.b2nd"
        chunks, blocks = example.partition or (None, None)
        array = cq.asarray(example.x, chunks=chunks, blocks=blocks, level=5, path=path, overwrite=True)
        shape = " x ".join(map(str, example.x.shape))
        print(f"\n{example.name}: {shape} {example.x.dtype}, {array.cratio:.1f}x smaller in {path.name}")
        array.close()
        is_right &= show(example.x, path)
    print("all results agree" if is_right else "SOMETHING DIFFERS")
    return 0 if is_right else 1


if __name__ == "__main__":
    sys.exit(main())
