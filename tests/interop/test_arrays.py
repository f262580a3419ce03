"""Arrays of python-blosc2 read by coquina, and the other way round; and both changing the same file."""

from __future__ import annotations

import itertools
import math
from pathlib import Path
from random import Random

import blosc2
import numpy as np
import pytest

import coquina as cq
from tests.array_cases import DTYPES, NESTED, assert_same_array, random_items, same_items
from tests.interop.array_cells import PIPELINES, Cell, cells
from tests.interop.test_blosc2_chunks import CODECS

CELLS = 90

matrix = pytest.mark.parametrize(
    ("codec", "pipeline"),
    list(itertools.product(CODECS, PIPELINES)),
    ids=lambda value: value if isinstance(value, str) else "+".join(value) or "none",
)


def peer_of(array: cq.Array) -> blosc2.NDArray:
    """The array, as python-blosc2 opens it."""
    if array.path is None:
        return blosc2.ndarray_from_cframe(array.to_bytes())
    return blosc2.open(array.path)


def ours_of(peer: blosc2.NDArray) -> cq.Array:
    """The peer's array, as we open it."""
    return cq.from_bytes(peer.to_cframe()) if peer.urlpath is None else cq.open(peer.urlpath)


def assert_equal(ours: cq.Array, peer: blosc2.NDArray, items: np.ndarray | None = None) -> None:
    """Check that both see one array, and these items where they are known."""
    assert (ours.shape, ours.dtype) == (peer.shape, peer.dtype)
    assert (ours.chunks, ours.blocks) == (peer.chunks, peer.blocks)
    theirs = peer[...]
    assert same_items(ours[...], np.asarray(theirs))
    if items is not None:
        assert_same_array(ours[...], items)


def some_box(cell: Cell) -> tuple[slice, ...]:
    rng = Random(cell.number)
    starts = [rng.randrange(n) for n in cell.shape]
    return tuple(slice(at, rng.randint(at, n)) for at, n in zip(starts, cell.shape, strict=True))


@matrix
def test_python_blosc2_reads_what_coquina_writes(codec, pipeline, tmp_path):
    for cell in cells(codec, pipeline, CELLS):
        x = cell.items()
        ours = cell.ours(x, tmp_path / str(cell.number))
        peer = peer_of(ours)
        assert_equal(ours, peer, None if cell.is_lossy else x)
        if "delta" not in pipeline:  # The peer's partial reads with delta are wrong.
            box = some_box(cell)
            assert same_items(ours[box], np.asarray(peer[box])), cell


@matrix
def test_coquina_reads_what_python_blosc2_writes(codec, pipeline, tmp_path):
    for cell in cells(codec, pipeline, CELLS):
        x = cell.items()
        peer = cell.theirs(x, tmp_path / str(cell.number))
        ours = ours_of(peer)
        assert_equal(ours, peer)
        # The peer makes fields of bytes and of the gaps in records.
        assert cell.is_lossy or same_items(ours[...].view(x.dtype), x)
        box = some_box(cell)
        assert same_items(ours[box], ours[...][box]), cell
        assert ours.info.checksums == "absent"
        assert ours.verify() == []


def test_the_matrix_does_not_shrink():
    drawn = [cell for codec, pipeline in itertools.product(CODECS, PIPELINES)
             for cell in cells(codec, pipeline, CELLS)]  # fmt: skip
    assert len(drawn) == 3150
    assert {cell.dtype for cell in drawn} == set(DTYPES)
    assert {len(cell.shape) for cell in drawn} == {1, 2, 3, 4}
    # In most of them there is more than one chunk, and more than one block to a chunk.
    assert sum(cell.shape != cell.chunks for cell in drawn) == 1913
    assert sum(cell.chunks != cell.blocks for cell in drawn) == 1639


def placed(place: str, tmp_path: Path) -> dict[str, object]:
    return {} if place == "bytes" else {"path": tmp_path / "a", "contiguous": place == "file"}


def theirs_placed(place: str, tmp_path: Path) -> dict[str, object]:
    if place == "bytes":
        return {"contiguous": True}
    return {"urlpath": str(tmp_path / "b"), "contiguous": place == "file"}


places = pytest.mark.parametrize("place", ["bytes", "file", "directory"])


