"""Arrays with a bound on what may be lost: no item is further than it says, and what is not written stays."""

import json
import math
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import coquina as cq
from tests.lossy_cases import BOUNDS, DTYPES, check, hard, raw, shapes, smooth

FIELD = smooth("<f4", (40, 50, 30))


def same(a, b):
    """Fail unless two arrays are the same to the bit."""
    np.testing.assert_array_equal(raw(np.asarray(a)), raw(np.asarray(b)))


def methods_for(bound, dtype):
    """Return the methods that can hold a bound on items of a dtype."""
    name, known = next(iter(bound)), ["round"]
    if name not in ("psnr", "ratio") and dtype[0] != ">" and dtype not in ("<f2", "<c8"):
        known.append("trunc")
    if name not in ("relative_error", "keep_bits") and dtype in ("<f4", "<f8"):
        known.append("zfp")
        if name == "max_error":
            known.append("predict")
    return [None, *known]


@st.composite
def cases(draw):
    """Return a dtype, a bound, a method for it, a shape, and a seed."""
    dtype, bound = draw(st.sampled_from(DTYPES)), dict(draw(st.sampled_from(BOUNDS)))
    if "max_error" in bound:
        bound["max_error"] = draw(st.floats(1e-6, 1e6) | st.integers(1, 300).map(float))
    method = draw(st.sampled_from(methods_for(bound, dtype)))
    return dtype, bound, method, draw(shapes), draw(st.integers(0, 2**32 - 1))


@settings(max_examples=300, deadline=None)
@given(cases())
def test_no_item_is_further_than_the_bound(case):
    dtype, bound, method, shape, seed = case
    for x in (hard(dtype, shape, seed), smooth("<f4", shape).astype(dtype)):
        a = cq.asarray(x, lossy=cq.Lossy(**bound, method=method))
        stored = a[...]
        if method == "trunc" and "keep_bits" in bound:
            continue  # It cuts off: errors of up to a whole last bit.
        check(bound, x, stored, zeros_stay=method != "zfp")
        assert a.lossy.error_bound == cq.Lossy(**bound, method=method)
        if "max_error" in bound:
            assert a.lossy.max_error <= bound["max_error"] * (1 + 1e-12)


@settings(max_examples=100, deadline=None)
@given(cases(), st.integers(0, 2**32 - 1), st.data())
def test_items_that_are_not_written_do_not_drift(case, seed, data):
    dtype, bound, method, shape, _ = case
    chunks = tuple(data.draw(st.integers(1, length)) for length in shape)
    x, y = hard(dtype, shape, seed), hard(dtype, shape, seed + 1)
    a = cq.asarray(x, chunks=chunks, lossy={**bound, "method": method})
    for _ in range(3):
        before = a[...]
        starts = [data.draw(st.integers(0, length - 1)) for length in shape]
        key = tuple(
            slice(start, data.draw(st.integers(start + 1, length)))
            for start, length in zip(starts, shape, strict=True)
        )
        a[key] = y[key]
        after = a[...]
        untouched = np.ones(shape, bool)
        untouched[key] = False
        np.testing.assert_array_equal(raw(before[untouched]), raw(after[untouched]))
        # A value that was there already is kept, whatever was lost when it was written first.
        if "psnr" not in bound and not (method == "trunc" and "keep_bits" in bound):
            kept = np.where(raw_equal(before[key], y[key]), y[key], after[key]).astype(dtype)
            check(bound, y[key], kept, zeros_stay=method != "zfp")


def raw_equal(a, b):
    """Return which items are the same to the bit; complex ones by both parts."""
    if a.dtype.kind == "c":
        return (raw(a.real) == raw(b.real)) & (raw(a.imag) == raw(b.imag))
    return raw(a) == raw(b)


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(DTYPES), st.integers(1, 60), st.integers(0, 999))
def test_what_is_rounded_is_rounded_to_itself(dtype, length, seed):
    x = hard(dtype, (length,), seed)
    for bound in ({"max_error": 0.3}, {"max_error": 70.0}, {"relative_error": 0.01}, {"keep_bits": 5}):
        bound = {**bound, "method": "round"}
        once = cq.asarray(x, lossy=bound)[:]
        same(cq.asarray(once, lossy=bound)[:], once)


