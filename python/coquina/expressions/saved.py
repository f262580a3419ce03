"""Saved expressions: files that say what is to be computed of which arrays, as python-blosc2 makes them.

In: an open frame whose metadata hold a text and the places of operands. Out: the expression; and such files.
Source: docs/formats/blosc2-stores.md, "Saved expressions".
Invariant: the text is read by our grammar and never run. Other files are read where `following` allows it.
"""

from __future__ import annotations

import os
from contextlib import closing, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from coquina import _core
from coquina._core import CorruptError, UnsupportedError
from coquina.arrays import opening
from coquina.arrays.array import Array
from coquina.arrays.views import View
from coquina.dtypes import dtype_text, known_dtype
from coquina.expressions.expression import Expr
from coquina.expressions.nodes import Call, Cast, Constant, Leaf
from coquina.expressions.reference import postorder
from coquina.expressions.saved_text import SavedReader
from coquina.expressions.writing import text_of
from coquina.following import check_path, is_allowed
from coquina.msgpack_values import pack, unpack
from coquina.remote import new_path
from coquina.storage_options import Storage

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from coquina._core import FrameHandle, Path
    from coquina.expressions.nodes import Node

#: The fixed metadata that make a frame an expression, today and before, and the variable ones that say which.
MARKER, MARKER_OLD, PAYLOAD_OLD = "b2o", "LazyArray", "_LazyArray"
_KIND = "lazyexpr"
_VERSION = 1
_SHAPES = "b2nd"
#: Operands that python-blosc2 would fetch from a server.
_REMOTE = ("c2array", "fsspec", "zarr", "b2z", "hdf5")

_IS_WITHIN: ContextVar[bool] = ContextVar("reads an operand", default=False)


@dataclass(frozen=True, slots=True)
class StorePlace:
    """The store that an expression lies in.

    path: of its file or directory. open_key: gives what has a key.
    """

    path: str
    open_key: Callable[[str], Any]

    def folder(self) -> str:
        """Return the folder in or below which operands lie: the store, or that of an archive."""
        path = os.path.realpath(self.path)
        return path if os.path.isdir(path) else os.path.dirname(path)


def opened(
    frame: FrameHandle, *, is_whole: bool, allow_external: bool | None, store: StorePlace | None = None
) -> Expr:
    """Return the expression that a frame holds; its operands are open for reading.

    store: that it lies in; paths in an archive count from the folder of the archive, as in python-blosc2.
    Raises UnsupportedError for what is no text of ours, for operands that are not read, and for code;
    FileNotFoundError for operands that are not there; CorruptError for metadata that make no sense.
    """
    where = frame.path or "a frame in memory"
    if frame.path is None or not (is_whole or store):
        raise UnsupportedError(
            f"{where}: a saved expression that is not a file, of which operands are looked up"
        )
    if _IS_WITHIN.get():
        raise UnsupportedError(f"{where}: an expression, which is not an operand of another one")
    text, references = _said(frame, where)
    own = frame.path if store is None or os.path.isdir(store.path) else store.path
    folder = None
    if not is_allowed(allow_external):
        folder = os.path.dirname(os.path.realpath(own)) if store is None else store.folder()
    operands: dict[str, Array] = {}
    try:
        with _within():
            for name, reference in references.items():
                operands[name] = _operand(own, name, reference, folder, store)
        value = SavedReader(text, operands).read()
        expression = Expr(value) if hasattr(value, "dtype") else None
        shape, dtype = _wanted(frame, where)
        if expression is None or (expression.shape, expression.dtype) != (shape, dtype):
            found = "a number" if expression is None else f"{expression.dtype} {expression.shape}"
            raise UnsupportedError(
                f"{where}: the text {text!r} gives {found}, and {dtype} {shape} was saved: "
                "python-blosc2 saves some expressions, as those of where(), without a part"
            )
    except BaseException as error:
        for one in operands.values():
            one.close()
        if isinstance(error, _core.CoquinaError) and where not in str(error):
            kind = UnsupportedError if isinstance(error, ValueError) else type(error)
            raise kind(f"{where}: {error}") from error
        raise
    return expression


