"""The page of all figures, the summary of all studies, the README's figures: made of stored results.

    python bench/gallery.py                writes docs/gallery.md, results/summary.json, the README's figures
    python bench/gallery.py --check        says which of them are not what the results make; exit code 1
    python bench/gallery.py --summarize    first sums the stored rows up again, if summaries.py has changed

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

import harness
import summaries
from run import RESULTS, save_json
from studies import STUDIES, Study

ROOT = Path(__file__).parent.parent
PAGE, README, SUMMARY = ROOT / "docs" / "gallery.md", ROOT / "README.md", RESULTS / "summary.json"
START, STOP = "<!-- figures -->", "<!-- /figures -->"
WIDTH = 118
HEAD = """\
# Gallery

Every figure that `make bench` measures, each beside the other libraries in the same run, on the same
machine. This page is made of the files in `bench/results` by `bench/gallery.py`;
[bench/README.md](../bench/README.md) says how to repeat it.

**Faster by** is the other library's time over ours, the geometric mean of all cases: above 1, coquina is
faster, below 1 it is slower. Beside it stand the worst and the best case, and in how many of the cases we
are slower. Contenders take turns, and a ratio is the median of those of the rounds; every answer is
compared with NumPy's before it is timed. "Cold" means that before each call the system was asked to drop
the file from its page cache (`posix_fadvise`), and was seen to do so; a virtual machine's disk may then
still lie in its host's memory."""


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
    parts = [HEAD, "## Summary", table(results)]
    for study in STUDIES:
        parts += section(study, found.get(study.name))
    return "\n\n".join(parts) + "\n"


def section(study: Study, result: Result | None) -> Iterator[str]:
    """A study: what it asks, its figures, where the rest is."""
    yield f"## {study.title}"
    yield textwrap.fill(study.text, WIDTH)
    if result is None:
        yield f"Not measured yet: `python bench/{study.script}`."
        return
    for suffix, caption in study.figures.items():
        name = f"{'-'.join(filter(None, [study.name, suffix]))}.png"
        if (RESULTS / name).exists():
            yield f"![{caption}](../bench/results/{name})\n\n*{caption}*"
    versions = (f"{name} {result.about[name]}" for name in study.packages if name in result.about)
    files = f"[all cells](../bench/results/{study.name}.md), [JSON](../bench/results/{study.name}.json)"
    yield f"`python bench/{study.script}`; {machine(result.about)}; {', '.join(versions)}; {files}."


def figures(results: Sequence[Result]) -> str:
    """The README's table: the lines in front."""
    rows = []
    for one in results:
        for line in one.summary:
            if line.get("front"):
                spread = f"{summaries.times(line['worst'])} to {summaries.times(line['best'])}"
                rows.append(
                    [
                        line["work"],
                        line["data"],
                        line["peer"],
                        summaries.times(line["mean"]),
                        spread if line["cases"] > 1 else "",
                        f"{line['slower']} of {line['cases']}",
                        f"[{one.study.name}](bench/results/{one.study.name}.md)",
                    ]
                )
    header = ["work", "data", "beside", "faster by", "worst to best", "slower in", "all cells"]
    return harness.markdown(header, rows)


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
