"""Lists, structs, objects and arrays with nulls in tables of python-blosc2: read, written, changed."""

import os
from dataclasses import make_dataclass
from itertools import product

import blosc2
import msgpack
import numpy as np
import pyarrow as pa
import pytest

import coquina as cq
from coquina.stores.value_batches import append_values, with_varied_sizes

ROWS = 30
#: What python-blosc2 is told of each column, the type of its values, and value `i`; None in some rows.
THEIRS = {
    "many": (
        lambda: blosc2.list(blosc2.int64(), nullable=True),
        list[int],
        lambda i: None if i % 5 == 1 else list(range(i % 4)),
    ),
    "texts": (
        lambda: blosc2.list(blosc2.string(max_length=8)),
        list[str],
        lambda i: [f"é{i}"] * (i % 3),
    ),
    "deep": (
        lambda: blosc2.list(blosc2.list(blosc2.float64())),
        list[list[float]],
        lambda i: [[i / 2], []],
    ),
    "alone": (lambda: blosc2.list(blosc2.int64(), storage="vl"), list[int], lambda i: [i] * (i % 3)),
    "arrow": (lambda: blosc2.list(blosc2.int64(), serializer="arrow"), list[int], lambda i: [i] * (i % 3)),
    "pair": (
        lambda: blosc2.struct({"a": blosc2.int64(), "b": blosc2.string(max_length=8)}, nullable=True),
        dict,
        lambda i: None if i % 7 == 2 else {"a": i, "b": f"x{i}"},
    ),
    "pairs": (
        lambda: blosc2.list(blosc2.struct({"a": blosc2.int64()})),
        list[dict],
        lambda i: [{"a": k} for k in range(i % 3)],
    ),
    "any": (
        lambda: blosc2.object(nullable=True),
        object,
        lambda i: [None, i, f"t{i}", {"k": [i, None]}][i % 4],
    ),
    "blob": (
        lambda: blosc2.vlbytes(nullable=True),
        bytes,
        lambda i: None if i % 4 == 3 else b"\0b" * (i % 3),
    ),
    "place_mask": (
        lambda: blosc2.ndarray((2,), blosc2.float64(), nullable=True, null_storage="mask"),
        object,
        lambda i: None if i % 3 == 1 else np.array([i, -i], float),
    ),
    "place_int": (
        lambda: blosc2.ndarray((2, 2), blosc2.int32(), nullable=True, null_storage="sentinel"),
        object,
        lambda i: None if i % 3 == 1 else np.full((2, 2), i, np.int32),
    ),
    "place_flag": (
        lambda: blosc2.ndarray((2,), blosc2.bool(), nullable=True, null_storage="sentinel"),
        object,
        lambda i: None if i % 3 == 1 else np.array([True, i % 2 == 0]),
    ),
}


def theirs(path, deleted=()):
    """Write a table of python-blosc2; return the values that are left, by column."""
    fields = [(name, kind, blosc2.field(spec())) for name, (spec, kind, _) in THEIRS.items()]
    table = blosc2.CTable(make_dataclass("Row", fields), urlpath=str(path), mode="w")
    for i in range(ROWS):
        table.append([value(i) for _, _, value in THEIRS.values()])
    if deleted:
        table.delete(list(deleted))
    table.close()
    left = [i for i in range(ROWS) if i not in deleted]
    return {name: [value(i) for i in left] for name, (_, _, value) in THEIRS.items()}


def plain(values):
    """Return values as Python's own: None for rows that are missing."""
    found = []
    for one in values:
        if isinstance(one, np.ma.MaskedArray):
            found.append(None if np.ma.getmaskarray(one).all() else one.data.tolist())
        else:
            found.append(one.tolist() if isinstance(one, np.ndarray | np.generic) else one)
    return found


