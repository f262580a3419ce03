"""Tables that describe themselves wrongly: what is looked at is a value or an error of ours, and nothing that
is pickled is read.
"""

import json
import pickle
import random
import shutil

import h5py
import numpy as np
import pytest

import coquina as cq
from coquina._core import write_manifest
from coquina.tables.layout import ColumnSpec
from coquina.tables.values import TEXT
from tests.tables.hostile_cases import columns, look_and_change, looked_at, records
from tests.tables.table_cases import LAYOUTS

ROWS = 300
KIND = ColumnSpec("k", TEXT, categories=("red", "green", "blue"))
LEVEL = ColumnSpec("level", np.dtype("f8"), categories=(1.5, -2.0))


class Trap:
    """What makes a file if it is unpickled."""

    def __init__(self, path):
        """Make this file."""
        self.path = str(path)

    def __reduce__(self):
        """Say what unpickling does."""
        return open, (self.path, "w")


def make(path, layout, **options):
    """Make a table with all kinds of columns."""
    data = records(ROWS) if layout == "rows" else columns(ROWS)
    with cq.create_table(path, data, layout=layout, name="/t", chunk_rows=100, **options) as table:
        if layout == "columns":
            table.add_column("k", np.array(["red", "blue", "green"])[np.arange(ROWS) % 3], KIND)
            table.add_column("level", np.array([1.5, -2.0])[np.arange(ROWS) % 2], LEVEL)


@pytest.fixture(scope="module", params=LAYOUTS)
def whole(request, tmp_path_factory):
    path = tmp_path_factory.mktemp("whole") / f"{request.param}.h5"
    make(path, request.param)
    return path


DEEP = "[" * 100_000
VALUES = [
    *(
        0,
        1,
        -1,
        2**31,
        2**63 - 1,
        -(2**63),
        np.uint64(2**64 - 1),
        0.5,
        np.nan,
        True,
        1j,
        np.bytes_(b"\xff\xfe"),
        "",
    ),
    *(
        "dataframe",
        "categorical",
        "array",
        "string-array",
        "nullable-integer",
        "nullable-boolean",
        "awkward-array",
    ),
    *(
        "nullable-string-array",
        "dict",
        "TABLE",
        "GROUP",
        "VLARRAY",
        "EARRAY",
        "0.1.0",
        "x",
        "n",
        "t",
        "k",
        "codes",
    ),
    *(
        "/",
        ".",
        "..",
        "../t",
        "/t",
        "x/../n",
        "t/node0-offsets",
        "_index",
        "\u00e9\n",
        "a" * 60_000,
        DEEP[:60_000],
    ),
    *(
        "datetime64[s]",
        "timedelta64[ns]",
        "datetime64[zz]",
        "datetime64[9999999999999999999s]",
        "int64",
        "M8",
    ),
    *(
        "deep=datetime64[s]",
        "k=timedelta64[D]\nv=datetime64[us]",
        "{}",
        "null",
        "[]",
        '{"class": "NumpyArray"}',
    ),
    '{"chunk_rows": -1, "block_rows": 0, "filter": [1], "codec": {}, "level": 99, "filters": 7}',
    '{"chunk_rows": 1e400, "block_rows": 1, "filter": "none", "codec": null, "level": 5, "filters": "x"}',
    *(np.arange(3), np.zeros((2, 2)), np.zeros(0), np.array([b"x", b"x", b"n"]), np.array([b"\xff", b"\0x"])),
    *(h5py.Empty("f8"), h5py.Empty("S1"), np.zeros(2, [("a", "i4"), ("b", "S3")]), np.void(b"\x80\x04N.")),
    *(np.array(["x", "nothing", "x", "n"], object), np.array(["", "t", ".."], object), np.array("n", object)),
]


