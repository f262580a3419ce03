"""What `connect` gives has the values of local files; frames behind `/raw/` are read block by block."""

import math
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import coquina as cq
from coquina.client.selections import lowered
from coquina.server.limits import Limits
from coquina.server.users import Users

from .conftest import served, table_columns
from .servers import listening

TOKEN = "token-long"


@pytest.fixture(scope="module")
def url(folder):
    with listening(served(folder)) as url:
        yield url


@pytest.fixture(scope="module")
def remote(url):
    return cq.connect(url)


def test_folders_and_groups_are_mappings(remote):
    assert {"grid.b2nd", "all.h5", "below", "directory"} <= set(remote)
    assert "notes.txt" not in remote
    assert set(remote["all.h5"]) >= {"group", "table", "packed"}
    assert next(iter(remote["below"])) == "changing.b2nd" or "grid.b2nd" in remote["below"]
    assert remote["below/grid.b2nd"].shape == (60, 50)
    for name in ("nothing", "../x", "all.h5/nothing"):
        with pytest.raises((KeyError, ValueError)):
            remote[name]


@pytest.mark.parametrize("place", ["grid.b2nd", "all.h5/group/grid", "store.b2z/group/grid", "packed.blp"])
def test_slices_are_those_of_numpy(remote, grid, place):
    array = remote[place]
    assert (array.shape, array.dtype, array.ndim, len(array)) == (grid.shape, grid.dtype, 2, 60)
    for key in (..., 3, -1, np.s_[3:5], np.s_[::-3, 4], np.s_[..., -2:], np.s_[5:2], np.s_[3, 4]):
        found = array[key]
        assert np.array_equal(found, grid[key])
        assert found.dtype == grid.dtype
    assert np.array_equal(np.asarray(array), grid)


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.integers(-8, 8) | st.slices(8) | st.just(...), max_size=4),
    st.tuples(*[st.integers(0, 8)] * 3),
    st.integers(1, 40),
)
def test_keys_are_lowered_and_cut_as_numpy_takes_them(key, shape, most):
    values = np.arange(int(np.prod(shape))).reshape(shape)
    try:
        wanted = values[tuple(key)]
    except IndexError:
        with pytest.raises(IndexError):
            lowered(tuple(key), shape)
        return
    found = lowered(tuple(key), shape)
    assert found.shape == wanted.shape
    pieces = [
        values[tuple(np.s_[one] if isinstance(one, int) else key_of(one) for one in piece.parts)]
        for piece in found.cut(most)
    ]
    assert np.array_equal(pieces[0] if len(pieces) == 1 else np.concatenate(pieces), wanted)


def key_of(numbers):
    """The slice that a range is."""
    if not numbers:
        return slice(0, 0)
    stop = numbers[-1] + numbers.step
    return slice(numbers[0], stop if stop >= 0 else None, numbers.step)


def test_other_keys_are_refused(remote):
    array = remote["grid.b2nd"]
    for key in ([1, 2], np.ones(60, bool), 60, (1, 2, 3), "x", None, 1.5):
        with pytest.raises(IndexError):
            array[key]


def test_large_arrays_come_in_parts(remote, grid, monkeypatch):
    from coquina.client import objects

    monkeypatch.setattr(objects, "_PART_BYTES", 1000)
    before = remote.requests.count
    assert np.array_equal(remote["grid.b2nd"][:, 3:], grid[:, 3:])
    assert remote.requests.count - before > 8


def test_attributes_text_and_values_without_axes(remote):
    assert remote["grid.b2nd"].attrs == {"units": "K"}
    assert remote["all.h5/one"][()] == 2.5
    assert remote["all.h5/text"][...] == "text"


@pytest.fixture(scope="module")
def frame():
    return pd.DataFrame(table_columns())


def same(found, frame):
    for name in frame:
        assert np.array_equal(np.asarray(found[name]), frame[name].to_numpy()), name


