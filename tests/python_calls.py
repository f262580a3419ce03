"""How many calls something takes: a measure of time without a clock."""

from __future__ import annotations

import gc
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from types import FrameType


def calls(function: Callable[[], object], events: Collection[str] = ("call",)) -> int:
    """Return how many functions of Python's are called, `function` among them; "c_call" counts C's."""
    count = 0

    def note(frame: FrameType, event: str, argument: object) -> None:
        nonlocal count
        count += event in events

    # What other tests left behind is not to be collected meanwhile.
    gc.collect()
    gc.disable()
    sys.setprofile(note)
    try:
        function()
    finally:
        sys.setprofile(None)
        gc.enable()
    return count
