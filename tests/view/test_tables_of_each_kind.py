"""Every view of tables, for a file of each kind and for a table of the process."""

import contextlib
import csv
import io

import numpy as np
import pyarrow.parquet
import pytest

import coquina as cq

from .conftest import Command, require_bundle
from .kinds import ROWS, TABLES, table_columns, write_tables

CONDITION = "price > 12 and name == 'n1'"


@pytest.fixture(scope="module")
def places(tmp_path_factory):
    """The address of a server of a folder, where in it each table is, and the folder."""
    require_bundle()
    folder = tmp_path_factory.mktemp("tables")
    found = write_tables(folder)
    command = Command(folder, "--keep")
    yield command.url, found, folder
    command.end()


@pytest.fixture
def show(shown, places):
    """Shows a table of a kind. That of the process has a server of its own for each test."""
    with contextlib.ExitStack() as stack:

        def open_page(kind):
            shown.url, found, folder = places
            if kind != "memory":
                return shown.open(*found[kind])
            table = stack.enter_context(cq.open_table(folder / "directory"))
            viewer = stack.enter_context(cq.view({"t": table}, browser=False))
            # A page whose server is gone would say so in the console.
            stack.callback(shown.page.goto, "about:blank")
            shown.url = viewer.url
            return shown.open("t")

        yield open_page


@pytest.fixture(scope="module")
def columns():
    return table_columns()


def whole(count):
    return f"{count:,}".replace(",", "\u202f")


def near(text, value):
    return float(text.replace("\u202f", "").replace("\u2212", "-")) == pytest.approx(float(value), rel=1e-4)


@pytest.mark.parametrize("kind", TABLES)
def test_rows_are_sorted_and_columns_counted(show, columns, kind):
    shown = show(kind)
    assert shown.grid()[3][:1] == ["3"]
    shown.picture(f"rows-{kind}")
    head = shown.page.get_by_role("columnheader", name="volume")
    wanted = np.sort(columns["volume"])
    for order, values in (("ascending", wanted), ("descending", wanted[::-1]), ("none", columns["volume"])):
        head.locator(".sort").click()
        shown.page.wait_for_selector(f".grid-head[aria-sort={order}] >> text=volume")
        found = [int(row[2]) for row in shown.grid()]
        assert found == values[: len(found)].tolist()
    shown.page.get_by_role("button", name="Statistics of price").click()
    numbers = shown.numbers()
    assert near(numbers["count"], (~np.isnan(columns["price"])).sum()) or near(numbers["count"], ROWS)
    assert near(numbers["mean"], np.nanmean(columns["price"]))
    shown.page.get_by_label("Histogram of price").wait_for()
    shown.page.get_by_role("button", name="Statistics of name").click()
    shown.page.get_by_role("table", name="Most frequent values").wait_for()
    shown.picture(f"column-{kind}")
    assert shown.page.get_by_role("alert").count() == 0


@pytest.mark.parametrize("kind", TABLES)
def test_conditions_find_rows_or_say_where_they_are_wrong(show, columns, kind):
    shown = show(kind)
    shown.grid()
    box = shown.page.get_by_label("where")
    matches = np.flatnonzero((columns["price"] > 12) & (np.asarray(columns["name"]) == "n1"))
    box.fill(CONDITION.replace("name", "nme"))
    box.press("Enter")
    error = shown.page.get_by_role("alert")
    error.wait_for()
    wrong = CONDITION.replace("name", "nme")
    assert error.locator("pre").inner_text().split("\n") == [wrong, " " * 15 + "^"]
    assert "'nme' is not a column" in error.inner_text()
    assert box.get_attribute("aria-invalid") == "true"
    shown.picture(f"where-error-{kind}")
    box.fill(CONDITION)
    box.press("Enter")
    shown.page.locator(".count", has_text=f"{len(matches)} of {whole(ROWS)} rows").wait_for()
    assert error.count() == 0
    found = [int(row[0]) for row in shown.grid()]
    assert found == matches[: len(found)].tolist()
    shown.picture(f"where-{kind}")
    saved = pyarrow.parquet.read_table(io.BytesIO(shown.link("Parquet")))
    assert saved["number"].to_pylist() == matches.tolist()
    lines = list(csv.DictReader(shown.link("CSV").decode().splitlines()))
    assert [int(line["number"]) for line in lines] == matches.tolist()
    # The condition is that of the plot and of the statistics too.
    shown.tab("plot")
    shown.page.locator("figure.plot", has_text=f"{len(matches)} rows").wait_for()
    shown.page.get_by_label("y", exact=True).select_option("volume")
    shown.page.get_by_role("figure", name="volume by number").wait_for()
    shown.picture(f"plot-{kind}")
    shown.tab("columns")
    shown.page.get_by_role("button", name="price", exact=True).click()
    shown.page.get_by_role("heading", name="price", exact=True).wait_for()
    assert near(shown.numbers()["mean"], columns["price"][matches].mean())
    shown.tab("rows")
    shown.page.get_by_role("button", name="All rows").click()
    shown.page.locator(".count", has_text=f"{whole(ROWS)} of").wait_for()


@pytest.mark.parametrize("kind", TABLES)
def test_columns_plots_storage_and_attributes(show, kind):
    """The chunks of columns of text and of times were an error."""
    shown = show(kind)
    shown.grid()
    page = shown.page
    names = page.locator(".grid-head .name").all_inner_texts()
    shown.tab("columns")
    for name in names:
        page.get_by_role("button", name=name, exact=True).click()
        page.get_by_role("heading", name=name, exact=True).wait_for()
        page.wait_for_function("() => !document.querySelector('.card[aria-busy=true]')")
    shown.tab("plot")
    page.locator("figure.plot", has_text=f"{whole(ROWS)} rows").wait_for()
    shown.tab("storage")
    is_records = kind in ("rows", "pytables")
    for name in [""] if is_records else names:
        if name:
            page.get_by_role("button", name=name, exact=True).click()
        page.locator(".chunks canvas").wait_for()
    shown.picture(f"table-storage-{kind}")
    shown.tab("attributes")
    page.get_by_role("tab", name="attributes", selected=True).wait_for()
    page.get_by_role("row", name="table").first.wait_for()
    assert page.get_by_role("alert").count() == 0
