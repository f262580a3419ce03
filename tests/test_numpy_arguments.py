"""Arguments of NumPy's functions that were refused, or ended in endless recursion."""

import numpy as np
import pytest

import coquina as cq

SMALL = np.arange(12.0).reshape(3, 4)
LARGE = np.random.default_rng(3).normal(size=(300, 400))
SIZES = {"small": SMALL, "large": LARGE}


def same(found, wanted):
    assert np.shape(found) == np.shape(wanted)
    assert np.asarray(found).dtype == np.asarray(wanted).dtype
    np.testing.assert_allclose(np.asarray(found), wanted, rtol=1e-6)


CASES = {
    "quantile": lambda m, a, w: m.quantile(a, w(np.array([0.1, 0.5]))),
    "quantile axis": lambda m, a, w: m.quantile(a, w(np.array([0.1, 0.5])), axis=1),
    "percentile": lambda m, a, w: m.percentile(a, w(np.array([[10, 50], [60, 70]]))),
    "nanquantile": lambda m, a, w: m.nanquantile(a, w(np.array(0.3))),
    "nanpercentile": lambda m, a, w: m.nanpercentile(a, w(np.array([30.0]))),
    "quantile weights": lambda m, a, w: m.quantile(a, 0.3, weights=w(np.abs(a[...])), method="inverted_cdf"),
    "einsum lists": lambda m, a, w: m.einsum(a, [0, 1], [1, 0]),
    "einsum implicit": lambda m, a, w: m.einsum(a, [1, 0]),
    "einsum two": lambda m, a, w: m.einsum(a, [0, 1], w(a[...]), [2, 1], [0, 2]),
    "einsum dots": lambda m, a, w: m.einsum(a, [..., 0], [0, ...]),
    "einsum optimize": lambda m, a, w: m.einsum("ij,ij->i", a, a, optimize="greedy"),
    "einsum dtype": lambda m, a, w: m.einsum("ij->i", a, dtype="c16"),
    "add dtype": lambda m, a, w: m.add(a, a, dtype="c16"),
    "add where": lambda m, a, w: m.add(a, 1, where=a[...] > 3, out=np.full(a.shape, 7.0)),
    "sin where": lambda m, a, w: m.sin(a, where=w(a[...] > 3), out=np.zeros(a.shape)),
    "take wrap": lambda m, a, w: m.take(a, w(np.array([5, -7])), axis=1, mode="wrap"),
    "take clip": lambda m, a, w: m.take(a, [10**6, 1], mode="clip"),
    "reshape F": lambda m, a, w: m.reshape(a, (a.shape[1], a.shape[0]), order="F"),
    "ravel F": lambda m, a, w: m.ravel(a, order="F"),
}


@pytest.mark.parametrize("module", [np, cq], ids=["numpy", "coquina"])
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", CASES)
def test_arguments_are_taken_as_numpy_takes_them(name, size, module):
    plain = SIZES[size]
    with np.errstate(all="ignore"):
        wanted = CASES[name](np, plain, lambda x: x)
        same(CASES[name](module, cq.asarray(plain), cq.asarray), wanted)
        if name not in ("add where", "sin where"):
            same(CASES[name](module, cq.asarray(plain), lambda x: x), wanted)


METHODS = {
    "reshape": lambda a: a.reshape(a.shape[1], a.shape[0], order="F"),
    "ravel": lambda a: a.ravel(order="F"),
    "flatten": lambda a: a.flatten("F"),
    "take": lambda a: a.take([10**7], mode="clip"),
}


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("size", SIZES)
def test_methods_take_them_too(name, size):
    same(METHODS[name](cq.asarray(SIZES[size])), METHODS[name](SIZES[size]))


@pytest.mark.parametrize("shape", [(), (3,), (1500, 1500)])
def test_compute_works_whatever_the_size(tmp_path, shape):
    a = cq.ones(shape)
    for result in (a + a, a * 2, cq.where(a > 0, 2.0, 0.0), cq.expr("a + a", a=a)):
        computed = result.compute()
        assert isinstance(computed, cq.Array)
        assert (np.asarray(computed) == 2).all()
        stored = result.compute(tmp_path / "x.b2nd", overwrite=True, codec="lz4")
        assert stored.path == str(tmp_path / "x.b2nd")
        assert (np.asarray(stored) == 2).all()
        stored.close()


def test_labels_that_have_no_letter_are_refused():
    for labels in ([0, 52], [-1, 0]):
        with pytest.raises(ValueError, match="label"):
            cq.einsum(cq.asarray(SMALL), labels)
