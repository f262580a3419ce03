"""Keywords of other libraries: every public writer and opener says what is written in their place."""

from __future__ import annotations

import inspect
import re
from functools import partial
from pathlib import Path

import numcodecs
import numpy as np
import pytest

import coquina as cq
from coquina import storage_options
from coquina.foreign_words import FOREIGN
from coquina.keyword_hints import advice, names_keywords, near_word, near_words

ROOT = Path(__file__).parent
NUMBERS = np.arange(10)
ARRAY = ["codec", "level", "filters", "chunks", "blocks", "path", "threads", "overwrite", "lossy"]
DATASET = [*ARRAY, "filter", "fillvalue"]


@pytest.mark.parametrize(
    ("word", "value", "known", "meant"),
    [
        ("compression", "gzip", ARRAY, "codec='zlib'"),
        ("compression", "gzip", DATASET, "filter='gzip'"),
        ("compression", 4, DATASET, "filter='gzip', level=4"),
        ("compression", 32015, ARRAY, "codec='zstd'"),
        ("compression", "lzf", ARRAY, "codec='lz4'"),
        ("compression", None, ARRAY, "level=0"),
        ("compression_opts", 7, ARRAY, "level=7"),
        ("compression_opts", (0, 1), ARRAY, "level=..."),
        ("complib", "blosc2:zstd", ARRAY, "codec='zstd'"),
        ("complevel", 9, ARRAY, "level=9"),
        ("shuffle", True, ARRAY, "filters='shuffle'"),
        ("shuffle", 2, ARRAY, "filters='bitshuffle'"),
        ("shuffle", False, ARRAY, "filters='nofilter'"),
        ("chunkshape", (3,), ARRAY, "chunks=..."),
        ("urlpath", "a.b2nd", ARRAY, "path=..."),
        ("mode", "w", ARRAY, "overwrite=True"),
        ("nthreads", 4, ARRAY, "threads=..."),
        ("dparams", {"nthreads": 4}, ARRAY, "threads=4"),
        ("cparams", {"codec": "LZ4", "clevel": 3, "nthreads": 2}, ARRAY, "codec='lz4', level=3, threads=2"),
        ("encoding", {"zlib": True, "complevel": 4}, ARRAY, "level=4"),
        ("compressor", object(), ARRAY, "codec=..., level=..."),
        ("max_error", 0.5, ARRAY, "lossy={'max_error': 0.5}"),
        (
            "compressor",
            numcodecs.Blosc("zstd", 7, numcodecs.Blosc.BITSHUFFLE),
            ARRAY,
            "codec='zstd', level=7, filters='bitshuffle'",
        ),
        ("compressor", numcodecs.Zstd(3), ARRAY, "codec='zstd', level=3"),
    ],
)
def test_a_keyword_of_others_is_said_in_ours_with_its_value(word, value, known, meant):
    assert advice(word, value, known) == f"did you mean {meant}?"


def test_cparams_of_python_blosc2_are_said_in_ours():
    blosc2 = pytest.importorskip("blosc2")
    filters = [blosc2.Filter.NOFILTER] * 5 + [blosc2.Filter.BITSHUFFLE]
    given = {"codec": blosc2.Codec.LZ4, "clevel": 9, "filters": filters}
    meant = "did you mean codec='lz4', level=9, filters='bitshuffle'?"
    assert advice("cparams", given, ARRAY) == meant
    assert advice("cparams", blosc2.CParams(**given), ARRAY).startswith(meant[:-1])


def test_filters_of_pytables_are_said_in_ours(tmp_path):
    tables = pytest.importorskip("tables")
    filters = tables.Filters(complevel=5, complib="blosc2:lz4", shuffle=False, bitshuffle=True)
    meant = "takes names; did you mean codec='lz4', level=5, filters='bitshuffle'"
    with pytest.raises(TypeError, match=meant):
        cq.asarray([1, 2], filters=filters)
    with cq.open(tmp_path / "a.h5", "w") as file, pytest.raises(TypeError, match=meant):
        file.create_table("t", {"a": [1]}, filters=filters)


STRANGE = [None, True, -1, 10**30, "", "w", b"x", [], {}, (1, "a", None), object(), np.arange(3)]


@pytest.mark.parametrize("word", FOREIGN)
def test_values_that_are_not_understood_still_give_advice(word):
    for value in STRANGE:
        for known in (ARRAY, DATASET, ["path"], []):
            assert advice(word, value, known)


