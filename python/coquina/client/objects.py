"""Objects behind a server: arrays and expressions, with the words of local ones.

In: requests. Out: what the server says of objects, once it is asked for; values as NumPy arrays.
"""

from __future__ import annotations

import ast
import io
from typing import TYPE_CHECKING, Any

import numpy as np

from coquina.client.requests import of_one_state
from coquina.client.selections import lowered
from coquina.lazy_property import lazy_property

if TYPE_CHECKING:
    import numpy.typing as npt

    from coquina.client.requests import Answer, Requests

#: Bytes that are asked for at once.
_PART_BYTES = 64 << 20
#: Values that are asked for at once as text.
_TEXTS = 1 << 20


class RemoteObject:
    """An object of a file of a server. path: in its file."""

    def __init__(self, requests: Requests, file: str, path: str) -> None:
        """Made by `coquina.connect`."""
        self.requests = requests
        self.file = file
        self.path = path

    @lazy_property
    def info(self) -> dict[str, Any]:
        """All that the server says of it, as of when it was first asked; see `refresh`."""
        return self.requests.get("info", file=self.file, path=self.path).json()

    def refresh(self) -> None:
        """Ask the server anew from now on."""
        self.__dict__.pop("info", None)

    @property
    def attrs(self) -> dict[str, Any]:
        """The attributes."""
        return {one["name"]: one["value"] for one in self.info["attributes"]}

    @property
    def name(self) -> str:
        """The path in the file."""
        return self.path


class _Values(RemoteObject):
    """What has values along axes."""

    @property
    def shape(self) -> tuple[int, ...]:
        """The lengths of the axes."""
        return tuple(self.info["shape"])

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of the values; object for text and others of any length."""
        return dtype_of(self.info["dtype"])

    @property
    def ndim(self) -> int:
        """How many axes there are."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """How many values there are."""
        return int(np.prod(self.shape, dtype=np.int64))

    def __len__(self) -> int:
        """Return the length of the first axis."""
        if not self.shape:
            raise TypeError("a value without axes has no length")
        return self.shape[0]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[Any]:
        """Return all values."""
        del copy
        return np.asarray(self[...], dtype)

    def _ask(self, selection: str, kind: str) -> Answer:
        raise NotImplementedError

    def __getitem__(self, key: Any) -> Any:
        """Return the values of a key of integers, slices and `...`. Raises IndexError; LimitError."""
        whole = lowered(key, self.shape)
        dtype = self.dtype
        pieces = whole.cut(_TEXTS if dtype.hasobject else max(1, _PART_BYTES // dtype.itemsize))
        kind = "json" if dtype.hasobject else "bin"
        answers = of_one_state(lambda: [self._ask(one.text, kind) for one in pieces])
        if dtype.hasobject:
            lists = [one.json() for one in answers]
            return _objects(lists[0]) if len(lists) == 1 else np.concatenate([_objects(one) for one in lists])
        found = [values_of(one) for one in answers]
        values = found[0] if len(found) == 1 else np.concatenate(found)
        return values if values.ndim else values[()]

    async def read_async(self, key: Any = ...) -> Any:
        """Return the values of a key, as `a[key]`, without holding up other tasks."""
        return await self.requests.in_thread(self.__getitem__, key)


class RemoteArray(_Values):
    """An array of a server: `a[3:5, ::2]` fetches these values."""

    @property
    def chunks(self) -> tuple[int, ...] | None:
        """The shape of its chunks; None for what has none."""
        found = self.info.get("chunks")
        return None if found is None else tuple(found)

    def _ask(self, selection: str, kind: str) -> Answer:
        return self.requests.get("slice", file=self.file, path=self.path, selection=selection, format=kind)

    def append(self, values: npt.ArrayLike) -> int:
        """Append items along the first axis, in one commit; return how long the array is now.

        Raises PermissionError without the right to write, BlockingIOError while another writer has the file.
        """
        answer = self.requests.send("POST", "append/", npy(values), file=self.file, path=self.path)
        self.refresh()
        return int(answer.json()["length"])

    def __repr__(self) -> str:
        """Say shape, dtype, and where it is."""
        return f"<RemoteArray {self.shape} {self.dtype}, {self.file}:{self.path}, {self.requests.url}>"


class RemoteExpression(_Values):
    """An expression that the server computes: `e[3:5]` fetches these values of it."""

    def __init__(self, requests: Requests, file: str, text: str, operands: str) -> None:
        """Made by `RemoteGroup.expr`."""
        super().__init__(requests, file, "/")
        self.text = text
        self._operands = operands

    @lazy_property
    def info(self) -> dict[str, Any]:
        """Shape and dtype."""
        return self._asked(info=1).json()

    def _asked(self, **parameters: Any) -> Answer:
        given = {"expression": self.text, "operands": self._operands, **parameters}
        return self.requests.get("expr", file=self.file, **given)

    def _ask(self, selection: str, kind: str) -> Answer:
        return self._asked(selection=selection, format=kind)

    def compute(self) -> Any:
        """Return all values."""
        return self[...]

    async def compute_async(self) -> Any:
        """Return all values, without holding up other tasks."""
        return await self.read_async()

    def __repr__(self) -> str:
        """Say what is computed, and where."""
        return f"<RemoteExpression {self.text!r} {self.shape} {self.dtype}, {self.file}, {self.requests.url}>"


def dtype_of(text: str | None) -> np.dtype[Any]:
    """Return the dtype that a server names; object for what NumPy has none for."""
    if text is None:
        return np.dtype(object)
    try:
        found = np.dtype(ast.literal_eval(text) if text.startswith(("[", "{")) else text)
    except (TypeError, ValueError, SyntaxError):
        return np.dtype(object)
    # "str" of HDF5 is text of any length, and of no length to NumPy.
    return found if found.itemsize else np.dtype(object)


def values_of(answer: Answer) -> npt.NDArray[Any]:
    """Return the values of an answer in binary, by its headers."""
    text = answer.headers["x-dtype"]
    dtype = np.dtype(ast.literal_eval(text) if text.startswith("[") else text)
    shape = tuple(int(one) for one in answer.headers["x-shape"].split(",") if one)
    return np.frombuffer(answer.content, dtype).reshape(shape).copy()


def _objects(values: Any) -> Any:
    if not isinstance(values, list):
        return values
    return np.array(values, object)


def npy(values: npt.ArrayLike) -> bytes:
    """Return an NPY file of values."""
    with io.BytesIO() as file:
        np.save(file, np.asarray(values), allow_pickle=False)
        return file.getvalue()