@pytest.mark.parametrize(("dtype", "mantissa"), [("<f2", 10), ("<f4", 23), (">f4", 23), ("<f8", 52)])
def test_kept_bits_are_exact(dtype, mantissa):
    x = hard(dtype, (5000,), 3)
    whole = x.astype(x.dtype.newbyteorder("="))
    finite = np.isfinite(whole)
    for bits in range(1, mantissa + 1):
        stored = cq.asarray(x, lossy={"keep_bits": bits})[:].astype(whole.dtype)
        low = raw(stored) & ((1 << (mantissa - bits)) - 1)
        assert not low[finite].any()
        same(stored[~finite], whole[~finite])
        # NumPy's rounding of the mantissa to so many binary digits, ties to even.
        part, exponent = np.frexp(whole[finite].astype("f8"))
        with np.errstate(over="ignore"):
            near = np.ldexp(np.rint(np.ldexp(part, bits + 1)), exponent - bits - 1)
        normal = (np.abs(near) >= np.finfo(whole.dtype).smallest_normal) & (
            np.abs(near) <= np.finfo(whole.dtype).max
        )
        np.testing.assert_array_equal(stored[finite].astype("f8")[normal], near[normal])


@pytest.mark.parametrize("ratio", [2.5, 4, 7.5, 10, 16, 25, 40])
@pytest.mark.parametrize("method", [None, "round", "zfp"])
def test_a_ratio_is_reached_within_a_twentieth(ratio, method):
    for x in (smooth("<f4", (120, 200)), smooth("<f8", (30, 40, 50))):
        a = cq.asarray(x, lossy=cq.Lossy(ratio=ratio, method=method))
        assert 0.95 * ratio <= a.info.cratio <= 1.05 * ratio


def test_integers_reach_a_ratio():
    x = (smooth("<f8", (300, 300)) * 100).astype("u2")
    for ratio in (3, 5, 12):
        assert 0.95 * ratio <= cq.asarray(x, lossy={"ratio": ratio}).info.cratio <= 1.05 * ratio


def test_a_ratio_that_is_there_already_loses_nothing():
    x = np.repeat(np.arange(100, dtype="f4"), 1000)
    a = cq.asarray(x, lossy={"ratio": 5})
    same(a[:], x)
    assert a.lossy.max_error == 0


def test_less_is_lost_for_a_smaller_ratio():
    errors = [
        cq.quality(FIELD, cq.asarray(FIELD, lossy={"ratio": ratio})).rmse for ratio in (4, 6, 9, 14, 20)
    ]
    assert errors == sorted(errors)


@pytest.mark.parametrize("psnr", [25, 40.5, 60, 90, 140])
@pytest.mark.parametrize("method", [None, "round", "zfp"])
def test_decibels_hold_for_the_array(psnr, method):
    a = cq.asarray(FIELD, chunks=(20, 25, 30), lossy=cq.Lossy(psnr=psnr, method=method))
    assert cq.quality(FIELD, a).psnr >= psnr
    assert a.lossy.psnr >= psnr


def test_zfp_is_taken_where_it_is_smaller():
    wave = np.sin(np.linspace(0, 6, 200))
    x = (wave[:, None] * wave[None, :] * 100 + 300).astype("f8")
    a = cq.asarray(x, lossy={"psnr": 70})
    assert a.lossy.chunks["zfp"] > 0
    assert a.info.cbytes < cq.asarray(x, lossy={"psnr": 70, "method": "round"}).info.cbytes


def test_bytes_do_not_depend_on_threads():
    for bound in (*BOUNDS, {"ratio": 6}):
        stored = {
            cq.asarray(FIELD, chunks=(20, 50, 30), lossy=bound, threads=n).to_bytes() for n in (1, 2, 7)
        }
        assert len(stored) == 1


