"""Small reads of a file that is open for writing: fast while nothing changes, and always of what is there."""

from __future__ import annotations

import threading

import h5py
import numpy as np
import pytest

import coquina as cq
from coquina import hdf5
from coquina.hdf5.datasets import Dataset
from coquina.hdf5.places import inside

ROWS, CHUNK = 1000, 100
BOXES = [slice(0, 7), slice(95, 105), slice(340, 360), slice(990, 1100), 5, 99, -1]
FILTERS = {
    "blosc2": {"chunks": (CHUNK,)},
    "gzip": {"chunks": (CHUNK,), "filter": "gzip"},
    "no filter": {"chunks": (CHUNK,), "filter": "none"},
}


@pytest.fixture(params=FILTERS)
def file(tmp_path, request):
    with hdf5.File(tmp_path / "x.h5", "w") as f:
        f.create_dataset("d", data=np.arange(ROWS), maxshape=(None,), **FILTERS[request.param])
        f.create_dataset("other", data=np.arange(ROWS) * 7, maxshape=(None,), **FILTERS[request.param])
        f.create_dataset("empty", (ROWS,), "i8", fillvalue=3, **FILTERS[request.param])
        for layout in ("columns", "rows"):
            columns = {"a": np.arange(ROWS), "b": np.arange(ROWS) / 2}
            f.create_table(layout, columns, layout=layout, chunk_rows=CHUNK)
    with h5py.File(tmp_path / "x.h5", "a") as h5:
        h5["kind"] = np.dtype("i4")
    with hdf5.File(tmp_path / "x.h5", "a") as f:
        yield f


def reads(dataset):
    return [np.array(dataset[box]) for box in BOXES]


def check(dataset, model):
    """Check small reads twice: what the first one decodes, the second one finds."""
    for _ in range(2):
        for box, found in zip(BOXES, reads(dataset), strict=True):
            np.testing.assert_array_equal(found, model[box])
    np.testing.assert_array_equal(dataset[...], model)


def whole(dataset):
    """Return another handle of a dataset, which leaves all to libhdf5."""
    return Dataset(inside(dataset), dataset._facts, dataset._nodes, access="whole")


@pytest.mark.parametrize("name", ["d", "empty"])
def test_repeated_small_reads_ask_libhdf5_once(file, name):
    d = file[name]
    assert d.access == "fetched"
    model = d[...]
    reads(d)
    before = d.info
    for _ in range(10):
        for box, found in zip(BOXES, reads(d), strict=True):
            np.testing.assert_array_equal(found, model[box])
    after = d.info
    assert after.chunks_fetched == before.chunks_fetched
    assert after.blocks_decoded == before.blocks_decoded
    # One box lies in two chunks. An item of a chunk that is not stored is told at once, and read by a plan.
    least = 10 * (len(BOXES) + 1)
    assert least <= after.chunks_unchanged - before.chunks_unchanged <= 2 * least


def test_small_reads_of_columns_and_of_axes_ask_libhdf5_once(file):
    column = file["columns"]["a"]
    records = file.dataset("rows")
    cube = file.create_dataset("cube", data=np.arange(8000).reshape(20, 20, 20), chunks=(10, 10, 10))
    keys = [(slice(3, 5), 4, slice(None, None, -3)), (0, 0, 0), ([1, 12, 3], slice(9, 11), 5)]
    model = np.arange(8000).reshape(20, 20, 20)
    counts = []
    for _ in range(3):
        np.testing.assert_array_equal(column[10:20], np.arange(10, 20))
        np.testing.assert_array_equal(records[10:20]["b"], np.arange(10, 20) / 2)
        for key in keys:
            np.testing.assert_array_equal(cube[key], model[key])
        counts.append((records.info.chunks_fetched, cube.info.chunks_fetched, cube.info.chunks_unchanged))
    assert counts[1][:2] == counts[2][:2]
    assert counts[2][2] > counts[1][2]


def assign(file, d, model):
    d[3:6] = -1
    model[3:6] = -1
    return model


def assign_to_part_of_a_chunk_elsewhere(file, d, model):
    d[350] = 17
    model[350] = 17
    return model


