"""`Browser`: the application of `coquina browse`, by textual.

In: a library of files. Out: a tree, the facts of what is chosen there, and its values as a grid or a plot.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, cast

from rich.text import Text
from textual import on
from textual.app import App, ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal, Vertical
from textual.widgets import Footer, Input, Static, Tree

from coquina.arrays.info import human
from coquina.cli.browsing import plots
from coquina.cli.browsing.grid import FAILURES, Grid
from coquina.cli.browsing.nodes import Library as Library
from coquina.cli.browsing.nodes import Node
from coquina.cli.browsing.sources import ArraySource, GroupSource, Source, TableSource
from coquina.server.describing import facts
from coquina.server.objects import Found, as_array

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.widgets.tree import TreeNode

_FACTS = (
    "dtype",
    "shape",
    "rows",
    "chunks",
    "blocks",
    "codec",
    "filters",
    "pipeline",
    "layout",
    "units",
    "to",
)
_ATTRIBUTES_SHOWN = 6
_VALUE_WIDTH = 60


class Browser(App[None]):
    """The application."""

    TITLE = "coquina"
    CSS = """
    Tree { width: 34; border-right: solid $primary; }
    #facts { height: auto; max-height: 12; padding: 0 1; }
    #where { display: none; }
    #message { height: auto; padding: 0 1; color: $error; }
    Grid { height: 1fr; padding: 0 1; }
    #plot { height: 1fr; padding: 0 1; display: none; }
    """
    BINDINGS: ClassVar[list[Any]] = [
        Binding("q", "quit", "Quit"),
        Binding("p", "plot", "Plot"),
        Binding("slash", "where", "Where"),
        Binding("s", "sort", "Sort"),
        Binding("left_square_bracket", "index(-1)", "Previous", key_display="["),
        Binding("right_square_bracket", "index(1)", "Next", key_display="]"),
        Binding("a", "axis", "Axis"),
        Binding("escape", "leave", "Back", show=False),
    ]

    def __init__(self, library: Library) -> None:
        """library: stays open until the application has ended."""
        super().__init__()
        self._library = library
        self._source: Source | None = None
        self._found: Found | None = None
        self._axis = 0
        self._is_plotted = False

    def compose(self) -> ComposeResult:
        """Make the widgets."""
        top = self._library.top
        with Horizontal():
            yield Tree(Text(top.name), data=top)
            with Vertical():
                yield Static(id="facts")
                yield Input(placeholder="price > 10 and name == 'ABC'", id="where")
                yield Static(id="message")
                yield Grid(id="grid")
                yield Static(id="plot")
        yield Footer()

    def on_mount(self) -> None:
        """Open the first level of the tree, and what a single file holds."""
        tree = self._tree
        tree.root.expand()
        tree.focus()
        if self._library.top.path is not None:
            self._show(self._library.top)

    @property
    def _tree(self) -> Tree[Node]:
        return cast("Tree[Node]", self.query_one(Tree))

    @property
    def _grid(self) -> Grid:
        return self.query_one(Grid)

    @on(Tree.NodeExpanded)
    def _expand(self, event: Tree.NodeExpanded[Node]) -> None:
        node = event.node
        if node.data is None or node.children:
            return
        try:
            below = self._library.children(node.data)
        except FAILURES as error:
            self._say(error)
            return
        for one in below:
            _add(node, one)

    @on(Tree.NodeSelected)
    def _select(self, event: Tree.NodeSelected[Node]) -> None:
        if event.node.data is not None:
            self._show(event.node.data)

    def _show(self, node: Node) -> None:
        self._source = self._found = None
        self._axis = 0
        self.query_one("#where", Input).display = False
        self._say("")
        try:
            if node.path is not None and node.kind != "link":
                self._found = self._library.open(node)
                self._source = _source_of(self._found)
        except FAILURES as error:
            self._say(error)
        self._grid.show(self._source)
        self._tell()
        self._draw()

    def _tell(self) -> None:
        """Show the facts of what is chosen."""
        where = self.query_one("#facts", Static)
        where.update(Text("") if self._found is None else _told(self._found, self._source, self._axis))

    def _say(self, what: object) -> None:
        """Show a message, or nothing for an empty one."""
        self.query_one("#message", Static).update(Text(str(getattr(what, "message", what))))

    def action_plot(self) -> None:
        """Show a plot in place of the grid, or the grid again."""
        self._is_plotted = not self._is_plotted
        self._grid.display = not self._is_plotted
        self.query_one("#plot", Static).display = self._is_plotted
        self.call_after_refresh(self._draw)

    def on_resize(self) -> None:
        """Draw the plot in its new size."""
        self.call_after_refresh(self._draw)

    def _draw(self) -> None:
        if not self._is_plotted:
            return
        plot = self.query_one("#plot", Static)
        try:
            plot.update(_plotted(self._source, self._grid, plot.size.width - 2, plot.size.height))
        except FAILURES as error:
            self._say(error)

    def action_index(self, by: int) -> None:
        """Show another plane of an array."""
        if isinstance(self._source, ArraySource) and self._source.index:
            self._source.move(self._axis, by)
            self._tell()
            self._grid.refresh()
            self._draw()

    def action_axis(self) -> None:
        """Choose the axis that `[` and `]` move along."""
        if isinstance(self._source, ArraySource) and self._source.index:
            self._axis = (self._axis + 1) % len(self._source.index)
            self._tell()

    def action_sort(self) -> None:
        """Sort a table by the column of the cursor."""
        source = self._source
        if isinstance(source, TableSource):
            self._changed(lambda: source.turn(self._grid.column))

    def action_where(self) -> None:
        """Ask for a condition."""
        if isinstance(self._source, TableSource):
            box = self.query_one("#where", Input)
            box.display = True
            box.focus()

    @on(Input.Submitted, "#where")
    def _ask(self, event: Input.Submitted) -> None:
        source, condition = self._source, event.value.strip() or None
        if isinstance(source, TableSource) and self._changed(lambda: source.ask(condition)):
            self._grid.focus()

    def _changed(self, change: Callable[[], None]) -> bool:
        """Change which rows of a table are shown; return whether that went well."""
        try:
            change()
        except FAILURES as error:
            self._say(error)
            return False
        self._say("")
        column = self._grid.column
        self._grid.show(self._source)
        self._grid.column = column
        self._tell()
        self._draw()
        return True

    def action_leave(self) -> None:
        """Go back from the condition to the grid, from there to the tree."""
        box = self.query_one("#where", Input)
        if box.has_focus:
            box.display = False
            self._say("")
            self._grid.focus()
        else:
            self._tree.focus()


def _add(above: TreeNode[Node], one: Node) -> None:
    label = Text.assemble(one.name, (f"  {one.detail}", "dim")) if one.detail else Text(one.name)
    if one.has_children:
        above.add(label, data=one)
    else:
        above.add_leaf(label, data=one)


def _source_of(found: Found) -> Source | None:
    if found.kind == "group":
        return GroupSource(found)
    if found.kind == "table":
        return TableSource(found)
    return ArraySource(as_array(found)) if found.kind in ("array", "expression") else None


def _told(found: Found, source: Source | None, axis: int) -> Text:
    """Return the name, facts and first attributes of an object, and which plane is shown."""
    known = facts(found)
    made = Text.assemble((found.path, "bold"), f"  {found.kind}")
    parts = [f"{name} {_short(known[name])}" for name in _FACTS if known.get(name)]
    nbytes, stored = known.get("nbytes"), known.get("stored")
    if nbytes is not None:
        parts.append(human(nbytes) + (f" in {human(stored)}, {nbytes / stored:.2f}x" if stored else ""))
    if parts:
        made.append("\n" + ", ".join(parts))
    for one in known["attributes"][:_ATTRIBUTES_SHOWN]:
        made.append(f"\n@{one['name']}: {_short(one['value'])}", "dim")
    if isinstance(source, ArraySource) and source.index:
        made.append("\nplane ")
        for at, number in enumerate(source.index):
            made.append(f"{number}/{source.shape[at]} ", "reverse" if at == axis else "")
    if isinstance(source, TableSource):
        made.append(
            f"\n{source.rows} of {len(found.node)} rows" + (f" where {source.where}" if source.where else "")
        )
    return made


def _short(value: Any) -> str:
    text = " ".join(str(value).split())
    return text if len(text) <= _VALUE_WIDTH else f"{text[:_VALUE_WIDTH]}..."


def _plotted(source: Source | None, grid: Grid, width: int, height: int) -> Text:
    if isinstance(source, TableSource):
        return plots.bars(source.histogram(grid.column), width, height)
    if not isinstance(source, ArraySource):
        return Text("nothing to plot")
    values = source.plane()
    if values.ndim < 2 or 1 in values.shape[:2]:
        return plots.line(values, width, height)
    return plots.plane(values, width, height)