@places
@pytest.mark.parametrize("dtype", ["i1", "<f4", "<f8", "<c16", ">f4", "S7", "M8[s]"])
def test_arrays_of_one_value_are_exchanged(place, dtype, tmp_path):
    dtype = np.dtype(dtype)
    options = {"chunks": (4, 5), "blocks": (2, 5)}
    expected = {"zeros": np.zeros((9, 13), dtype), "empty": np.zeros((9, 13), dtype)}
    full = random_items(Random(5), (), dtype)[()] if dtype.kind != "S" else np.bytes_(b"value")
    expected["full"] = np.full((9, 13), full, dtype)
    if dtype.str in ("<f4", "<f8"):
        expected["nans"] = np.full((9, 13), np.nan, dtype)
    seen = 0
    for name, items in expected.items():
        where, there = placed(place, tmp_path / name), theirs_placed(place, tmp_path / name)
        (tmp_path / name).mkdir()
        value = (full,) if name == "full" else ()
        ours = getattr(cq, name)((9, 13), *value, dtype=dtype, **options, **where)
        their_name = {"empty": "uninit"}.get(name, name)
        peer = getattr(blosc2, their_name)((9, 13), *value, dtype=dtype, **options, **there)
        for array, other in ((ours, peer_of(ours)), (ours_of(peer), peer)):
            if name == "empty":
                # What was never set reads as zeros here; the peer may give anything.
                assert_same_array(array[...], items)
                assert other.shape == array.shape
            else:
                assert_equal(array, other)
                assert np.array_equal(array[...], items, equal_nan=name == "nans")
            assert array.info.special_chunks == 9 or name == "full"
        seen += 1
    assert seen == len(expected) >= 3


@places
def test_chunks_of_one_value_among_others_are_exchanged(place, tmp_path):
    x = np.arange(1, 65, dtype="f8").reshape(8, 8)
    x[:4, :4], x[4:, :4] = 0, 2.5
    options = {"chunks": (4, 4), "blocks": (2, 4)}
    ours = cq.asarray(x, **options, **placed(place, tmp_path))
    assert_equal(ours, peer_of(ours), x)
    peer = blosc2.asarray(x, **options, **theirs_placed(place, tmp_path))
    assert_equal(ours_of(peer), peer, x)
    assert ours.info.special_chunks == ours_of(peer).info.special_chunks == 1


#: Shapes and dtypes at the edges of the format.
EDGES = [
    ((), "f8"),
    ((), "S5"),
    ((), NESTED),
    ((0,), "i4"),
    ((3, 0, 2), ">i2"),
    ((0, 5), NESTED),
    ((1,), "?"),
    ((2, 1) * 8, "i2"),
    ((1,) * 16, "f4"),
    ((5, 3), "S256"),
    ((5, 3), "U90"),
    ((4, 2), "V1000"),
    ((7,), [("a", "S200"), ("b", "<f8", (9, 2)), ("c", [("d", ">U3"), ("e", "<M8[us]")])]),
    ((7, 2), {"names": ["a", "b"], "formats": ["u1", "<f8"], "offsets": [3, 8], "itemsize": 24}),
    ((6,), [("\u00e9t\u00e9", "<i4"), ("with space", "<f4")]),
]


