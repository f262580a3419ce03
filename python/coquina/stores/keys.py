"""Names of leaves in a store: what the files of a directory or an archive are called, as keys.

In: the path of a file within a store, with "/" between the parts. Out: its key, the parts of a key.
Source: docs/formats/blosc2-stores.md, "Keys". Keys are never used as paths: nothing is looked up by them.
"""

from __future__ import annotations

from coquina._core import CorruptError

#: Leaves are files with these endings; others may be frames as well.
SUFFIXES = (".b2nd", ".b2f", ".b2b", ".b2frame", ".b2e")
#: The name of what holds the attributes of a group.
ATTRS = "__vlmeta__"
_REFUSED = frozenset("\\:\0\n\r\t")


def check_path(path: str) -> None:
    """Raise CorruptError for the path of a file that leads out of its store, or to no file."""
    parts = path.split("/")
    if "\0" in path or any(part in ("", ".", "..") for part in parts):
        raise CorruptError(f"{path!r} is not a path within a store")


def key_of(path: str) -> str:
    """Return the key of a file of a store: its path without the ending."""
    folder, slash, name = path.rpartition("/")
    for suffix in SUFFIXES:
        if name.endswith(suffix) and len(name) > len(suffix):
            return f"{folder}{slash}{name[: -len(suffix)]}"
    stem, dot, _ = name.rpartition(".")
    return f"{folder}{slash}{stem if dot and stem else name}"


def parts_of(key: str) -> list[str]:
    """Return the names that lead to a key; "/" in front and at the end mean nothing."""
    return [part for part in key.split("/") if part]


def check_new(key: str, *, is_group: bool = False) -> None:
    """Raise ValueError for a key that python-blosc2 does not take, or whose file would be another one's."""
    parts = parts_of(key)
    if not parts:
        raise ValueError(f"{key!r} names nothing")
    for at, part in enumerate(parts):
        if part == ATTRS or not part.strip(".") or not _REFUSED.isdisjoint(part):
            raise ValueError(f"{key!r}: stores of python-blosc2 have no name {part!r}")
        if part.endswith(SUFFIXES) and (is_group or at < len(parts) - 1):
            raise ValueError(f"{key!r}: a group {part!r} would be called as the file of an array")
