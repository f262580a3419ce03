"""Reads the text of conditions: `coquina.expr`'s grammar, where names are columns and parameters.

In: text, columns and parameters. Out: a column, a node, values that can be missing, or a constant.
Invariant: every error of a text is an ExpressionError, or a TypeError or ValueError with a note of the place.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from coquina.expressions.expression import Expr
from coquina.expressions.functions import FUNCTIONS
from coquina.expressions.grammar import (
    BINARY,
    COMPARISONS,
    CONSTANTS,
    OPTIONS,
    ExpressionError,
    both,
    is_number,
)
from coquina.expressions.nodes import Node
from coquina.expressions.text import Reader
from coquina.tables.column import Column
from coquina.tables.condition_values import (
    BITWISE,
    COMPLEX,
    LOGICAL,
    Masked,
    among,
    as_truth,
    check_truths,
    compared,
    dtype_of,
    fitted,
    is_missing,
    lowered,
    parameter,
    values_of,
)
from coquina.tables.predicates import MATCHES, either, no

if TYPE_CHECKING:
    from collections.abc import Callable

    from coquina.expressions.table import Function

#: Names of what is missing, where neither a parameter nor a column has them.
NULLS = frozenset(("null", "NULL"))
#: Questions about values, by all their names: functions, and methods of columns.
QUESTIONS = {
    **dict.fromkeys(("isnull", "is_null", "isna"), "is_null"),
    **dict.fromkeys(("notnull", "not_null", "notna"), "not_null"),
    "isin": "isin",
    **{name: name for name in MATCHES},
}
_BITS = (ast.BitAnd, ast.BitOr, ast.BitXor)


class ConditionReader(Reader):
    """Makes nodes of the text of a condition. Values are also columns, and `Masked`."""

    def __init__(self, text: str, columns: dict[str, Column], params: dict[str, Any]) -> None:
        """The reader of a text. columns: by their paths. params: by their names, which go first."""
        super().__init__(text, params)
        self.columns = columns
        self.count = min([len(column) for column in columns.values()], default=0)
        self._values: dict[int, Any] = {}

    def read(self) -> Any:
        """Return the value of the whole text."""
        try:
            return super().read()
        except RecursionError:
            raise ExpressionError("too deeply nested", self.text) from None

    def value(self, node: ast.expr, depth: int) -> Any:
        """Return the value of a part, which is read once."""
        if id(node) not in self._values:
            self._values[id(node)] = super().value(node, depth)
        return self._values[id(node)]

    def noted(self, node: ast.expr, error: Exception) -> Exception:
        """Return an error with a note of the place; what cannot be computed is no expression."""
        if isinstance(error, ArithmeticError | LookupError):
            return self.error(node, str(error.args[-1]) if error.args else type(error).__name__)
        return super().noted(node, error)

    def name(self, node: ast.Name) -> Any:
        """Return what a name stands for: a parameter, a column, a constant."""
        name = node.id
        if name in self.operands:
            if name not in self.found:
                try:
                    self.found[name] = parameter(self.operands[name], name, self.count)
                except (TypeError, ValueError) as error:
                    raise self.noted(node, error) from None
            return self.found[name]
        if name in self.columns:
            return self.columns[name]
        if name in CONSTANTS:
            return CONSTANTS[name]
        raise self.unknown(node, name)

    def unknown(self, node: ast.expr, name: str) -> ExpressionError:
        """Return the error for a name that stands for nothing."""
        shown = name.replace("/", ".")
        inner = [path for path in self.columns if path.startswith(f"{name}/")]
        if inner:
            return self.error(node, f"{shown!r} has columns in it: {_listed(inner)}")
        if name in FUNCTIONS or name in OPTIONS or name in QUESTIONS:
            return self.error(node, f"{shown!r} is a function, which needs brackets")
        known = f"no column ({_listed(list(self.columns))})"
        given = f" and no parameter ({', '.join(self.operands)})" if self.operands else ""
        hint = f"; values of names are given as params={{{name!r}: ...}}" if "/" not in name else ""
        return self.error(node, f"{shown!r} is {known}{given}{hint}")

    def attribute(self, node: ast.Attribute, depth: int) -> Any:
        """Read `info.x`, a column within another; and `.real` and `.imag`."""
        path = _path(node)
        if path is not None:
            root = path.partition("/")[0]
            if root not in self.operands:
                if path in self.columns:
                    return self.columns[path]
                if any(one.startswith(f"{path}/") for one in self.columns):
                    raise self.unknown(node, path)
                above = path.rpartition("/")[0]
                if above not in self.columns and any(one.startswith(f"{above}/") for one in self.columns):
                    raise self.unknown(node, path)
        if node.attr not in ("real", "imag"):
            raise self.error(
                node, f"'.{node.attr}': columns have .real and .imag, and questions as s.startswith"
            )
        return self.call(node, node.attr, _part_of_number(node.attr), self.value(node.value, depth + 1))

    def call_node(self, function: Function, values: tuple[Any, ...]) -> Any:
        """Call a function of items; where an operand is missing, so is the result."""
        operands = [lowered(value) for value in values]
        if function in LOGICAL or function in BITWISE:
            operands = [as_truth(value) for value in operands]
            check_truths(function, operands)
        nulls = [value.nulls for value in operands if isinstance(value, Masked)]
        plain = [value.node if isinstance(value, Masked) else value for value in operands]
        node = super().call_node(function, tuple(fitted(plain)))
        if not nulls:
            return node
        masked = nulls[0]
        for one in nulls[1:]:
            masked = either(masked, one)
        return Masked(node, masked)

    def comparison(self, node: ast.Compare, depth: int) -> Any:
        """Read `x < y < z ...`, `x in (1, 2)`, `x is null`."""
        self.check_brackets(node, depth)
        result: Any = None
        left_node, left = node.left, None
        for at, (op, right_node) in enumerate(zip(node.ops, node.comparators, strict=True)):
            is_first = at == 0 or left is None
            if isinstance(op, ast.In | ast.NotIn):
                found = self.membership(op, left_node, right_node, depth)
                right = None
            elif self.is_nothing(right_node) and isinstance(op, ast.Is | ast.IsNot | ast.Eq | ast.NotEq):
                found = self.nothing(left_node, depth, is_not=isinstance(op, ast.IsNot | ast.NotEq))
                right = None
            elif type(op) not in COMPARISONS:
                raise self.error(right_node, "'is' asks for null: x is null, x is not null")
            else:
                left = self.value(left_node, depth + 1) if is_first else left
                right = self.value(right_node, depth + 1)
                found = self.compared(node, op, left, right)
            result = found if result is None else self.call(node, "logical_and", both, result, found)
            left_node, left = right_node, right
        return result

    def compared(self, node: ast.expr, op: ast.cmpop, left: Any, right: Any) -> Any:
        """Return a comparison of two values: Python's of constants."""
        name, apply = COMPARISONS[type(op)]
        try:
            if not any(isinstance(one, Column | Node | Masked) for one in (left, right)):
                if isinstance(left, bytes) != isinstance(right, bytes):
                    raise TypeError(f"{left!r} is not compared with {right!r}")
                return bool(apply(left, right))
            return compared(name, left, right)
        except (ArithmeticError, TypeError, ValueError) as error:
            raise self.noted(node, error) from None

    def check_brackets(self, node: ast.Compare, depth: int) -> None:
        """Refuse `a > 1 & b < 2`, where & goes first, as in Python, and not the comparisons."""
        sides = [node.left, *node.comparators]
        for at, side in enumerate(sides):
            if not (isinstance(side, ast.BinOp) and isinstance(side.op, _BITS)) or self.in_brackets(side):
                continue
            is_middle = 0 < at < len(sides) - 1
            truths = [
                dtype_of(lowered(value)).kind == "b"
                for value in (self.value(one, depth + 1) for one in (side.left, side.right))
                if not (isinstance(value, Column) and value.text_kind)
            ]
            if is_middle or any(truths):
                sign = BITWISE[FUNCTIONS[BINARY[type(side.op)][0]]]
                raise self.error(
                    side,
                    f"{sign} goes before comparisons: put these in brackets, as in (x > 1) {sign} (y < 2)",
                )

    def in_brackets(self, node: ast.expr) -> bool:
        """Whether a bracket stands right before a part."""
        column, _ = self.place(node)
        return self.text[:column].rstrip().endswith("(") and not self.text[:column].rstrip()[:-1].endswith(
            tuple("abcdefghijklmnopqrstuvwxyz_0123456789")
        )

    def is_nothing(self, node: ast.expr) -> bool:
        """Whether a part is None, or null."""
        if isinstance(node, ast.Constant):
            return node.value is None
        return isinstance(node, ast.Name) and node.id in NULLS and not self.is_known(node.id)

    def is_known(self, name: str) -> bool:
        """Whether a name is a parameter or a column."""
        return name in self.operands or name in self.columns

    def nothing(self, node: ast.expr, depth: int, *, is_not: bool) -> Any:
        """Return where a part is missing, or where it is not."""
        value = self.value(node, depth + 1)
        try:
            found = is_missing(value, self.count)
        except (ArithmeticError, TypeError, ValueError) as error:
            raise self.noted(node, error) from None
        return no(found) if is_not else found

    def membership(self, op: ast.cmpop, left: ast.expr, right: ast.expr, depth: int) -> Any:
        """Read `x in (1, 2)`, and `"a" in s`, which is where the text `s` contains it."""
        value = self.value(left, depth + 1)
        is_list = isinstance(right, ast.Tuple | ast.List | ast.Set) or self.listed(right) is not None
        if isinstance(value, str | bytes) and not is_list:
            found = self.asked(right, "contains", self.value(right, depth + 1), [value])
        else:
            found = self.among(left, value, self.values(right, depth))
        return no(found) if isinstance(op, ast.NotIn) else found

    def among(self, node: ast.expr, value: Any, values: Any) -> Any:
        """Return where a value is one of several."""
        try:
            if not isinstance(value, Column | Node | Masked):
                return any(is_number(one) and one == value for one in values) or value in [
                    one for one in values if isinstance(one, str | bytes)
                ]
            return among(value, values, self.count)
        except (ArithmeticError, TypeError, ValueError) as error:
            raise self.noted(node, error) from None

    def listed(self, node: ast.expr) -> Any:
        """Return the values of a parameter that is a list or an array."""
        if isinstance(node, ast.Name) and node.id in self.operands:
            return values_of(self.operands[node.id])
        return None

    def values(self, node: ast.expr, depth: int) -> Any:
        """Return what stands behind `in`."""
        found = self.listed(node)
        if found is not None:
            return found
        if not isinstance(node, ast.Tuple | ast.List | ast.Set):
            raise self.error(
                node, "behind 'in' stand values in brackets, (1, 2), or a parameter that is a list"
            )
        return [None if self.is_nothing(one) else self.value(one, depth + 1) for one in node.elts]

    def function(self, node: ast.Call, depth: int) -> Any:
        """Read `f(x, y)`, and `s.startswith("a")`."""
        name, args = "", list(node.args)
        if isinstance(node.func, ast.Attribute) and node.func.attr in QUESTIONS:
            name, args = node.func.attr, [node.func.value, *args]
        elif isinstance(node.func, ast.Name):
            name = node.func.id
        if name == "col" and isinstance(node.func, ast.Name):
            return self.column(node)
        if name in QUESTIONS and args and not node.keywords:
            return self.question(node, QUESTIONS[name], args, depth)
        if name == "complex" and len(args) == 2 and not node.keywords:
            return self.call_all(node, COMPLEX, [self.value(arg, depth + 1) for arg in args])
        return super().function(node, depth)

    def call_all(self, node: ast.expr, function: Function, values: list[Any]) -> Any:
        """Call a function of items, also of constants alone."""
        try:
            return self.call_node(function, tuple(values))
        except (ArithmeticError, TypeError, ValueError) as error:
            raise self.noted(node, error) from None

    def operand(self, node: ast.expr, depth: int) -> Any:
        """Return a value as functions with options take it."""
        value = lowered(super().operand(node, depth))
        if isinstance(value, Masked):
            raise self.error(node, "values can be missing here, which this function does not take")
        return Expr(value) if isinstance(value, Node) else value

    def with_options(self, node: ast.Call, name: str, depth: int) -> Any:
        """Read a function that takes options; of columns the values are taken."""
        try:
            return super().with_options(node, name, depth)
        except (LookupError, MemoryError, AttributeError) as error:
            raise self.error(node, str(error) or type(error).__name__) from None

    def column(self, node: ast.Call) -> Any:
        """Read `col("name")`: the column of any name; nested ones have "/" or "." between the names."""
        arg = node.args[0] if len(node.args) == 1 and not node.keywords else None
        if not (isinstance(arg, ast.Constant) and isinstance(arg.value, str)):
            raise self.error(node, 'col takes the name of a column: col("name")')
        for name in (arg.value, arg.value.replace(".", "/")):
            if name in self.columns:
                return self.columns[name]
        raise self.unknown(arg, arg.value)

    def question(self, node: ast.Call, name: str, args: list[ast.expr], depth: int) -> Any:
        """Read a question about values: whether they are missing, among others, or match."""
        if name in ("is_null", "not_null"):
            if len(args) != 1:
                raise self.error(node, f"{name} takes 1 operand, not {len(args)}")
            return self.nothing(args[0], depth, is_not=name == "not_null")
        if len(args) != 2:
            raise self.error(node, f"{name} takes 2 operands, not {len(args)}")
        value = self.value(args[0], depth + 1)
        if name == "isin":
            return self.among(node, value, self.values(args[1], depth))
        return self.asked(node, name, value, [self.value(args[1], depth + 1)])

    def asked(self, node: ast.expr, name: str, value: Any, operands: list[Any]) -> Any:
        """Return where text matches another."""
        try:
            if isinstance(value, Column) and isinstance(operands[0], str | bytes):
                return value.matching(name, operands[0])
            if isinstance(value, Column) and not value.text_kind:
                return value.matching(name, operands[0])
            return self.call_node(FUNCTIONS[name], (value, *operands))
        except (ArithmeticError, TypeError, ValueError) as error:
            raise self.noted(node, error) from None

    def part(self, node: ast.Subscript, depth: int) -> Any:
        """Read `pos[0]`: one of the values that each row has."""
        value = self.value(node.value, depth + 1)
        if not isinstance(value, Column):
            raise self.error(node, "only columns with several values in each row have parts")
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        index = [self.integer(part) for part in parts]
        if None in index:
            raise self.error(node, "parts are named by integers")
        try:
            return value.element(tuple([at for at in index if at is not None]))
        except (LookupError, TypeError, ValueError) as error:
            raise self.noted(node, error) from None


def _path(node: ast.expr) -> str | None:
    """Return `a.b.c` as a path."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        above = _path(node.value)
        return None if above is None else f"{above}/{node.attr}"
    return None


def _part_of_number(name: str) -> Callable[[Any], Any]:
    return lambda value: getattr(value, name)


def _listed(paths: list[str]) -> str:
    shown = [path.replace("/", ".") for path in paths[:20]]
    return ", ".join(shown) + (", ..." if len(paths) > 20 else "") or "there is none"
