"""Saved expressions: python-blosc2's open here, ours open there, and pickles; hostile ones are errors."""

# ruff: noqa: E501 (tables of cases)

import doctest
import importlib
import json
import multiprocessing
import os
import pickle
import shutil
import warnings

import blosc2
import numpy as np
import pytest

import coquina as cq
from coquina.cli import main
from coquina.expressions import table

A = np.arange(1.0, 13.0).reshape(3, 4)
B = np.arange(4.0)
# `%` and `//` of negative integers are C's in python-blosc2, and NumPy's here.
I16 = np.arange(12, dtype="i2").reshape(3, 4)
F32 = np.linspace(0.1, 2, 12, dtype="f4").reshape(3, 4)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with arrays; the current one, since python-blosc2 takes paths from there."""
    monkeypatch.chdir(tmp_path)
    os.mkdir("sub")
    for name, values in {"a": A, "sub/b": B, "i": I16, "f": F32}.items():
        blosc2.asarray(values, urlpath=f"{name}.b2nd", mode="w")
    return tmp_path


def theirs(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return blosc2.open(str(name), mode="r")


def saved_there(path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return blosc2.open(str(path), deserialize="full")[()]


def operands_there():
    return {"a": theirs("a.b2nd"), "b": theirs("sub/b.b2nd"), "i": theirs("i.b2nd"), "f": theirs("f.b2nd")}


TEXTS = [
    "a + b * 2", "(a > 3) & (b < 3)", "~(a > 3)", "-a + abs(b)", "sin(a) ** 2 + cos(a) ** 2", "f * 0.1",
    "i % 5 + (i << 1)", "i // 2", "a[1:3] + b", "a[0:3, 1:4:2]", "sum(a, axis=0) + b", "a.sum(axis=1) + 1",
    "a.T * 2", "clip(a, 2, 7)", "astype(a, 'f4')", "where(a > 3, a, b)", "maximum(a, b) / hypot(a, 2)",
    "log1p(a) + sqrt(a) - floor(a)", "a.mean(axis=0, keepdims=True)", "a == 3", "isnan(a)", "a + f", "i + a",
]  # fmt: skip


@pytest.mark.parametrize("text", TEXTS)
def test_expressions_of_python_blosc2_are_the_same_here(folder, text):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        blosc2.lazyexpr(text, operands_there()).save("e.b2nd")
    with cq.open("a.b2nd"):
        found = cq.open("e.b2nd")
    assert isinstance(found, cq.Expr)
    wanted = saved_there("e.b2nd")
    assert found.dtype == wanted.dtype
    np.testing.assert_allclose(found[...], wanted, rtol=1e-6)


def test_expressions_by_operators_of_python_blosc2_are_the_same_here(folder):
    there = operands_there()
    (there["a"] + there["b"] * 2).save("e.b2nd")
    found = cq.open("e.b2nd")
    np.testing.assert_array_equal(found[...], A + B * 2)
    assert sorted(os.path.basename(one.path) for one in found.operands) == ["a.b2nd", "b.b2nd"]
    assert {one.mode for one in found.operands} == {"r"}


@pytest.mark.parametrize("suffix", [".b2z", ".b2d"])
@pytest.mark.parametrize("kind", [blosc2.DictStore, blosc2.TreeStore])
def test_operands_in_stores_are_found_by_their_keys(folder, kind, suffix):
    with kind(f"s{suffix}", mode="w") as store:
        store["/a"] = A
        store["/g/b"] = B
    with kind(f"s{suffix}", mode="r") as store:
        (store["/a"] * store["/g/b"]).save("e.b2nd")
    np.testing.assert_array_equal(cq.open("e.b2nd")[...], A * B)


def test_the_old_form_opens_too(folder):
    for value, payload in ((0, {"expression": "o0 + 1", "UDF": None, "operands": {"o0": "a.b2nd"}}),):
        there = blosc2.empty(A.shape, dtype="f8", urlpath="old.b2nd", mode="w", meta={"LazyArray": value})
        there.schunk.vlmeta["_LazyArray"] = payload
    np.testing.assert_array_equal(cq.open("old.b2nd")[...], A + 1)


def made(folder, text, path="mine.b2nd"):
    names = {"a": "a.b2nd", "b": "sub/b.b2nd", "i": "i.b2nd", "f": "f.b2nd"}
    expression = cq.expr(text, **{name: cq.open(folder / one) for name, one in names.items()})
    expression.save(path)
    return expression


OURS = [
    "a + b * 2", "(a > 3) & (b < 3)", "~(a > 3)", "-a + abs(b)", "sin(a) ** 2 + cos(a) ** 2", "f * 0.1",
    "i % 5 + (i << 1)", "a[1:3] + b", "a[0:3, 1:4:2] - 1", "where(a > 3, a, b)", "maximum(a, b) / hypot(a, 2)",
    "log1p(a) + sqrt(a) - floor(a)", "a == 3", "a + f", "i + a", "f * 2 + i", "1 - a", "a ** 3", "i * -2",
    "a * (b > 1)", "a + (1 + 2j)", "not (a > 1)",
]  # fmt: skip


@pytest.mark.parametrize("text", OURS)
def test_expressions_that_are_saved_here_are_the_same_in_python_blosc2(folder, text):
    expression = made(folder, text)
    again = cq.open("mine.b2nd")
    assert (again.shape, again.dtype) == (expression.shape, expression.dtype)
    np.testing.assert_array_equal(again[...], expression[...])
    np.testing.assert_allclose(saved_there("mine.b2nd"), expression[...], rtol=1e-6)


def test_dtypes_that_numbers_do_not_give_are_said_in_the_text(folder):
    array = cq.open("i.b2nd")
    expression = cq.expr("i + n", i=array, n=np.int64(3))
    expression.save("wide.b2nd")
    again = cq.open("wide.b2nd")
    assert again.dtype == np.int64
    np.testing.assert_array_equal(again[...], I16 + np.int64(3))


def numbers(function):
    for dtype in ("f8", "i4", "?"):
        try:
            function.resolve((np.dtype(dtype),) * function.arity)
        except TypeError:
            continue
        return np.linspace(0.1, 0.9, 8) if dtype == "f8" else np.arange(1, 9).astype(dtype)
    return None


def functions():
    named = {name: one for name, one in table.FUNCTIONS.items() if one.name == name and one.arity < 3}
    return [name for name, one in named.items() if numbers(one) is not None]


@pytest.mark.parametrize("name", functions())
def test_each_function_is_saved_and_read_again(tmp_path, name):
    values = numbers(table.FUNCTIONS[name])
    cq.asarray(values, path=tmp_path / "x.b2nd")
    text = f"{name}({', '.join(['x'] * table.FUNCTIONS[name].arity)})"
    expression = cq.expr(text, x=cq.open(tmp_path / "x.b2nd"))
    expression.save(tmp_path / "e.b2nd")
    again = cq.open(tmp_path / "e.b2nd")
    assert again.dtype == expression.dtype
    np.testing.assert_array_equal(again[...], expression[...])


#: Functions that python-blosc2 computes in no expression, or of truth values alone.
NOT_THERE = {
    "bitwise_count",
    "cbrt",
    "deg2rad",
    "radians",
    "exp2",
    "fabs",
    "logical_not",
    "rad2deg",
    "degrees",
    "rint",
    "spacing",
    "float_power",
    "fmax",
    "fmin",
    "fmod",
    "gcd",
    "heaviside",
    "lcm",
    "ldexp",
    "logaddexp2",
    "logical_and",
    "logical_or",
    "logical_xor",
    "modf_fraction",
    "modf_whole",
    "frexp_mantissa",
    "frexp_exponent",
}


@pytest.mark.parametrize("name", sorted(set(functions()) - NOT_THERE))
def test_each_function_of_python_blosc2_is_computed_there_of_what_is_saved_here(tmp_path, name):
    values = numbers(table.FUNCTIONS[name])
    cq.asarray(values, path=tmp_path / "x.b2nd")
    text = f"{name}({', '.join(['x'] * table.FUNCTIONS[name].arity)})"
    expression = cq.expr(text, x=cq.open(tmp_path / "x.b2nd"))
    expression.save(tmp_path / "e.b2nd")
    np.testing.assert_allclose(saved_there(tmp_path / "e.b2nd"), expression[...])


def test_a_file_below_names_operands_above_it_which_are_read_where_allowed(folder):
    made(folder, "a + 1", "sub/up.b2nd")
    with pytest.raises(cq.UnsupportedError, match=r"not beside the file: allow_external=True"):
        cq.open("sub/up.b2nd")
    np.testing.assert_array_equal(cq.open("sub/up.b2nd", allow_external=True)[...], A + 1)
    np.testing.assert_array_equal(saved_there("sub/up.b2nd"), A + 1)


def test_a_folder_that_moves_takes_its_expressions_along(folder):
    made(folder, "a + b")
    shutil.copytree(folder, folder / "moved")
    found = cq.open(folder / "moved" / "mine.b2nd")
    np.testing.assert_array_equal(found[...], A + B)
    assert all(os.fspath(folder / "moved") in one.path for one in found.operands)


def test_a_file_that_is_there_is_kept(folder):
    expression = made(folder, "a + 1")
    with pytest.raises(FileExistsError):
        expression.save("mine.b2nd")
    (expression * 2).save("mine.b2nd", overwrite=True)
    np.testing.assert_array_equal(cq.open("mine.b2nd")[...], (A + 1) * 2)


def large_on_disk():
    cq.zeros((512, 1024)).save("large.b2nd")
    return cq.open("large.b2nd")


def test_operands_that_no_path_names_are_errors_that_say_what_to_do(folder):
    array = cq.open("a.b2nd")
    large = cq.zeros((1 << 20,))
    with pytest.raises(ValueError, match="operand in memory: save it first"):
        (large + 1).save("e.b2nd")
    with pytest.raises(ValueError, match="ndarray in memory"):
        cq.expr("a + n", a=array, n=A).save("e.b2nd")
    with cq.hdf5.File("x.h5", "w") as file:
        file.create_dataset("d", data=A)
        with pytest.raises(ValueError, match="save a copy of it as a file of its own"):
            cq.expr("d + 1", d=file["d"]).save("e.b2nd")
    with blosc2.TreeStore("s.b2z", mode="w") as store:
        store["/a"] = A
    with pytest.raises(ValueError, match="save a copy of it as a file of its own"):
        cq.expr("d + 1", d=cq.open("s.b2z")["a"]).save("e.b2nd")
    with pytest.raises(cq.UnsupportedError, match="cannot be written as text; save the result of compute"):
        cq.expr("x.T + 1", x=large_on_disk()).save("e.b2nd")
    with pytest.raises(cq.UnsupportedError, match="other keys than slices"):
        cq.expr("v + 1", v=array.view([0, 2])).save("e.b2nd")
    assert not os.path.exists("e.b2nd")


def test_where_of_python_blosc2_which_loses_its_branches_is_an_error(folder):
    there = operands_there()
    blosc2.where(there["a"] > 3, there["a"], there["b"]).save("e.b2nd")
    with pytest.raises(cq.UnsupportedError, match=r"gives bool .* and float64 .* was saved"):
        cq.open("e.b2nd")


def carrier(path, payload, *, kind="lazyexpr", version=1, shape=(3, 4), dtype="f8"):
    marker = {"kind": kind, "version": version}
    there = blosc2.empty(shape, dtype=dtype, urlpath=str(path), mode="w", meta={"b2o": marker})
    there.schunk.vlmeta["b2o"] = payload


def said(text="o0 + 1", path="a.b2nd", **more):
    reference = {"kind": "urlpath", "version": 1, "urlpath": path}
    return {"kind": "lazyexpr", "version": 1, "expression": text, "operands": {"o0": reference}} | more


HOSTILE = {
    "code": (said("__import__('os').system('touch hacked')"), cq.UnsupportedError, "only functions are called"),
    "an attribute": (said("o0.handle"), cq.UnsupportedError, "of attributes there are"),
    "a lambda": (said("(lambda: o0)()"), cq.UnsupportedError, "only functions are called"),
    "brackets": (said("(" * 300 + "o0" + ")" * 300), cq.UnsupportedError, "nested"),
    "a long text": (said("o0 + " * 10000 + "1"), cq.UnsupportedError, "characters"),
    "a power": (said("o0 + 9**9**9"), cq.UnsupportedError, "bits"),
    "a number": (said("3"), cq.UnsupportedError, "gives a number"),
    "another shape": (said("o0[0:2]"), cq.UnsupportedError, "was saved"),
    "another name": (said("o1 + 1"), cq.UnsupportedError, "'o1' is not an operand"),
    "an operand that is missing": (said(path="none.b2nd"), FileNotFoundError, r"operand 'o0': there is no file"),
    "a path above": (said(path="../outside.b2nd"), cq.UnsupportedError, "not beside the file"),
    "an absolute path": (said(path="/etc/passwd"), cq.UnsupportedError, "not beside the file"),
    "a link": (said(path="link.b2nd"), cq.UnsupportedError, "not beside the file"),
    "a linked folder": (said(path="folder/outside.b2nd"), cq.UnsupportedError, "not beside the file"),
    "an address": (said(path="https://example.org/a.b2nd"), cq.UnsupportedError, "is not a path"),
    "a path with NUL": (said(path="a\0.b2nd"), cq.UnsupportedError, "is not a path"),
    "no array": (said(path="text.txt"), cq.UnsupportedError, "plain text, which coquina does not open"),
    "a frame": (said(path="frame.b2frame"), cq.UnsupportedError, "is not an array, but a Frame"),
    "itself": (said(path="e.b2nd"), cq.UnsupportedError, "an expression, which is not an operand"),
    "no text": (said(text=None), cq.CorruptError, "without a text"),
    "no operands": (said(operands=[1]), cq.CorruptError, "without a text or operands"),
    "no place": (said(operands={"o0": 3}), cq.CorruptError, "not a place of an array"),
    "a server": (said(operands={"o0": {"kind": "c2array", "version": 1, "path": "a", "urlbase": "b"}}),
                 cq.UnsupportedError, "on a server"),
    "a version": (said(version=2), cq.UnsupportedError, "version"),
}  # fmt: skip


@pytest.mark.parametrize("what", HOSTILE)
def test_hostile_expressions_are_errors_and_nothing_is_run_or_read(folder, what):
    payload, error, message = HOSTILE[what]
    outside = folder.parent / "outside.b2nd"
    blosc2.asarray(A, urlpath=str(outside), mode="w")
    os.symlink(outside, "link.b2nd")
    os.symlink(folder.parent, "folder")
    (folder / "text.txt").write_text("words")
    blosc2.SChunk(data=A.tobytes(), urlpath="frame.b2frame", mode="w")
    carrier("e.b2nd", payload)
    with pytest.raises(error, match=message):
        cq.open("e.b2nd")
    assert not os.path.exists("hacked")


def test_code_and_arrays_on_servers_are_refused_by_their_names(folder):
    for kind, message in {"lazyudf": "whose code is not run", "c2array": "on a server"}.items():
        carrier("e.b2nd", {"kind": kind, "version": 1}, kind=kind)
        with pytest.raises(cq.UnsupportedError, match=f"{kind}.*{message}"):
            cq.open("e.b2nd")
    carrier("e.b2nd", said(), kind="strange")
    with pytest.raises(cq.UnsupportedError, match=r"'strange'.*not known"):
        cq.open("e.b2nd")


def test_a_function_of_the_users_is_refused(folder):
    def twice(inputs, output, offset):
        output[:] = inputs[0] * 2

    blosc2.lazyudf(twice, (theirs("a.b2nd"),), dtype=np.float64, shape=(3, 4)).save(urlpath="e.b2nd")
    with pytest.raises(cq.UnsupportedError, match="whose code is not run"):
        cq.open("e.b2nd")


def test_expressions_are_only_read(folder):
    made(folder, "a + 1")
    for options in ({"mode": "r+"}, {"damaged": True}):
        with pytest.raises(cq.UnsupportedError, match="only read"):
            cq.open("mine.b2nd", **options)
    with pytest.raises(cq.UnsupportedError, match="not a file"):
        cq.from_bytes((folder / "mine.b2nd").read_bytes())


def test_flipped_bits_of_an_expression_are_errors_or_change_nothing(folder):
    made(folder, "a + b * 2")
    content = bytearray((folder / "mine.b2nd").read_bytes())
    random = np.random.default_rng(5)
    for at in random.choice(len(content), 200, replace=False):
        content[at] ^= 1 << int(random.integers(8))
        (folder / "flipped.b2nd").write_bytes(content)
        try:
            found = cq.open("flipped.b2nd")
        except (cq.CoquinaError, OSError, ValueError):
            found = None
        if isinstance(found, cq.Expr):
            assert all(os.fspath(folder) in one.path for one in found.operands)
        content = bytearray((folder / "mine.b2nd").read_bytes())


def compute(expression):
    return expression[...]


def test_pickles_of_expressions_give_the_same_items(folder):
    on_disk = cq.open("a.b2nd", "r+")
    view = on_disk.view((slice(0, 3), slice(1, 3)))
    cases = [
        cq.expr("a * 2 + b", a=on_disk, b=cq.asarray(B)),
        cq.expr("x + x * x", x=cq.expr("sin(a)", a=on_disk)),
        cq.expr("v ** 2", v=view),
        cq.expr("n + i", n=A, i=cq.open("i.b2nd")),
        cq.expr("i ** j", i=cq.asarray(abs(I16)), j=cq.asarray(abs(I16) % 3)),
        cq.zeros((1 << 19,)) + 1,
    ]
    for expression in cases:
        again = pickle.loads(pickle.dumps(expression))
        assert isinstance(again, cq.Expr)
        assert (again.shape, again.dtype) == (expression.shape, expression.dtype)
        np.testing.assert_array_equal(again[...], expression[...])
    again = pickle.loads(pickle.dumps(cases[0]))
    assert next(one.mode for one in again.operands) == "r"
    assert len(pickle.dumps(cases[1])) < 3 * len(pickle.dumps(cq.expr("sin(a)", a=on_disk)))


def test_pickles_go_to_processes_that_are_spawned(folder):
    expression = cq.expr("a * 2 + b", a=cq.open("a.b2nd"), b=cq.asarray(B))
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        np.testing.assert_array_equal(pool.map(compute, [expression])[0], A * 2 + B)


def test_what_is_made_by_functions_of_python_is_not_pickled(folder):
    with pytest.raises(TypeError, match="cannot be pickled; pickle the result of compute"):
        pickle.dumps(cq.expr("x.T + 1", x=large_on_disk()))


def test_the_example_of_save_holds(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    module = importlib.import_module("coquina.expressions.expression")
    found = doctest.testmod(module)
    assert found.attempted >= 3
    assert found.failed == 0


def test_the_text_is_what_is_stored(folder):
    made(folder, "a + b")
    there = blosc2.blosc2_ext.open("mine.b2nd", "r", 0)
    said_there = there.schunk.vlmeta["b2o"]
    assert said_there["expression"] == "(o0 + o1)"
    assert [one["urlpath"] for one in said_there["operands"].values()] == ["a.b2nd", "sub/b.b2nd"]


def run(capsys, *words):
    code = main(list(words))
    return code, *capsys.readouterr()


def test_the_command_says_what_an_expression_is_and_converts_it(folder, capsys):
    made(folder, "a + b * 2")
    code, out, _ = run(capsys, "info", "mine.b2nd", "--json")
    assert code == 0
    facts = json.loads(out)
    assert facts["format"] == "Blosc2 expression"
    assert (facts["expression"], facts["operands"]) == (
        "(o0 + (o1 * 2.0))",
        {"o0": "a.b2nd", "o1": "sub/b.b2nd"},
    )
    code, out, _ = run(capsys, "verify", "mine.b2nd")
    assert (code, "an expression" in out, "not checked: sub/b.b2nd" in out) == (0, True, True)
    code, _, err = run(capsys, "ls", "mine.b2nd")
    assert (code, "coquina info" in err) == (1, True)
    assert run(capsys, "convert", "mine.b2nd", "out.npy")[0] == 0
    np.testing.assert_array_equal(np.load("out.npy"), A + B * 2)
    code, out, _ = run(capsys, "cat", "mine.b2nd", "0")
    assert (code, out.split()) == (0, str((A + B * 2)[0]).split())
    os.remove("a.b2nd")
    assert run(capsys, "info", "mine.b2nd")[0] == 0
    code, _, err = run(capsys, "verify", "mine.b2nd")
    assert (code, "operand 'o0': there is no file" in err) == (1, True)


def cache(folder):
    source = blosc2.asarray(
        np.arange(40.0).reshape(10, 4), urlpath="far.b2nd", mode="w", chunks=(3, 4), blocks=(2, 4)
    )
    proxy = blosc2.Proxy(source, urlpath="cache.b2nd", mode="w")
    return source, proxy


def test_a_cache_gives_the_chunks_that_were_fetched_and_names_the_source_of_others(folder):
    source, proxy = cache(folder)
    assert proxy[4:5].sum() == 70
    with cq.open("cache.b2nd") as found:
        np.testing.assert_array_equal(found[3:6], np.arange(40.0).reshape(10, 4)[3:6])
        for key in ((slice(0, 1),), (slice(None),), (9, 3)):
            with pytest.raises(cq.UnsupportedError, match=r"chunk [03] was not fetched.*far\.b2nd"):
                found[key]
        for reduce in (cq.sum, cq.max, cq.count_nonzero):
            with pytest.raises(cq.UnsupportedError, match="was not fetched"):
                reduce(found)
        bad = found.verify()
        assert sorted(one.chunk for one in bad) == [0, 2, 3]
    proxy[:]
    np.testing.assert_array_equal(cq.open("cache.b2nd")[:], source[:])


def test_chunks_of_zeros_that_were_fetched_are_told_from_those_that_were_not(folder):
    source = blosc2.zeros((10, 4), urlpath="far.b2nd", mode="w", chunks=(3, 4), blocks=(2, 4))
    proxy = blosc2.Proxy(source, urlpath="cache.b2nd", mode="w")
    proxy[0:3]
    found = cq.open("cache.b2nd")
    assert found[0:3].sum() == 0
    with pytest.raises(cq.UnsupportedError, match="chunk 1 was not fetched"):
        found[3:6]


def test_caches_are_only_read_and_caches_of_plain_chunks_are_refused(folder):
    cache(folder)
    with pytest.raises(cq.UnsupportedError, match="a cache, which is only read"):
        cq.open("cache.b2nd", "r+")
    plain = blosc2.SChunk(chunksize=80, data=np.arange(40.0), urlpath="plain.b2frame", mode="w")
    blosc2.Proxy(plain, urlpath="cache.b2frame", mode="w")
    with pytest.raises(cq.UnsupportedError, match=r"proxy-source.*elsewhere, which is not followed"):
        cq.open("cache.b2frame")


def test_a_cache_without_or_with_another_map_has_only_what_it_says(folder):
    source, proxy = cache(folder)
    proxy[0:3]
    proxy._schunk_cache.vlmeta["proxy-fetched"] = b"\x01\x00\x00"
    with pytest.raises(cq.UnsupportedError, match="was not fetched"):
        cq.open("cache.b2nd")[0:3]
    del proxy._schunk_cache.vlmeta["proxy-fetched"]
    np.testing.assert_array_equal(cq.open("cache.b2nd")[0:3], source[0:3])
    with pytest.raises(cq.UnsupportedError, match="was not fetched"):
        cq.open("cache.b2nd")[3:6]
