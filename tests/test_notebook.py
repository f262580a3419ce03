"""What notebooks show: well-formed HTML, everything escaped, nothing read that is not shown."""

import xml.etree.ElementTree as ET

import h5py
import numpy as np
import pytest

import coquina as cq

BAD = "<b>&\"'"


def parsed(shown):
    """The HTML as a tree: what is not well formed, or not escaped, is an error."""
    html = shown._repr_html_()
    assert "<script" not in html
    return ET.fromstring(f"<html>{html.replace('&#8942;', '...')}</html>")


def words(shown):
    return " ".join(parsed(shown).itertext())


def test_arrays_views_and_expressions(tmp_path):
    a = cq.asarray(np.arange(60.0).reshape(3, 4, 5), chunks=(2, 4, 5), path=tmp_path / f"a{BAD[1:3]}.b2nd")
    assert "(3, 4, 5)" in words(a)
    assert "float64" in words(a)
    assert "(2, 4, 5)" in words(a.view(np.s_[1:]))
    e = cq.expr("sqrt(a) + 1 > 5", a=a)
    assert "sqrt" in words(e)
    assert "(3, 4, 5)" in words(e)
    assert "add" in words(e.explain())


def test_files_list_what_is_in_them(tmp_path):
    path = tmp_path / "f.h5"
    with h5py.File(path, "w") as f:
        f.create_dataset("g/x", data=np.arange(1000), chunks=(100,), compression="gzip")
        f[f"odd{BAD}"] = "text"
        f["soft"] = h5py.SoftLink("/g/x")
        f["gone"] = h5py.ExternalLink("other.h5", "/a")
        f["same"] = f["g/x"]
        f["kind"] = np.dtype("f4")
        f.create_dataset("null", dtype="f4")
    with cq.open(path) as f:
        text = words(f)
        for wanted in (
            "x",
            "(1000,)",
            "int64",
            "(100,)",
            f"odd{BAD}",
            "link to /g/x",
            "other.h5:/a",
            "type",
            "1 members",
        ):
            assert wanted in text
        assert "(1000,)" in words(f["g"])
        assert "gzip" in words(f["g/x"])
    assert "closed" in words(f)


def test_long_files_show_their_beginning(tmp_path):
    with cq.open(tmp_path / "f.h5", "w") as f:
        for number in range(60):
            f.create_group(f"g{number:02}")
        rows = parsed(f).findall(".//tbody/tr")
        assert len(rows) == 50
        assert "first ones" in words(f)


def test_tables_selections_and_their_explanations(tmp_path):
    with cq.create_table(tmp_path / "t.h5", {"n": np.arange(100), "text": [BAD] * 100}) as t:
        assert BAD in words(t)
        assert "100 rows" in words(t)
        chosen = t.where("n > 90")
        assert "91" in words(chosen)
        assert "n > 90" in words(chosen.explain())


def test_packed_files_and_frames(tmp_path):
    cq.pack(np.arange(1000.0), tmp_path / "x.blp")
    assert "float64" in words(cq.open(tmp_path / "x.blp"))
    with cq.Frame.create(tmp_path / "x.b2frame", chunk_size=1000) as frame:
        frame.append(bytes(500))
        assert "nchunks" in words(frame)


@pytest.mark.parametrize("value", [np.zeros(0), np.zeros(()), np.zeros((2, 0, 3)), np.array([b"<i>"])])
def test_arrays_of_any_shape(value):
    assert str(value.shape) in words(cq.asarray(value))
