"""Zone maps: the least and greatest numbers that chunks of HDF5 datasets carry, and who may read such chunks.

NumPy is the judge of every bound. The peers are h5py with hdf5plugin, PyTables and python-blosc2: they read
what is here, and what they write has no zone map, so none is ever out of date.
"""

from __future__ import annotations

import subprocess
import sys

import blosc2
import h5py
import hdf5plugin  # noqa: F401 - its filters
import numpy as np
import pytest

import coquina as cq
from coquina import _core

RECORD = np.dtype([("n", "<i8"), ("x", "<f4"), ("flag", "?"), ("small", "<u2"), ("text", "S9")])
FIELDS = {"n": "int64", "x": "float32", "flag": "bool", "small": "uint16"}
ZONES = [(RECORD.fields[name][1], type_name) for name, type_name in FIELDS.items()]
TYPES = [
    "bool",
    *(f"{sign}int{8 * size}" for sign in ("", "u") for size in (1, 2, 4, 8)),
    "float32",
    "float64",
]
LAYER = b"coquina_zones"
CHUNK = 4000


def records(count: int, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    made = np.zeros(count, RECORD)
    made["n"] = np.arange(count) + rng.integers(0, 50, count)
    made["x"] = np.sin(np.arange(count) / 5000) * 100 + rng.random(count)
    made["x"][rng.random(count) < 0.0005] = np.nan
    made["flag"] = np.arange(count) // 16000 % 2
    made["small"] = rng.integers(0, 60000, count)
    made["text"] = [b"%d" % n for n in rng.integers(0, 1 << 30, count)]
    return made


def create(path, data, **options):
    options = {"chunks": (CHUNK,), "maxshape": (None,), "zones": ZONES, **options}
    with cq.open(path, "w") as file:
        dataset = file.create_dataset("t", data=data, **options)
        assert list(dataset.zones) == list(options["zones"])


def less(array, field, limit):
    """The rows where a field is less, how many boxes were known, and how many were computed."""
    offset, size = RECORD.fields[field][1], RECORD[field].itemsize
    lazy = _core.lazy_array(array, offset, size)
    kind = FIELDS[field]
    nodes = [
        ("load", 0, kind),
        ("constant", kind, np.array(limit, RECORD[field]).tobytes()),
        ("call", "less", [0, 1]),
    ]
    program = _core.lazy_program(nodes, [lazy], array.shape)
    out = np.zeros(array.shape, bool)
    program.read([0], list(array.shape), out)
    report = program.report()
    return out, report["boxes_known"], report["boxes_computed"]


def stored_chunks(path):
    with h5py.File(path) as file:
        dataset = file["t"]
        return [dataset.id.read_direct_chunk((at,))[1] for at in range(0, len(dataset), dataset.chunks[0])]


def with_map(path):
    return [LAYER in chunk for chunk in stored_chunks(path)]


def check_bounds(path, expected, chunks_known):
    """What is known of every chunk of a dataset of numbers is what NumPy finds."""
    with cq.open(path) as file:
        array = file["t"]
        assert np.array_equal(array[:], expected, equal_nan=expected.dtype.kind == "f")
        found = []
        for number, at in enumerate(range(0, len(expected), array.chunks[0])):
            bounds = array.handle.bounds(number)
            found.append(bounds is not None)
            if bounds is None:
                continue
            low, high, is_exact, has_nan = bounds
            part = expected[at : at + array.chunks[0]]
            numbers = part[~np.isnan(part)] if part.dtype.kind == "f" else part
            assert is_exact
            assert has_nan == (len(numbers) < len(part))
            low, high = (np.frombuffer(end, part.dtype)[0] for end in (low, high))
            if len(numbers):
                assert (low, high) == (numbers.min(), numbers.max())
            else:
                assert np.isnan(low)
                assert np.isnan(high)
    assert found == chunks_known


@pytest.mark.parametrize("name", TYPES)
def test_bounds_of_numbers_are_those_of_numpy(tmp_path, name):
    path, rng = tmp_path / "numbers.h5", np.random.default_rng(1)
    dtype = np.dtype(name)
    data = rng.integers(0, 2 if name == "bool" else 256, 3500 * dtype.itemsize, np.uint8).view(dtype)
    if dtype.kind == "f":
        data[1000:2000] = np.nan
        data[2000:3000] = rng.random(1000)
    create(path, data, chunks=(1000,), zones=[(0, name)])
    assert with_map(path) == [True] * 4
    check_bounds(path, data, [True] * 4)


def test_a_condition_on_a_field_passes_over_blocks(tmp_path):
    path, data = tmp_path / "table.h5", records(50_000)
    create(path, data)
    assert all(with_map(path))
    with cq.open(path) as file:
        array = file["t"]
        assert array.access == "direct"
        for field, limit in [("n", 700), ("x", -99.5), ("small", 3), ("flag", True)]:
            out, known, computed = less(array, field, limit)
            assert np.array_equal(out, data[field] < limit)
            assert field == "small" or known > computed, field
        before = array.handle.stats()["blocks_decoded"]
        less(array, "n", -1)
        assert array.handle.stats()["blocks_decoded"] == before
    with cq.open(path, "r+") as file:
        array = file["t"]
        assert array.access == "fetched"
        out, known, computed = less(array, "n", 700)
        assert np.array_equal(out, data["n"] < 700)
        assert known > computed


def test_appending_and_resizing_keep_bounds_true(tmp_path):
    path, numbers = tmp_path / "grown.h5", np.arange(2500, dtype="i4") + 7
    create(path, numbers, chunks=(1000,), zones=[(0, "int32")])
    check_bounds(path, numbers, [True] * 3)
    with cq.open(path, "r+") as file:
        dataset = file["t"].with_zones([(0, "int32")])
        dataset.append(np.full(800, -3, "i4"))
        expected = np.concatenate([numbers, np.full(800, -3, "i4")])
    check_bounds(path, expected, [True] * 4)
    with cq.open(path, "r+") as file:
        dataset = file["t"].with_zones([(0, "int32")])
        with dataset.appending(flush_every=300) as session:
            for part in np.array_split(np.arange(3333, dtype="i4"), 40):
                session.append(part)
        expected = np.concatenate([expected, np.arange(3333, dtype="i4")])
        dataset[1500:1510] = -99
        expected[1500:1510] = -99
    check_bounds(path, expected, [True] * 7)
    with cq.open(path, "r+") as file:
        file["t"].resize(6700)
    expected = np.concatenate([expected, np.zeros(67, "i4")])
    with cq.open(path) as file:
        assert np.array_equal(file["t"][:], expected)
        # Nothing is claimed of items that were not there when the chunk was written.
        bounds = file["t"].handle.bounds(6)
        assert bounds is None or np.frombuffer(bounds[0], "i4") == 0


def test_rows_that_others_make_visible_are_not_claimed(tmp_path):
    path, numbers = tmp_path / "grown.h5", np.arange(2500, dtype="i4") + 7
    create(path, numbers, chunks=(1000,), zones=[(0, "int32")])
    with h5py.File(path, "r+") as file:
        file["t"].resize((2900,))
    check_bounds(path, np.concatenate([numbers, np.zeros(400, "i4")]), [True, True, False])
    with h5py.File(path, "r+") as file:
        file["t"].resize((1200,))
        file["t"].resize((1300,))
    expected = np.concatenate([numbers[:1200], np.zeros(100, "i4")])
    check_bounds(path, expected, [True, False])


def test_what_h5py_writes_again_has_no_map(tmp_path):
    path, data = tmp_path / "table.h5", records(20_000)
    create(path, data)
    with h5py.File(path, "r+") as file:
        assert np.array_equal(file["t"][:]["text"], data["text"])
        part = file["t"][9000:9010]
        part["n"] = -5
        file["t"][9000:9010] = part
        data["n"][9000:9010] = -5
    assert with_map(path) == [True, True, False, True, True]
    with cq.open(path) as file:
        out, _, _ = less(file["t"], "n", 0)
        assert np.array_equal(out, data["n"] < 0)
        assert np.flatnonzero(out).tolist() == list(range(9000, 9010))


PYTABLES = """
import sys, tables, numpy as np
with tables.open_file(sys.argv[1], "r+") as file:
    table = file.root.t
    data = table.read()
    assert (table.read_where("n < 700")["text"] == data["text"][data["n"] < 700]).all()
    wanted = (data["small"] > 59990) & (data["x"] < 0)
    assert (table.read_where("(small > 59990) & (x < 0)")["n"] == data["n"][wanted]).all()
    assert (table.read(100, 9000, 3)["n"] == data["n"][100:9000:3]).all()
    assert (table[[5, 15999, 4000]]["n"] == data["n"][[5, 15999, 4000]]).all()
    assert [row["small"] for row in table.iterrows(7990, 8010)] == data["small"][7990:8010].tolist()
    if len(sys.argv) > 2:
        table.append(data[:100])
        table.flush()
        table.modify_column(5000, 5001, column=np.array([-5]), colname="n")
        table.flush()
np.save(sys.argv[1] + ".npy", data)
"""


def run_pytables(path, *arguments):
    """In a process of its own: PyTables brings another libhdf5."""
    done = subprocess.run(
        [sys.executable, "-c", PYTABLES, str(path), *arguments], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return np.load(f"{path}.npy")


def test_pytables_reads_queries_and_appends(tmp_path):
    path, data = tmp_path / "table.h5", records(18_000)
    create(path, data)
    with h5py.File(path, "r+") as file:
        attrs = file["t"].attrs
        file.attrs.update(
            CLASS=np.bytes_("GROUP"), PYTABLES_FORMAT_VERSION=np.bytes_("2.1"), VERSION=np.bytes_("1.0")
        )
        attrs.update(CLASS=np.bytes_("TABLE"), VERSION=np.bytes_("2.7"), TITLE=np.bytes_(""))
        for number, name in enumerate(RECORD.names):
            attrs[f"FIELD_{number}_NAME"] = np.bytes_(name)
    # h5py stores truth values as an enumeration; PyTables takes such a field for integers.
    found = run_pytables(path)
    assert all((found[name] == data[name]).all() for name in ("n", "small", "text"))
    assert all(with_map(path))
    run_pytables(path, "append")
    assert with_map(path) == [True, False, True, True, False]
    data = np.concatenate([data, data[:100]])
    data["n"][5000] = -5
    with cq.open(path) as file:
        out, known, computed = less(file.dataset("t"), "n", 0)
        assert np.flatnonzero(out).tolist() == [5000]
        assert known > computed
        assert np.array_equal(file.dataset("t")["n"][:], data["n"])


def test_blosc2_reads_the_frames_and_what_it_changes_has_no_map(tmp_path):
    path, numbers = tmp_path / "numbers.h5", np.arange(5000, dtype="i4")
    create(path, numbers, chunks=(1000,), zones=[(0, "int32")])
    frames = [blosc2.schunk_from_cframe(chunk, copy=True) for chunk in stored_chunks(path)]
    assert [np.frombuffer(frame[:], "i4").tolist() for frame in frames] == numbers.reshape(5, 1000).tolist()
    assert LAYER.decode() in frames[0].meta
    changed = numbers[:1000].copy()
    changed[500] = -1
    frames[0].update_data(0, changed, copy=True)
    with h5py.File(path, "r+") as file:
        file["t"].id.write_direct_chunk((0,), frames[0].to_cframe())
    numbers[500] = -1
    # The bytes of the map are still there, but it is known for one of another chunk.
    assert all(with_map(path))
    check_bounds(path, numbers, [False, True, True, True, True])


def test_maps_move_and_are_copied_with_the_chunks(tmp_path):
    path, numbers = tmp_path / "numbers.h5", np.arange(5000, dtype="i4")
    create(path, numbers, chunks=(1000,), zones=[(0, "int32")])
    with h5py.File(path, "r+") as file:
        file.copy("t", "group/u")
        del file["t"]
        file.move("group/u", "t")
    check_bounds(path, numbers, [True] * 5)


def test_no_damaged_map_gives_a_wrong_answer(tmp_path):
    path, data = tmp_path / "table.h5", records(8000)
    create(path, data, chunks=(8000,))
    (chunk,) = stored_chunks(path)
    whole = path.read_bytes()
    at = whole.index(chunk)
    start = at + chunk.index(LAYER)
    end = at + int.from_bytes(chunk[11:15], "big")
    rng = np.random.default_rng(3)
    refused = 0
    for place in rng.integers(start, end, 150):
        damaged = bytearray(whole)
        damaged[place] ^= 1 << rng.integers(8)
        path.write_bytes(damaged)
        with cq.open(path) as file:
            try:
                out, _, _ = less(file["t"], "n", 700)
            except cq.CorruptError:
                refused += 1
                continue
            assert np.array_equal(out, data["n"] < 700)
    # The map is in the part of the frame that the checksums are over.
    assert refused > 140


def test_datasets_that_can_have_no_map_have_none(tmp_path):
    path, data = tmp_path / "none.h5", np.arange(100)
    ways = {"gzip": {"filter": "gzip"}, "sum": {"fletcher32": True}, "blosc": {"filter": "blosc"}}
    with cq.open(path, "w") as file:
        for name, options in ways.items():
            dataset = file.create_dataset(name, data=data, chunks=(50,), zones=[(0, "int64")], **options)
            assert np.array_equal(dataset[:], data)
        ones = np.ones((40, 40))
        square = file.create_dataset("square", data=ones, chunks=(20, 20), zones=[(0, "float64")])
        assert np.array_equal(square[:], ones)
        for zones in [(1, "int64")], [(0, "complex64")], [(0, "int33")]:
            with pytest.raises(ValueError, match="zones"):
                file.create_dataset("wrong", data=data, chunks=(50,), zones=zones)
    assert LAYER not in path.read_bytes()
