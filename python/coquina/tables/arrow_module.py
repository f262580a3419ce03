"""PyArrow, which is imported when something needs it."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def pyarrow(module: str = "") -> Any:
    """Return pyarrow, or a module of it. Raises ImportError that says how to get it."""
    try:
        return import_module(f"pyarrow.{module}" if module else "pyarrow")
    except ImportError as error:
        raise ImportError("Arrow data need pyarrow: pip install coquina[arrow]") from error
