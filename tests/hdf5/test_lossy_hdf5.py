"""Datasets with a bound: no number ever further than it says, whatever stores it and whoever reads it."""

import io
import json

import h5py
import hdf5plugin  # noqa: F401  (h5py reads Blosc2, LZ4 and the others by it)
import netCDF4
import numpy as np
import pytest
import xarray as xr
from hypothesis import given, settings
from hypothesis import strategies as st

import coquina as cq
from coquina.hdf5 import File, copying, quantization
from tests.lossy_cases import BOUNDS, DTYPES, check, hard, raw, shapes, smooth

FILTERS = ["blosc2", "blosc", "gzip", "lz4", "zstd", "bitshuffle", "none"]
FIELD = smooth("<f4", (40, 30, 20))


def of_h5py(path, name="d"):
    with h5py.File(path) as file:
        return file[name][...]


def same(a, b):
    np.testing.assert_array_equal(raw(np.asarray(a)), raw(np.asarray(b)))


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(DTYPES),
    shapes,
    st.sampled_from(BOUNDS),
    st.sampled_from(FILTERS),
    st.integers(0, 999),
)
def test_no_number_is_further_than_the_bound(dtype, shape, bound, filter, seed):
    x = hard(dtype, shape, seed)
    with File(io.BytesIO(), "w") as f:
        d = f.create_dataset("d", data=x, filter=filter, lossy=bound)
        check(bound, x, d[...])
        # What h5py reads is what we read, to the bit.
        same(f.h5["d"][...].astype(x.dtype), d[...])


@pytest.mark.parametrize("filter", FILTERS)
def test_h5py_reads_the_same_numbers(filter, tmp_path):
    with cq.open(tmp_path / "x.h5", "w") as f:
        d = f.create_dataset("d", data=FIELD, filter=filter, chunks=(10, 30, 20), lossy={"max_error": 0.1})
        ours = d[...]
    same(of_h5py(tmp_path / "x.h5"), ours)
    check({"max_error": 0.1}, FIELD, ours)
    with cq.open(tmp_path / "x.h5") as f:
        same(f["d"][...], ours)


@pytest.mark.parametrize("filter", ["blosc2", "gzip", "zstd"])
def test_loss_makes_datasets_smaller(filter, tmp_path):
    sizes = []
    for lossy in (None, {"max_error": 0.1}, {"max_error": 1.0}):
        with cq.open(tmp_path / "x.h5", "w") as f:
            sizes.append(f.create_dataset("d", data=FIELD, filter=filter, lossy=lossy).cbytes)
    assert sizes[0] > 1.5 * sizes[1] > 2 * sizes[2]


@settings(max_examples=25, deadline=None)
@given(st.sampled_from(["<f4", "<f8", "<i2"]), st.sampled_from(BOUNDS), st.integers(0, 999), st.data())
def test_writes_into_a_dataset_keep_its_bound(dtype, bound, seed, data):
    first, second = hard(dtype, (25, 14), seed), hard(dtype, (25, 14), seed + 1)
    start = data.draw(st.integers(0, 24))
    stop, step = data.draw(st.integers(start, 25)), data.draw(st.integers(1, 3))
    with File(io.BytesIO(), "w") as f:
        d = f.create_dataset("d", data=first, chunks=(10, 9), maxshape=(None, 14), lossy=bound)
        before = d[...]
        d[start:stop:step, 2:9] = second[start:stop:step, 2:9]
        after = d[...]
        check(bound, second[start:stop:step, 2:9], after[start:stop:step, 2:9])
        # What was not written did not move, though it lies in the same chunks.
        untouched = np.ones(first.shape, bool)
        untouched[start:stop:step, 2:9] = False
        same(before[untouched], after[untouched])
        after = d[...]
        d.append(second)
        check(bound, second, d[25:])
        same(d[:25], after)
        d[3, 4] = second[5, 6]
        check(bound, second[5:6, 6:7], d[3:4, 4:5])
        d[[1, 7, 7], :] = second[0]
        check(bound, second[0], d[7])