def assign_by_another_handle(file, d, model):
    other = d.with_zones(())
    other[3:6] = -2
    model[3:6] = -2
    return model


def assign_by_libhdf5(file, d, model):
    whole(d)[3:105] = -3
    model[3:105] = -3
    return model


def assign_by_another_file(file, d, model):
    with hdf5.File(file.path, "r+") as other:
        other["d"][4] = -4
    model[4] = -4
    return model


def assign_by_a_link(file, d, model):
    file["link"] = d
    file["link"][97:103] = 5
    model[97:103] = 5
    return model


def fill_from_a_computation(file, d, model):
    d[...] = d[...] + file["other"][...]
    return model + np.arange(ROWS) * 7 if len(model) == ROWS else model


def shrink_and_grow(file, d, model):
    d.resize(350)
    d.resize(ROWS)
    model[350:] = 0
    return model


def append(file, d, model):
    d.append(np.arange(50))
    return np.append(model, np.arange(50))


def append_in_a_session(file, d, model):
    with d.appending(flush_every=10) as session:
        for _ in range(15):
            session.append(np.full(7, 9))
            session.flush()
            check(d, np.append(model, np.full(session.flushed - len(model), 9)))
    return np.append(model, np.full(105, 9))


def write_a_chunk(file, d, model):
    stored = bytes(file["other"].read_chunk((CHUNK,)))
    d.write_chunk((0,), stored)
    model[:CHUNK] = np.arange(CHUNK, 2 * CHUNK) * 7
    return model


def write_a_chunk_without_its_filters(file, d, model):
    d.write_chunk((0,), np.arange(CHUNK)[::-1].tobytes(), filter_mask=(1 << len(d.filters)) - 1)
    model[:CHUNK] = np.arange(CHUNK)[::-1]
    return model


def write_in_a_transaction(file, d, model):
    with file.transaction():
        d[0:3] = 41
        np.testing.assert_array_equal(d[0:3], [41] * 3)
    model[0:3] = 41
    return model


def commit(file, d, model):
    d[1] = 43
    file.flush()
    d[1] += 1
    file.commit()
    model[1] = 44
    return model


def write_elsewhere(file, d, model):
    file["other"][:] = 0
    file.create_dataset("new", data=np.arange(10_000), chunks=(CHUNK,))
    del file["new"]
    file["rows"].append({"a": [1], "b": [2.0]})
    d.attrs["unit"] = "m"
    return model


CHANGES = [
    assign,
    assign_to_part_of_a_chunk_elsewhere,
    assign_by_another_handle,
    assign_by_libhdf5,
    assign_by_another_file,
    assign_by_a_link,
    fill_from_a_computation,
    shrink_and_grow,
    append,
    append_in_a_session,
    write_a_chunk,
    write_a_chunk_without_its_filters,
    write_in_a_transaction,
    commit,
    write_elsewhere,
]


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_small_reads_see_every_change(file, change):
    d, model = file["d"], np.arange(ROWS)
    handles = [d, d.with_zones(()), whole(d)]
    for one in handles:
        check(one, model)
    model = change(file, d, model)
    check(d, model)
    for one in handles:
        if one.shape == d.shape:
            check(one, model)
    check(file["d"], model)
    assert d.info.chunks_unchanged > 0
    assert file["d"].info.boxes_whole == 0


def test_small_reads_see_changes_in_any_order(file):
    rng = np.random.default_rng(7)
    d, model = file["d"], np.arange(ROWS)
    for change in rng.choice(np.array(CHANGES, object), 60):
        if change is append_in_a_session and len(model) > ROWS:
            continue
        if len(model) > ROWS:
            d.resize(ROWS)
            model = model[:ROWS]
        if change is assign_by_a_link and "link" in file:
            del file["link"]
        if change is fill_from_a_computation:
            file["other"][:] = np.arange(ROWS) * 7
        if change is write_a_chunk:
            file["other"][CHUNK : 2 * CHUNK] = np.arange(CHUNK, 2 * CHUNK) * 7
        if change is write_elsewhere:
            file["other"][:] = 1
        model = change(file, d, model.copy())
        check(d, model)
    assert d.info.chunks_unchanged > 1000


