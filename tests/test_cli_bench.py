"""`coquina bench`: what it measures is there, is about the data, and what it recommends can be done."""

import json
import shlex
import subprocess
import sys

import h5py
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import coquina as cq
from coquina.cli import bench_codecs, bench_partitions, bench_report, main
from coquina.cli.bench_codecs import Measurement, Way

SHAPE = (40, 60, 50)
GRID = np.random.default_rng(3).integers(0, 200, SHAPE).astype("<i4").cumsum(axis=0, dtype="<i4")
FEW = ["--codec", "lz4,zstd", "--level", "1", "--filters", "shuffle,nofilter"]


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(bench_codecs, "SECONDS", 0)
    np.save("x.npy", GRID)
    return tmp_path


def facts(capfd, *words):
    assert main(["bench", *words, "--json"]) == 0
    return json.loads(capfd.readouterr().out)


def test_every_way_is_measured_and_ratios_are_those_of_files(capfd):
    found = facts(capfd, "x.npy", *FEW, "--chunks", "40,60,50", "--blocks", "10,60,50")
    ways = {(one["codec"], one["level"], one["filters"]): one for one in found["codecs"]}
    assert set(ways) == {(codec, 1, name) for codec in ("lz4", "zstd") for name in ("shuffle", "nofilter")}
    for (codec, level, filters), one in ways.items():
        made = cq.asarray(GRID, codec=codec, level=level, filters=filters, chunks=SHAPE, blocks=(10, 60, 50))
        assert one["ratio"] == pytest.approx(GRID.nbytes / made.info.cbytes, rel=0.01)
        assert min(one["write_mbs"], one["read_mbs"]) > 0
        assert one["is_exact"]
    assert (found["shape"], found["dtype"], found["nbytes"]) == (list(SHAPE), "int32", GRID.nbytes)
    assert any(one["is_front"] for one in found["codecs"])


def test_kinds_of_files_give_the_same_sample(capfd):
    cq.asarray(GRID, path="x.b2nd")
    cq.pack(GRID, "x.blp")
    np.savez("x.npz", a=GRID, b=GRID[0])
    GRID.tofile("x.raw")
    with h5py.File("x.h5", "w") as file:
        file["g/a"] = GRID
    with h5py.File("two.h5", "w") as file:
        file["a"], file["b"] = GRID, GRID[:3]
    plain = ["x.raw", "--dtype", "<i4", "--shape", "40,60,50"]
    files = [["x.npy"], ["x.b2nd"], ["x.blp"], ["x.npz:a"], ["x.h5"], ["x.h5:/g/a"], ["two.h5:/a"], plain]
    ratios = [
        [one["ratio"] for one in sorted(found["codecs"], key=lambda one: one["codec"])]
        for words in files
        for found in [facts(capfd, *words, "--codec", "lz4,zstd", "--level", "1", "--filters", "shuffle")]
    ]
    assert ratios == [ratios[0]] * len(files)
    assert main(["bench", "two.h5"]) == 1
    assert "coquina ls two.h5" in capfd.readouterr().err


def test_what_is_recommended_is_done_by_both_lines(capfd):
    goals = [facts(capfd, "x.npy", *FEW, "--goal", goal, "--access", "rows") for goal in ("size", "speed")]
    best = goals[0]["recommended"]
    smallest = max(goals[0]["codecs"], key=lambda one: one["ratio"])
    assert {name: best[name] for name in ("codec", "level", "filters")} == {
        name: smallest[name] for name in ("codec", "level", "filters")
    }
    for found in goals:
        best = found["recommended"]
        assert f"{best['codec']}-{best['level']} + {best['filters']}" in best["why"]
        assert main([*shlex.split(best["command"])[1:], "--force"]) == 0
        capfd.readouterr()
        made = cq.open("x.b2nd")
        assert (made.info.codec, made.info.level) == (best["codec"], best["level"])
        assert (list(made.chunks), list(made.blocks)) == (best["chunks"], best["blocks"])
        np.testing.assert_array_equal(made[...], GRID)
        python = eval(best["python"].replace("path='x.b2nd'", "path=None"), {"coquina": cq, "x": GRID})
        assert (python.info.codec, python.chunks, python.blocks) == (
            made.info.codec,
            made.chunks,
            made.blocks,
        )


