"""The bench of the tuner: what a score is, which ways there are, what is kept of them, what BTune says."""

import importlib
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[1]
TRACE = """: 1.2.1
Performance Mode: BALANCED, Compression tradeoff: 0.500000, Bandwidth: 20 GB/s
TRACE: WARNING: Empty metadata, no inference performed
|  Codec  | Filter | Split | C.Level | C.Threads | D.Threads | S.Score | C.Ratio | State | Readapt | Winner
|     lz4 |      0 |     1 |       8 |         1 |         1 |   0.427 |   1.35x | CODEC |    HARD | W
| blosclz |      2 |     0 |       4 |         1 |         1 |    1.63 |   3.19x | CODEC |    HARD | W
|     lz4 |      1 |     1 |       8 |         1 |         3 |    1.74 |   3.15x | CODEC |    HARD | -
"""


@pytest.fixture(scope="module")
def bench():
    """Imports a module of the benches."""
    sys.path.insert(0, str(ROOT))
    yield lambda name: importlib.import_module(f"bench.{name}")
    sys.path.remove(str(ROOT))


@pytest.fixture
def chunk(bench):
    """A chunk of 64 KiB of int32, without costs."""
    x = np.arange(16384, dtype="<i4")
    case = bench("tuner.tuner_corpus").Case("x", "integers", x)
    return bench("tuner.tuner_grid").Chunk(case, 0, x.view(np.uint8), 65536)


def filled(bench, chunk):
    """Give every way a cost that grows with its place in the grid, but for bytes, which shrink."""
    ways = bench("tuner.tuner_ways")
    for place, way in enumerate(ways.ways(chunk.case.x.dtype), 1):
        chunk.costs[way] = ways.Cost(40_000 - 100 * place, place * 1e-4, place * 1e-5)
    return chunk


def test_the_grid_holds_every_way_once(bench):
    ways = bench("tuner.tuner_ways")
    counts = {dtype: len(set(ways.ways(np.dtype(dtype)))) for dtype in ("u1", "f8", "U8", "S300")}
    assert counts == {"u1": 1 + 21 * 3, "f8": 1 + 21 * 4, "U8": 1 + 21 * 6, "S300": 1 + 21 * 3}
    names = [way.name for way in ways.ways(np.dtype("U8"))]
    assert len(set(names)) == len(names)
    assert names[0] == "stored"


def test_every_way_gives_the_bytes_back_and_a_wrong_one_is_seen(bench, monkeypatch):
    ways = bench("tuner.tuner_ways")
    plain = np.arange(4096, dtype="<f4").view(np.uint8)
    costs = {way: ways.cost(way, plain, 4, 8192) for way in ways.ways(np.dtype("f4"))}
    assert min(cost.cbytes for cost in costs.values()) < plain.nbytes / 8
    assert costs[ways.STORED].cbytes == plain.nbytes + 32
    monkeypatch.setattr(ways, "decode", lambda chunk, out: out.fill(0))
    with pytest.raises(ValueError, match="stored: other bytes"):
        ways.cost(ways.STORED, plain, 4)


def test_a_score_is_seconds_of_a_core_and_of_the_storage(bench):
    grid = bench("tuner.tuner_grid")
    cost = bench("tuner.tuner_ways").Cost(500, 1e-6, 2e-6)
    assert grid.score(cost, 1000, 0.5, "write") == pytest.approx(1e-9 + 0.5 / 125e6)
    assert grid.score(cost, 1000, 0.5, "read") == pytest.approx(2e-9 + 0.5 / 125e6)
    assert grid.score(cost, 1000, 0.5, "both") == pytest.approx(3e-9 + 1 / 125e6)
    assert grid.score(cost, 1000, 0.0, "read") == pytest.approx(2e-9 + 0.5 / 2e9)
    assert grid.score(cost, 1000, 0.75, "read") == pytest.approx(2e-9 + 0.5 * 4 / 125e6)
    assert grid.score(cost, 1000, 1.0, "both") == 500


def test_the_best_is_the_fastest_of_those_that_are_as_small_where_size_counts(bench, chunk):
    grid = bench("tuner.tuner_grid")
    filled(bench, chunk)
    every = list(chunk.costs)
    assert chunk.best(1.0, "both") == every[-1]
    smallest = chunk.costs[every[-1]]
    chunk.costs[every[3]] = replace(smallest, cbytes=int(smallest.cbytes * grid.SAME_SIZE), write=0.0)
    assert chunk.best(1.0, "both") == every[3]
    chunk.costs[every[5]] = replace(smallest, write=0.0, read=0.0)
    assert chunk.best(0.0, "read") == every[5]


