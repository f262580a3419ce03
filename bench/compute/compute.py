"""How fast are reductions and expressions over compressed arrays, beside NumPy, numexpr and python-blosc2?

    python -m bench.compute.compute  cubes of 262 MB; 3 minutes
    python -m bench.compute.compute --quick  cubes of 64 MB, one codec; two minutes, nothing is kept
    python -m bench.compute.compute --full  Zstd with both chunks and both kinds of result, longer; 11 minutes

Reductions: the experiment of the post on n-dimensional reductions, smaller: a cube of float64 (a linear ramp,
random numbers) and of float32 (ERA5-like wind), summed along each axis and altogether; automatic and cubic
chunks. NumPy reads plain memory. python-blosc2 has chunks of its own choice ("auto"), or our cubic ones.

Expressions: `x*y+z`, `(x > 0.5) & (y < 0.3)` and `sin(x)**2 + cos(y)**2`, to plain memory and to a compressed
array. numexpr and NumPy read and write plain memory in both cases.

Fields: eight real ones that nothing was tuned by (`UNSEEN` in bench/common/data.py), repeated to 64 MB, of
LZ4: read whole, summed, `x*2+1` to memory and a count that needs sines of fill values; with one thread and
with two. python-blosc2 has our chunks and blocks, and for reading and summing its own choice too ("own
chunks").

All else has two threads. Every result is compared with NumPy's before it is timed. Contenders take turns.
Speed-up (x) is a library's time over coquina's: above 1, coquina is faster. Results: compute.json and .md,
compute-reductions.png and compute-expressions.png in bench/results.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

import coquina as cq
from bench.common import data, harness, studies, synthetic
from bench.common.harness import Call, Effort
from bench.common.peers import THREADS, blosc2, numexpr, set_threads
from bench.common.run import Canvas, Run, Script

LeftOut = set[tuple[str, str]]
EFFORT = Effort(0.7, 3, 9)
# What is not measured by default: the slower codec's other chunks, and other kind of result.
LEFT_OUT = {("zstd", "auto"), ("zstd", "memory")}
EXPRESSIONS = {
    "x*y+z": lambda m, x, y, z: x * y + z,
    "(x>0.5)&(y<0.3)": lambda m, x, y, z: (x > 0.5) & (y < 0.3),
    "sin(x)**2+cos(y)**2": lambda m, x, y, z: m.sin(x) ** 2 + m.cos(y) ** 2,
}


# Kinds of cells, and what the column `chunks` tells of each.
KINDS = {"reduction": "chunks", "expression": "result", "field": "threads"}


@dataclass(frozen=True)
class Cell:
    """One case: what was computed, of what, and what each contender took in seconds."""

    kind: str
    data: str
    codec: str
    chunks: str
    case: str
    megabytes: float
    ratio: float
    seconds: dict[str, float]
    speedups: dict[str, float]


def cubes(side: int) -> Iterator[tuple[str, np.ndarray]]:
    """The cubes of the reductions."""
    yield "linear", np.linspace(0, 1, side**3).reshape(side, side, side)
    yield "random", np.random.default_rng(1).random((side, side, side))
    wind = synthetic.era5("wind", (side, side, side))
    yield "era5 wind", np.ascontiguousarray(wind)


def cubic(shape: tuple[int, ...], dtype: np.dtype) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Cubic chunks of about 4 MB in cubic blocks of about 64 KB."""
    chunk = min(shape[0], round((4e6 / dtype.itemsize) ** (1 / 3)))
    block = round((65536 / dtype.itemsize) ** (1 / 3))
    return (chunk,) * 3, (block,) * 3


def ours(x: np.ndarray, codec: str, grid: str) -> cq.Array:
    """The array as coquina holds it, nothing decoded kept."""
    chunks, blocks = cubic(x.shape, x.dtype) if grid == "cubic" else (None, None)
    array = cq.asarray(x, chunks=chunks, blocks=blocks, codec=codec, level=5, filters="shuffle")
    array.cache_bytes = 0
    return array


def theirs(x: np.ndarray, codec: str, grid: str) -> object:
    """The array as python-blosc2 holds it."""
    chunks, blocks = cubic(x.shape, x.dtype) if grid == "cubic" else (None, None)
    cparams = {"codec": getattr(blosc2.Codec, codec.upper()), "clevel": 5, "nthreads": THREADS}
    return blosc2.asarray(x, chunks=chunks, blocks=blocks, cparams=cparams, dparams={"nthreads": THREADS})


def measured(
    calls: dict[str, Call], check: Callable[[object], None]
) -> tuple[dict[str, float], dict[str, float]]:
    """Seconds of each contender, and their ratios to ours."""
    for call in calls.values():
        check(call())
    return harness.compared(harness.take_turns(calls, EFFORT), "coquina")


def reductions(side: int, codecs: tuple[str, ...], left_out: LeftOut) -> Iterator[Cell]:
    """Sums (and a maximum) of each cube along each axis and altogether."""
    for name, x in cubes(side):
        for codec in codecs:
            for grid in ("auto", "cubic"):
                if (codec, grid) in left_out:
                    continue
                a, b = ours(x, codec, grid), theirs(x, codec, grid)
                for case in ("sum 0", "sum 1", "sum 2", "sum all", "max 0", "mean all", "std 1"):
                    yield reduced(name, x, a, b, codec, grid, case)


