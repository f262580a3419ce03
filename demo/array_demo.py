"""Stores arrays in files, reads parts along every axis, shows which blocks that took and that all is right.

    make demo        or        python demo/array_demo.py

A real array (computed tomography or climate, if `python -m bench.common.data --fetch` has brought them,
else the sample in the repository) and a generated weather field become .b2nd files. Planes, a box, steps
and single elements are read by coquina and, from the same file, by python-blosc2, and compared with NumPy
bit for bit; then a copy is damaged to see that it is noticed, rows are appended, and everything is
verified. The exit code is 1 if anything differs. Prints a table for each array and saves
demo-out/slices.png; takes some seconds.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import numpy as np  # noqa: E402

import coquina as cq  # noqa: E402  (the loader and the peers live in bench/)
from bench.common import data, harness, peers, synthetic  # noqa: E402
from bench.common.harness import Effort  # noqa: E402
from bench.common.peers import as_bytes  # noqa: E402

HOURS = 24  # of the generated field: 24 x 361 x 720 float32 is 25 MB
EFFORT = Effort(seconds=0.4, rounds_min=3, rounds_max=15)
REAL = ("ct_lung", "cmip_tas")  # in the cache, perhaps; the first that is there
Partition = tuple[tuple[int, ...], tuple[int, ...]]
SMALL: Partition = ((12, 20, 25), (4, 10, 13))  # for the sample: by default it would be a single chunk


@dataclass(frozen=True)
class Example:
    """An array, and chunks and blocks where the default would show little."""

    name: str
    x: np.ndarray
    partition: Partition | None = None


@dataclass(frozen=True)
class Row:
    """One read: the blocks it took, milliseconds by library, whether all agree with NumPy."""

    title: str
    result: str
    blocks: int
    times: dict[str, float]
    is_equal: bool


def examples() -> list[Example]:
    """A real array and a generated one."""
    cached = data.cached()
    name = next((name for name in REAL if name in cached), None)
    real = Example("temperature (real)", data.sample()["temperature"], SMALL)
    if name is not None:
        real = Example(f"{name} (real)", np.ascontiguousarray(cached[name]))
    return [
        real,
        Example("ERA5-like temperature (generated)", synthetic.era5("temperature", (HOURS, 361, 720))),
    ]


def selections(x: np.ndarray) -> dict[str, Any]:
    """What is read, written as Python writes it."""
    a, b, c = (n // 2 for n in x.shape)
    box = tuple(slice(n // 3, n // 3 + max(1, n // 8)) for n in x.shape)
    return {
        f"[{a}]": np.s_[a],
        f"[:, {b}]": np.s_[:, b],
        f"[:, :, {c}]": np.s_[:, :, c],
        f"[{', '.join(f'{s.start}:{s.stop}' for s in box)}]": box,
        f"[::-3, {b}, ::2]": np.s_[::-3, b, ::2],
        f"[{a}, {b}, {c}]": np.s_[a, b, c],
        "[...]": np.s_[...],
    }


def is_same(x: Any, y: Any) -> bool:
    """Same dtype, same shape, same bits: NaNs and the sign of zero count."""
    x, y = np.asarray(x), np.asarray(y)
    return x.dtype == y.dtype and x.shape == y.shape and np.array_equal(as_bytes(x), as_bytes(y))


def try_reads(x: np.ndarray, path: Path) -> list[Row]:
    """Reads every selection of the file with every library that is here."""
    ours = cq.open(path)
    ours.cache_bytes = 0  # else the second read of a block would cost nothing
    arrays: dict[str, Any] = {"coquina": ours}
    if peers.blosc2:
        arrays["python-blosc2"] = peers.blosc2.open(str(path), mode="r", dparams={"nthreads": peers.THREADS})
    rows = []
    for title, key in selections(x).items():
        right = x[key]
        is_equal = all(is_same(array[key], right) for array in arrays.values())
        calls = {name: lambda array=array, key=key: array[key] for name, array in arrays.items()}
        seconds = harness.take_turns(calls, EFFORT)
        times = {name: 1e3 * statistics.median(values) for name, values in seconds.items()}
        result = " x ".join(map(str, right.shape)) or "one element"
        rows.append(Row(title, result, ours.blocks_touched(key), times, is_equal))
    ours.close()
    return rows


def show(rows: Sequence[Row], blocks: int) -> None:
    """Prints the table of one array."""
    names = list(rows[0].times)
    header = ["read", "result", "blocks decoded", f"of {blocks}", *(f"{name} ms" for name in names), "bits"]
    cells = []
    for r in rows:
        share = f"{100 * r.blocks / blocks:.1f} %"
        times = [r.times[name] for name in names]
        cells.append([r.title, r.result, r.blocks, share, *times, "same" if r.is_equal else "DIFFERENT"])
    print(harness.markdown(header, cells))


def try_append(x: np.ndarray, path: Path) -> bool:
    """Appends the first rows again, reads them from a file opened anew; True if all is there."""
    rows = x[: min(3, len(x))]
    array = cq.open(path, mode="a")
    array.append(rows)
    array.close()
    again = cq.open(path)
    is_right = again.shape[0] == len(x) + len(rows) and is_same(again[-len(rows) :], rows)
    is_right &= is_same(again[: len(x)], x)
    print(f"append({len(rows)} rows): shape {again.shape}, {'as NumPy has it' if is_right else 'DIFFERENT'}.")
    damage = again.verify()
    if damage:
        sys.exit(f"verify() found damage: {damage}")
    print("verify(): every chunk has its checksum.")
    again.close()
    return is_right


def try_damage(path: Path) -> bool:
    """Changes one bit in the middle of a copy; True if reading the copy raises an error."""
    copy = path.with_name(f"damaged-{path.name}")
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    copy.write_bytes(content)
    try:
        cq.open(copy)[...]
    except cq.CoquinaError as error:
        print(f"one bit of a copy changed: {type(error).__name__}: {error}")
        return True
    finally:
        copy.unlink()
    print("one bit of a copy changed: NOT NOTICED")
    return False


def try_example(example: Example, path: Path) -> tuple[list[Row], bool]:
    """Stores, reads, appends, verifies, damages."""
    x = example.x
    chunks, blocks = example.partition or (None, None)
    array = cq.asarray(x, chunks=chunks, blocks=blocks, codec="zstd", level=5, path=path, overwrite=True)
    shape = " x ".join(map(str, x.shape))
    print(f"\n{example.name}: {shape} {x.dtype}, {x.nbytes / 1e6:.2f} MB -> {path.name}")
    print(f"chunks {array.chunks}, blocks {array.blocks}, ratio {array.cratio:.2f}\n")
    count = array.blocks_touched(...)
    array.close()
    rows = try_reads(x, path)
    show(rows, count)
    print()
    is_fine = all(row.is_equal for row in rows)
    is_fine &= try_damage(path)  # before the append, which may leave bytes behind that nobody reads
    is_fine &= try_append(x, path)
    return rows, is_fine


def save_plot(panels: dict[str, list[Row]], path: Path) -> None:
    """The time of each read, by library."""
    try:
        from bench.common import plots
    except ImportError:
        print("\nno plot: matplotlib is not here: pip install matplotlib")
        return
    names = ("axis 0", "axis 1", "axis 2", "box", "steps", "element", "all")
    bars = {
        panel: {name: row.times for name, row in zip(names, rows, strict=True)}
        for panel, rows in panels.items()
    }
    machine = f"{peers.THREADS} threads, {harness.cpu_name()}"
    note = f"Both read the same file, from the page cache; zstd-5, {machine}. Lower is better."
    title = "Time to read a part of an array"
    plots.grouped_bars(bars, path, title=title, note=note, unit="milliseconds", columns=1)
    print(f"\nplot: {path}")


def main() -> int:
    """The command; returns the exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, default=ROOT / "demo-out", help="folder for plot and files")
    args = parser.parse_args()
    print(harness.describe(harness.circumstances("blosc2")))
    if peers.blosc2 is None:
        print("absent: python-blosc2 (pip install blosc2)")
    cq.set_num_threads(peers.THREADS)
    args.out.mkdir(parents=True, exist_ok=True)
    panels = {}
    is_fine = True
    for example in examples():
        path = args.out / f"{example.name.split()[0].lower()}.b2nd"
        panels[example.name], is_right = try_example(example, path)
        is_fine &= is_right
    save_plot(panels, args.out / "slices.png")
    print("\nEvery read gave NumPy's bits." if is_fine else "\nSOMETHING DIFFERS: see above.")
    return 0 if is_fine else 1


if __name__ == "__main__":
    sys.exit(main())
