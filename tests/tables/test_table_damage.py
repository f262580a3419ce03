"""Tables whose files are damaged: rows are right or an error, and conditions lose none of them."""

import h5py
import numpy as np
import pytest

import coquina as cq
from coquina.tables.layout import ColumnSpec
from coquina.tables.values import TEXT
from tests.tables.hostile_cases import chunk_places, columns, flipped, looked_at, records
from tests.tables.table_cases import LAYOUTS
from tests.test_crash import SEED

ROWS = 4000
KIND = ColumnSpec("k", TEXT, categories=("red", "green", "blue"))
#: Conditions on columns in order, which bounds of blocks decide for most blocks, and on others.
CONDITIONS = {
    "n > 1200": lambda v: v["n"] > 1200,
    "(n < 77) | (u == 7919 * 3000)": lambda v: (v["n"] < 77) | (v["u"] == 7919 * 3000),
    "(x > 1.5) & f": lambda v: (v["x"] > 1.5) & v["f"],
    "s == 'bcd'": lambda v: v["s"] == b"bcd",
}
#: Files whose chunks all have checksums.
CHECKED = {
    "rows": {"layout": "rows"},
    "rows gzip": {"layout": "rows", "filter": "gzip"},
    "columns": {"layout": "columns"},
    "columns plain": {"layout": "columns", "filter": "none"},
}


def data_of(layout):
    return records(ROWS) if layout == "rows" else columns(ROWS)


def made(path, layout, **options):
    """Make a table, and return its values and what they are by column."""
    data = data_of(layout)
    with cq.create_table(path, data, layout=layout, chunk_rows=500, **options) as table:
        if layout == "columns":
            table.add_column("k", np.array(["red", "blue", "green"])[np.arange(ROWS) % 3], KIND)
        return table[:], {name: np.asanyarray(table[name][:]) for name in table.layout.columns}


def equal(found, wanted):
    """Whether records are the same, NaN and missing values too."""
    return found.dtype == wanted.dtype and found.shape == wanted.shape and repr_of(found) == repr_of(wanted)


def repr_of(rows):
    if isinstance(rows, np.ma.MaskedArray):
        return rows.mask.tobytes(), str(rows.filled().tolist())
    return str(rows.tolist())


def right_or_error(path, rows, values, what):
    """Read a damaged table in all ways; return how many were errors."""
    errors = 0
    try:
        table = cq.open_table(path)
    except cq.CoquinaError:
        return 1
    with table:
        assert table.nrows == len(rows), what
        skipped = table.info.get("skipped", {})
        if skipped:
            # The version of a frame is another: the table does without the column, and says so.
            assert all("version" in reason for reason in skipped.values()), what
            return 1
        for condition, judge in CONDITIONS.items():
            try:
                found = table.where(condition).row_numbers()
            except cq.CoquinaError:
                errors += 1
            else:
                np.testing.assert_array_equal(found, np.nonzero(judge(values))[0], f"{what}: {condition}")
        for name, wanted in values.items():
            try:
                found = np.asanyarray(table[name][:])
            except cq.CoquinaError:
                errors += 1
            else:
                assert repr_of(found) == repr_of(wanted), f"{what}: {name}"
        try:
            assert equal(table[:], rows), what
        except cq.CoquinaError:
            errors += 1
            assert table.verify(), what
    return errors


def flip_checked(tmp_path, case, flips, seed):
    """Flip bits of chunks that have checksums, one by one; return how often that was an error."""
    path = tmp_path / "x.h5"
    rows, values = made(path, fletcher32=True, **CHECKED[case])
    content, places = path.read_bytes(), chunk_places(path)
    rng = np.random.default_rng((SEED, seed))
    noticed = 0
    for number in range(flips):
        path.write_bytes(flipped(content, rng, places))
        noticed += right_or_error(path, rows, values, f"{case}, flip {number}") > 0
    return noticed


@pytest.mark.parametrize("case", list(CHECKED))
def test_a_flipped_bit_of_a_chunk_with_a_checksum_is_an_error(case, tmp_path):
    assert flip_checked(tmp_path, case, 40, 0) == 40


@pytest.mark.long
@pytest.mark.parametrize("case", list(CHECKED))
def test_thousands_of_flipped_bits_of_chunks_with_checksums_are_errors(case, tmp_path):
    assert flip_checked(tmp_path, case, 1000, 1) == 1000


def flip_frames(tmp_path, flips, seed):
    """Flip bits of the frames of a table that is a directory; return how often that was an error."""
    path = tmp_path / "frames"
    rows, values = made(path, "columns")
    contents = {file: file.read_bytes() for file in sorted(path.glob("*.b2nd"))}
    rng = np.random.default_rng((SEED, seed))
    noticed = 0
    for number in range(flips):
        file = list(contents)[int(rng.integers(len(contents)))]
        file.write_bytes(flipped(contents[file], rng))
        noticed += right_or_error(path, rows, values, f"{file.name}, flip {number}") > 0
        file.write_bytes(contents[file])
    return noticed


def test_a_flipped_bit_of_a_frame_is_an_error_or_does_no_harm(tmp_path):
    assert flip_frames(tmp_path, 60, 2) > 50


@pytest.mark.long
def test_thousands_of_flipped_bits_of_frames_are_errors_or_do_no_harm(tmp_path):
    assert flip_frames(tmp_path, 1500, 3) > 1300


