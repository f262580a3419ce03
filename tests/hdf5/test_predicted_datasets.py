"""Datasets of the codec `predict`: within its bound, and the same when the file is opened again."""

import numpy as np
import pytest

import coquina as cq
from tests.lossy_cases import smooth


@pytest.mark.parametrize("dtype", ["<f4", "<f8"])
def test_predicted_datasets_hold_the_bound_of_their_parameter(dtype, tmp_path):
    x = smooth(dtype, (60, 120))
    x[:5], x[6, :30] = np.nan, -1e34
    with cq.open(tmp_path / "x.h5", "w") as f:
        d = f.create_dataset("d", data=x, filter="blosc2", chunks=(30, 120), codec=("predict", -2))
        assert d.cbytes < x.nbytes / 2
        d[40:50] = x[40:50]
    with cq.open(tmp_path / "x.h5") as f:
        y = f["d"][...]
    np.testing.assert_array_equal(np.isnan(y), np.isnan(x))
    np.testing.assert_array_equal(y[6, :30], x[6, :30])
    # Twice at most for the chunk that was written in part.
    far = np.abs(y.astype("f8") - x)
    assert np.nanmax(far[:30]) <= 0.01
    assert np.nanmax(far) <= 0.02
