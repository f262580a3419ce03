"""Tables that coquina writes as those of python-blosc2, read back by both."""

import os

import blosc2
import numpy as np
import pytest

import coquina as cq

N = 50
ROWS = np.arange(N)
_NUMBERS = ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", ">i4", "f4", "f8", "c8", "c16")
COLUMNS = {
    **{name: ROWS.astype(name) for name in _NUMBERS},
    "flag": ROWS % 3 == 0,
    "fixed": np.array([f"é{i}" for i in ROWS]),
    "raw": np.array([b"b%d" % i for i in ROWS]),
    "text": np.array([f"é{i}" * (i % 5) for i in ROWS], np.dtypes.StringDType()),
    "when": (ROWS + 10**12).astype("M8[ms]"),
    "never": np.where(ROWS % 4 == 0, np.datetime64("NaT"), ROWS.astype("M8[s]")),
    "place": np.stack([ROWS, -ROWS], axis=1).astype("f4"),
}
NULLS = {
    "n_null": np.ma.masked_array(ROWS, ROWS % 4 == 1),
    "x_null": np.ma.masked_array(ROWS / 2, ROWS % 4 == 1),
    "flag_null": np.ma.masked_array(ROWS % 2 == 0, ROWS % 4 == 1),
    "text_null": [None if i % 4 == 1 else f"é{i}" for i in ROWS],
}


@pytest.fixture(params=["whole.b2d", "whole.b2z", "in.b2d", "in.b2z"])
def written(request, tmp_path):
    """Return a table that was written, and the same one as python-blosc2 opens it."""
    kind, suffix = os.path.splitext(request.param)
    path = tmp_path / f"x{suffix}"
    name = "/table" if kind == "whole" else "g/t"
    table = cq.create_table(path, COLUMNS | NULLS, name=name)
    peer = blosc2.open(str(path), mode="r")
    yield table, peer if kind == "whole" else peer["/g/t"]
    table.close()
    assert os.listdir(tmp_path) == [path.name]


def test_all_columns_are_read_back_by_both(written):
    table, peer = written
    assert isinstance(table, cq.Table)
    assert isinstance(peer, blosc2.CTable)
    assert list(table.columns) == list(COLUMNS | NULLS)
    assert table.nrows == len(peer) == N
    for name, wanted in COLUMNS.items():
        found = table[name][...]
        assert found.shape == wanted.shape
        assert np.array_equal(found, wanted, equal_nan=wanted.dtype.kind == "M"), name
        theirs = np.asarray(peer[name][:])
        if wanted.dtype.kind != "M":
            assert theirs.tolist() == wanted.tolist(), name
        else:
            assert np.array_equal(theirs.astype(wanted.dtype), wanted, equal_nan=True), name
    for name, wanted in NULLS.items():
        found = table[name][...]
        wanted = np.ma.asarray(wanted).tolist() if name != "text_null" else wanted
        assert (found.tolist() if hasattr(found, "tolist") else list(found)) == wanted, name
        valid = np.array([value is not None for value in wanted])
        assert [value for value, ok in zip(peer[name][:], valid, strict=True) if ok] == [
            value for value in wanted if value is not None
        ]
        assert peer[name].null_count() == (~valid).sum()


def test_python_blosc2_appends_to_a_table_and_deletes_rows(tmp_path):
    cq.create_table(tmp_path / "x.b2d", {"n": ROWS, "text": COLUMNS["text"]}).close()
    peer = blosc2.open(str(tmp_path / "x.b2d"), mode="a")
    peer.append((77, "new"))
    peer.delete([0])
    peer.close()
    table = cq.open(tmp_path / "x.b2d")
    assert table["n"][...].tolist() == [*range(1, N), 77]
    assert table["text"][...].tolist()[-1] == "new"


def test_tables_and_arrays_are_in_one_store(tmp_path):
    for suffix in (".b2d", ".b2z"):
        path = tmp_path / f"x{suffix}"
        with cq.open(path, "w") as store:
            store["a/array"] = ROWS
            table = store.create_table("a/table", {"n": ROWS}, codec="lz4", chunk_rows=8)
            assert table.where("n > 47").row_numbers().tolist() == [48, 49]
            store["copy"] = table
            store.move("a", "b")
            del store["copy"]
            with pytest.raises(ValueError, match="below"):
                store["b/table/x"] = 1
        with cq.open(path) as store:
            assert list(store["b"]) == ["array", "table"]
            assert store["b/table"]["n"][...].tolist() == ROWS.tolist()
        assert blosc2.TreeStore(str(path), mode="r")["/b/table"]["n"][:].tolist() == ROWS.tolist()


def test_rows_come_in_batches_and_attributes_come_along(tmp_path):
    with cq.create_table(tmp_path / "x.h5", {"n": ROWS, "s": [f"{i}" for i in ROWS]}) as source:
        source.attrs["unit"] = "km"
        with cq.open(tmp_path / "x.b2z", "w") as store:
            store["t"] = source
    table = cq.open_table(tmp_path / "x.b2z", "t")
    assert table["s"][...].tolist() == [f"{i}" for i in ROWS]
    assert table.attrs["unit"] == "km"
    assert blosc2.open(str(tmp_path / "x.b2z"))["/t"].vlmeta["unit"] == "km"


