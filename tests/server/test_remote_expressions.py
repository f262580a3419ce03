"""Expressions that the server computes are those of NumPy; what costs too much is refused before."""

import time

import numpy as np
import pytest

import coquina as cq
from coquina.server.limits import Limits

from .asgi_client import Client
from .conftest import served


def ask(client, text, operands="a:/group/grid,p:/packed", **more):
    return client.get("/expr/", file="all.h5", expression=text, operands=operands, **more)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("a * 2 + 1", lambda a, p, x: a * 2 + 1),
        ("where(a > 5, sqrt(a), p)", lambda a, p, x: np.where(a > 5, np.sqrt(a), p)),
        ("a - mean(a, axis=0)", lambda a, p, x: a - a.mean(axis=0)),
        ("sum(a[3:5] * 2)", lambda a, p, x: (a[3:5] * 2).sum()),
        ("x > 0.5", lambda a, p, x: x > 0.5),
        ("1 + 1", lambda a, p, x: 2),
    ],
)
def test_expressions_are_those_of_numpy(client, grid, text, wanted):
    packed = grid.astype("i2")
    packed[3, 4] = -1
    with cq.open(str(client.folder / "all.h5")) as file:
        values = wanted(grid, packed, file["table"]["value"][:])
    answer = ask(client, text, "a:/group/grid,p:/packed,x:/table/value")
    assert answer.status == 200, answer.content
    assert np.allclose(answer.array(), values)
    if np.ndim(values):
        answer = ask(client, text, "a:/group/grid,p:/packed,x:/table/value", selection="3:7")
        assert np.allclose(answer.array(), values[3:7])
    shape = ask(client, text, "a:/group/grid,p:/packed,x:/table/value", info=1).json()["shape"]
    assert shape == list(np.shape(values))


@pytest.mark.parametrize(
    ("text", "caret"),
    [("a +* 2", 3), ("nothing + 1", 0), ("a + __import__('os')", 4), ("a.__class__", 0), ("", 0)],
)
def test_what_is_no_expression_says_where(client, text, caret):
    answer = ask(client, text)
    assert answer.status == 400
    assert answer.json()["caret"] == caret


BOMBS = [
    "sum(" * 60 + "a" + ")" * 60,
    "9**9**9",
    "a" + "+a" * 5000,
    "(" * 1000 + "a" + ")" * 1000,
    "sum(" + "*".join(f"v[{'None,' * i}:{',None' * (5 - i)}]" for i in range(6)) + ")",
    "sum(" + "*".join(f"v[{'None,' * i}:{',None' * (5 - i)}]" for i in range(6)) + ", axis=0)",
    "*".join(f"v[{'None,' * i}:{',None' * (5 - i)}]" for i in range(6)),
    "a" * 20_000,
    "sin(" * 63 + "a" + ")" * 63,
]


@pytest.mark.parametrize("text", BOMBS, ids=range(len(BOMBS)))
def test_bombs_are_refused_or_harmless(client, text):
    began = time.monotonic()
    answer = ask(client, text, "a:/group/grid,v:/table/value")
    assert answer.status in (200, 400, 413), answer.content
    assert time.monotonic() - began < 20


def test_costs_are_counted_before_anything_is_computed(folder):
    with Client(served(folder, limits=Limits(work=10_000)).app) as client:
        assert ask(client, "a * 2").status == 200
        answer = ask(client, "a * 2 + a * 3 + p")
        assert answer.status == 413
        assert "items" in answer.json()["message"]
        assert ask(client, "a * 2 + a * 3 + p", selection="0").status == 200
        assert ask(client, "sum(a * 2 + a * 3 + p)").status == 413
    with Client(served(folder, limits=Limits(result_bytes=100)).app) as client:
        assert ask(client, "a * 2").status == 413
        assert ask(client, "sum(a, axis=0)").status == 413
        assert ask(client, "sum(a)").status == 200
    with Client(served(folder, limits=Limits(seconds=0)).app) as client:
        assert ask(client, "a * 2").status == 408


def test_operands_are_decoded_no_more_than_arrays(tmp_path):
    """Few values of a large operand had all of it decoded; saved expressions had no limit of work."""
    large = cq.zeros((1 << 18, 1 << 18), path=tmp_path / "large.b2nd", chunks=(1 << 10, 1 << 10))
    with large, cq.zeros((1 << 18,), path=tmp_path / "line.b2nd") as line:
        cq.expr("sqrt(x) + y * 2", x=large, y=line).save(tmp_path / "saved.b2nd")
    with Client(served(tmp_path).app) as client:
        for selection, status in (
            ("::64,::64", 413),
            ("::-64,::-64", 413),
            ("5:9,:100", 200),
            ("-512:,-512:", 200),
            ("7,::-1000", 200),
        ):
            parameters = {"file": "large.b2nd", "expression": "a + 1", "operands": "a:/"}
            asked = client.get("/expr/", **parameters, selection=selection)
            assert asked.status == status, (selection, asked.content)
            for route in ("slice", "histogram", "data"):
                answer = client.get(f"/{route}/", file="saved.b2nd", selection=selection, format="bin")
                assert answer.status == status, (route, selection, answer.content)
        answer = client.get("/histogram/", file="saved.b2nd", selection=":30000,:30000")
        assert answer.status == 413
        assert "items" in answer.json()["message"]


def test_operands_are_of_the_file_only(client):
    assert ask(client, "a", "a:/nothing").status == 404
    assert ask(client, "a", "a:../grid.b2nd").status == 404
    assert ask(client, "a", "a:/table/nothing").status == 404
    assert ask(client, "a", "a").status == 400
    assert ask(client, "a", "a:/group").status == 400
    assert ask(client, "a", ",".join(f"a{i}:/packed" for i in range(70))).status == 413