def test_special_values_are_kept_to_the_bit():
    bits = np.array([0x7FC00001, 0xFFC12345, 0x7F800001, 0x7F800000, 0xFF800000, 0, 0x80000000, 1], "u4")
    x = np.tile(bits, 50).view("f4")
    x[8::8] = np.arange(49) * 1.37
    for bound in ({"max_error": 0.5}, {"relative_error": 0.01}, {"keep_bits": 3}, {"psnr": 30}, {"ratio": 2}):
        stored = cq.asarray(x, lossy=bound)[:]
        odd = ~np.isfinite(x) | (x == 0)
        np.testing.assert_array_equal(stored[odd].view("u4"), x[odd].view("u4"))


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_truncation_keeps_payloads_of_nan(dtype):
    """Cut off, a payload in the low bits leaves the bits of infinity."""
    x = np.tile(np.array([1.1, -2.3, 0, 7], dtype), 50)
    bits = x.view(f"u{x.itemsize}")
    bits[3::4] = np.array(np.inf, dtype).view(bits.dtype) + 1
    for bound in ({"max_error": 0.5}, {"relative_error": 0.01}, {"keep_bits": 3}):
        a = cq.asarray(x, lossy={**bound, "method": "trunc"})
        np.testing.assert_array_equal(a[3::4].view(bits.dtype), bits[3::4])
        assert np.isfinite(a.lossy.max_error)


def test_bounds_of_integers_hold_at_the_ends():
    for dtype in ("i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"):
        info = np.iinfo(dtype)
        x = np.array([info.min, info.min + 1, info.max - 1, info.max, 0, 1, 100], dtype)
        for limit in (0.5, 1, 3, 100, float(info.max), 1e30):
            stored = cq.asarray(x, lossy={"max_error": limit})[:]
            assert all(abs(int(a) - int(b)) <= limit for a, b in zip(x, stored, strict=True))


def test_what_was_promised_is_read_again_and_kept(tmp_path):
    path = tmp_path / "a.b2nd"
    a = cq.asarray(FIELD, path=path, chunks=(10, 50, 30), lossy={"max_error": 0.1})
    said = a.lossy
    a.close()
    with cq.open(path, "r+") as a:
        assert a.lossy == said
        a.append(FIELD[:7] * 2)
        check({"max_error": 0.1}, np.concatenate([FIELD, FIELD[:7] * 2]), a[...])
        assert sum(a.lossy.chunks.values()) > sum(said.chunks.values())
        assert list(a.attrs) == []
        a.compact()
        assert a.lossy.max_error > 0
    with cq.open(path) as a:
        assert a.lossy.error_bound == cq.Lossy(max_error=0.1)
        assert cq.from_bytes(a.to_bytes()).lossy == a.lossy
        assert "max_error 0.1" in str(a.info)
        assert json.loads(json.dumps(a.info.to_dict()))["lossy"]["error_bound"]["max_error"] == 0.1


def test_appends_that_end_within_chunks_hold_the_bound():
    for bound in ({"max_error": 0.05}, {"psnr": 60}, {"ratio": 6}, {"relative_error": 1e-4}):
        a = cq.asarray(FIELD[:3], chunks=(16, 50, 30), lossy=bound)
        for start in range(3, 40, 5):
            before = a[...]
            a.append(FIELD[start : start + 5])
            same(a[: len(before)], before)
        if "ratio" not in bound and "psnr" not in bound:
            check(bound, FIELD, a[: len(FIELD)])


def test_statistics_are_of_what_is_stored():
    a = cq.asarray(FIELD, chunks=(20, 50, 30), lossy={"max_error": 1.5})
    for number, start in enumerate((0, 20)):
        chunk = a[start : start + 20]
        low, high, is_exact, has_nan = a.handle.bounds(number)
        assert (np.frombuffer(low, "f4")[0], np.frombuffer(high, "f4")[0]) == (chunk.min(), chunk.max())
        assert (is_exact, has_nan) == (True, False)


def test_every_writer_takes_a_bound(tmp_path):
    bound = {"max_error": 0.5}
    x = FIELD[0]
    made = {
        "asarray": cq.asarray(x, lossy=bound),
        "from an array": cq.asarray(cq.asarray(x), lossy=bound),
        "copy": cq.asarray(x).copy(lossy=bound),
        "compute": (cq.asarray(FIELD) * 1.0).compute(lossy=bound)[0],
        "slabs": cq.from_slabs(iter([x[:20], x[20:]]), lossy=bound),
        "file": cq.asarray(x, path=tmp_path / "x.b2nd", lossy=bound),
        "full": cq.full(x.shape, x, lossy=bound),
        "iterator": cq.fromiter(x.ravel().tolist(), "f4", lossy=bound),
        "buffer": cq.frombuffer(x.tobytes(), "f4", lossy=bound),
    }
    for name, a in made.items():
        stored = np.asarray(a[...]).reshape(x.shape)
        assert not np.array_equal(stored, x), name
        check(bound, x, stored)
    numbers = cq.linspace(0, 1, 5000, lossy={"max_error": 0.01})
    assert 0 < np.abs(numbers[:] - np.linspace(0, 1, 5000)).max() <= 0.01
    empty = cq.zeros((30, 30), "f4", lossy=bound)
    empty[3:9] = x[:6, :30]
    check(bound, x[:6, :30], empty[3:9])
    assert cq.asarray(x).lossy is None