@places
@pytest.mark.parametrize(("shape", "dtype"), EDGES, ids=str)
def test_edge_cases_are_exchanged(place, shape, dtype, tmp_path):
    x = random_items(Random(2), shape, np.dtype(dtype))
    ours = cq.asarray(x, **placed(place, tmp_path))
    peer = peer_of(ours)
    assert_equal(ours, peer, x)
    assert peer.ndim == x.ndim
    theirs = blosc2.asarray(x, **theirs_placed(place, tmp_path))
    assert_equal(ours_of(theirs), theirs)
    assert same_items(ours_of(theirs)[...].view(x.dtype), x)
    cut = {"chunks": tuple(max(1, n // 2) for n in shape), "blocks": tuple(max(1, n // 3) for n in shape)}
    if shape and 0 not in shape:
        again = cq.asarray(x, **cut)
        assert_equal(again, peer_of(again), x)


def test_chunks_longer_than_the_array_are_read_by_the_peer():
    for shape, chunks, blocks in [((5, 3), (7, 9), (2, 4)), ((5,), (1000,), (3,)), ((1, 1), (3, 3), (3, 3))]:
        x = random_items(Random(0), shape, np.dtype("i4"))
        ours = cq.asarray(x, chunks=chunks, blocks=blocks)
        assert_equal(ours, peer_of(ours), x)


# Metadata.

VALUES: dict[str, object] = {
    "none": None,
    "truth": True,
    "small": -3,
    "large": 2**63,
    "real": 1.5e-300,
    "infinite": float("-inf"),
    "complex": 1 - 2j,
    "text": "Grüße \U0001f40c",
    "long": "x" * 100_000,
    "bytes": b"\x00\xff" * 50,
    "list": [1, [2.5, None], "three"],
    "tuple": (1, (2, ()), [3]),
    "dict": {"a": {"b": [1, 2]}, "c": (4,)},
    "set": {1, 2, 3},
    "empty": {},
}
ARRAYS: dict[str, np.ndarray] = {
    "f8": np.linspace(0, 1, 7),
    "i2": np.arange(12, dtype=">i2").reshape(3, 4),
    "S": np.array([b"ab", b"c"]),
    "U": np.array(["ab", "ü"]),
    "0-d": np.array(5),
    "empty": np.zeros((0, 3)),
    "record": np.array([(1, 2.5)], dtype=[("a", "<i4"), ("b", "<f8")]),
    "times": np.array(["2020-01-01", "NaT"], "M8[s]"),
}


@pytest.mark.parametrize("names", [list(VALUES)[:8], list(VALUES)[8:]], ids=["eight", "others"])
@places
def test_metadata_are_exchanged(place, names, tmp_path):
    x = np.arange(10)
    ours = cq.asarray(x, **({"path": tmp_path / "a"} | placed(place, tmp_path)))
    theirs = blosc2.asarray(x, **theirs_placed(place, tmp_path))
    for name in names:
        ours.attrs[name] = VALUES[name]
        theirs.schunk.vlmeta[name] = VALUES[name]
    peer, read = peer_of(ours), ours_of(theirs)
    for name in names:
        assert peer.schunk.vlmeta[name] == VALUES[name]
        assert type(peer.schunk.vlmeta[name]) is type(VALUES[name])
        assert read.attrs[name] == VALUES[name]
        assert type(read.attrs[name]) is type(VALUES[name])
    assert dict(read.attrs) == {name: VALUES[name] for name in names} == dict(ours.attrs)
    found = peer.schunk.vlmeta.getall()
    found.pop("coquina", None)
    assert found == dict(read.attrs)


def test_maps_with_keys_that_the_peer_writes_and_does_not_read_are_read():
    theirs = blosc2.asarray(np.arange(10), contiguous=True)
    theirs.schunk.vlmeta["numbered"] = {1: "one", 2: ["two"]}
    assert ours_of(theirs).attrs["numbered"] == {1: "one", 2: ["two"]}


def test_arrays_among_the_metadata_are_exchanged(tmp_path):
    ours = cq.asarray(np.arange(10), path=tmp_path / "a")
    theirs = blosc2.asarray(np.arange(10), urlpath=str(tmp_path / "b"))
    for name, value in ARRAYS.items():
        ours.attrs[name] = [value, {"inside": value}]
        theirs.schunk.vlmeta[name] = [value, {"inside": value}]
    peer, read = peer_of(ours), ours_of(theirs)
    for name, value in ARRAYS.items():
        for found in (peer.schunk.vlmeta[name], read.attrs[name]):
            assert_same_array(found[0], value)
            assert_same_array(found[1]["inside"], value)


@places
def test_fixed_metadata_are_exchanged(place, tmp_path):
    layers = {"unit": "m", "origin": [1.5, -2], "nothing": None, "nested": {"a": [1, {"b": 2}]}}
    theirs = blosc2.asarray(np.arange(10), meta=layers, **theirs_placed(place, tmp_path))
    ours = ours_of(theirs)
    assert {name: ours.meta[name] for name in layers} == layers
    assert set(ours.meta) == {*layers, "b2nd"}
    with pytest.raises(KeyError):
        ours.meta["missing"]
    # What is copied keeps chunks and metadata as they are.
    ours.save(tmp_path / "saved")
    saved = blosc2.open(str(tmp_path / "saved"))
    assert {name: saved.schunk.meta[name] for name in layers} == layers
    assert_equal(cq.open(tmp_path / "saved"), saved, np.arange(10))


# Both change one file.


class Shared:
    """A file that both libraries change in turns, and what should be in it."""

    def __init__(self, path: Path, rng: Random, *, contiguous: bool) -> None:
        self.path, self.rng = path, rng
        self.dtype = np.dtype(rng.choice(("i4", "f8", ">i2", "S3", NESTED)))
        shape = tuple(rng.randint(1, 9) for _ in range(rng.randint(1, 3)))
        chunks = tuple(rng.randint(1, n) for n in shape)
        blocks = tuple(rng.randint(1, n) for n in chunks)
        self.x = random_items(rng, shape, self.dtype)
        self.attrs: dict[str, object] = {}
        self.has_shrunk = False
        options = {"chunks": chunks, "blocks": blocks, "contiguous": contiguous}
        if rng.random() < 0.5:
            cq.asarray(self.x, **options, path=path).close()
        else:
            blosc2.asarray(self.x, **options, urlpath=str(path))

    def box(self) -> tuple[slice, ...]:
        starts = [self.rng.randint(0, n) for n in self.x.shape]
        return tuple(slice(at, self.rng.randint(at, n)) for at, n in zip(starts, self.x.shape, strict=True))

    def resized(self, shape: tuple[int, ...]) -> None:
        both = tuple(slice(0, min(n, m)) for n, m in zip(shape, self.x.shape, strict=True))
        new = np.zeros(shape, self.dtype)
        new[both] = self.x[both]
        self.x = new

    def new_shape(self, least: int) -> tuple[int, ...]:
        return tuple(max(1, n + self.rng.randint(least, 4)) for n in self.x.shape)

    def change_ours(self, array: cq.Array) -> None:
        """One change by us."""
        match self.rng.choice(("set", "set", "resize", "append", "attrs", "delete", "compact")):
            case "set":
                box = self.box()
                array[box] = self.x[box] = random_items(self.rng, self.x[box].shape, self.dtype)
            case "resize":
                shape = self.new_shape(-3)
                self.has_shrunk |= any(n < m for n, m in zip(shape, self.x.shape, strict=True))
                array.resize(shape)
                self.resized(shape)
            case "append":
                axis = self.rng.randrange(self.x.ndim)
                shape = (*self.x.shape[:axis], 3, *self.x.shape[axis + 1 :])
                more = random_items(self.rng, shape, self.dtype)
                array.append(more, axis)
                self.x = np.concatenate([self.x, more], axis).astype(self.dtype)
            case "attrs":
                self.attrs["ours"] = array.attrs["ours"] = self.rng.randrange(10**6)
            case "delete":
                if array.attrs:
                    name = self.rng.choice(sorted(array.attrs))
                    del array.attrs[name], self.attrs[name]
            case "compact":
                array.compact()

    def change_theirs(self, peer: blosc2.NDArray) -> None:
        """One change by the peer."""
        match self.rng.choice(("set", "set", "grow", "shrink", "attrs", "delete")):
            case "set":
                box = self.box()
                if self.x[box].size:
                    values = random_items(self.rng, self.x[box].shape, self.dtype)
                    peer[box] = self.x[box] = values
            case "grow":
                # After an array has shrunk, the peer shows what was there when it grows again.
                if not self.has_shrunk:
                    shape = self.new_shape(0)
                    peer.resize(shape)
                    self.resized(shape)
            case "shrink":
                shape = tuple(max(1, n - self.rng.choice((0, 0, 1, 3))) for n in self.x.shape)
                self.has_shrunk |= shape != self.x.shape
                peer.resize(shape)
                self.resized(shape)
            case "attrs":
                self.attrs["theirs"] = peer.schunk.vlmeta["theirs"] = self.rng.randrange(10**6)
            case "delete":
                if self.attrs:
                    name = self.rng.choice(sorted(self.attrs))
                    del peer.schunk.vlmeta[name], self.attrs[name]

    def check(self) -> None:
        """Both read what should be there."""
        ours, peer = cq.open(self.path), blosc2.open(str(self.path))
        assert_equal(ours, peer, self.x)
        assert dict(ours.attrs) == self.attrs
        found = peer.schunk.vlmeta.getall()
        found.pop("coquina", None)
        assert found == self.attrs
        assert ours.verify() == []


@pytest.mark.parametrize("contiguous", [True, False], ids=["file", "directory"])
def test_both_change_the_same_array(contiguous, tmp_path):
    changes = 0
    for seed in range(60):
        rng = Random(seed)
        shared = Shared(tmp_path / str(seed), rng, contiguous=contiguous)
        for _ in range(4):
            with cq.open(shared.path, "a") as array:
                for _ in range(rng.randint(0, 3)):
                    shared.change_ours(array)
                    assert_same_array(array[...], shared.x)
                    changes += 1
            shared.check()
            peer = blosc2.open(str(shared.path), mode="a")
            for _ in range(rng.randint(0, 3)):
                shared.change_theirs(peer)
                changes += 1
            del peer
            shared.check()
    assert changes > 600


@pytest.mark.parametrize("contiguous", [True, False], ids=["file", "directory"])
def test_checksums_become_stale_when_the_peer_writes(contiguous, tmp_path):
    x = random_items(Random(3), (20, 30), np.dtype("f8"))
    cq.asarray(x, chunks=(7, 8), blocks=(3, 4), path=tmp_path / "a", contiguous=contiguous).close()
    assert cq.open(tmp_path / "a").info.checksums == "fresh"
    peer = blosc2.open(str(tmp_path / "a"), mode="a")
    peer[3, 4:9] = x[3, 4:9] = 7
    del peer
    ours = cq.open(tmp_path / "a", "a")
    assert ours.info.checksums == "stale"
    assert_same_array(ours[...], x)
    ours[5, 5] = x[5, 5] = 9
    assert ours.info.checksums == "fresh"
    ours.compact()
    ours.close()
    assert_equal(cq.open(tmp_path / "a"), blosc2.open(str(tmp_path / "a")), x)


@pytest.mark.parametrize("contiguous", [True, False], ids=["file", "directory"])
@pytest.mark.parametrize("shape", [(6, 12), (4, 12), (5, 11), (5, 13)], ids=str)
def test_a_shape_that_the_peer_changes_in_place_is_seen(contiguous, shape, tmp_path):
    # As long as no chunk comes or goes, C-Blosc2 writes the header anew and nothing else.
    x = np.arange(60, dtype="i4").reshape(5, 12)
    cq.asarray(x, chunks=(7, 7), blocks=(3, 2), path=tmp_path / "a", contiguous=contiguous).close()
    peer = blosc2.open(str(tmp_path / "a"), mode="a")
    peer.resize(shape)
    del peer
    resized = np.zeros(shape, "i4")
    resized[:5, :12] = x[: shape[0], : shape[1]]
    for mode in ("r", "a"):
        with cq.open(tmp_path / "a", mode) as ours:
            assert ours.shape == shape
            assert ours.info.checksums == "stale"
            assert_same_array(ours[...], resized)
    with cq.open(tmp_path / "a", "a") as ours:
        ours[0, 0] = resized[0, 0] = 5
    assert_equal(cq.open(tmp_path / "a"), blosc2.open(str(tmp_path / "a")), resized)


def test_an_array_inside_another_file_is_read_by_both(tmp_path):
    x = random_items(Random(4), (13, 7), np.dtype("i4"))
    for number, content in enumerate(
        (
            cq.asarray(x, chunks=(5, 3)).to_bytes(),
            blosc2.asarray(x, chunks=(5, 3), contiguous=True).to_cframe(),
        )
    ):
        for before, behind in itertools.product((0, 1, 1000), (0, 13)):
            path = tmp_path / f"{number}-{before}-{behind}"
            path.write_bytes(b"b" * before + content + b"e" * behind)
            assert_same_array(cq.open(path, offset=before)[...], x)
            assert math.prod(x.shape) == blosc2.open(str(path), offset=before)[...].size
            assert np.array_equal(blosc2.open(str(path), offset=before)[...], x)


@pytest.mark.parametrize("contiguous", [True, False], ids=["file", "directory"])
def test_arrays_without_items_grow_in_both(contiguous, tmp_path):
    more = np.arange(1, 21, dtype="i4").reshape(4, 5)
    options = {"chunks": (3, 5), "blocks": (2, 2), "contiguous": contiguous}
    for number, made in enumerate((blosc2.zeros, blosc2.empty, cq.zeros, cq.empty)):
        is_ours = made in (cq.zeros, cq.empty)
        for number_of_next, grows_ours in enumerate((True, False)):
            path = tmp_path / f"{number} {number_of_next}"
            where = {"path": path} if is_ours else {"urlpath": str(path)}
            array = made((0, 5), dtype="i4", **options, **where)
            if is_ours:
                array.close()
            del array
            if grows_ours:
                with cq.open(path, "a") as ours:
                    ours.append(more)
            else:
                peer = blosc2.open(str(path), mode="a")
                peer.resize((4, 5))
                peer[...] = more
                del peer
            assert_equal(cq.open(path), blosc2.open(str(path)), more)
