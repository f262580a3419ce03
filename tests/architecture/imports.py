"""Which module of a Python package imports which, imports inside of functions counted.

In: the folder of a package. Out: arrows between its modules, and the circles in them. Imports for type
checkers only are no arrows, and neither is that importing a module runs the `__init__` of its packages.
The modules that `names.py` has in its tables are arrows of the package itself, which hands them out.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

Arrows = Mapping[str, set[str]]


def modules_of(package: Path) -> dict[str, Path]:
    """The modules below the folder of a package, by their full names."""

    def name(path: Path) -> str:
        parts = path.relative_to(package.parent).with_suffix("").parts
        return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)

    return {name(path): path for path in sorted(package.rglob("*.py"))}


def arrows_of(package: Path) -> Arrows:
    """What each module imports of its package; modules that are no Python file, as `_core`, with it."""
    modules = modules_of(package)
    arrows = {name: set(_imported(name, path, modules)) for name, path in modules.items()}
    if (table := package / "names.py").exists():
        arrows[package.name] |= set(_named(package.name, table, modules))
    return {name: used - {name} for name, used in arrows.items()}


def _named(top: str, table: Path, modules: Mapping[str, Path]) -> Iterator[str]:
    """The modules that a file names as text, with the name of the package in front or without."""
    for node in ast.walk(ast.parse(table.read_text())):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from ({node.value, f"{top}.{node.value}"} & modules.keys())


def by_name(package: Path) -> set[str]:
    """The modules that import by a name that is not of another package: text that we make, or look up."""
    return {name for name, path in modules_of(package).items() if any(map(_is_by_name, _nodes(path)))}


def _nodes(path: Path) -> Iterator[ast.AST]:
    return ast.walk(ast.parse(path.read_text()))


def _is_by_name(node: ast.AST) -> bool:
    if not isinstance(node, ast.Call) or not ast.unparse(node.func).endswith(("import_module", "__import__")):
        return False
    given = node.args[0] if node.args else None
    if isinstance(given, ast.IfExp):
        given = given.body
    if isinstance(given, ast.JoinedStr):
        given = given.values[0]
    return not isinstance(given, ast.Constant) or str(given.value).startswith(("coquina", "."))


def _imported(name: str, path: Path, modules: Mapping[str, Path]) -> Iterator[str]:
    found = _named_by(_run_nodes(ast.parse(path.read_text())), name, path, modules)
    return (module for module in found if module.partition(".")[0] == name.partition(".")[0])


def late_imports_of(package: Path) -> set[tuple[str, str]]:
    """What runs an import in a function: the module, and the one that it imports, of whichever package."""
    modules = modules_of(package)
    return {
        (name, used)
        for name, path in modules.items()
        for function in _run_nodes(ast.parse(path.read_text()))
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        for used in _named_by(_run_nodes(function), name, path, modules)
    }


def _named_by(nodes: Iterator[ast.AST], name: str, path: Path, modules: Mapping[str, Path]) -> Iterator[str]:
    top = name.partition(".")[0]
    parts = name.split(".") if path.name == "__init__.py" else name.split(".")[:-1]
    for node in nodes:
        if isinstance(node, ast.Import):
            named = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            start = parts[: len(parts) - node.level + 1] if node.level else []
            base = ".".join([*start, *([node.module] if node.module else [])])
            extension = {f"{top}._core"} if base == top else set()
            below = [f"{base}.{alias.name}" for alias in node.names]
            named = [inner if inner in modules.keys() | extension else base for inner in below]
        else:
            continue
        yield from named


def _run_nodes(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes below `node` that run: what is for type checkers only does not."""
    inner = ast.iter_child_nodes(node)
    if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
        inner = node.orelse
    for child in inner:
        yield child
        yield from _run_nodes(child)


def circles_of(arrows: Arrows) -> set[frozenset[str]]:
    """The modules that reach each other, in sets of two and more."""
    reached = {module: _reached(module, arrows) for module in arrows}
    circles = {
        frozenset(other for other in others if other in reached and module in reached[other])
        for module, others in reached.items()
    }
    return {circle for circle in circles if len(circle) > 1}


def _reached(module: str, arrows: Arrows) -> set[str]:
    found: set[str] = set()
    left = [module]
    while left:
        new = arrows.get(left.pop(), set()) - found
        found |= new
        left += new
    return found
