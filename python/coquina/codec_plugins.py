"""Codecs and filters from outside of coquina: functions of this program, and libraries of other packages.

In: callables, or the path of a library that a package names by an entry point of the group `coquina.plugins`.
Out: rows more for the engine, which calls `find` for an id that it does not know, `find_named` for a name.
Source: `docs/formats/plugins.md`.
Invariant: entry points are loaded when their id is first needed, and not before.
"""

from __future__ import annotations

import functools
import os
import sys
from dataclasses import dataclass
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Literal, TypeAlias

from coquina import _core, blosc2_packages
from coquina._core import BlockInfo, UnsupportedError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from importlib.metadata import EntryPoint

    from coquina._core import Buffer

__all__ = ["BlockInfo", "Plugin", "allow_blosc2_plugins", "list_plugins", "register_codec", "register_filter"]

#: The group of the entry points. Their names are `codec-39` or `filter-160`.
GROUP = "coquina.plugins"

Kind: TypeAlias = Literal["codec", "filter"]

#: Where each that serves came from, by kind and id.
_SOURCES: dict[tuple[str, int], str] = {}


@dataclass(frozen=True, slots=True)
class Plugin:
    """A codec or filter from outside of coquina.

    kind: "codec" or "filter".
    id: its id in chunks; 160 to 255 are for users, 32 to 159 are given out by Blosc2.
    name: what `codec=` and `filters=` take; None where the library has not been loaded.
    source: the package and entry point that offer it, or the function that registered it.
    is_loaded: whether it serves now. Others are loaded when a chunk needs them.

    >>> import coquina as cq
    >>> all(plugin.kind in ("codec", "filter") for plugin in cq.list_plugins())
    True
    """

    kind: Kind
    id: int
    name: str | None
    source: str
    is_loaded: bool


def register_codec(
    id: int,
    name: str,
    encode: Callable[[memoryview, BlockInfo], Buffer | None],
    decode: Callable[[memoryview, BlockInfo], Buffer],
    *,
    lossy: bool = False,
    needs_items: bool = False,
) -> None:
    """Register a codec that consists of two Python functions, until the program ends.

    id: 160 to 255. Chunks store it, so files need the codec again wherever they are read.
    name: the name for `codec=`: letters, digits, `_`, `-`, `.`; not the name of a codec of coquina.
    encode: a function of the bytes of a block and its `BlockInfo` that returns fewer bytes, in any contiguous
        buffer. The block is stored uncompressed if it returns None or a result that is not shorter.
    decode: a function of the result of `encode` and the `BlockInfo` that returns the `block.nbytes` bytes.
    lossy: whether decoding may return other bytes than were encoded.
    needs_items: whether blocks must be unfiltered. No filter is then used by default, and filters that move
        bytes are refused.

    The functions are called from several threads, one at a time while the GIL is held. The buffer that they
    get is read-only and released when they return: copy what you keep. They may use coquina. Their exceptions
    are raised unchanged, with a note of the block. Bytes in files may be damaged, so `decode` may get
    arbitrary bytes. Registering an id again replaces its functions.

    Raises ValueError for an invalid id or name, TypeError for objects that cannot be called.

    >>> import bz2
    >>> import coquina as cq
    >>> cq.register_codec(
    ...     200, "bz2", lambda data, block: bz2.compress(data), lambda data, block: bz2.decompress(data)
    ... )
    >>> chunk = cq.compress(b"shell " * 1000, codec="bz2", filters=[])
    >>> len(chunk) < 200, cq.decompress(chunk) == b"shell " * 1000
    (True, True)
    """
    _core.register_codec(id, name, encode, decode, lossy=lossy, needs_items=needs_items)
    _SOURCES["codec", id] = "register_codec"


def register_filter(
    id: int,
    name: str,
    encode: Callable[[memoryview, BlockInfo], Buffer],
    decode: Callable[[memoryview, BlockInfo], Buffer],
    *,
    lossy: bool = False,
) -> None:
    """Register a filter that consists of two Python functions, until the program ends.

    encode, decode: functions of the bytes of a block and its `BlockInfo` that return the same number of
        bytes, in any contiguous buffer: filtered, and restored.
    id, name, lossy: see `register_codec`; the name is for `filters=`.

    Raises ValueError for an invalid id or name, TypeError for objects that cannot be called.

    >>> import numpy as np
    >>> import coquina as cq
    >>> def flipped(data, block):
    ...     return ~np.frombuffer(data, "u1")
    >>> cq.register_filter(200, "flip", flipped, flipped)
    >>> chunk = cq.compress(b"shell " * 1000, filters=["flip", "shuffle"])
    >>> cq.decompress(chunk) == b"shell " * 1000
    True
    """
    _core.register_filter(id, name, encode, decode, lossy)
    _SOURCES["filter", id] = "register_filter"


