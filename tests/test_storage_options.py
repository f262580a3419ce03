"""The keywords of all writers: gathered once, and a wrong one names the right one."""

from __future__ import annotations

import inspect

import pytest

import coquina as cq
from coquina.storage_options import Storage, StorageOptions, check_keywords
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
    "compression": ("lz4", r"'codec'\?"),
    "clevel": (3, r"'level'\?"),
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


def test_the_value_has_a_field_for_each_keyword():
    keywords = {*StorageOptions.__annotations__} - {*Tuning.__annotations__}
    assert {*inspect.signature(Storage).parameters} == {*keywords, "path", "tuning"}


def test_none_is_the_default_of_the_writer():
    assert Storage(codec=None, level=None).for_engine() == Storage().for_engine()


def test_a_keyword_of_the_writer_itself_is_a_hint_too():
    def writer(*, threads=None, **storage):
        check_keywords(writer, storage, StorageOptions)

    with pytest.raises(TypeError, match=r"writer\(\) got .* 'nthreads'; did you mean 'threads'\?"):
        writer(nthreads=2)
