"""The stub of the compiled module against the module: same names, same signatures, same bases."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path

import pytest

import coquina
from coquina import _core

#: The stub of one module, in some files.
FILES = sorted(Path(coquina.__file__).parent.glob("_core*.pyi"))
STUB = [node for file in FILES for node in ast.parse(file.read_text()).body]
Kind = inspect.Parameter


def functions_of(body: list[ast.stmt]) -> dict[str, ast.FunctionDef]:
    return {node.name: node for node in body if isinstance(node, ast.FunctionDef)}


FUNCTIONS = functions_of(STUB)
CLASSES = {node.name: node for node in STUB if isinstance(node, ast.ClassDef)}
#: Names with a type, less the aliases, which exist for type checkers alone.
VALUES = {
    node.target.id
    for node in STUB
    if isinstance(node, ast.AnnAssign)
    and isinstance(node.target, ast.Name)
    and ast.unparse(node.annotation) != "TypeAlias"
}


def public(names: object) -> set[str]:
    return {name for name in names if not name.startswith("_")}


def signature_of(node: ast.FunctionDef) -> list[tuple[str, object, object]]:
    """Name, kind and default of every parameter, as `inspect` tells them."""
    arguments = node.args
    placed = [*arguments.posonlyargs, *arguments.args]
    defaults = [Kind.empty] * (len(placed) - len(arguments.defaults)) + [
        ast.literal_eval(d) for d in arguments.defaults
    ]
    kinds = [Kind.POSITIONAL_ONLY] * len(arguments.posonlyargs) + [Kind.POSITIONAL_OR_KEYWORD] * len(
        arguments.args
    )
    found = [(a.arg, kind, default) for a, kind, default in zip(placed, kinds, defaults, strict=True)]
    if arguments.vararg is not None:
        found.append((arguments.vararg.arg, Kind.VAR_POSITIONAL, Kind.empty))
    for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        value = Kind.empty if default is None else ast.literal_eval(default)
        found.append((argument.arg, Kind.KEYWORD_ONLY, value))
    return found


def signature_in(thing: object) -> list[tuple[str, object, object]]:
    parameters = inspect.signature(thing).parameters.values()
    return [(p.name, p.kind, p.default) for p in parameters]


def test_the_stub_and_the_module_have_the_same_public_names():
    in_module = public(vars(_core))
    in_stub = public({*FUNCTIONS, *CLASSES, *VALUES})
    assert in_module == in_stub
    assert hasattr(_core, "__version__")
    assert "__version__" in VALUES


@pytest.mark.parametrize(
    "name", sorted(public(n for n in dir(_core) if inspect.isbuiltin(getattr(_core, n))))
)
def test_a_function_has_the_signature_of_its_stub(name):
    assert name in FUNCTIONS, f"{name}: no stub"
    assert signature_in(getattr(_core, name)) == signature_of(FUNCTIONS[name])


@pytest.mark.parametrize("name", sorted(public(n for n in dir(_core) if inspect.isclass(getattr(_core, n)))))
def test_a_class_has_the_base_and_the_public_methods_of_its_stub(name):
    assert name in CLASSES, f"{name}: no stub"
    in_module, in_stub = getattr(_core, name), CLASSES[name]
    bases = [ast.unparse(base) for base in in_stub.bases]
    assert not bases or in_module.__base__.__name__ in bases
    own = {member: value for member, value in vars(in_module).items() if not member.startswith("_")}
    stubs = functions_of(in_stub.body)
    fields = {node.target.id for node in in_stub.body if isinstance(node, ast.AnnAssign)}
    assert set(own) == public({*stubs, *fields})
    for member, value in own.items():
        if callable(value) and member in stubs:
            assert [p[0] for p in signature_in(value)] == [p[0] for p in signature_of(stubs[member])], member


def test_every_public_name_of_the_package_has_a_docstring():
    for name in coquina.__all__:
        thing = getattr(coquina, name)
        if inspect.isclass(thing) or inspect.isfunction(thing):
            assert inspect.getdoc(thing), name
        elif callable(thing):
            # A compiled function may keep its text in the stub.
            assert inspect.getdoc(thing) or ast.get_docstring(FUNCTIONS[name]), name
