"""One table of the functions of items: names, ufuncs, public functions and the stub all follow from it."""

from __future__ import annotations

import importlib.util
import inspect
from pathlib import Path

import numpy as np
import pytest

import coquina as cq
from coquina.expressions.table import FUNCTIONS
from coquina.function_table import ELEMENTWISE, ELEMENTWISE_NAMES
from coquina.functions import elementwise

ROOT = Path(__file__).parents[1]


def stub_tool():
    spec = importlib.util.spec_from_file_location("function_stub", ROOT / "tools" / "function_stub.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_stub_is_what_the_table_says():
    stub = Path(cq.__file__).parent / "functions" / "ufuncs.pyi"
    assert stub.read_text() == stub_tool().stub_text(), "run python tools/function_stub.py"


def test_no_name_stands_in_two_rows():
    assert len(set(ELEMENTWISE_NAMES)) == len(ELEMENTWISE_NAMES)


@pytest.mark.parametrize("row", ELEMENTWISE, ids=lambda row: row.names[0])
def test_a_row_is_a_public_function_and_a_function_of_expressions(row):
    public = {getattr(cq, name) for name in row.names}
    assert len(public) == 1
    (function,) = public
    assert function.__name__ == row.names[0]
    assert function.__doc__ == f"Return {row.returns}."
    operands = [p for p in inspect.signature(function).parameters.values() if p.kind is p.POSITIONAL_ONLY]
    assert len(operands) == row.arity
    for name in row.names:
        assert FUNCTIONS[name].arity == row.arity
        assert FUNCTIONS[name].apply is getattr(np, name)
        assert name in elementwise.__all__
