"""Time zones of columns: kept by both layouts and every home, given back, and compared in UTC."""

from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

import coquina as cq
from coquina.cli import main

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")

BERLIN = ZoneInfo("Europe/Berlin")
#: Also the hour that the zone has twice.
INSTANTS = np.array(
    ["2024-01-01T11:00", "2024-06-01T10:00", "2024-10-27T00:30", "2024-10-27T01:30", "NaT"], "M8[us]"
)
ZONES = ["Europe/Berlin", "UTC", "+05:30", "America/New_York"]
PLACES = [("t.h5", "rows"), ("t.h5", "columns"), ("t", "columns")]


def arrow(zone="Europe/Berlin", unit="us"):
    mask = np.isnat(INSTANTS)
    times = pa.array(INSTANTS.astype(f"M8[{unit}]").view("i8"), mask=mask).cast(pa.timestamp(unit, zone))
    return pa.table({"t": times, "n": pa.array(range(5))})


def make(tmp_path, data, place=("t.h5", "columns")):
    name, layout = place
    return cq.create_table(tmp_path / name, data, layout=layout)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_arrow_zones_are_given_back_as_they_came(tmp_path, place, zone, unit):
    data = arrow(zone, unit)
    make(tmp_path, data, place).close()
    with cq.open_table(tmp_path / place[0]) as table:
        back = table.to_arrow()
        assert back.schema.field("t").type == pa.timestamp(unit, zone)
        assert back.column("t").combine_chunks().equals(data.column("t").combine_chunks())
        assert table.schema[0].zone == zone
        np.testing.assert_array_equal(table["t"][:], INSTANTS)


@pytest.mark.parametrize("place", PLACES)
def test_pandas_and_polars_zones_are_given_back(tmp_path, place):
    frame = arrow().to_pandas()
    assert str(frame["t"].dtype) == "datetime64[us, Europe/Berlin]"
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    with make(tmp_path / "a", frame, place) as table:
        pd.testing.assert_series_equal(table.to_pandas()["t"], frame["t"])
        assert table.to_polars()["t"].equals(pl.from_arrow(arrow())["t"])
        assert table.to_polars()["t"].dtype == pl.Datetime("us", "Europe/Berlin")
    with make(tmp_path / "b", pl.from_arrow(arrow()), place) as table:
        pd.testing.assert_series_equal(table.to_pandas()["t"], frame["t"])


@pytest.mark.parametrize(
    ("zone", "name"),
    [
        (UTC, "UTC"),
        (timezone(timedelta(hours=-3, minutes=-30)), "-03:30"),
        (BERLIN, "Europe/Berlin"),
        ("UTC", "UTC"),
    ],
)
def test_every_zone_of_pandas_has_a_name(tmp_path, zone, name):
    frame = pd.DataFrame({"t": pd.Series(INSTANTS).dt.tz_localize("UTC").dt.tz_convert(zone)})
    with make(tmp_path, frame) as table:
        assert table.schema[0].zone == name
        assert (table.to_pandas()["t"].dropna() == frame["t"].dropna()).all()


def test_categories_with_a_zone_are_refused(tmp_path):
    frame = pd.DataFrame({"t": pd.Categorical(pd.Series(INSTANTS).dt.tz_localize("UTC"))})
    with pytest.raises(TypeError, match="time zone"):
        make(tmp_path, frame)


AWARE = datetime(2024, 6, 1, 12, tzinfo=BERLIN)  # 10:00 UTC
CONDITIONS = {
    "t == '2024-06-01T12:00+02:00'": [1],
    "t == '2024-06-01T10:00Z'": [1],
    "t == '2024-06-01T10:00'": [1],
    "t >= '2024-10-27T02:30+02:00'": [2, 3],
    "t > '2024-10-27T02:30+02:00'": [3],
    "t in ['2024-01-01T12:00+01:00', '2024-10-27T02:30+01:00']": [0, 3],
    "t == aware": [1],
    "t == stamp": [1],
    "t in many": [1],
    "aware < t": [2, 3],
    "where(n > 0, t, t) == '2024-06-01T12:00+02:00'": [1],
}


