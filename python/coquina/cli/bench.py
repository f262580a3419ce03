"""measure codecs, filters and chunk shapes on your own data, and recommend one

Encodes and decodes a sample from all parts of the data in memory, on all threads, and compares the result
with the input. The file is not changed. For a table, every numeric column is measured. `coquina tune`
measures nothing: it estimates the costs from a table of times, in a second.

Goals: speed (written once, read four times, in memory), balanced (the same over storage of 200 MB/s), size.
A star marks results that no other beats in ratio, writing and reading at once.

Examples:
  coquina bench climate.npy
  coquina bench climate.b2nd --goal size --codec zstd,lz4hc --level 5,9 --filters shuffle,bitshuffle
  coquina bench run.h5:/images/raw --access planes --sample 4M --threads 2
  coquina bench floats.raw --dtype "<f4" --shape 100,200 --access 1,200 --json
  coquina bench trades.h5:/trades --goal speed --quiet
  coquina bench climate.npy --plot climate.png          ratio and speed of each as a picture
"""

from __future__ import annotations

import argparse
import sys
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

import coquina
from coquina.cli import (
    arguments,
    bench_codecs,
    bench_partitions,
    bench_report,
    convert_tables,
    sources,
    tables,
)
from coquina.cli.terminal import show, show_json

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from coquina.cli.bench_codecs import Measurement, Sample
    from coquina.tuning.ways import Way


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `coquina bench`."""
    parser.add_argument(
        "file",
        help="an array, a table, FILE.h5:/path, .npy, FILE.npz:NAME, or plain bytes with --dtype and --shape",
    )
    arguments.add_plain(parser)
    tried = {"codec": _codecs, "level": _levels, "filters": _pipelines}
    about = {
        "codec": "blosclz,lz4,lz4hc,zstd",
        "level": "some of each codec",
        "filters": "those for the dtype",
    }
    for (name, kind), letter in zip(tried.items(), "clF", strict=True):
        parser.add_argument(
            f"-{letter}",
            f"--{name}",
            type=kind,
            metavar="LIST",
            help=f"values to try, separated by commas (default: {about[name]})",
        )
    arguments.add_cut(parser, "")
    parser.add_argument(
        "--sample",
        type=arguments.size,
        default="64M",
        metavar="SIZE",
        help="size of the sample (default: 64M)",
    )
    parser.add_argument(
        "--goal",
        choices=tuple(bench_codecs.GOALS),
        default="balanced",
        help="goal of the recommendation (default: balanced)",
    )
    parser.add_argument(
        "--access", type=_access, default="all",
        help="how the array will be read: all (default), rows, columns, planes, points, or a box shape",
    )  # fmt: skip
    parser.add_argument("--plot", metavar="FILE", help="save a plot (.png, .svg, .pdf); needs matplotlib")
    arguments.add_threads(parser)
    arguments.add_report(parser)


def run(options: argparse.Namespace) -> None:
    """Measure, and recommend."""
    if options.plot is not None:
        bench_report.check_plot(options.plot)
    with ExitStack() as stack:
        rows = convert_tables.rows_of(options, stack)
        if rows is not None and not tables.is_table(rows):
            raise ValueError(
                f"{options.file}: `coquina convert {options.file} FILE.h5` makes a table; measure that"
            )
        result = (
            _of_table(rows, options) if rows is not None else _of_array(sources.load(options, stack), options)
        )
    asked: dict[str, Any] = {"file": options.file, "threads": coquina.num_threads(), "goal": options.goal}
    result = asked | result
    if options.plot is not None:
        megabytes = result["sample"]["nbytes"] / 1e6
        title = f"{options.file}: {megabytes:.0f} MB, {result['threads']} threads"
        bench_report.plot(result | {"title": title}, options.plot)
    if options.json:
        show_json(result)
    elif not options.quiet:
        print(bench_report.text(result, sys.stdout))
    else:
        show(result["recommended"]["command"])


def _of_array(source: Any, options: argparse.Namespace) -> dict[str, Any]:
    shape = tuple(map(int, source.shape))
    given: dict[str, Any] = {
        name: value
        for name in ("chunks", "blocks")
        if (value := getattr(options, name)) is not None and value != "auto"
    }
    access = options.access
    if isinstance(access, str) and not given and access in ("rows", "columns"):
        given = {"access": access}
    empty = coquina.zeros(shape, source.dtype, **given)
    sample = bench_codecs.sample(source, empty.chunks, empty.blocks, options.sample)
    found, _ = _codecs_of([sample], bench_codecs.ways(source.dtype, options), options)
    best = min(found, key=lambda one: bench_codecs.cost(one, options.goal))
    cuts = _cuts_of(source, best.way, given, options) if shape else []
    cut = min(cuts, key=lambda one: one.ms, default=None)
    return {
        "shape": list(shape),
        "dtype": _dtype_name(source.dtype),
        "nbytes": int(np.prod(shape, dtype=object)) * source.dtype.itemsize,
        "sample": {
            "nbytes": sample.items.nbytes,
            "places": len(sample.items),
            "box": list(sample.items.shape[1:]),
        },
        "codecs": [bench_report.codec_facts(one) for one in found],
        "partitions": [bench_report.cut_facts(one) for one in cuts],
        "recommended": bench_report.advice(found, cut, options),
    }


def _of_table(table: Any, options: argparse.Namespace) -> dict[str, Any]:
    if options.chunks or options.blocks:
        raise ValueError(f"{options.file}: --chunks and --blocks are for arrays, and this is a table")
    samples: list[Sample] = []
    left_out: list[str] = []
    names = [
        path
        for path, column in table.layout.columns.items()
        if column.dtype.kind not in "TO" or left_out.append(path)
    ]
    for name in names:
        column = _Column(table[name])
        empty = coquina.zeros(column.shape, column.dtype, access="rows")
        most = max(options.sample // len(names), 1 << 16)
        one = bench_codecs.sample(column, empty.chunks, empty.blocks, most)
        samples.append(bench_codecs.Sample(one.items, one.blocks, name))
    if not samples:
        raise ValueError(f"{options.file}: the table has no numeric columns to measure")
    widest = max((one.items.dtype for one in samples), key=lambda dtype: (dtype.kind == "i", dtype.itemsize))
    found, each = _codecs_of(samples, bench_codecs.ways(widest, options), options)
    columns = {
        sample.name: bench_report.codec_facts(
            min((row[number] for row in each), key=lambda one: bench_codecs.cost(one, options.goal))
        )
        for number, sample in enumerate(samples)
    }
    return {
        "rows": len(table),
        "sample": {
            "nbytes": sum(one.items.nbytes for one in samples),
            "places": max(len(one.items) for one in samples),
        },
        "codecs": [bench_report.codec_facts(one) for one in found],
        "columns": columns,
        "not_measured": left_out,
        "recommended": bench_report.advice(found, None, options, is_table=True),
    }


def _dtype_name(dtype: np.dtype[Any]) -> str:
    return str(dtype) if dtype.names is None else f"records of {len(dtype.names)} fields"


class _Column:
    """A column as an array: what is missing has the value that is stored in its place."""

    def __init__(self, column: Any) -> None:
        self._column = column
        first = np.ma.getdata(column[:1])
        self.dtype: np.dtype[Any] = first.dtype
        self.shape: tuple[int, ...] = (len(column), *first.shape[1:])

    def __getitem__(self, key: Any) -> Any:
        return np.ma.getdata(self._column[key])


def _codecs_of(
    samples: list[Sample], ways: list[Way], options: argparse.Namespace
) -> tuple[list[Measurement], list[list[Measurement]]]:
    """Measure all ways; the best for the goal first."""
    found: list[Measurement] = []
    each: list[list[Measurement]] = []
    with _told(len(ways), options) as tell:
        for way in ways:
            tell(str(way))
            total, parts = bench_codecs.measure_all(samples, way)
            found.append(total)
            each.append(parts)
    ordered = sorted(bench_codecs.with_front(found), key=lambda one: bench_codecs.cost(one, options.goal))
    return ordered, each


def _cuts_of(
    source: Any, way: Way, given: dict[str, Any], options: argparse.Namespace
) -> list[bench_partitions.Cut]:
    """Measure ways to cut an array, with the codec that is recommended."""
    shape = tuple(map(int, source.shape))
    wanted = bench_partitions.patterns(shape, options.access)
    items = bench_partitions.region(source, options.sample)
    cuts = bench_partitions.cuts(shape, source.dtype, options.access, {} if "access" in given else given)
    with _told(len(cuts), options) as tell:
        found: list[bench_partitions.Cut] = []
        for cut in cuts:
            tell(f"blocks of {cut.blocks}")
            found.append(bench_partitions.measured(cut, items, shape, way, wanted))
    return sorted(found, key=lambda one: one.ms)


@contextmanager
def _told(total: int, options: argparse.Namespace) -> Generator[Callable[[str], None]]:
    """Give a function that says on a terminal what is measured, in one line that is wiped in the end."""
    is_shown = sys.stderr.isatty() and not options.quiet
    done = 0

    def tell(what: str) -> None:
        nonlocal done
        done += 1
        if is_shown:
            print(f"\r\x1b[K{done}/{total}  {what}", end="", file=sys.stderr, flush=True)

    try:
        yield tell
    finally:
        if is_shown:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)


def _parts(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _codecs(text: str) -> list[str]:
    return [arguments.codec_name(part) for part in _parts(text)]


def _levels(text: str) -> list[int]:
    return [arguments.level(9)(part) for part in _parts(text)]


def _pipelines(text: str) -> list[arguments.Pipeline]:
    return [arguments.filters(part) for part in _parts(text)]


def _access(text: str) -> bench_partitions.Access:
    if text in bench_partitions.ACCESSES:
        return text
    try:
        return arguments.shape(text)
    except argparse.ArgumentTypeError:
        known = ", ".join(bench_partitions.ACCESSES)
        raise argparse.ArgumentTypeError(
            f"{text!r}: takes {known}, or the shape of boxes such as 1,512,512"
        ) from None