def test_tables_are_those_of_pandas(remote, frame):
    table = remote["all.h5/table"]
    assert len(table) == 1000
    assert table.columns == tuple(frame)
    assert np.array_equal(table["value"][5:9], frame.value[5:9])
    assert np.array_equal(table["value"][900:10:-7], frame.value.to_numpy()[900:10:-7])
    assert table["name"][-1] == "n5"
    assert table["when"].dtype.kind == "M"
    same(table.to_dict(), frame)
    rows = (
        table.where("number > 10").where("flag").select(["number", "value"]).order_by("value", True).head(7)
    )
    wanted = frame[(frame.number > 10) & frame.flag].sort_values("value", ascending=False)[:7]
    assert len(rows) == 7
    same(rows.to_dict(), wanted[["number", "value"]])
    assert rows.to_numpy()["number"].tolist() == wanted.number.tolist()
    assert rows["number"].tolist() == wanted.number.tolist()
    assert rows.to_arrow()["number"].to_pylist() == wanted.number.tolist()
    same(rows.to_pandas(), wanted[["number", "value"]].reset_index(drop=True))
    same(table.to_pandas(), frame)


def test_rows_come_in_parts(remote, frame, monkeypatch):
    from coquina.client import tables

    monkeypatch.setattr(tables, "_ROWS", 90)
    same(remote["all.h5/table"].where("number >= 100").to_dict(), frame[100:])
    same(remote["all.h5/table"].head(250).to_dict(), frame[:250])
    assert np.array_equal(remote["all.h5/table"]["number"][50:400], np.arange(50, 400))


def test_expressions_run_on_the_server(remote, grid):
    file = remote["all.h5"]
    expr = file.expr("a * 2 + mean(b)", a="group/grid", b=file["table"]["value"])
    assert expr.shape == grid.shape
    mean = np.mean(table_columns()["value"])
    assert np.allclose(expr[3:5], grid[3:5] * 2 + mean)
    assert np.allclose(file.compute("a - 1", a=file["group/grid"]), grid - 1)
    with pytest.raises(cq.ExpressionError) as error:
        file.compute("a +* 1", a="group/grid")
    assert error.value.column == 3
    with pytest.raises(ValueError, match="another file"):
        file.expr("a", a=remote["grid.b2nd"])


def test_errors_are_those_of_local_files(remote, folder):
    with pytest.raises(cq.ExpressionError):
        remote["all.h5/table"].where("nothing > 3").count()
    with pytest.raises(KeyError):
        remote["all.h5/table"]["nothing"]
    with pytest.raises(OSError, match="127"):
        cq.connect("http://127.0.0.1:9", timeout=5)
    with pytest.raises(ValueError, match="address"):
        cq.connect("ftp://x")
    with (
        listening(served(folder, limits=Limits(result_bytes=100, rate=0))) as url,
        pytest.raises(cq.LimitError),
    ):
        cq.connect(url)["grid.b2nd"][...]


def test_writers_append_and_upload(tmp_path, grid):
    cq.asarray(grid, path=tmp_path / "grid.b2nd", chunks=(20, 25)).close()
    cq.create_table(tmp_path / "t.h5", {"x": np.arange(3), "s": ["a", "b", "c"]}, name="/t").close()
    (tmp_path / "other").mkdir()
    with listening(served(tmp_path, users=Users.single(TOKEN, may_write=True))) as url:
        with pytest.raises(PermissionError):
            cq.connect(url)
        remote = cq.connect(url, token=TOKEN)
        array = remote["grid.b2nd"]
        assert array.append(grid[:2]) == 62
        assert array.shape == (62, 50)
        assert np.array_equal(array[60:], grid[:2])
        table = remote["t.h5/t"]
        assert table.append({"x": [7], "s": ["z"]}) == 4
        assert table.to_dict()["s"].tolist() == ["a", "b", "c", "z"]
        content = (tmp_path / "grid.b2nd").read_bytes()
        remote["other"].upload("new.b2nd", content)
        assert np.array_equal(remote["other/new.b2nd"][60:], grid[:2])
        with pytest.raises(BlockingIOError):
            remote["other"].upload("new.b2nd", content)
        remote["other"].upload("new.b2nd", content, overwrite=True)
    # The server has gone with its connections kept.
    with pytest.raises(OSError, match="127"):
        array[0]


def test_a_server_of_one_file_is_what_is_in_it(folder, grid):
    with listening(served(folder / "grid.b2nd")) as url:
        assert np.array_equal(cq.connect(url)[5], grid[5])
    with listening(served(folder / "all.h5")) as url:
        assert cq.connect(url)["one"][()] == 2.5


