"""`x in values` with many values: as Python and NumPy say it, and without a look at each value.

Each value took up to 0.1 ms, however few rows there were.
"""

from datetime import UTC, date, datetime, timedelta

import numpy as np
import pytest
import tables as tb

import coquina as cq
from tests.python_calls import calls

ROWS = 400
RNG = np.random.default_rng(7)
NUMBERS = RNG.integers(-300, 300, ROWS)
START = datetime(2024, 1, 1)
COLUMNS = {
    "i8": NUMBERS,
    "u8": np.abs(NUMBERS).astype("u8") + np.uint64(2**63),
    "i2": NUMBERS.astype("i2"),
    "f8": np.where(NUMBERS % 7 == 0, np.nan, NUMBERS / 10),
    "f4": (NUMBERS / 10).astype("f4"),
    "truth": NUMBERS % 2 == 0,
    "text": [None if n % 5 == 0 else f"é{n}" for n in NUMBERS.tolist()],
    "fixed": np.array([f"b{n}" for n in NUMBERS], "S6"),
    "wide": np.array([f"é{n}" for n in NUMBERS], "U6"),
    "when": np.datetime64("2024-01-01", "ms") + NUMBERS * np.timedelta64(500, "ms"),
    "span": np.where(NUMBERS % 9 == 0, np.timedelta64("NaT"), NUMBERS.astype("m8[s]")),
    "null": np.ma.MaskedArray(NUMBERS, NUMBERS % 3 == 0),
}


@pytest.fixture(scope="module", params=["rows", "columns"])
def table(request, tmp_path_factory):
    data = (
        COLUMNS
        if request.param == "columns"
        else {k: v for k, v in COLUMNS.items() if k not in ("text", "null")}
    )
    with cq.create_table(tmp_path_factory.mktemp("many") / "t.h5", data, layout=request.param) as made:
        yield made


def expected(name, values):
    """Return the places of the rows that are among the values, by Python's `==`, one by one."""
    column = COLUMNS[name]
    if not isinstance(column, list) and column.dtype.kind not in "mM":
        column = column.tolist()  # To Python, 2**63 + 1 is not 2.0**63.
    return [
        at for at, one in enumerate(column) if any(one is not None and bool(one == value) for value in values)
    ]


WANTED = {
    "i8": [NUMBERS[:90], NUMBERS[:90].tolist(), set(NUMBERS[:90].tolist()), [*range(50), 2**70, -(2**70)],
           [1.0, 2.5, 7.0, np.nan] * 20, np.array([1.0, 2.5, 7.0, np.inf, 2.0**63, -(2.0**63)] * 9),
           [1, 2.0, True, 5 + 0j] * 10, np.arange(60, dtype="u8") + np.uint64(2**63 - 30), [np.int16(4)] * 30,
           np.arange(40, dtype="f2"), np.arange(40) + 0j, [True, False] * 20],
    "u8": [np.arange(90, dtype="u8") + np.uint64(2**63), [2**63 + n for n in range(50)], np.arange(90) - 40,
           [2.0**63, 2.0**64, -1.0] * 10],
    "i2": [np.arange(-70000, 70000, 7), [*range(-40000, 40000, 3)], np.array([3e4, 1e9, -5.0, 5.5] * 9)],
    "f8": [COLUMNS["f8"][:90], COLUMNS["f8"][:90].tolist(), [*range(-30, 30)], np.arange(-30, 30),
           [True, 2, 2.5] * 9],
    "f4": [COLUMNS["f4"][:50], np.arange(60) / 10, [np.float64(n) / 10 for n in range(40)]],
    "truth": [[1, 1.0] * 20, [0] * 20, [2, 3] * 20, np.zeros(30), [np.True_] * 20],
    "text": [[f"é{n}" for n in range(80)], np.array([f"é{n}" for n in range(80)])],
    "fixed": [[f"b{n}".encode() for n in range(80)], np.array([b"b1", b"b2"] * 20)],
    "wide": [[f"é{n}" for n in range(80)], [np.str_("é5"), "é6"] * 10],
    "when": [COLUMNS["when"][:90], COLUMNS["when"][:90].tolist(), COLUMNS["when"][:90].astype("M8[s]"),
             np.datetime64("2024-01-01", "ns") + np.arange(50) * np.timedelta64(250_000_000, "ns"),
             [START + timedelta(seconds=n) for n in range(40)], [*COLUMNS["when"][:40]],
             [date(2024, 1, 1), date(2024, 1, 2)] * 20, [np.datetime64("NaT")] * 30],
    "span": [COLUMNS["span"][:90], np.arange(90).astype("m8[ms]"), [timedelta(seconds=n) for n in range(50)],
             [timedelta.max] * 20, np.array([2**62] * 20, "m8[W]")],
    "null": [NUMBERS[:90], NUMBERS[:90].tolist(), [None, 1, 2, 4, 5] * 9],
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "at"), [(name, at) for name, each in WANTED.items() for at in range(len(each))]
)
def test_rows_are_those_whose_value_equals_one(table, name, at):
    if name not in table:
        pytest.skip("records hold no nulls")
    values = WANTED[name][at]
    listed = list(values)
    wanted = expected(name, listed)
    if name == "f4":
        # Python's floats are rounded to the dtype, as `==` rounds them; NumPy's are not.
        wanted = np.flatnonzero(np.isin(COLUMNS["f4"].astype("f8"), np.array(listed, "f8"))).tolist()
    if None in listed if isinstance(values, list) else False:
        wanted = sorted({*wanted, *np.flatnonzero(COLUMNS[name].mask).tolist()})
    assert table.where(f"{name} in v", params={"v": values}).row_numbers().tolist() == wanted
    if hasattr(table[name], "isin") and None not in listed:
        assert np.flatnonzero(table[name].isin(one for one in listed)[:]).tolist() == wanted


