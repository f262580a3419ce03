"""Conditions that differ in their numbers alone: what was read of one is kept for the others.

In: the text of a condition that was read before, and of others like it. Out: nodes, as `ConditionReader`
makes them.
Kept are which columns are compared, how, and how that is combined; numbers go to the functions that the
reader hands them to, so that they mean the same.
Invariant: what is more than comparisons of columns with numbers and columns, and what goes wrong, is left to
the reader.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from coquina.expressions.functions import FUNCTIONS, call
from coquina.expressions.grammar import BINARY, COMPARISONS, UNARY
from coquina.expressions.nodes import Node
from coquina.tables.column import Column
from coquina.tables.condition_values import compared
from coquina.tables.predicates import BOOL

if TYPE_CHECKING:
    from collections.abc import Mapping

    from coquina.expressions.table import Function

#: Longer texts, and longer numbers, are left to the reader.
_TEXT_MAX, _NUMBER_MAX = 512, 40
_KNOWN_MAX = 64
#: Numbers as Python writes them: no part of a name, of a complex number or of one in another base.
_NUMBER = re.compile(
    r"(?<![\w.])([0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?|\.[0-9]+(?:[eE][+-]?[0-9]+)?)(?![\w.])"
)
#: Texts with these have more in them than numbers and signs, or places on several lines.
_BEYOND = frozenset("'\"#\n\r\\")
_TRUTHS = ("logical_and", "logical_or", "logical_not", "bitwise_and", "bitwise_or", "bitwise_xor", "invert")


class _NotSimpleError(Exception):
    """The reader has to do it."""


@dataclass(frozen=True, slots=True)
class _Number:
    """The number at a place of the text; `is_negative`: with a minus before it."""

    at: int
    is_negative: bool


@dataclass(frozen=True, slots=True)
class _Comparison:
    op: str
    left: Column | _Number
    right: Column | _Number


@dataclass(frozen=True, slots=True)
class _Combination:
    function: Function
    arity: int


#: Steps that each take what stands last on a stack, and leave a condition there.
_Steps = tuple[_Comparison | _Combination, ...]


class Templates:
    """What is kept of the conditions on some columns."""

    __slots__ = ("_columns", "_known")

    def __init__(self, columns: Mapping[str, Column]) -> None:
        """Nothing is known yet."""
        self._columns = columns
        # None: one was met; no steps: they are not simple.
        self._known: dict[tuple[str, ...], _Steps | None] = {}

    def node(self, text: str) -> Node | None:
        """Return what a text means, if one like it was told; None for who has to read it, and may tell it."""
        if len(text) > _TEXT_MAX or not self._known:
            return None
        parts = _NUMBER.split(text)
        steps = self._known.get(tuple(parts[::2]))
        if not steps:
            return None
        try:
            return _made(steps, [_number(one) for one in parts[1::2]])
        except (ArithmeticError, TypeError, ValueError, _NotSimpleError):
            # The error is the reader's, with a note of the place.
            return None

    def told(self, text: str) -> None:
        """Keep what others like this text mean, which is a condition; from the second one on."""
        if len(text) > _TEXT_MAX or not _BEYOND.isdisjoint(text):
            return
        parts = _NUMBER.split(text)
        key = tuple(parts[::2])
        if key not in self._known:
            if len(self._known) >= _KNOWN_MAX:
                self._known.clear()
            self._known[key] = None
        elif self._known[key] is None:
            self._known[key] = self._steps(text, parts[1::2])

    def _steps(self, text: str, numbers: list[str]) -> _Steps:
        """Return the steps of a text with these numbers; none if it is not simple."""
        try:
            return _Compiler(self._columns, [_number(one) for one in numbers]).steps(text)
        except (_NotSimpleError, RecursionError):
            return ()


def _number(text: str) -> int | float:
    """Return a number as Python reads it."""
    if len(text) > _NUMBER_MAX:
        raise _NotSimpleError
    if not text.isdigit():
        return float(text)
    if text[0] == "0" and text != "0":
        # Python refuses most of these.
        raise _NotSimpleError
    return int(text)


def _made(steps: _Steps, numbers: list[int | float]) -> Node:
    """Return the node of steps with these numbers."""
    stack: list[Node] = []
    for step in steps:
        if isinstance(step, _Comparison):
            left, right = _operand(step.left, numbers), _operand(step.right, numbers)
            node = compared(step.op, left, right)
        else:
            taken = stack[-step.arity :]
            del stack[-step.arity :]
            node = call(step.function, *taken)
        if node.dtype != BOOL:
            raise _NotSimpleError
        stack.append(node)
    return stack[0]


def _operand(operand: Column | _Number, numbers: list[int | float]) -> Any:
    if isinstance(operand, _Number):
        return -numbers[operand.at] if operand.is_negative else numbers[operand.at]
    return operand


class _Compiler:
    """Makes steps of a text whose numbers are known."""

    def __init__(self, columns: Mapping[str, Column], numbers: list[int | float]) -> None:
        self._columns = columns
        self._numbers = numbers
        self._met = 0
        self._steps: list[_Comparison | _Combination] = []

    def steps(self, text: str) -> _Steps:
        """Return the steps of a text. Raises _NotSimpleError."""
        self._read(ast.parse(text.strip(), mode="eval").body)
        if self._met != len(self._numbers):
            raise _NotSimpleError
        return tuple(self._steps)

    def _read(self, node: ast.expr) -> None:
        match node:
            case ast.Compare():
                self._compare(node)
            case ast.BoolOp():
                name = "logical_and" if isinstance(node.op, ast.And) else "logical_or"
                self._read(node.values[0])
                for one in node.values[1:]:
                    self._read(one)
                    self._combine(name, 2)
            case ast.BinOp():
                self._read(node.left)
                self._read(node.right)
                self._combine(BINARY.get(type(node.op), ("",))[0], 2)
            case ast.UnaryOp():
                self._read(node.operand)
                self._combine(UNARY[type(node.op)][0], 1)
            case _:
                raise _NotSimpleError

    def _combine(self, name: str, arity: int) -> None:
        if name not in _TRUTHS:
            raise _NotSimpleError
        self._steps.append(_Combination(FUNCTIONS[name], arity))

    def _compare(self, node: ast.Compare) -> None:
        left = self._operand(node.left)
        for at, (op, right_node) in enumerate(zip(node.ops, node.comparators, strict=True)):
            right = self._operand(right_node)
            if type(op) not in COMPARISONS or not (isinstance(left, Column) or isinstance(right, Column)):
                raise _NotSimpleError
            self._steps.append(_Comparison(COMPARISONS[type(op)][0], left, right))
            if at:
                self._combine("logical_and", 2)
            left = right

    def _operand(self, node: ast.expr) -> Column | _Number:
        if isinstance(node, ast.Name) and node.id in self._columns:
            return self._columns[node.id]
        is_negative = isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub)
        if isinstance(node, ast.UnaryOp) and is_negative:
            node = node.operand
        at, self._met = self._met, self._met + 1
        # Numbers come in the order of the text.
        known: Any = self._numbers[at] if at < len(self._numbers) else None
        if not isinstance(node, ast.Constant) or type(node.value) is not type(known) or node.value != known:
            raise _NotSimpleError
        return _Number(at, is_negative)


__all__ = ["Templates"]
