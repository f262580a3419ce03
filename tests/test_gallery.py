"""The gallery is what the stored results make, and the benches have one clock and one frame."""

import importlib
import json
import os
import re
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

ROOT = Path(__file__).parents[1]
BENCH = ROOT / "bench"
CLOCKS = re.compile(r"perf_counter|monotonic\(|process_time|time\.time\(|\bimport time\b|\btimeit\b")


@pytest.fixture(scope="module")
def bench():
    """Imports a module of the benches."""
    sys.path.insert(0, str(ROOT))
    yield lambda name: importlib.import_module(f"bench.{name}")
    sys.path.remove(str(ROOT))


def test_page_summary_and_readme_are_what_the_results_make(bench):
    gallery = bench("common.gallery")
    files = gallery.files()
    assert gallery.README in files, f"README.md has no {gallery.START}"
    stale = [path.name for path, text in files.items() if path.read_text() != text]
    assert not stale, f"run python -m bench.common.gallery: {stale}"


def test_stored_summaries_follow_from_the_stored_rows(bench):
    rounded = bench("common.run").rounded
    for one in bench("common.gallery").stored():
        made = [rounded(line) for line in one.study.lines(one.rows)]
        assert made == list(one.summary), one.study.name
        assert made, f"{one.study.name}: no line in the summary"


def test_the_readme_shows_losing_cases(bench):
    shown = [line for one in bench("common.gallery").stored() for line in one.summary if line.get("front")]
    assert any(line["mean"] < 1 for line in shown)


def test_every_study_has_its_script_and_every_plot_its_study(bench):
    studies = bench("common.studies").STUDIES
    known = {f"{'-'.join(filter(None, [one.name, suffix]))}.png" for one in studies for suffix in one.figures}
    kept = {path.name for path in (BENCH / "results").glob("*.png") if "-quick" not in path.name}
    assert {name for name in kept if "-full" not in name} <= known
    for one in studies:
        text = (BENCH / one.script).read_text()
        assert "SCRIPT = Script(" in text, one.script
        assert one.script in (BENCH / "README.md").read_text()
    benches = re.search(r"^BENCHES := (.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE).group(1).split()
    assert [f"{name.replace('.', '/')}.py" for name in benches] == [one.script for one in studies]
    assert sum(one.minutes for one in studies) < 60


def test_only_the_harness_has_a_clock():
    others = [path for path in BENCH.glob("*/*.py") if path.name != "harness.py"]
    assert len(others) > 20
    assert [path.name for path in others if CLOCKS.search(path.read_text())] == []
    assert CLOCKS.search((BENCH / "common/harness.py").read_text())


@given(st.lists(st.floats(0.01, 100), min_size=1))
def test_a_line_lies_between_its_worst_and_its_best(ratios):
    sys.path.insert(0, str(ROOT))
    try:
        line = importlib.import_module("bench.common.summaries").Line("work", "peer", "data", ratios).stored()
    finally:
        sys.path.remove(str(ROOT))
    assert line["worst"] * (1 - 1e-9) <= line["mean"] <= line["best"] * (1 + 1e-9)
    assert (line["slower"], line["cases"]) == (sum(ratio < 1 for ratio in ratios), len(ratios))


@pytest.fixture
def script(bench):
    """A bench of three cells, one of which fails."""
    run, studies, summaries = bench("common.run"), bench("common.studies"), bench("common.summaries")

    def summarize(rows):
        yield summaries.Line("work", "peer", "data", [row["ratio"] for row in rows])

    def measure(run):
        for number in range(2 if run.size == "quick" else 3):
            yield from run.attempt(f"cell {number}", lambda number=number: 4 / (2 - number))

    study = studies.Study(
        "toy", "toy.py", "Toy", "Text.", [], {}, summarize, 1, full="more", parts=("a", "b")
    )
    return run.Script(study, "", measure, str, lambda x: {"ratio": x}, lambda *_: ["body"], lambda *_: None)


def test_a_quick_run_keeps_nothing_unless_it_is_told_where(script, tmp_path, bench, monkeypatch, capsys):
    monkeypatch.setattr(bench("common.run"), "RESULTS", tmp_path / "results")
    assert script.main(["--quick"]) == 0
    assert not (tmp_path / "results").exists()
    assert "# Toy" in capsys.readouterr().out
    assert script.main(["--quick", "--out", str(tmp_path / "out")]) == 0
    content = json.loads((tmp_path / "out" / "toy-quick.json").read_text())
    assert content["rows"] == [{"ratio": 2.0}, {"ratio": 4.0}]
    assert content["summary"][0]["mean"] == pytest.approx(8**0.5, abs=1e-4)
    assert {"date", "cpu", "threads", "minutes"} <= content["about"].keys()


def test_parts_of_a_run_are_not_kept_and_failures_are_named(script, tmp_path, bench, monkeypatch):
    monkeypatch.setattr(bench("common.run"), "RESULTS", tmp_path)
    assert script.main(["--only", "a"]) == 1
    assert list(tmp_path.iterdir()) == []
    assert script.main([]) == 1
    assert "cell 2: ZeroDivisionError" in (tmp_path / "toy.md").read_text()
    assert script.main(["--full"]) == 1
    assert (tmp_path / "toy-full.json").exists()


def test_an_evicted_file_is_not_in_the_page_cache(bench, tmp_path):
    cold = bench("common.cold")
    if not cold.works_in(tmp_path):
        pytest.skip("files of this folder cannot be dropped from the page cache")
    path = tmp_path / "x"
    path.write_bytes(bytes(1 << 16))
    with path.open("rb") as file:
        os.fsync(file.fileno())
    assert cold.is_cached(path)
    cold.evict([tmp_path, tmp_path / "missing"])
    assert not cold.is_cached(path)
    assert path.read_bytes()
    assert cold.is_cached(path)
