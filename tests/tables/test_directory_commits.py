"""Tables in directories: each change is one commit of all columns, and damage is never believed."""

from __future__ import annotations

import json
import multiprocessing
import os
import shutil
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import coquina as cq
from coquina._core import TableDirectory
from coquina.folder_members import TABLE as NAME
from coquina.tables.layout import ColumnSpec

ROWS = 60


def values(start: int, stop: int) -> dict[str, Any]:
    numbers = range(start, stop)
    return {
        "n": np.array([n * 2654435761 % (1 << 40) for n in numbers], np.int64),
        "text": [f"é{n}" * (n % 5) for n in numbers],
        "x": np.array([n / 7 for n in numbers]),
    }


def made(path: Path, rows: int = ROWS) -> cq.Table:
    return cq.create_table(path, values(0, rows), chunk_rows=16)


def shown(table: cq.Table) -> dict[str, list[Any]]:
    return {name: np.asarray(table[name][:]).tolist() for name in table.columns}


def wanted(rows: int) -> dict[str, list[Any]]:
    return {name: np.asarray(one).tolist() for name, one in values(0, rows).items()}


def copied(path: Path, target: Path) -> Path:
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(path, target)
    return target


CHANGES: dict[str, Any] = {
    "append": lambda t: (t.append(values(ROWS, ROWS + 9)), t.flush()),
    "modify": lambda t: t.modify("n > 5", {"x": -1.0, "text": "new"}),
    "rows": lambda t: t.__setitem__(slice(3, 9), t[20:26]),
    "column": lambda t: t["x"].__setitem__(slice(2, 5), 9.0),
    "delete": lambda t: t.delete([1, 2, 40]),
    "truncate": lambda t: t.truncate(7),
    "empty": lambda t: t.truncate(0),
    "resize": lambda t: t.resize(90),
    "add column": lambda t: t.add_column("more", np.arange(ROWS)),
    "drop column": lambda t: t.drop_column("text"),
    "rename column": lambda t: t.rename_column("text", "words"),
    "attribute": lambda t: t.attrs.__setitem__("unit", "mm"),
}


@pytest.mark.parametrize("change", list(CHANGES))
def test_a_change_is_one_commit_of_all_columns(change: str, tmp_path: Path) -> None:
    # Each column was committed alone, so that a reader or a kill found some longer, and names without arrays.
    made(tmp_path / "t").close()
    with cq.open_table(tmp_path / "t", mode="a") as table:
        before, generation = shown(table), TableDirectory(tmp_path / "t").generation
        states: list[tuple[dict[str, Any], dict[str, Any]]] = []

        def see(event: str, arguments: tuple[Any, ...]) -> None:
            if event == "seen":
                with cq.open_table(tmp_path / "t") as reader:
                    states.append((shown(reader), dict(reader.attrs)))

        see("seen", ())
        CHANGES[change](table)
        see("seen", ())
        after = shown(table)
        assert TableDirectory(tmp_path / "t").generation == generation + 1
        assert states[0][0] == before
        assert states[1][0] == after
    with cq.open_table(tmp_path / "t") as again:
        assert shown(again) == after


