"""The page of all figures, the summary of all studies, the README's figures: made of stored results.

    python -m bench.common.gallery  writes docs/gallery.md, results/summary.json, the README's figures
    python -m bench.common.gallery --check  says which of them are not what the results make; exit code 1
    python -m bench.common.gallery --summarize sums the stored rows up again first

In: bench/results/*.json. Nothing is measured and no other library needed.
Invariant: what is written depends on the results and on studies.py alone.
"""

from __future__ import annotations

import argparse
import json
import sys
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.common import harness, summaries
from bench.common.highlights import PLOTS, Named
from bench.common.highlights import README as SHORT
from bench.common.run import RESULTS, save_json
from bench.common.studies import STUDIES, Study

ROOT = Path(__file__).parents[2]
PAGE, README, SUMMARY = ROOT / "docs" / "gallery.md", ROOT / "README.md", RESULTS / "summary.json"
START, STOP = "<!-- figures -->", "<!-- /figures -->"
WIDTH = 118
HEAD = """\
# Gallery

Every figure that `make bench` measures: coquina and the other libraries in the same run on the same machine.
`bench/common/gallery.py` makes this page from `bench/results`; [bench/README.md](../bench/README.md)
describes the method."""
READING = """\
## How to read the figures

**Faster by** is the other library's time divided by ours, the geometric mean of all cases: above 1, coquina
is faster; below 1, it is slower. The next columns give the worst and the best case, and in how many
cases coquina is slower. Contenders take turns; a ratio is the median over the rounds. Every answer is
compared with NumPy's before it is timed. For "cold" reads the system is asked to drop the file from its page
cache before each call (`posix_fadvise`), and the bench checks that it did; the disk of a virtual machine may
still be in its host's memory.

## Where coquina is slower

- Single codecs: BloscLZ and Zlib, down to 0.3x of python-blosc2, on artificial data and one of eight fields;
  compression by Zstd at level 1 and by LZ4HC down to 0.5x, where most cases are faster; decompression of LZ4
  and Zstd down to 0.9x on some of the eight fields.
- Parts of cold files: whole arrays in one case 0.9x of Zarr, warm 0.99x.
- Boxes of cached blocks of Blosc2 files: down to 0.9x of h5py. Chunks of 4 MB that are one block, or have
  blocks of 4 KB: reads down to 0.6x of h5py, 0.8x of python-blosc2.
- Buffers of 1 to 16 KB: compression down to 0.5x of python-blosc2's call without a context; decompression of
  BloscLZ in buffers of 32 and 64 KB 0.6x.
- Appends of 4 KiB to HDF5 datasets by one thread: 0.8x of h5py, whose flush does not survive a kill.
- Writing within an error bound: 0.2x to 0.7x of ZFP, whose files are larger, and 0.7x of truncation. Size:
  0.4x to 1.2x of SZ3; by prediction 1.0x to 1.3x, read at 0.9x of the speed of truncation.
- HTJ2K images: without loss encoded at 0.8x of OpenJPH, and decoded at 0.4x of Zstd with bitshuffle, whose
  files are a quarter larger; with loss encoded at 0.3x to 0.4x of OpenJPH and JPEG-LS.
- Files of thousands of small HDF5 datasets, created and opened: 0.3x to 0.6x of h5py. One element of a file
  of a million chunks: 0.5x.
- Reductions of data that fit in memory uncompressed, which NumPy need not decode. The sum of a linear
  ramp, and an expression of it that is stored compressed: down to 0.6x of python-blosc2.
- One of three queries of a cold file: 0.8x of Polars.
- Conditions on text of few distinct values: 0.3x to 1.0x of Polars and DuckDB, whose Parquet files hold each
  value once; down to 0.02x where no row has the text. Sums by 100,000 texts: 0.5x to 0.8x; means by single
  keys of some tables: 0.8x to 1.0x.
- An index lookup without hits in a file that was just opened: 0.6x of PyTables.
- All columns of the rows that an index finds, from ten thousand rows on: 0.7x to 0.8x of DuckDB.
- The first thousand rows in the order of an index: 0.7x of PyTables.
- A sorted copy of a table: 0.7x of DuckDB.
- Appends of millions of rows to a table with two indexes: 0.5x of a table without indexes in columns, 0.6x
  in rows.
- What `codec="auto"` chooses: slower than BTune's choice, which tries each chunk 40 times, for 2 to 4 of 70
  arrays at the goal of speed and 9 to 13 at the balanced one. Writing with it: 0.7x to 0.9x of the same
  codecs without it."""


@dataclass(frozen=True)
class Result:
    """What is stored of a study."""

    study: Study
    about: Mapping[str, str]
    summary: Sequence[Mapping[str, Any]]
    rows: Sequence[Mapping[str, Any]]


def stored() -> Iterator[Result]:
    """Of each study that was run."""
    for study in STUDIES:
        path = RESULTS / f"{study.name}.json"
        if path.exists():
            content = json.loads(path.read_text())
            yield Result(study, content["about"], content.get("summary", []), content["rows"])


