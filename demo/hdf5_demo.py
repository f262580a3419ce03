"""Repacks netCDF files, slices them with h5py and with coquina, and shows that every bit is the same.

    make demo        or        python demo/hdf5_demo.py

A real netCDF-4 file, which is HDF5 (of climate if `python -m bench.common.data --fetch cmip_tas` has
brought it, and the small one in the repository), is repacked: as it is, with gzip, and with Blosc2 in other
chunks. Each copy is compared with the file by h5py and hdf5plugin alone. Then planes, time series, a box
and all of the largest variable are read by h5py and by coquina, from the file and from its Blosc2 copy. The
exit code is 1 if a bit differs. Prints tables and saves demo-out/hdf5.png; takes less than a minute.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import h5py  # noqa: E402
import hdf5plugin  # noqa: E402, F401  (gives h5py the filters of the copies)
import numpy as np  # noqa: E402

import coquina as cq  # noqa: E402  (the loader and the peers live in bench/)
from bench.common import data, harness, peers  # noqa: E402
from bench.common.harness import Effort  # noqa: E402
from bench.common.peers import as_bytes  # noqa: E402
from coquina.hdf5.copying import repack  # noqa: E402

EFFORT = Effort(seconds=0.3, rounds_min=3, rounds_max=15)
FILES = ("sample", "cmip_tas")
COPIES: dict[str, dict[str, Any]] = {
    "as it is": {},
    "gzip": {"filter": "gzip", "level": 5},
    "Blosc2, other chunks": {"filter": "blosc2", "codec": "zstd", "level": 5, "chunks": "auto"},
}


@dataclass(frozen=True)
class Row:
    """One read of one file: milliseconds by library, whether all agree with what the file holds."""

    title: str
    access: str
    times: dict[str, float]
    is_equal: bool


def datasets(file: Any) -> dict[str, Any]:
    """All datasets of an HDF5 file, by name."""
    found: dict[str, Any] = {}
    file.visititems(lambda name, node: found.update({name: node}) if isinstance(node, h5py.Dataset) else None)
    return found


def is_same(x: Any, y: Any) -> bool:
    """Same dtype, same shape, same bits: NaNs and the sign of zero count."""
    x, y = np.asarray(x), np.asarray(y)
    return x.dtype == y.dtype and x.shape == y.shape and np.array_equal(as_bytes(x), as_bytes(y))


def is_same_file(one: Path, other: Path) -> bool:
    """Whether two files have the same datasets, attributes and items, as h5py reads them."""
    with h5py.File(one) as a, h5py.File(other) as b:
        old, new = datasets(a), datasets(b)
        return list(old) == list(new) and all(
            is_same(old[name][()], new[name][()]) and list(old[name].attrs) == list(new[name].attrs)
            for name in old
        )


def try_copies(path: Path, folder: Path) -> tuple[dict[str, Path], bool]:
    """Writes and compares the copies of a file."""
    made = {"the file": path}
    rows, is_fine = [["the file", path.stat().st_size / 1e6, "", ""]], True
    for name, options in COPIES.items():
        out = folder / f"{path.stem}-{name.split(',')[0].replace(' ', '-').lower()}.nc"
        start = time.perf_counter()
        repack(path, out, overwrite=True, **options)
        seconds = time.perf_counter() - start
        is_right = is_same_file(path, out)
        is_fine &= is_right
        rows.append([name, out.stat().st_size / 1e6, seconds, "same" if is_right else "DIFFERENT"])
        made[name] = out
    print(harness.markdown(["stored", "MB", "seconds to repack and compare", "bits"], rows))
    return made, is_fine


def selections(x: Any) -> dict[str, Any]:
    """What is read, by the name that the plot gives it."""
    a, b, c = (n // 2 for n in x.shape)
    box = tuple(slice(n // 3, n // 3 + max(1, n // 8)) for n in x.shape)
    return {"map": np.s_[a], "series": np.s_[:, b, c], "section": np.s_[:, b], "box": box, "all": np.s_[...]}


def try_reads(name: str, path: Path, largest: str, right: Any) -> list[Row]:
    """Reads every selection with both libraries; nothing is kept decoded from one read to the next."""
    rows = []
    with h5py.File(path, rdcc_nbytes=0) as plain, cq.open(path) as file:
        ours, theirs = file[largest], plain[largest]
        ours.cache_bytes = 0
        for title, key in selections(right).items():
            is_equal = is_same(ours[key], right[key]) and is_same(theirs[key], right[key])
            calls: dict[str, Callable[[], Any]] = {
                "coquina": lambda key=key: ours[key],
                "h5py": lambda key=key: theirs[key],
            }
            seconds = harness.take_turns(calls, EFFORT)
            times = {name: 1e3 * statistics.median(values) for name, values in seconds.items()}
            rows.append(Row(title, ours.access, times, is_equal))
        print(
            f"\n{name}: chunks {ours.chunks}, {' + '.join(one[1] for one in ours.filters) or 'no filter'}\n"
        )
    header = ["read", "result", "access", "coquina ms", "h5py ms", "faster", "bits"]
    cells = []
    for row, key in zip(rows, selections(right).values(), strict=True):
        result = " x ".join(map(str, right[key].shape))
        faster = f"{row.times['h5py'] / row.times['coquina']:.1f}x"
        bits = "same" if row.is_equal else "DIFFERENT"
        cells.append([row.title, result, row.access, row.times["coquina"], row.times["h5py"], faster, bits])
    print(harness.markdown(header, cells))
    return rows


def try_file(path: Path, folder: Path) -> tuple[dict[str, list[Row]], bool]:
    """Repacks, compares, reads."""
    with h5py.File(path) as file:
        largest = max(datasets(file).values(), key=lambda d: d.size * d.dtype.itemsize)
        name, right = largest.name, largest[()]
    shape = " x ".join(map(str, right.shape))
    print(f"\n{path.name}{name}: {shape} {right.dtype}, {right.nbytes / 1e6:.1f} MB of items\n")
    made, is_fine = try_copies(path, folder)
    rows = {
        title: try_reads(title, made[title], name, right) for title in ("the file", "Blosc2, other chunks")
    }
    return rows, is_fine and all(row.is_equal for each in rows.values() for row in each)


def save_plot(panels: dict[str, list[Row]], path: Path) -> None:
    """The time of each read, by library."""
    try:
        from bench.common import plots
    except ImportError:
        print("\nno plot: matplotlib is not here: pip install matplotlib")
        return
    bars = {panel: {row.title: row.times for row in rows} for panel, rows in panels.items()}
    note = f"Both read the same file, from the page cache; {peers.THREADS} threads, {harness.cpu_name()}."
    title = "Time to read a part of a netCDF file"
    plots.grouped_bars(
        bars, path, title=title, note=f"{note} Lower is better.", unit="milliseconds", columns=1
    )
    print(f"\nplot: {path}")


def main() -> int:
    """The command; returns the exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, default=ROOT / "demo-out", help="folder for plot and files")
    args = parser.parse_args()
    print(harness.describe(harness.circumstances("h5py")))
    cq.set_num_threads(peers.THREADS)
    args.out.mkdir(parents=True, exist_ok=True)
    panels: dict[str, list[Row]] = {}
    is_fine = True
    found = data.hdf5_files()
    for name in FILES:
        if name in found:
            rows, is_right = try_file(found[name], args.out)
            panels.update({f"{found[name].name}, {title}": each for title, each in rows.items()})
            is_fine &= is_right
        else:
            print(f"\nabsent: {name} (python -m bench.common.data --fetch {name})")
    save_plot(panels, args.out / "hdf5.png")
    print(
        "\nEvery read, and every copy, has the file's bits." if is_fine else "\nSOMETHING DIFFERS: see above."
    )
    return 0 if is_fine else 1


if __name__ == "__main__":
    sys.exit(main())
