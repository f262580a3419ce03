"""`coquina browse` by textual's pilot: what a user sees and which keys do what, for a file of each kind."""

import asyncio
import json
import pathlib

import numpy as np
import pytest

import coquina as cq
from coquina.cli import main
from tests.view.samples import ROWS, field, make_samples, table_columns

textual = pytest.importorskip("textual", reason="pip install 'coquina[browse]'")

from textual.widgets import Input  # noqa: E402  (after the check that textual is there)

from coquina.cli.browsing import plots  # noqa: E402
from coquina.cli.browsing.app import Browser  # noqa: E402
from coquina.cli.browsing.nodes import Library  # noqa: E402

#: Pictures of what the tests saw, for eyes.
SCREENSHOTS = pathlib.Path(__file__).parents[2] / "tests-out" / "browse"


@pytest.fixture(scope="module")
def samples(tmp_path_factory):
    return make_samples(tmp_path_factory.mktemp("samples"))


class Shown:
    """The application in a terminal of 110 x 34. pilot: textual's."""

    def __init__(self, app, pilot):
        self.app, self.pilot = app, pilot

    async def choose(self, *names):
        """Open the nodes of the tree that lead to one, and choose it with Enter."""
        tree = self.app._tree
        node = tree.root
        for name in names:
            node.expand()
            await self.pilot.pause()
            node = next(child for child in node.children if child.data.name == name)
        tree.focus()
        tree.move_cursor(node)
        await self.press("enter")

    async def press(self, *keys):
        await self.pilot.press(*keys)
        await self.pilot.pause()

    def text(self, name):
        return str(self.app.query_one(name).render())

    def grid(self):
        """The cells in sight, line by line."""
        return [line.split() for line in self.app._grid.render().plain.split("\n")]

    def picture(self, name):
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)
        self.app.save_screenshot(f"{name}.svg", str(SCREENSHOTS))


def browsing(path, act, size=(110, 34)):
    """Run the application on a path, and act in it."""

    async def run():
        with Library(str(path)) as library:
            app = Browser(library)
            async with app.run_test(size=size) as pilot:
                await pilot.pause()
                await act(Shown(app, pilot))

    asyncio.run(run())


@pytest.mark.parametrize(
    ("names", "first"),
    [
        (("volume.b2nd",), "0.0473709"),
        (("run.h5", "entry", "run 1", "mask"), "False"),
        (("climate.nc", "t2m"), "273.15"),
        (("pytables.h5", "readings"), "1000"),
        (("store.b2z", "day 1", "grid"), "0.4"),
        (("packed.blp",), "-0.2"),
        (("trades",), "1098"),
        (("below", "line.b2nd"), "0"),
        (("run.h5", "label"), "text"),
        (("run.h5", "temperature"), "21.5"),
    ],
)
def test_a_file_of_each_kind_is_shown_as_a_grid_and_as_a_plot(samples, names, first):
    async def act(shown):
        await shown.choose(*names)
        assert any(cell.startswith(first) for cell in shown.grid()[1]) or names[-1] in ("grid", "packed.blp")
        await shown.press("p")
        plot = shown.text("#plot")
        assert any(one in "▀█" or "\u2800" < one <= "\u28ff" for one in plot) or plot == "no numbers to plot"
        shown.picture("-".join(names).replace("/", "-").replace(" ", "-"))

    browsing(samples, act)


def test_the_tree_opens_by_keys_and_names_shapes(samples):
    async def act(shown):
        labels = [str(child.label) for child in shown.app._tree.root.children]
        assert labels[0] == "below"
        assert "run.h5  hdf5" in labels
        await shown.choose("run.h5", "entry", "run 1")
        assert ["detector", "array", "float32", "2400x3000"] in [row[1:5] for row in shown.grid()]
        below = shown.app._tree.cursor_node
        await shown.press("space")
        assert "detector  2400x3000" in [str(child.label) for child in below.children]

    browsing(samples, act)


