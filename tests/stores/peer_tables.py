"""Tables that python-blosc2 writes, with every kind of column, and the rows that are in them.

In: a path. Out: the table there, with some rows deleted; the rows that are left.
"""

from __future__ import annotations

from dataclasses import make_dataclass

import blosc2
import numpy as np

ROWS, DELETED = 50, (0, 3, 4, 20, 49)
#: How values of a column follow from the number of a row, by the name of its kind: spec and values.
PLAIN = {
    "n": (lambda: blosc2.int64(ge=-100), lambda i: i * 7 - 20),
    "small": (blosc2.uint8, lambda i: i),
    **{
        name: (getattr(blosc2, name), lambda i: 2 * i)
        for name in ("int8", "int16", "int32", "uint16", "uint32", "uint64")
    },
    "complex64": (blosc2.complex64, lambda i: complex(i, -i)),
    "x": (blosc2.float64, lambda i: i * 0.5),
    "half": (blosc2.float32, lambda i: i / 4),
    "flag": (blosc2.bool, lambda i: i % 3 == 0),
    "z": (blosc2.complex128, lambda i: complex(i, -i)),
    "fixed": (lambda: blosc2.string(max_length=9), lambda i: f"é{i}"),
    "raw": (lambda: blosc2.bytes(max_length=5), lambda i: b"b%d" % i),
    "text": (blosc2.utf8, lambda i: f"é{i}" * (i % 5)),
    "long": (blosc2.vlstring, lambda i: f"v{i}" * (i % 4)),
    "kind": (blosc2.dictionary, lambda i: ("red", "green", "blue")[i % 3]),
    "when": (lambda: blosc2.timestamp(unit="ms"), lambda i: np.datetime64(10**12 + i, "ms")),
    "zoned": (lambda: blosc2.timestamp(unit="us", timezone="UTC"), lambda i: np.datetime64(i, "us")),
    "place": (lambda: blosc2.ndarray((2, 3), blosc2.int32()), lambda i: np.full((2, 3), i, "i4")),
}
NULLS = {
    f"{name}_{storage}": (spec, storage, value)
    for storage in ("mask", "sentinel")
    for name, spec, value in (
        ("n", blosc2.int64, lambda i: i),
        ("u", blosc2.uint8, lambda i: i),
        ("x", blosc2.float64, lambda i: i * 0.5),
        ("flag", blosc2.bool, lambda i: i % 2 == 0),
        ("fixed", blosc2.string, lambda i: f"f{i}"),
        ("text", blosc2.utf8, lambda i: f"é{i}"),
        ("when", blosc2.timestamp, lambda i: np.datetime64(i, "us")),
    )
}


def wanted(deleted=DELETED):
    """Return the values of each column, None where there is none."""
    left = [i for i in range(ROWS) if i not in deleted]
    found = {name: [value(i) for i in left] for name, (_, value) in PLAIN.items()}
    for name, (_, _, value) in NULLS.items():
        found[name] = [None if i % 4 == 1 else value(i) for i in left]
    found["long_null"] = [None if i % 4 == 1 else f"v{i}" for i in left]
    found["kind_null"] = [None if i % 4 == 1 else f"k{i % 3}" for i in left]
    return found


def write(path, *, deleted=DELETED, names=None):
    """Write a table to a directory or an archive. names: of its columns; all without."""
    specs = {name: spec() for name, (spec, _) in PLAIN.items()}
    specs |= {name: spec(nullable=True, null_storage=storage) for name, (spec, storage, _) in NULLS.items()}
    specs |= {"long_null": blosc2.vlstring(nullable=True), "kind_null": blosc2.dictionary(nullable=True)}
    specs = {name: spec for name, spec in specs.items() if names is None or name in names}
    values = wanted(())
    types = {name: type(values[name][0]) for name in specs}
    plain = (bool, int, float, complex, str, bytes)
    fields = [(n, t if t in plain else object, blosc2.field(specs[n])) for n, t in types.items()]
    table = blosc2.CTable(make_dataclass("Row", fields), urlpath=str(path), mode="w")
    # Where a number stands for None, it is what is given.
    nulls = {one["name"]: one.get("null_value") for one in table.schema_dict()["columns"]}
    table.extend(
        [
            tuple(nulls[name] if values[name][i] is None else values[name][i] for name in specs)
            for i in range(ROWS)
        ]
    )
    if deleted:
        table.delete(list(deleted))
    table.vlmeta["title"] = "rows of all kinds"
    table.close()