def put(attrs, name, value):
    """Set an attribute to whatever it is."""
    if name in attrs:
        del attrs[name]
    if isinstance(value, np.ndarray) and value.dtype.kind == "O":
        attrs.create(name, value, dtype=h5py.string_dtype())
    else:
        attrs[name] = value


def places_of(file):
    """Return all attributes, by the path of their object; and objects."""
    objects = ["/"]
    file.visit(objects.append)
    return [(one, name) for one in objects for name in file[one].attrs], objects


NEW = [
    "dtype",
    "units",
    "form",
    "length",
    "ordered",
    "_index",
    "column-order",
    "coquina",
    "title",
    "encoding-type",
]
NEW += ["CLASS", "NROWS", "TITLE", "VERSION", "FLAVOR", "AUTO_INDEX", "FILTERS", "EXTDIM"]
NEW += [f"FIELD_{at}_{what}" for at in range(7) for what in ("NAME", "FILL", "ATTR_dtype")]


def lie(file, pick, trap):
    """Change an attribute or two, or what has a name; return what was done."""
    attributes, objects = places_of(file)
    done = []
    for _ in range(pick.randint(1, 3)):
        kind = pick.randrange(8)
        value = pick.choice([*VALUES, np.bytes_(trap), np.void(trap)])
        path, name = pick.choice(attributes)
        if kind < 4:
            put(file[path].attrs, name, value)
        elif kind == 4:
            path, name = pick.choice(objects), pick.choice(NEW)
            put(file[path].attrs, name, value)
        elif kind == 5:
            file[path].attrs.pop(name, None)
        else:
            done.append(rename(file, pick, objects))
            break
        done.append((path, name, repr(value)[:60]))
    return done


def rename(file, pick, objects):
    """Put something else where a node is: another node, a loop, a dataset of anything, nothing."""
    path, other = pick.choice(objects[1:]), pick.choice(objects)
    kind = pick.randrange(7)
    if kind == 6 and isinstance(file[path], h5py.Group):
        path += "/" + pick.choice(
            ["x", "codes", "categories", "mask", "values", "node0-offsets", "node1-data"]
        )
    if path in file:
        del file[path]
    if kind == 0:
        return path, "is gone"
    if kind == 1:
        file[path] = file.get(other) or file["/"]
    elif kind == 2:
        file[path] = h5py.SoftLink(pick.choice([path, "/", "/nothing", other]))
    elif kind == 3:
        file[path] = h5py.ExternalLink("nothing.h5", "/t")
    elif kind == 4:
        group = file.create_group(path)
        group.attrs["encoding-type"] = pick.choice(
            ["categorical", "awkward-array", "nullable-integer", "dataframe"]
        )
        group["self"] = group["codes"] = group
    else:
        file[path] = pick.choice(DATASETS)()
    return path, kind, other