def test_a_fixed_way_fits_items_of_one_byte(bench):
    ways, grid = bench("tuner.tuner_ways"), bench("tuner.tuner_grid")
    for dtype in ("u1", "i2", "S300", "U5", "c16"):
        known = set(ways.ways(np.dtype(dtype)))
        assert {grid.fitted(way, np.dtype(dtype)) for way in grid.fixed_ways()} <= known, dtype


def test_a_grid_is_known_again_for_the_same_bytes_alone(bench, chunk, tmp_path):
    grid = bench("tuner.tuner_grid")
    grid.save(tmp_path / "grid.json", [filled(bench, chunk)])
    known = grid.load(tmp_path / "grid.json")
    same = replace(chunk, costs={})
    assert grid.recall(same, known)
    assert {way: cost.cbytes for way, cost in same.costs.items()} == {
        way: cost.cbytes for way, cost in chunk.costs.items()
    }
    way = next(iter(same.costs))
    assert same.costs[way].write == pytest.approx(chunk.costs[way].write, rel=1e-3)
    other = replace(chunk, plain=chunk.plain[::-1].copy(), costs={})
    assert not grid.recall(other, known)
    assert not other.costs


def test_chunks_are_whole_blocks_that_cover_the_array(bench):
    corpus = bench("tuner.tuner_corpus")
    for shape, dtype in (((300_000,), "f8"), ((7, 900, 300), "f4"), ((100,), "i2"), ((50, 60, 3), "u1")):
        case = corpus.Case("x", "floats", np.zeros(shape, dtype))
        for chunk, block, side in zip(case.chunks, case.blocks, shape, strict=True):
            assert chunk % block == 0 or chunk >= side
        assert np.prod(case.chunks) * case.x.itemsize <= 1.5 * corpus.CHUNK_BYTES


def test_the_best_choice_has_no_regret_and_another_has_its_share(bench, chunk):
    cells, choices = bench("tuner.tuner_cells"), bench("tuner.tuner_choices")
    filled(bench, chunk)
    best = chunk.best(0.5, "both")
    cell = cells.regret_cell([choices.Choice(chunk, best, 1)], 0.5, "both")
    assert cell.values["regret"] == 0
    assert all(ratio >= 1 for ratio in cell.ratios.values())
    cell = cells.regret_cell([choices.Choice(chunk, cells.DEFAULT, 1)], 0.5, "both")
    assert cell.ratios[cells.DEFAULT.name] == 1
    share = chunk.score(cells.DEFAULT, 0.5, "both") / chunk.score(best, 0.5, "both")
    assert cell.values["regret"] == pytest.approx(share - 1)
    assert "regret" not in cells.regret_cell([choices.Choice(chunk, None, 1)], 0.5, "both").values


def test_the_trace_of_btune_tells_its_ways_and_the_last_winner(bench, chunk):
    peers = bench("tuner.tuner_peers")
    search = peers.parsed(TRACE, chunk)
    assert [way.name for way in search.tried] == [
        "lz4 8 + split",
        "blosclz 4 + bitshuffle + not split",
        "lz4 8 + shuffle + split",
    ]
    assert search.winner == search.tried[1]
    assert set(chunk.others) == set(search.tried)
    assert not chunk.costs
    with pytest.raises(ValueError, match="nothing"):
        peers.parsed("no row", chunk)


def test_a_uniform_chunk_needs_no_way(bench, chunk):
    x = np.full(16384, 7, "<i4")
    assert replace(chunk, case=replace(chunk.case, x=x), plain=x.view(np.uint8)).is_uniform
    assert not chunk.is_uniform


def test_stored_chunks_say_which_way_they_are(bench, chunk):
    ways, choices = bench("tuner.tuner_ways"), bench("tuner.tuner_choices")
    for way in (
        ways.STORED,
        ways.Way("lz4", 5, (("shuffle", 0),)),
        ways.Way("zstd", 9, (("bitshuffle", 0),)),
    ):
        stored = ways.encode(way, chunk.plain, 4)
        chunk.costs[way] = ways.Cost(len(stored), 1.0, 1.0)
        assert choices.way_of(chunk, stored) == way
    with pytest.raises(ValueError, match="no way of the grid"):
        choices.way_of(chunk, ways.encode(ways.Way("zlib", 5, ()), chunk.plain, 4))