def test_times_with_a_zone_are_compared_in_utc(table):
    zoned = [(START + timedelta(seconds=n)).replace(tzinfo=UTC) for n in range(40)]
    wanted = expected("when", [one.replace(tzinfo=None) for one in zoned])
    assert table.where("when in v", params={"v": zoned}).row_numbers().tolist() == wanted != []


def test_python_floats_are_rounded_as_by_equality(table):
    values = [n / 10 for n in range(60)]
    one_by_one = sorted(
        {int(row) for v in values for row in table.where("f4 == v", params={"v": v}).row_numbers()}
    )
    assert table.where("f4 in v", params={"v": values}).row_numbers().tolist() == one_by_one != []


def test_wrong_values_are_refused_among_many(table):
    for name, values in [("i8", [1] * 50 + ["a"]), ("i8", [1] * 50 + [b"a"]), ("when", [START] * 50 + [1])]:
        with pytest.raises((TypeError, ValueError), match="'"):
            table.where(f"{name} in v", params={"v": values}).row_numbers()


@pytest.mark.parametrize(
    ("name", "make"),
    [
        ("i8", np.arange),
        ("i8", lambda n: list(range(n))),
        ("f8", lambda n: np.arange(n) / 7),
        ("f8", lambda n: (np.arange(n) / 7).tolist()),
        ("when", lambda n: np.arange(n).astype("M8[ms]")),
        ("span", lambda n: np.arange(n).astype("m8[ms]")),
    ],
)
def test_no_value_is_looked_at_alone(table, name, make):
    def run(values):
        table.where(f"{name} in v", params={"v": values}).row_numbers()

    run(make(20))
    every = ("call", "c_call")
    assert calls(lambda: run(make(20_000)), every) < calls(lambda: run(make(20)), every) + 500


def test_few_and_many_values_use_an_index(table, tmp_path):
    with cq.create_table(tmp_path / "i.h5", {"k": np.arange(200_000)}) as made:
        made.create_index("k")
        for count in (3, 300):
            values = np.arange(count) * 5
            found = made.where("k in v", params={"v": values})
            assert made.will_use_index("k in v", {"v": values}) == {"k"}
            assert found.row_numbers().tolist() == values.tolist()


def test_seconds_of_pytables_are_found_among_many(tmp_path):
    # A tree of one comparison a value: 16 deep, then 64,000.
    class Row(tb.IsDescription):
        t = tb.Time64Col()

    seconds = np.arange(2000) / 8
    with tb.open_file(tmp_path / "t.h5", "w") as file:
        file.create_table("/", "t", Row).append([(one,) for one in seconds.tolist()])
    with cq.open_table(tmp_path / "t.h5", "/t") as table:
        for values in (
            np.arange(64_000) / 4,
            (np.arange(64_000) / 4).tolist(),
            [START + timedelta(days=n) for n in range(40)],
        ):
            wanted = (
                np.flatnonzero(np.isin(seconds, values)).tolist()
                if not isinstance(values[0], datetime)
                else []
            )
            assert table.where("t in v", params={"v": values}).row_numbers().tolist() == wanted
