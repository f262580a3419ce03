"""A file with everything that HDF5 and h5py have, and a comparison of two files by h5py alone.

The comparison shares no code with the package: it is the judge of `repack`.
"""

from __future__ import annotations

from typing import Any

import h5py
import numpy as np

RECORD = np.dtype([("id", "<i4"), ("name", "S7"), ("xy", ">f8", (2,))])
COLOURS = h5py.enum_dtype({"red": 0, "green": 1, "blue": 7}, "u1")


def make(path: Any, **options: Any) -> None:
    """Write the file."""
    rng = np.random.default_rng(7)
    with h5py.File(path, "w", **options) as f:
        grid = np.arange(60 * 50, dtype="<f4").reshape(60, 50)
        x = f.create_dataset("grid", data=grid, chunks=(16, 20), maxshape=(None, 50), compression="gzip",
                             shuffle=True, fletcher32=True)  # fmt: skip
        x.attrs["unit"] = "K"
        x.attrs["numbers"] = np.arange(6, dtype=">i2").reshape(2, 3)
        f["again"] = x
        g = f.create_group("g", track_order=True)
        for name in ("zebra", "apple", "mole"):
            g.create_dataset(name, data=rng.integers(0, 9, 1000), chunks=(100,), compression="lzf")
        g["deep/er/plain"] = np.arange(5.0)
        g["deep/same"] = g["zebra"]
        f["soft"] = h5py.SoftLink("/g/nowhere")
        f["outside"] = h5py.ExternalLink("other.h5", "/x")
        f["loop"] = f["/"]
        noise = rng.bytes(100 * 64)
        f.create_dataset("noise", data=np.frombuffer(noise, "u1").reshape(100, 64), chunks=(10, 64),
                         compression="gzip")  # fmt: skip
        f.create_dataset("records", data=np.zeros(300, RECORD), chunks=(64,), compression="gzip")
        f["records"][5:100] = np.array([(3, b"abc", (1.5, np.nan))], RECORD)[0]
        sparse = f.create_dataset("sparse", (10**7, 10**6), "i2", chunks=(100, 1000), maxshape=(None, None),
                                  fillvalue=-3)  # fmt: skip
        sparse[10**6, 5] = 9
        sparse[10**7 - 1, 10**6 - 1] = 8
        f.create_dataset("big", data=np.arange(40_000, dtype="<i8"))
        f.create_dataset("empty", (0, 4), "f4", maxshape=(None, 4), chunks=(8, 4), compression="gzip")
        f.create_dataset("never", (100,), "f8", chunks=(10,), fillvalue=1.5)
        f["scalar"] = 3.5
        f["null"] = h5py.Empty("f4")
        f.create_dataset("text", data=["a", "ümlaut", ""] * 20, chunks=(7,), compression="gzip")
        f.create_dataset("ragged", (4,), h5py.vlen_dtype("i4"))
        f["ragged"][1] = [1, 2, 3]
        swapped = h5py.vlen_dtype(np.dtype(">i8"))
        f.create_dataset("swapped", (3,), swapped)[2] = np.array([1, 2, 3], ">i8")
        f.attrs.create("swapped", np.array([np.arange(3), np.arange(2)], object), dtype=swapped)
        f.create_dataset("colours", data=np.array([0, 1, 7] * 50, "u1"), dtype=COLOURS, chunks=(50,))
        f.create_dataset("opaque", data=np.array(["2020-01-01"], "M8[D]").astype(h5py.opaque_dtype("M8[D]")))
        f.create_dataset("quarter", data=np.arange(100, dtype="i4"), chunks=(10,), scaleoffset=0)
        f.create_dataset("arrays", (20,), np.dtype(("f4", (3,))), chunks=(5,), compression="gzip")
        f["arrays"][3] = [1, 2, 3]
        f["kind"] = np.dtype([("a", "i2"), ("b", "f8")])
        f["kind"].attrs["note"] = "a named type"
        f.create_dataset("typed", (300,), f["kind"], chunks=(50,))
        f["typed"][::3] = (1, 2.5)
        g.attrs.create("of_kind", np.array((4, 0.5), f["kind"].dtype), dtype=f["kind"])
        _refer(f)
        _skip_filters(f)
        f.attrs["root"] = ["x", "yy"]
        f.attrs["nothing"] = h5py.Empty("i4")
        f.attrs["ragged"] = np.array([np.arange(2), np.arange(3)], dtype=object).astype(h5py.vlen_dtype("i8"))


