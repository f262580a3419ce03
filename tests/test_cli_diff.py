"""`coquina diff`: exit codes, what it says, and that it finds all differences and no others."""

from __future__ import annotations

import json

import h5py
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import coquina as cq
from coquina.cli import main
from coquina.cli.diff_values import Difference, Tolerance, are_same, differing
from tests.hdf5 import everything


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def diff(capfd, *words):
    """Return the exit code and what was printed."""
    code = main(["diff", *words])
    out, err = capfd.readouterr()
    assert bool(err) == (code == 2)
    return code, out


X = np.linspace(0, 1, 600).reshape(20, 30)


def test_one_array_in_all_formats_is_equal_to_itself(here, capfd):
    np.save("a.npy", X)
    np.savez("a.npz", x=X, y=X + 1)
    cq.asarray(X, path="a.b2nd", chunks=(7, 9), blocks=(3, 4)).close()
    cq.pack(X, "a.blp")
    with cq.open("a.h5", "w") as file:
        file.create_dataset("g/x", data=X, chunks=(5, 30), filter="gzip")
    with cq.open("a.b2z", "w") as store:
        store.create_dataset("x", data=X)
    names = ["a.npy", "a.npz:x", "a.b2nd", "a.blp", "a.h5:/g/x", "a.b2z:/x"]
    for one in names:
        for other in names:
            assert diff(capfd, one, other) == (0, f"{one} and {other} are equal\n")
    code, out = diff(capfd, "a.npz:y", "a.h5:/g/x", "--json")
    found = json.loads(out)
    assert (code, found["equal"]) == (1, False)
    (only,) = found["differences"]
    assert (only["what"], only["differ"], only["of"], only["largest"]) == ("values", 600, 600, 1.0)
    assert only["first"][1] == {"at": [0, 1], "a": 1 + X[0, 1], "b": X[0, 1]}
    assert diff(capfd, "a.npz:y", "a.npy", "--atol", "1")[0] == 0
    assert diff(capfd, "a.npz:y", "a.npy", "--atol", "0.99")[0] == 1
    assert diff(capfd, "a.npz:y", "a.npy", "--brief") == (1, "a.npz:y and a.npy differ\n")
    assert diff(capfd, "a.npz:y", "a.npy", "--quiet") == (1, "")
    assert diff(capfd, "a.npy", "a.blp", "--quiet") == (0, "")


def test_places_and_values_are_shown(here, capfd):
    y = X.copy()
    y[3, 4], y[19, 29] = 7, np.nan
    np.save("a.npy", X)
    np.save("b.npy", y)
    code, out = diff(capfd, "a.npy", "b.npy")
    assert code == 1
    assert out.splitlines() == [
        "a.npy and b.npy differ",
        "  /  2 of 600 values differ, by at most nan at [19, 29]",
        f"      [3, 4]: {X[3, 4]} and 7.0",
        "      [19, 29]: 1.0 and nan",
    ]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["no.npy", "a.npy"], "no.npy: there is no such file"),
        (["a.npy", "no.npy"], "no.npy: there is no such file"),
        (["a.npy", "notes.txt"], "notes.txt is plain text; this command reads"),
        (["a.npy", "cut.h5"], "cut.h5"),
        (["a.npy", "a.npy", "--rtol", "-1"], "'-1': takes a number, 0 or more"),
        (["a.npy", "a.npy", "--atol", "x"], "'x': takes a number, 0 or more"),
    ],
)
def test_trouble_is_exit_code_2(here, capfd, words, said):
    np.save("a.npy", X)
    (here / "notes.txt").write_text("x" * 100)
    with h5py.File("a.h5", "w") as file:
        file["x"] = X
    (here / "cut.h5").write_bytes((here / "a.h5").read_bytes()[:700])
    assert main(["diff", *words]) == 2
    assert said in capfd.readouterr().err