@pytest.mark.parametrize("change", list(CHANGES))
def test_a_kill_before_the_manifest_leaves_the_last_commit(change: str, tmp_path: Path) -> None:
    path = tmp_path / "t"
    made(path).close()
    with cq.open_table(path) as table:
        before, attrs = shown(table), dict(table.attrs)
    old = {file.name: file.read_bytes() for file in path.iterdir()}
    table = cq.open_table(path, mode="a")
    CHANGES[change](table)
    new = {file.name: file.read_bytes() for file in path.iterdir()}
    manifest = new.pop(NAME)
    after = shown(table)
    # What is behind the committed ends is there, of all or of some columns; the manifest is not.
    for name in [*old, None]:
        if name == NAME:
            continue
        copy = tmp_path / "copy"
        shutil.rmtree(copy, ignore_errors=True)
        copy.mkdir()
        (copy / NAME).write_bytes(old[NAME])
        for one in old:
            if one != NAME:
                # As it was in front, which the header is part of; as it became behind.
                grown = old[one] + new.get(one, b"")[len(old[one]) :]
                (copy / one).write_bytes(grown if one != name else old[one])
        for mode in ("r", "a"):
            with cq.open_table(copy, mode=mode) as found:
                assert (shown(found), dict(found.attrs)) == (before, attrs)
        with cq.open_table(copy, mode="a") as found:
            CHANGES[change](found)
            assert shown(found) == after
        with cq.open_table(copy) as found:
            assert shown(found) == after
    # The manifest is there, and the headers are not switched yet.
    copy = copied(path, tmp_path / "copy")
    (copy / NAME).write_bytes(manifest)
    for name, content in old.items():
        if name in new and name != NAME and len(new[name]) > len(content):
            (copy / name).write_bytes(content[:200] + new[name][200:])
    for mode in ("r", "a", "r"):
        with cq.open_table(copy, mode=mode) as found:
            assert shown(found) == after
    table.close()


