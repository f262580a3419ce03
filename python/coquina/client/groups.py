"""Groups of files behind a server: what is in them, and expressions of it.

In: names. Out: groups, arrays, tables and expressions of a server.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from coquina.client.objects import RemoteArray, RemoteExpression, RemoteObject
from coquina.client.tables import RemoteTable
from coquina.lazy_property import lazy_property

if TYPE_CHECKING:
    from coquina.client.requests import Requests


class RemoteGroup(RemoteObject, Mapping[str, Any]):
    """A group of a server, or a whole file: a mapping from names to groups, arrays and tables."""

    @lazy_property
    def _children(self) -> dict[str, str]:
        found = self.requests.get("tree", file=self.file, path=self.path).json()["children"]
        return {one["name"]: one["kind"] for one in found}

    def refresh(self) -> None:
        """Ask the server anew from now on."""
        super().refresh()
        self.__dict__.pop("_children", None)

    def __getitem__(self, name: str) -> Any:
        """Return what has this name, or path of names. Raises KeyError."""
        path = name if name.startswith("/") else f"{self.path.rstrip('/')}/{name}"
        return opened(self.requests, self.file, path)

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names."""
        return iter(self._children)

    def __len__(self) -> int:
        """Return how many names there are."""
        return len(self._children)

    def __repr__(self) -> str:
        """Say where it is."""
        return f"<RemoteGroup {self.file}:{self.path}, {self.requests.url}>"

    def expr(self, text: str, /, **operands: Any) -> RemoteExpression:
        """Return an expression of arrays of the file, which the server computes as it is asked for values.

        operands: arrays of this file, or their paths; a column of a table as its path and name, `t/x`.
        """
        places = [f"{name}:{_place(self, one)}" for name, one in operands.items()]
        return RemoteExpression(self.requests, self.file, text, ",".join(places))

    def compute(self, text: str, /, **operands: Any) -> Any:
        """Return all values of an expression; see `expr`. Raises ExpressionError, LimitError."""
        return self.expr(text, **operands).compute()

    async def get_async(self, name: str) -> Any:
        """Return what has this name, as `group[name]`, without holding up other tasks. Raises KeyError."""
        return await self.requests.in_thread(self.__getitem__, name)

    async def compute_async(self, text: str, /, **operands: Any) -> Any:
        """Return all values of an expression, as `compute`, without holding up other tasks."""
        return await self.requests.in_thread(self.expr(text, **operands).compute)


def _place(group: RemoteGroup, operand: Any) -> str:
    path = getattr(operand, "path", operand)
    if not isinstance(path, str):
        raise TypeError(f"an operand is an array of the file or a path, not a {type(operand).__name__}")
    if getattr(operand, "file", group.file) != group.file:
        raise ValueError(f"{path}: of another file, {operand.file}")
    return path if path.startswith("/") else f"{group.path.rstrip('/')}/{path}"


def opened(requests: Requests, file: str, path: str) -> Any:
    """Return what is at a path of a file. Raises KeyError."""
    said = requests.get("info", file=file, path=path).json()
    kinds: dict[str, type[Any]] = {"group": RemoteGroup, "table": RemoteTable}
    made = kinds.get(said["kind"], RemoteArray)(requests, file, said["path"])
    made.__dict__["info"] = said
    return made
