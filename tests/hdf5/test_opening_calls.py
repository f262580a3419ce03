"""How many calls of Python's it takes to open a file for one item: most of the time goes there."""

from __future__ import annotations

import gc
import sys
from typing import TYPE_CHECKING, Any

import h5py
import numpy as np
import pytest

import coquina as cq

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from types import FrameType

OPTIONS: dict[str, dict[str, Any]] = {
    "gzip": {"chunks": (10,), "compression": "gzip"},
    "chunked": {"chunks": (10,)},
    "contiguous": {},
}
#: The most calls of Python's functions, h5py's among them. There were 284, 282 and 278 once.
CALLS = {"gzip": 244, "chunked": 242, "contiguous": 241}


def calls(function: Callable[[], object]) -> int:
    """Return how many functions of Python's are called, this one's first among them."""
    count = 0

    def note(frame: FrameType, event: str, argument: object) -> None:
        nonlocal count
        count += event == "call"

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


@pytest.mark.parametrize("kind", OPTIONS)
def test_one_item_of_a_file_takes_few_calls(tmp_path: Path, kind: str) -> None:
    path = str(tmp_path / "f.h5")
    with h5py.File(path, "w") as f:
        f.create_dataset("x", data=np.arange(1000), **OPTIONS[kind])

    def item() -> Any:
        with cq.open(path) as f:
            return f["x"][123]

    # What the first read of a program imports and looks up is not counted.
    assert item() == 123
    assert calls(item) <= CALLS[kind]