@pytest.mark.parametrize("bound", BOUNDS)
def test_append_sessions_keep_the_bound(bound, tmp_path):
    rows = hard("<f4", (70, 8), 3)
    with cq.open(tmp_path / "x.h5", "w") as f:
        d = f.create_dataset("d", (0, 8), "<f4", chunks=(16, 8), maxshape=(None, 8), lossy=bound)
        with d.appending() as session:
            seen = np.empty((0, 8), "<f4")
            for at in range(0, 70, 7):
                session.append(rows[at : at + 7])
                session.flush()
                found = d[...]
                # Rows do not move when those behind them come, though their chunk is written again.
                same(found[: len(seen)], seen)
                check(bound, rows[at : at + 7], found[at:])
                seen = found
    same(of_h5py(tmp_path / "x.h5"), seen)


def test_the_bound_is_kept_while_others_read(tmp_path):
    rows = hard("<f4", (50, 4), 4)
    with File(tmp_path / "x.h5", "w", libver="latest") as f:
        f.create_dataset("d", (0, 4), "f4", chunks=(16, 4), maxshape=(None, 4), lossy={"max_error": 0.1})
    with File(tmp_path / "x.h5", "r+", libver="latest") as f:
        f.h5.swmr_mode = True
        with f["d"].appending() as session:
            for at in range(0, 50, 7):
                session.append(rows[at : at + 7])
                session.flush()
        check({"max_error": 0.1}, rows, f["d"][...])
        assert 0 < f["d"].lossy.max_error <= 0.1


def test_a_dataset_that_is_opened_again_goes_on_under_its_bound(tmp_path):
    with cq.open(tmp_path / "x.h5", "w") as f:
        f.create_dataset("d", data=FIELD, maxshape=(None, 30, 20), lossy=cq.Lossy(max_error=0.25))
    with cq.open(tmp_path / "x.h5", "r+") as f:
        d = f["d"]
        assert d.lossy.error_bound == cq.Lossy(max_error=0.25)
        assert 0 < d.lossy.max_error <= 0.25
        d[:5] = FIELD[5:10] * 1.01
        check({"max_error": 0.25}, FIELD[5:10] * np.float32(1.01), d[:5])
        assert (d[:5] != FIELD[5:10] * np.float32(1.01)).any()
        assert "max_error" in str(d.info)
        assert d.info.lossy.error_bound == cq.Lossy(max_error=0.25)
    with cq.open(tmp_path / "x.h5") as f:
        assert f["d"].info.to_dict()["lossy"]


def test_handles_of_one_dataset_note_what_either_lost(tmp_path):
    with cq.open(tmp_path / "x.h5", "w") as f:
        d = f.create_dataset("d", data=np.zeros((9, 9), "f4"), lossy={"max_error": 0.25})
        other = d.with_zones(())
        other[0] = np.float32(0.1)
        d[1] = np.float32(0.01)
        other[2] = np.float32(0.0001)
        assert d.lossy.max_error == pytest.approx(0.1)
        assert other.lossy == d.lossy


def test_exact_datasets_have_no_bound_and_no_attributes(tmp_path):
    with cq.open(tmp_path / "x.h5", "w") as f:
        d = f.create_dataset("d", data=FIELD)
        assert d.lossy is None
        assert d.info.lossy is None
        assert list(d.attrs) == []


def test_fill_values_stay_what_they_are(tmp_path):
    x = FIELD.copy()
    x[::3] = -9999.9
    with cq.open(tmp_path / "x.h5", "w") as f:
        d = f.create_dataset("d", data=x, fillvalue=np.float32(-9999.9), lossy={"max_error": 1.0})
        same(d[::3], x[::3])
        d[1] = np.float32(-9999.9)
        same(d[1], np.full((30, 20), -9999.9, "f4"))
        d[2] = np.float32(1234.57)
        assert (d[2] != np.float32(1234.57)).all()