def save(
    expression: Expr,
    path: Path,
    *,
    overwrite: bool,
    refer: Callable[[Any], dict[str, Any]] | None = None,
) -> None:
    """Write an expression; see `Expr.save`. refer: says where an operand is, in place of its path."""
    if not isinstance(cast("Any", expression), Expr):
        kind = type(expression).__name__
        raise TypeError(
            f"{kind}: not an expression; small operands are computed at once, cq.expr(text, x=x) is one"
        )
    target = new_path(path)
    names: dict[int, str] = {}
    sources: list[Array] = []

    def name_of(source: Any) -> str:
        if id(source) not in names:
            names[id(source)] = f"o{len(names)}"
            sources.append(source)
        return names[id(source)]

    node = expression.node
    for with_casts in (False, True):
        text = text_of(node, name_of, with_casts=with_casts)
        read = SavedReader(text, dict(zip(names.values(), sources, strict=True))).read()
        if hasattr(read, "dtype") and _is_same(read, node):
            break
    else:
        raise UnsupportedError(f"{text}: would be read as another expression; save what compute() returns")
    folder = os.path.dirname(target)
    references = [refer(one) if refer is not None else reference_to(one, folder) for one in sources]
    said = {
        "kind": _KIND,
        "version": _VERSION,
        "expression": text,
        "operands": dict(zip(names.values(), references, strict=True)),
    }
    options = Storage(path=target, overwrite=overwrite).for_engine()
    marker = [(MARKER, pack({"kind": _KIND, "version": _VERSION}))]
    handle = _core.create_array(
        node.shape, dtype_text(node.dtype), node.dtype.itemsize, fill="uninit", metalayers=marker, **options
    )
    try:
        handle.set_layer(MARKER, pack(said))
        handle.publish()
    finally:
        handle.close()


def reference_to(source: Any, folder: str) -> dict[str, Any]:
    """Return where an operand is, from a folder. Raises ValueError for one that is not a file of its own."""
    place = os.path.relpath(cast("str", _stored(source).path), folder).replace(os.sep, "/")
    return {"kind": "urlpath", "version": _VERSION, "urlpath": place}


def reference_in(store: str, key: str) -> dict[str, Any]:
    """Return that an operand has a key of the store at a path, which counts from the expression."""
    return {"kind": "dictstore_key", "version": _VERSION, "urlpath": store, "key": key}


def facts_at(path: str) -> dict[str, Any] | None:
    """Return what the file of an expression says: text, operands, shape and dtype; None for another file.

    The operands need not be there, and are not opened.
    """
    try:
        frame = _core.open_content(path)
    except (_core.CoquinaError, OSError):
        return None
    if not isinstance(frame, _core.FrameHandle):
        return None
    with closing(frame):
        if not {MARKER, MARKER_OLD} & dict(frame.metalayers()).keys():
            return None
        text, references = _said(frame, path)
        shape, dtype = _wanted(frame, path)
        operands = {name: _place(name, reference)[0] for name, reference in references.items()}
        return {"expression": text, "operands": operands, "shape": shape, "dtype": str(dtype)}


@contextmanager
def _within() -> Generator[None]:
    """Open operands: arrays, and no expressions, of which there may be a circle."""
    token = _IS_WITHIN.set(True)
    try:
        yield
    finally:
        _IS_WITHIN.reset(token)


def _said(frame: FrameHandle, where: str) -> tuple[str, dict[str, Any]]:
    """Return text and operands."""
    fixed = dict(frame.metalayers())
    is_old = MARKER not in fixed
    marker = unpack(fixed[MARKER_OLD if is_old else MARKER])
    kind = ("lazyexpr" if marker == 0 else "lazyudf") if is_old else _value(marker, "kind")
    if kind != _KIND:
        what = {
            "lazyudf": "a function of Python's, whose code is not run",
            "c2array": "an array on a server, which is not followed",
            "remote_array": "a cache of an array elsewhere, which is not followed",
        }.get(kind, "which is not known")
        raise UnsupportedError(f"{where}: an object of kind {kind!r}: {what}")
    content = frame.layer(PAYLOAD_OLD if is_old else MARKER)
    said = None if content is None else unpack(content)
    versions = (_VERSION,) * 2 if is_old else (_value(marker, "version"), _value(said, "version"))
    if versions != (_VERSION,) * 2:
        raise UnsupportedError(f"{where}: saved expressions of version {versions[0]}: takes {_VERSION}")
    text, operands = _value(said, "expression"), _value(said, "operands")
    if not isinstance(text, str) or not isinstance(operands, dict):
        raise CorruptError(f"{where}: a saved expression without a text or operands")
    return text, {str(name): one for name, one in cast("dict[Any, Any]", operands).items()}


