"""What h5py's users write: `chunks=True` and `False`, and groups with links that lead to nothing."""

import h5py
import numpy as np
import pytest

import coquina as cq

VALUES = np.arange(100_000)
MAKERS = {
    "asarray": lambda chunks: cq.asarray(VALUES, chunks=chunks),
    "zeros": lambda chunks: cq.zeros(VALUES.shape, int, chunks=chunks),
    "full": lambda chunks: cq.full(VALUES.shape, 7, chunks=chunks),
    "arange": lambda chunks: cq.arange(100_000, chunks=chunks),
    "linspace": lambda chunks: cq.linspace(0, 1, 100_000, chunks=chunks),
    "ones_like": lambda chunks: cq.ones_like(VALUES, chunks=chunks),
    "from_slabs": lambda chunks: cq.from_slabs([VALUES], chunks=chunks),
    "compute": lambda chunks: (cq.asarray(VALUES) + 1).compute(chunks=chunks),
    "copy": lambda chunks: cq.asarray(VALUES).copy(chunks=chunks),
}


@pytest.mark.parametrize("maker", MAKERS)
def test_chunks_true_is_the_default_rule_and_false_is_refused_by_arrays(maker):
    assert MAKERS[maker](True).chunks == MAKERS[maker]("auto").chunks
    with pytest.raises(ValueError, match="chunks=False"):
        MAKERS[maker](False)


def test_datasets_take_both_as_h5py_does(tmp_path):
    with cq.open(tmp_path / "x.h5", "w") as file:
        assert (
            file.create_dataset("t", data=VALUES, chunks=True).chunks
            == file.create_dataset("d", data=VALUES).chunks
        )
        plain = file.create_dataset("f", data=VALUES, chunks=False)
        assert plain.layout == "contiguous"
        np.testing.assert_array_equal(plain, VALUES)
        plain[5:9] = 0
        for options in ({"maxshape": (None,)}, {"filter": "gzip"}, {"fletcher32": True}, {"codec": "lz4"}):
            with pytest.raises(TypeError, match=r"chunks=False"):
                file.create_dataset("no", data=VALUES, chunks=False, **options)
        assert "no" not in file
    with h5py.File(tmp_path / "x.h5") as file:
        assert file["f"].chunks is None
        assert file["f"][4:10].tolist() == [4, 0, 0, 0, 0, 9]


def test_links_that_lead_to_nothing_are_none(tmp_path):
    with cq.open(tmp_path / "x.h5", "w") as file:
        file["a"] = np.arange(3)
        file["soft"] = h5py.SoftLink("/nowhere")
        file["external"] = h5py.ExternalLink("no-such-file.h5", "/x")
        with h5py.File(tmp_path / "y.h5", "w") as other:
            other["a"] = np.arange(3)
            other["soft"], other["external"] = (
                h5py.SoftLink("/nowhere"),
                h5py.ExternalLink("no-such-file.h5", "/x"),
            )
            theirs = {name: node is None for name, node in other.items()}
            assert [node is None for node in other.values()] == [*theirs.values()]
        assert {name: node is None for name, node in file.items()} == theirs
        assert [node is None for node in file.values()] == [*theirs.values()]
        assert len(file.items()) == len(file.values()) == 3
        assert None in file.values()
        assert file["a"] is dict(file.items())["a"]