def test_attributes_say_what_is_promised_in_the_words_of_cf(tmp_path):
    with cq.open(tmp_path / "x.h5", "w") as f:
        for name, bound in (
            ("g/bits", {"keep_bits": 7}),
            ("g/relative", {"relative_error": 1e-3}),
            ("g/lattice", {"max_error": 0.5}),
        ):
            f.create_dataset(name, data=FIELD, lossy=bound)
        assert set(f["g"]) == {"bits", "relative", "lattice", "quantization_bitround"}
    with h5py.File(tmp_path / "x.h5") as f:
        info = f["g/quantization_bitround"]
        assert info.shape == ()
        assert dict(info.attrs)["algorithm"] == "bitround"
        assert info.attrs["implementation"] == f"coquina version {cq.__version__}"
        for name, bits in (("bits", 7), ("relative", 9)):
            assert f["g"][name].attrs["quantization"] == "quantization_bitround"
            assert f["g"][name].attrs["quantization_nsb"] == bits
        assert json.loads(f["g/relative"].attrs["coquina_lossy"]) == {"relative_error": 1e-3}
        # CF has no algorithm that is named for rounding to a lattice.
        assert set(f["g/lattice"].attrs) == {"coquina_lossy", "coquina_lossy_reached"}
        assert 0 < f["g/lattice"].attrs["coquina_lossy_reached"][0] <= 0.5


def test_bits_that_cf_says_are_kept_are_those_that_are(tmp_path):
    for bound in ({"keep_bits": 5}, {"relative_error": 0.01}):
        with cq.open(tmp_path / "x.h5", "w") as f:
            d = f.create_dataset("d", data=FIELD, lossy=bound)
            bits = int(d.attrs["quantization_nsb"])
            low = raw(d[...]) & ((1 << 23 - bits) - 1)
            assert not low.any()


def test_netcdf_programs_open_such_files(tmp_path):
    with cq.open(tmp_path / "x.nc", "w") as f:
        d = f.create_dataset("t", data=FIELD, filter="gzip", lossy={"keep_bits": 6})
        ours = d[...]
    with netCDF4.Dataset(tmp_path / "x.nc") as f:
        variable = f["t"]
        same(np.ma.getdata(variable[...]), ours)
        assert variable.getncattr("quantization") == "quantization_bitround"
        assert int(variable.getncattr("quantization_nsb")) == 6
        assert f["quantization_bitround"].getncattr("algorithm") == "bitround"
    for engine in ("netcdf4", "coquina"):
        with xr.open_dataset(tmp_path / "x.nc", engine=engine) as f:
            same(f["t"].to_numpy(), ours)


def test_attributes_that_are_none_of_ours_promise_nothing(tmp_path):
    with cq.open(tmp_path / "x.h5", "w") as f:
        d = f.create_dataset("d", data=FIELD)
        for text in (
            "",
            "{",
            "[1]",
            '{"max_error": "x"}',
            '{"max_error": -1}',
            '{"other": 1}',
            '{"psnr": 1, "ratio": 2}',
        ):
            d.attrs[quantization.CONTRACT] = text
            assert quantization.state(f.h5["d"]) is None, text
        d.attrs[quantization.CONTRACT] = np.arange(3)
        assert quantization.state(f.h5["d"]) is None


def test_what_has_no_bound_is_refused(tmp_path):
    records = np.zeros(3, [("x", "f4")])
    with cq.open(tmp_path / "x.h5", "w") as f:
        for data, bound, text in (
            (np.zeros(3, bool), {"max_error": 1}, "true and false"),
            (records, {"max_error": 1}, "lossy"),
            (np.array(["a"]), {"max_error": 1}, "lossy"),
            (np.float32(3), {"max_error": 1}, "cannot have chunks"),
            (FIELD, {"max_error": 1, "psnr": 3}, "one"),
            (FIELD, {"max_error": 1, "method": "zfp"}, "round"),
            (FIELD, {"max_error": -1}, "max_error"),
        ):
            with pytest.raises((ValueError, TypeError), match=text):
                f.create_dataset("d", data=data, lossy=bound)
            assert "d" not in f


