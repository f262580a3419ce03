"""Tables of PyTables, and ours in PyTables: the same values both ways, whoever changed them last."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
import tables

from coquina._core import UnsupportedError
from coquina.hdf5 import File
from coquina.storage_options import Storage
from coquina.tables.layout import ColumnSpec
from coquina.tables.rows import RowsLayout, create_rows
from tests.tables.rows_cases import ENUM, EVERYTHING, number, values

ROWS = 3000


@pytest.fixture(autouse=True)
def strict() -> Iterator[None]:
    """PyTables warns where it finds what it does not expect."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def read_ours(path: Path, name: str = "g/t") -> dict[str, Any]:
    with File(path) as file:
        layout = RowsLayout.open(file.dataset(name))
        return {key: column.read(slice(None)) for key, column in layout.columns.items()}


def column_of(rows: np.ndarray, path: str) -> np.ndarray:
    for part in path.split("/"):
        rows = rows[part]
    return rows


def agree(path: Path, name: str = "g/t") -> dict[str, Any]:
    """Both sides read the same of a table; return it."""
    ours = read_ours(path, name)
    with tables.open_file(str(path)) as file:
        theirs = file.get_node(f"/{name}")[:]
    for key, column in ours.items():
        other = column_of(theirs, key)
        np.testing.assert_array_equal(
            column, other.view(column.dtype) if column.dtype.kind in "mM" else other
        )
    return ours


STORAGE: dict[str, dict[str, Any]] = {
    "zstd": {"chunks": (1024,)},
    "lz4": {"codec": "lz4", "filters": "bitshuffle", "chunks": (1000,)},
    "default chunks": {},
    "blosc": {"filter": "blosc", "codec": "lz4hc"},
    "zlib": {"filter": "gzip", "fletcher32": True},
    "none": {"filter": "none"},
}