@pytest.mark.parametrize("suffix", ["b2d", "b2z"])
@pytest.mark.parametrize("deleted", [(), (0, 4, 29)])
def test_lists_structs_and_arrays_with_nulls_are_read(tmp_path, suffix, deleted):
    wanted = theirs(tmp_path / f"x.{suffix}", deleted)
    with cq.open(tmp_path / f"x.{suffix}") as table:
        assert list(table.columns) == list(THEIRS)
        assert "others" not in table.layout.info()
        for name, values in wanted.items():
            column = table[name]
            assert plain(column[...]) == plain(values), name
            assert plain(column[[5, 2, 5]]) == plain([values[i] for i in (5, 2, 5)]), name
            missing = [value is None for value in values]
            if name != "place_flag":
                assert column.is_null()[...].tolist() == missing, name
        record = table[3]
        assert record["pair"] == wanted["pair"][3]
        assert table.where("place_int[0, 0] > 20").to_numpy("many").tolist() == [
            many
            for many, place in zip(wanted["many"], wanted["place_int"], strict=True)
            if place is not None and place[0, 0] > 20
        ]
        arrow = table.to_arrow([name for name in THEIRS if name != "any"])
        for name in ("many", "texts", "deep", "pair", "pairs", "blob", "place_mask"):
            assert arrow[name].to_pylist() == plain(wanted[name]), name
        with pytest.raises(TypeError, match="Arrow has no type"):
            table.to_arrow(["any"])
        with pytest.raises(TypeError, match="is no operand"):
            table.where("many == 3").count()
        assert "list of int64" in str(table)


DATA = {
    "n": np.arange(5000),
    "many": [None if i % 5 == 1 else list(range(i % 4)) for i in range(5000)],
    "texts": [[f"é{i}"] * (i % 3) for i in range(5000)],
    "deep": [[[i / 2], None] if i % 2 else [] for i in range(5000)],
    "pair": [None if i % 7 == 2 else {"a": i, "b": [f"x{i}"]} for i in range(5000)],
    "blob": [None if i % 4 == 3 else b"\0b" * (i % 3) for i in range(5000)],
    "times": [[i * 10**6] for i in range(5000)],
}
TYPES = {
    "n": pa.int64(),
    "many": pa.list_(pa.int32()),
    "texts": pa.large_list(pa.string()),
    "deep": pa.list_(pa.list_(pa.float64())),
    "pair": pa.struct([("a", pa.int64()), ("b", pa.list_(pa.string()))]),
    "blob": pa.binary(),
    "times": pa.list_(pa.timestamp("us")),
}
MORE = {
    "n": [-1, -2],
    "many": [[7], None],
    "texts": [[], ["new"]],
    "deep": [[], [[0.5]]],
    "pair": [None, {"a": 1, "b": []}],
    "blob": [b"", None],
    "times": [[5], []],
}


def test_missing_lists_and_structs_are_conditions(tmp_path):
    path = tmp_path / "t.b2z"
    theirs(path)
    with cq.open(path) as table:
        for name, is_missing in {"many": lambda i: i % 5 == 1, "pair": lambda i: i % 7 == 2}.items():
            missing = np.array([is_missing(i) for i in range(table.nrows)])
            assert table.where(f"{name} is null").count() == np.count_nonzero(missing)
            assert table.where(f"{name} is not null").count() == np.count_nonzero(~missing)
            text = f"{name} is null or {name} is not null and {name} is null"
            assert table.where(text).count() == np.count_nonzero(missing)
        both = [i for i in range(ROWS) if i % 5 != 1 and i % 7 != 2]
        assert table.where("many is not null and pair is not null").count() == len(both)
        with pytest.raises((TypeError, ValueError), match="many"):
            table.where("many > 3").count()


def arrow_table():
    return pa.table({name: pa.array(values, TYPES[name]) for name, values in DATA.items()})


def both(path, wanted):
    """Check the columns of a table against values, by both."""
    with cq.open(path) as table:
        for name, values in wanted.items():
            assert plain(table[name][...]) == plain(values), name
    peer = blosc2.open(str(path), mode="r")
    for name, values in wanted.items():
        assert plain(peer[name][:]) == plain(values), name


