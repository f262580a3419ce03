"""The names of the Array API standard: `array-api-strict` says which there are, and with which signatures.

`docs/array-api.md` is made here: `python -m tests.test_array_api` writes it.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Iterator
from pathlib import Path

import array_api_strict
import numpy as np
import pytest

import coquina

DOCUMENT = Path(__file__).parents[1] / "docs" / "array-api.md"

#: What is not there, and why. Nothing else may be missing.
REASONS: dict[str, str] = {}

#: What is there with another signature, and why.
OTHER_SIGNATURES: dict[str, str] = dict.fromkeys(
    ("std", "var"), "`correction` is None by default, which stands for NumPy's `ddof`, 0"
)

#: Names of array-api-strict that are not of the standard.
STRICTLY_THEIRS = {
    "ArrayAPIStrictFlags",
    "Device",
    "__version__",
    "get_array_api_strict_flags",
    "reset_array_api_strict_flags",
    "set_array_api_strict_flags",
}
#: Methods of their arrays that every object has, or that are for NumPy.
METHODS_OF_OBJECTS = {
    "__array__",
    "__buffer__",
    "__init_subclass__",
    "__new__",
    "__reduce__",
    "__repr__",
    "__str__",
}

#: Names that came after 2024.12.
LATER = {"broadcast_shapes", "isin", "linalg.eig", "linalg.eigvals"}

Place = tuple[str, str]  # where a name is, and the name


def names_of_linalg() -> list[str]:
    functions = vars(array_api_strict.linalg)
    later = [name for name in ("eig", "eigvals") if name in functions]
    return sorted({*array_api_strict.linalg.__all__, *later})


ARRAY = type(array_api_strict.asarray(0))
PLACES: dict[str, list[str]] = {
    "": sorted(set(array_api_strict.__all__) - STRICTLY_THEIRS),
    "linalg": names_of_linalg(),
    "fft": sorted(array_api_strict.fft.__all__),
    "array": sorted(
        name
        for name in vars(ARRAY)
        if (name.startswith("__") or not name.startswith("_"))
        and name not in METHODS_OF_OBJECTS
        and (inspect.isfunction(vars(ARRAY)[name]) or isinstance(vars(ARRAY)[name], property))
    ),
}
EVERY: list[Place] = [(place, name) for place, names in PLACES.items() for name in names]


def label(place: Place) -> str:
    return ".".join(filter(None, place))


def ours(place: Place) -> object:
    """Return our thing of this name; AttributeError if there is none."""
    where, name = place
    if where == "array":
        return getattr(coquina.Array, name)
    return getattr(getattr(coquina, where) if where else coquina, name)


def theirs(place: Place) -> object:
    where, name = place
    if where == "array":
        return getattr(ARRAY, name)
    return getattr(getattr(array_api_strict, where) if where else array_api_strict, name)


def is_there(place: Place) -> bool:
    try:
        return ours(place) is not None or label(place) == "newaxis"
    except (AttributeError, ImportError):
        return False


def is_function(thing: object) -> bool:
    return callable(thing) and not isinstance(thing, type)


FUNCTIONS = [
    place for place in EVERY if is_function(theirs(place)) and "DType" not in type(theirs(place)).__name__
]


def default_of(parameter: inspect.Parameter) -> object:
    """Their undefined values stand for None."""
    return None if type(parameter.default).__name__ == "Undef" else parameter.default


def differences(wanted: inspect.Signature, found: inspect.Signature) -> Iterator[str]:
    """Yield what keeps a call that the standard allows from being made, or from meaning the same."""
    kind = inspect.Parameter
    theirs = list(wanted.parameters.values())
    placed = [p for p in theirs if p.kind is not kind.KEYWORD_ONLY]
    in_place = list(found.parameters.values())
    # Those that `StorageOptions` does not have are refused by their names.
    if any(p.kind is kind.VAR_KEYWORD and p.annotation != "Unpack[StorageOptions]" for p in in_place):
        yield "takes any keyword"
    for number, parameter in enumerate(placed):
        if number >= len(in_place) or in_place[number].kind is kind.KEYWORD_ONLY:
            yield f"{parameter.name}: not taken as argument {number + 1}"
            continue
        one = in_place[number]
        if one.kind is not parameter.kind:
            yield f"{parameter.name}: is {one.kind.description}, not {parameter.kind.description}"
        if parameter.kind is kind.POSITIONAL_OR_KEYWORD and one.name != parameter.name:
            yield f"{parameter.name}: is called {one.name}"
        if parameter.default is not kind.empty and one.default != default_of(parameter):
            yield f"{parameter.name}: is {one.default!r} by default, not {default_of(parameter)!r}"
    for parameter in theirs[len(placed) :]:
        one = found.parameters.get(parameter.name)
        if one is None or one.kind not in (kind.KEYWORD_ONLY, kind.POSITIONAL_OR_KEYWORD):
            yield f"{parameter.name}: not taken by its name"
        elif one.default != default_of(parameter):
            yield f"{parameter.name}: is {one.default!r} by default, not {default_of(parameter)!r}"
    known = {p.name for p in theirs} | {p.name for p in in_place[: len(placed)]}
    for parameter in in_place:
        is_open = parameter.kind in (kind.VAR_POSITIONAL, kind.VAR_KEYWORD)
        if parameter.name not in known and parameter.default is kind.empty and not is_open:
            yield f"{parameter.name}: is needed, and not of the standard"


def signature_of(function: Callable[..., object], place: Place) -> inspect.Signature:
    signature = inspect.signature(function)
    if place[0] != "array":
        return signature
    # Of `self` nothing depends on how it is passed.
    parameters = list(signature.parameters.values())[1:]
    return signature.replace(parameters=parameters)


@pytest.mark.parametrize("place", EVERY, ids=label)
def test_a_name_is_there_or_has_a_reason(place):
    assert is_there(place) != (label(place) in REASONS)


@pytest.mark.parametrize("place", FUNCTIONS, ids=label)
def test_a_function_takes_every_call_of_the_standard(place):
    if label(place) in REASONS:
        pytest.skip(REASONS[label(place)])
    found = list(differences(signature_of(theirs(place), place), signature_of(ours(place), place)))
    assert bool(found) == (label(place) in OTHER_SIGNATURES), found


def test_reasons_are_of_names_that_the_standard_has():
    assert {*REASONS, *OTHER_SIGNATURES, *LATER} <= {label(place) for place in EVERY}


def test_the_names_of_the_package_are_those_of_its_modules():
    """A module may name functions of another one too; each is imported from one of them."""
    modules = coquina.names.MODULES
    for module in set(modules.values()):
        there = set(importlib.import_module(module).__all__)
        assert {name for name, where in modules.items() if where == module} <= there, module
        assert there <= set(coquina.__all__), module


def test_dtypes_equal_and_hash_as_those_of_arrays():
    names = ("bool", *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)))
    for name in (*names, "float32", "float64", "complex64", "complex128"):
        dtype = getattr(coquina, name)
        assert dtype == np.dtype(name) == coquina.zeros(1, dtype).dtype
        assert {dtype: name}[coquina.ones(1, dtype).dtype] == name


# The document.

HEAD = """\
# Array API standard

