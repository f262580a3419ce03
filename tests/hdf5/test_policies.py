"""How chunks of datasets are encoded: as their attributes say, which the engine reads and writes."""

import h5py
import numpy as np
import pytest

import coquina as cq
from coquina.hdf5 import Dataset

X = np.sin(np.arange(4000, dtype="<f8") / 37)


@pytest.mark.parametrize(
    "name", ["write_selection", "append_items", "resize_axes", "assign", "set_selection"]
)
def test_datasets_write_as_all_arrays_do(name):
    assert getattr(Dataset, name) is getattr(cq.Array, name)


def test_a_handle_writes_once_a_damaged_goal_is_mended(tmp_path):
    with cq.open(tmp_path / "x.h5", "w") as file:
        tuning = {"filter": "blosc2", "codec": "auto", "goal": "size"}
        dataset = file.create_dataset("d", data=X, chunks=(1000,), **tuning)
        dataset.attrs["coquina_tuning"] = "goal=7"
    for mend in (None, "goal=0 for=both bandwidth=any times=table"):
        with cq.open(tmp_path / "x.h5", "a") as file:
            dataset = file["d"]
            dataset.attrs["coquina_tuning"] = "goal=7"
            with pytest.raises(cq.CorruptError, match="/d: the attribute coquina_tuning"):
                dataset[0] = 1
            if mend is None:
                del dataset.attrs["coquina_tuning"]
            else:
                dataset.attrs["coquina_tuning"] = mend
            dataset[...] = X + 1
            assert (dataset.handle.tuning() is None) == (mend is None)
            np.testing.assert_array_equal(dataset[...], X + 1)


@pytest.mark.parametrize("value", [1, 1.0, 0.25])
def test_the_attributes_state_the_bound_as_it_was_given(value, tmp_path):
    with cq.open(tmp_path / "x.h5", "w") as file:
        bound = {"max_error": value}
        dataset = file.create_dataset("d", data=X, chunks=(1000,), maxshape=(None,), lossy=bound)
        dataset[:10] = 7
        dataset.append(X)
        with dataset.appending() as rows:
            rows.append(X[:1500])
        known = dataset.lossy
    with h5py.File(tmp_path / "x.h5") as file:
        found = dict(file["d"].attrs)
    assert set(found) == {"coquina_lossy", "coquina_lossy_reached"}
    assert found["coquina_lossy"] == f'{{"max_error": {value}}}'
    reached = [known.max_error, known.relative_error, known.psnr, *known.chunks.values()]
    assert found["coquina_lossy_reached"].tolist() == reached
    assert 0 < known.max_error <= value


@pytest.mark.parametrize("dtype", ["S8", "?"])
def test_a_bound_that_items_cannot_have_promises_nothing(dtype, tmp_path):
    values = np.arange(100).astype(dtype)
    with h5py.File(tmp_path / "x.h5", "w") as file:
        dataset = file.create_dataset("d", data=values, chunks=(10,))
        dataset.attrs["coquina_lossy"] = '{"max_error": 5}'
    with cq.open(tmp_path / "x.h5", "a") as file:
        file["d"][:50] = values[50:]
        np.testing.assert_array_equal(file["d"][:50], values[50:])


def test_datasets_that_are_only_read_are_not_asked_for_attributes(tmp_path, monkeypatch):
    from coquina.hdf5 import policy_attributes

    asked = []
    for name in ("read_bound", "read_goal"):
        read = getattr(policy_attributes, name)
        monkeypatch.setattr(policy_attributes, name, lambda h5, read=read: asked.append(read) or read(h5))
    with cq.open(tmp_path / "x.h5", "w") as file:
        file.create_dataset("d", data=X, chunks=(1000,))
    asked.clear()
    with cq.open(tmp_path / "x.h5", "a") as file:
        dataset = file["d"]
        assert dataset[...].sum() == X.sum()
        assert not asked
        for _ in range(3):
            dataset[5] = 1
        assert len(asked) == 2
