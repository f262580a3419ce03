"""Work within what h5py runs with its lock held: nothing waits for a thread that waits for the lock."""

import subprocess
import sys

import h5py

import coquina as cq

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