`coquina` is a namespace of the [Array API standard](https://data-apis.org/array-api/2024.12/), version
2024.12: `x.__array_namespace__()` returns it for arrays and expressions. Names added by version 2025.12 are
supported too, and are marked.

```python
import coquina as cq

x = cq.linspace(0.0, 1.0, 5)
xp = x.__array_namespace__()
assert xp is cq
assert float(xp.sum(xp.square(x))) == 1.875
```

Extensions of the standard:

- Functions of operands of more than 64 KiB are lazy: they return an expression, which conforms to the
  standard too and is computed on demand.
- Arrays may have any NumPy dtype that can be stored; dtypes promote across kinds as in NumPy.
- Functions that create arrays accept the storage options of `asarray` (`chunks`, `codec`, `path`, ...).
- `device` is `"cpu"`. An array has at most 16 axes.

Deviations from the standard:

- `x[key]` and reductions return NumPy arrays and scalars. All functions accept them as operands together
  with arrays; but a program that asks all its arrays for their namespace gets two.
- Values follow NumPy: `floor_divide` of an infinite number by a finite one is NaN, and `sign` of a complex
  number that is not finite is not always NaN.

`python -m tests.test_array_api` generates this page by comparing names and signatures with those of
`array-api-strict` {version}; a test fails if the page is out of date.
"""
TITLES = {
    "": "Functions, constants and dtypes",
    "array": "Attributes and methods of arrays",
    "linalg": "`linalg`",
    "fft": "`fft`",
}


def state_of(place: Place) -> str:
    if not is_there(place):
        return f"missing: {REASONS.get(label(place), 'no reason')}"
    other = OTHER_SIGNATURES.get(label(place))
    return ("supported" if other is None else f"supported; {other}") + (
        " (2025.12)" if label(place) in LATER else ""
    )


def document() -> str:
    """Return the page: a table for each part of the standard."""
    parts = [HEAD.format(version=array_api_strict.__version__)]
    for where, title in TITLES.items():
        there = sum(is_there((where, name)) for name in PLACES[where])
        lines = [f"| `{name}` | {state_of((where, name))} |" for name in PLACES[where]]
        parts.append(
            f"## {title}: {there} of {len(lines)}\n\n| Name | Status |\n|---|---|\n" + "\n".join(lines) + "\n"
        )
    return "\n".join(parts)


def test_the_document_is_fresh():
    assert DOCUMENT.read_text() == document(), "python -m tests.test_array_api writes it"


if __name__ == "__main__":
    DOCUMENT.write_text(document())
