"""Objects of a process in a real browser, and servers that end when a real page is closed."""

import functools
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest

import coquina as cq

from .conftest import SCREENSHOTS, TIMEOUT_MS, Command, Page
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
    # Expressions of small arrays are computed at once.
    values = field(150, 200).astype("f8")
    lazy = (cq.asarray(values) - 1) * 2
    assert isinstance(lazy, cq.Expr)
    with cq.view({"raw": values, "scaled": lazy}, browser=False) as viewer:
        shown = opened(viewer.url)
        choose(shown, "scaled")
        assert shown.drawn() == (150, 200)
        numbers = shown.numbers()
        assert float(numbers["min"]) == pytest.approx(((values - 1) * 2).min(), rel=1e-4)
        assert np.allclose(np.load(shown.download("NPY")), (values - 1) * 2)
        shown.picture("expression")
        choose(shown, "raw")
        shown.page.get_by_role("heading", name="raw").wait_for()
        assert shown.drawn() == (150, 200)
        shown.page.close()


@pytest.fixture
def notebook(tmp_path):
    """Writes a page of another site, as notebooks are, with what a viewer shows there; gives its address."""
    handler = functools.partial(QuietHandler, directory=str(tmp_path))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()

        def write(*viewers):
            cells = "".join(f"<h3>In [{at}]</h3>{one._repr_html_()}" for at, one in enumerate(viewers, 1))
            (tmp_path / "notebook.html").write_text(f"<!doctype html><title>Notebook</title>{cells}")
            return f"http://localhost:{server.server_address[1]}/notebook.html"

        yield write
        server.shutdown()


class QuietHandler(SimpleHTTPRequestHandler):
    """Serves files, and logs nothing."""

    def log_message(self, *arguments):
        pass

    def send_error(self, code, *arguments):
        """Browsers ask for an icon."""
        self.send_response(204)
        self.end_headers()


def test_frames_of_notebooks_show_objects_of_the_process(opened, notebook, tmp_path):
    values = field(150, 200).astype("f8")
    packed = cq.asarray(values)
    with (
        cq.create_table(tmp_path / "t.h5", {"n": np.arange(50), "v": np.arange(50) / 4}) as table,
        cq.view(packed, browser=False, name="packed") as first,
        cq.view(packed * 2 + 1, browser=False) as second,
        cq.view(table, browser=False, name="table") as third,
    ):
        page = opened(notebook(first, second, third)).page
        page.set_viewport_size({"width": 1280, "height": 1800})
        frames = [page.frame_locator("iframe").nth(at) for at in range(3)]
        for frame, kind in zip(frames[:2], ("array", "expression"), strict=True):
            drawing = frame.locator(".vis[data-drawn][aria-busy=false]")
            drawing.wait_for()
            assert drawing.get_attribute("data-drawn") == "150,200"
            assert frame.locator(".title .fact").first.inner_text() == kind
            frame.locator(".card[aria-busy=false] .numbers dd").first.wait_for()
        greatest = frames[1].locator(".numbers > div", has_text="max").locator("dd").inner_text()
        assert float(greatest) == pytest.approx((values * 2 + 1).max(), rel=1e-4)
        frames[2].locator(".grid-cell", has_text="0.75").first.wait_for()
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)
        page.screenshot(path=SCREENSHOTS / "notebook.png", full_page=True)
        frames[0].get_by_role("tab", name="storage").click()
        frames[0].locator(".chunks canvas").wait_for()
        page.close()
        # Each server ends with the last page that shows it.
        assert all(one.wait(TIMEOUT_MS / 1000) for one in (first, second, third))


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
