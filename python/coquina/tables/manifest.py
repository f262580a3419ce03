"""`table.json`, the manifest of a table that is a directory: what there is, and which commit of each file.

In: the path of a manifest. Out: its nodes by path, and back.
Source: docs/formats/columns.md, "A directory of frames".
Invariant: nodes are never changed in place, so a shallow copy of the mapping is a state. What is read was
    written: version 2 has a checksum over all of it.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, cast

from coquina._core import CorruptError, read_manifest
from coquina.remote import new_path

if TYPE_CHECKING:
    from collections.abc import Mapping

    from coquina._core import Path

NAME = "table.json"
#: Where the indexes of a table are, a directory of frames as well.
FOLDER = "index"
#: The file that a writer holds locked, by the engine's `frame/lock.rs`.
LOCK = ".coquina.lock"
_VERSION, _VERSION_UNCHECKED = 2, 1
Node = dict[str, Any]


def is_directory(path: Path) -> bool:
    """Whether there is a table in a directory of this name."""
    return os.path.isfile(os.path.join(absolute(path), NAME))


def absolute(path: Any) -> str:
    """Return the absolute path. Raises ValueError for what is far away."""
    return new_path(path)


class Manifest:
    """The nodes of a table as of one commit. generation: its number; 0 if there was none."""

    def __init__(self, nodes: Mapping[str, Node], generation: int) -> None:
        """Of nodes by path; that of the table is empty."""
        self.nodes = dict(nodes)
        self.generation = generation

    @classmethod
    def read(cls, folder: str) -> Manifest:
        """Read that of a directory. Raises FileNotFoundError; CorruptError for damage, or for no table's."""
        text, lines, is_checked = read_manifest(os.path.join(folder, NAME))
        try:
            found = json.loads(text)
            version, nodes = found["coquina table"], found["nodes"]
            generation = found["generation"] if is_checked else 0
            is_known = version == (_VERSION if is_checked else _VERSION_UNCHECKED) and _is_node(nodes[""])
            is_known = is_known and type(generation) is int and all(map(_is_node, nodes.values()))
            paths = {str(one["number"]): path for path, one in nodes.items() if one["kind"] == "array"}
            for line in map(json.loads, lines):
                generation = line["generation"]
                for number, state in line["states"].items():
                    nodes[paths[number]]["state"] = state
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            raise CorruptError(f"{folder}: {NAME} is not that of a table") from None
        if not is_known:
            raise CorruptError(f"{folder}: {NAME} is not that of a table of version 1 or {_VERSION}")
        if is_checked and not all(one["kind"] != "array" or state_of(one) for one in nodes.values()):
            raise CorruptError(f"{folder}: {NAME} does not say which state of an array is the committed one")
        return cls(nodes, generation)


class ManifestText:
    """The text of manifests that follow each other: only what has changed is put into words again."""

    def __init__(self) -> None:
        """Nothing is known yet."""
        self._known: dict[str, tuple[Node, str]] = {}

    def of(self, nodes: Mapping[str, Node], generation: int) -> bytes:
        """Return the text of a manifest."""
        known, self._known = self._known, {}
        for path, node in nodes.items():
            before = known.get(path)
            if before is None or before[0] is not node:
                before = (node, f"{_json(path)}: {_json(node)}")
            self._known[path] = before
        lines = ",\n".join([text for _, text in self._known.values()])
        start = f'{{"coquina table": {_VERSION}, "generation": {generation}, "nodes": {{'
        return f"{start}\n{lines}\n}}}}\n".encode("utf-8", "surrogatepass")


def line_of(ids: Mapping[int, tuple[int, int]], generation: int) -> bytes:
    """Return the line that says that the arrays of these numbers are in other states now."""
    states = ", ".join([f'"{number}": [{end}, "{sum:016x}"]' for number, (end, sum) in ids.items()])
    return f'{{"generation": {generation}, "states": {{{states}}}}}'.encode()


def state_of(node: Node) -> tuple[int, int] | None:
    """Return the id of the committed state of an array: where it ends, and its sum. None if it says none."""
    state: Any = node.get("state")
    if not isinstance(state, list) or len(cast("list[Any]", state)) != 2:
        return None
    end, digits = cast("list[Any]", state)
    if type(end) is not int or not 0 < end < 1 << 63 or not isinstance(digits, str) or len(digits) != 16:
        return None
    try:
        return end, int(digits, 16)
    except ValueError:
        return None


def with_state(node: Node, state: tuple[int, int]) -> Node:
    """Return the node of an array that is in this state."""
    end, number = state
    return {**node, "state": [end, f"{number:016x}"]}


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _is_node(node: Any) -> bool:
    if not isinstance(node, dict):
        return False
    known = cast("Node", node)
    if not isinstance(known.get("attrs"), dict):
        return False
    if known.get("kind") == "array":
        members = known.get("members")
        is_named = members is None or _is_members(members)
        return type(known.get("number")) is int and known["number"] > 0 and is_named
    if known.get("kind") == "texts":
        texts = known.get("texts")
        return isinstance(texts, list) and all(isinstance(one, str) for one in cast("list[Any]", texts))
    return known.get("kind") == "group"


def _is_members(members: Any) -> bool:
    return isinstance(members, dict) and all(
        type(number) is int for number in cast("dict[str, Any]", members).values()
    )