def test_training_buffers_are_the_same_every_time_and_not_in_the_corpus(bench):
    first, second = (dict(bench("tuner.tuner_times").buffers()) for _ in range(2))
    assert len(first) >= 40
    assert {name: x.tobytes() for name, x in first.items()} == {
        name: x.tobytes() for name, x in second.items()
    }
    assert len({x.tobytes() for x in first.values()}) == len(first)


@pytest.mark.parametrize("goal", [0.0, 0.5, 1.0])
def test_what_auto_stores_is_a_way_of_the_grid(bench, goal):
    ways, choices = bench("tuner.tuner_ways"), bench("tuner.tuner_choices")
    random = np.random.RandomState(8)
    for x in (np.cumsum(random.randint(-9, 9, 60_000)), random.random_sample(9000), np.full(50_000, 3.5)):
        case = bench("tuner.tuner_corpus").Case("x", "floats", x, chunk_bytes=1 << 16)
        (chunk,) = list(bench("tuner.tuner_grid").chunks_of(case))[:1]
        for way in ways.ways(x.dtype):
            stored = ways.encode(way, chunk.plain, chunk.typesize, chunk.block_bytes)
            chunk.costs[way] = ways.Cost(len(stored), 1.0, 1.0)
        (choice,) = choices.choices([chunk], goal, "both")
        assert (choice.way is None) == chunk.is_uniform


def test_a_choice_follows_data_that_change(bench):
    random = np.random.RandomState(8)
    noise, ramp = random.random_sample(1 << 18), np.arange(1 << 18, dtype="f8")
    case = bench("tuner.tuner_corpus").Case("x", "mixed", np.concatenate([noise, ramp]), is_mixed=True)
    found = bench("tuner.tuner_choices").adaptation(case, 1.0, "both")
    assert found["chunks"] == 2 * found["first"]
    assert found["late"] == 0


def test_the_page_and_the_summary_tell_of_every_part(bench, chunk):
    cells, report = bench("tuner.tuner_cells"), bench("tuner.tuner_report")
    choice = bench("tuner.tuner_choices").Choice(filled(bench, chunk), cells.DEFAULT, 1)
    search = bench("tuner.tuner_peers").parsed(TRACE, chunk)
    made = [cells.regret_cell([choice], 0.5, "both"), *cells.fixed_cells([[chunk]])]
    made.append(cells.peer_cell(bench("tuner.tuner_peers").BTUNE, search, choice, 0.5, "both"))
    values = {"ways": "lz4 1", "threads": 1, "auto": 0.5, "same": 0.25, "nbytes": 10**6, "after": 0.98}
    made.append(cells.Cell("overhead", "goal 0.5, both", "x", values, {"the same ways": 0.5}))
    page = "\n".join(report.body(made, None))
    for head in ("Regret by goal", "Fixed ways", "BTune", "What choosing costs", "Every array"):
        assert f"## {head}" in page
    assert "| 100 %" in page  # more time: twice
    rows = [{"part": c.part, "values": dict(c.values), "ratios": dict(c.ratios)} for c in made]
    lines = {(line.work, line.peer): line.ratios for line in bench("common.summaries").tuner_choices(rows)}
    assert lines['write with codec="auto"', "the same ways"] == [0.5]
    assert lines["choice for balanced (score, theirs over ours)", cells.DEFAULT.name] == [1.0]
    assert len(lines["choice for balanced (score, theirs over ours)", "BTune"]) == 1


def test_the_shares_of_the_ways_of_an_array_are_all_of_it(bench):
    overhead, corpus = bench("tuner.tuner_overhead"), bench("tuner.tuner_corpus")
    x = np.concatenate([np.random.RandomState(3).random_sample(1 << 19), np.arange(1 << 20, dtype="f8")])
    shares = overhead.taken(
        corpus.Case("x", "mixed", x), overhead.write_auto(corpus.Case("x", "mixed", x), 0.5, "both", 1)
    )
    assert sum(shares.values()) == pytest.approx(1)
    assert len(shares) > 1
