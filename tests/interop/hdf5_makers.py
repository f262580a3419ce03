"""Makes an HDF5 file with a package that has a libhdf5 of its own, so in a process of its own.

Run as a program: maker, path of the file, path for the items. What the package itself reads afterwards is put
there as an `.npz`, a member for each dataset, by its name with `|` in place of `/`.
"""

from __future__ import annotations

import sys

import numpy as np

RNG = np.random.default_rng(7)
SMOOTH = (np.arange(31 * 47 * 5).reshape(31, 47, 5) % 1000).astype("f8") / 8


def netcdf(path: str) -> dict[str, np.ndarray]:
    """Make variables with all compressors of netCDF-4, checked and not, in chunks and growing."""
    import netCDF4

    pipelines = {
        "plain": {},
        "zlib": {"zlib": True, "shuffle": False},
        "zlib_shuffle": {"zlib": True, "complevel": 9},
        "checked": {"fletcher32": True},
        "zlib_checked": {"zlib": True, "fletcher32": True},
        "zstd": {"compression": "zstd"},
        "zstd_checked": {"compression": "zstd", "fletcher32": True},
        "bzip2": {"compression": "bzip2"},
        "szip": {"compression": "szip", "szip_coding": "nn", "szip_pixels_per_block": 8},
        "blosc_lz": {"compression": "blosc_lz"},
        "blosc_lz4": {"compression": "blosc_lz4", "blosc_shuffle": 2},
        "blosc_lz4hc": {"compression": "blosc_lz4hc"},
        "blosc_zlib": {"compression": "blosc_zlib", "blosc_shuffle": 0},
        "blosc_zstd": {"compression": "blosc_zstd", "fletcher32": True},
        "quantized": {"zlib": True, "least_significant_digit": 2},
        "rounded": {"zlib": True, "significant_digits": 4, "quantize_mode": "GranularBitRound"},
    }
    with netCDF4.Dataset(path, "w") as f:
        for axis, length in {"time": None, "y": 47, "x": 5}.items():
            f.createDimension(axis, length)
        for name, options in pipelines.items():
            for dtype in ("f8", "f4", "i2", "u1"):
                if name in ("quantized", "rounded") and dtype[0] != "f":
                    continue
                if name.startswith("blosc") and dtype in ("i2", "u1"):
                    continue  # A chunk that Blosc cannot make smaller is an error there.
                for chunks in (None, (4, 20, 5)):
                    if name.startswith("blosc") and chunks is None:
                        continue
                    kind = "default" if chunks is None else "chunked"
                    try:
                        v = f.createVariable(
                            f"{name}_{dtype}_{kind}", dtype, ("time", "y", "x"), chunksizes=chunks, **options
                        )
                    except RuntimeError:
                        continue  # Not every build brings every filter along.
                    v[...] = SMOOTH.astype(dtype)
        group = f.createGroup("forecast")
        group.createDimension("n", 100)
        group.createVariable("big_endian", "i4", ("n",), zlib=True, chunksizes=(30,), endian="big")[...] = (
            np.arange(100)
        )
        late = group.createVariable("late", "i4", ("n",), zlib=True, chunksizes=(30,), fill_value=-9)
        late[70:] = 5
    with netCDF4.Dataset(path) as f:
        f.set_auto_maskandscale(False)
        made = {f"|{name}": v[...] for name, v in f.variables.items()}
        return made | {f"|forecast|{name}": v[...] for name, v in f["forecast"].variables.items()}