def test_every_flipped_bit_of_the_manifest_is_an_error(tmp_path: Path) -> None:
    # 680 of 3,200 flips changed or dropped columns and attributes.
    made(tmp_path / "t").close()
    closed = (tmp_path / "t" / NAME).read_bytes()
    json.loads(closed)
    table = cq.open_table(tmp_path / "t", mode="a")
    for stop in (ROWS + 5, ROWS + 9):
        table.append(values(stop - 4, stop))
        table.flush()
    with_lines = copied(tmp_path / "t", tmp_path / "open") / NAME
    table.close()
    for path, content in ((tmp_path / "open", with_lines.read_bytes()), (tmp_path / "t", None)):
        content = content or (path / NAME).read_bytes()
        # Of the one with lines, those are what is new.
        start = content.index(b"}}\n{") if path.name == "open" else 0
        for bit in range(8 * start, 8 * len(content)):
            flipped = bytearray(content)
            flipped[bit // 8] ^= 1 << (bit % 8)
            (path / NAME).write_bytes(flipped)
            # Without its last byte a line is one that a writer was killed in: then the files tell.
            is_opened = bit % 101 == 0 or bit // 8 == len(content) - 1
            with pytest.raises(cq.CorruptError):
                cq.open_table(path) if is_opened else TableDirectory(path)
        for end in range(0, len(content), 31):
            (path / NAME).write_bytes(content[:end])
            with pytest.raises(cq.CorruptError):
                cq.open_table(path)
        (path / NAME).write_bytes(content)
        cq.open_table(path).close()


def test_files_of_other_columns_versions_and_tables_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "t"
    made(path).close()
    made(tmp_path / "other", ROWS + 1).close()
    old = copied(path, tmp_path / "old")
    with cq.open_table(path, mode="a") as table:
        table.append(values(ROWS, ROWS + 3))
    good = {file.name: file.read_bytes() for file in path.iterdir()}
    arrays = sorted(name for name in good if name != NAME)
    for name in arrays:
        for source in (old / name, tmp_path / "other" / name):
            (path / name).write_bytes(source.read_bytes())
            with pytest.raises(cq.CorruptError, match=name):
                cq.open_table(path).close()
        (path / name).unlink()
        with pytest.raises(cq.CorruptError, match=name):
            cq.open_table(path).close()
        (path / name).write_bytes(good[name])
    first, *others = arrays
    for other in others:
        (path / first).write_bytes(good[other])
        (path / other).write_bytes(good[first])
        with pytest.raises(cq.CorruptError, match=r"000"):
            cq.open_table(path).close()
        (path / other).write_bytes(good[other])
    (path / first).write_bytes(good[first])
    # A manifest of an older version does not take rows away.
    (path / NAME).write_bytes((old / NAME).read_bytes())
    for mode in ("r", "a"):
        with pytest.raises(cq.CorruptError, match="newer"):
            cq.open_table(path, mode=mode).close()
    (path / NAME).write_bytes(good[NAME])
    with cq.open_table(path) as table:
        assert shown(table) == wanted(ROWS + 3)


def test_an_exception_within_a_change_undoes_it_in_all_columns(tmp_path: Path) -> None:
    with made(tmp_path / "t") as table:
        before, files = shown(table), sorted(os.listdir(tmp_path / "t"))
        layout: Any = table.layout

        def change() -> None:
            with layout.changing():
                layout.delete(np.arange(10))
                layout.add_column(ColumnSpec("more", np.dtype("f8")), np.arange(50.0))
                table.attrs["unit"] = "mm"
                raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            change()
        assert shown(table) == before
        assert "unit" not in table.attrs
        assert sorted(os.listdir(tmp_path / "t")) == files
        table.append(values(ROWS, ROWS + 4))
        assert shown(table) == wanted(ROWS + 4)
    with cq.open_table(tmp_path / "t") as table:
        assert shown(table) == wanted(ROWS + 4)


def test_handles_of_one_directory_share_its_state(tmp_path: Path) -> None:
    made(tmp_path / "t", 10).close()
    tables = [cq.open_table(tmp_path / "t", mode="a") for _ in range(3)]
    rows = 10
    for turn in range(30):
        table = tables[turn * 7 % 3]
        table.append(values(rows, rows + 1 + turn % 4))
        rows += 1 + turn % 4
        assert [one.nrows for one in tables] == [rows] * 3
        if turn % 5 == 0:
            tables[turn % 3].flush()
    tables[1].close()
    with pytest.raises(ValueError, match="closed"):
        tables[1].append(values(0, 1))
    tables[0].append(values(rows, rows + 2))
    tables[0].close()
    assert shown(tables[2]) == wanted(rows + 2)
    tables[2].close()
    with cq.open_table(tmp_path / "t", mode="a") as table:
        assert shown(table) == wanted(rows + 2)


def test_a_cell_that_is_run_again_keeps_all_rows(tmp_path: Path) -> None:
    made(tmp_path / "t", 10).close()
    for start in (10, 20, 30):
        table = cq.open_table(tmp_path / "t", mode="a")
        table.append(values(start, start + 10))
        table.flush()
    assert shown(table) == wanted(40)
    table.close()


def test_an_overwritten_directory_is_not_written_by_old_handles(tmp_path: Path) -> None:
    old = made(tmp_path / "t")
    cq.create_table(tmp_path / "t", values(0, 5), mode="w").close()
    with pytest.raises(ValueError, match="replaced"):
        old.modify("n >= 0", {"x": 0.0})
    with cq.open_table(tmp_path / "t") as table:
        assert shown(table) == wanted(5)


def test_a_directory_of_version_1_is_read_and_gets_checksums_by_the_first_write(tmp_path: Path) -> None:
    path = tmp_path / "t"
    made(path).close()
    found = json.loads((path / NAME).read_bytes())
    nodes = {name: {k: v for k, v in one.items() if k != "state"} for name, one in found["nodes"].items()}
    (path / NAME).write_text(json.dumps({"coquina table": 1, "nodes": nodes}, indent=1))
    with cq.open_table(path) as table:
        assert shown(table) == wanted(ROWS)
    before = (path / NAME).read_bytes()
    cq.open_table(path, mode="a").close()
    with cq.open_table(path, mode="a") as table:
        table.append(values(ROWS, ROWS + 7))
    assert json.loads((path / NAME).read_bytes())["coquina table"] == 2
    assert (path / NAME).read_bytes() != before
    with cq.open_table(path) as table:
        assert shown(table) == wanted(ROWS + 7)


def test_unused_room_is_given_back_and_readers_keep_what_they_have(tmp_path: Path) -> None:
    rows = 300_000
    rng = np.random.default_rng(0)
    data = {"a": rng.normal(size=rows), "b": np.arange(rows)}
    cq.create_table(tmp_path / "t", data).close()
    reader = cq.open_table(tmp_path / "t")
    with cq.open_table(tmp_path / "t", mode="a") as table:
        for _ in range(4):
            data["a"] = rng.normal(size=rows)
            table["a"] = data["a"]
    sizes = sum(file.stat().st_size for file in (tmp_path / "t").iterdir())
    assert sizes < 2 * 8 * rows
    assert reader.nrows == rows
    assert np.isfinite(reader["a"][:]).all()
    assert reader.refresh()
    assert np.array_equal(reader["a"][:], data["a"])
    reader.close()
    with cq.open_table(tmp_path / "t", mode="a") as table:
        table.truncate(0)
    files = list((tmp_path / "t").glob("*.b2nd"))
    assert [cq.open(file).shape for file in files] == [(0,), (0,)]


def test_what_a_killed_writer_left_is_removed_by_the_next_one(tmp_path: Path) -> None:
    made(tmp_path / "t").close()
    names = sorted(os.listdir(tmp_path / "t"))
    for name in ("0099.b2nd", ".0100.b2nd.12-0.tmp", f"{NAME}.tmp"):
        (tmp_path / "t" / name).write_bytes(b"left over")
    (tmp_path / "t" / "notes.txt").write_text("mine")
    with cq.open_table(tmp_path / "t", mode="a") as table:
        table.append(values(ROWS, ROWS + 1))
    assert sorted(os.listdir(tmp_path / "t")) == sorted([*names, "notes.txt"])


def _hold(path: str, begun: Any, end: Any) -> None:
    with cq.open_table(path, mode="a"):
        begun.set()
        end.wait(30)


def test_another_process_is_refused_or_waits(tmp_path: Path) -> None:
    made(tmp_path / "t").close()
    context = multiprocessing.get_context("spawn")
    begun, end = context.Event(), context.Event()
    process = context.Process(target=_hold, args=(str(tmp_path / "t"), begun, end))
    process.start()
    try:
        assert begun.wait(60)
        with pytest.raises(BlockingIOError, match="another process"):
            cq.open_table(tmp_path / "t", mode="a")
        start = time.monotonic()
        with pytest.raises(BlockingIOError, match="wait"):
            cq.open_table(tmp_path / "t", mode="a", wait=0.2)
        assert time.monotonic() - start >= 0.2
        with cq.open_table(tmp_path / "t") as reader:
            assert shown(reader) == wanted(ROWS)
        end.set()
        with cq.open_table(tmp_path / "t", mode="a", wait=60) as table:
            assert table.nrows == ROWS
    finally:
        end.set()
        process.join()


def _write(path: str, begun: Any, end: Any) -> None:
    """Append, and at times take away and rewrite; row `n` always tells that it is row `n`."""
    rng = np.random.default_rng(1)
    with cq.open_table(path, mode="a") as table:
        rows = table.nrows
        while not end.is_set():
            begun.set()
            stop = rows + int(rng.integers(1, 40))
            table.append(values(rows, stop))
            table.flush()
            rows = stop
            if rows > 2000:
                rows = int(rng.integers(0, 50))
                table.truncate(rows)


def _read(path: str, seconds: float, found: Any) -> None:
    try:
        until, count, seen = time.monotonic() + seconds, 0, set()
        table = cq.open_table(path)
        # On a busy machine the time may be over before anything was seen.
        while time.monotonic() < until or count <= 3 or len(seen) <= 1:
            if count % 10 == 9:
                table.close()
                table = cq.open_table(path)
            else:
                table.refresh()
            assert shown(table) == wanted(table.nrows)
            seen.add(table.nrows)
            count += 1
        found.put((count, len(seen)))
    except BaseException as error:
        found.put(repr(error))


def read_beside_writer(path: Path, seconds: float, readers: int) -> None:
    made(path, 10).close()
    context = multiprocessing.get_context("spawn")
    begun, end, found = context.Event(), context.Event(), context.Queue()
    writer = context.Process(target=_write, args=(str(path), begun, end))
    writer.start()
    others = [context.Process(target=_read, args=(str(path), seconds, found)) for _ in range(readers)]
    try:
        assert begun.wait(60)
        for one in others:
            one.start()
        counts = [found.get(timeout=seconds + 600) for _ in others]
    finally:
        end.set()
        for one in [writer, *others]:
            one.join()
    assert writer.exitcode == 0
    assert all(isinstance(one, tuple) for one in counts), counts


def test_readers_beside_a_writer_see_whole_commits(tmp_path: Path) -> None:
    # 16 of 1,532 reads of a text column raised ValueError: offsets of one commit, bytes of another.
    read_beside_writer(tmp_path / "t", 3, 2)


@pytest.mark.long
def test_readers_beside_a_writer_see_whole_commits_for_minutes(tmp_path: Path) -> None:
    read_beside_writer(tmp_path / "t", 120, 4)


def test_compact_gives_room_back_at_once(tmp_path: Path) -> None:
    with made(tmp_path / "t") as table:
        for _ in range(50):
            table["x"] = np.random.default_rng(0).normal(size=ROWS)
        before, size = shown(table), sum(file.stat().st_size for file in (tmp_path / "t").iterdir())
        table.compact()
        assert sum(file.stat().st_size for file in (tmp_path / "t").iterdir()) < size / 3
        assert shown(table) == before
        table.append(values(ROWS, ROWS + 3))
        assert table.nrows == ROWS + 3
    with cq.open_table(tmp_path / "t") as table:
        assert table.nrows == ROWS + 3


def test_a_reader_does_not_use_an_index_of_another_commit(tmp_path: Path) -> None:
    # The file had the size and time that the index had noted; the reader's rows were those of before.
    count = 100_000
    data = {"x": np.arange(count) % 1000, "y": np.zeros(count)}
    cq.create_table(tmp_path / "t", data, index=["x"]).close()
    reader = cq.open_table(tmp_path / "t")
    with cq.open_table(tmp_path / "t", mode="a") as table:
        table.modify("x == 7", {"x": 5000})
        table.append({"x": [7, 7], "y": [0.0, 0.0]})
    old = np.arange(7, count, 1000)
    assert np.array_equal(reader.where("x == 7").row_numbers(), old)
    assert len(reader.where("x == 5000").row_numbers()) == 0
    assert reader.refresh()
    assert np.array_equal(reader.where("x == 5000").row_numbers(), old)
    assert reader.where("x == 7").row_numbers().tolist() == [count, count + 1]
    reader.close()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs processes that can be forked")
def test_a_forked_process_does_not_touch_what_its_parent_writes(tmp_path: Path) -> None:
    # A child that ended cut the parent's files off where they ended at the fork, and gave its locks back.
    array = cq.zeros((4,), dtype="i8", chunks=(4,), path=tmp_path / "a.b2nd")
    table = made(tmp_path / "t")
    begun, go = os.pipe()
    child = os.fork()
    if child == 0:
        os.read(begun, 1)
        status = 0
        for change in (lambda: array.append([1]), lambda: table.truncate(1)):
            try:
                change()
                status = 1
            except (ValueError, OSError, cq.CoquinaError):
                pass
        array.close()
        del array
        with suppress(ValueError, OSError, cq.CoquinaError):
            table.close()
        os._exit(status)
    array.append(np.arange(4))
    table.append(values(ROWS, ROWS + 5))
    table.flush()
    os.write(go, b"x")
    assert os.waitpid(child, 0)[1] == 0
    with pytest.raises(BlockingIOError):
        cq.open(tmp_path / "a.b2nd", "a")
    array.append(np.arange(4))
    assert cq.open(tmp_path / "a.b2nd")[:].tolist() == [0] * 4 + [0, 1, 2, 3] * 2
    assert shown(table) == wanted(ROWS + 5)
    table.close()
    with cq.open_table(tmp_path / "t") as again:
        assert shown(again) == wanted(ROWS + 5)