@pytest.mark.parametrize(
    "column",
    [
        {"a.b": ROWS},
        {"longdouble": ROWS.astype("g")},
        {"days": ROWS.astype("M8[D]")},
    ],
)
def test_a_column_that_such_tables_do_not_have_is_named(tmp_path, column):
    with pytest.raises((cq.UnsupportedError, TypeError), match=next(iter(column))):
        cq.create_table(tmp_path / "x.b2d", column)
    with cq.open(tmp_path / "y.b2z", "w") as store:
        with pytest.raises((cq.UnsupportedError, TypeError), match=next(iter(column))):
            store.create_table("t", column)
        assert list(store) == []
    assert os.listdir(tmp_path) == ["y.b2z"]


def test_tables_that_are_there_are_replaced_when_told(tmp_path):
    for name in ("x.b2z", "y.b2d"):
        cq.create_table(tmp_path / name, {"n": ROWS}).close()
        with pytest.raises(FileExistsError):
            cq.create_table(tmp_path / name, {"n": ROWS})
    with cq.create_table(tmp_path / "x.b2z", {"m": ROWS}, overwrite=True) as table:
        assert table.columns == ("m",)
    with pytest.raises(cq.UnsupportedError, match="layout"):
        cq.create_table(tmp_path / "z.b2z", {"n": ROWS}, layout="rows")
    cq.create_table(tmp_path / "s.b2d", {"n": ROWS}, name="t").close()
    with cq.create_table(tmp_path / "s.b2d", {"m": ROWS}, name="t", overwrite=True) as table:
        assert table.columns == ("m",)
    with pytest.raises(ValueError, match="exists already"):
        cq.create_table(tmp_path / "s.b2d", {"m": ROWS}, name="t")


def test_an_archive_that_is_written_is_not_replaced(tmp_path):
    path = tmp_path / "x.b2z"
    with cq.open(path, "w") as store:
        store["a"] = ROWS
    with cq.open(path, "r+") as store:
        store["b"] = ROWS + 1
        with pytest.raises(BlockingIOError):
            cq.create_table(path, COLUMNS, overwrite=True)
        store["c"] = ROWS + 2
    with cq.open(path) as store:
        assert [store[name][...].tolist() for name in "abc"] == [(ROWS + n).tolist() for n in range(3)]
    cq.create_table(path, COLUMNS, overwrite=True).close()
    assert cq.open(path).nrows == N
    assert os.listdir(tmp_path) == [path.name]


@pytest.mark.parametrize("suffix", [".b2d", ".b2z"])
@pytest.mark.parametrize("ordered", [False, True])
def test_categories_are_read_back_by_both(suffix, ordered, tmp_path):
    pd = pytest.importorskip("pandas")
    names = [f"é{i}" for i in range(300)]
    given = [None if i % 7 == 1 else names[i * i % 300] for i in range(2000)]
    column = pd.Categorical(given, categories=names, ordered=ordered)
    data = pd.DataFrame({"kind": column, "n": np.arange(2000)})
    path = tmp_path / f"x{suffix}"
    table = cq.create_table(path, data, chunk_rows=256)
    assert list(table["kind"][...]) == given
    spec = table.schema[0]
    assert list(spec.categories) == names
    assert spec.ordered is ordered
    assert table.where("kind == 'é4'").count() == given.count("é4")
    assert table.to_pandas()["kind"].tolist() == data["kind"].tolist()
    table.append({"kind": ["é5", None], "n": [-1, -2]})
    with pytest.raises(ValueError, match="not one of its categories"):
        table.append({"kind": ["other"], "n": [0]})
    table.close()
    peer = blosc2.open(str(path), mode="r")
    assert list(peer["kind"][:]) == [*given, "é5", None]
    assert peer["n"][-2:].tolist() == [-1, -2]
    assert cq.open(path)["kind"][-2:].tolist() == ["é5", None]


def test_categories_of_python_blosc2_take_new_ones_after_ours(tmp_path):
    pd = pytest.importorskip("pandas")
    path = tmp_path / "x.b2d"
    cq.create_table(path, pd.DataFrame({"kind": pd.Categorical(["a", "b", "a"])})).close()
    peer = blosc2.open(str(path), mode="a")
    peer.append(("new",))
    peer.close()
    table = cq.open(path)
    assert list(table["kind"][...]) == ["a", "b", "a", "new"]


@pytest.mark.parametrize("given", [[], [None, None]])
def test_columns_without_a_category_are_read_back_by_both(given, tmp_path):
    pd = pytest.importorskip("pandas")
    path = tmp_path / "x.b2z"
    data = pd.DataFrame({"kind": pd.Categorical(given, categories=pd.Index([], dtype="str"))})
    cq.create_table(path, data).close()
    assert list(cq.open(path)["kind"][...]) == given
    assert list(blosc2.open(str(path), mode="r")["kind"][:]) == given
