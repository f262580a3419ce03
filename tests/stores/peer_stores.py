"""Stores that python-blosc2 writes: what is in them, and the calls that make them.

In: a path. Out: files, and a mapping from keys to the arrays that they hold.
"""

from __future__ import annotations

import blosc2
import numpy as np

RECORD = np.dtype([("n", "<i4"), ("x", "<f8")])


def arrays():
    """Return an array for each key, of many dtypes and shapes."""
    n = np.arange(1000, dtype="<i4").reshape(10, 100)
    records = np.zeros(7, RECORD)
    records["n"] = np.arange(7)
    return {
        "a": n,
        "g/b": n * 2.5,
        "g/deeper/c": np.arange(7) % 2 == 0,
        "g/deeper/text": np.array(["", "é", "long enough"]),
        "records": records,
        "scalar": np.array(3.5),
        "empty": np.zeros((0, 3), "f4"),
        "a name": np.arange(3) * 1j,
        "é.ü": np.arange(5, dtype="u1"),
        "noise": np.random.default_rng(7).integers(0, 256, 100_000, "u1"),
        "zeros": np.zeros((300, 300)),
    }


def fill(store):
    """Put the arrays into an open store of python-blosc2."""
    for key, array in arrays().items():
        store[f"/{key}"] = array


def tree(path):
    """Write a TreeStore with attributes of groups and of an array."""
    with blosc2.TreeStore(str(path), mode="w") as store:
        fill(store)
        store.vlmeta["title"] = "the top"
        store.vlmeta["origin"] = (1, None, {"x": [2.5]})
        store.get_subtree("/g").vlmeta["unit"] = "K"
        with_attribute = store["/a"]
        with_attribute.schunk.vlmeta["sensor"] = 7
        store["/g/chunks"] = blosc2.SChunk(chunksize=100, data=b"x" * 250)


def dictionary(threshold):
    """Return what writes a DictStore whose arrays below a number of bytes lie in its `embed.b2e`."""

    def write(path):
        with blosc2.DictStore(str(path), mode="w", threshold=threshold) as store:
            fill(store)
            store["/a/below"] = np.arange(4)  # beside the array `/a`

    return write


def embedded(path):
    """Write an EmbedStore, of which an array was removed."""
    store = blosc2.EmbedStore(str(path), mode="w")
    store["/gone"] = np.arange(50)
    fill(store)
    del store["/gone"]


#: How each kind is called, what its files end in, and what writes it.
STORES = {
    "tree directory": ("TreeStore", ".b2d", tree),
    "tree archive": ("TreeStore", ".b2z", tree),
    "directory": ("DictStore", ".b2d", dictionary(0)),
    "archive": ("DictStore", ".b2z", dictionary(0)),
    "directory, small ones embedded": ("DictStore", ".b2d", dictionary(2000)),
    "archive, small ones embedded": ("DictStore", ".b2z", dictionary(2000)),
    "directory, all embedded": ("DictStore", ".b2d", dictionary(None)),
    "archive, all embedded": ("DictStore", ".b2z", dictionary(None)),
    "embedded": ("EmbedStore", ".b2e", embedded),
}
