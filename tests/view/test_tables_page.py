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


def test_a_table_of_a_billion_rows(shown, samples):
    with cq.hdf5.File(samples / "below" / "billion.h5", "w") as file:
        table = file.create_table("t", {"number": np.arange(10), "value": np.arange(10.0)})
        table.resize(10**9)
        table["value"][-2:] = 7.5
    shown.open("below/billion.h5", "/t")
    assert [row[:2] for row in shown.grid()[:10]] == [[str(n), str(n)] for n in range(10)]
    grid = shown.page.get_by_role("grid")
    assert grid.get_attribute("aria-rowcount") == str(10**9 + 1)
    grid.focus()
    shown.page.keyboard.press("Control+End")
    shown.page.locator(".grid-label", has_text="999 999 999").wait_for()
    assert shown.grid()[-1] == ["0", "7.5"]
    shown.picture("billion-rows-of-a-table")
    shown.tab("plot")
    shown.page.locator("figure.plot", has_text="rows, evenly taken").wait_for()
    shown.picture("billion-rows-plotted")


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