def tree(path, *, change=None):
    """Make an HDF5 file with one of everything, and one thing other than usual."""
    with cq.open(path, "w") as file:
        file.attrs["title"] = "T" if change != "attribute" else "U"
        file.create_dataset(
            "x", data=X[:19] if change == "shape" else X, dtype="f4" if change == "dtype" else "f8"
        )
        file["x"].attrs["unit"] = np.array([1.0, np.nan])
        if change != "missing":
            file.create_group("g/h")
        text = ["a", "bé", "" if change == "text" else "d"]
        file.h5.create_dataset("g2/text", data=text)
        file.create_table("t", {"k": [1, 2, 3], "s": ["a", "b", "c" if change != "row" else "z"]})
        if change == "rows":
            file["t"].append({"k": [4], "s": ["d"]})
        if change == "column":
            file.create_table("u", {"k": [1]})
        file.h5["soft"] = h5py.SoftLink("/x" if change != "link" else "/y")
        file.h5["again"] = file.h5["x"]
        if change == "kind":
            file.create_group("n")
        else:
            file.create_dataset("n", data=[1])
    return path


FOUND = {
    "attribute": [("/", "attribute")],
    "shape": [("/again", "shape"), ("/x", "shape")],
    "dtype": [("/again", "dtype"), ("/again", "values"), ("/x", "dtype"), ("/x", "values")],
    "missing": [("/g", "extra"), ("/g/h", "extra")],
    "text": [("/g2/text", "values")],
    "row": [("/t", "values")],
    "rows": [("/t", "rows")],
    "column": [("/u", "missing")],
    "link": [("/soft", "link")],
    "kind": [("/n", "kind")],
}


@pytest.mark.parametrize("change", FOUND)
def test_each_change_of_a_file_is_found_and_nothing_else(here, capfd, change):
    tree("a.h5")
    tree("b.h5", change=change)
    assert diff(capfd, "a.h5", "a.h5")[0] == 0
    code, out = diff(capfd, "a.h5", "b.h5", "--json")
    found = [(one["path"], one["what"]) for one in json.loads(out)["differences"]]
    assert (code, found) == (1, FOUND[change])
    code, out = diff(capfd, "a.h5", "b.h5")
    assert (code, out.count("\n  /")) == (1, len(found))


def test_copies_that_are_stored_in_other_ways_are_equal(here, capfd):
    tree("a.h5")
    with cq.open("a.h5", "r+") as file:
        file["t"].create_index("k")
    assert main(["repack", "a.h5", "b.h5", "--filter", "gzip", "-q"]) == 0
    assert main(["repack", "a.h5", "c.h5", "--auto", "-q"]) == 0
    for other in ("b.h5", "c.h5"):
        assert diff(capfd, "a.h5", other)[0] == 0


def test_tables_of_all_kinds_are_equal_to_each_other(here, capfd):
    rows = {"k": np.arange(5), "x": np.linspace(0, 1, 5), "s": ["a", "b", "", "d", "é"]}
    for name in ("t.h5", "folder", "t.b2z"):
        cq.create_table(name, rows).close()
    with cq.open_table("folder") as table:
        table.to_parquet("t.parquet")
    names = ["t.h5:/table", "folder", "t.b2z", "t.parquet"]
    for other in names[1:]:
        assert diff(capfd, names[0], other)[0] == 0, other
    with cq.open_table("folder", mode="r+") as table:
        table["x"][3] = 9.0
    code, out = diff(capfd, "folder", "t.parquet")
    assert (code, out.splitlines()[1].split()[:4]) == (1, ["/['x']", "1", "of", "5"])


ITEMS = hnp.arrays(
    st.sampled_from(["i1", "u8", "i8", "f4", "f8", "c16", "?", "M8[s]", "S3", "U2", "i4,f8"]),
    hnp.array_shapes(max_dims=2, max_side=4),
)


@given(ITEMS)
def test_everything_is_equal_to_itself(items):
    assert not differing(items, items.copy()).any()


@given(st.data())
def test_what_differs_is_what_numpy_says(data):
    dtype = data.draw(st.sampled_from(["i1", "u8", "i8", "f8", "c16", "?"]))
    small = hnp.arrays(dtype, 6, elements=hnp.from_dtype(np.dtype(dtype)) | st.sampled_from([0, 1]))
    a, b = data.draw(small), data.draw(small)
    wanted = [not (x == y or (x != x and y != y)) for x, y in zip(a.tolist(), b.tolist(), strict=True)]
    assert differing(a, b).tolist() == wanted
    if dtype == "f8":
        tolerance = Tolerance(0.1, 0.5)
        close = np.isclose(a, b, tolerance.rtol, tolerance.atol, equal_nan=True)
        assert differing(a, b, tolerance).tolist() == (~close).tolist()