@pytest.mark.parametrize("layout", ["columns", "rows"])
def test_small_reads_of_tables_see_every_change(file, layout):
    t = file[layout]
    a, b = t["a"], t["b"]

    def small():
        return a[5:9].tolist(), b[98:102].tolist()

    assert small() == ([5, 6, 7, 8], [49.0, 49.5, 50.0, 50.5]) == small()
    a[6] = 60
    assert small()[0] == [5, 60, 7, 8] == small()[0]
    b[99:101] = [1.0, 2.0]
    assert small()[1] == [49.0, 1.0, 2.0, 50.5] == small()[1]
    t.delete(np.arange(3))
    assert small() == ([8, 9, 10, 11], [50.5, 51.0, 51.5, 52.0]) == small()
    t.append({"a": [0], "b": [0.0]})
    assert small() == ([8, 9, 10, 11], [50.5, 51.0, 51.5, 52.0])
    with pytest.raises(ZeroDivisionError), file.transaction():  # noqa: PT012
        t["a"][5:9] = 0
        assert t["a"][5:9].tolist() == [0] * 4 == t["a"][5:9].tolist()
        raise ZeroDivisionError
    assert file[layout]["a"][5:9].tolist() == [8, 9, 10, 11]


def test_a_rollback_leaves_no_small_read_of_what_was_not_committed(file):
    d, model = file["d"], np.arange(ROWS)
    d[0:10] = 5
    file.commit()
    model[0:10] = 5
    check(d, model)
    d[0:10] = 6
    assert d[0:7].tolist() == [6] * 7 == d[0:7].tolist()
    file.rollback()
    check(file["d"], model)
    with pytest.raises(ValueError, match="closed"):
        d[0:7]


def test_what_is_made_at_the_place_of_a_deleted_dataset_is_read_anew(file):
    for number in range(5):
        file.create_dataset("again", data=np.full(ROWS, number), chunks=(CHUNK,))
        d = file["again"]
        check(d, np.full(ROWS, number))
        del d, file["again"]


def test_copies_over_a_dataset_are_read_anew(file):
    d = file["d"]
    check(d, np.arange(ROWS))
    del file["d"]
    file.copy("other", "d")
    check(file["d"], np.arange(ROWS) * 7)
    check(d, np.arange(ROWS))
    del file["d"]
    hdf5.copy(file["other"], file, "d", filter="gzip")
    check(file["d"], np.arange(ROWS) * 7)


def visited(file):
    found = []
    file.visititems(lambda name, node: found.append(node) if name == "kind" else None)
    return found[0].file


HANDED_OUT = {
    "dataset": lambda f: f["d"].h5.file,
    "group": lambda f: f["/"].h5.file,
    "file": lambda f: f.h5,
    "file below": lambda f: f.below,
    "table": lambda f: f["rows"].h5.file,
    "named datatype": lambda f: f["kind"].file,
    "dataset of no array": lambda f: f.create_dataset("text", data="text").file,
    "dataset that is there": lambda f: (f.create_dataset("text", data="text"), f["text"])[1].file,
    "visited": visited,
    "value": lambda f: next(node for node in f.values() if isinstance(node, h5py.Datatype)).file,
    "attribute": lambda f: h5py.File(h5py.h5i.get_file_id(f["rows"].attrs.get_id("CLASS"))),
}


@pytest.mark.parametrize("way", HANDED_OUT)
def test_what_h5py_writes_is_seen_once_its_objects_were_handed_out(file, way):
    d, model = file["d"], np.arange(ROWS)
    check(d, model)
    h5 = HANDED_OUT[way](file)
    assert isinstance(h5, h5py.File)
    before = d.info.chunks_unchanged
    for number in range(3):
        h5["d"][3:6] = number
        model[3:6] = number
        check(d, model)
    h5["d"].resize((350,))
    file["d"].refresh()
    check(file["d"], model[:350])
    assert d.info.chunks_unchanged == before


def test_files_that_h5py_opened_are_asked_each_time(tmp_path):
    with h5py.File(tmp_path / "x.h5", "w") as h5:
        h5.create_dataset("d", data=np.arange(ROWS), chunks=(CHUNK,), compression="gzip")
        d = hdf5.fast(h5)["d"]
        assert d.access == "fetched"
        d[0:3], d[0:3]
        h5["d"][1] = 7
        assert d[0:3].tolist() == [0, 7, 2]
        assert d.info.chunks_unchanged == 0