# Every public function that takes options of storage, called without being able to write anything.
def _writers(folder):
    array, expression = cq.zeros(3), cq.expr("a + 1", a=cq.zeros(3))
    file = cq.open(folder / "a.h5", "w")
    table, dataset = file.create_table("t", {"a": [1, 2]}), file.create_dataset("d", data=[1, 2])
    store = cq.open(folder / "a.b2d", "w")
    path = folder / "new"
    made = {
        "Array.copy": array.copy,
        "Expr.compute": expression.compute,
        "Frame.create": lambda **o: cq.Frame.create(path, **o),
        "Table.copy": lambda **o: table.copy(path, **o),
        "append": lambda **o: cq.append(path, b"x", **o),
        "compress": lambda **o: cq.compress(b"x", **o),
        "create_table": lambda **o: cq.create_table(path, {"a": [1]}, **o),
        "dumps": lambda **o: cq.dumps(b"x", **o),
        "hdf5.Dataset.copy": lambda **o: dataset.copy(path=path, **o),
        "hdf5.copy": lambda **o: cq.hdf5.copy(dataset, file, "x", **o),
        "hdf5.repack": lambda **o: cq.hdf5.repack(folder / "a.h5", path, **o),
        "pack": lambda **o: cq.pack(b"x", path, **o),
        "read_csv": lambda **o: cq.read_csv("no.csv", path, **o),
        "read_parquet": lambda **o: cq.read_parquet("no.parquet", path, **o),
        "from_dask": lambda **o: cq.from_dask(cq.arange(3).to_dask(), **o),
        "arange": lambda **o: cq.arange(3, **o),
        "asarray": lambda **o: cq.asarray([1], **o),
        "eye": lambda **o: cq.eye(3, **o),
        "from_slabs": lambda **o: cq.from_slabs([[1]], **o),
        "frombuffer": lambda **o: cq.frombuffer(bytes(8), **o),
        "fromiter": lambda **o: cq.fromiter([1], int, **o),
        "full": lambda **o: cq.full(3, 1, **o),
        "full_like": lambda **o: cq.full_like(array, 1, **o),
        "linspace": lambda **o: cq.linspace(0, 1, 3, **o),
        "reshape": lambda **o: cq.reshape(array, (3, 1), **o),
    }
    for name in ("zeros", "ones", "empty", "nans"):
        made[name] = partial(getattr(cq, name), 3)
    for name in ("zeros_like", "ones_like", "empty_like"):
        made[name] = partial(getattr(cq, name), array)
    for name in ("concat", "concatenate", "stack"):
        made[name] = partial(getattr(cq, name), [array])
    for place in ("File", "Group"):
        made |= {
            f"hdf5.{place}.create_array": lambda **o: file.create_array("x", [1], **o),
            f"hdf5.{place}.create_dataset": lambda **o: file.create_dataset("x", data=[1], **o),
            f"hdf5.{place}.create_dataset_like": lambda **o: file.create_dataset_like("x", dataset, **o),
            f"hdf5.{place}.create_table": lambda **o: file.create_table("x", {"a": [1]}, **o),
            f"hdf5.{place}.require_dataset": lambda **o: file.require_dataset("x", (3,), "i4", **o),
        }
    for place in ("Store", "Group"):
        made |= {
            f"stores.{place}.create_dataset": lambda **o: store.create_dataset("x", data=[1], **o),
            f"stores.{place}.create_table": lambda **o: store.create_table("x", {"a": [1]}, **o),
        }
    return made, file, store


def _public():
    for name in (ROOT / "public_names.txt").read_text().split():
        found = cq
        try:
            for part in name.split("."):
                found = getattr(found, part)
        except AttributeError:  # of an instance
            continue
        if (
            inspect.isroutine(found)
            and callable(found)
            and getattr(found, "__module__", "").startswith("coquina")
        ):
            yield name, found


def test_all_writers_name_the_right_keyword_and_make_nothing(tmp_path):
    made, file, store = _writers(tmp_path)
    takers = {
        name
        for name, function in _public()
        for one in inspect.signature(function).parameters.values()
        if one.kind is one.VAR_KEYWORD and "Unpack" in str(one.annotation)
    }
    assert takers == {*made}
    with file, store:
        for name, call in made.items():
            for word in ("compresion", *FOREIGN):
                if word in _taken(name):
                    continue
                with pytest.raises(TypeError, match=rf"argument '{word}'; \w") as caught:
                    call(**{word: 3})
                assert (
                    "create_dataset_like" in name
                    or name.rpartition(".")[2] in str(caught.value)
                    or ("require_dataset" in name)
                )
        assert sorted(file) == ["d", "t"]
        assert list(store) == []
    assert not (tmp_path / "new").exists()