def reduced(name: str, x: np.ndarray, a: cq.Array, b: object, codec: str, grid: str, case: str) -> Cell:
    """One reduction."""
    operation, where = case.split()
    axis = None if where == "all" else int(where)
    expected = getattr(x.astype(np.float64), operation)(axis=axis)

    def check(found: object) -> None:
        # Sums of single precision, item after item, lose that much: NumPy's and python-blosc2's do.
        rtol = 1e-4 if x.itemsize == 4 else 1e-9
        np.testing.assert_allclose(np.asarray(found), expected, rtol=rtol, atol=rtol * np.abs(expected).max())

    calls: dict[str, Call] = {
        "coquina": lambda: getattr(a, operation)(axis=axis),
        "NumPy": lambda: getattr(x, operation)(axis=axis),
        "python-blosc2": lambda: getattr(b, operation)(axis=axis),
    }
    seconds, speedups = measured(calls, check)
    return Cell("reduction", name, codec, grid, case, x.nbytes / 1e6, a.cratio, seconds, speedups)


def operands(side: int) -> Iterator[tuple[str, tuple[np.ndarray, ...]]]:
    """Three operands for the expressions."""
    shape = (side, side, side)
    ramp = np.linspace(0, 1, side**3).reshape(shape)
    yield "linear", (ramp, np.ascontiguousarray(ramp[::-1]), ramp * 3)
    generator = np.random.default_rng(2)
    yield "random", tuple(generator.random(shape) for _ in range(3))
    wind = synthetic.era5("wind", shape)
    wind = (wind - wind.min()) / np.ptp(wind)
    yield "era5 wind", (wind, np.ascontiguousarray(wind[::-1]), wind * np.float32(3))


def expressions(side: int, codecs: tuple[str, ...], left_out: LeftOut) -> Iterator[Cell]:
    """Each expression to memory and to a compressed array."""
    for name, (x, y, z) in operands(side):
        for codec in codecs:
            held = [ours(v, codec, "auto") for v in (x, y, z)]
            peer = [theirs(v, codec, "auto") for v in (x, y, z)]
            for text, formula in EXPRESSIONS.items():
                for target in ("memory", "compressed"):
                    if (codec, target) in left_out:
                        continue
                    yield expressed(name, (x, y, z), held, peer, codec, (text, formula, target))


def expressed(
    name: str, plain: tuple[np.ndarray, ...], held: list, peer: list, codec: str, what: tuple
) -> Cell:
    """One expression."""
    text, formula, target = what
    x, y, z = plain
    expected = formula(np, x, y, z)

    def check(found: object) -> None:
        rtol = 1e-5 if x.itemsize == 4 else 1e-12
        np.testing.assert_allclose(np.asarray(found[...]), expected, rtol=rtol)

    lazy, other = formula(cq, *held), formula(blosc2, *peer)
    cparams = {"codec": getattr(blosc2.Codec, codec.upper()), "clevel": 5, "nthreads": THREADS}
    calls: dict[str, Call] = {
        "coquina": (lambda: lazy[...])
        if target == "memory"
        else (lambda: lazy.compute(codec=codec, level=5)),
        "NumPy": lambda: formula(np, x, y, z),
        "python-blosc2": (lambda: other[...])
        if target == "memory"
        else (lambda: other.compute(cparams=cparams)),
    }
    if numexpr:
        local = {"x": x, "y": y, "z": z}
        calls["numexpr"] = lambda: numexpr.evaluate(text, local_dict=local)
    seconds, speedups = measured(calls, check)
    ratio = held[0].cratio
    return Cell("expression", name, codec, target, text, x.nbytes / 1e6, ratio, seconds, speedups)


def fields(threads: int) -> Iterator[Cell]:
    """Real fields that nothing was tuned by, repeated to 64 MB, LZ4, cut as coquina cuts them."""
    for name, field in data.unseen().items():
        x = np.concatenate([field] * max(1, round(64e6 / field.nbytes)))
        a = ours(x, "lz4", "auto")
        cparams = {"codec": blosc2.Codec.LZ4, "clevel": 5, "nthreads": threads}
        grid = {"chunks": a.chunks, "blocks": a.blocks}
        b = blosc2.asarray(x, **grid, cparams=cparams, dparams={"nthreads": threads})
        own = blosc2.asarray(x, cparams=cparams, dparams={"nthreads": threads})
        for case, calls in field_cases(a, b, own, x).items():
            expected = np.asarray(calls["NumPy"](), np.float64)
            scale = np.abs(expected).max()

            def check(found: object, expected: np.ndarray = expected, scale: float = float(scale)) -> None:
                # Sums of single precision differ by their order, and more where there are fill values.
                np.testing.assert_allclose(np.asarray(found), expected, rtol=1e-2, atol=1e-3 * scale)

            seconds, speedups = measured(calls, check)
            grid_name = f"{threads} threads"
            yield Cell("field", name, "lz4", grid_name, case, x.nbytes / 1e6, a.cratio, seconds, speedups)