def allow_blosc2_plugins(
    *, codecs: Mapping[int, str] | None = None, filters: Mapping[int, str] | None = None
) -> None:
    """Allow coquina to load plugin packages of python-blosc2 (`blosc2_openzl`, `blosc2_j2k` and the like).

    codecs, filters: names by id (32 to 255), as in `blosc2.register_codec("name", id, None, None)`, for ids
        that Blosc2 has not registered; the package is `blosc2_name`. The codecs that Blosc2 has registered
        are known: openhtj2k, grok, openzl, j2k and htj2k.

    A package is searched when a chunk or a writer first needs its id or name. Its Python code is not
    imported; its library is loaded into this process, as trusted as any installed code. Codecs and filters of
    coquina, and plugins of the entry points `coquina.plugins`, come first. The libraries use structs of
    C-Blosc2 in the layout of version 3.3: a library for another version may crash. Their results count as
    lossy.

    The environment variable `COQUINA_BLOSC2_PLUGINS=1` does the same without ids, and
    `COQUINA_BLOSC2_PLUGINS=codec-200=name,filter-201=other` with ids.

    Raises ValueError for an invalid id or name.

    >>> import coquina as cq
    >>> cq.allow_blosc2_plugins(codecs={242: "example"})
    """
    names: dict[Kind, Mapping[int, str]] = {"codec": codecs or {}, "filter": filters or {}}
    blosc2_packages.allow(names)


def list_plugins() -> list[Plugin]:
    """Return the codecs and filters from outside: those that serve, and those that installed packages offer.

    Nothing is loaded for it. Ids are in ascending order, codecs before filters.

    >>> import coquina as cq
    >>> [plugin.name for plugin in cq.list_plugins() if plugin.name == "none of these"]
    []
    """
    found = {
        (kind, id): Plugin(kind, id, name, _SOURCES.get((kind, id), "this program"), is_loaded=True)
        for kind, id, name in _core.loaded_plugins()
    }
    for point in _offered():
        kind, _, number = point.name.partition("-")
        if (kind == "codec" or kind == "filter") and number.isdecimal():
            found.setdefault(
                (kind, int(number)), Plugin(kind, int(number), None, _title(point), is_loaded=False)
            )
    for package in blosc2_packages.installed():
        key = (package.kind, package.id)
        found.setdefault(key, Plugin(*key, package.name, package.title, is_loaded=False))
    return [found[key] for key in sorted(found)]


def find(kind: Kind, id: int) -> None:
    """Load the plugin that a package offers for an id, if there is one; the engine calls it.

    Raises UnsupportedError, which names the entry point, for a plugin that cannot be loaded.
    """
    point = next((point for point in _offered() if point.name == f"{kind}-{id}"), None)
    if point is None:
        _find_blosc2(kind, id)
        return
    try:
        library: Callable[[], str | os.PathLike[str]] = point.load()
        loaded = _core.load_plugin(os.fspath(library()))
    except Exception as error:
        why = f"{type(error).__name__}: {error}"
        raise UnsupportedError(f"{kind} {id}: {_title(point)} cannot be loaded: {why}") from error
    ids = {(kind, id) for kind, id, _ in loaded}
    if (kind, id) not in ids:
        raise UnsupportedError(f"{kind} {id}: {_title(point)} gives a library that does not have it")
    for key in ids:
        _SOURCES.setdefault(key, _title(point))


def _find_blosc2(kind: Kind, id: int) -> None:
    """Load the package of Blosc2 that has an id, if there is one and it is allowed."""
    package = next((p for p in blosc2_packages.installed() if (p.kind, p.id) == (kind, id)), None)
    if package is None:
        return
    try:
        _core.load_blosc2_plugin(kind, id, package.name, package.library)
    except Exception as error:
        why = f"{type(error).__name__}: {error}"
        raise UnsupportedError(f"{kind} {id}: {package.title} cannot be loaded: {why}") from error
    _SOURCES[kind, id] = package.title


def find_named(kind: Kind, name: str) -> None:
    """Load all plugins of a kind that packages offer, since entry points tell no names; the engine calls it.

    Raises UnsupportedError if none has the name, and one that may have it cannot be loaded.
    """
    failures: list[str] = []
    for plugin in list_plugins():
        if plugin.kind == kind and not plugin.is_loaded and plugin.name in (None, name):
            try:
                find(kind, plugin.id)
            except UnsupportedError as error:
                failures.append(str(error))
    loaded = {(kind, name) for kind, _, name in _core.loaded_plugins()}
    if failures and (kind, name) not in loaded:
        raise UnsupportedError(f"{kind} {name!r} is not known here, but {'; '.join(failures)}")


def _title(point: EntryPoint) -> str:
    package = "" if point.dist is None else f" of {point.dist.name} {point.dist.version}"
    return f"the entry point {point.name} = {point.value}{package}"


def _offered() -> tuple[EntryPoint, ...]:
    """Return the entry points of all packages, which are looked for again where some were installed."""
    return _read(tuple((folder, _changed(folder)) for folder in sys.path))


@functools.lru_cache(maxsize=1)
def _read(folders: tuple[tuple[str, int], ...]) -> tuple[EntryPoint, ...]:
    return tuple(entry_points(group=GROUP))


def _changed(folder: str) -> int:
    """Return when something was put into a folder; 0 where there is none."""
    try:
        return os.stat(folder or ".").st_mtime_ns
    except OSError:
        return 0