def _refer(f: Any) -> None:
    x = f["grid"]
    f["time"] = np.arange(60.0)
    f["time"].make_scale("t")
    x.dims[0].attach_scale(f["time"])
    x.dims[1].label = "y"
    f.attrs["first"] = f["g/zebra"].ref
    f.attrs["part"] = x.regionref[3:8, ::2]
    f.create_dataset(
        "refs", data=np.array([f["g"].ref, x.ref, f["/"].ref], h5py.ref_dtype), dtype=h5py.ref_dtype
    )
    f.create_dataset("holes", (3,), h5py.ref_dtype)
    f["holes"][1] = f["refs"].ref
    f.create_dataset("parts", (2,), h5py.regionref_dtype)
    f["parts"][0] = x.regionref[1:2, 3:9]
    pairs = np.dtype([("to", h5py.ref_dtype), ("n", "i4")])
    f.create_dataset("pairs", (2,), pairs)
    f["pairs"][0] = (f["typed"].ref, 5)


def _skip_filters(f: Any) -> None:
    """Write chunks of which some skip a filter, or both."""
    d = f.create_dataset("skipping", (40,), "<i4", chunks=(10,), compression="gzip", shuffle=True)
    d[...] = np.arange(40)
    d.id.write_direct_chunk((10,), np.arange(100, 110, dtype="<i4").tobytes(), 3)


def differences(one: Any, other: Any, *, only_values: bool = False) -> list[str]:
    """Return in what two files differ, as h5py sees them. only_values: chunks and filters may."""
    with h5py.File(one, "r") as a, h5py.File(other, "r") as b:
        found: list[str] = []
        _compare_attributes("/", a, b, found)
        _compare_groups("", a, b, found, set(), only_values)
        return found


def _compare_groups(path: str, a: Any, b: Any, found: list[str], seen: set[Any], only_values: bool) -> None:
    if list(a) != list(b):
        found.append(f"{path}: {list(a)} {list(b)}")
        return
    for name in a:
        where = f"{path}/{name}"
        links = a.get(name, getlink=True), b.get(name, getlink=True)
        if type(links[0]) is not type(links[1]) or vars(links[0]) != vars(links[1]):
            found.append(f"{where}: {links}")
        if not isinstance(links[0], h5py.HardLink):
            continue
        x, y = a[name], b[name]
        if type(x) is not type(y):
            found.append(f"{where}: {x} {y}")
            continue
        if x.name != y.name or x.id in seen:
            continue
        seen.add(x.id)
        _compare_attributes(where, x, y, found)
        if isinstance(x, h5py.Group):
            _compare_groups(where, x, y, found, seen, only_values)
        elif isinstance(x, h5py.Dataset):
            _compare_datasets(where, x, y, found, only_values)
        elif x.dtype != y.dtype:
            found.append(f"{where}: {x.dtype} {y.dtype}")


def _compare_attributes(where: str, a: Any, b: Any, found: list[str]) -> None:
    if list(a.attrs) != list(b.attrs):
        found.append(f"{where}: attributes {list(a.attrs)} {list(b.attrs)}")
        return
    for name in a.attrs:
        one, other = a.attrs.get_id(name), b.attrs.get_id(name)
        if not one.get_type().equal(other.get_type()) or one.shape != other.shape:
            found.append(f"{where}@{name}: {one.dtype} {other.dtype}")
        elif _plain(a.attrs[name], a) != _plain(b.attrs[name], b):
            found.append(f"{where}@{name}: {a.attrs[name]} {b.attrs[name]}")


def _compare_datasets(where: str, x: Any, y: Any, found: list[str], only_values: bool) -> None:
    facts = ["shape", "maxshape"] if only_values else [
        "shape", "maxshape", "chunks", "compression", "compression_opts", "shuffle", "fletcher32",
    ]  # fmt: skip
    changed = [fact for fact in facts if getattr(x, fact) != getattr(y, fact)]
    found += [f"{where}: {fact} {getattr(x, fact)} {getattr(y, fact)}" for fact in changed]
    if not x.id.get_type().equal(y.id.get_type()):
        found.append(f"{where}: datatype {x.dtype} {y.dtype}")
    elif x.shape is None:
        return
    elif x.size > 10**8:
        keys = [np.s_[10**6, :100], np.s_[-1, -5:], np.s_[5000:5010, 5]]
        if any(x[key].tobytes() != y[key].tobytes() for key in keys):
            found.append(f"{where}: items")
    elif _plain(x[()], x) != _plain(y[()], y):
        found.append(f"{where}: items")


def _plain(value: Any, at: Any) -> Any:
    """Return what can be compared: bytes for numbers, names for references."""
    if isinstance(value, h5py.RegionReference):
        if not value:
            return None
        return at.file[value].name, at.file[value][value].tobytes()
    if isinstance(value, h5py.Reference):
        return at.file[value].name if value else None
    if isinstance(value, np.ndarray | np.generic) and not value.dtype.hasobject:
        return value.dtype.str, value.shape, value.tobytes()
    if isinstance(value, np.void):
        return [_plain(one, at) for one in value.item()]
    if isinstance(value, np.ndarray):
        return value.shape, [_plain(one, at) for one in value.ravel()]
    return value.dtype if isinstance(value, h5py.Empty) else value
