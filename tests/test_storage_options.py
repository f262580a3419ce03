"""The keywords of all writers: gathered once, and a wrong one names the right one."""

from __future__ import annotations

import inspect

import pytest

import coquina as cq
from coquina.keyword_hints import check_keywords
from coquina.storage_options import (
    CodecOptions,
    DatasetOptions,
    FrameOptions,
    H5pyOptions,
    RepackOptions,
    Storage,
    StorageOptions,
    TableCopyOptions,
    TableOptions,
)
from coquina.tables.making import NewTable
from coquina.tuning_options import Tuning

WRITERS = {
    "zeros": lambda **storage: cq.zeros(3, **storage),
    "ones": lambda **storage: cq.ones(3, **storage),
    "full": lambda **storage: cq.full(3, 7, **storage),
    "nans": lambda **storage: cq.nans(3, **storage),
    "empty_like": lambda **storage: cq.empty_like(cq.zeros(3), **storage),
    "full_like": lambda **storage: cq.full_like(cq.zeros(3), 7, **storage),
    "arange": lambda **storage: cq.arange(3, **storage),
    "linspace": lambda **storage: cq.linspace(0, 1, 3, **storage),
    "eye": lambda **storage: cq.eye(3, **storage),
    "asarray": lambda **storage: cq.asarray([1, 2], **storage),
    "fromiter": lambda **storage: cq.fromiter([1, 2], int, **storage),
    "frombuffer": lambda **storage: cq.frombuffer(bytes(16), **storage),
    "from_slabs": lambda **storage: cq.from_slabs([[1, 2]], **storage),
    "copy": lambda **storage: cq.zeros(3).copy(**storage),
    "compute": lambda **storage: cq.expr("a + 1", a=cq.zeros(3)).compute(**storage),
}

MEANT = {
    "compression": ("lz4", r"codec='lz4'\?"),
    "clevel": (3, r"level=3\?"),
    "shuffle": (True, r"filters='shuffle'\?"),
    "bitshuffle": (True, r"filters='bitshuffle'\?"),
    "lvel": (3, r"'level'\?"),
    "over_write": (True, r"'overwrite'\?"),
    "gaol": ("size", r"'goal'\?"),
    "xyz": (1, "it takes access, "),
}


@pytest.mark.parametrize("writer", WRITERS)
@pytest.mark.parametrize("wrong", MEANT)
def test_a_wrong_keyword_names_the_right_one(writer, wrong):
    value, hint = MEANT[wrong]
    with pytest.raises(TypeError, match=rf"unexpected keyword argument '{wrong}'; (did you mean )?{hint}"):
        WRITERS[writer](**{wrong: value})


NAMES = {"copy": "Array.copy", "compute": "Expr.compute"}


@pytest.mark.parametrize("writer", WRITERS)
def test_the_error_names_the_function_that_was_called(writer):
    with pytest.raises(TypeError, match=rf"^{NAMES.get(writer, writer)}\(\) got"):
        WRITERS[writer](clevel=3)


@pytest.mark.parametrize(
    "writer", ["compress", "dumps", "pack", "append", "Frame", "Table", "repack", "copy", "Dataset"]
)
@pytest.mark.parametrize("wrong", ["clevel", "compression", "gaol"])
def test_a_wrong_keyword_of_a_writer_with_options_of_its_own_too(tmp_path, writer, wrong):
    path = tmp_path / "new"
    with cq.hdf5.File(tmp_path / "a.h5", "w") as file:
        table, dataset = file.create_table("t", {"a": [1, 2]}), file.create_dataset("d", data=[1, 2])
        make = {
            "compress": lambda **storage: cq.compress(b"abc", **storage),
            "dumps": lambda **storage: cq.dumps(b"abc", **storage),
            "pack": lambda **storage: cq.pack(b"abc", path, **storage),
            "append": lambda **storage: cq.append(path, b"abc", **storage),
            "Frame": lambda **storage: cq.Frame.create(path, **storage),
            "Table": lambda **storage: table.copy(path, **storage),
            "repack": lambda **storage: cq.hdf5.repack(tmp_path / "a.h5", path, **storage),
            "copy": lambda **storage: cq.hdf5.copy(dataset, file, "x", **storage),
            "Dataset": lambda **storage: dataset.copy(path=path, **storage),
        }[writer]
        with pytest.raises(
            TypeError, match=f"argument '{wrong}'; did you mean '?(level=7|codec='lz4'|goal')"
        ):
            make(**{wrong: {"clevel": 7, "compression": "lz4"}.get(wrong, "size")})
        assert not path.exists()
        assert sorted(file) == ["d", "t"]


