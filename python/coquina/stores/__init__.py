"""Stores of python-blosc2: groups of arrays in a directory (.b2d), a ZIP archive (.b2z) or one frame (.b2e).

`coquina.open` opens them; these are the classes of what it returns.
"""

from __future__ import annotations

from coquina.stores.objects import BatchArray, FlatArray, ListArray, ObjectArray
from coquina.stores.tree import Group, Store

__all__ = ["BatchArray", "FlatArray", "Group", "ListArray", "ObjectArray", "Store"]