@pytest.mark.parametrize("suffix", ["b2d", "b2z"])
def test_lists_and_structs_are_written_and_read_back_by_both(tmp_path, suffix):
    path = tmp_path / f"x.{suffix}"
    with cq.create_table(path, arrow_table()) as table:
        table.append(MORE)
    wanted = {name: [*values, *MORE[name]] for name, values in DATA.items()}
    both(path, wanted)
    # They take turns: rows of theirs behind ours, and ours behind theirs.
    peer = blosc2.open(str(path), mode="a")
    peer.append([9, [1], ["z"], [[1.0]], {"a": 2, "b": ["u"]}, b"z", [3]])
    peer.close()
    with cq.open(path, "r+") as table:
        table.append([(10, None, [], [], None, None, [])])
    last = [
        [9, 10],
        [[1], None],
        [["z"], []],
        [[[1.0]], []],
        [{"a": 2, "b": ["u"]}, None],
        [b"z", None],
        [[3], []],
    ]
    both(path, {name: [*values, *more] for (name, values), more in zip(wanted.items(), last, strict=True)})


@pytest.mark.parametrize("suffix", ["b2d", "b2z"])
def test_values_are_overwritten_and_rows_deleted(tmp_path, suffix):
    path = tmp_path / f"x.{suffix}"
    cq.create_table(path, arrow_table()).close()
    with cq.open(path, "r+") as table:
        table.modify([0, 4000], {"many": [[9, 9], None]})
        table.where("n == 7").modify({"pair": [{"a": 70, "b": []}]})
        table.delete([1])
        table.truncate(4990)
        table.append(MORE)
    wanted = {name: list(values) for name, values in DATA.items()}
    wanted["many"][0], wanted["many"][4000] = [9, 9], None
    wanted["pair"][7] = {"a": 70, "b": []}
    both(path, {name: [values[0], *values[2:4991], *MORE[name]] for name, values in wanted.items()})


def test_arrays_with_nulls_are_written_and_read_back_by_both(tmp_path):
    mask = np.repeat(np.arange(20) % 4 == 1, 6).reshape(20, 2, 3)
    data = {
        name: np.ma.masked_array(np.arange(120).reshape(20, 2, 3).astype(name), mask)
        for name in ("i4", "f8", "bool")
    }
    with cq.create_table(tmp_path / "x.b2z", data) as table:
        table.append([(None, [[0.5] * 3] * 2, None)])
        part = (np.arange(6) == 0).reshape(1, 2, 3)
        cut = {name: np.ma.masked_array(one.data[:1], part) for name, one in data.items()}
        with pytest.raises(ValueError, match="only a part"):
            table.append(cut)
    row = {"i4": None, "f8": [[0.5] * 3] * 2, "bool": None}
    both(tmp_path / "x.b2z", {name: [*plain(one), row[name]] for name, one in data.items()})


def test_nested_columns_are_written_under_names_with_dots(tmp_path):
    records = np.zeros(5, [("n", "i8"), ("info", [("x", "f8"), ("deep", [("k", "i4")])])])
    records["info"]["x"] = np.arange(5) / 2
    with cq.create_table(tmp_path / "r.h5", records, layout="rows") as source:
        source.copy(tmp_path / "x.b2d").close()
    peer = blosc2.open(str(tmp_path / "x.b2d"), mode="r")
    assert list(peer.col_names) == ["n", "info.x", "info.deep.k"]
    assert peer["info.x"][:].tolist() == (np.arange(5) / 2).tolist()
    assert cq.open(tmp_path / "x.b2d")["info.x"][...].tolist() == (np.arange(5) / 2).tolist()


def test_tables_with_lists_are_copied_and_python_lists_are_taken(tmp_path):
    data = {"n": [1, 2, 3], "many": [[1], [], [2, 3]], "pair": [{"a": 1}, None, {"a": 2}]}
    with cq.create_table(tmp_path / "x.b2z", data) as table:
        table.copy(tmp_path / "y.b2d").close()
        with pytest.raises(TypeError, match="those of python-blosc2"):
            table.copy(tmp_path / "z.h5")
        with pytest.raises(TypeError, match="those of python-blosc2"):
            table.copy(tmp_path / "z")
        table.copy(tmp_path / "z.h5", columns=["n"]).close()
    both(tmp_path / "y.b2d", data)


