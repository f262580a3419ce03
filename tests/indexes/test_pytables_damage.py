"""Damaged and hostile indexes of PyTables: they are not used, and no answer is wrong for them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
import tables
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from coquina._core import CorruptError, LimitError
from coquina.hdf5 import File
from coquina.indexes.access import disabled, forced
from coquina.tables import pytables_indexes
from coquina.tables.pytables_indexes import indexes_of
from tests.indexes.pytables_cases import KINDS, SIZES

ROWS = 1300
TEXTS = ["a == 7", "(a > -3) & (a <= 12)", "a < -15", "a != 3", "a > 1000"]


def made(path: Path, kind: str, optlevel: int = 6) -> Any:
    """A table of PyTables with an index, and its values."""
    values = np.random.default_rng(0).integers(-20, 20, ROWS).astype("i4")
    with tables.open_file(str(path), "w") as file:
        table = file.create_table("/", "t", {"a": tables.Int32Col()}, chunkshape=(90,))
        table.append(values)
        table.cols.a.create_index(kind=kind, optlevel=optlevel, _blocksizes=SIZES)
    return values


def answers(path: Path) -> tuple[bool, list[Any], list[Any]]:
    """Whether the index is used in the end, and what conditions give with and without it."""
    with File(path) as file:
        table = file.table("t")
        with disabled():
            wanted = [table.where(text).row_numbers().tolist() for text in TEXTS]
        with forced():
            found = [table.where(text).row_numbers().tolist() for text in TEXTS]
        theirs = indexes_of(table)
        return bool(theirs) and theirs["a"].is_usable, found, wanted


def _put(name: str, value: Any) -> Callable[[Any], None]:
    def put(group: Any) -> None:
        del group.attrs[name]
        group.attrs[name] = value

    return put


def _resized(name: str, rows: int) -> Callable[[Any], None]:
    return lambda group: group[name].resize(rows, axis=0)


def _made_anew(name: str, **options: Any) -> Callable[[Any], None]:
    def make(group: Any) -> None:
        attrs = dict(group[name].attrs)
        del group[name]
        made = group.create_dataset(name, **options)
        made.attrs.update(attrs)

    return make


def _without(name: str) -> Callable[[Any], None]:
    return lambda group: group.__delitem__(name)


def _replaced(name: str, link: Any) -> Callable[[Any], None]:
    def replace(group: Any) -> None:
        del group[name]
        group[name] = link

    return replace


DAMAGE: dict[str, Callable[[Any], None]] = {
    "another class": _put("CLASS", np.bytes_(b"TABLE")),
    "another version": _put("VERSION", np.bytes_(b"2.0")),
    "dirty": _put("DIRTY", np.int32(1)),
    "dirty in words": _put("DIRTY", "no"),
    "no slices": _put("slicesize", np.uint32(0)),
    "huge slices": _put("slicesize", np.uint64(2**63)),
    "negative chunks": _put("chunksize", np.int64(-64)),
    "odd chunks": _put("chunksize", np.uint32(63)),
    "chunks of the whole": _put("chunksize", np.uint32(512)),
    "odd blocks": _put("blocksize", np.uint64(513)),
    "a reduction of nothing": _put("reduction", np.int64(0)),
    "another reduction": _put("reduction", np.int64(16)),
    "a reduction in words": _put("reduction", "2"),
    "fewer rows": lambda group: group["indicesLR"].attrs.modify("nelements", np.int64(5)),
    "more rows": lambda group: group["indicesLR"].attrs.modify("nelements", np.int64(2**62)),
    "fewer values": lambda group: group["sortedLR"].attrs.modify("nelements", np.int64(1)),
    "no number of rows": lambda group: group["indicesLR"].attrs.__delitem__("nelements"),
    "fewer slices": _resized("sorted", 1),
    "more slices": _resized("indices", 1 << 40),
    "no ranges": _without("ranges"),
    "no values": _without("sorted"),
    "a group for an array": _replaced("bounds", h5py.SoftLink("/t")),
    "an outer array": _replaced("sortedLR", h5py.ExternalLink("no.h5", "x")),
    "floats for rows": _made_anew("indicesLR", shape=(512,), dtype="f8"),
    "values of another type": _made_anew("sorted", shape=(2, 512), dtype="f8"),
    "values with three axes": _made_anew("sortedLR", shape=(512, 1, 1), dtype="i4"),
    "one number for an array": _made_anew("bounds", data=np.int32(3)),
    "text for an array": _made_anew("ranges", data=["a", "b"]),
    "short values": _made_anew("sortedLR", shape=(10,), dtype="i4"),
}


@pytest.mark.parametrize("damage", DAMAGE)
@pytest.mark.parametrize("kind", ["light", "full"])
def test_what_does_not_fit_together_is_not_used(tmp_path: Path, kind: str, damage: str) -> None:
    path = tmp_path / "t.h5"
    made(path, kind)
    with h5py.File(path, "r+") as file:
        DAMAGE[damage](file["_i_t/a"])
    is_used, found, wanted = answers(path)
    assert found == wanted
    assert not is_used


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["sorted", "sortedLR", "bounds", "ranges"])
def test_values_in_no_order_are_noticed(tmp_path: Path, kind: str, name: str) -> None:
    path = tmp_path / "t.h5"
    made(path, kind, 0)
    with h5py.File(path, "r+") as file:
        array = file["_i_t/a"][name]
        items = array[:]
        array[:] = items[::-1] if items.ndim == 1 else items[:, ::-1]
    is_used, found, wanted = answers(path)
    assert found == wanted
    assert not is_used


@pytest.mark.parametrize("kind", ["ultralight", "light", "medium", "full"])
@pytest.mark.parametrize("name", ["indices", "indicesLR"])
def test_rows_that_there_are_not_are_noticed(tmp_path: Path, kind: str, name: str) -> None:
    path = tmp_path / "t.h5"
    made(path, kind)
    with h5py.File(path, "r+") as file:
        array = file["_i_t/a"][name]
        array[...] = np.iinfo(array.dtype).max
    is_used, found, wanted = answers(path)
    assert found == wanted
    assert not is_used


def test_a_row_that_comes_twice_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "t.h5"
    made(path, "full")
    with h5py.File(path, "r+") as file:
        file["_i_t/a/indices"][...] = 5
    is_used, found, wanted = answers(path)
    assert found == wanted
    assert not is_used


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["bounds", "ranges", "sortedLR"])
@pytest.mark.parametrize("shift", [-3, 3])
def test_bounds_that_are_wrong_but_in_order_lose_no_rows(
    tmp_path: Path, kind: str, name: str, shift: int
) -> None:
    # Only chunks in which a range ended were compared with what was promised of them: the next one was not.
    path = tmp_path / "t.h5"
    made(path, kind, 0)
    with h5py.File(path, "r+") as file:
        array = file["_i_t/a"][name]
        items = array[:]
        start = file["_i_t/a/sortedLR"].attrs["nelements"] if name == "sortedLR" else 0
        items[start:] += shift
        array[:] = items
    with File(path) as file:
        values = file.table("t")["a"][:]
    for value in range(-21, 22):
        with File(path) as file, forced():
            found = file.table("t").where("a == x", {"x": value}).row_numbers()
        np.testing.assert_array_equal(found, np.flatnonzero(values == value))


class Failing:
    """The search of an index that is opened as it is, and fails when it is asked."""

    def __init__(self, search: Any, error: Exception) -> None:
        self.search, self.error = search, error

    def __getattr__(self, name: str) -> Any:
        if name in ("find", "estimate"):
            raise self.error
        return getattr(self.search, name)


def failing(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    """Let all searches of indexes of PyTables fail."""
    search_of = pytables_indexes.search_of
    monkeypatch.setattr(
        pytables_indexes, "search_of", lambda *args, **named: Failing(search_of(*args, **named), error)
    )


MISTAKES = [TypeError, ValueError, IndexError, KeyError, AttributeError]


# Of an AttributeError in the property `Table.indexes` Python makes a search for such a column.
@pytest.mark.parametrize(
    ("place", "mistake"),
    [
        *[(place, mistake) for place in ("search_of", "sizes_of") for mistake in MISTAKES],
        *[(place, mistake) for place in ("index_source", "kind_of") for mistake in MISTAKES[:-1]],
    ],
)
def test_mistakes_of_ours_do_not_pass_for_damage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str, mistake: type[Exception]
) -> None:
    path = tmp_path / "t.h5"
    made(path, "full")

    def fail(*_: Any, **__: Any) -> Any:
        raise mistake("a mistake")

    with File(path) as file, forced():
        table = file.table("t")
        with monkeypatch.context() as patch:
            patch.setattr(pytables_indexes, place, fail)
            with pytest.raises(mistake, match="a mistake"):
                table.where("a == 7").row_numbers()
        assert indexes_of(table)["a"].is_usable


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_in_a_search_do_not_pass_for_damage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mistake: type[Exception]
) -> None:
    path = tmp_path / "t.h5"
    made(path, "full")
    failing(monkeypatch, mistake("a mistake"))
    with File(path) as file, forced():
        table = file.table("t")
        with pytest.raises(mistake, match="a mistake"):
            table.where("a == 7").row_numbers()
        assert indexes_of(table)["a"].is_usable


@pytest.mark.parametrize("damage", [CorruptError, LimitError, OSError])
def test_what_damage_raises_ends_the_use_of_an_index(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, damage: type[Exception]
) -> None:
    path = tmp_path / "t.h5"
    values = made(path, "full")
    failing(monkeypatch, damage("it is damaged"))
    with File(path) as file, forced():
        table = file.table("t")
        found = table.where("a == 7").row_numbers()
        np.testing.assert_array_equal(found, np.flatnonzero(values == 7))
        assert indexes_of(table)["a"].reason == "it is damaged"


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(kind=st.sampled_from(KINDS), places=st.lists(st.integers(0, 1 << 30), min_size=1, max_size=12))
def test_changed_bytes_raise_nothing(tmp_path: Path, kind: str, places: list[int]) -> None:
    """Of bytes that still make an index nobody can tell that they are others; but no query fails for them."""
    path, origin = tmp_path / "t.h5", tmp_path / f"{kind}.h5"
    if not origin.exists():
        made(origin, kind)
    raw = bytearray(origin.read_bytes())
    with h5py.File(origin) as file:
        arrays = [one for one in file["_i_t/a"].values() if one.id.get_num_chunks()]
        chunks = [one.id.get_chunk_info(at) for one in arrays for at in range(one.id.get_num_chunks())]
    for place in places:
        chunk = chunks[place % len(chunks)]
        raw[chunk.byte_offset + place % chunk.size] ^= 1 + place % 255
    path.write_bytes(raw)
    with File(path) as file, forced():
        for text in TEXTS:
            table = file.table("t")
            found = table.where(text).row_numbers()
            assert set(found.tolist()) <= set(np.flatnonzero(eval(text, {"a": table["a"][:]})).tolist())
