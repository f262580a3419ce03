"""How many calls of Python's it takes to open a file for one item: most of the time goes there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import h5py
import numpy as np
import pytest

import coquina as cq
from tests.python_calls import calls

if TYPE_CHECKING:
    from pathlib import Path

OPTIONS: dict[str, dict[str, Any]] = {
    "gzip": {"chunks": (10,), "compression": "gzip"},
    "chunked": {"chunks": (10,)},
    "contiguous": {},
}
#: The most calls of Python's functions, h5py's among them. There were 284, 282 and 278 once.
CALLS = {"gzip": 244, "chunked": 242, "contiguous": 241}


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
