"""Progress bars of long work: whatever the engine does for over a second.

In: what `set_progress` was told. Out: a bar in the notebook or on the terminal, gone when the work is done.
By default notebooks have bars and programs have none.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, Protocol

from coquina import _core
from coquina.arrays.info import human

if TYPE_CHECKING:
    from collections.abc import Callable

    Show = Literal["auto", "always", "never"]


class Bar(Protocol):
    """What shows how far a piece of work is."""

    def __call__(self, done: int, /) -> object:
        """Show that so many bytes are done."""
        ...

    def close(self) -> object:
        """Take it away."""
        ...


def set_progress(show: Show | Callable[[int], Bar | None] = "auto") -> None:
    """Choose whether operations that take more than a second show a progress bar.

    show: "auto" (the default): in notebooks. "always": also in terminals, on standard error. "never". Or a
        function that is called with the total number of bytes and returns a `Bar`, or None for no bar; it and
        its bars are called by the working thread, about 20 times a second.

    Functions with a `progress` argument show no bar if it is given. Raises ValueError for another word.

    >>> import coquina as cq
    >>> cq.set_progress("never")
    >>> cq.set_progress("auto")
    """
    if callable(show):
        _core.set_progress_bars(show)
        return
    makers = {"auto": _notebook_bar, "always": _any_bar, "never": None}
    if show not in makers:
        raise ValueError(f"set_progress({show!r}): takes 'auto', 'always', 'never', or a function")
    _core.set_progress_bars(makers[show])


class _NotebookBar:
    """A bar in the output of a notebook's cell."""

    def __init__(self, total: int, display: Callable[..., Any], html: Callable[[str], Any]) -> None:
        self._total = total
        self._html = html
        self._shown = display(html(bar_html(0, total)), display_id=True)

    def __call__(self, done: int) -> None:
        self._shown.update(self._html(bar_html(done, self._total)))

    def close(self) -> None:
        self._shown.update(self._html(""))


def bar_html(done: int, total: int) -> str:
    """Return a bar as HTML."""
    return (
        f'<progress value="{min(done, total)}" max="{max(total, 1)}"></progress> '
        f"{human(done)} of {human(total)}"
    )


def _notebook_bar(total: int) -> Bar | None:
    shell = _shell()
    # A kernel shows what is displayed; an IPython on a terminal prints it as text.
    if shell is None or getattr(shell, "kernel", None) is None:
        return None
    display: Any = import_module("IPython.display")
    return _NotebookBar(total, display.display, display.HTML)


def _shell() -> Any:
    """Return the IPython that runs this, if one does."""
    ipython: Any = sys.modules.get("IPython")
    return None if ipython is None else ipython.get_ipython()


def _any_bar(total: int) -> Bar | None:
    return _notebook_bar(total) or _core.ProgressBar(total, "coquina")


set_progress("auto")

__all__ = ["Bar", "set_progress"]
