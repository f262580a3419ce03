"""Work within what h5py runs with its lock held: nothing waits for a thread that waits for the lock."""

import subprocess
import sys
import threading

import h5py
import pytest

import coquina as cq
from coquina.locks import VISITOR_WAIT_S, enter_h5py, leave_h5py

#: h5py keeps its lock from one turn of such a loop to the next, and while it calls visitors.
WORK = """
import sys
import h5py
import numpy as np
import coquina as cq

ROWS = 400_000
folder, way = sys.argv[1:]
items = np.random.default_rng(1).normal(size=2_000_000)
for name in ("held", "used"):
    with cq.open(f"{folder}/{name}.h5", mode="w") as file:
        file.create_dataset("a", data=items, chunks=(50_000,), maxshape=(None,))
        data = {"x": np.arange(ROWS), "y": items[:ROWS], "s": [f"n{i % 1000}" for i in range(ROWS)]}
        file.create_table("columns", data, index=["x"]).close()
        del data["s"]
        file.create_table("rows", data, layout="rows").close()


def work(*_):
    with cq.open(f"{folder}/used.h5", mode="r+") as file:
        array = file["a"]
        array[5:1_500_000] = 1
        array.append(items[:500_000])
        assert np.isclose(cq.sum(array), array[...].sum())
        assert np.isclose(cq.sum(array * 2 + 1), (array[...] * 2 + 1).sum())
        for name in ("columns", "rows"):
            table = file.table(name)
            wanted = int((table["y"][:] > 0).sum())
            assert table.where("y > 0").count() == wanted
            table.modify("x == 7", {"y": 3.0})
            table.create_index("y")
            assert table.where("(y > 2) & (x < 100)")["x"].tolist().count(7) == 1
            table.drop_index("y")
        array.resize((2_000_000,))
    return True


with h5py.File(f"{folder}/held.h5") as held:
    if way == "values":
        next(work() for _ in held.values())
    elif way == "items":
        for _ in held.items():
            work()
            break
    else:
        held.visititems(work)
print("done")
"""


def test_loops_and_visitors_of_h5py_may_use_our_files(tmp_path):
    # A sum in `for dataset in file.values()` never came back.
    for way in ("values", "items", "visititems"):
        folder = tmp_path / way
        folder.mkdir()
        command = [sys.executable, "-c", WORK, str(folder), way]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120)
        assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr[-2000:]


def test_the_lock_is_free_after_each_call(tmp_path):
    phil = h5py._objects.phil
    with cq.open(tmp_path / "x.h5", mode="w") as file:
        made = file.create_dataset("a", data=range(10_000), chunks=(100,), maxshape=(None,))
        made[3:500] = 4
        assert made[2:4].tolist() == [2, 4]
        assert not phil._is_owned()


#: A visitor of h5py, which holds h5py's lock, asks an index while another thread is about to read it.
VISITOR = """
import sys
import threading
import time
import h5py
import numpy as np
import coquina as cq
from coquina.tables.pytables_indexes import PyTablesIndex

path = sys.argv[1]
with cq.create_table(path, np.zeros(2000, [("a", "i4")]), layout="rows", name="t") as table:
    table.create_index("a", kind="pytables")
index = cq.open(path)["t"].indexes["a"]
opens, asks = threading.Event(), threading.Event()
really = PyTablesIndex._open


def slowly(self):
    if threading.current_thread() is other:
        opens.set()
        asks.wait(10)
        time.sleep(0.2)
    return really(self)


def visit(name):
    other.start()
    opens.wait(10)
    asks.set()
    assert index.is_usable


PyTablesIndex._open = slowly
other = threading.Thread(target=lambda: index.is_usable)
with h5py.File(path + ".other", "w") as file:
    file["a"] = 1
    file.visit(visit)
other.join()
print("done")
"""


