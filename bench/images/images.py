"""What do 16-bit grey images cost and keep: size, quality and speed of JPEG 2000, HTJ2K and others.

    python -m bench.images.images  three stacks, every codec; two minutes and a half
    python -m bench.images.images --quick  a stack, under a minute
    python -m bench.images.images --grok-python PATH  also blosc2-grok, by a Python with blosc2 4.0.0

Stacks of a CT and an MR scanner and an X-ray image, shifted to unsigned 16-bit numbers, an image a block.
Ours: the codecs of coquina-images, zstd and lz4 on shuffled bits or bytes, contracts. Beside them Pillow and
imagecodecs (OpenJPEG, OpenJPH, CharLS, libpng), which code images in two threads (Pillow gains nothing),
python-blosc2 with its plugins j2k and htj2k, and h5py with hdf5plugin's HTJ2K, which has one thread. All take
turns (harness.py).

Ratio is bytes of the array over bytes kept. PSNR is of the range that the data have, SSIM the mean of the
images. What promises no loss is compared bit by bit, and a bound of ours must hold, before either is timed.
Results: bench/results/images.json, images.md, images-quality.png and images-speed.png.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

import numpy as np

from bench.common import data, harness, studies
from bench.common.harness import Effort
from bench.common.inputs import Grid, megabytes
from bench.common.run import Canvas, Run, Script
from bench.images import image_ways
from bench.images.quality_contest import Cell, contest, line, reached, sections
from bench.images.quality_ways import BLOSC2

EFFORT = Effort(8.0, 2, 7, each=0.5)
QUICK = Effort(2.0, 2, 3, each=0.2)
CHUNK = 4  # images of a chunk


@dataclass(frozen=True)
class Stack:
    """Images, and how they are cut."""

    name: str
    x: np.ndarray
    grid: Grid

    @property
    def title(self) -> str:
        """Name, shape and size."""
        return f"{self.name}: {' x '.join(map(str, self.x.shape))}, {megabytes(self.x.nbytes)}"


def stack(name: str, x: np.ndarray, images: int, tiles: int = 1) -> Stack:
    """Images out of the middle, as unsigned numbers; each in so many tiles, which are bands of rows."""
    start = (len(x) - images) // 2
    some = x[start : start + images].astype(np.int32)
    some = np.ascontiguousarray((some - some.min()).astype(np.uint16))
    chunk = (min(CHUNK, images), *some.shape[1:])
    return Stack(name, some, Grid(chunk, (1, -(-chunk[1] // tiles), chunk[2])))


STACKS: dict[str, Callable[[np.ndarray], Stack]] = {
    "ct_lung": lambda x: stack("CT", x, 12),
    "mr_brain": lambda x: stack("MR", x, 24),
    "x_ray": lambda x: stack("X-ray", x[None], 1, tiles=4),
}


def stacks(run: Run) -> Iterator[Stack]:
    """Those in the cache, or the sample where there are none."""
    found = {name: x for name, x in data.cached().items() if name in STACKS}
    for name in [name for name in STACKS if name not in found]:
        run.say(f"{name} is not in the cache (python -m bench.common.data --fetch {name})")
    if not found:
        x = data.sample()["mr_phantom"]
        yield stack("sample MR", x, len(x))
    names = [name for name in STACKS if name in found]
    for name in names[: run.choose(1, None, None)]:
        yield STACKS[name](found[name])


def measure(run: Run) -> Iterator[Cell]:
    """Every stack by every way."""
    for peer, why in image_ways.absent().items():
        run.say(f"absent: {peer} ({why})")
    if run.options.grok_python is None:
        run.say("absent: blosc2-grok (--grok-python PATH)")
    effort = run.choose(QUICK, EFFORT, EFFORT)
    for one in stacks(run):
        yield from contest(run, one.title, one.x, image_ways.ways(one.x, one.grid), effort)
        if run.options.grok_python is not None:
            for cells in run.attempt(f"grok, {one.title}", partial(grok_cells, run, one, effort)):
                yield from cells


def grok_cells(run: Run, one: Stack, effort: Effort) -> list[Cell]:
    """blosc2-grok in its own process, which takes no turns with the others."""
    folder = run.folder / "grok"
    folder.mkdir(exist_ok=True)
    settings = {image_ways.LOSSLESS: 0} | {f"rate {rate}": 10 * rate for rate in image_ways.RATES}
    plan = {"chunks": one.grid.chunks, "blocks": one.grid.blocks, "settings": settings}
    np.save(folder / "images.npy", one.x)
    (folder / "plan.json").write_text(json.dumps({**plan, "seconds": effort.seconds / 8}))
    child = Path(__file__).with_name("grok_child.py")
    done = subprocess.run(
        [run.options.grok_python, child, folder],
        text=True,
        capture_output=True,
        env=harness.child_environment(),
    )
    if done.returncode:
        raise RuntimeError(done.stderr.strip()[-300:])
    cells = []
    found = json.loads((folder / "found.json").read_text())
    for number, (setting, nbytes, compress, decompress) in enumerate(found):
        near = reached(one.x, np.load(folder / f"{number}.npy"))
        bound = 0 if setting == image_ways.LOSSLESS else None
        if bound == 0 and near.max_error:
            raise ValueError(f"grok promises no loss, is off by {near.max_error:g}")
        ratio = one.x.nbytes / nbytes
        times = {"compress": compress, "decompress": decompress}
        cells.append(
            Cell(one.title, BLOSC2, "grok", setting, one.x.nbytes, ratio, bound, **vars(near), **times)
        )
    return cells


def body(cells: Sequence[Cell], run: Run) -> Iterator[str]:
    """The Markdown page: a table for each stack."""
    yield (
        "MB/s of array, medians of rounds in turns. PSNR in dB of the range that the data have; SSIM is the "
        "mean of the images. Settings: rate: how many times smaller; dB: of 65535; step: of quantization, of "
        "65535; error: the greatest that is allowed; as Pillow: as many dB as Pillow reached with that."
    )
    yield from (f"Absent: {name} ({why})." for name, why in image_ways.absent().items())
    if run.options.grok_python is None:
        yield "Absent: blosc2-grok, which needs a Python of its own (--grok-python PATH)."
    yield from sections(cells)


def draw(cells: Sequence[Cell], canvas: Canvas) -> None:
    """PSNR and dissimilarity by ratio; speeds by ratio."""
    from bench.images.quality_plots import Panel, curves

    names = list(dict.fromkeys(cell.data for cell in cells))

    def by_family(name: str, y: Callable[[Cell], float | None]) -> dict[str, list[tuple[float, float]]]:
        found: dict[str, list[tuple[float, float]]] = {}
        for cell in cells:
            if cell.data == name and (value := y(cell)) is not None:
                found.setdefault(cell.family, []).append((cell.ratio, value))
        return found

    quality = [Panel(name, "ratio", "PSNR, dB", by_family(name, lambda cell: cell.psnr)) for name in names]
    for name in names:
        points = by_family(name, lambda cell: 1 - cell.ssim if cell.ssim < 1 and cell.psnr else None)
        quality.append(Panel(name, "ratio", "1 - SSIM", points, (True, True), is_flipped=True))
    options = {"note": f"{canvas.note} 16-bit grey images.", "columns": len(names)}
    curves(quality, canvas.path("quality"), title="Images with loss: quality by ratio", **options)
    speed = [
        Panel(
            f"{word}, {name}",
            "ratio",
            "MB/s",
            by_family(name, lambda cell, word=word: cell.speed(word)),
            (True, True),
        )
        for word in ("compress", "decompress")
        for name in names
    ]
    curves(speed, canvas.path("speed"), title="Images with loss and without: speed by ratio", **options)


def extend(parser: argparse.ArgumentParser) -> None:
    """The option of a Python with blosc2-grok."""
    parser.add_argument(
        "--grok-python", metavar="PATH", help="a Python that has blosc2 4.0.0 and blosc2-grok"
    )


SCRIPT = Script(studies.IMAGES, __doc__, measure, line, asdict, body, draw, extend=extend)

if __name__ == "__main__":
    sys.exit(SCRIPT.main())