@pytest.mark.parametrize("access", ["rows", "columns", "planes", "points", "all", "4,60,50"])
def test_partitions_count_the_blocks_that_reading_touches(access, capfd):
    found = facts(
        capfd, "x.npy", "--codec", "lz4", "--level", "1", "--filters", "shuffle", "--access", access
    )
    counts = {"rows": 1, "columns": 1, "planes": 3, "points": 1, "all": 4, "4,60,50": 1}
    times = [one["ms"] for one in found["partitions"]]
    assert times == sorted(times)
    for one in found["partitions"]:
        assert len(one["reads"]) == counts[access]
        array = cq.asarray(GRID, chunks=tuple(one["chunks"]), blocks=tuple(one["blocks"]))
        for read in one["reads"]:
            if access == "rows":
                assert read["blocks"] == array.blocks_touched(np.s_[5])
                assert read["wanted_bytes"] == GRID[5].nbytes
            assert read["decoded_bytes"] >= read["wanted_bytes"]
            assert read["ms"] > 0


def test_given_chunks_are_among_those_compared(capfd):
    found = facts(capfd, "x.npy", *FEW, "--chunks", "10,30,50", "--blocks", "5,10,50")
    cuts = {one["name"]: (one["chunks"], one["blocks"]) for one in found["partitions"]}
    assert cuts["given"] == ([10, 30, 50], [5, 10, 50])
    assert "any" in cuts


def test_tables_are_measured_by_column(capfd):
    n = 5000
    data = {
        "time": np.arange(n), "price": np.random.default_rng(0).normal(size=n), "sym": ["a"] * n,
        "volume": np.ma.MaskedArray(np.arange(n) % 7, np.arange(n) % 3 == 0), "flag": np.arange(n) % 2 == 0,
    }  # fmt: skip
    cq.create_table("t.h5", data).close()
    found = facts(capfd, "t.h5", *FEW)
    assert set(found["columns"]) == {"time", "price", "volume", "flag"}
    assert found["not_measured"] == ["sym"]
    assert found["rows"] == n
    assert main(["bench", "t.h5", *FEW]) == 0
    text = capfd.readouterr().out
    assert "best for balanced, by column" in text
    assert "coquina.create_table('t-2.h5', rows, codec=" in text
    cq.create_table("words.h5", {"sym": ["a"] * n}).close()
    assert main(["bench", "words.h5"]) == 1
    assert "no numeric columns" in capfd.readouterr().err


def test_zeros_of_which_nothing_is_stored_are_measured(capfd):
    zeros = np.zeros((60, 50))
    np.save("z.npy", zeros)
    assert all(one["ratio"] == zeros.nbytes for one in facts(capfd, "z.npy", *FEW)["codecs"])
    cq.create_table("z.h5", {"zero": np.zeros(5000), "time": np.arange(5000)}).close()
    columns = facts(capfd, "z.h5", *FEW)["columns"]
    assert columns["zero"]["ratio"] > columns["time"]["ratio"] > 1


def test_lossy_filters_are_told_and_wrong_decoding_is_an_error(capfd, monkeypatch):
    np.save("f.npy", np.random.default_rng(0).normal(size=(50, 50)))
    found = facts(capfd, "f.npy", "--codec", "lz4", "--filters", "trunc_prec:10+shuffle")
    assert not found["codecs"][0]["is_exact"]
    assert "not the same" in found["recommended"]["why"]
    numbers = iter(range(10))
    monkeypatch.setattr(bench_codecs, "_bytes", lambda _: next(numbers))
    assert main(["bench", "f.npy", "--codec", "lz4"]) == 1
    assert "does not return the input" in capfd.readouterr().err


