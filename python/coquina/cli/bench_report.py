"""What `coquina bench` says: facts for programs, a table, a recommendation with its reason, and a picture.

In: measurements. Out: dictionaries, text, an image file.
"""

from __future__ import annotations

import math
import os
import shlex
from typing import TYPE_CHECKING, Any

from coquina.arrays.aligning import aligned
from coquina.arrays.info import human
from coquina.cli.bench_codecs import GOALS
from coquina.cli.colours import painted
from coquina.cli.terminal import cell
from coquina.tuning.report import speed

if TYPE_CHECKING:
    import argparse
    from typing import TextIO

    from coquina.cli.bench_codecs import Measurement
    from coquina.cli.bench_partitions import Cut

_IMAGES = (".png", ".svg", ".pdf")
_SMALL_GAIN = 1.1


def codec_facts(one: Measurement) -> dict[str, Any]:
    """Return a measurement as JSON has it; MB are millions of bytes."""
    return {
        "codec": one.way.codec,
        "level": one.way.level,
        "filters": one.way.pipeline,
        "ratio": one.ratio,
        "write_mbs": one.write_mbs,
        "read_mbs": one.read_mbs,
        "is_front": one.is_front,
        "is_exact": one.is_exact,
    }


def cut_facts(one: Cut) -> dict[str, Any]:
    """Return a way to cut an array as JSON has it."""
    return {
        "name": one.name,
        "chunks": list(one.chunks),
        "blocks": list(one.blocks),
        "ms": one.ms,
        "reads": [
            {
                "key": str(each.pattern),
                "blocks": each.blocks,
                "decoded_bytes": each.decoded_bytes,
                "wanted_bytes": each.wanted_bytes,
                "ms": each.ms,
            }
            for each in one.readings
        ],
    }


def advice(
    found: list[Measurement], cut: Cut | None, options: argparse.Namespace, *, is_table: bool = False
) -> dict[str, Any]:
    """Return what is recommended, why, and what to write to have it. found: the best for the goal first."""
    best, file = found[0], options.file
    way = best.way
    why = f"{way}: {best.ratio:.2f}x, writes {speed(best.write_mbs)}, reads {speed(best.read_mbs)}"
    if max(one.ratio for one in found) < _SMALL_GAIN:
        why += "; these data hardly become smaller, and --level 0 stores them as they are"
    if not best.is_exact:
        why += "; the items are not the same (a filter drops bits)"
    chosen: dict[str, Any] = {"codec": way.codec, "level": way.level, "filters": way.pipeline}
    pipeline = way.filters if isinstance(way.filters, str) else list(way.filters)
    python = f"codec={way.codec!r}, level={way.level}, filters={pipeline!r}"
    words = ["-c", way.codec, "-l", str(way.level), "-F", way.pipeline]
    if cut is not None:
        chosen |= {"chunks": list(cut.chunks), "blocks": list(cut.blocks)}
        for name, value in cut.options.items():
            python += f", {name}={value!r}"
            words += [f"--{name}", value if isinstance(value, str) else ",".join(map(str, value))]
    for name in ("dtype", "shape"):
        if (value := getattr(options, name)) is not None:
            words += [f"--{name}", value.str if name == "dtype" else ",".join(map(str, value))]
    output = _output(file, ".h5" if is_table else ".b2nd")
    made = "create_table({0}, rows, {1})" if is_table else "asarray(x, path={0}, {1})"
    return {
        **chosen,
        "why": why,
        "python": f"coquina.{made.format(repr(output), python)}",
        "command": shlex.join(["coquina", "convert", file, output, *words]),
    }


def _output(file: str, extension: str) -> str:
    """Return the name of a file that could be made of `file`, and is not there yet."""
    name = os.path.basename(file)
    stem = name.partition(":")[0].rpartition(".")[0] or name.partition(":")[0]
    found, number = f"{stem}{extension}", 1
    while os.path.exists(found):
        number += 1
        found = f"{stem}-{number}{extension}"
    return found


def text(result: dict[str, Any], stream: TextIO) -> str:
    """Return the result for people."""
    sample, best = result["sample"], result["recommended"]
    what = f"{result['dtype']} {tuple(result['shape'])}" if "shape" in result else f"{result['rows']} rows"
    whole = f" of {human(result['nbytes'])}" if "nbytes" in result else ""
    measured = f"measured {human(sample['nbytes'])}{whole} from {sample['places']} places"
    lines = [
        f"{cell(result['file'])}: {what}; {measured}, on {result['threads']} threads",
        "",
        *_codec_lines(result["codecs"], stream),
    ]
    if "columns" in result:
        lines += ["", f"best for {result['goal']}, by column:", *_column_lines(result["columns"])]
        if result["not_measured"]:
            lines.append(
                f"not measured, since they are text of any length: {', '.join(result['not_measured'])}"
            )
    if result.get("partitions"):
        lines += ["", *_cut_lines(result["partitions"])]
    lines += [
        "",
        painted(f"for {result['goal']} ({GOALS[result['goal']]}): {best['why']}", "bold", stream),
        f"  {best['python']}",
        f"  {best['command']}",
    ]
    return "\n".join(lines)


