"""Options of writers: each has an effect or is an error that names it, in all layouts and homes."""

import numpy as np
import pytest

import coquina as cq

COLUMNS = {"x": np.arange(20_000) // 7}


def create(path, **options):
    cq.create_table(path, COLUMNS, **options).close()


@pytest.mark.parametrize(
    ("name", "options", "error", "text"),
    [
        ("t", {"dictionary": True}, ValueError, "dictionary: tables in HDF5 files take it"),
        ("t", {"checksums": False}, ValueError, "directories always have checksums"),
        ("t", {"filter": "none", "codec": "lz4"}, ValueError, "codec 'lz4'"),
        ("t", {"filter": "none", "level": 9}, ValueError, "level 9: the filter 'none' has no levels"),
        ("t.b2z", {"dictionary": True}, cq.UnsupportedError, "dictionary"),
        ("t.h5", {"filter": "none", "level": 9}, ValueError, "level 9"),
        ("t.h5", {"filter": "gzip", "checksums": True}, ValueError, "checksums with filter 'gzip'"),
        ("t.h5", {"filter": "none", "level": 9, "layout": "rows"}, ValueError, "level 9"),
    ],
)
def test_what_a_table_would_ignore_is_an_error(name, options, error, text, tmp_path):
    with pytest.raises(error, match=text):
        create(tmp_path / name, **options)
    assert not (tmp_path / name).exists()


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"filter": "gzip", "blocks": (500,)}, r"blocks \(500,\): for the filter 'blosc2'"),
        ({"filter": "lz4", "level": 9}, "level 9: the filter 'lz4' has no levels"),
        ({"filter": "bitshuffle", "level": 9}, "level 9"),
        ({"filter": "gzip", "checksums": True}, "or fletcher32=True"),
    ],
)
def test_what_a_dataset_would_ignore_is_an_error(options, text, tmp_path):
    with cq.open(tmp_path / "x.h5", "w") as f:
        with pytest.raises(ValueError, match=text):
            f.create_dataset("x", data=COLUMNS["x"], **options)
        f.create_dataset("y", data=COLUMNS["x"])
    with pytest.raises(ValueError, match=text):
        cq.hdf5.repack(tmp_path / "x.h5", tmp_path / "y.h5", **options)


@pytest.mark.parametrize(
    "options", [{"level": 9}, {"filters": "bitshuffle"}, {"blocks": (500,)}, {"dictionary": True}]
)
def test_repack_says_how_only_where_it_names_a_filter(options, tmp_path):
    create(tmp_path / "x.h5")
    with pytest.raises(ValueError, match="name one too, such as filter='blosc2'"):
        cq.hdf5.repack(tmp_path / "x.h5", tmp_path / "y.h5", **options)
    assert not (tmp_path / "y.h5").exists()


@pytest.mark.parametrize("name", ["t.b2z", "t.b2d", "t", "t.h5"])
def test_every_home_keeps_the_title_of_a_table(name, tmp_path):
    create(tmp_path / name, title="hello")
    with cq.open_table(tmp_path / name) as t:
        assert t.layout.title == "hello"
        for other in ("u.b2z", "u", "u.h5"):
            with t.copy(tmp_path / other, overwrite=True) as copy:
                assert copy.layout.title == "hello"
