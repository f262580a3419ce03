"""A process that was forked from one that writes an HDF5 file leaves the file alone, however it ends."""

import subprocess
import sys

import numpy as np
import pytest

import coquina as cq

PARENT = """
import os, sys
import numpy as np
import coquina as cq

path, mode, journal, end = sys.argv[1:]

def write(name):
    f.create_dataset(name, data=np.arange(100_000), chunks=(1000,))

def child():
    if end == "exit":
        sys.exit(0)
    if end == "exception":
        raise KeyError("of the child")
    try:
        f.close()
    except ValueError as error:
        assert "forked" in str(error), error
    else:
        raise AssertionError("closed")
    sys.exit(0)

parent = os.getpid()
if mode == "forgotten":
    # Nothing but the end of the process closes it.
    f = cq.hdf5.File(path, "w", journal=journal == "yes")
    write("x")
    if (pid := os.fork()) == 0:
        child()
    print(os.waitpid(pid, 0)[1])
    write("y")
    f.close()
else:
    with cq.hdf5.File(path, mode, journal=journal == "yes") as f:
        write("x")
        if (pid := os.fork()) == 0:
            child()
        print(os.waitpid(pid, 0)[1])
        write("y")
"""


@pytest.mark.parametrize("end", ["exit", "exception", "close"])
@pytest.mark.parametrize(
    ("mode", "journal"), [("w", "yes"), ("w", "no"), ("forgotten", "yes"), ("forgotten", "no"), ("a", "yes")]
)
def test_a_forked_process_leaves_the_file(tmp_path, mode, journal, end):
    path = tmp_path / "a.h5"
    if mode == "a":
        cq.hdf5.File(path, "w").close()
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", PARENT, str(path), mode, journal, end],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) == (256 if end == "exception" else 0), done.stderr
    # Its exception is all that the child says.
    assert ("KeyError" if end == "exception" else "") in done.stderr
    assert done.stderr.count("Traceback") == (end == "exception"), done.stderr
    assert [one.name for one in tmp_path.iterdir()] == ["a.h5"]
    with cq.hdf5.File(path) as f:
        assert np.array_equal(f["x"][:], np.arange(100_000))
        assert np.array_equal(f["y"][:], np.arange(100_000))


STREAM = """
import os, sys
import coquina as cq

def rows():
    for k in range(300_000):
        if k == 250_000 and os.fork() == 0:
            sys.exit(0)
        yield {"k": k}
    os.wait()

cq.create_table(sys.argv[1], rows()).close()
"""


@pytest.mark.parametrize("name", ["t.h5", "t"])
def test_a_process_that_is_forked_by_who_gives_rows_leaves_the_table(tmp_path, name):
    path = tmp_path / name
    subprocess.run([sys.executable, "-W", "ignore", "-c", STREAM, str(path)], check=True)
    assert [one.name for one in tmp_path.iterdir()] == [name]
    with cq.open_table(path) as table:
        assert np.array_equal(table["k"][:], np.arange(300_000))
