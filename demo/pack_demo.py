"""Packs real arrays into small files, unpacks them, and shows that nothing was lost and what it cost.

    make demo        or        python demo/pack_demo.py

For each array: Bloscpack files (.blp) and bare Blosc2 chunks by coquina, with several codecs and filters,
beside NPY, NPZ, joblib, bloscpack and python-blosc2. Every file is read back and compared bit for bit; the
exit code is 1 if a single one differs. Times are from memory to a file and back through the page cache; the
files by coquina that replace others are also synced to the disk. Prints a table for each array and saves
demo-out/ratio-against-speed.png; takes half a minute.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import numpy as np  # noqa: E402

import coquina as cq  # noqa: E402  (the loader and the peers live in bench/)
from bench.common import data, harness, peers, synthetic  # noqa: E402
from bench.common.harness import Effort  # noqa: E402
from bench.common.peers import Format, as_bytes  # noqa: E402

LEVEL = 5
HOURS = 4  # of the generated field: 4 x 721 x 1440 float32 is 16.6 MB
LARGE = "ERA5-like temperature (generated)"


@dataclass(frozen=True)
class Row:
    """What one format made of one array; speeds in MB/s of array."""

    format: Format
    ratio: float
    pack: float
    unpack: float
    is_equal: bool


def formats_for(x: np.ndarray) -> list[Format]:
    """Everything that can take part here, coquina first; for small arrays fewer, to spare the reader."""
    is_large = x.nbytes > 10_000_000
    ours = peers.CODECS if is_large else ("blosclz", "lz4", "zstd")
    theirs = ("blosclz", "lz4", "zlib", "zstd") if is_large else ("lz4", "zstd")
    found = [peers.coquina_file(codec, LEVEL, "shuffle") for codec in ours]
    found += [peers.coquina_file(codec, LEVEL, "bitshuffle") for codec in ("lz4", "zstd")]
    for filters in (("shuffle",), ("bitshuffle",), ("shuffle", "bytedelta")):
        found += [peers.coquina_chunk(codec, LEVEL, filters, x) for codec in ("lz4", "zstd")]
    if peers.blosc2:
        found += [peers.blosc2_file(codec, LEVEL, "shuffle") for codec in theirs]
    if peers.bloscpack:
        found += [peers.bloscpack_file(codec, LEVEL) for codec in theirs]
    if peers.joblib:
        found += [peers.joblib_file("zlib", 3)]
    if "joblib lz4" not in peers.absent():
        found += [peers.joblib_file("lz4", 1)]
    return found + peers.numpy_files()


def try_formats(x: np.ndarray, folder: Path) -> list[Row]:
    """Writes and reads `x` in every format, in turns."""
    found = formats_for(x)
    paths = {f.name: folder / f"{number}{f.suffix}" for number, f in enumerate(found)}

    def write(form: Format) -> None:
        paths[form.name].unlink(missing_ok=True)
        form.write(x, paths[form.name])

    effort = Effort(seconds=0.4, rounds_min=2, rounds_max=5, each=0.1)
    pack = harness.take_turns({f.name: lambda f=f: write(f) for f in found}, effort)
    unpack = harness.take_turns({f.name: lambda f=f: f.read(paths[f.name]) for f in found}, effort)
    megabytes = x.nbytes / 1e6
    return [
        Row(
            form,
            x.nbytes / paths[form.name].stat().st_size,
            megabytes / statistics.median(pack[form.name]),
            megabytes / statistics.median(unpack[form.name]),
            is_same(x, form.read(paths[form.name])),
        )
        for form in found
    ]


def is_same(x: np.ndarray, y: np.ndarray) -> bool:
    """Same dtype, same shape, same bits: NaNs and the sign of zero count."""
    return x.dtype == y.dtype and x.shape == y.shape and np.array_equal(as_bytes(x), as_bytes(y))


def show(name: str, x: np.ndarray, rows: Sequence[Row]) -> None:
    """Prints the table of one array."""
    kind = "rows of 19 columns" if x.dtype.names else str(x.dtype)
    print(f"\n{name}: {' x '.join(map(str, x.shape))} {kind}, {x.nbytes / 1e6:.2f} MB\n")
    header = ["format", "codec and filters", "ratio", "pack MB/s", "unpack MB/s", "bits"]
    cells = [
        [r.format.family, r.format.label, r.ratio, r.pack, r.unpack, "same" if r.is_equal else "DIFFERENT"]
        for r in rows
    ]
    print(harness.markdown(header, cells))


def show_partial_read(x: np.ndarray, path: Path) -> bool:
    """Packs `x`, reads a slice of the file, says what that took; True if the slice is right."""
    cq.pack(x, path, codec="zstd", level=LEVEL, threads=peers.THREADS)
    start, stop = len(x) // 2, len(x) // 2 + 1
    packed = cq.open(path)
    part = packed[start:stop]
    is_right = is_same(x[start:stop], part)
    bits = "the same bits" if is_right else "DIFFERENT BITS"
    chunks = f"{packed.chunks_read} of {packed.info()['nchunks']} chunks read"
    print(f"\nPartial read of {packed!r}:")
    print(f"cq.open({path.name!r})[{start}:{stop}] gives {part.shape} {part.dtype}, {bits}; {chunks}.")
    return is_right


def save_plot(rows: Sequence[Row], name: str, nbytes: int, path: Path) -> None:
    """Ratio against speed, packing on the left and unpacking on the right."""
    try:
        from bench.common import plots
    except ImportError:
        print("\nno plot: matplotlib is not here: pip install matplotlib")
        return
    panels = {
        "packing": [plots.Point(r.format.family, r.format.label, r.pack, r.ratio) for r in rows],
        "unpacking": [plots.Point(r.format.family, r.format.label, r.unpack, r.ratio) for r in rows],
    }
    note = (
        f"{name}, {nbytes / 1e6:.0f} MB; level {LEVEL}, {peers.THREADS} threads, {harness.cpu_name()}; "
        "memory to file and back through the page cache. Up and to the right is better."
    )
    title = "Ratio against speed"
    plots.ratio_against_speed(panels, path, title=title, note=note, speed="MB/s of array", columns=2)
    print(f"\nplot: {path}")


def main() -> int:
    """The command; returns the exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, default=ROOT / "demo-out", help="folder for plot and files")
    args = parser.parse_args()
    print(harness.describe(harness.circumstances(*peers.PACKAGES)))
    for name, why in peers.absent().items():
        print(f"absent: {name} ({why})")
    arrays = {f"{name} (real)": x for name, x in data.sample().items()}
    arrays[LARGE] = synthetic.era5("temperature", (HOURS, *synthetic.GRID))
    args.out.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="pack-demo-"))
    is_fine = True
    rows: list[Row] = []
    try:
        for name, x in arrays.items():
            rows = try_formats(x, folder)
            show(name, x, rows)
            is_fine &= all(row.is_equal for row in rows)
        large = arrays[LARGE]
        is_fine &= show_partial_read(large, args.out / "temperature.blp")
        save_plot(rows, LARGE, large.nbytes, args.out / "ratio-against-speed.png")
    finally:
        shutil.rmtree(folder)
    print("\nEvery file gave back the same bits." if is_fine else "\nSOME FILES DIFFER: see above.")
    return 0 if is_fine else 1


if __name__ == "__main__":
    sys.exit(main())