@pytest.mark.parametrize(
    ("a", "b", "distance"),
    [(2**63 - 1, -(2**63), 2**64 - 1), (5, 3, 2), (2**53 + 1, 2**53, 1)],
)
def test_distances_of_integers_do_not_overflow(a, b, distance):
    found = Difference()
    found.add((0,), np.array([a]), np.array([b]), Tolerance())
    assert found.largest == (float(distance), (0,))


@pytest.mark.parametrize(
    ("a", "b", "same"),
    [
        ("a", b"a", True),
        ("a", "b", False),
        ([1, 2], np.array([1.0, 2.0]), True),
        ([1, 2], [1, 2, 3], False),
        ({"a": np.nan}, {"a": np.nan}, True),
        ({"a": 1}, {"b": 1}, False),
        ([[1], [2, 3]], [[1], [2, 3]], True),
        (None, 0, False),
        (h5py.Empty("f4"), h5py.Empty("f4"), True),
        (1, "1", False),
    ],
)
def test_values_of_attributes(a, b, same):
    assert are_same(a, b) is same
    assert are_same(b, a) is same


@pytest.fixture
def everything_of_hdf5(here):
    everything.make("all.h5")
    with h5py.File("all.h5", "a") as file:
        del file["sparse"]  # Twenty terabytes: comparing them takes too long.
        file["circle"] = h5py.SoftLink("/circle")
        file["g/mole"].attrs["part"] = file["grid"].regionref[2:4, ::5]
        file["g/mole"].attrs["points"] = file["grid"].regionref[np.arange(3000).reshape(60, 50) == 77]
        file["g/mole"].attrs["nothing"] = h5py.Reference()
    return "all.h5"


@pytest.mark.parametrize("verb", ["repack", "convert"])
@pytest.mark.parametrize("options", [[], ["--codec", "lz4"]], ids=["plain", "codec"])
def test_a_copy_of_everything_in_hdf5_is_equal(everything_of_hdf5, capfd, verb, options):
    file = everything_of_hdf5
    assert diff(capfd, file, file)[0] == 0
    assert main([verb, file, "copy.h5", "-q", *options]) == 0
    assert diff(capfd, file, "copy.h5") == (0, f"{file} and copy.h5 are equal\n")
    assert everything.differences(file, "copy.h5", only_values=bool(options)) == []
    with h5py.File("copy.h5", "a") as copy:
        copy["g/mole"].attrs["part"] = copy["grid"].regionref[2:4, ::6]
        copy["g/mole"].attrs["points"] = copy["again"].ref
    code, out = diff(capfd, file, "copy.h5")
    assert code == 1
    lines = [line.split() for line in out.splitlines()[1:]]
    assert [line[:2] for line in lines] == [["/g/mole", "@part"], ["/g/mole", "@points"]]
    assert "'-> /again[1, 27]' and '-> /again'" in out


@pytest.mark.parametrize("target", ["x.b2z", "x.b2d"])
def test_links_in_circles_are_told_and_left_out_of_stores(everything_of_hdf5, capfd, target):
    assert main(["convert", everything_of_hdf5, target, "--json"]) == 0
    said = json.loads(capfd.readouterr().out)
    assert {"/soft", "/outside", "/loop", "/circle"} <= set(said["dropped"])
    with cq.open(target) as store, h5py.File(everything_of_hdf5) as file:
        np.testing.assert_array_equal(store["grid"][...], file["grid"][...])
        np.testing.assert_array_equal(store["g/deep/same"][...], file["g/zebra"][...])


@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(st.integers(0, 39), st.integers(0, 29)), max_size=8, unique=True))
def test_the_count_does_not_depend_on_chunks(here, capfd, places):
    a = np.arange(1200).reshape(40, 30)
    b = a.copy()
    for place in places:
        b[place] += 1
    cq.asarray(a, path="a.b2nd", chunks=(7, 8), blocks=(7, 8), overwrite=True).close()
    cq.asarray(b, path="b.b2nd", chunks=(9, 30), blocks=(3, 5), overwrite=True).close()
    code, out = diff(capfd, "a.b2nd", "b.b2nd", "--json")
    found = json.loads(out)["differences"]
    assert code == bool(places)
    assert [one["differ"] for one in found] == [len(places)] * bool(places)