@pytest.mark.parametrize("filter", ["blosc2", "gzip"])
@pytest.mark.parametrize("ratio", [4, 12])
def test_ratios_are_reached_within_a_twentieth(filter, ratio, tmp_path):
    x = smooth("<f4", (60, 120, 80))
    with cq.open(tmp_path / "x.h5", "w") as f:
        d = f.create_dataset("d", data=x, filter=filter, chunks=(60, 120, 80), lossy={"ratio": ratio})
        assert x.nbytes / d.cbytes == pytest.approx(ratio, rel=0.05)


def test_copies_of_datasets_and_files_can_be_given_a_bound(tmp_path):
    with cq.open(tmp_path / "x.h5", "w") as f:
        d = f.create_dataset("g/d", data=FIELD)
        f.create_dataset("g/n", data=np.arange(100_000))
        f.create_dataset("g/time", data=np.linspace(0, 1, 20_000))
        f.h5["g/time"].make_scale("time")
        copying.copy(d, f["g"], "c", lossy={"max_error": 0.5})
        check({"max_error": 0.5}, FIELD, f["g/c"][...])
        assert f["g/c"].lossy.error_bound == cq.Lossy(max_error=0.5)
        assert f["g/d"].lossy is None
        del f["g/c"]
    done = copying.repack(tmp_path / "x.h5", tmp_path / "y.h5", filter="blosc2", lossy={"max_error": 0.5})
    assert done.is_compared
    with cq.open(tmp_path / "y.h5") as f:
        check({"max_error": 0.5}, FIELD, f["g/d"][...])
        assert f["g/d"].lossy.error_bound == cq.Lossy(max_error=0.5)
        # Neither integers nor the coordinates of others are touched.
        same(f["g/n"][...], np.arange(100_000))
        same(f["g/time"][...], np.linspace(0, 1, 20_000))
        assert f["g/n"].lossy is None


def test_integers_lose_something_where_they_are_named(tmp_path):
    x = np.random.default_rng(3).integers(0, 60_000, (300, 200)).astype("u2")
    with cq.open(tmp_path / "x.h5", "w") as f:
        d = f.create_dataset("n", data=x)
        f.create_dataset("m", data=x)
        f.create_dataset("b", data=x > 9)
        copying.copy(d, f, "c", lossy={"max_error": 9})
        check({"max_error": 9}, x, f["c"][...])
        assert f["c"].lossy.max_error > 0
        with pytest.raises(ValueError, match="only numbers can"):
            copying.copy(f["b"], f, "e", lossy={"max_error": 9})
        assert "e" not in f
        del f["c"]
    copying.repack(tmp_path / "x.h5", tmp_path / "y.h5", lossy={"max_error": 9}, only=("n",))
    with cq.open(tmp_path / "y.h5") as f:
        check({"max_error": 9}, x, f["n"][...])
        assert f["n"].lossy.max_error > 0
        same(f["m"][...], x)


def test_a_copy_beyond_its_bound_is_found(tmp_path, monkeypatch):
    from coquina.hdf5 import storing

    with cq.open(tmp_path / "x.h5", "w") as f:
        f.create_dataset("d", data=FIELD)
    read = storing.read
    monkeypatch.setattr(storing, "read", lambda *given: read(*given) + np.float32(3))
    with pytest.raises(cq.CorruptError, match="other values"):
        copying.repack(tmp_path / "x.h5", tmp_path / "y.h5", filter="gzip", lossy={"max_error": 0.5})
    assert not (tmp_path / "y.h5").exists()


def test_dask_arrays_are_stored_under_a_bound(tmp_path):
    da = pytest.importorskip("dask.array")
    with cq.open(tmp_path / "x.h5", "w") as f:
        d = f.create_dataset("d", data=da.from_array(FIELD, chunks=(10, 30, 20)), lossy={"max_error": 0.1})
        check({"max_error": 0.1}, FIELD, d[...])
        assert (d[...] != FIELD).any()


def test_what_is_computed_is_stored_under_the_bound(tmp_path):
    with cq.open(tmp_path / "x.h5", "w") as f:
        d = f.create_dataset("d", data=FIELD, lossy={"max_error": 0.1})
        d[...] = cq.asarray(FIELD) * 2
        check({"max_error": 0.1}, FIELD * 2, d[...])
