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
    """Return a path like `path`; where a group on the way is not there either, one of a group like it.

    None for a name that is there: a link that leads nowhere.
    """
    if not isinstance(path, str):
        return None
    head, slash, name = path.rstrip("/").rpartition("/")
    try:
        parent = group[head or "/"] if slash else group
        is_small = isinstance(parent, h5py.Group) and len(parent) <= _NAMES_MAX
        names = [one for one in parent if not is_hidden(one)] if is_small else []
    except KeyError:
        above = near_name(group, head) if head else None
        return f"{above}/{name}" if above and f"{above}/{name}" in group else above
    except (OSError, RuntimeError):
        return None
    if name in names:
        return None
    near = near_word(name, names) or next((one for one in names if name and one.startswith(name)), None)
    return None if near is None else f"{head}{slash}{near}"