def test_a_copy_of_what_has_lost_something_is_exact():
    a = cq.asarray(FIELD, lossy={"max_error": 0.5})
    copy = a.copy()
    same(copy[...], a[...])
    assert copy.lossy is None


def test_pickles_keep_the_bound():
    a = cq.asarray(FIELD, lossy={"max_error": 0.5})
    b = pickle.loads(pickle.dumps(a))
    assert b.lossy == a.lossy
    same(b[...], a[...])
    b[0] = FIELD[1] * 3
    check({"max_error": 0.5}, FIELD[1] * 3, b[0])


@pytest.mark.parametrize(
    "options", [{"codec": ("zfp_rate", 10)}, {"filters": [("trunc_prec", 5), "shuffle"]}]
)
def test_pickles_of_codecs_that_lose_something_lose_no_more(options):
    a = cq.asarray(FIELD, **options)
    a.attrs["unit"] = "K"
    b = pickle.loads(pickle.dumps(a))
    same(b[...], a[...])
    assert (b.info.codec_option, b.info.filters) == (a.info.codec_option, a.info.filters)
    assert b.attrs["unit"] == "K"
    b[...] = 3.0
    np.testing.assert_allclose(b[...], 3.0)


def test_a_failed_write_has_lost_nothing(tmp_path):
    a = cq.asarray(FIELD, path=tmp_path / "a.b2nd", lossy={"max_error": 0.5})
    said = a.lossy
    with pytest.raises(ZeroDivisionError), a.transaction():  # noqa: PT012
        a[:3] = FIELD[:3] + 1.3
        raise ZeroDivisionError
    assert a.lossy == said


def test_what_cannot_be_asked_for_says_why(tmp_path):
    for options, reason in [
        ({}, "exactly one"),
        ({"max_error": 1.0, "psnr": 3}, "max_error and psnr"),
        ({"max_error": 0}, "above 0"),
        ({"max_error": math.nan}, "above 0"),
        ({"relative_error": 1.0}, "below 1"),
        ({"ratio": 0.5}, "from 1 on"),
        ({"keep_bits": 1.5}, "whole number"),
        ({"max_error": 1.0, "method": "jpeg"}, "round, trunc, zfp, predict, j2k, htj2k"),
    ]:
        with pytest.raises(ValueError, match=reason):
            cq.Lossy(**options)
    for options, reason in [
        ({"max_error": "x"}, "max_error 'x': takes a number, not str"),
        ({"psnr": 1j}, "psnr 1j: takes a number, not complex"),
        ({"ratio": np.ones(2)}, "takes a number, not ndarray"),
        ({"max_error": 1.0, "method": 3}, "method 3: takes one of"),
    ]:
        with pytest.raises(TypeError, match=reason):
            cq.Lossy(**options)
    with pytest.raises(ValueError, match="ratio: takes a number below"):
        cq.Lossy(ratio=10**400)
    assert hash(cq.Lossy(max_error=np.array(0.5, "f4"))) == hash(cq.Lossy(max_error=0.5))
    with pytest.raises(ValueError, match="'error'"):
        cq.asarray(FIELD, lossy={"error": 1.0})
    with pytest.raises(TypeError, match="Lossy"):
        cq.asarray(FIELD, lossy=0.1)
    for items, reason in [
        (np.zeros(3, bool), "true and false"),
        (np.zeros(3, "M8[s]"), "dates"),
        (np.zeros(3, "U3"), "texts"),
        (np.zeros(3, "f4,i4"), "fields"),
        (np.zeros(3, np.longdouble), "2, 4 and 8 bytes"),
    ]:
        path = tmp_path / "refused.b2nd"
        with pytest.raises(ValueError, match=reason):
            cq.asarray(items, path=path, lossy={"max_error": 1.0})
        assert not path.exists()
    with pytest.raises(ValueError, match="have 23"):
        cq.asarray(FIELD, lossy={"keep_bits": 24})
    with pytest.raises(ValueError, match="is lossy itself"):
        cq.asarray(FIELD, filters=[("trunc_prec", 10)], lossy={"max_error": 1.0})
    with pytest.raises(ValueError, match="float32 and float64"):
        cq.asarray(FIELD.astype("i4"), lossy={"max_error": 1.0, "method": "zfp"})


