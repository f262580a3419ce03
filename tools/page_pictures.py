"""Takes the pictures of the page that the guide shows: `python -m tools.page_pictures`.

It writes docs/pictures/view-*.png, from the files of the tests, and needs what the tests in a browser need:
`make view`, Playwright and Chromium.
"""

from __future__ import annotations

import io
import pathlib
import tempfile
from typing import Any

import numpy as np
from PIL import Image
from playwright.sync_api import sync_playwright

import coquina as cq
from tests.view.conftest import ARGUMENTS, Command, Page, browser_path
from tests.view.samples import field, make_samples

PICTURES = pathlib.Path(__file__).parents[1] / "docs" / "pictures"
WIDTH, HEIGHT = 1280, 800
#: Of the width of the page; and as many colours as a drawing in colours needs.
SCALE, COLOURS = 0.75, 128


def keep(name: str, content: bytes) -> None:
    """Write a picture, smaller than the page, and with few colours."""
    picture = Image.open(io.BytesIO(content)).convert("RGB")
    size = (round(picture.width * SCALE), round(picture.height * SCALE))
    small = picture.resize(size, Image.Resampling.LANCZOS).quantize(COLOURS, dither=Image.Dither.NONE)
    small.save(PICTURES / f"{name}.png", optimize=True)


def take(shown: Page, name: str, height: int = HEIGHT) -> None:
    """Take a picture of the upper part of the page, once all of it is there."""
    shown.page.wait_for_function("() => !document.querySelector('[aria-busy=true]')")
    clip: Any = {"x": 0, "y": 0, "width": WIDTH, "height": height}
    keep(name, shown.page.screenshot(clip=clip))


def of_files(shown: Page) -> None:
    """Pictures of the files of the tests."""
    shown.open("climate.nc", "/t2m").drawn()
    shown.numbers()
    take(shown, "view-array")
    shown.open("trades").grid()
    shown.page.get_by_label("where").fill("price > 12 and name == 'n1'")
    shown.page.get_by_label("where").press("Enter")
    shown.page.locator(".count", has_text=" of 20").wait_for()
    shown.grid()
    take(shown, "view-table")
    shown.open("volume.b2nd").drawn()
    shown.page.get_by_label("axis 0", exact=True).fill("5")
    shown.selection("5,0:120,0:160")
    shown.tab("storage")
    shown.page.locator(".chunks canvas").focus()
    shown.page.keyboard.press("Home")
    shown.page.locator(".chosen", has_text="Chunk 0").wait_for()
    take(shown, "view-storage", 480)
    shown.open("run.h5", "/entry/run 1")
    shown.page.get_by_role("row", name="detector").wait_for()
    shown.page.get_by_role("treeitem", name="detector").wait_for()
    take(shown, "view-tree", 560)


def of_a_notebook(page: Any, folder: pathlib.Path) -> None:
    """A picture of frames in a page of another site, as notebooks are."""
    values = field(150, 200).astype("f8")
    packed = cq.asarray(values)
    with (
        cq.create_table(folder / "t.h5", {"n": np.arange(50), "v": np.arange(50) / 4}) as table,
        cq.view(packed * 2 + 1, browser=False) as first,
        cq.view(table, browser=False, name="table") as second,
    ):
        cells = [f"<h3>In [{at}]</h3>{one._repr_html_()}" for at, one in enumerate((first, second), 2)]
        page.set_content("".join(cells))
        frames = [page.frame_locator("iframe").nth(at) for at in range(2)]
        frames[0].locator(".vis[data-drawn][aria-busy=false]").wait_for()
        frames[0].locator(".card[aria-busy=false] .numbers dd").first.wait_for()
        frames[1].locator(".grid-cell", has_text="0.75").first.wait_for()
        keep("view-notebook", page.screenshot(full_page=True))
        page.close()


def main() -> None:
    """Take all pictures."""
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        folder = pathlib.Path(name) / "data"
        folder.mkdir()
        make_samples(folder)
        browser = playwright.chromium.launch(executable_path=browser_path(), args=ARGUMENTS)
        size: Any = {"width": WIDTH, "height": HEIGHT}
        command = Command(folder, "--keep")
        try:
            of_files(Page(browser.new_page(viewport=size), command.url))
        finally:
            command.end()
        of_a_notebook(browser.new_page(viewport=size), pathlib.Path(name))
        browser.close()


if __name__ == "__main__":
    main()
