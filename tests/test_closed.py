"""What is closed says so."""

from __future__ import annotations

import h5py
import numpy as np
import pytest
import tables

import coquina as cq

ROWS = np.zeros(5, [("a", "i4"), ("b", "f4")])


def shown(thing):
    """Everything that shows a thing."""
    return [show(thing) for show in (repr, str, getattr(type(thing), "_repr_html_", repr))]


def closed_things(folder):
    """Yield what was open once, by name."""
    array = cq.asarray(np.arange(1e4).reshape(100, 100), path=folder / "a.b2nd")
    yield "array", array, array
    yield "view", array, array.view(slice(1, 5))
    frame = cq.Frame.create(folder / "f.b2frame")
    yield "frame", frame, frame
    with h5py.File(folder / "f.h5", "w") as h5:
        h5["g/d"] = np.arange(10)
        h5.create_dataset("grow", (0,), "f4", maxshape=(None,), chunks=(4,))
        h5["fields"] = ROWS
    file = cq.open(folder / "f.h5", "r+")
    yield from (("file", file, file), ("group", file, file["g"]), ("dataset", file, file["g/d"]))
    yield "view of a field", file, file["fields"].fields["a"]
    session = file["grow"].appending()
    session.close()
    yield "session", session, session
    dataset = cq.open(folder / "f.h5")["g/d"]
    yield "dataset alone", dataset, dataset
    for kind, target in (
        ("rows", folder / "t.h5"),
        ("columns", folder / "t2.h5"),
        ("columns", folder / "td"),
    ):
        table = cq.create_table(target, ROWS, layout=kind) if target.suffix else cq.create_table(target, ROWS)
        table.create_index("a")
        where = table.where("a > 0")
        for name, each in (("table", table), ("selection", where), ("column", table["a"]),
                           ("index", table.indexes["a"]), ("sorted", where.order_by("b"))):  # fmt: skip
            yield f"{name} of {kind} in {target.name}", table, each
    with tables.open_file(folder / "p.h5", "w") as file:
        made = file.create_table("/", "t", ROWS)
        made.cols.a.create_index()
        file.create_vlarray("/", "v", tables.Int32Atom()).append([1, 2])
    table = cq.open_table(folder / "p.h5", "/t")
    yield "PyTables' index", table, table.indexes["a"]
    file = cq.open(folder / "p.h5")
    yield from (("VLArray", file, file["v"]), ("table of a file", file, file["t"]))


def test_reprs_of_all_that_is_closed_say_so_and_never_raise(tmp_path):
    things = list(closed_things(tmp_path))
    for name, owner, thing in things:
        if name != "session":
            assert all("closed" not in text for text in shown(thing)), name
        del owner
    for _, owner, _ in things:
        owner.close()
    for name, _, thing in things:
        for text in shown(thing):
            assert "closed" in text, (name, text)


def test_a_closed_array_cannot_be_read(tmp_path):
    array = cq.asarray(np.arange(100.0), path=tmp_path / "a.b2nd")
    array[:]
    array.close()
    assert array.is_closed
    with pytest.raises(ValueError, match="closed"):
        array[:]
    memory = cq.asarray(np.arange(3))
    memory.close()
    assert not memory.is_closed
    assert memory[1] == 1


def test_all_that_closes_says_whether_it_is_closed(tmp_path):
    """Arrays, frames and tables did; files, groups and sessions of appending did not."""
    things = {name: thing for name, owner, thing in closed_things(tmp_path) if thing is owner}
    things["store"] = cq.open(tmp_path / "s.b2z", "w")
    assert things.pop("session").is_closed
    assert [name for name, thing in things.items() if thing.is_closed] == []
    for thing in things.values():
        thing.close()
    assert [name for name, thing in things.items() if not thing.is_closed] == []
