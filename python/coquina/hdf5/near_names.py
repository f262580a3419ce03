"""Names in a group that are like one that it does not have: for errors.

In: a group of h5py, and a path. Out: the path that was meant, or None.
"""

from __future__ import annotations

from typing import Any

from coquina.hdf5.group_tree import is_hidden
from coquina.hdf5.untyped import h5py
from coquina.keyword_hints import near_word

#: Groups with more names are not looked through: who asks for names that may not exist shall not wait.
_NAMES_MAX = 1000


def near_name(group: Any, path: Any) -> str | None:
    """Return a path like `path`; groups on the way to it may be called otherwise, too.

    None for a name that is there: a link that leads nowhere.
    """
    if not isinstance(path, str):
        return None
    head, slash, name = path.rstrip("/").rpartition("/")
    if head and not _is_there(group, head):
        near = near_name(group, head)
        if near is None:
            return None
        whole = f"{near}/{name}"
        return whole if _is_there(group, whole) else near_name(group, whole) or near
    try:
        parent = group[head or "/"] if slash else group
        is_small = isinstance(parent, h5py.Group) and len(parent) <= _NAMES_MAX
        names = [one for one in parent if not is_hidden(one)] if is_small else []
    except (KeyError, OSError, RuntimeError):
        return None
    if name in names:
        return None
    near = near_word(name, names) or next((one for one in names if name and one.startswith(name)), None)
    return None if near is None else f"{head}{slash}{near}"


def _is_there(group: Any, path: str) -> bool:
    try:
        return path in group
    except (KeyError, OSError, RuntimeError):
        return False