def pytables(path: str) -> dict[str, np.ndarray]:
    """Make arrays, and tables of rows of all widths, with all compressors of PyTables."""
    import tables

    tables.set_blosc_max_threads(1)
    libraries = {
        "zlib": ["zlib"],
        "bzip2": ["bzip2"],
        "blosc": tables.blosc_compressor_list(),
        "blosc2": tables.blosc2_compressor_list(),
    }
    names = ["none"]
    for library, codecs in libraries.items():
        names += codecs if library in codecs else [f"{library}:{codec}" for codec in codecs]
    row = np.dtype([("id", "<i4"), ("name", "S7"), ("xy", "<f8", (2,)), ("ok", "?")])
    wide = np.dtype([("id", "<i8"), ("text", "S300"), ("inner", [("a", ">f4"), ("b", "i1")])])
    items = {
        "flat": np.arange(5000, dtype="i4"),
        "box": SMOOTH,
        "noise": RNG.integers(0, 2**62, (50, 60)),
        "words": np.array([b"a", b"bc", b"def"] * 200),
    }
    rows = {"rows": np.zeros(3000, row), "wide": np.zeros(700, wide)}
    rows["rows"]["id"], rows["rows"]["xy"] = np.arange(3000), RNG.random((3000, 2))
    rows["rows"]["name"] = [b"n%d" % (n % 90) for n in range(3000)]
    rows["wide"]["id"], rows["wide"]["text"] = np.arange(700), [b"text" * (n % 60) for n in range(700)]
    with tables.open_file(path, "w") as f:
        for number, name in enumerate(names):
            group = f.create_group("/", f"g{number}", name)
            for checked in (False, True):
                filters = tables.Filters(
                    complevel=0 if name == "none" else 5,
                    complib="zlib" if name == "none" else name,
                    shuffle=number % 3 != 1,
                    bitshuffle=number % 3 == 1 and "blosc" in name,
                    fletcher32=checked,
                )
                end = "_checked" if checked else ""
                for kind, values in items.items():
                    rest, atom = values.shape[1:], tables.Atom.from_dtype(values.dtype)
                    chunks = (len(values) * 2 // 5, *rest)
                    f.create_carray(group, kind + end, obj=values, filters=filters, chunkshape=chunks)
                    e = f.create_earray(
                        group, f"{kind}_e{end}", atom, (0, *rest), filters=filters, chunkshape=chunks
                    )
                    e.append(values)
                    e.append(values)
                for kind, values in rows.items():
                    f.create_table(group, kind + end, values.dtype, filters=filters, chunkshape=256).append(
                        values
                    )
        # The chunks that it takes by default are much larger than what is in them.
        for name in ("blosc2:zstd", "zlib"):
            filters = tables.Filters(complevel=1, complib=name)
            f.create_table("/", "default_" + name[:5], row, filters=filters).append(rows["rows"])
            f.create_carray("/", "array_" + name[:5], obj=SMOOTH, filters=filters)
        f.create_array("/", "plain", obj=SMOOTH)
        f.create_array("/", "scalar", obj=np.float64(3))
    made = {}
    with tables.open_file(path) as f:
        for node in f.walk_nodes("/", "Leaf"):
            made[node._v_pathname.replace("/", "|")] = np.asarray(node.read())
    return made


def pandas(path: str) -> dict[str, np.ndarray]:
    """Make stores of pandas; the items are those of PyTables, which pandas uses, of whatever is numeric."""
    import pandas as pd
    import tables

    frame = pd.DataFrame(
        {
            "i": np.arange(500),
            "f": np.arange(500) / 8,
            "g": np.float32(3),
            "when": pd.date_range("2024-01-01", periods=500, freq="h"),
            "text": ["word", "longer word"] * 250,
            "flag": np.arange(500) % 3 == 0,
        },
        index=pd.Index(np.arange(500) * 2, name="key"),
    )
    for level, library in ((0, None), (5, "zlib"), (9, "blosc:lz4")):
        with pd.HDFStore(path, "a", complevel=level, complib=library, fletcher32=level == 9) as store:
            group = f"by_{library or 'none'}".replace(":", "_")
            store.put(f"{group}/fixed", frame.drop(columns="text"), format="fixed")
            store.put(f"{group}/table", frame, format="table", data_columns=["i", "f"])
            store.append(f"{group}/table", frame, data_columns=["i", "f"])
            store.put(f"{group}/series", frame["f"], format="table")
    with tables.open_file(path) as f:
        leaves = [node for node in f.walk_nodes("/", "Leaf") if not isinstance(node, tables.VLArray)]
        return {node._v_pathname.replace("/", "|"): np.asarray(node.read()) for node in leaves}


if __name__ == "__main__":
    maker, path, items = sys.argv[1:]
    np.savez(items, **{"netcdf": netcdf, "pytables": pytables, "pandas": pandas}[maker](path))