def _taken(name):
    """The words of others that a function takes itself."""
    found = cq
    for part in name.split("."):
        found = getattr(found, part)
    parameters = inspect.signature(found).parameters
    own = {*parameters}
    kinds = re.findall(
        r"Unpack\[(?:\w+\.)*(\w+)\]", " ".join(str(one.annotation) for one in parameters.values())
    )
    if any("filter" in getattr(storage_options, kind).__annotations__ for kind in kinds):
        own.add("filter")
    is_as_h5py = name.startswith("hdf5.") and name.endswith(("dataset", "dataset_like"))
    return own | ({"compression", "compression_opts", "shuffle"} if is_as_h5py else set())


OPENERS = {
    "open": lambda **o: cq.open("no", **o),
    "open_table": lambda **o: cq.open_table("no", **o),
    "from_bytes": lambda **o: cq.from_bytes(b"", **o),
    "File": lambda **o: cq.hdf5.File("no.h5", **o),
    "unpack": lambda **o: cq.unpack("no", **o),
    "loads": lambda **o: cq.loads(b"", **o),
    "tune": lambda **o: cq.tune([1], **o),
    "recover": lambda **o: cq.hdf5.recover("no", "new", **o),
}


@pytest.mark.parametrize("opener", OPENERS)
@pytest.mark.parametrize("word", [*FOREIGN, "allow_externals", "thraeds"])
def test_all_openers_name_the_right_keyword(opener, word):
    if (opener, word) in (("open", "mode"), ("open_table", "mode"), ("File", "mode")):
        return
    with pytest.raises(TypeError, match=rf"^{opener}\(\) got an unexpected keyword argument '{word}'; \w"):
        OPENERS[opener](**{word: 3})


@pytest.mark.parametrize(
    ("call", "meant"),
    [
        (lambda: cq.open("no", compression="gzip"), "how data are stored is not said here; it takes allow_"),
        (lambda: cq.open("no", nthreads=3), r"set_num_threads\(n\), or COQUINA_NUM_THREADS"),
        (lambda: cq.open("no", durabel=True), "did you mean 'durable'"),
        (lambda: cq.hdf5.File("no.h5", complevel=3), "how data are stored is not said here"),
        (lambda: cq.unpack("no", nthreads=3), "did you mean threads=..."),
        (lambda: cq.from_bytes(b"", mode="r"), "it takes buffer"),
    ],
)
def test_openers_say_what_to_do(call, meant):
    with pytest.raises(TypeError, match=meant):
        call()


def test_errors_from_inside_of_a_function_stay_as_they_are():
    @names_keywords
    def outer(path):
        return inner(pth=path)

    def inner(path):
        return path

    with pytest.raises(TypeError, match=r"inner\(\) got an unexpected keyword argument 'pth'") as caught:
        outer(1)
    assert "outer" not in str(caught.value)
    with pytest.raises(TypeError, match=r"outer\(\) got .* 'urlpath'; did you mean path=\.\.\.\?"):
        outer(urlpath=1)
    with pytest.raises(TypeError, match="missing 1 required positional argument"):
        outer()


def test_near_words_are_looked_for_in_one_place():
    """Five modules had their own: one found "Data" for "data", the others did not."""
    package = Path(cq.__file__).parent
    users = [one for one in package.rglob("*.py") if "get_close_matches" in one.read_text(encoding="utf-8")]
    assert [one.name for one in users] == ["keyword_hints.py"]
    assert near_words("DATA", ["date", "data"], 3) == ["data"]
    assert near_words("dat", ["date", "data", "x"], 3) == ["date", "data"]
    assert near_word("wind", ["x"]) is None


@pytest.mark.parametrize(
    ("codec", "array", "dataset"),
    [
        ("gzip", "codec='zlib'", "filter='gzip'"),
        ("bitshuffle", "filters='bitshuffle'", "filter='bitshuffle'"),
        ("LZ4", "codec='lz4'", "codec='lz4'"),
        ("lzf", "codec='lz4'", "filter='lzf'"),
        ("blosc2:zstd", "codec='zstd'", "codec='zstd'"),
    ],
)
def test_codecs_of_others_are_said_in_ours(codec, array, dataset):
    # They were answered by a list of fourteen names, most of which nobody needs.
    with cq.hdf5.File.in_memory() as file:
        for call, meant in (
            (partial(cq.asarray, NUMBERS), array),
            (partial(file.create_dataset, "x", data=NUMBERS), dataset),
            (partial(file.create_table, "t", {"x": NUMBERS}), dataset),
        ):
            with pytest.raises(ValueError, match=re.escape(f"codec {codec!r}: did you mean {meant}?")):
                call(codec=codec)