@pytest.fixture(params=STORAGE.values(), ids=STORAGE)
def ours(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A table of ours, with every kind of column."""
    path = tmp_path / "t.h5"
    with File(path, "w") as file:
        layout = create_rows(file, "g/t", EVERYTHING, Storage(**request.param), title="ours")
        batch = values(ROWS)
        layout.append({key: column[:2500] for key, column in batch.items()})
        layout.flush()
        layout.append({key: column[2500:] for key, column in batch.items()})
        layout.close()
    return path


def test_pytables_reads_ours(ours: Path) -> None:
    batch = values(ROWS)
    for key, column in agree(ours).items():
        np.testing.assert_array_equal(column, batch[key])
    with tables.open_file(str(ours)) as file:
        table = file.root.g.t
        assert (table.title, table.attrs.NROWS, table._v_attrs.VERSION) == ("ours", ROWS, "2.7")
        assert isinstance(file.root.g, tables.Group)
        assert file.root.g._v_attrs.CLASS == "GROUP"
        assert table.get_enum("color") == tables.Enum(ENUM)
        assert [table.coldtypes[f"n{kind}"] for kind in ("f2", "u8", "g")] == [
            np.dtype(kind) for kind in ("f2", "u8", "g")
        ]
        assert (table.coltypes["t32"], table.coltypes["t64"], table.coltypes["flag"]) == (
            "time32",
            "time64",
            "bool",
        )
        defaults = table.coldflts
        assert {key: defaults[key] for key in ("text", "matrix", "inner/p", "inner/deep/z", "inner/q")} == {
            "text": b"ab",
            "matrix": 2.5,
            "inner/p": 1,
            "inner/deep/z": 9.5,
            "inner/q": 0,
        }
        assert defaults["color"] == ENUM["green"]
        for condition, wanted in {
            "ni4 < 7": batch["ni4"] < 7,
            "flag & (nf8 > 50)": batch["flag"] & (batch["nf8"] > 50),
            "text == b'17'": batch["text"] == b"17",
            "(t64 > 20) & (t64 < 30)": (batch["t64"] > 20) & (batch["t64"] < 30),
        }.items():
            np.testing.assert_array_equal(table.get_where_list(condition), np.flatnonzero(wanted))
        rows = [2999, 5, 5, 1024]
        np.testing.assert_array_equal(table[rows]["ni8"], batch["ni8"][rows])
        np.testing.assert_array_equal(table[10:2900:7]["inner"]["q"], batch["inner/q"][10:2900:7])


def test_pytables_changes_ours(ours: Path) -> None:
    with tables.open_file(str(ours), "a") as file:
        table = file.root.g.t
        table.append(table[:200])
        row = table.row
        row["ni4"] = -77
        row.append()
        table.flush()
        table.remove_rows(100, 150)
        table.modify_column(start=0, stop=3, colname="ni4", column=np.array([9, 8, 7], "i4"))
        assert table.nrows == ROWS + 151
    found = agree(ours)
    batch = values(ROWS)
    np.testing.assert_array_equal(found["ni8"][100:2900], batch["ni8"][150:2950])
    np.testing.assert_array_equal(found["nu8"][2950:3000], batch["nu8"][:50])
    assert found["ni4"][:3].tolist() == [9, 8, 7]
    # The row that was appended by name has our defaults in all other columns.
    last = {key: column[-1].tolist() for key, column in found.items()}
    assert (last["ni4"], last["text"], last["color"], last["inner/p"], last["inner/deep/z"]) == (
        -77,
        b"ab",
        1,
        1,
        9.5,
    )
    assert last["matrix"] == [[2.5] * 3] * 2


def test_pytables_truncates_ours(ours: Path) -> None:
    with tables.open_file(str(ours), "a") as file:
        file.root.g.t.truncate(1500)
    found = agree(ours)
    np.testing.assert_array_equal(found["ni8"], values(ROWS)["ni8"][:1500])


def test_pytables_indexes_and_sorts_ours(ours: Path) -> None:
    batch = values(ROWS)
    with tables.open_file(str(ours), "a") as file:
        table = file.root.g.t
        table.cols.ni4.create_index()
        table.cols.t64.create_csindex()
        table.cols.text.create_index(kind="light")
        assert table.will_query_use_indexing("ni4 == 3") == {"ni4"}
        np.testing.assert_array_equal(table.get_where_list("ni4 == 3"), np.flatnonzero(batch["ni4"] == 3))
        table.modify_column(start=0, stop=ROWS, colname="t64", column=-batch["t64"])
        table.flush()
        copy = table.copy(file.root, "copy", sortby="t64", checkCSI=True)
        np.testing.assert_array_equal(copy.cols.t64[:], np.sort(-batch["t64"]))
        np.testing.assert_array_equal(copy.cols.ni8[:], batch["ni8"][::-1])
    copied = agree(ours, "copy")
    np.testing.assert_array_equal(copied["when"].view("i8"), batch["when"].view("i8")[::-1])


def test_pytables_does_not_trust_an_index_that_we_made_stale(ours: Path) -> None:
    batch = values(ROWS)
    with tables.open_file(str(ours), "a") as file:
        file.root.g.t.cols.ni4.create_index()
        file.root.g.t.cols.inner.deep.z.create_csindex()
    with File(ours, "r+") as file:
        layout = RowsLayout.open(file.dataset("g/t"))
        layout.write(17, {"ni4": [-1], "inner/deep/z": [2.0**40]})
        layout.append({key: column[:1] for key, column in {**batch, "ni4": np.array([-1])}.items()})
        layout.close()
    agree(ours)
    with tables.open_file(str(ours), "a") as file:
        table = file.root.g.t
        assert table.cols.ni4.index.dirty
        assert table.cols.inner.deep.z.index.dirty
        assert table.get_where_list("ni4 == -1").tolist() == [17, ROWS]
        table.reindex_dirty()
        assert table.will_query_use_indexing("ni4 == -1") == {"ni4"}
        assert table.get_where_list("ni4 == -1").tolist() == [17, ROWS]
        found = table.where("z == 2.0**40", {"z": table.cols.inner.deep.z})
        assert [row["ni8"] for row in found] == [14]


def test_a_file_of_ours_and_theirs(tmp_path: Path) -> None:
    """A table goes into a file of PyTables, and theirs into ours; a wide one too."""
    path = tmp_path / "t.h5"
    with tables.open_file(str(path), "w") as file:
        file.create_table("/g", "theirs", {"a": tables.Int32Col()}, createparents=True)
    wide = (*(number(f"c{at}", "f8") for at in range(39)), number("text", "S1000"))
    rows = {f"c{at}": np.arange(500) * at for at in range(39)} | {"text": np.full(500, b"x" * 1000)}
    with File(path, "r+") as file:
        layout = create_rows(file, "g/ours", wide)
        layout.append(rows)
        layout.close()
        assert dict(file.attrs).keys() == {"CLASS", "PYTABLES_FORMAT_VERSION", "TITLE", "VERSION"}
    with tables.open_file(str(path), "a") as file:
        assert [node._v_name for node in file.root.g] == ["ours", "theirs"]
        file.root.g.ours.append(file.root.g.ours[:10])
    found = agree(path, "g/ours")
    for name, column in rows.items():
        np.testing.assert_array_equal(found[name], np.concatenate([column, column[:10]]))


class Inner(tables.IsDescription):
    _v_pos = 7
    p = tables.UInt8Col(pos=0, dflt=3)
    q = tables.Time64Col(pos=2)


class Theirs(tables.IsDescription):
    """All kinds of atoms."""

    int8 = tables.Int8Col(pos=0)
    uint64 = tables.UInt64Col(pos=1, dflt=2**63 + 5)
    float16 = tables.Float16Col(pos=2)
    float32 = tables.Float32Col(pos=3, shape=(2, 2), dflt=1.5)
    float128 = tables.Float128Col(pos=4)
    complex64 = tables.ComplexCol(itemsize=8, pos=5)
    bool_ = tables.BoolCol(pos=6, dflt=True)
    inner = Inner()
    text = tables.StringCol(7, pos=8, dflt=b"abcdefg")
    enum = tables.EnumCol(ENUM, "blue", base="int8", pos=9)
    enums = tables.EnumCol(ENUM, "blue", base="int16", shape=3, pos=10)
    time32 = tables.Time32Col(pos=11, dflt=5)
    time64 = tables.Time64Col(pos=12, dflt=2.5)
    bools = tables.BoolCol(shape=2, pos=13)


COMPLIBS = ["zlib", "bzip2", "blosc", "blosc:zstd", "blosc2", "blosc2:lz4", "none"]


@pytest.mark.parametrize("order", ["little", "big"])
@pytest.mark.parametrize("complib", COMPLIBS)
def test_tables_of_pytables(tmp_path: Path, complib: str, order: str) -> None:
    path = tmp_path / "t.h5"
    filters = tables.Filters(complib != "none", complib.replace("none", "zlib"), fletcher32=complib == "zlib")
    random = np.random.default_rng(3)
    with tables.open_file(str(path), "w") as file:
        table = file.create_table(
            "/g",
            "t",
            Theirs,
            filters=filters,
            createparents=True,
            byteorder=order,
            chunkshape=256,
        )
        row = table.row
        for at in range(700):
            row["int8"], row["uint64"], row["float16"] = at % 100, at, at / 4
            row["float32"], row["float128"], row["complex64"] = random.random((2, 2)), at / 3, at * 1j
            row["bool_"], row["inner/q"], row["text"] = at % 2, at / 8 - 20, b"%d" % at
            row["enum"], row["time32"], row["time64"], row["bools"] = 4, -at, -at / 16, [True, at % 3 == 0]
            row.append()
        row.append()
    ours = agree(path)
    assert ours["inner/q"][:3].tolist() == [-20.0, -19.875, -19.75]
    with File(path, "r+" if complib != "bzip2" else "r") as file:
        layout = RowsLayout.open(file.dataset("g/t"))
        assert [column.kind for column in layout.columns.values()] == [
            *["number"] * 6,
            "bits",
            "number",
            "time",
            "number",
            "enum",
            "enum",
            "number",
            "time",
            "bits",
        ]
        defaults = {path: spec.default for spec in layout.schema for path, spec in spec.leaves().items()}
        assert (defaults["uint64"], defaults["bool_"], defaults["time64"]) == (2**63 + 5, True, 2.5)
        assert (defaults["text"], defaults["enum"], defaults["inner/p"]) == (b"abcdefg", "blue", 3)
        if not layout.is_writable:
            return
        # What we append and overwrite is theirs too.
        layout.append({key: column[:300] for key, column in ours.items()})
        layout.write(5, {"time64": [-7.5, 0.25], "bool_": [True, True], "enum": ["green", "red"]})
        layout.close()
    found = agree(path)
    for key, column in ours.items():
        wanted = np.concatenate([column, column[:300]])
        if key in ("time64", "bool_", "enum"):
            wanted[5:7] = {"time64": [-7.5, 0.25], "bool_": [True, True], "enum": [1, 4]}[key]
        np.testing.assert_array_equal(found[key], wanted)


def test_pytables_reads_our_exact_attributes(tmp_path: Path) -> None:
    """Attribute by attribute what PyTables writes itself."""
    schema = (
        number("a", "i4", default=3),
        number("b", "?", default=True),
        ColumnSpec("n", np.dtype("V1"), children=(number("p", ">f4", default=2), number("s", "S4"))),
        ColumnSpec("t", np.dtype("f8"), time="time64", default=1.5),
        ColumnSpec("u", np.dtype("i4"), time="time32"),
        ColumnSpec("e", np.dtype("i2"), enum=ENUM, default="green"),
        number("c", "c16"),
    )
    path = tmp_path / "t.h5"
    with File(path, "w") as file:
        create_rows(file, "ours", schema, title="x")
    with tables.open_file(str(path), "a") as file:
        description = file.root.ours.description._v_nested_descr
        assert description[0][0] == "a"
        file.create_table("/", "theirs", file.root.ours.description, "x")
    with h5py.File(path) as plain:
        ours, theirs = (facts_of(plain[name]) for name in ("ours", "theirs"))
        for name, fact in theirs.items():
            assert ours[name] == fact, name
        assert ours.keys() == theirs.keys()
        assert facts_of(plain["/"]).keys() == {"CLASS", "PYTABLES_FORMAT_VERSION", "TITLE", "VERSION"}


def facts_of(node: Any) -> dict[str, Any]:
    """Return name, datatype, space and bytes of each attribute."""
    found: dict[str, Any] = {}
    for name in node.attrs:
        attribute = h5py.h5a.open(node.id, name.encode())
        tid, space = attribute.get_type(), attribute.get_space()
        value = np.zeros((), f"V{tid.get_size()}")
        is_null = space.get_simple_extent_type() == h5py.h5s.NULL
        if not is_null:
            attribute.read(value, tid)
        found[name] = (tid.encode(), is_null, value.tobytes())
    return found


def test_what_pytables_itself_does_not_read_is_refused(tmp_path: Path) -> None:
    fixtures = Path(tables.__file__).parent / "tests"
    with File(str(fixtures / "smpl_unsupptype.h5")) as file, pytest.raises(UnsupportedError, match="b_name"):
        RowsLayout.open(file.dataset("CompoundChunked"))


def paths_of(dtype: np.dtype[Any], above: str = "") -> list[str]:
    """Return the columns of a dtype that have none below them."""
    if dtype.names is None:
        return [above]
    prefix = above and f"{above}/"
    return [path for name in dtype.names for path in paths_of(dtype[name], prefix + name)]


#: PyTables 3.11 writes beyond its memory when it reads this one; h5py is the judge.
HARMFUL = "nested-type-with-gaps.h5"
FIXTURES = sorted((Path(tables.__file__).parent / "tests").glob("*.h5"))


def tables_in(path: Path) -> dict[str, Any]:
    """Return the rows of all tables of a file that PyTables can read."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with tables.open_file(str(path)) as file:
            nodes = [node for node in file.walk_nodes("/", "Table") if node.filters.complib != "lzo"]
            return {node._v_pathname: node[:] for node in nodes}


@pytest.mark.parametrize("path", FIXTURES, ids=lambda path: path.name)
def test_tables_in_the_files_that_pytables_ships(path: Path) -> None:
    """All tables of its test files that it reads itself give the same values."""
    if path.name == HARMFUL:
        with h5py.File(path) as plain:
            theirs = {"/nestedtype": plain["nestedtype"][:]}
    else:
        theirs = tables_in(path)
    with File(path) as file:
        for name, rows in theirs.items():
            layout = RowsLayout.open(file.dataset(name))
            leaves = {key: column.read(slice(None)) for key, column in layout.columns.items()}
            assert layout.nrows == len(rows)
            assert set(leaves) == set(paths_of(rows.dtype))
            for key, column in leaves.items():
                np.testing.assert_array_equal(column, column_of(rows, key))