def field_cases(a: cq.Array, b: Any, own: Any, x: np.ndarray) -> dict[str, dict[str, Call]]:
    """What is done with a real field, by each library; `own` is cut as python-blosc2 cuts it."""
    last = x.ndim - 1
    cases: dict[str, dict[str, Call]] = {
        "read": {"coquina": lambda: a[...], "NumPy": x.copy, "python-blosc2": lambda: b[...]},
        "sum all": {"coquina": a.sum, "NumPy": x.sum, "python-blosc2": b.sum},
        "sum last": {
            "coquina": lambda: a.sum(axis=last),
            "NumPy": lambda: x.sum(axis=last),
            "python-blosc2": lambda: b.sum(axis=last),
        },
        "x*2+1": {
            "coquina": lambda: (a * 2 + 1)[...],
            "NumPy": lambda: x * 2 + 1,
            "python-blosc2": lambda: (b * 2 + 1)[...],
        },
        "sum(sin(x)*x>0.5)": {
            "coquina": lambda: (cq.sin(a) * a > 0.5).sum(),
            "NumPy": lambda: (np.sin(x) * x > 0.5).sum(),
            "python-blosc2": lambda: (blosc2.sin(b) * b > 0.5).sum(),
        },
    }
    cases["read"]["python-blosc2, own chunks"] = lambda: own[...]
    cases["sum all"]["python-blosc2, own chunks"] = own.sum
    if numexpr:
        local = {"x": x}
        cases["x*2+1"]["numexpr"] = lambda: numexpr.evaluate("x*2+1", local_dict=local)
        sines = "sin(x)*x > 0.5"
        cases["sum(sin(x)*x>0.5)"]["numexpr"] = lambda: numexpr.evaluate(sines, local_dict=local).sum()
    return cases


def body(cells: Sequence[Cell], run: Run) -> Iterator[str]:
    """Tables: means by kind, and every case."""
    for kind in KINDS:
        some = [cell for cell in cells if cell.kind == kind]
        groups = sorted({(cell.data, cell.codec, cell.chunks) for cell in some})
        peers = sorted({peer for cell in some for peer in cell.speedups})
        rows = []
        for group in groups:
            inside = [c for c in some if (c.data, c.codec, c.chunks) == group]
            found = [[c.speedups[peer] for c in inside if peer in c.speedups] for peer in peers]
            mixed = [
                f"{harness.short(harness.geometric_mean(ratios))} ({harness.short(min(ratios))})"
                if ratios
                else ""
                for ratios in found
            ]
            rows.append([*group, f"{inside[0].ratio:.1f}", *mixed])
        header = ["data", "codec", KINDS[kind], "ratio", *peers]
        yield f"## {kind.capitalize()}s: time of the other over ours, geometric mean (worst)"
        yield harness.markdown(header, rows)
        yield "Milliseconds:"
        yield harness.markdown(
            [*header[:3], "case", "coquina", *peers],
            [
                [c.data, c.codec, c.chunks, c.case]
                + [1e3 * c.seconds.get(name, float("nan")) for name in ("coquina", *peers)]
                for c in some
            ],
        )


def draw(cells: Sequence[Cell], canvas: Canvas) -> None:
    """Milliseconds of the reductions by data and chunks, and of the expressions by data and result."""
    from bench.common import plots

    note = f"{canvas.note} NumPy and numexpr on plain memory; logarithmic."
    for kind in ("reduction", "expression"):
        panels: dict[str, dict[str, dict[str, float]]] = {}
        for cell in cells:
            if cell.kind == kind:
                panel = panels.setdefault(f"{cell.data}, {cell.codec}, {cell.chunks}", {})
                panel[cell.case] = {name: 1e3 * value for name, value in cell.seconds.items()}
        title = f"{kind.capitalize()}s of {cells[0].megabytes:.0f} MB and less"
        path = canvas.path(f"{kind}s")
        plots.grouped_bars(panels, path, title=title, note=note, unit="milliseconds", columns=2)


def measure(run: Run) -> Iterator[Cell]:
    """All of it."""
    set_threads(THREADS)
    side = run.choose(200, 320, 320)
    codecs = run.choose(("lz4",), ("lz4", "zstd"), ("lz4", "zstd"))
    left_out = run.choose(LEFT_OUT, LEFT_OUT, set[tuple[str, str]]())
    yield from reductions(side, codecs, left_out)
    yield from expressions(side, codecs, left_out)
    for threads in (1, THREADS):
        set_threads(threads)
        yield from fields(threads)
    set_threads(THREADS)


def line(cell: Cell) -> str:
    """A cell for the terminal."""
    ratios = ", ".join(f"{peer} {speedup:.2f}x" for peer, speedup in cell.speedups.items())
    return f"{cell.kind} {cell.data} {cell.codec} {cell.chunks} {cell.case}: {ratios}"


SCRIPT = Script(studies.COMPUTE, __doc__, measure, line, asdict, body, draw, needs=("blosc2",))

if __name__ == "__main__":
    sys.exit(SCRIPT.main())