def bytes_of_corner(path, values, grid, key):
    """Write values, and return about how many bytes the four blocks have that a corner touches."""
    chunks, blocks = grid
    with cq.asarray(values, path=path, chunks=chunks, blocks=blocks) as local:
        touched = local.blocks_touched(key)
        assert touched == 4
        return local.cbytes * touched * math.prod(blocks) // values.size


def test_a_corner_of_a_remote_frame_costs_little_more_than_its_blocks(tmp_path):
    values = np.random.default_rng(5).integers(0, 1 << 30, (2000, 3000))
    grid, corner = ((1000, 1500), (250, 300)), np.s_[:400, :500]
    needed = bytes_of_corner(tmp_path / "x.b2nd", values, grid, corner)
    with listening(served(tmp_path)) as url:
        remote = cq.connect(url)
        for array in (cq.open(remote.url_of("x.b2nd")), remote.open("x.b2nd")):
            opened = array.remote.bytes_read
            assert np.array_equal(array[corner], values[corner])
            assert array.remote.bytes_read - opened <= 1.2 * needed


def test_opening_and_a_corner_together_cost_little_more_than_the_blocks(tmp_path):
    values = np.random.default_rng(6).integers(0, 1 << 30, (2048, 2048)).astype(np.int32)
    grid, corner = ((1024, 1024), (256, 256)), np.s_[:512, :512]
    needed = bytes_of_corner(tmp_path / "x.b2nd", values, grid, corner)
    with listening(served(tmp_path)) as url:
        array = cq.open(cq.connect(url).url_of("x.b2nd"))
        assert np.array_equal(array[corner], values[corner])
        assert array.remote.bytes_read <= 1.2 * needed


def test_files_behind_a_token_are_read_by_ranges(folder, grid, tmp_path):
    with listening(served(folder, users=Users.single(TOKEN))) as url:
        remote = cq.connect(url, token=TOKEN)
        with remote.open("grid.b2nd") as array:
            assert np.array_equal(array[3:5], grid[3:5])
        with remote.open("all.h5") as file:
            assert np.array_equal(file["group/grid"][3:5], grid[3:5])
            assert len(file["table"].where("number > 990").to_numpy()) == 9
        with pytest.raises(OSError, match="nothing"):
            remote.open("nothing.b2nd")


def test_a_file_that_changes_is_no_mixture(tmp_path):
    rng = np.random.default_rng(5)
    path = tmp_path / "x.b2nd"
    cq.asarray(rng.integers(0, 1 << 60, (500, 500)), path=path, chunks=(50, 500)).close()
    with listening(served(tmp_path)) as url, cq.connect(url).open("x.b2nd") as array:
        array[:10]
        cq.asarray(rng.integers(0, 1 << 60, (500, 500)), path=path, chunks=(50, 500), overwrite=True).close()
        with pytest.raises(OSError, match="changed"):
            array[300:]


def test_large_reads_are_of_one_commit(tmp_path, monkeypatch):
    """A writer commits between the parts of a read: they are read again."""
    from coquina.client import objects, tables

    monkeypatch.setattr(objects, "_PART_BYTES", 8000)
    monkeypatch.setattr(tables, "_ROWS", 100)
    with cq.hdf5.File(tmp_path / "x.h5", "w") as file:
        file.create_dataset("x", data=np.zeros((10, 1000), "i8"))
        file.create_table("t", {"n": np.zeros(500, "i8")})
    with listening(served(tmp_path)) as url, cq.open(str(tmp_path / "x.h5"), "r+") as file:
        remote = cq.connect(url)["x.h5"]
        for name, read in (("x", lambda: remote["x"][...]), ("t", lambda: remote["t"].to_dict()["n"])):
            place, ask, written = remote[name], remote.requests.ask, [0]

            def asking(*arguments, ask=ask, written=written):
                found = ask(*arguments)
                if written[0] < 3:
                    written[0] += 1
                    with file.transaction():
                        file["x"][...] = written[0]
                        file["t"]["n"] = np.full(500, written[0])
                return found

            assert place.requests is remote.requests
            monkeypatch.setattr(remote.requests, "ask", asking)
            values = read()
            assert len(np.unique(values)) == 1
            monkeypatch.setattr(remote.requests, "ask", ask)


def test_importing_coquina_imports_no_server():
    names = ("starlette", "uvicorn", "http", "coquina.client", "coquina.server")
    code = f"import coquina, sys; print([one for one in sys.modules if one.startswith({names})])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