def _value(of: Any, name: str) -> Any:
    return cast("dict[Any, Any]", of).get(name) if isinstance(of, dict) else None


def _wanted(frame: FrameHandle, where: str) -> tuple[tuple[int, ...], np.dtype[Any]]:
    """Return shape and dtype of the array that the expression was."""
    layer = dict(frame.metalayers()).get(_SHAPES)
    said = None if layer is None else unpack(layer)
    match said:
        case [int(), int(), [*shape], _, _, int(), str(text)] if all(type(size) is int for size in shape):
            pass
        case _:
            raise CorruptError(f"{where}: {_SHAPES}: no shape and dtype of an expression")
    try:
        return tuple(shape), known_dtype(text)
    except (TypeError, ValueError) as error:
        raise CorruptError(f"{where}: {_SHAPES}: {error}") from None


def _place(name: str, reference: Any) -> tuple[str, str | None]:
    """Return the path of an operand, and its key where it lies in a store."""
    if isinstance(reference, str):
        return reference, None
    kind, path, key = (_value(reference, one) for one in ("kind", "urlpath", "key"))
    if kind in _REMOTE or (kind is None and _value(reference, "urlbase") is not None):
        raise UnsupportedError(f"operand {name!r}: an array on a server, which is not followed")
    is_key = kind == "dictstore_key"
    if (
        kind not in ("urlpath", "dictstore_key")
        or not isinstance(path, str)
        or is_key != isinstance(key, str)
    ):
        raise CorruptError(f"operand {name!r}: {reference!r} is not a place of an array")
    return path, key


def _operand(
    own: str, name: str, reference: Any, folder: str | None, store: StorePlace | None = None
) -> Array:
    """Open an operand. folder: in which, or below which, it must lie; None for anywhere."""
    path, key = _place(name, reference)
    if "://" in path or "\0" in path:
        raise UnsupportedError(f"operand {name!r}: {path!r} is not a path, and is not followed")
    place = os.path.join(os.path.dirname(own), path)
    if folder is not None:
        check_path(folder, place, f"operand {name!r}")
    is_own_store = store is not None and os.path.realpath(place) == os.path.realpath(store.path)
    if not is_own_store and not os.path.exists(place):
        raise FileNotFoundError(f"{own}: operand {name!r}: there is no file {place}")
    if store is not None and is_own_store and key is not None:
        try:
            found = store.open_key(key)
        except KeyError:
            raise FileNotFoundError(f"{own}: operand {name!r}: {place} has no {key!r}") from None
        key = None
    else:
        found = opening.open(place)
    if key is not None:
        if not hasattr(found, "keys"):
            raise UnsupportedError(f"operand {name!r}: {place} is not a store")
        if key not in found:
            raise FileNotFoundError(f"{own}: operand {name!r}: {place} has no {key!r}")
        found = found[key]
    if not isinstance(found, Array):
        raise UnsupportedError(f"operand {name!r}: {place} is not an array, but a {type(found).__name__}")
    return found


def _stored(source: Any) -> Array:
    """Return an operand that is an array in a file of its own. Raises ValueError for others."""
    if not isinstance(source, Array):
        raise ValueError(f"an operand that is a {type(source).__name__} in memory: save it as an array first")
    if source.path is None:
        raise ValueError("an operand in memory: save it first, and compute with what coquina.open returns")
    if type(source) is not Array or source.handle.offset:
        raise ValueError(f"an operand within {source.path}: save a copy of it as a file of its own first")
    return source


def _is_same(one: Node, other: Node) -> bool:
    """Whether two nodes compute the same of the same operands."""
    numbers: dict[Any, int] = {}
    return _number(one, numbers) == _number(other, numbers)


def _number(node: Node, numbers: dict[Any, int]) -> int:
    """Return a number that equal nodes have alike. numbers: those of what was met before."""
    found: dict[int, int] = {}
    for one in postorder(node, boxes=True):
        args = tuple([found[id(arg)] for arg in one.args])
        match one:
            case Leaf(source=View() as view):
                what: Any = (id(view.source), tuple(view.ranges()), view.shape)
            case Leaf():
                what = id(one.source)
            case Constant():
                what = one.value.tobytes()
            case Call():
                what = one.function.name
            case _:
                what = None if isinstance(one, Cast) else id(one)
        key = (type(one), what, one.dtype, args)
        found[id(one)] = numbers.setdefault(key, len(numbers))
    return found[id(node)]
