"""Expressions in stores: written by us, read by us and by python-blosc2, in archives and directories."""

import os
import shutil

import blosc2
import numpy as np
import pytest

import coquina as cq

A, B = np.arange(40.0).reshape(5, 8), np.linspace(0, 1, 40).reshape(5, 8)
WANTED = A + B * 2
SUFFIXES = pytest.mark.parametrize("suffix", [".b2d", ".b2z"])


def written(path):
    with cq.open(path, "w") as store:
        store["a"] = A
        store["g/b"] = B
        made = store.create_expression("g/e", cq.expr("a + b * 2", a=store["a"], b=store["g/b"]))
        np.testing.assert_array_equal(made[...], WANTED)
    return path


def of_peer(path, key):
    store = blosc2.open(str(path), mode="r", deserialize="full")
    return store[key][...]


@SUFFIXES
def test_expressions_in_a_store_are_read_by_both(tmp_path, suffix, monkeypatch):
    path = written(tmp_path / f"x{suffix}")
    monkeypatch.chdir(tmp_path.parent)
    with cq.open(path) as store:
        assert isinstance(store["g/e"], cq.Expr)
        np.testing.assert_array_equal(store["g/e"][...], WANTED)
    np.testing.assert_array_equal(of_peer(path, "/g/e"), WANTED)


@SUFFIXES
def test_expressions_move_with_the_store_and_follow_its_arrays(tmp_path, suffix):
    path = written(tmp_path / f"x{suffix}")
    os.mkdir(tmp_path / "other")
    path = shutil.move(path, tmp_path / "other" / path.name)
    with cq.open(path, "a") as store:
        store["a"][...] = 1
        np.testing.assert_array_equal(store["g/e"][...], 1 + B * 2)
        again = store.create_expression("twice", cq.expr("a * 2", a=store["a"]))
        np.testing.assert_array_equal(again[...], np.full((5, 8), 2))
    with cq.open(path) as store:
        np.testing.assert_array_equal(store["g/e"][...], 1 + B * 2)
        np.testing.assert_array_equal(store["twice"][...], np.full((5, 8), 2))


def test_an_expression_of_what_another_handle_of_the_archive_gave(tmp_path):
    path = written(tmp_path / "x.b2z")
    with cq.open(path) as other, cq.open(path, "a") as store:
        store.create_expression("e", cq.expr("a + 1", a=other["a"]))
    with cq.open(path) as store:
        np.testing.assert_array_equal(store["e"][...], A + 1)


@SUFFIXES
def test_operands_outside_are_refused_and_leave_nothing(tmp_path, suffix):
    os.mkdir(tmp_path / "below")
    cq.asarray(A, path=tmp_path / "beside.b2nd").close()
    path = tmp_path / "below" / f"x{suffix}"
    with cq.open(path, "w"):
        pass
    with (
        cq.open(path, "a") as store,
        cq.open(tmp_path / "beside.b2nd") as beside,
        pytest.raises(cq.UnsupportedError, match="not beside the file"),
    ):
        store.create_expression("e", cq.expr("a * 2", a=beside))
    with cq.open(path) as store:
        assert list(store) == []


def test_operands_in_memory_are_refused_and_leave_nothing(tmp_path):
    with cq.open(tmp_path / "x.b2z", "w") as store:
        with pytest.raises(ValueError, match="in memory"):
            store.create_expression("e", cq.expr("a * 2", a=cq.asarray(A)))
        assert "e" not in store


def test_what_was_computed_at_once_is_no_expression(tmp_path):
    with cq.open(tmp_path / "s.b2d", "w") as store:
        store["x"] = cq.arange(3)
        with pytest.raises(TypeError, match=r"Array: not an expression.*cq\.expr"):
            store.create_expression("y", store["x"] + 1)
        assert list(store) == ["x"]


def test_an_operand_that_is_gone_is_an_error(tmp_path):
    path = written(tmp_path / "x.b2z")
    with cq.open(path, "a") as store:
        del store["a"]
    with cq.open(path) as store, pytest.raises(FileNotFoundError, match="has no '/a'"):
        store["g/e"]