def _codec_lines(codecs: list[dict[str, Any]], stream: TextIO) -> list[str]:
    rows = [["", "codec", "filters", "ratio", "write", "read"]]
    rows += [["*" if one["is_front"] else "", *_cells(one)] for one in codecs]
    head, first, *others = aligned(rows, right=3)
    return [head, painted(first, "green", stream), *others]


def _column_lines(columns: dict[str, dict[str, Any]]) -> list[str]:
    rows = [["", "codec", "filters", "ratio", "write", "read"]]
    return aligned(rows + [[name, *_cells(one)] for name, one in columns.items()], right=3)


def _cells(one: dict[str, Any]) -> list[str]:
    note = "" if one["is_exact"] else " (lossy)"
    return [
        f"{one['codec']}-{one['level']}", one["filters"] + note, f"{one['ratio']:.2f}x",
        speed(one["write_mbs"]), speed(one["read_mbs"]),
    ]  # fmt: skip


def _cut_lines(cuts: list[dict[str, Any]]) -> list[str]:
    rows = [["for", "chunks", "blocks", "read", "blocks read", "decoded for needed", "time"]]
    for one in cuts:
        first = [one["name"], _lengths(one["chunks"]), _lengths(one["blocks"])]
        for each in one["reads"]:
            amount = f"{human(each['decoded_bytes'])} for {human(each['wanted_bytes'])}"
            rows.append([*first, each["key"], f"{each['blocks']:.0f}", amount, _time(each["ms"])])
            first = ["", "", ""]
    return aligned(rows, right=4)


def _lengths(lengths: list[int]) -> str:
    return ",".join(map(str, lengths))


def _time(ms: float) -> str:
    return f"{ms:.3g} ms" if ms >= 1 else f"{ms * 1e3:.3g} us"


def check_plot(path: str) -> None:
    """Raise before anything is measured if no picture can be made."""
    if not path.lower().endswith(_IMAGES):
        raise ValueError(f"--plot {path}: takes a name that ends in {', '.join(_IMAGES)}")
    folder = os.path.dirname(path)
    if folder and not os.path.isdir(folder):
        raise FileNotFoundError(f"--plot {path}: there is no folder {folder}")
    try:
        import matplotlib.figure  # noqa: F401  # pyright: ignore[reportUnusedImport]
    except ImportError:
        raise ImportError(
            "--plot: needs matplotlib, which is not installed; pip install matplotlib"
        ) from None


def plot(result: dict[str, Any], path: str) -> None:
    """Save ratio against speed of writing and of reading, a colour for each codec, a ring for the best.

    result: its codecs, of which the first is the best, its goal, and a title.
    """
    from matplotlib.figure import Figure

    figure: Any = Figure(figsize=(10, 4.5), layout="constrained")
    codecs = list(dict.fromkeys(one["codec"] for one in result["codecs"]))
    for axes, name in zip(figure.subplots(1, 2, sharey=True), ("write", "read"), strict=True):
        for number, codec in enumerate(codecs):
            rows = [one for one in result["codecs"] if one["codec"] == codec]
            points = [(one[f"{name}_mbs"], one["ratio"]) for one in rows]
            axes.scatter(*zip(*points, strict=True), color=f"C{number}", label=codec)
            for one, point in zip(rows, points, strict=True):
                if one["is_front"]:
                    label = f"{one['level']} {one['filters']}"
                    axes.annotate(label, point, xytext=(4, 4), textcoords="offset points", fontsize=6)
        best = result["codecs"][0]
        ring = {"s": 140, "facecolors": "none", "edgecolors": "black"}
        axes.scatter([best[f"{name}_mbs"]], [best["ratio"]], label=f"for {result['goal']}", **ring)
        axes.set_xlabel(f"{name}, MB/s")
        axes.set_xscale("log")
        axes.grid(alpha=0.3, which="both")
        if math.isfinite(best["ratio"]) and max(one["ratio"] for one in result["codecs"]) > 20:
            axes.set_yscale("log")
    figure.axes[0].set_ylabel("ratio")
    figure.axes[0].legend(fontsize=8)
    figure.suptitle(result["title"])
    figure.savefig(path, dpi=150)