DATASETS = [
    lambda: np.arange(ROWS) - 5,
    lambda: np.arange(ROWS, dtype="u1"),
    lambda: np.arange(7.0),
    lambda: np.full(ROWS + 1, 2**62),
    lambda: -np.arange(ROWS + 1),
    lambda: np.r_[0, np.random.default_rng(1).integers(0, 2000, ROWS)],
    lambda: np.zeros((ROWS, 2), "i8"),
    lambda: np.int64(5),
    lambda: h5py.Empty("i8"),
    lambda: np.zeros(ROWS, [("a", "i4"), ("b", "S2", (2,)), ("c", [("d", "?")])]),
    lambda: np.array([b"a\xff", b"b", b"b"] * (ROWS // 3)),
    lambda: np.zeros(0, "i1"),
    lambda: np.ones(ROWS, "?"),
    lambda: np.ones(ROWS, "c16"),
    lambda: np.ones(ROWS, ">f2"),
    lambda: np.array([b"x"] * ROWS, "V3"),
]


def check_lies(whole, tmp_path, seeds):
    """Look at files that lie; return in how many a table was found."""
    trap, path, opened = tmp_path / "trapped", tmp_path / "x.h5", 0
    for seed in seeds:
        shutil.copy(whole, path)
        with h5py.File(path, "r+") as file:
            done = lie(file, random.Random(seed), pickle.dumps(Trap(trap), 0))
        try:
            failed = look_and_change(path, "/t")
        except Exception as error:
            raise AssertionError(f"seed {seed}: {done}") from error
        opened += all(what != "open" for what, _ in failed)
    assert not trap.exists()
    return opened


def test_attributes_and_links_that_lie(whole, tmp_path):
    assert check_lies(whole, tmp_path, range(20)) > 5


@pytest.mark.long
def test_very_many_attributes_and_links_that_lie(whole, tmp_path):
    assert check_lies(whole, tmp_path, range(1000, 3000)) > 500


def test_mutated_bytes_of_a_file(whole):
    assert looked_at(whole, "mutate", 0, 15) > 0


@pytest.mark.long
def test_very_many_mutated_bytes_of_a_file(whole):
    assert 0 < looked_at(whole, "mutate", 1000, 2500) < 2500


def json_lie(found, pick):
    """Change something in JSON."""
    places = []

    def walk(node):
        keys = list(node) if isinstance(node, dict) else range(len(node)) if isinstance(node, list) else []
        for key in keys:
            places.append((node, key))
            walk(node[key])

    walk(found)
    hostile = [
        None,
        True,
        -1,
        0,
        1,
        2,
        3,
        2**70,
        1.5,
        "",
        "x",
        "../x",
        "texts",
        "array",
        "group",
        "categorical",
    ]
    hostile += [[], {}, [None], [[1]], {"kind": "array"}, "\ud800", "datetime64[s]", "a\0b", "/etc/passwd"]
    for _ in range(pick.randint(1, 2)):
        node, key = pick.choice(places)
        if key not in (node if isinstance(node, dict) else range(len(node))):
            continue
        kind = pick.randrange(4)
        if kind == 0:
            del node[key]
        elif kind == 1 and isinstance(node, dict):
            node[pick.choice(["x", "n/mask", "", "k/codes", "number", "attrs", "a\0"])] = node.pop(key)
        elif kind == 2:
            node[key] = pick.choice(places)[0] if pick.random() < 0.2 else pick.choice(hostile)
        else:
            node[key] = pick.choice(hostile)


def check_json(tmp_path, seeds):
    """Look at directories whose JSON lies, or is none; return in how many a table was found."""
    path, opened = tmp_path / "frames", 0
    make(path, "columns")
    saved = tmp_path / "saved"
    shutil.copytree(path, saved)
    content = (path / "table.json").read_text()
    for seed in seeds:
        pick = random.Random(seed)
        found = json.loads(content)
        del found["checksum"], found["bytes"]
        if pick.random() < 0.7:
            json_lie(found, pick)
        try:
            text = json.dumps(found)
        except ValueError:
            continue
        if pick.random() < 0.2:
            at = pick.randrange(len(text))
            text = (
                text[:at]
                + pick.choice(['"', "{", "}", "9", "NaN", "1e999", DEEP, ""])
                + text[at + pick.randint(0, 5) :]
            )
        shutil.rmtree(path)
        shutil.copytree(saved, path)
        encoded = text.encode("utf-8", "surrogatepass")
        if text.startswith("{"):
            # Lies with a checksum that is right.
            write_manifest(path / "table.json", encoded)
        else:
            (path / "table.json").write_bytes(encoded)
        try:
            failed = look_and_change(path)
        except Exception as error:
            raise AssertionError(f"seed {seed}") from error
        opened += all(what != "open" for what, _ in failed)
    return opened


def test_json_that_lies(tmp_path):
    assert check_json(tmp_path, range(30)) > 5


@pytest.mark.long
def test_very_much_json_that_lies(tmp_path):
    assert check_json(tmp_path, range(1000, 2500)) > 200
