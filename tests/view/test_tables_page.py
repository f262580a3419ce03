import csv
import io

import numpy as np
import pyarrow.parquet
import pytest

import coquina as cq

from .samples import ROWS, table_columns


@pytest.fixture(scope="module")
def columns():
    return table_columns(ROWS)


def ask(shown, condition):
    """Type a condition into the box."""
    shown.page.get_by_label("where").fill(condition)
    shown.page.get_by_label("where").press("Enter")


def count(shown, text):
    """Wait until the page says how many rows there are."""
    shown.page.locator(".count", has_text=text).wait_for()


#: A file of each kind, a table in it, and the first cells of its first row.
KINDS = [
    ("trades", "/", ["0", "", "1098", "n0", "2024-01-01T00:00:00", "true"]),
    ("run.h5", "/events", ["0", "", "4868", "n0", "2024-01-01T00:00:00", "true"]),
    ("rows.b2z", "/", ["0", "", "1464", "n0", "2024-01-01T00:00:00", "true"]),
    ("pytables.h5", "/readings", ["0", "1000", "north"]),
]


@pytest.mark.parametrize(("file", "path", "first"), KINDS)
def test_tables_of_each_kind_are_shown(shown, file, path, first):
    shown.open(file, path)
    row = shown.grid()[0]
    assert [row[0], *row[3:]] == [first[0], *first[3:]]
    shown.picture(f"table-{file}")
    count = int(shown.page.get_by_role("grid").get_attribute("aria-rowcount")) - 1
    saved = pyarrow.parquet.read_table(io.BytesIO(shown.link("Parquet")))
    lines = list(csv.reader(shown.link("CSV").decode().splitlines()))
    assert saved.num_rows == len(lines) - 1 == count
    assert lines[0] == saved.column_names
    assert [int(line[0]) for line in lines[1:]] == saved[0].to_pylist()


@pytest.mark.parametrize(("file", "path"), [kind[:2] for kind in KINDS])
def test_every_view_of_tables_of_each_kind(shown, file, path):
    """The chunks of columns of text and of times were an error."""
    shown.open(file, path).grid()
    page = shown.page
    rows = f"{int(page.get_by_role('grid').get_attribute('aria-rowcount')) - 1:,}".replace(",", "\u202f")
    names = page.locator(".grid-head .name").all_inner_texts()
    page.get_by_role("button", name=f"Statistics of {names[0]}", exact=True).click()
    page.get_by_role("heading", name=names[0], exact=True).wait_for()
    shown.tab("columns")
    for name in names:
        page.get_by_role("button", name=name, exact=True).click()
        page.get_by_role("heading", name=name, exact=True).wait_for()
        page.wait_for_function("() => !document.querySelector('.card[aria-busy=true]')")
    shown.tab("plot")
    page.locator("figure.plot", has_text=f"{rows} rows").wait_for()
    shown.tab("storage")
    chosen = names if page.get_by_role("table", name="Sizes of columns").count() else [""]
    for name in chosen:
        if name:
            page.get_by_role("button", name=name, exact=True).click()
        page.locator(".chunks canvas").wait_for()
    shown.picture(f"table-storage-{file}")
    shown.tab("attributes")
    page.get_by_role("tab", name="attributes", selected=True).wait_for()
    assert page.get_by_role("alert").count() == 0


def test_only_visible_rows_are_asked(shown, columns):
    asked = []

    def note(request):
        if "/rows/" in request.url:
            asked.append(request.url)

    shown.page.on("request", note)
    shown.open("trades").grid()
    grid = shown.page.get_by_role("grid")
    assert grid.get_attribute("aria-rowcount") == str(ROWS + 1)
    grid.evaluate("grid => { grid.scrollTop = grid.scrollHeight }")
    shown.page.locator(".grid-label", has_text="19 999").wait_for()
    assert shown.grid()[-1][:1] == [str(ROWS - 1)]
    assert 2 <= len(asked) <= 4
    shown.page.remove_listener("request", note)


def test_keys_move_in_the_grid(shown):
    shown.open("trades").grid()
    grid = shown.page.get_by_role("grid")
    grid.focus()
    for key in ("ArrowDown", "ArrowDown", "ArrowRight"):
        shown.page.keyboard.press(key)
    assert grid.get_attribute("aria-activedescendant") == "cell-2-1"
    shown.page.keyboard.press("Control+End")
    assert grid.get_attribute("aria-activedescendant") == f"cell-{ROWS - 1}-5"
    shown.page.keyboard.press("PageUp")
    shown.page.keyboard.press("Home")
    row = int(grid.get_attribute("aria-activedescendant").split("-")[1])
    assert ROWS - 60 < row < ROWS - 1
    shown.grid()
    assert shown.page.locator(".grid-cell[aria-selected=true]").inner_text() == str(row)


