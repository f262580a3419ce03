"""Where does coquina stand in the Bloscpack paper's grid: size, ratio and time of arrays in files?

    python -m bench.arrays.bloscpack_grid            1, 10, 100 MB; levels 1, 5, 7; 3 minutes
    python -m bench.arrays.bloscpack_grid --quick    1, 10 MB; level 7; about a minute
    python -m bench.arrays.bloscpack_grid --full     levels 1, 3, 5, 7, 9

The paper (V. Haenel, 2014) stores float64 arrays of low (ramp), medium (sine with a little noise) and high
entropy (random) as NPY, NPZ, joblib's zfile and Bloscpack. Here: NPY, NPZ, joblib with zlib and lz4,
bloscpack itself, and coquina's Bloscpack files with every codec. Contenders take turns, each result is read
back and compared. Files are written to and read from a warm page cache: the disk is not measured (the paper
also drops caches), but for one thing: coquina syncs a file that replaces another, the others do not.
--folder says where the files go.
Results: bench/results/bloscpack.json, bloscpack.md and bloscpack.png.
"""

from __future__ import annotations

import statistics
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bench.common import harness, peers, studies, synthetic
from bench.common.harness import Effort
from bench.common.peers import Format
from bench.common.run import Canvas, Run, Script

LENGTHS = {"1 MB": 131_072, "10 MB": 1_310_720, "100 MB": 13_107_200}  # the paper's, of 8 bytes each
EFFORT = Effort(seconds=2.0, rounds_min=3, rounds_max=9, each=1.0)


@dataclass(frozen=True)
class Row:
    """One format with one array; times in seconds."""

    size: str
    entropy: str
    family: str
    label: str
    ratio: float
    compress: float
    decompress: float
    nbytes: int


def formats(levels: Sequence[int]) -> list[Format]:
    """Every format of the grid that can take part here."""
    found = peers.numpy_files()
    if peers.joblib:
        found += [peers.joblib_file("zlib", level) for level in levels]
    if "joblib lz4" not in peers.absent():
        found += [peers.joblib_file("lz4", 1)]
    for level in levels:
        if peers.bloscpack:
            found += [peers.bloscpack_file(codec, level) for codec in peers.CODECS]
        found += [peers.coquina_file(codec, level, "shuffle") for codec in peers.CODECS]
    return found


def measured(x: np.ndarray, size: str, entropy: str, found: Sequence[Format], folder: Path) -> list[Row]:
    """Writes and reads one array in every format; raises ValueError if one gives back other bits."""
    paths = {f.name: folder / f"{number}{f.suffix}" for number, f in enumerate(found)}

    def write(form: Format) -> None:
        paths[form.name].unlink(missing_ok=True)
        form.write(x, paths[form.name])

    compress = harness.take_turns({f.name: lambda f=f: write(f) for f in found}, EFFORT)
    for form in found:
        if not np.array_equal(peers.as_bytes(form.read(paths[form.name])), peers.as_bytes(x)):
            raise ValueError(f"{form.name}, {entropy} entropy {size}: not what was written")
    decompress = harness.take_turns({f.name: lambda f=f: f.read(paths[f.name]) for f in found}, EFFORT)
    median = statistics.median
    rows = []
    for form in found:
        ratio = x.nbytes / paths[form.name].stat().st_size
        seconds = median(compress[form.name]), median(decompress[form.name])
        rows.append(Row(size, entropy, form.family, form.label, ratio, *seconds, x.nbytes))
    return rows


def against_bloscpack(rows: Sequence[Row]) -> str:
    """Geometric means of coquina against bloscpack: same codec, level, array."""
    theirs = {(r.size, r.entropy, r.label): r for r in rows if r.family == "bloscpack"}
    pairs = [
        (r, theirs[r.size, r.entropy, r.label])
        for r in rows
        if r.family.startswith("coquina") and (r.size, r.entropy, r.label) in theirs
    ]
    if not pairs:
        return "bloscpack is not here: no pairs."
    lines = []
    for codec in ("all", *peers.CODECS):
        part = [(a, b) for a, b in pairs if codec == "all" or a.label.startswith(f"{codec}-")]
        lines.append(
            [
                codec,
                len(part),
                harness.geometric_mean(b.compress / a.compress for a, b in part),
                harness.geometric_mean(b.decompress / a.decompress for a, b in part),
                harness.geometric_mean(b.ratio / a.ratio for a, b in part),
            ]
        )
    return harness.markdown(["codec", "pairs", "compress x", "decompress x", "size"], lines)


def table(rows: Sequence[Row]) -> str:
    """The formats of one array."""
    header = ["format", "codec and filter", "ratio"]
    header += ["compress ms", "decompress ms", "compress MB/s", "decompress MB/s"]
    cells = []
    for r in rows:
        times = [1e3 * r.compress, 1e3 * r.decompress]
        cells.append([r.family, r.label, r.ratio, *times, *(r.nbytes / 1e3 / time for time in times)])
    return harness.markdown(header, cells)


def body(rows: Sequence[Row], run: Run) -> Iterator[str]:
    """The Markdown page: coquina against bloscpack, then a table for each array."""
    yield (
        f"Float64 arrays to a file and back, page cache warm; {peers.THREADS} threads where a format has "
        "them. coquina syncs a file that replaces another, the others do not. Medians; contenders in turns."
    )
    yield from (f"Absent: {name} ({why})." for name, why in peers.absent().items())
    yield "## coquina against bloscpack, same codec and level"
    yield against_bloscpack(rows)
    for size, entropy in dict.fromkeys((r.size, r.entropy) for r in rows):
        yield f"## {entropy} entropy, {size}"
        yield table([r for r in rows if (r.size, r.entropy) == (size, entropy)])


def draw(rows: Sequence[Row], canvas: Canvas) -> None:
    """Ratio against speed of the largest arrays: compression above, decompression below."""
    from bench.common import plots

    size = rows[-1].size
    panels = {}
    for operation in ("compress", "decompress"):
        for entropy in synthetic.ENTROPY:
            panels[f"{operation}, {entropy} entropy"] = [
                plots.Point(r.family, r.label, r.nbytes / 1e6 / getattr(r, operation), r.ratio)
                for r in rows
                if (r.size, r.entropy) == (size, entropy)
            ]
    note = f"float64 arrays of {size}, every level measured; {canvas.note} Page cache warm."
    title = "The Bloscpack paper's grid: ratio against speed"
    plots.ratio_against_speed(
        panels, canvas.path(""), title=title, note=note, speed="MB/s of array", columns=3
    )


def measure(run: Run) -> Iterator[Row]:
    """Every array in every format."""
    for peer, why in peers.absent().items():
        run.say(f"absent: {peer} ({why})")
    levels = run.choose((7,), (1, 5, 7), (1, 3, 5, 7, 9))
    for size in run.choose(["1 MB", "10 MB"], list(LENGTHS), list(LENGTHS)):
        for entropy, make in synthetic.ENTROPY.items():
            yield from measured(make(LENGTHS[size]), size, entropy, formats(levels), run.folder)


def line(row: Row) -> str:
    """A row for the terminal."""
    times = f"{1e3 * row.compress:.2f} ms, {1e3 * row.decompress:.2f} ms back, ratio {row.ratio:.2f}"
    return f"{times}  {row.family} {row.label}, {row.entropy} entropy, {row.size}"


SCRIPT = Script(studies.BLOSCPACK, __doc__, measure, line, vars, body, draw)

if __name__ == "__main__":
    sys.exit(SCRIPT.main())
