"""Arrays with a bound, read by python-blosc2: the same items by every method, and a record that it shows."""

import blosc2
import numpy as np
import pytest

import coquina as cq
from tests.lossy_cases import check, raw, smooth

FIELD = smooth("<f4", (32, 48, 40))
CASES = [
    {"max_error": 0.1, "method": "round"},
    {"max_error": 0.1, "method": "zfp"},
    {"max_error": 0.1, "method": "trunc"},
    {"relative_error": 1e-3},
    {"keep_bits": 9, "method": "trunc"},
    {"psnr": 60, "method": "zfp"},
    {"ratio": 4, "method": "zfp"},
    {"ratio": 9},
]


def same(a, b):
    np.testing.assert_array_equal(raw(np.asarray(a)), raw(np.asarray(b)))


@pytest.mark.parametrize("bound", CASES, ids=str)
@pytest.mark.parametrize("dtype", ["<f4", "<f8"])
def test_blosc2_reads_the_same_items(bound, dtype, tmp_path):
    x = FIELD.astype(dtype)
    path = tmp_path / "a.b2nd"
    a = cq.asarray(x, path=path, chunks=(16, 48, 40), blocks=(8, 16, 20), lossy=bound)
    used = a.lossy.chunks
    assert used[bound["method"]] > 0 if "method" in bound else used["round"] + used["zfp"] > 0
    peer = blosc2.open(str(path))
    same(peer[...], a[...])
    record = peer.schunk.vlmeta["coquina.lossy"]
    assert record["bound"] == a.lossy.error_bound.bound
    assert record["value"] == a.lossy.error_bound.value
    assert record["max_error"] == a.lossy.max_error


def test_integers_that_are_truncated_are_read(tmp_path):
    x = (FIELD * 100).astype("u2")
    path = tmp_path / "a.b2nd"
    a = cq.asarray(x, path=path, lossy={"max_error": 20, "method": "trunc"})
    assert a.lossy.chunks["trunc"] > 0
    same(blosc2.open(str(path))[...], a[...])
    check({"max_error": 20}, x, a[...])


def test_the_bound_holds_on_after_blosc2_has_written(tmp_path):
    path = tmp_path / "a.b2nd"
    cq.asarray(FIELD, path=path, chunks=(16, 48, 40), blocks=(8, 16, 20), lossy={"max_error": 0.1}).close()
    peer = blosc2.open(str(path), mode="a")
    peer.resize((40, 48, 40))
    peer[32:] = FIELD[:8]
    del peer
    with cq.open(path, "r+") as a:
        same(a[32:], FIELD[:8])
        assert a.lossy.error_bound == cq.Lossy(max_error=0.1)
        a[:4] = FIELD[4:8]
        check({"max_error": 0.1}, FIELD[4:8], a[:4])
        same(a[32:], FIELD[:8])


def test_a_record_that_somebody_changed_promises_nothing(tmp_path):
    path = tmp_path / "a.b2nd"
    a = cq.asarray(FIELD, path=path, lossy={"max_error": 0.1})
    stored = a[...]
    a.close()
    peer = blosc2.open(str(path), mode="a")
    peer.schunk.vlmeta["coquina.lossy"] = {**peer.schunk.vlmeta["coquina.lossy"], "value": 0.001}
    del peer
    with cq.open(path, "r+") as a:
        same(a[...], stored)
        with pytest.raises(cq.CorruptError, match=r"coquina\.lossy"):
            _ = a.lossy
        assert "coquina.lossy" in a.info.lossy
        with pytest.raises(cq.CorruptError, match="error bound cannot be read"):
            a[0] = 1.5
        same(a[...], stored)


def test_no_more_is_lost_than_by_truncation_of_blosc2():
    x = FIELD
    for bits in (4, 8, 12):
        filters = [blosc2.Filter.TRUNC_PREC, blosc2.Filter.SHUFFLE]
        peer = blosc2.asarray(
            x,
            chunks=(16, 48, 40),
            blocks=(8, 16, 20),
            cparams={"filters": filters, "filters_meta": [bits, 0]},
        )
        error = float(np.abs(peer[...] - x).max())
        ours = cq.asarray(x, chunks=(16, 48, 40), blocks=(8, 16, 20), lossy={"max_error": error})
        assert float(np.abs(ours[...] - x).max()) <= error
        assert ours.info.cbytes <= peer.schunk.cbytes