@pytest.mark.parametrize("condition", CONDITIONS)
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("indexed", [False, True])
def test_conditions_compare_instants(tmp_path, condition, place, indexed):
    with make(tmp_path, arrow(), place) as table:
        if indexed:
            table.create_index("t")
        found = table.where(condition, {"aware": AWARE, "stamp": pd.Timestamp(AWARE), "many": [AWARE]})
        assert found.row_numbers().tolist() == CONDITIONS[condition]


def test_polars_conditions_compare_instants(tmp_path):
    with make(tmp_path, arrow()) as table:
        scan = table.scan_polars()
        for condition in (pl.col("t") == AWARE, pl.col("t") > AWARE, pl.col("t").is_in([AWARE])):
            expected = pl.from_arrow(arrow()).filter(condition)
            assert scan.filter(condition).collect()["n"].to_list() == expected["n"].to_list()


@pytest.mark.parametrize("place", PLACES)
def test_zones_stay_through_appends_copies_and_changes(tmp_path, place):
    with make(tmp_path, arrow(), place) as table:
        table.append({"t": np.array(["2024-06-01T10:00"], "M8[us]"), "n": [5]})
        table.append(arrow("America/New_York"))
        table.append(arrow().to_pandas())
        assert table["t"][5] == np.datetime64("2024-06-01T10:00")
        np.testing.assert_array_equal(table["t"][6:11], INSTANTS)
        np.testing.assert_array_equal(table["t"][11:], INSTANTS)
        for at, layout in enumerate(("rows", "columns")):
            with table.copy(tmp_path / f"copy{at}.h5", layout=layout) as copy:
                assert copy.to_arrow().equals(table.to_arrow())
        with cq.create_table(tmp_path / "picked.h5", table.where("n > 2")) as picked:
            assert picked.to_arrow().schema.field("t").type.tz == "Europe/Berlin"
        if place[1] == "columns":
            table.rename_column("t", "when")
            assert table.to_arrow().schema.field("when").type.tz == "Europe/Berlin"


@pytest.mark.parametrize("layout", ["rows", "columns"])
def test_the_command_keeps_zones_to_parquet_and_back(tmp_path, layout):
    source, middle, back = (str(tmp_path / name) for name in ("a.parquet", "b.h5", "c.parquet"))
    pyarrow.parquet.write_table(arrow(), source)
    assert main(["convert", source, middle, "--layout", layout]) == 0
    assert main(["convert", middle, back]) == 0
    assert pyarrow.parquet.read_table(back).equals(pyarrow.parquet.read_table(source))


def test_zones_inside_of_structs_stay_in_rows(tmp_path):
    inner = arrow().column("t").combine_chunks()
    data = pa.table(
        {"s": pa.StructArray.from_arrays([inner, inner.cast(pa.timestamp("us"))], ["zoned", "plain"])}
    )
    with make(tmp_path, data, ("t.h5", "rows")) as table:
        assert table.to_arrow().schema == data.schema


@pytest.mark.parametrize("layout", ["rows", "columns"])
def test_text_that_is_no_zone_is_ignored(tmp_path, layout):
    import h5py

    make(tmp_path, arrow(), ("t.h5", layout)).close()
    for text in ("\x1b[31m", "a" * 100, "", "é"):
        with h5py.File(tmp_path / "t.h5", "a") as file:
            place = file["table"] if layout == "rows" else file["table/t"]
            name = "FIELD_0_ATTR_zone" if layout == "rows" else "zone"
            place.attrs[name] = np.bytes_(text.encode())
        with cq.open_table(tmp_path / "t.h5") as table:
            assert table.schema[0].zone is None