def test_a_click_on_a_head_sorts_up_then_down_then_not(shown, columns):
    shown.open("trades").grid()
    head = shown.page.get_by_role("columnheader", name="volume")
    for order, values in (
        ("ascending", np.sort(columns["volume"])),
        ("descending", np.sort(columns["volume"])[::-1]),
        ("none", columns["volume"]),
    ):
        head.locator(".sort").click()
        shown.page.wait_for_selector(f".grid-head[aria-sort={order}] >> text=volume")
        found = [int(row[2]) for row in shown.grid()]
        assert found == values[: len(found)].tolist()


def test_a_condition_finds_rows(shown, columns):
    shown.open("trades").grid()
    ask(shown, "price > 12 and name == 'n1'")
    matches = np.flatnonzero((columns["price"] > 12) & (np.asarray(columns["name"]) == "n1"))
    count(shown, f"{len(matches)} of 20\u202f000 rows")
    found = [int(row[0]) for row in shown.grid()]
    assert found == matches[: len(found)].tolist()
    shown.picture("where")
    shown.page.get_by_role("button", name="All rows").click()
    count(shown, "20\u202f000 of")


def test_a_wrong_condition_shows_where(shown):
    shown.open("trades").grid()
    ask(shown, "price > 12 and nme == 'n1'")
    error = shown.page.get_by_role("alert")
    error.wait_for()
    assert error.locator("pre").inner_text().split("\n") == ["price > 12 and nme == 'n1'", " " * 15 + "^"]
    assert "'nme' is no column" in error.inner_text()
    assert shown.page.get_by_label("where").get_attribute("aria-invalid") == "true"
    shown.picture("where-error")
    ask(shown, "price > 12")
    count(shown, " of 20\u202f000 rows")
    assert error.count() == 0


def test_statistics_of_a_column_are_those_of_the_found_rows(shown, columns):
    shown.open("trades").grid()
    ask(shown, "price > 12")
    shown.page.get_by_role("button", name="Statistics of price").click()
    numbers = shown.numbers()
    values = columns["price"][columns["price"] > 12]
    assert numbers["count"].replace("\u202f", "") == str(len(values))
    assert float(numbers["mean"]) == pytest.approx(values.mean(), rel=1e-5)
    shown.page.get_by_role("button", name="Statistics of name").click()
    shown.page.get_by_role("table", name="Most frequent values").wait_for()
    shown.picture("column-statistics")


def test_columns_with_sizes(shown):
    shown.open("trades", view="columns")
    row = shown.page.get_by_role("row", name="number").first
    assert "int64" in row.inner_text()
    shown.page.get_by_role("button", name="flag").click()
    shown.page.get_by_role("heading", name="flag").wait_for()


def test_two_columns_are_plotted(shown):
    shown.open("pytables.h5", "/readings", "plot")
    shown.page.get_by_label("x", exact=True).wait_for()
    shown.page.locator("figure.plot", has_text="1\u202f000 rows").wait_for()
    shown.page.get_by_label("y", exact=True).select_option("id")
    shown.page.get_by_role("figure", name="id by id").wait_for()
    shown.open("trades", view="plot")
    shown.page.locator("figure.plot", has_text="20\u202f000 rows").wait_for()
    shown.page.wait_for_timeout(200)
    shown.picture("plot")


def test_found_rows_are_saved(shown, columns):
    shown.open("trades").grid()
    ask(shown, "volume > 4900")
    wanted = int((columns["volume"] > 4900).sum())
    count(shown, f"{wanted} of")
    saved = pyarrow.parquet.read_table(shown.download("Parquet"))
    assert saved["volume"].to_numpy().tolist() == columns["volume"][columns["volume"] > 4900].tolist()
    lines = shown.download("CSV").read_text().splitlines()
    assert lines[0].replace('"', "") == "number,price,volume,name,when,flag"
    assert len(lines) == wanted + 1


def test_storage_of_columns_and_of_records(shown):
    shown.open("trades", view="storage")
    shown.page.get_by_role("button", name="price").click()
    shown.page.get_by_role("img", name="5 chunks").wait_for()
    shown.picture("storage-table")
    shown.open("pytables.h5", "/readings", "storage")
    shown.page.get_by_role("img", name="1 chunks").wait_for()


def test_a_billion_rows(shown, samples):
    with cq.zeros((10**9, 3), dtype="i4", path=samples / "below" / "zeros.b2nd", chunks=(10**6, 3)) as array:
        array[999_999_990:] = 7
    shown.open("below/zeros.b2nd")
    shown.page.get_by_role("radio", name="matrix").click()
    shown.grid()
    shown.page.get_by_role("grid").focus()
    shown.page.keyboard.press("Control+End")
    shown.page.locator(".grid-label", has_text="999 999 999").wait_for()
    assert shown.grid()[-1] == ["7", "7", "7"]
    # The wheel moves by rows here, as in any grid, and not by pixels of a bar that stands for a billion rows.
    shown.page.get_by_role("grid").hover()
    shown.page.mouse.wheel(0, -280)
    shown.page.locator(".grid-label", has_text="999 999 999").wait_for(state="detached")
    shown.page.locator(".grid-label", has_text="999 999 989").wait_for()
    shown.picture("billion-rows")
