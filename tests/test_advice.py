"""Errors say what to do next: those that a first day with the package and the command brings."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import coquina as cq
from coquina.cli import main

Run = Callable[..., str]


@pytest.fixture
def said(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Return what the command says, in a folder with a table, an array and rows of text."""
    monkeypatch.chdir(tmp_path)
    cq.create_table("t.h5", {"price": [1.5, 2.5], "sym": ["a", "b"]}).close()
    np.save("a.npy", np.arange(6).reshape(2, 3))
    Path("t.csv").write_text("x,y\n1,2\n")

    def run(*words: str) -> str:
        code = main(words)
        found = capsys.readouterr()
        return found.out if code == 0 else found.err

    return run


@pytest.mark.parametrize(
    ("words", "advice"),
    [
        (("index", "t.h5", "price"), "write `coquina index t.h5 --create price`"),
        (("index", "create", "t.h5", "price"), "write `coquina index t.h5 --create price`"),
        (("index", "t.h5", "drop", "price"), "write `coquina index t.h5 --drop price`"),
        (("index", "list", "t.h5"), "write `coquina index t.h5`"),
        (("query", "t.h5", "price", "==", "1.5"), "write `coquina query t.h5 'price == 1.5'`"),
        (("query", "price > 2", "t.h5"), "write `coquina query t.h5 'price > 2'`"),
        (("query", "t.h5", "sym == a"), "put text in quotes: 'a'"),
        (("query", "t.h5", "sym"), "write one such as sym == 'text'"),
        (("query", "t.h5", "price between 1 and 2"), "write 1 <= x <= 2 for between"),
        (("query", "t.h5", "--agg", "meen(price)"), "sum(price)"),
        (("cat", "t.h5[price]"), "a column or field needs quotes: \"['price']\""),
        (("cat", "t.h5", "/table"), "what is in a file is written FILE:/table"),
        (("cat", "t.csv"), "`coquina query t.csv --head 20` prints some"),
        (("where", "t.h5"), 'use `coquina query FILE "price > 10"`'),
        (("inf", "t.h5"), "did you mean 'info'?"),
        (("repack", "t.h5"), "--in-place"),
    ],
)
def test_the_command_says_what_to_write(said: Run, words: tuple[str, ...], advice: str) -> None:
    found = said(*words)
    assert advice in found
    assert not [word for word in ("params=", "in_place", "Traceback") if word in found]


def test_cat_prints_the_only_table_and_files_of_numpy(said: Run) -> None:
    assert said("cat", "t.h5") == said("cat", "t.h5:/table")
    assert said("cat", "t.h5[1:]").splitlines()[1].split() == ["2.5", "b"]
    assert said("cat", "t.h5['price']").strip() == "[1.5 2.5]"
    assert said("cat", "a.npy", "[1, ::2]").strip() == "[3 5]"


@pytest.mark.parametrize("coords", [3, None, 3.5, "a"])
def test_coordinates_of_chunks_are_tuples(coords: Any) -> None:
    # `chunk_info(3)` said "'int' object is not iterable"; h5py's get_chunk_info takes the number of a chunk.
    d = cq.hdf5.File.in_memory().create_dataset("x", data=np.arange(10), chunks=4)
    t = cq.hdf5.File.in_memory().create_table("t", {"x": [1]}, layout="rows")
    for call in (d.chunk_info, d.read_chunk, lambda at: d.write_chunk(at, b""), t.chunk_info, t.read_chunk):
        with pytest.raises(TypeError, match=r"an integer for each axis, such as \(0,\)"):
            call(coords)
    with pytest.raises(TypeError, match="an integer for each axis"):
        t.write_chunk(coords, b"")
    with pytest.raises(ValueError, match="/x has 1 axis; give an integer for each"):
        d.chunk_info((1, 2))


def test_a_closed_file_says_that_it_is(tmp_path: Path) -> None:
    f = cq.open(tmp_path / "f.h5", "w")
    f.create_group("g").attrs["a"] = 1
    group, attrs = f["g"], f["g"].attrs
    f.close()
    calls: list[Callable[[], Any]] = [
        lambda: f["g"], lambda: list(f), lambda: len(f), f.tree, lambda: f.create_group("h"),
        lambda: group["x"], lambda: attrs["a"], lambda: f.create_dataset("x", data=[1]),
    ]  # fmt: skip
    for call in calls:
        with pytest.raises((ValueError, RuntimeError, KeyError), match="the file is closed; open it again"):
            call()


