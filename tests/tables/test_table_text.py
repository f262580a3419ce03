"""What `print` shows of tables and selections."""

from unicodedata import east_asian_width

import numpy as np
import pytest

import coquina as cq


@pytest.fixture(params=["columns", "rows", "directory"])
def make(request, tmp_path):
    def made(data):
        if request.param == "directory":
            return cq.create_table(tmp_path / "t", data)
        return cq.create_table(tmp_path / "t.h5", data, layout=request.param)

    return made


def width(line):
    return sum(2 if east_asian_width(one) in "WF" else 1 for one in line)


def test_a_short_table_is_shown_whole(make):
    with make(
        {"n": np.array([1, -20]), "x": np.array([0.123456789, 1e9]), "s": np.array([b"a", b"bcd"])}
    ) as t:
        assert str(t).splitlines()[1:] == [
            "       n         x  s",
            "   int64   float64  |S3",
            "0      1  0.123457  a",
            "1    -20     1e+09  bcd",
        ]
        assert repr(t).count("\n") == 0
    assert str(t) == "<Table, closed>"


def test_of_a_long_table_the_ends_are_shown(make):
    with make({"n": np.arange(1000)}) as t:
        numbers = [line.split()[0] for line in str(t).splitlines()[3:]]
        assert numbers == ["0", "1", "2", "3", "4", "…", "995", "996", "997", "998", "999"]
        lines = str(t.where("n % 100 == 7")).splitlines()
        assert lines[0] == repr(t.where("n % 100 == 7"))
        assert [line.split() for line in lines[3:]] == [[str(n)] * 2 for n in range(7, 1000, 100)]
        assert [line.split()[1] for line in str(t.order_by("n", descending=True)).splitlines()[3:5]] == [
            "999",
            "998",
        ]


def test_a_table_without_rows(make):
    with make({"n": np.arange(0)}) as t:
        assert str(t).splitlines()[0].endswith("0 rows x 1 column (" + t.layout.kind + ")")
        assert len(str(t).splitlines()) == 3
        assert len(str(t.where("n > 3")).splitlines()) == 3


def test_lines_fit_the_terminal_and_name_the_rest(make, monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    with make({f"column{n}": np.arange(3) for n in range(30)}) as t:
        lines = str(t).splitlines()
        assert all(width(line) <= 60 for line in lines[1:-1])
        shown = lines[1].split()
        assert lines[-1].startswith(f"and {30 - len(shown)} columns more: column{len(shown)}, ")


def test_text_is_one_line_that_acts_on_no_terminal(tmp_path):
    data = {"s": ["日本", "a\nb\x1b[31m", "x" * 500, ""], "n": [1, 2, 3, 4]}
    with cq.create_table(tmp_path / "t", data) as t:
        lines = str(t).splitlines()
        assert len(lines) == 7
        assert "\x1b" not in str(t)
        assert len({width(line) for line in lines[1:]}) <= 2  # Kinds are shorter than the numbers' column.
        assert max(map(width, lines[1:])) < 80


def test_what_is_missing_is_null_and_an_enumeration_is_names(tmp_path):
    pa = pytest.importorskip("pyarrow")
    tables = pytest.importorskip("tables")
    with cq.create_table(tmp_path / "t", pa.table({"n": pa.array([1, None])})) as t:
        assert str(t).splitlines()[-1].split() == ["1", "null"]
    path = tmp_path / "p.h5"

    class Row(tables.IsDescription):
        colour = tables.EnumCol(tables.Enum({"red": 3, "green": 7}), "red", "uint8")

    with tables.open_file(str(path), "w") as file:
        row = file.create_table("/", "t", Row).row
        for number in (3, 7):
            row["colour"] = number
            row.append()
    with cq.open(path) as file:
        assert [line.split()[1] for line in str(file["t"]).splitlines()[3:]] == ["red", "green"]
        assert "<td>green</td>" in file["t"]._repr_html_()


def test_times_are_as_fine_as_one_of_them_needs_and_name_their_zone(tmp_path):
    """Times of a zone are shown as `t["when"][:]` and conditions have them: in UTC, which the Z says."""
    pa = pytest.importorskip("pyarrow")
    start = np.datetime64("2024-06-01T12:00:00", "ns")
    data = {
        "whole": start + np.arange(3) * np.timedelta64(1, "h"),
        "fine": start + np.array([0, 10, 120]) * np.timedelta64(1, "ms"),
        "day": start.astype("M8[D]") + np.arange(3),
        "zone": pa.array(start + np.arange(3)).cast(pa.timestamp("ns", "Europe/Berlin")),
        "utc": pa.array([start.item(), None, 0]).cast(pa.timestamp("ns", "UTC")),
    }
    with cq.create_table(tmp_path / "t", pa.table(data)) as t:
        head, kinds, first, middle, last = [line.split("  ") for line in str(t).splitlines()[1:]]
        cells = [[one.strip() for one in line if one.strip()] for line in (head, kinds, first, middle, last)]
        assert cells[1][3:] == ["datetime64[ns, Europe/Berlin]", "datetime64[ns, UTC]"]
        assert cells[2][1:4] == ["2024-06-01 12:00:00", "2024-06-01 12:00:00.000", "2024-06-01"]
        assert cells[3][4:] == ["2024-06-01 12:00:00.000000001Z", "NaT"]
        assert cells[4][1:3] == ["2024-06-01 14:00:00", "2024-06-01 12:00:00.120"]
        assert "<td>2024-06-01 14:00:00</td>" in t._repr_html_()
