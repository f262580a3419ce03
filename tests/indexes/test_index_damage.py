"""Indexes that are damaged where they are stored: answers stay right, and the index can be dropped."""

import json
import os
import shutil

import h5py
import numpy as np
import pytest

import coquina as cq
from coquina._core import IndexMetadata
from coquina.indexes import units
from coquina.indexes.access import disabled, forced
from tests.indexes.index_kill_worker import LAYOUTS, rows_of
from tests.indexes.test_index_kills import check

SEED = 20260301
ROWS = 140_000
KINDS = ("full", "partial", "light", "zones")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Tables with an index of each kind."""
    folder = tmp_path_factory.mktemp("made")
    for layout in LAYOUTS:
        for kind in KINDS:
            how = "columns" if layout == "directory" else layout
            path = place(folder, layout, kind)
            with cq.create_table(path, rows_of(0, ROWS, 0), layout=how) as table:
                table.create_index("x", kind=kind)
                table.create_index("y", kind=kind)
    return folder


def place(folder, layout, kind):
    return folder / (f"{layout}-{kind}" if layout == "directory" else f"{layout}-{kind}.h5")


def copied(made, tmp_path, layout, kind):
    source, path = place(made, layout, kind), place(tmp_path, layout, kind)
    if layout == "directory":
        shutil.rmtree(path, ignore_errors=True)
        return shutil.copytree(source, path)
    return shutil.copy2(source, path)


def group_of(file):
    return file["_p_coquina_table"] if "_p_coquina_table" in file else file["table/_p_coquina"]


def stored_places(path):
    """Return where what is stored of indexes lies: file, first byte, number of bytes."""
    if path.is_dir():
        return [(file, 0, file.stat().st_size) for file in sorted((path / "index").iterdir())]
    found = []

    def look(name, node):
        if isinstance(node, h5py.Dataset) and node.chunks:
            for number in range(node.id.get_num_chunks()):
                chunk = node.id.get_chunk_info(number)
                found.append((path, chunk.byte_offset, chunk.size))

    with h5py.File(path) as file:
        group = group_of(file)
        group.visititems(look)
        texts = [value.encode() for value in group.attrs.values()]
    content = path.read_bytes()
    found += [(path, content.index(text[:200]), len(text)) for text in texts]
    return found


def flip(place, rng):
    """Change a bit, and nothing that tells of it."""
    file, start, size = place
    before = file.stat()
    at = start + int(rng.integers(size))
    with open(file, "r+b") as opened:
        opened.seek(at)
        byte = opened.read(1)[0] ^ 1 << int(rng.integers(8))
        opened.seek(at)
        opened.write(bytes([byte]))
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    return f"{file.name}, byte {at}"


def check_damaged(path, what):
    with cq.open_table(path) as table:
        check(table, what)
        check(table, what)
    with cq.open_table(path, mode="r+") as table:
        check(table, what)
        table.append(rows_of(ROWS, ROWS + 50, 1))
        table[5:9] = rows_of(0, 4, 7)
        check(table, what)
        for name in list(table.indexes):
            table.drop_index(name)
        check(table, what)
        table.create_index("x")
        table.create_index("y")
        check(table, what)
    with cq.open_table(path) as table:
        check(table, what)
        assert all(index.is_usable for index in table.indexes.values()), what
        assert len(table.indexes) == 2, what


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_flipped_bit_of_an_index_changes_no_answer(layout, kind, made, tmp_path):
    rng = np.random.default_rng((SEED, LAYOUTS.index(layout), KINDS.index(kind)))
    places = stored_places(place(made, layout, kind))
    for number in rng.permutation(len(places))[:5].tolist():
        path = copied(made, tmp_path, layout, kind)
        file, start, size = places[number]
        where = path / "index" / file.name if path.is_dir() else path
        check_damaged(path, flip((where, start, size), rng))


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_hundreds_of_flipped_bits_change_no_answer(layout, kind, made, tmp_path):
    rng = np.random.default_rng((SEED, LAYOUTS.index(layout), KINDS.index(kind), 1))
    places = stored_places(place(made, layout, kind))
    for number in rng.integers(len(places), size=60).tolist():
        path = copied(made, tmp_path, layout, kind)
        file, start, size = places[number]
        where = path / "index" / file.name if path.is_dir() else path
        check_damaged(path, flip((where, start, size), rng))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_files_of_an_index_that_are_gone_change_no_answer(layout, made, tmp_path):
    path = copied(made, tmp_path, layout, "full")
    if layout == "directory":
        for file in sorted((path / "index").glob("*.b2nd"))[::2]:
            before = file.stat()
            file.write_bytes(b"")
            os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    else:
        stamp = path.stat().st_mtime_ns
        with h5py.File(path, "r+") as file:
            group = group_of(file)
            names = []
            group.visit(names.append)
            for name in [name for name in names if isinstance(group[name], h5py.Dataset)][::2]:
                del group[name]
        os.utime(path, ns=(stamp, stamp))
    check_damaged(path, layout)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_arrays_of_an_index_that_are_cut_or_of_another_type_change_no_answer(layout, kind, made, tmp_path):
    path = copied(made, tmp_path, layout, kind)
    if layout == "directory":
        for file in sorted((path / "index").glob("*.b2nd")):
            before = file.stat()
            os.truncate(file, before.st_size // 2)
            os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    else:
        stamp = path.stat().st_mtime_ns
        with h5py.File(path, "r+") as file:
            group = group_of(file)
            names = []
            group.visit(names.append)
            arrays = [name for name in names if isinstance(group[name], h5py.Dataset)]
            other = [np.arange(3.0), np.array(b"text"), h5py.Empty("f4"), np.zeros((2, 2), "u8")]
            for number, name in enumerate(arrays):
                del group[name]
                if number % 5 < 4:
                    group[name] = other[number % 5]
                else:
                    group.create_group(name)
        os.utime(path, ns=(stamp, stamp))
    check_damaged(path, f"{layout}, {kind}")


SLIPS = {
    "opening runs": ("coquina.indexes.places.IndexPlace.array", "x == 777"),
    "spans": ("coquina.indexes.index.Index._made", "x == 777"),
    "freshness": ("coquina.indexes.freshness.FilesFreshness.check", "x == 777"),
    "an order": ("coquina.indexes.index.Index.rows_at", None),
}


@pytest.mark.parametrize("error", [TypeError, ValueError, KeyError, IndexError])
@pytest.mark.parametrize("slip", SLIPS)
def test_a_mistake_of_ours_is_not_taken_for_damage(slip, error, made, tmp_path, monkeypatch):
    # The index was not used from then on, and nothing told of the mistake.
    def fail(*args, **options):
        raise error("a mistake of ours")

    place_of, condition = SLIPS[slip]
    path = copied(made, tmp_path, "directory", "full")
    with cq.open_table(path) as table, forced():
        monkeypatch.setattr(place_of, fail)
        asked = table.order_by("x").head(3) if condition is None else table.where(condition)
        with pytest.raises(error, match="a mistake of ours"):
            asked.to_numpy()
        monkeypatch.undo()


def test_the_first_rows_of_an_order_are_more_than_have_values(tmp_path):
    with cq.create_table(tmp_path / "t.h5", {"x": [3.0, np.nan, 1.0, np.nan, 2.0]}) as table, forced():
        table.create_index("x")
        for count in range(6):
            assert table.order_by("x").head(count).row_numbers().tolist() == [2, 4, 0, 1, 3][:count]


def test_damage_in_the_values_is_an_error_or_what_a_scan_finds(made, tmp_path):
    path = copied(made, tmp_path, "directory", "full")
    file = path / "0001.b2nd"
    flip((file, 2000, file.stat().st_size // 2), np.random.default_rng(SEED))
    with cq.open_table(path) as table:
        for condition in ("x == 777", "x < 5000"):
            try:
                with disabled():
                    expected = table.where(condition).to_numpy()
            except cq.CoquinaError:
                continue
            with forced():
                found = table.where(condition).to_numpy()
            np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("layout", ["rows", "columns"])
def test_what_a_killed_program_left_is_in_nobodys_way(layout, tmp_path):
    path = tmp_path / "t.h5"
    rows = rows_of(0, 1000, 0)
    with cq.create_table(path, rows, layout=layout) as table:
        table.create_index("x")
    with h5py.File(path, "r+") as file:
        found: list[str] = []
        file.visit(lambda name: found.append(name) if name.endswith("x/spans") else None)
        for number in range(1, 9):
            for group in ("spans", "runs", "zones"):
                name = f"{found[0][:-6]}/{group}/{number}"
                if name not in file:
                    file[name] = np.arange(3)
    with cq.open_table(path, mode="r+") as table:
        table.modify(slice(5, 9), {"x": table["x"][0]})
    with cq.open_table(path, mode="r+") as table:
        table.refresh_index()
        assert table.indexes["x"].unindexed_rows == 0
        with forced():
            assert table.where("x == v", {"v": table["x"][0]}).count() >= 5


def test_what_describes_an_index_has_a_checksum():
    params = units.params()
    text = IndexMetadata(("n", "n", False, "full", "int64", "int64"), params).text()
    assert IndexMetadata.read(text, params).kind == "full"
    for bit in range(8 * len(text)):
        bad = bytearray(text.encode())
        bad[bit // 8] ^= 1 << bit % 8
        try:
            found = IndexMetadata.read(bytes(bad), params)
        except (cq.CoquinaError, UnicodeDecodeError):
            continue
        # White space between words, and the letters of numbers in exponents, say the same.
        assert found.text() == text
    old = {key: value for key, value in json.loads(text).items() if key != "checksum"}
    assert IndexMetadata.read(json.dumps(old), params).name == "n"
