"""The tables of functions: names, ufuncs, public functions, methods and stubs all follow from them."""

from __future__ import annotations

import importlib.util
import inspect
import pickle
from pathlib import Path

import numpy as np
import pytest

import coquina as cq
from coquina.expressions.table import FUNCTIONS
from coquina.function_table import ELEMENTWISE, ELEMENTWISE_NAMES, REDUCTION_RETURNS, REDUCTIONS, STRINGS
from coquina.functions import elementwise, nan_reductions, reductions

ROOT = Path(__file__).parents[1]


def stub_tool():
    spec = importlib.util.spec_from_file_location("function_stub", ROOT / "tools" / "function_stub.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_stubs_are_what_the_tables_say():
    for path, text in stub_tool().stubs().items():
        stub = Path(cq.__file__).parent / path
        assert stub.read_text() == text, "run python tools/function_stub.py"


def test_no_name_stands_in_two_rows():
    assert len(set(ELEMENTWISE_NAMES)) == len(ELEMENTWISE_NAMES)


@pytest.mark.parametrize("row", ELEMENTWISE, ids=lambda row: row.names[0])
def test_a_row_is_a_public_function_and_a_function_of_expressions(row):
    public = {getattr(cq, name) for name in row.names}
    assert len(public) == 1
    (function,) = public
    assert function.__name__ == row.names[0]
    assert function.__doc__.startswith(f"Return {row.returns}.\n")
    operands = [p for p in inspect.signature(function).parameters.values() if p.kind is p.POSITIONAL_ONLY]
    assert len(operands) == row.arity
    for name in row.names:
        assert FUNCTIONS[name].arity == row.arity
        assert FUNCTIONS[name].apply is getattr(np, name)
        assert name in elementwise.__all__


@pytest.mark.parametrize("row", STRINGS, ids=lambda row: row.name)
def test_a_row_of_strings_is_a_public_function_and_one_of_expressions(row):
    function = getattr(cq.strings, row.name)
    assert function.__name__ == row.name
    assert function.__doc__.startswith(f"Return {row.returns}.\n")
    assert len(inspect.signature(function).parameters) == FUNCTIONS[row.name].arity == row.arity
    assert set(cq.strings.__all__) == {row.name for row in STRINGS}


@pytest.mark.parametrize("name", REDUCTION_RETURNS)
def test_a_row_of_reductions_is_a_function_with_numpys_parameters(name):
    function = getattr(cq, name)
    assert pickle.loads(pickle.dumps(function)) is function
    assert function.__doc__.startswith(f"Return {REDUCTION_RETURNS[name]}. As `numpy.{name}`.")
    ours, theirs = (list(inspect.signature(one).parameters) for one in (function, getattr(np, name)))
    assert ours[1:] == theirs[1:]


def test_all_reductions_of_the_modules_are_rows_but_those_with_a_signature_of_their_own():
    plain = {row.name for row in REDUCTIONS}
    assert {*reductions.__all__} == plain | {"average", "count_nonzero", "ptp"}
    assert {*nan_reductions.__all__} == {*REDUCTION_RETURNS} - plain


@pytest.mark.parametrize("row", REDUCTIONS, ids=lambda row: row.name)
def test_a_reduction_is_a_method_with_the_same_parameters(row):
    method = getattr(cq.Array, row.name)
    function = getattr(cq, row.name)
    assert inspect.signature(method) == inspect.signature(function)
    assert method.__doc__ == function.__doc__
    values = np.arange(6.0).reshape(2, 3)
    np.testing.assert_array_equal(getattr(cq.asarray(values), row.name)(1), getattr(values, row.name)(1))