def test_a_visitor_of_h5py_may_ask_an_index_that_another_thread_reads(tmp_path):
    # The index was locked while h5py was called: each thread waited for the lock of the other, for ever.
    command = [sys.executable, "-c", VISITOR, str(tmp_path / "x.h5")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr[-2000:]


#: Loops of h5py, which keep its lock, use a table and an array that other threads change.
LOOPS = """
import sys
import threading
import h5py
import numpy as np
import coquina as cq

path, layout, way = sys.argv[1:]
rows = {"x": np.arange(5000), "y": np.arange(5000) % 7.0}
with cq.open(path, "w") as file:
    file.create_table("t", rows, layout=layout, index=["x"]).close()
    file.create_dataset("a", data=rows["y"], chunks=(500,), maxshape=(None,))
file = cq.open(path, "r+")
table, array = file["t"], file["a"]
few = {name: values[:10] for name, values in rows.items()}
is_over = threading.Event()
failed = []


def again(*calls):
    try:
        while not is_over.is_set():
            for call in calls:
                call()
    except BaseException as error:
        failed.append(error)
        raise


def index():
    table.create_index("y")
    table.drop_index("y")


def read():
    assert table.where("x == 7").count() >= 1
    assert table.where("y > 100").to_numpy().size == 0
    assert table.where("x >= 0").order_by("y").head(3)["y"].tolist() == [0, 0, 0]
    table.append(few)
    table.modify("x == 9", {"y": 1.0})
    assert table["x"][:3].tolist() == [0, 1, 2]
    assert array[:8].tolist() == [0, 1, 2, 3, 4, 5, 6, 0]
    array.append(rows["y"][:600])
    with cq.open(path) as other:
        assert other["t"][5]["x"] == 5


writers = [
    threading.Thread(target=again, args=args)
    for args in (
        (lambda: table.append(few), table.flush),
        (lambda: table.modify("x == 5", {"y": 2.0}), index),
        (lambda: array.append(rows["y"][:100]), lambda: cq.open(path).close()),
    )
]
# Modules are imported when they are first used, by threads that wait for each other: not what is tried here.
read()
index()
table.flush()
sys.setswitchinterval(1e-4)
for writer in writers:
    writer.start()
try:
    for turn in range(6):
        if way == "visititems":
            file.visititems(lambda *_: read())
        else:
            for _ in getattr(file.h5, way)():
                read()
finally:
    is_over.set()
for writer in writers:
    writer.join()
assert not failed, failed
file.close()
print("done")
"""


@pytest.mark.parametrize("way", ["values", "items", "visititems"])
@pytest.mark.parametrize("layout", ["rows", "columns"])
def test_loops_of_h5py_and_visitors_of_ours_may_use_what_other_threads_change(tmp_path, layout, way):
    # A query waited for the lock of the table, whose thread waited for h5py's lock, for ever.
    command = [sys.executable, "-c", LOOPS, str(tmp_path / "x.h5"), layout, way]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr[-2000:]


def test_a_visitor_of_h5py_that_waits_for_a_writer_raises_an_error(tmp_path, monkeypatch):
    monkeypatch.setattr("coquina.locks.VISITOR_WAIT_S", 0.2)
    phil = h5py._objects.phil
    with cq.open(tmp_path / "x.h5", "w") as file:
        table = file.create_table("t", {"x": [1, 2, 3]})
        changes, is_over = threading.Event(), threading.Event()

        def change():
            with table.changing():
                changes.set()
                is_over.wait(60)

        writer = threading.Thread(target=change)
        writer.start()
        changes.wait(60)

        def visit(name):
            assert phil._is_owned()
            table.append({"x": [4]})

        with pytest.raises(RuntimeError, match="collect the names in the visitor"):
            file.h5.visit(visit)
        assert not phil._is_owned()
        is_over.set()
        writer.join()
        file.h5.visit(visit)
        assert table["x"][:3].tolist() == [1, 2, 3]


def test_visitors_of_ours_are_called_without_the_lock_of_h5py(tmp_path):
    with cq.open(tmp_path / "x.h5", "w") as file:
        for name in ("a/x", "a/y", "b/z", "_i_hidden/w"):
            file[name] = [1, 2]
        for visit in (file.visit, file.visititems, file.visit_links, file.visititems_links):
            seen = []

            def note(name, node=None, seen=seen):
                seen.append(name)
                assert not h5py._objects.phil._is_owned()
                return "found" if name == "b" else None

            assert visit(note) == "found"
            assert [name for name in seen if not name.startswith("_")] == ["a", "a/x", "a/y", "b"]
        seen = []

        def remove(name, node):
            seen.append(name)
            if name == "a":
                del file["a/y"], file["b"]

        assert file.visititems(remove) is None
        assert seen == ["a", "a/x"]


def test_the_lock_of_h5py_is_released_for_a_wait_in_loops_and_not_in_visitors(tmp_path):
    phil, found = h5py._objects.phil, []

    def visit(name):
        found.append(leave_h5py())
        assert phil._is_owned()
        with pytest.raises(RuntimeError, match="collect the names in the visitor"):
            enter_h5py(0, False)

    with h5py.File(tmp_path / "x.h5", "w") as file:
        file.create_group("a/b")
        for _ in file["a"].items():
            for _ in file.values():
                times, limit = leave_h5py()
                assert (times, limit, phil._is_owned()) == (2, None, False)
                enter_h5py(times, True)
                assert phil._is_owned()
        file.visititems(lambda name, _: visit(name))
        file["a"].visit(visit)
    assert found == [(0, VISITOR_WAIT_S)] * 3
    assert leave_h5py() == (0, None)
    assert not phil._is_owned()