def summary(results: Sequence[Result]) -> str:
    """Every line with its study, as JSON."""
    lines = []
    for one in results:
        where = {"study": one.study.name, "date": one.about["date"], "threads": one.study.threads}
        lines += [json.dumps({**where, **line}) for line in one.summary]
    return "[\n" + ",\n".join(lines) + "\n]\n"


def table(results: Sequence[Result]) -> str:
    """Every line, as Markdown."""
    return summaries.table([(one.study.name, line) for one in results for line in one.summary])


def machine(about: Mapping[str, str]) -> str:
    """Where and when."""
    names = ("cpu", "cores", "memory", "system")
    return f"{about['date']}; {', '.join(f'{name} {about[name]}' for name in names)}"


def page(results: Sequence[Result]) -> str:
    """The gallery."""
    found = {one.study.name: one for one in results}
    parts = [HEAD, "## Highlights", *highlights(results), READING, "## Main figures", front(results)]
    for study in STUDIES:
        parts += section(study, found.get(study.name))
    parts += ["## All lines", table(results)]
    return "\n\n".join(parts) + "\n"


def section(study: Study, result: Result | None) -> Iterator[str]:
    """A study: what it asks, its figures, where the rest is."""
    yield f"## {study.title}"
    yield textwrap.fill(study.text, WIDTH)
    if result is None:
        yield f"Not measured yet: `python -m {study.module}`."
        return
    for suffix, caption in study.figures.items():
        name = f"{'-'.join(filter(None, [study.name, suffix]))}.png"
        if (RESULTS / name).exists():
            yield f"![{caption}](../bench/results/{name})\n\n*{caption}*"
    versions = (f"{name} {result.about[name]}" for name in study.packages if name in result.about)
    files = f"[all cells](../bench/results/{study.name}.md), [JSON](../bench/results/{study.name}.json)"
    yield f"`python -m {study.module}`; {machine(result.about)}; {', '.join(versions)}; {files}."


def named(results: Sequence[Result], wanted: Named) -> Mapping[str, Any]:
    """The stored line of a name; KeyError if there is none."""
    for one in results:
        for line in one.summary:
            if (one.study.name, line["work"], line["peer"]) == (wanted.study, wanted.work, wanted.peer):
                return line
    raise KeyError(f"{wanted.study}: no line {wanted.work!r} beside {wanted.peer}")


def highlights(results: Sequence[Result]) -> Iterator[str]:
    """The first plots, and a sentence on what to conclude from each."""
    for plot in PLOTS:
        means = [summaries.times(named(results, line)["mean"]) for line in plot.lines]
        said = plot.conclusion.format(*means)
        yield textwrap.fill(said, WIDTH)
        name, _, suffix = plot.figure.partition("-")
        caption = next(study.figures[suffix] for study in STUDIES if study.name == name)
        yield f"![{caption}](../bench/results/{plot.figure}.png)"


def front(results: Sequence[Result]) -> str:
    """The main lines, as Markdown."""
    rows = [
        [
            line["work"],
            line["data"],
            line["peer"],
            summaries.times(line["mean"]),
            spread(line),
            f"{line['slower']} of {line['cases']}",
            f"[{one.study.name}](../bench/results/{one.study.name}.md)",
        ]
        for one in results
        for line in one.summary
        if line.get("front")
    ]
    header = ["work", "data", "compared with", "faster by", "worst to best", "slower in", "all cells"]
    return harness.markdown(header, rows)


def spread(line: Mapping[str, Any]) -> str:
    """The worst and the best case, where there are several."""
    if line["cases"] == 1:
        return ""
    return f"{summaries.times(line['worst'])} to {summaries.times(line['best'])}"


def figures(results: Sequence[Result]) -> str:
    """The README's table: six lines."""
    rows = []
    for short in SHORT:
        line = named(results, short)
        rows.append([short.label, short.peer, summaries.times(line["mean"]), spread(line)])
    return harness.markdown(["work", "compared with", "faster by", "worst to best"], rows)


def readme(text: str, results: Sequence[Result]) -> str:
    """The README with its figures between their marks; ValueError where it has none."""
    before, start, rest = text.partition(START)
    _, stop, after = rest.partition(STOP)
    if not start or not stop:
        raise ValueError(f"README.md: no {START} ... {STOP}")
    return f"{before}{START}\n{figures(results)}\n{STOP}{after}"


def files() -> dict[Path, str]:
    """What each of the files should be."""
    results = list(stored())
    texts = {PAGE: page(results), SUMMARY: summary(results)}
    if START in (text := README.read_text()):
        texts[README] = readme(text, results)
    return texts


def summarize() -> None:
    """Sums the stored rows up again."""
    for one in stored():
        save_json(RESULTS / f"{one.study.name}.json", one.study, one.about, one.rows)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true", help="write nothing, say what is out of date")
    parser.add_argument("--summarize", action="store_true", help="sum the stored rows up again")
    options = parser.parse_args(arguments)
    if options.summarize:
        summarize()
    stale = [path for path, text in files().items() if not path.exists() or path.read_text() != text]
    for path in stale:
        print(f"{'out of date' if options.check else 'written'}: {path.relative_to(ROOT)}")
        if not options.check:
            path.write_text(files()[path])
    return 1 if options.check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
