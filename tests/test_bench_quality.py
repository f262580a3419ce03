"""The contests of quality: what is promised is checked before it is timed, and like is compared with like."""

import importlib
import struct
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

ROOT = Path(__file__).parents[1]
X = np.arange(96, dtype=np.float32).reshape(8, 12)


@pytest.fixture(scope="module")
def bench():
    """Imports a module of the benches."""
    sys.path.insert(0, str(ROOT))
    yield lambda name: importlib.import_module(f"bench.{name}")
    sys.path.remove(str(ROOT))


@pytest.fixture
def way(bench):
    """A way of ours that keeps all items as they are."""
    contest = bench("images.quality_contest")
    return contest.Way(contest.OURS, "copy", "no loss", np.copy, lambda held: held.nbytes, np.copy, 0)


def off_by(error):
    """Return a decoder whose first item is off by so much."""

    def decode(held):
        y = held.copy()
        y[0, 0] += error
        return y

    return decode


def test_a_broken_promise_of_ours_is_a_failure(bench, way):
    contest = bench("images.quality_contest")
    assert contest.tried(way, X)[1].max_error == 0
    with pytest.raises(ValueError, match="no loss"):
        contest.tried(replace(way, decode=off_by(0.5)), X)
    with pytest.raises(ValueError, match=r"promises 0\.25, is off by 0\.5"):
        contest.tried(replace(way, decode=off_by(0.5), bound=0.25), X)
    with pytest.raises(ValueError, match="float64"):
        contest.tried(replace(way, decode=np.float64), X)


def test_a_broken_promise_of_others_is_named(bench, way):
    contest = bench("images.quality_contest")
    theirs = replace(way, library="peer", decode=off_by(0.5), bound=0.25)
    reached = contest.tried(theirs, X)[1]
    assert (reached.max_error, round(reached.rmse, 6)) == (0.5, round(0.5 / 96**0.5, 6))
    cell = contest.Cell("x", "peer", "c", "s", 1, 1.0, 0.25, **vars(reached), compress=1.0, decompress=1.0)
    assert "(!)" in contest.table([cell])
    assert "promises 0.25, is off by 0.5" in "".join(contest.broken([cell, replace(cell, bound=0.5)]))
    assert len(list(contest.broken([replace(cell, bound=None)]))) == 0


def test_a_contest_times_what_works_and_names_what_does_not(bench, way):
    contest, harness = bench("images.quality_contest"), bench("common.harness")
    said = []
    run = SimpleNamespace(wrong=[], say=said.append)
    run.attempt = lambda title, work: bench("common.run").Run.attempt(run, title, work)
    ways = [way, replace(way, library="peer", decode=off_by(1.0))]
    cells = list(contest.contest(run, "x", X, ways, harness.Effort(0.001, 1, 1)))
    assert [cell.library for cell in cells] == [contest.OURS]
    assert (cells[0].ratio, cells[0].psnr) == (1, None)
    assert len(run.wrong) == 1
    assert run.wrong[0].startswith("peer copy, no loss, x: ValueError")


@pytest.mark.parametrize("bound", [10.0, 0.1, 1e-4])
def test_the_fewest_bits_hold_the_bound_and_one_less_does_not(bench, bound):
    x = np.random.default_rng(1).normal(size=1000).astype(np.float32)
    kept = bench("images.field_ways").kept_bits(x, bound)

    def error(bits):
        cut = (x.view(np.uint32) >> (23 - bits) << (23 - bits)).view(np.float32)
        return np.abs(cut - x.astype(np.float64)).max()

    assert error(kept) <= bound
    assert kept == 0 or error(kept - 1) > bound


def row(library, codec, setting, ratio, seconds, **values):
    """Return a row as JSON has it."""
    return {
        "data": "CT: 2 x 2",
        "library": library,
        "codec": codec,
        "setting": setting,
        "ratio": ratio,
        "psnr": None,
        "compress": seconds,
        "decompress": seconds,
        **values,
    }


def test_images_with_loss_are_compared_with_ours_that_are_as_good_and_no_larger(bench):
    ours = [
        row("coquina", "htj2k", "no loss", 2.0, 1.0),
        row("coquina", "htj2k", "rate 5", 5.0, 1.0, psnr=60.0),
        row("coquina", "j2k", "rate 10", 10.0, 4.0, psnr=61.0),
        row("coquina", "lossy", "error 4", 20.0, 0.1, psnr=80.0),
    ]
    peer = [
        row("Pillow", "j2k", "no loss", 4.0, 10.0),
        row("Pillow", "j2k", "rate 10", 10.0, 8.0, psnr=61.05),
        row("Pillow", "j2k", "rate 20", 20.0, 8.0, psnr=50.0),
    ]
    lines = {line.work: line for line in bench("common.summaries").image_codecs(ours + peer)}
    assert lines["decompress images without loss, ours HTJ2K"].ratios == [10.0]
    assert lines["size of images without loss, ours HTJ2K (theirs over ours)"].ratios == [0.5]
    assert lines["decompress images with loss, ours as good and at most 15 % larger"].ratios == [2.0]


def test_fields_are_compared_where_the_bound_was_held(bench):
    def field(library, codec, setting, ratio, error):
        return row(library, codec, setting, ratio, 1.0, bound=0.1, max_error=error)

    rows = [
        field("coquina", "chosen", "error 0.1", 8.0, 0.1),
        field("h5py", "sz3", "error 0.1", 16.0, 0.1005),
        field("h5py", "sperr", "error 0.1", 16.0, 0.2),
    ]
    lines = list(bench("common.summaries").float_fields(rows))
    assert {line.peer for line in lines} == {"h5py sz3"}
    assert lines[0].ratios == [0.5]


@pytest.mark.parametrize("name", ["field_ways", "image_ways"])
def test_every_way_has_a_line_in_the_plots(bench, name):
    styles = bench("images.quality_plots").STYLES
    cut = (1, 8, 12)
    grid = bench("common.inputs").Grid(cut, cut)
    given = (X.reshape(cut), grid, -2) if name == "field_ways" else (X.astype(np.uint16).reshape(cut), grid)
    families = {f"{way.library} {way.codec}" for way in bench(f"images.{name}").ways(*given)}
    assert len(families) > 5
    assert families <= styles.keys()


def test_pixels_of_a_dicom_file_are_found_behind_their_sizes(bench, tmp_path):
    pixels = np.arange(6, dtype="<u2")
    elements = [(0x28, 0x10, struct.pack("<H", 2)), (0x28, 0x11, struct.pack("<H", 3))]
    elements.append((0x7FE0, 0x10, pixels.tobytes()))
    content = b"".join(struct.pack("<HHI", *tag, len(value)) + value for *tag, value in elements)
    path = tmp_path / "x.dcm"
    path.write_bytes(bytes(128) + b"DICM" + content)
    assert np.array_equal(bench("common.readers").read_dicom(path), pixels.reshape(2, 3))
