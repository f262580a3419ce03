"""Objects of a process in a real browser, and servers that end when a real page is closed."""

import numpy as np
import pytest

import coquina as cq

from .conftest import TIMEOUT_MS, Command, Page
from .samples import field


@pytest.fixture
def opened(browser):
    """Opens addresses in tabs of their own; none leaves an error in the console."""
    context = browser.new_context(viewport={"width": 1280, "height": 800}, accept_downloads=True)
    pages = []

    def open_page(url):
        page = Page(context.new_page(), url)
        pages.append(page)
        return page.open()

    yield open_page
    context.close()
    assert [error for page in pages for error in page.errors] == []


def choose(shown, name):
    """Choose an object in the tree, unless it is shown already."""
    shown.page.get_by_role("treeitem", name=name).first.click()


def test_lazy_expressions_and_arrays_in_memory_are_drawn(opened):
    values = field(60, 80).astype("f8")
    packed = cq.asarray(values)
    with cq.view({"raw": values, "scaled": (packed - 1) * 2}, browser=False) as viewer:
        shown = opened(viewer.url)
        choose(shown, "scaled")
        assert shown.drawn() == (60, 80)
        numbers = shown.numbers()
        assert float(numbers["min"]) == pytest.approx(((values - 1) * 2).min(), rel=1e-4)
        assert np.allclose(np.load(shown.download("NPY")), (values - 1) * 2)
        shown.picture("expression")
        choose(shown, "raw")
        shown.page.get_by_role("heading", name="raw").wait_for()
        assert shown.drawn() == (60, 80)
        shown.page.close()


def test_tables_of_the_process_are_shown(opened, tmp_path):
    with (
        cq.create_table(tmp_path / "t.h5", {"n": np.arange(50), "v": np.arange(50) / 4}) as table,
        cq.view(table, browser=False, name="readings") as viewer,
    ):
        shown = opened(viewer.url)
        choose(shown, "readings")
        assert shown.grid()[3] == ["3", "0.75"]
        shown.page.close()


def test_the_command_ends_when_its_last_tab_is_closed(opened, samples):
    command = Command(samples / "volume.b2nd")
    try:
        first, second = opened(command.url), opened(command.url)
        for shown in (first, second):
            choose(shown, "volume.b2nd")
            shown.drawn()
        first.page.close(run_before_unload=False)
        second.page.reload()
        second.page.wait_for_timeout(4000)
        assert command.process.poll() is None
        second.page.close()
        assert command.process.wait(TIMEOUT_MS / 1000) == 0
    finally:
        command.end()