def test_a_picture_is_saved_and_without_matplotlib_nothing_is_measured(here, capfd):
    pytest.importorskip("matplotlib")
    for name in ("p.png", "p.svg"):
        assert main(["bench", "x.npy", *FEW, "--plot", name, "--quiet"]) == 0
        assert (here / name).stat().st_size > 5000
    assert capfd.readouterr().out.startswith("coquina convert x.npy x.b2nd -c ")
    program = (
        "import sys; sys.modules['matplotlib'] = None; sys.modules['matplotlib.figure'] = None\n"
        "from coquina.cli import main; sys.exit(main(['bench', 'x.npy', '--plot', 'q.png']))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (1, "")
    assert "pip install matplotlib" in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("x", [np.float64(3), np.empty((0, 3)), np.zeros(7, "S3"), np.zeros((3, 0, 2))])
def test_small_and_empty_arrays(x, capfd):
    np.save("s.npy", x)
    if not np.size(x):
        assert main(["bench", "s.npy"]) == 1
        assert "array is empty" in capfd.readouterr().err
    else:
        assert facts(capfd, "s.npy", *FEW)["nbytes"] == np.asarray(x).nbytes


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_samples_are_boxes_of_the_data_from_different_places(data):
    shape = tuple(data.draw(st.lists(st.integers(1, 12), min_size=1, max_size=4)))
    chunks = tuple(data.draw(st.integers(1, 14)) for _ in shape)
    blocks = tuple(data.draw(st.integers(1, length)) for length in chunks)
    source = np.arange(np.prod(shape), dtype="i8").reshape(shape)
    found = bench_codecs.sample(source, chunks, blocks, data.draw(st.integers(1, 4000)))
    box = tuple(map(min, chunks, shape))
    assert found.items.shape[1:] == box
    firsts = [int(one.ravel()[0]) for one in found.items]
    assert len(set(firsts)) == len(firsts) >= 1
    for first, one in zip(firsts, found.items, strict=True):
        starts = np.unravel_index(first, shape)
        assert all(at % length == 0 for at, length in zip(starts, box, strict=True))
        key = tuple(slice(at, at + length) for at, length in zip(starts, box, strict=True))
        np.testing.assert_array_equal(one, source[key])
    again = bench_codecs.sample(source, chunks, blocks, 10**9)
    assert len(again.items) == np.prod([total // length for total, length in zip(shape, box, strict=True)])


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(st.integers(1, 5), st.integers(1, 5), st.integers(1, 5)), min_size=1, max_size=12))
def test_the_front_is_what_nothing_beats(points):
    way = Way("lz4", 1, "shuffle")
    rows = [Measurement(way, 60, size, 1 / write, 1 / read, True) for size, write, read in points]
    marked = bench_codecs.with_front(rows)
    for (size, write, read), one in zip(points, marked, strict=True):
        beaten = any(
            (a <= size and b >= write and c >= read) and (a, b, c) != (size, write, read)
            for a, b, c in points
        )
        assert one.is_front == (not beaten)
    for goal in bench_codecs.GOALS:
        best = min(marked, key=lambda one, goal=goal: bench_codecs.cost(one, goal))
        costs = [bench_codecs.cost(one, goal) for one in marked if one.is_front]
        assert bench_codecs.cost(best, goal) == min(costs)


def test_patterns_lie_in_the_array():
    for shape in [(5,), (1, 1), (3, 1, 9), (2, 3, 4, 5)]:
        for access in bench_partitions.ACCESSES:
            for pattern in bench_partitions.patterns(shape, access):
                for key in pattern.keys(shape):
                    assert np.empty(shape)[key].size >= 1
    assert bench_report.check_plot("x.SVG") is None