@pytest.mark.parametrize("writer", WRITERS)
def test_every_writer_passes_the_options_on(writer, tmp_path):
    path = tmp_path / "a.b2nd"
    axes = WRITERS[writer]().ndim
    encoding = {"codec": "lz4", "level": 3, "filters": "bitshuffle", "checksums": False}
    made = WRITERS[writer](**encoding, chunks=(2,) * axes, blocks=(1,) * axes, path=path)
    info = made.info
    assert (info.codec, info.level, [name for name, _ in info.filters]) == ("lz4", 3, ["bitshuffle"])
    assert (made.chunks[0], made.blocks[0]) == (2, 1)
    with pytest.raises(FileExistsError):
        WRITERS[writer](path=path)
    made.close()
    WRITERS[writer](path=path, overwrite=True, codec="auto", goal="size").close()
    assert cq.open(path).tuning.goal == "size"


KINDS = (CodecOptions, FrameOptions, StorageOptions, DatasetOptions, RepackOptions)


def test_the_value_has_a_field_for_each_keyword_and_no_others():
    keywords = {name for kind in KINDS for name in kind.__annotations__}
    plain = keywords - {*Tuning.__annotations__} - {*H5pyOptions.__annotations__}
    assert {*inspect.signature(Storage).parameters} == {*plain, "path", "tuning", "each"}


@pytest.mark.parametrize("kind", [TableOptions, TableCopyOptions])
def test_a_table_has_a_field_for_each_keyword_that_is_not_of_its_storage(kind):
    own = {*kind.__annotations__} - {*inspect.signature(Storage).parameters} - {*Tuning.__annotations__}
    assert own - {"chunk_rows"} <= {*inspect.signature(NewTable).parameters}


@pytest.mark.parametrize(
    ("wrong", "writer"),
    [
        (wrong, writer)
        for wrong in MEANT
        for writer in ("create_dataset", "create_array", "create_table", "table in a file")
        if wrong not in ("over_write", "xyz")
        # What h5py has.
        if writer != "create_dataset" or wrong not in H5pyOptions.__annotations__
    ],
)
def test_a_wrong_keyword_of_hdf5_names_the_right_one_and_makes_nothing(tmp_path, writer, wrong):
    value, hint = MEANT[wrong]
    with cq.hdf5.File(tmp_path / "a.h5", "w") as file:
        make = {
            "create_dataset": lambda **storage: file.create_dataset("x", data=[1, 2], **storage),
            "create_array": lambda **storage: file.create_array("x", [1, 2], **storage),
            "create_table": lambda **storage: file.create_table("x", {"a": [1, 2]}, **storage),
            "table in a file": lambda **storage: cq.create_table(
                tmp_path / "b.h5", {"a": [1, 2]}, name="x", **storage
            ),
        }[writer]
        with pytest.raises(TypeError, match=f"unexpected keyword argument '{wrong}'; .*({hint})"):
            make(**{wrong: value})
        assert list(file) == []
        assert not (tmp_path / "b.h5").exists()


@pytest.mark.parametrize("writer", ["create_array", "create_table"])
def test_a_keyword_of_another_writer_is_wrong_too(tmp_path, writer):
    with cq.hdf5.File(tmp_path / "a.h5", "w") as file, pytest.raises(TypeError, match="'maxshape'"):
        getattr(file, writer)("x", {"a": [1, 2]}, maxshape=(None,))


def test_a_compression_that_h5py_does_not_have_is_a_codec(tmp_path):
    with cq.hdf5.File(tmp_path / "a.h5", "w") as file:
        with pytest.raises(ValueError, match=r"did you mean codec='lz4'\?"):
            file.create_dataset("x", data=[1, 2], compression="lz4")
        assert list(file) == []


def test_none_is_the_default_of_the_writer():
    assert Storage(codec=None, level=None).for_engine() == Storage().for_engine()
    assert Storage().for_engine() == Storage.for_array(cq.zeros, {}).for_engine()


def test_a_keyword_of_the_writer_itself_is_a_hint_too():
    def writer(*, threads=None, **storage):
        check_keywords(writer, storage, StorageOptions)

    with pytest.raises(TypeError, match=r"writer\(\) got .* 'nthreads'; did you mean threads=\.\.\.\?"):
        writer(nthreads=2)