@pytest.mark.parametrize("options", [{"journal": False}, {"driver": "core"}])
def test_files_without_our_file_object_are_asked_each_time(tmp_path, options):
    with hdf5.File(tmp_path / "x.h5", "w") as f:
        f.create_dataset("d", data=np.arange(ROWS), chunks=(CHUNK,))
    with hdf5.File(tmp_path / "x.h5", "r+", **options) as f:
        d = f["d"]
        check(d, np.arange(ROWS))
        assign(f, d, np.arange(ROWS))
        check(d, assign(f, d, np.arange(ROWS)))
        assert d.info.chunks_unchanged == 0


def test_no_small_read_shows_a_file_that_was_closed(tmp_path):
    with hdf5.File(tmp_path / "x.h5", "w") as f:
        f.create_dataset("d", data=np.arange(ROWS), chunks=(CHUNK,))
        f.create_dataset("empty", (ROWS,), "i8", chunks=(CHUNK,))
    f = hdf5.File(tmp_path / "x.h5", "a")
    # The last two are not among the nodes that the file closes.
    handles = [f["d"], f["empty"], f["d"].with_zones(()), f["empty"].shortened(700)]
    for one in handles:
        one[0:7], one[0:7]
        assert one.info.chunks_unchanged == 1
    f.close()
    for one in handles:
        with pytest.raises(ValueError, match="closed"):
            one[0:7]


def test_readers_of_a_commit_read_it_fast_while_another_handle_writes(tmp_path):
    with hdf5.File(tmp_path / "x.h5", "w") as f:
        f.create_dataset("d", data=np.arange(ROWS), chunks=(CHUNK,))
    model = np.arange(ROWS)
    with hdf5.File(tmp_path / "x.h5", "a") as writer, hdf5.File(tmp_path / "x.h5", "r"):
        writer["d"][0:3] = 7
        writer.commit()
        with hdf5.File(tmp_path / "x.h5", "r") as reader:
            d = reader["d"]
            model[0:3] = 7
            check(d, model)
            writer["d"][0:3] = 8
            check(d, model)
            writer.commit()
            check(d, model)
            unchanged = d.info.chunks_unchanged
            assert (unchanged > 0) == (d.access == "fetched")
            assert reader.refresh()
            model[0:3] = 8
            check(reader["d"], model)
            with pytest.raises(ValueError, match="closed"):
                d[0:3]


@pytest.mark.parametrize("filter", ["blosc2", "gzip"])
def test_no_thread_reads_what_was_before_a_write_that_has_returned(tmp_path, filter):
    with hdf5.File(tmp_path / "x.h5", "w") as f:
        f.create_dataset("d", data=np.zeros(ROWS, "i8"), chunks=(CHUNK,), filter=filter)
    with hdf5.File(tmp_path / "x.h5", "a") as f:
        d, other = f["d"], f["d"].with_zones(())
        written, errors = [0], []
        is_over = threading.Event()

        def read(dataset):
            try:
                while not is_over.is_set():
                    least = written[0]
                    found = dataset[2:9]
                    assert found.min() == found.max() >= least
            except BaseException as error:
                errors.append(error)

        threads = [threading.Thread(target=read, args=(one,)) for one in (d, other, d)]
        for thread in threads:
            thread.start()
        for number in range(1, 300):
            (d, other)[number % 2][0:10] = number
            written[0] = number
        is_over.set()
        for thread in threads:
            thread.join()
        assert not errors
        assert d.info.chunks_unchanged + other.info.chunks_unchanged > 0


def test_expressions_and_reductions_see_changes_after_small_reads(file):
    d = file["d"]
    check(d, np.arange(ROWS))
    d[0:10] = 100
    assert int(d[0:20].sum()) == 1000 + sum(range(10, 20))
    assert int((d + 1)[0:10].sum()) == 1010
    assert int(d.sum()) == 1000 + sum(range(10, ROWS))
    assert int(cq.asarray(d)[3]) == 100
