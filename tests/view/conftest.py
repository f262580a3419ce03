"""A browser with the page, for a folder with a file of each kind.

Tests that need one are skipped where Chromium, Playwright or the built bundle is missing.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
from urllib.parse import urlencode

import pytest

from .samples import make_samples

#: Pictures of what the tests saw, for eyes.
SCREENSHOTS = pathlib.Path(__file__).parents[2] / "tests-out" / "view"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
ARGUMENTS = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu-compositing",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    # WebGL without a graphics card.
    "--use-gl=angle",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
]
#: For what a browser does on a machine with much else to do; passing tests do not wait.
TIMEOUT_MS = 60_000
# What the page shows is read in one step: it may be drawn anew between two.
NUMBERS = """() => {
    if (document.querySelector(".card[aria-busy=true]")) return null;
    if (!document.querySelector(".card .numbers dd")) return null;
    const pairs = [...document.querySelectorAll(".card .numbers > div")];
    return pairs.map((pair) => [...pair.children].map((one) => one.innerText));
}"""
CELLS = """() => {
    if (document.querySelector(".grid-cell.pending")) return null;
    if (!document.querySelector(".grid-row .grid-cell")) return null;
    const rows = [...document.querySelectorAll(".grid-row")];
    return rows.map((row) => [...row.querySelectorAll(".grid-cell")].map((one) => one.innerText));
}"""


def browser_path():
    """The browser's path, or None."""
    return os.environ.get("COQUINA_CHROMIUM") or next(filter(None, map(shutil.which, BROWSERS)), None)


def require_bundle():
    """Skip a test where the page is not built."""
    page = pytest.importorskip("coquina_view", reason="`make view` installs the page; it needs npm")
    try:
        page.folder()
    except FileNotFoundError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="session")
def samples(tmp_path_factory):
    """A folder with a file of each kind."""
    return make_samples(tmp_path_factory.mktemp("samples"))


class Command:
    """`coquina view` as a process, and the address that it printed."""

    def __init__(self, *arguments):
        """arguments: of the command."""
        words = [sys.executable, "-m", "coquina.cli", "view", *map(str, arguments), "--no-browser"]
        self.process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
        self.line = self.process.stdout.readline()
        self.url = re.search(r"http://\S+", self.line).group(0)

    def end(self):
        """Kill the process, if it runs, and return its exit code."""
        self.process.kill()
        self.process.stdout.close()
        return self.process.wait()


@pytest.fixture(scope="session")
def server(samples):
    require_bundle()
    command = Command(samples, "--keep")
    yield command.url
    command.end()


@pytest.fixture(scope="module")
def browser():
    """A browser. It is a module's: while it is open, no other test of the process can run an event loop."""
    require_bundle()
    playwright = pytest.importorskip("playwright.sync_api", reason="pip install playwright")
    if browser_path() is None:
        pytest.skip("Chromium is not installed (apt-get install chromium, or set COQUINA_CHROMIUM)")
    with playwright.sync_playwright() as context:
        opened = context.chromium.launch(executable_path=browser_path(), args=ARGUMENTS)
        yield opened
        opened.close()


class Page:
    """The page in a tab: what a user sees and does. page: Playwright's."""

    def __init__(self, page, url):
        """url: of the server, with its token."""
        self.page = page
        self.url = url
        self.errors = []
        page.set_default_timeout(TIMEOUT_MS)
        page.on("console", self._note)
        page.on("pageerror", lambda error: self.errors.append(str(error)))

    def _note(self, message):
        # The browser itself reports each refused request, as that of a wrong condition.
        if message.type == "error" and "status of 400" not in message.text:
            self.errors.append(message.text)

    def open(self, file=None, path="/", view=""):
        """Show an object from a fresh start."""
        place = "" if file is None else f"#{urlencode({'file': file, 'path': path, 'view': view})}"
        self.page.goto("about:blank")
        self.page.goto(self.url + place)
        return self

    def drawn(self):
        """Wait until a drawing stands, and return the lengths that were drawn."""
        found = self.page.wait_for_selector(".vis[data-drawn][aria-busy=false]")
        return tuple(int(length) for length in found.get_attribute("data-drawn").split(","))

    def selection(self, expected=None):
        """Return the selection of the shown part; once it is the expected one, if there is one."""
        found = self.page.locator(".selection")
        if expected is not None:
            self.page.wait_for_function(
                "text => document.querySelector('.selection')?.innerText === text", arg=f"[{expected}]"
            )
        return found.inner_text().strip("[]")

    def numbers(self):
        """Return the statistics of the shown part, or of a column, once they are there."""
        return dict(self.page.wait_for_function(NUMBERS).json_value())

    def grid(self):
        """Return the visible cells as rows of texts, once all are there."""
        return self.page.wait_for_function(CELLS).json_value()

    def download(self, name):
        """Follow a link that saves, and return the file's path."""
        with self.page.expect_download() as download:
            self.page.get_by_role("link", name=name, exact=True).click()
        return pathlib.Path(download.value.path())

    def link(self, name):
        """Return what a link that saves gives, without saving it."""
        answer = self.page.request.get(
            self.page.get_by_role("link", name=name, exact=True).get_attribute("href")
        )
        assert answer.ok, answer.text()
        return answer.body()

    def tab(self, name):
        """Choose a view."""
        self.page.get_by_role("tab", name=name).click()

    def picture(self, name):
        """Keep a picture, once what is beside the drawing is there too."""
        self.page.wait_for_function("() => !document.querySelector('.card[aria-busy=true]')")
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)
        self.page.screenshot(path=SCREENSHOTS / f"{name}.png")


def _page(browser, server, **options):
    context = browser.new_context(accept_downloads=True, **options)
    shown = Page(context.new_page(), server)
    yield shown
    context.close()
    assert shown.errors == []


@pytest.fixture(scope="module")
def tab(browser, server):
    """A tab, which all tests of a module use: scripts are read once."""
    yield from _page(browser, server, viewport={"width": 1280, "height": 800})


@pytest.fixture
def shown(tab):
    """The page. No test leaves an error in the console."""
    yield tab
    assert tab.errors == []


@pytest.fixture
def narrow(browser, server):
    """The page on a telephone."""
    yield from _page(browser, server, viewport={"width": 390, "height": 780})


@pytest.fixture
def dark(browser, server):
    """The page where the system is dark."""
    yield from _page(browser, server, viewport={"width": 1280, "height": 800}, color_scheme="dark")