@pytest.mark.parametrize(
    ("values", "error"),
    [
        ({"many": [5], "pair": [None]}, "no list"),
        ({"many": [["x"]], "pair": [None]}, "no number"),
        ({"many": [[2**40]], "pair": [None]}, "no int32"),
        ({"many": [[1.5]], "pair": [None]}, "no int32"),
        ({"many": [[]], "pair": [5]}, "no mapping"),
        ({"many": [[]], "pair": [{"c": 1}]}, "is none of"),
        ({"many": [None], "pair": [None]}, "is missing"),
    ],
)
def test_values_that_the_schema_does_not_say_are_refused(tmp_path, values, error):
    types = {"many": pa.list_(pa.int32()), "pair": pa.struct([("a", pa.list_(pa.int64()))])}
    data = pa.table({"many": pa.array([[1]], types["many"]), "pair": pa.array([None], types["pair"])})
    with cq.create_table(tmp_path / "x.b2d", data) as table:
        with pytest.raises((TypeError, ValueError), match=error):
            table.append(values)
        assert table.nrows == 1


def test_columns_of_kinds_that_are_not_known_are_named_and_not_shown(tmp_path):
    cq.create_table(tmp_path / "x.b2d", {"n": [1], "many": [[1, 2], [3]][:1]}).close()
    with cq.open(tmp_path / "x.b2d" / "_meta.b2f", "a") as meta:
        meta.attrs["schema"] = meta.attrs["schema"].replace('"ndarray"', '"tensor"')
    with cq.open(tmp_path / "x.b2d") as found:
        assert found.columns == ("n",)
        assert found.layout.info()["others"] == {"many": "tensor"}


def test_a_changed_bit_of_values_is_an_error_of_ours_or_some_values(tmp_path):
    data = {"n": [1, 2, 3], "many": [[1], [], [2, 3]], "pair": [{"a": 1}, None, {"a": 2}]}
    cq.create_table(tmp_path / "x.b2d", data).close()
    errors = 0
    for name in ("many", "pair"):
        place = tmp_path / "x.b2d" / "_cols" / f"{name}.b2b"
        content = place.read_bytes()
        for at, bit in product(range(len(content)), (0, 3, 7)):
            damaged = bytearray(content)
            damaged[at] ^= 1 << bit
            place.write_bytes(damaged)
            try:
                with cq.open(tmp_path / "x.b2d") as table:
                    table[name][...]
            except cq.CoquinaError:
                errors += 1
        place.write_bytes(content)
    assert errors > 200


def test_a_pickle_in_a_column_of_objects_is_refused(tmp_path):
    theirs(tmp_path / "x.b2d")
    # An extension that a reader of pickles would load.
    hostile = [msgpack.ExtType(43, msgpack.packb({"kind": "lazyudf", "version": 1}))] * ROWS
    place = str(tmp_path / "x.b2d" / "_cols" / "any.b2b")
    with_varied_sizes(place, f"{place}.new")
    os.replace(f"{place}.new", place)
    append_values(place, 0, [msgpack.packb(one) for one in hostile])
    with cq.open(tmp_path / "x.b2d") as table, pytest.raises(cq.UnsupportedError, match="extension 43"):
        table["any"][0]


@pytest.mark.parametrize("suffix", ["b2d", "b2z"])
def test_rows_are_appended_to_a_table_of_theirs_with_one_batch(tmp_path, suffix):
    # Its chunk is of a fixed size, which that of a batch of another size is not.
    path = tmp_path / f"x.{suffix}"
    wanted = theirs(path)
    names = [name for name in THEIRS if name not in ("alone", "arrow", "place_flag", "place_int")]
    fields = [(name, THEIRS[name][1], blosc2.field(THEIRS[name][0]())) for name in names]
    path = tmp_path / f"y.{suffix}"
    table = blosc2.CTable(make_dataclass("Row", fields), urlpath=str(path), mode="w")
    table.append([THEIRS[name][2](3) for name in names])
    table.close()
    more = {name: wanted[name] for name in names}
    with cq.open(path, "r+") as ours:
        ours.append([tuple(row) for row in zip(*more.values(), strict=True)])
        ours.append([tuple(values[4] for values in more.values())])
    both(path, {name: [THEIRS[name][2](3), *values, values[4]] for name, values in more.items()})