def flip_unchecked(tmp_path, layout, flips, seed):
    """Flip bits of chunks without checksums, and of the bounds beside them; return how many blocks were
    skipped, and how often values were others.

    Values may be others then, but what a condition says of values that are as they were is right: damaged
    bounds are not believed.
    """
    path = tmp_path / "x.h5"
    _, values = made(path, layout, checksums=False)
    content, places = path.read_bytes(), chunk_places(path)
    rng = np.random.default_rng((SEED, seed))
    skipped = changed = 0
    for number in range(flips):
        path.write_bytes(flipped(content, rng, places))
        try:
            table = cq.open_table(path)
        except cq.CoquinaError:
            continue
        with table:
            found = [
                unchecked(table, condition, values, f"{layout}, flip {number}") for condition in CONDITIONS
            ]
            skipped += sum(one[0] for one in found)
            changed += sum(one[1] for one in found)
    return skipped, changed


def unchecked(table, condition, values, what):
    """Check what a condition says of values that are as they were; return how many blocks were skipped, and
    whether other values are not as they were.
    """
    names = [name for name in "nxusf" if name in condition.split("'")[0]]
    found, as_before = np.zeros(ROWS, bool), np.ones(ROWS, bool)
    try:
        selection = table.where(condition).select(names)
        found[selection.row_numbers()] = True
        skipped = selection.explain().scan["boxes_skipped"]
        for name in names:
            as_before &= (bits(table[name][:]) == bits(values[name])).all(1)
    except cq.CoquinaError:
        return 0, False
    wanted = CONDITIONS[condition](values)
    np.testing.assert_array_equal(found[as_before], wanted[as_before], f"{what}: {condition}")
    return skipped, not as_before.all()


def bits(values):
    """Return the bytes of each value: a NaN is as it was, or it is not."""
    return np.ascontiguousarray(values).view("u1").reshape(len(values), -1)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_conditions_are_right_about_undamaged_values(layout, tmp_path):
    skipped, changed = flip_unchecked(tmp_path, layout, 40, 4)
    assert skipped > 0
    assert changed > 0


@pytest.mark.long
@pytest.mark.parametrize("layout", LAYOUTS)
def test_conditions_are_right_about_undamaged_values_very_often(layout, tmp_path):
    skipped, changed = flip_unchecked(tmp_path, layout, 700, 5)
    assert skipped > 0
    assert changed > 0


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_flipped_bit_anywhere_is_a_value_or_an_error(layout, tmp_path):
    made(tmp_path / "x.h5", layout)
    assert looked_at(tmp_path / "x.h5", "flip", 0, 20) > 0


@pytest.mark.long
@pytest.mark.parametrize("layout", LAYOUTS)
def test_thousands_of_flipped_bits_anywhere_are_values_or_errors(layout, tmp_path):
    made(tmp_path / "x.h5", layout)
    assert 0 < looked_at(tmp_path / "x.h5", "flip", 1000, 1500) < 1500


#: What stands in a file instead of the offsets or the bytes of its texts.
CONTRADICTIONS = {
    "an end before its start": ("offsets", 7, 0),
    "an end behind all bytes": ("offsets", 7, 10**6),
    "a last end behind all bytes": ("offsets", -1, 10**6),
    "a start before all bytes": ("offsets", 0, -3),
    "offsets of another text": ("offsets", -2, 10**12),
    "no UTF-8": ("data", 20, 0xFF),
}


@pytest.mark.parametrize("what", CONTRADICTIONS)
@pytest.mark.parametrize("rows", [40, 3000])
@pytest.mark.parametrize("is_nullable", [False, True])
def test_texts_that_contradict_their_offsets_are_an_error(tmp_path, what, rows, is_nullable):
    path = tmp_path / "t.h5"
    texts = [None if is_nullable and at % 5 == 1 else f"text é {at}" for at in range(rows)]
    numbers = np.random.default_rng(0).permutation(rows)
    cq.create_table(path, {"i": numbers, "s": texts}, name="t").close()
    part, at, value = CONTRADICTIONS[what]
    with h5py.File(path, "r+") as file:
        names = [name for name in file["t/s"] if part in name]
        assert len(names) == 1
        file["t/s"][names[0]][at if at >= 0 else len(file["t/s"][names[0]]) + at] = value
    far = np.array([0, 6, rows - 2, rows - 1, 7, 2])
    reads = {
        "slice": lambda t: t["s"][:],
        "rows": lambda t: t["s"][np.arange(rows)[::-1]],
        "scattered": lambda t: t["s"][far],
        "to_numpy": lambda t: t.to_numpy("s"),
        "in order": lambda t: t.order_by("i").to_numpy("s"),
        "by text": lambda t: t.order_by("s").to_numpy("s"),
        "read_sorted": lambda t: t.read_sorted("i", "s"),
        "arrow": lambda t: t.to_arrow(),
        "arrow in order": lambda t: t.order_by("i").to_arrow(),
        "arrow by text": lambda t: t.order_by("s", descending=True).to_arrow(),
        "batches": lambda t: list(t.batches()),
        "records": lambda t: t[:],
    }
    found = {}
    with cq.open(path) as file:
        for name, read in reads.items():
            try:
                found[name] = read(file["t"])
            except cq.CorruptError:
                continue
    # With nulls the byte that is no text is in row 3, which is not one of the scattered ones.
    assert list(found) == (["scattered"] if what == "no UTF-8" and is_nullable else [])
