"""Expressions as text: `expr("sqrt(u**2 + v**2)", u=u, v=v)`.

In: text of a person or a program, hostile for all we know, and operands. Out: an expression.
Source: Python's grammar, by Python's own parser; what may stand in it is a list, and everything else is an
    error that shows the place. Nothing of the text is ever run.
Invariant: the result is what Python and NumPy make of the same text, where both know its names.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from coquina.arrays.array import Array
from coquina.arrays.methods import namespace
from coquina.arrays.views import View, view_of
from coquina.expressions.constructors import CONSTRUCTORS, construct
from coquina.expressions.expression import Expr
from coquina.expressions.functions import FUNCTIONS, Function, as_node, call, power_function
from coquina.expressions.grammar import (
    BINARY,
    BITS_MAX,
    COMPARISONS,
    CONSTANTS,
    DEPTH_MAX,
    METHODS,
    OPTIONS,
    TEXT_MAX,
    UNARY,
    ExpressionError,
    both,
    described,
    either,
    is_number,
)
from coquina.expressions.nodes import Leaf, Node
from coquina.keyword_hints import near_word

if TYPE_CHECKING:
    from collections.abc import Callable


def expr(text: str, /, **operands: Any) -> Expr:
    """Parse an expression from text. Nothing is computed, and the text is never run as code.

    text: names of operands, numbers, strings, Python's operators (`and`, `or`, `not` are elementwise, and
        comparisons can be chained), functions by NumPy's names (`sqrt(x)`, `where(m, x, y)`, `startswith(s,
        "a")`), constants (pi, e, inf, nan), slices with constant keys (`x[2:5, ::-1]`), `.real`, `.imag`,
        `.T`, reductions (`mean(x, axis=0)`), which are computed at once, new arrays (`arange(10)`,
        `linspace`, `zeros`, `ones`, `full`, `eye`) of at most 128 MiB, and methods of arrays and strings
        (`x.mean(axis=0)`, `x.clip(0, 1)`, `x.reshape(2, -1)`, `s.startswith("a")`).
    operands: arrays, expressions, views, datasets, NumPy arrays, and scalars of Python and NumPy.

    Returns an `Expr`. Raises ExpressionError, a ValueError with the position, for any other text. Errors of
    NumPy for operands that do not fit have a note with the position.

    >>> import coquina as cq
    >>> u, v = cq.asarray([3.0, 6.0]), cq.asarray([4.0, 8.0])
    >>> cq.expr("sqrt(u**2 + v**2)", u=u, v=v)[:]
    array([ 5., 10.])
    >>> cq.expr("where(u > 4, u, 0).sum()", u=u)[()]
    np.float64(6.0)
    """
    if not isinstance(cast("Any", text), str):
        raise TypeError(f"expr: the text is a {type(text).__name__}, not a str")
    value = Reader(text, operands).read()
    return Expr(value if isinstance(value, Node) else as_node(value))


def _meant(source: str, at: int) -> str | None:
    """Return what is to be written for a word of SQL or C where Python's parser stopped."""
    rest, before = source[at:], source[max(0, at - 1) : at]
    if rest[:1] == "=":
        return "a comparison is written ==, <= or >="
    if rest[:2] == "<>":
        return "write != for <>"
    if rest[:1] == "!":
        return "write not for !"
    if rest[:1] in ("&", "|") and before == rest[:1]:
        return f"write {'and' if before == '&' else 'or'} for {2 * before}"
    word = (rest.split(maxsplit=1) or [""])[0]
    if word in ("AND", "OR", "NOT", "IN", "IS"):
        return f"write {word.lower()} for {word}"
    if word.lower() == "between":
        return "write 1 <= x <= 2 for between"
    return "write contains, startswith or endswith for like" if word.lower() == "like" else None


def _instead(name: str) -> str:
    """Return what to do about the name of a function that there is not."""
    near = near_word(name, [*FUNCTIONS, *OPTIONS, *CONSTRUCTORS], 0.8)
    return f"; did you mean {near!r}?" if near else "; compute it first, and pass the result as an operand"


class Reader:
    """Makes nodes of a text. Values are nodes, or Python numbers, which stay weak as in NumPy."""

    def __init__(self, text: str, operands: dict[str, Any]) -> None:
        """The reader of a text. Raises ExpressionError if it is empty or too long."""
        if not text.strip():
            raise ExpressionError("the text is empty")
        if len(text) > TEXT_MAX:
            raise ExpressionError(f"{len(text)} characters: at most {TEXT_MAX} are read")
        self.text = text
        self.operands = operands
        self.indent = len(text) - len(text.lstrip())
        self.found: dict[str, Any] = {}

    def read(self) -> Any:
        """Return the value of the whole text."""
        source = self.text[self.indent :]
        if "#" not in source:
            source = source.replace("\n", " ").replace("\r", " ")
        try:
            tree = ast.parse(source, mode="eval")
        except SyntaxError as error:
            # Python says 0 for the end of the text.
            at = error.offset - 1 if error.offset else len(source)
            column = max(0, at) + self.indent if (error.lineno or 1) == 1 else 0
            raise ExpressionError(_meant(source, at) or error.msg, self.text, column) from None
        except (RecursionError, MemoryError):
            raise ExpressionError("too deeply nested", self.text) from None
        except ValueError as error:
            raise ExpressionError(str(error), self.text) from None
        return self.value(tree.body, 0)

    def error(self, node: ast.expr | ast.keyword, message: str) -> ExpressionError:
        """Return an error that shows the place of a node."""
        column, width = self.place(node)
        return ExpressionError(message, self.text, column, width)

    def place(self, node: ast.expr | ast.keyword) -> tuple[int, int]:
        """Return the column and the width of a node; the parser counts bytes."""
        if node.lineno != 1:
            return self.indent, 1
        raw = self.text[self.indent :].encode()
        start = len(raw[: node.col_offset].decode(errors="ignore"))
        end = node.end_col_offset if node.end_lineno == 1 and node.end_col_offset else node.col_offset + 1
        return start + self.indent, len(raw[node.col_offset : end].decode(errors="ignore"))

    def value(self, node: ast.expr, depth: int) -> Any:
        """Return the value of a part: a node, or a number or string of Python's."""
        if depth > DEPTH_MAX:
            raise self.error(node, f"more than {DEPTH_MAX} levels within each other")
        match node:
            case ast.Constant():
                return self.constant(node)
            case ast.Name():
                return self.name(node)
            case ast.BinOp():
                return self.chain(node, depth)
            case ast.UnaryOp():
                return self.unary(node, depth)
            case ast.BoolOp():
                return self.logical(node, depth)
            case ast.Compare():
                return self.comparison(node, depth)
            case ast.Call():
                return self.function(node, depth)
            case ast.Subscript():
                return self.part(node, depth)
            case ast.Attribute():
                return self.attribute(node, depth)
            case ast.IfExp():
                raise self.error(
                    node, "'if' and 'else' choose once; where(condition, x, y) chooses for each item"
                )
            case _:
                raise self.error(node, f"{described(node)}: not a part of expressions")

    def constant(self, node: ast.Constant) -> Any:
        """Return a number, a truth value or a string."""
        value: Any = node.value
        if type(value) in (bool, int, float, complex, str, bytes):
            return value
        raise self.error(node, f"{value!r}: not a part of expressions")

    def name(self, node: ast.Name) -> Any:
        """Return what a name stands for."""
        if node.id in self.found:
            return self.found[node.id]
        if node.id in self.operands:
            value = self.operands[node.id]
            if type(value) not in (bool, int, float, complex, str, bytes):
                value = as_node(value)
        elif node.id in CONSTANTS:
            value = CONSTANTS[node.id]
        else:
            known = ", ".join(sorted(self.operands)) or "none"
            what = "a function, which needs brackets" if node.id in FUNCTIONS else f"not an operand ({known})"
            raise self.error(node, f"{node.id!r} is {what}")
        self.found[node.id] = value
        return value

    def chain(self, node: ast.BinOp, depth: int) -> Any:
        """Read `x + y + z ...`, however long: what is on the left of an operator is no level of its own."""
        spine = [node]
        while isinstance(spine[-1].left, ast.BinOp):
            spine.append(spine[-1].left)
        value = self.value(spine[-1].left, depth + 1)
        for one in reversed(spine):
            if type(one.op) not in BINARY:
                raise self.error(one, "'@' is not an operator of items")
            name, apply = BINARY[type(one.op)]
            other = self.value(one.right, depth + 1)
            if is_number(value) and is_number(other):
                self.check_bits(one, value, other)
            value = self.call(one, name, apply, value, other)
        return value

    def check_bits(self, node: ast.BinOp, left: Any, right: Any) -> None:
        """Refuse integers of a size that takes time and memory."""
        bits = 0
        if isinstance(left, int) and isinstance(right, int) and right > 0:
            if isinstance(node.op, ast.Pow):
                bits = left.bit_length() * right
            elif isinstance(node.op, ast.LShift):
                bits = left.bit_length() + right
        if bits > BITS_MAX:
            raise self.error(node, f"an integer of {bits} bits: at most {BITS_MAX} are taken")

    def call(self, node: ast.expr, name: str, apply: Callable[..., Any], *values: Any) -> Any:
        """Call a function: Python's on numbers alone, which stay Python numbers."""
        try:
            if all(map(is_number, values)):
                return apply(*values)
            return self.call_node(FUNCTIONS[name], values)
        except (ArithmeticError, TypeError, ValueError) as error:
            raise self.noted(node, error) from None

    def call_node(self, function: Function, values: tuple[Any, ...]) -> Node:
        """Call a function of items."""
        if function is FUNCTIONS["power"] and type(values[1]) in (int, float) and isinstance(values[0], Node):
            short = power_function(values[0].dtype, values[1])
            if short is not None:
                return call(short, values[0])
        return call(function, *values)

    def noted(self, node: ast.expr, error: Exception) -> Exception:
        """Return an error of NumPy's with a note of the place."""
        if not isinstance(error, ExpressionError):
            column, width = self.place(node)
            shown = str(ExpressionError("in the expression", self.text, column, width))
            error.add_note(shown)
        return error

    def unary(self, node: ast.UnaryOp, depth: int) -> Any:
        """Read `-x` and its like."""
        name, apply = UNARY[type(node.op)]
        return self.call(node, name, apply, self.value(node.operand, depth + 1))

    def logical(self, node: ast.BoolOp, depth: int) -> Any:
        """Read `x and y`."""
        name, apply = ("logical_and", both) if isinstance(node.op, ast.And) else ("logical_or", either)
        value = self.value(node.values[0], depth + 1)
        for one in node.values[1:]:
            value = self.call(node, name, apply, value, self.value(one, depth + 1))
        return value

    def comparison(self, node: ast.Compare, depth: int) -> Any:
        """Read `x < y < z ...`."""
        left = self.value(node.left, depth + 1)
        result: Any = None
        for op, right_node in zip(node.ops, node.comparators, strict=True):
            if type(op) not in COMPARISONS:
                raise self.error(node, "'in' and 'is' are not operators of items")
            right = self.value(right_node, depth + 1)
            name, apply = COMPARISONS[type(op)]
            found = self.call(node, name, apply, left, right)
            result = found if result is None else self.call(node, "logical_and", both, result, found)
            left = right
        return result

    def function(self, node: ast.Call, depth: int) -> Any:
        """Read `f(x, y)`, and `x.f(y)` of the methods that arrays and strings have."""
        if isinstance(node.func, ast.Attribute) and node.func.attr in METHODS:
            name = ast.copy_location(ast.Name(node.func.attr, ast.Load()), node.func)
            call_of = ast.Call(name, [node.func.value, *node.args], node.keywords)
            return self.function(ast.copy_location(call_of, node), depth)
        if not isinstance(node.func, ast.Name):
            raise self.error(node.func, self.not_called(node.func))
        name = node.func.id
        if name in CONSTRUCTORS:
            return self.constructor(node, name)
        if name not in FUNCTIONS and name not in OPTIONS:
            raise self.error(node.func, f"{name!r} is not a function of expressions{_instead(name)}")
        for arg in node.args:
            if isinstance(arg, ast.Starred):
                raise self.error(arg, "'*': not a part of expressions")
        if name in OPTIONS:
            return self.with_options(node, name, depth)
        if node.keywords:
            raise self.error(node.keywords[0], f"{name} takes no options")
        function = FUNCTIONS[name]
        if len(node.args) != function.arity:
            raise self.error(node, f"{name} takes {function.arity} operands, not {len(node.args)}")
        values = tuple([self.value(arg, depth + 1) for arg in node.args])
        try:
            return self.call_node(function, values)
        except (ArithmeticError, TypeError, ValueError) as error:
            raise self.noted(node, error) from None

    def not_called(self, node: ast.expr) -> str:
        """Return why what stands before brackets cannot be called."""
        if isinstance(node, ast.Attribute) and node.attr in FUNCTIONS:
            return f"only functions are called, by their names: write {node.attr}(...)"
        return "only functions are called, by their names, and methods of arrays and strings"

    def constructor(self, node: ast.Call, name: str) -> Any:
        """Read a function that makes an array of constants."""
        options: dict[str, Any] = {}
        for keyword in node.keywords:
            if keyword.arg not in CONSTRUCTORS[name]:
                known = ", ".join(CONSTRUCTORS[name])
                raise self.error(keyword, f"{name} has no option {keyword.arg!r} here; it has {known}")
            options[keyword.arg] = self.literal(keyword.value, 0)
        values = [self.literal(arg, 0) for arg in node.args]
        try:
            return as_node(construct(name, values, options))
        except (ArithmeticError, TypeError, ValueError) as error:
            raise self.noted(node, error) from None

    def with_options(self, node: ast.Call, name: str, depth: int) -> Any:
        """Read a function that takes options."""
        options: dict[str, Any] = {}
        for keyword in node.keywords:
            if keyword.arg not in OPTIONS[name]:
                known = ", ".join(OPTIONS[name]) or "none"
                raise self.error(keyword, f"{name} has no option {keyword.arg!r} here; it has {known}")
            options[keyword.arg] = self.literal(keyword.value, 0)
        if not node.args:
            raise self.error(node, f"{name} needs an operand")
        first = self.operand(node.args[0], depth + 1)
        if name in ("clip", "isclose"):
            rest = [self.operand(arg, depth + 1) for arg in node.args[1:]]
        else:
            rest = [self.literal(arg, 0) for arg in node.args[1:]]
        if name == "reshape" and len(rest) > 1:
            rest = [tuple(rest)]
        if rest and name not in ("astype", "clip", "isclose", "reshape", "round"):
            rest, options["axis"] = [], rest[0] if len(rest) == 1 else self.refuse(node, name)
        try:
            function = getattr(namespace(), name)
            return as_node(function(Expr(as_node(first)), *rest, **options))
        except (ArithmeticError, TypeError, ValueError) as error:
            raise self.noted(node, error) from None

    def refuse(self, node: ast.Call, name: str) -> Any:
        """Raise the error for operands that a function does not take."""
        raise self.error(node, f"{name} takes an operand, an axis, and options by their names")

    def operand(self, node: ast.expr, depth: int) -> Any:
        """Return a value as functions with options take it."""
        if isinstance(node, ast.Constant) and node.value is None:
            return None
        value = self.value(node, depth)
        return Expr(value) if isinstance(value, Node) else value

    def literal(self, node: ast.expr, depth: int) -> Any:
        """Return a constant: a number, a string, a truth value, None, or a tuple of these."""
        match node:
            case ast.Constant():
                return None if node.value is None else self.constant(node)
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=value)) if is_number(value):
                return -cast("Any", value)
            case ast.Tuple() if depth == 0:
                return tuple([self.literal(part, 1) for part in node.elts])
            case ast.Name() if node.id in CONSTANTS and depth == 0:
                return CONSTANTS[node.id]
            case _:
                raise self.error(node, "only a constant can stand here")

    def part(self, node: ast.Subscript, depth: int) -> Any:
        """Read `x[key]`."""
        value = self.value(node.value, depth + 1)
        if not isinstance(value, Node):
            raise self.error(node, "a number has no parts")
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        keys = [self.key(part) for part in parts]
        key = tuple(keys) if isinstance(node.slice, ast.Tuple) else keys[0]
        source: Any = value.source if isinstance(value, Leaf) else Expr(value)
        try:
            if isinstance(source, np.ndarray):
                return as_node(cast("Any", source)[key])
            if isinstance(source, (Array, View)):
                return as_node(source.view(key))
            return as_node(view_of(source if isinstance(source, Expr) else Expr(value), key))
        except (IndexError, TypeError, ValueError) as error:
            raise self.noted(node, error) from None

    def key(self, node: ast.expr) -> Any:
        """Return one part of a constant key."""
        match node:
            case ast.Slice():
                ends = (node.lower, node.upper, node.step)
                return slice(*[None if end is None else self.integer(end) for end in ends])
            case ast.Constant() if node.value is None or node.value is Ellipsis:
                return node.value
            case _:
                return self.integer(node)

    def integer(self, node: ast.expr) -> int | None:
        """Return a constant integer."""
        found = self.literal(node, 1)
        if found is None or type(found) is int:
            return found
        raise self.error(node, "parts are named by constant integers and slices")

    def attribute(self, node: ast.Attribute, depth: int) -> Any:
        """Read `x.name`."""
        if node.attr not in ("real", "imag", "T"):
            raise self.error(node, f"'.{node.attr}': of attributes there are .real, .imag and .T")
        value = as_node(self.value(node.value, depth + 1))
        return as_node(Expr(value).T) if node.attr == "T" else call(FUNCTIONS[node.attr], value)


__all__ = ["ExpressionError", "expr"]