@pytest.mark.parametrize("shape", [(), (1,), (0,), (0, 3), (5, 1, 1)])
def test_arrays_of_few_items_have_bounds_too(shape):
    x = np.full(shape, 1.2345, "f4")
    for bound in (*BOUNDS, {"ratio": 10}):
        a = cq.asarray(x, lossy=bound)
        if bound != {"ratio": 10}:
            check(bound, x, np.asarray(a))
        assert a.shape == shape


def test_predicted_fields_are_smaller_than_rounded_ones_and_hold_the_bound():
    x = smooth("<f4", (64, 96, 80))
    given = {"chunks": (32, 96, 80), "blocks": (32, 96, 80)}
    for bound in (0.1, 0.003):
        a = cq.asarray(x, lossy={"max_error": bound, "method": "predict"}, **given)
        check({"max_error": bound}, x, a[...], zeros_stay=True)
        assert a.lossy.chunks["predict"] == 2
        assert a.info.cbytes < cq.asarray(x, lossy={"max_error": bound}, **given).info.cbytes


def test_what_repeats_is_rounded_where_that_is_smaller_than_its_prediction():
    """Seldom values, the same ones in every 16 rows: predictions from neighbours do not see that."""
    rows = np.zeros((16, 256), "f4")
    rng = np.random.default_rng(5)
    rows.flat[rng.choice(rows.size, rows.size // 100, replace=False)] = rng.normal(size=rows.size // 100)
    x = np.tile(rows, (32, 1))
    given = {"chunks": x.shape, "blocks": x.shape}
    a = cq.asarray(x, lossy={"max_error": 1e-3, "method": "predict"}, **given)
    check({"max_error": 1e-3}, x, a[...], zeros_stay=True)
    assert (a.lossy.chunks["round"], a.lossy.chunks["predict"]) == (1, 0)
    assert a.info.cbytes == cq.asarray(x, lossy={"max_error": 1e-3, "method": "round"}, **given).info.cbytes
    before = a[...]
    a[3, 5:90] = 7.5
    same(a[:3], before[:3])
    same(a[4:], before[4:])
    check({"max_error": 1e-3}, np.full(85, 7.5, "f4"), a[3, 5:90], zeros_stay=True)


def test_predicted_chunks_keep_nan_infinities_and_what_is_not_written():
    x = smooth("<f8", (60, 70))
    x[::7, ::3], x[3, :20], x[5, 5:9], x[6, 4:50] = np.nan, np.inf, -0.0, -1e34
    a = cq.asarray(x, chunks=(30, 70), lossy={"max_error": 0.01, "method": "predict"})
    check({"max_error": 0.01}, x, a[...], zeros_stay=True)
    before = a[...]
    a[10:20, 5:] = x[10:20, 5:] + 1
    same(a[:10], before[:10])
    same(a[10:20, :5], before[10:20, :5])
    same(a[20:], before[20:])
    check({"max_error": 0.01}, x[10:20, 5:] + 1, a[10:20, 5:], zeros_stay=True)


def test_predicted_streams_are_the_same_for_every_number_of_threads(tmp_path):
    x = smooth("<f4", (90, 80, 70))
    files = []
    for threads in (1, 2):
        path = tmp_path / f"{threads}.b2nd"
        cq.asarray(x, path=path, lossy={"max_error": 0.01, "method": "predict"}, threads=threads)
        files.append(path.read_bytes())
    assert files[0] == files[1]


def test_prediction_takes_its_bound_from_its_parameter_too():
    x = smooth("<f4", (50, 60))
    a = cq.asarray(x, codec=("predict", -2), filters=[])
    assert np.abs(a[...] - x).max() <= 0.01
    for options, reason in [({"psnr": 60}, "cannot hold psnr"), ({"keep_bits": 5}, "cannot hold keep_bits")]:
        with pytest.raises(ValueError, match=reason):
            cq.asarray(x, lossy={**options, "method": "predict"})
    with pytest.raises(ValueError, match="float32 and float64"):
        cq.asarray(x.astype("i4"), lossy={"max_error": 1.0, "method": "predict"})
