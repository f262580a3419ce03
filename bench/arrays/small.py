"""What does one call cost on a small buffer, beyond the work of the codec?

    python -m bench.arrays.small           buffers of 1 KB to 64 KB; a minute and a half
    python -m bench.arrays.small --quick   1, 8 and 64 KB; under half a minute

The codec's own time cannot be taken out of a call, so two kinds of chunk that need no codec show the rest:
level 0 (memcpyed: a header and a copy) and a buffer of zeros (special value: a header). From both the time of
a plain copy, `bytes(buffer)`, is taken away, as a result must be made anyway: that is "beyond the copy".
Then the codecs at level 5, in microseconds per call, and how many times faster than python-blosc2.

python-blosc2 is given its best: one thread (with two each call starts its own) in `compress2` and
`decompress2`, and beside them its older `compress` and `decompress`, which keep a context between calls; the
speed-up is against the faster of the two. coquina is called as a user does, with its default threads.
Content: ERA5-like temperature, float32, shuffle. Results: bench/results/small.json,
small.md and small.png.
"""

from __future__ import annotations

import statistics
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

import coquina as cq
from bench.common import harness, studies
from bench.common.harness import Call, Effort
from bench.common.inputs import era5_input
from bench.common.peers import CODECS, blosc2, blosc2_cparams, codec_of
from bench.common.run import Canvas, Run, Script

SIZES = tuple(1024 << n for n in range(7))
TYPESIZE = 4


@dataclass(frozen=True)
class Case:
    """One kind of chunk."""

    name: str
    codec: str
    level: int
    is_zero: bool = False


CASES = (
    Case("memcpyed (level 0)", "blosclz", 0),
    Case("zeros (special value)", "blosclz", 5, is_zero=True),
    *(Case(f"{codec}-5", codec, 5) for codec in CODECS),
)


def contenders(case: Case, content: np.ndarray) -> dict[str, dict[str, Call]]:
    """The calls to compare, by operation: coquina's, python-blosc2's two, and a plain copy."""
    options = {"codec": case.codec, "level": case.level, "filters": ("shuffle",), "typesize": TYPESIZE}
    cparams = blosc2_cparams(**options, threads=1)
    classic = {"typesize": TYPESIZE, "clevel": case.level, "codec": codec_of(case.codec)}
    ours = cq.compress(content, **options)
    theirs = blosc2.compress2(content, **cparams)
    old = blosc2.compress(content, **classic)
    out = np.empty_like(content)
    for chunk in (ours, theirs, old):
        if not cq.decompress(chunk) == blosc2.decompress2(chunk, nthreads=1) == content.tobytes():
            raise ValueError(f"{case.name}, {content.nbytes} bytes: a chunk does not decode to what went in")
    return {
        "compress": {
            "coquina": lambda: cq.compress(content, **options),
            "compress2": lambda: blosc2.compress2(content, **cparams),
            "classic": lambda: blosc2.compress(content, **classic),
            "copy": lambda: bytes(content),
        },
        "decompress": {
            "coquina": lambda: cq.decompress(ours),
            "compress2": lambda: blosc2.decompress2(theirs, nthreads=1),
            "classic": lambda: blosc2.decompress(old),
            "copy": lambda: bytes(content),
        },
        "decompress into": {
            "coquina": lambda: cq.decompress_into(ours, out),
            "compress2": lambda: blosc2.decompress2(theirs, dst=out, nthreads=1),
            "classic": lambda: blosc2.decompress(old, dst=out),
            "copy": lambda: np.copyto(out, content),
        },
    }


def measured(case: Case, content: np.ndarray, effort: Effort) -> list[dict[str, object]]:
    """A row for each operation: microseconds per call, speed-up against the faster of the peer's two."""
    rows: list[dict[str, object]] = []
    for operation, calls in contenders(case, content).items():
        seconds = harness.take_turns(calls, effort)
        micros = {name: statistics.median(values) * 1e6 for name, values in seconds.items()}
        peer = min("compress2", "classic", key=lambda name: micros[name])
        duel = harness.versus(seconds["coquina"], seconds[peer])
        row = {"bytes": content.nbytes, "case": case.name, "operation": operation, **micros}
        rows.append({**row, "beyond copy": micros["coquina"] - micros["copy"], "speedup": duel.speedup})
    return rows


SHOWN = {
    "coquina": "coquina",
    "python-blosc2": "compress2",
    "python-blosc2 classic": "classic",
    "NumPy copy": "copy",
}
HEADER = ("bytes", "case", "operation", "coquina", "compress2", "classic", "copy", "beyond copy", "speedup")


def body(rows: Sequence[Mapping[str, object]], run: Run) -> list[str]:
    """The Markdown page: the overhead first, then everything."""
    bare = [row for row in rows if "-5" not in str(row["case"])]
    worst = max(float(str(row["beyond copy"])) for row in bare)
    lost = sum(float(str(row["speedup"])) < 1 for row in rows)
    mean = harness.geometric_mean(float(str(row["speedup"])) for row in rows)

    def table(part: Sequence[Mapping[str, object]]) -> str:
        return harness.markdown(HEADER, [[row[name] for name in HEADER] for row in part])

    return [
        "Microseconds per call, medians of interleaved rounds. Speed-up: the faster of python-blosc2's "
        "two calls (one thread) over coquina's.",
        f"Beyond the copy, where no codec works: at most {worst:.2f} microseconds. "
        f"Speed-up: geometric mean {mean:.2f}, {lost} of {len(rows)} rows below 1.",
        "## Chunks that need no codec",
        table(bare),
        "## With a codec",
        table([row for row in rows if row not in bare]),
    ]


def draw(rows: Sequence[Mapping[str, object]], canvas: Canvas) -> None:
    """Microseconds by size, for a chunk that needs no codec and two that do."""
    from bench.common import plots

    panels: dict[str, dict[str, dict[str, float]]] = {}
    for row in rows:
        if row["case"] in ("memcpyed (level 0)", "lz4-5", "zstd-5") and row["operation"] != "decompress into":
            micros = {name: float(str(row[key])) for name, key in SHOWN.items()}
            panel = panels.setdefault(f"{row['operation']}, {row['case']}", {})
            panel[f"{int(str(row['bytes'])) // 1024} KB"] = micros
    title, note = "What a call on a small buffer costs", f"{canvas.note} Lower is better."
    plots.grouped_bars(panels, canvas.path(""), title=title, note=note, unit="microseconds", columns=2)


def measure(run: Run) -> Iterator[dict[str, object]]:
    """Every size and kind of chunk."""
    blosc2.set_nthreads(1)
    source = era5_input("temperature", 4_000_000)
    effort = run.choose(Effort(0.1, 5, 15), Effort(0.25, 7, 41), Effort(0.4, 7, 41))
    for nbytes in run.choose((1024, 8192, 65536), SIZES, SIZES):
        for case in CASES:
            content = source.middle(nbytes).content.copy()
            yield from measured(case, np.zeros_like(content) if case.is_zero else content, effort)


def line(row: Mapping[str, object]) -> str:
    """A row for the terminal."""
    return f"{row['speedup']:5.2f}x  {row['bytes']} bytes, {row['operation']}, {row['case']}"


SCRIPT = Script(studies.SMALL, __doc__, measure, line, dict, body, draw, needs=("blosc2",))

if __name__ == "__main__":
    sys.exit(SCRIPT.main())
