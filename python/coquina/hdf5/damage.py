"""What libhdf5 and h5py raise for damaged files, as CorruptError.

In: an exception, and what was asked for. Out: CorruptError with the place, where it is about damage.
Invariant: a name that leads to nothing is a KeyError, a link that leads nowhere too, and errors of the system
    (with a number) stay as they are.
"""

from __future__ import annotations

from typing import Any

from coquina._core import CorruptError
from coquina.hdf5.untyped import h5g, h5l, h5o

#: What they raise, among it KeyError, which says both that there is nothing and that it cannot be read.
RAISED = (OSError, RuntimeError, KeyError, OverflowError, MemoryError, UnicodeDecodeError)


class Told:
    """A block in which libhdf5 may find damage; see `told`. No generator: each look-up has one."""

    __slots__ = ("group", "name")

    def __init__(self, group: Any, name: str | None) -> None:
        """Of an object of h5py, or of what has a name in it."""
        self.group = group
        self.name = name

    def __enter__(self) -> None:
        """Begin the block."""

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        """Raise what says more than the exception that ends the block, if there is something to say."""
        if not isinstance(error, RAISED):
            return
        group, name = self.group, self.name
        if name is not None and "too many links" in str(error):
            raise KeyError(f"{name}: its links lead to each other, and to nothing else") from error
        if is_damage(group, name, error):
            place = group.name if name is None else f"{group.name or ''}: {name}"
            raise CorruptError(f"{group.file.filename}: {place}: {error}") from error


def told(group: Any, name: str | None = None) -> Told:
    """Raise CorruptError where libhdf5 finds damage in the block: in `name`, or the object itself."""
    return Told(group, name)


def linked(group: Any, name: str) -> Any:
    """Return what a name in a group of h5py leads to; None for a link that leads nowhere."""
    try:
        with told(group, name):
            return group[name]
    except KeyError:
        return None


def is_damage(group: Any, name: str | None, error: BaseException) -> bool:
    """Whether an exception is about what stands in the file."""
    if isinstance(error, OSError) and is_of_system(error):
        return False
    if isinstance(error, NotImplementedError | RecursionError) or not group:
        return False
    return not isinstance(error, KeyError) or (name is not None and _is_there(group, name))


def is_of_system(error: OSError) -> bool:
    """Whether the system said no, or a source of bytes: its error is the cause, or ours has its number."""
    return error.errno is not None or error.__cause__ is not None or "(os error " in str(error)


def _is_there(group: Any, name: str) -> bool:
    """Whether hard links lead to something of this name, all of which should be readable then."""
    links, path = group.id.links, "/" if name.startswith("/") else ""
    for part in name.split("/"):
        if part in ("", "."):
            continue
        above, path = path, path + part
        try:
            if not links.exists(path.encode()):
                return False
            if links.get_info(path.encode()).type != h5l.TYPE_HARD:
                return False
        except (OSError, RuntimeError, KeyError, ValueError):
            return _is_group(group, above or ".")
        path += "/"
    return bool(path.strip("/"))


def _is_group(group: Any, path: str) -> bool:
    """Whether a path leads to a group, or to what cannot be read: nothing is in a dataset or a datatype."""
    try:
        return isinstance(h5o.open(group.id, path.encode()), h5g.GroupID)
    except (OSError, RuntimeError, KeyError, ValueError):
        return True
