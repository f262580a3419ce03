"""A grid of cells for any number of rows and columns, of which those in sight are read.

In: a source of cells. Out: text; the place of the cursor.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from rich.text import Text
from textual.binding import Binding
from textual.reactive import reactive
from textual.widget import Widget

from coquina._core import CoquinaError
from coquina.server.failures import RequestError

if TYPE_CHECKING:
    from textual import events

    from coquina.cli.browsing.sources import Source

_WIDTH_MAX = 28
_NARROW = 4
_WHEEL_ROWS = 3
FAILURES = (RequestError, CoquinaError, OSError, ValueError, KeyError)


class Grid(Widget, can_focus=True):
    """The grid. row, column: where the cursor is."""

    BINDINGS: ClassVar[list[Any]] = [
        Binding("up", "move(-1, 0)", show=False),
        Binding("down", "move(1, 0)", show=False),
        Binding("left", "move(0, -1)", show=False),
        Binding("right", "move(0, 1)", show=False),
        Binding("pageup", "page(-1)", show=False),
        Binding("pagedown", "page(1)", show=False),
        Binding("home", "first", show=False),
        Binding("end", "last", show=False),
    ]
    row: reactive[int] = reactive(0)
    column: reactive[int] = reactive(0)

    def __init__(self, **options: Any) -> None:
        """Shows nothing yet."""
        super().__init__(**options)
        self._source: Source | None = None
        self._top = self._left = 0

    def show(self, source: Source | None) -> None:
        """Show cells from the beginning."""
        self._source = source
        self._top = self._left = 0
        self.row = self.column = 0
        self.refresh()

    def action_move(self, down: int, right: int) -> None:
        """Move the cursor."""
        self._go(self.row + down, self.column + right)

    def action_page(self, by: int) -> None:
        """Move the cursor by what fits."""
        self._go(self.row + by * self._fitting, self.column)

    def action_first(self) -> None:
        """Move the cursor to the first row."""
        self._go(0, self.column)

    def action_last(self) -> None:
        """Move the cursor to the last row."""
        self._go(self._source.rows - 1 if self._source else 0, self.column)

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """Move by some rows."""
        event.stop()
        self._go(self.row + _WHEEL_ROWS, self.column)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """Move by some rows."""
        event.stop()
        self._go(self.row - _WHEEL_ROWS, self.column)

    @property
    def _fitting(self) -> int:
        return max(1, self.size.height - 1)

    def _go(self, row: int, column: int) -> None:
        source = self._source
        if source is None:
            return
        self.row = min(max(0, row), max(0, source.rows - 1))
        self.column = min(max(0, column), max(0, source.columns - 1))
        self._top = min(max(self._top, self.row - self._fitting + 1), self.row)
        self._left = min(self._left, self.column)
        self.refresh()

    def render(self) -> Text:
        """Return the cells in sight, or why they cannot be read."""
        source = self._source
        if source is None:
            return Text("")
        if not source.rows or not source.columns:
            return Text("nothing here")
        try:
            return self._cells(source)
        except FAILURES as error:
            return Text(str(getattr(error, "message", error)), "red")

    def _cells(self, source: Source) -> Text:
        rows = range(self._top, min(self._top + self._fitting, source.rows))
        last = min(source.columns, self._left + max(1, self.size.width // (_NARROW + 1)))
        # A cursor beyond the right edge moves the columns, one after the other, until it is in sight.
        columns = range(self._left, max(last, self.column + 1))
        texts = source.cells(rows, columns)
        widths = [
            min(_WIDTH_MAX, max(_NARROW, len(source.name(column)), *(len(row[at]) for row in texts)))
            for at, column in enumerate(columns)
        ]
        margin = len(str(rows[-1])) + 1
        room = self.size.width - margin
        first = 0
        while (
            first < self.column - self._left
            and sum(widths[first : self.column - self._left + 1]) + (self.column - self._left - first + 1)
            > room
        ):
            first += 1
        self._left += first
        return self._text(source, rows, (columns[first:], widths[first:], [row[first:] for row in texts]))

    def _text(self, source: Source, rows: range, shown: Any) -> Text:
        columns, widths, texts = shown
        margin = len(str(rows[-1]))
        made = Text(no_wrap=True, overflow="crop")
        made.append(" " * margin, "dim")
        for column, width in zip(columns, widths, strict=True):
            made.append(f" {source.name(column)[:width]:>{width}}", "bold")
        for at, row in enumerate(rows):
            made.append(f"\n{row:>{margin}}", "dim")
            for column, width, text in zip(columns, widths, texts[at], strict=True):
                is_chosen = row == self.row and column == self.column
                made.append(" ")
                made.append(f"{text[:width]:>{width}}", "reverse" if is_chosen else "")
        return made