def test_brackets_move_through_planes_along_the_chosen_axis(tmp_path):
    values = np.arange(2 * 3 * 4 * 5).reshape(2, 3, 4, 5)
    cq.asarray(values, path=tmp_path / "x.b2nd").close()

    async def act(shown):
        await shown.press("right_square_bracket", "a", "right_square_bracket", "right_square_bracket")
        assert shown.grid()[1][1:] == [str(one) for one in values[1, 2, 0]]
        await shown.press("right_square_bracket", "left_square_bracket")
        assert shown.grid()[4][1:] == [str(one) for one in values[1, 1, 3]]

    browsing(tmp_path / "x.b2nd", act)


def test_a_condition_and_a_sort_choose_rows_and_mistakes_are_told(samples):
    columns = table_columns(ROWS)
    matches = np.flatnonzero((columns["price"] > 12) & (columns["volume"] < 100))

    async def act(shown):
        await shown.choose("trades")
        shown.app._grid.focus()
        await shown.press("slash", *"price > 12 and volume < 100", "enter")
        assert f"{len(matches)} of {ROWS} rows" in shown.text("#facts")
        assert [int(row[1]) for row in shown.grid()[1:]][:5] == matches[:5].tolist()
        await shown.press("right", "right", "s", "s")
        volumes = np.sort(columns["volume"][matches])[::-1]
        assert [int(row[3]) for row in shown.grid()[1:]][:5] == volumes[:5].tolist()
        await shown.press("slash")
        shown.app.query_one(Input).value = "nme > 3"
        await shown.press("enter")
        assert "'nme' is not a column" in shown.text("#message")
        assert "^^^" in shown.text("#message")
        shown.picture("where-error")
        await shown.press("escape")
        assert f"{len(matches)} of {ROWS} rows" in shown.text("#facts")

    browsing(samples, act)


def test_a_billion_rows_and_columns_are_read_where_they_are_in_sight(tmp_path):
    with cq.zeros((10**9, 10**4), dtype="i2", path=tmp_path / "big.b2nd", chunks=(10**5, 100)) as array:
        array[-1, -1] = 7

    async def act(shown):
        shown.app._grid.focus()
        await shown.press("end")
        assert shown.grid()[-1][0] == str(10**9 - 1)
        shown.app._grid._go(10**9 - 1, 10**4 - 1)
        assert shown.grid()[-1][-1] == "7"
        await shown.press("pageup", "home", "pagedown")
        assert shown.app._grid.row == shown.app._grid._fitting

    browsing(tmp_path / "big.b2nd", act)


def test_narrow_terminals_and_damaged_files_raise_nothing(samples, tmp_path):
    raw = bytearray((samples / "volume.b2nd").read_bytes())
    raw[200:4000] = bytes(3800)
    (tmp_path / "damaged.b2nd").write_bytes(raw)
    (tmp_path / "cut.b2nd").write_bytes(raw[:900])

    async def act(shown):
        for name in ("damaged.b2nd", "cut.b2nd"):
            if any(child.data.name == name for child in shown.app._tree.root.children):
                await shown.choose(name)
                assert shown.text("#message") or shown.app._grid.render().plain
                await shown.press("p", "p")

    browsing(tmp_path, act)
    browsing(samples, lambda shown: shown.choose("trades"), size=(40, 8))


def test_lines_show_extremes_and_planes_show_colours():
    values = np.zeros(100_000)
    values[77_777] = 5
    rows = plots.line(values, 62, 9).plain.split("\n")
    at = 12 + 77_777 * 50 // 100_000
    assert rows[0].strip().startswith("5")
    assert [row[at] != "\u2800" for row in rows[:8]] == [True] * 8
    made = plots.plane(field(40, 60), 30, 12)
    assert {len(row) for row in made.plain.split("\n")[:-1]} == {30}
    assert any("rgb(253,231,37)" in str(span.style) for span in made.spans)
    assert plots.line(np.full(3, np.nan), 20, 5).plain == "no numbers to plot"


def test_the_tree_as_json_and_without_a_terminal(samples, capsys):
    assert main(["browse", str(samples / "run.h5"), "--json"]) == 0
    found = {one["path"]: one for one in json.loads(capsys.readouterr().out)["objects"]}
    assert found["/entry/run 1/detector"]["shape"] == [2400, 3000]
    assert found["/events"]["rows"] == 500
    assert main(["browse", str(samples)]) == 1
    assert "needs a terminal" in capsys.readouterr().err
