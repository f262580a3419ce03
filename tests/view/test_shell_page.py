def test_the_tree_names_files_and_what_is_in_them(shown):
    shown.open()
    tree = shown.page.get_by_role("tree")
    tree.wait_for()
    names = tree.locator(".name").all_inner_texts()
    assert names == [
        "below", "climate.nc", "frames", "packed.blp", "pytables.h5", "rows.b2z", "run.h5", "small.b2e",
        "store.b2z", "trades", "tree.b2d", "volume.b2nd",
    ]  # fmt: skip
    shown.page.get_by_role("treeitem", name="run.h5").click()
    shown.page.get_by_role("treeitem", name="entry").click()
    shown.page.get_by_role("treeitem", name="run 1").click()
    detector = shown.page.get_by_role("treeitem", name="detector")
    assert "2400\u00d73000" in detector.inner_text()
    assert detector.locator(".sizes").inner_text().endswith("x")
    shown.page.get_by_role("row", name="detector").wait_for()
    shown.picture("tree")
    detector.click()
    assert shown.drawn() == (800, 1000)


def test_a_group_says_what_is_in_it(shown):
    """The number of a table's columns was their names, and a link in a circle was an error of all."""
    shown.open("run.h5")
    row = shown.page.get_by_role("row", name="events")
    row.wait_for()
    assert "500 rows \u00d7 6 columns" in row.inner_text()
    links = {"away": "/nothing", "circle": "/circle"}
    for name, to in links.items():
        assert f"\u2192 {to}" in shown.page.get_by_role("row", name=name).inner_text()
    for name in links:
        shown.page.get_by_role("treeitem", name=name).click()
        shown.page.get_by_role("heading", name=f"/{name}").wait_for()
    assert shown.page.get_by_role("alert").count() == 0


def test_an_address_opens_the_tree_where_it_leads(shown):
    shown.open("run.h5", "/entry/run 1/mask").drawn()
    item = shown.page.get_by_role("treeitem", name="mask")
    item.wait_for()
    assert item.get_attribute("aria-selected") == "true"
    assert item.get_attribute("aria-level") == "4"
    shown.page.get_by_role("treeitem", name="photo").click()
    shown.drawn()
    shown.page.go_back()
    shown.page.get_by_role("heading", name="/entry/run 1/mask").wait_for()


def test_keys_in_the_tree_and_between_views(shown):
    shown.open()
    shown.page.get_by_role("treeitem", name="below").wait_for()
    press = shown.page.keyboard.press
    press("Tab")
    assert shown.page.evaluate("document.activeElement.innerText.trim()") == "Skip to the data"
    press("Tab")
    press("Tab")
    assert shown.page.evaluate("document.activeElement.innerText").startswith("below")
    press("ArrowRight")
    shown.page.get_by_role("treeitem", name="line.b2nd").wait_for()
    press("ArrowRight")
    press("Enter")
    shown.page.get_by_role("heading", name="line.b2nd").wait_for()
    assert shown.drawn() == (10,)
    press("ArrowLeft")
    press("ArrowLeft")
    assert shown.page.get_by_role("treeitem", name="line.b2nd").count() == 0
    press("Tab")
    assert shown.page.evaluate("document.activeElement.getAttribute('role')") == "tab"
    press("ArrowRight")
    shown.page.get_by_role("tab", name="storage", selected=True).wait_for()
    # Two keys at once: the second one goes on from where the first one led.
    press("ArrowLeft")
    press("ArrowLeft")
    shown.page.get_by_role("tab", name="attributes", selected=True).wait_for()


def test_errors_of_the_server_are_told(shown):
    shown.page.on("console", lambda message: None)
    shown.open("run.h5", "/away")
    shown.page.get_by_role("tab", name="attributes").wait_for()
    shown.open("run.h5", "/nothing/here")
    assert "there is no such object" in shown.page.get_by_role("alert").inner_text()
    shown.errors[:] = [text for text in shown.errors if "404" not in text]


def test_the_tree_lies_over_the_data_on_narrow_screens(narrow):
    narrow.open("climate.nc", "/t2m").drawn()
    menu = narrow.page.get_by_role("button", name="Files")
    tree = narrow.page.get_by_role("tree")
    assert not tree.is_visible()
    assert narrow.page.evaluate("document.documentElement.scrollWidth") == 390
    narrow.picture("narrow-array")
    menu.click()
    assert menu.get_attribute("aria-expanded") == "true"
    narrow.picture("narrow-tree")
    narrow.page.get_by_role("treeitem", name="trades").click()
    tree.wait_for(state="hidden")
    narrow.grid()
    assert narrow.page.evaluate("document.documentElement.scrollWidth") == 390
    narrow.picture("narrow-table")


def test_dark_and_light(dark):
    dark.open("climate.nc", "/t2m").drawn()
    colour = "getComputedStyle(document.body).backgroundColor"
    assert dark.page.evaluate(colour) == "rgb(18, 24, 28)"
    dark.picture("dark")
    dark.page.get_by_role("button", name="Colours").click()
    assert dark.page.evaluate(colour) == "rgb(245, 247, 248)"
    dark.page.reload()
    dark.drawn()
    assert dark.page.evaluate(colour) == "rgb(245, 247, 248)"


def test_controls_have_names(shown):
    for place in (("volume.b2nd", "/", ""), ("trades", "/", ""), ("trades", "/", "plot")):
        shown.open(*place)
        shown.page.wait_for_selector(".vis canvas, .plot canvas, .grid-cell")
        nameless = shown.page.evaluate("""() => [...document.querySelectorAll('button, input, select, a')]
            .filter((one) => one.checkVisibility() && !(one.innerText || one.ariaLabel || one.title
                || one.labels?.length || one.getAttribute('aria-labelledby')))
            .map((one) => one.outerHTML)""")
        assert nameless == []