def test_a_file_for_reading_names_the_mode_that_changes_it(tmp_path: Path) -> None:
    path = tmp_path / "f.h5"
    with cq.open(path, "w") as f:
        f.create_dataset("x", data=[1, 2])
    with cq.open(path) as f:
        calls: list[Callable[[], Any]] = [
            lambda: f.create_dataset("y", data=[1]), lambda: f.create_group("g"),
            lambda: f.__delitem__("x"), lambda: f["x"].attrs.__setitem__("a", 1), lambda: f.move("x", "y"),
            lambda: f.create_table("t", {"x": [1]}),
        ]  # fmt: skip
        for call in calls:
            with pytest.raises((ValueError, OSError, KeyError), match="open it with mode 'r"):
                call()


def test_a_dataset_is_added_while_another_is_open_for_reading(tmp_path: Path) -> None:
    path = tmp_path / "f.nc"
    with cq.open(path, "w") as f:
        f.create_dataset("x", data=np.arange(10))
    held = cq.open(path)["x"]
    with cq.open(path, "a") as f:
        f.create_dataset("y", data=np.arange(3))
    assert (held[9], list(cq.open(path))) == (9, ["x", "y"])


def test_words_of_other_libraries_give_ours(tmp_path: Path) -> None:
    f, x = cq.hdf5.File.in_memory(), np.arange(4)
    t = f.create_table("t", {"x": [1], "s": ["a"]})
    cases: list[tuple[Callable[[], Any], str]] = [
        (lambda: cq.asarray(x, "a.b2nd"), "did you mean path='a.b2nd'"),
        (lambda: cq.asarray(x, zlib=True), "codec='zlib'"),
        (lambda: cq.asarray(x, filter="gzip"), "codec='zlib'"),
        (lambda: cq.asarray(x, chunks="big"), "takes items along each axis"),
        (lambda: cq.open(urlpath="a"), "did you mean source="),
        (lambda: cq.open("a.h5", driver="core"), r"hdf5.File\(path, mode, driver=...\)"),
        (lambda: cq.open("a.h5", "q"), "'w' and 'x' are for .h5, "),
        (lambda: f.create_dataset("a", data=x, compression="blosc"), "did you mean filter='blosc'"),
        (lambda: f.create_dataset("a", data=x, compression="zstd"), "did you mean codec='zstd'"),
        (lambda: f.create_dataset("a", data=x, codec="lz4", shuffle=True), "cannot be combined"),
        (lambda: f.create_dataset("a", data=np.array(["a"])), r"x\.tolist\(\)"),
        (lambda: f["T"], "did you mean 't'"),
        (lambda: t.where("x > a", a=1), "params={'a': ...}"),
        (lambda: t.where("x > a", condvars={"a": 1}), "did you mean params="),
        (lambda: t["x", "s"], r"t\[\['x', 's'\]\]"),
        (lambda: cq.expr("squrt(a)", a=x), "did you mean 'sqrt'"),
        (lambda: cq.expr("sort(a)", a=x), "pass the result as an operand"),
        (lambda: cq.open_table(tmp_path / "no.h5"), "there is no such file"),
    ]
    for call, advice in cases:
        with pytest.raises((TypeError, ValueError, LookupError, OSError), match=advice):
            call()


def test_text_and_lists_of_text_are_stored() -> None:
    # Refusing NumPy's U refused these, which become arrays of U on the way.
    f = cq.hdf5.File.in_memory()
    f["one"], f["more"] = "text", ["a", "b"]
    assert (f["one"].asstr()[()], f["more"].asstr()[:].tolist()) == ("text", ["a", "b"])


def test_the_hint_for_programs_is_not_the_one_for_the_command() -> None:
    t = cq.hdf5.File.in_memory().create_table("t", {"x": [1]})
    with pytest.raises(cq.ExpressionError, match=r"or pass a value: params=\{'low': \.\.\.\}") as caught:
        t.where("x > low").count()
    assert caught.value.hint in str(caught.value)
