"""Groups of HDF5 files as NetCDF-4 has them: dimensions with and without scales, kinds of items, links."""

from __future__ import annotations

from pathlib import Path

import h5py
import numpy as np
import pytest

xr = pytest.importorskip("xarray")
netCDF4 = pytest.importorskip("netCDF4")

from coquina.adapters.xarray_backend import CoquinaBackend  # noqa: E402
from tests.adapters.xarray_cases import same  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore:numpy.ndarray size changed")


def test_files_without_scales_have_dimensions_by_their_lengths(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "f.h5", "w") as f:
        f["b"], f["a"], f["scalar"] = np.zeros((3, 4)), np.arange(9.0).reshape(3, 3), 5
        f.create_dataset("grows", (3, 4), "f4", maxshape=(None, 4))
        f["g/deep/d"], f["g/e"] = np.arange(4), np.zeros((4, 5))
        f["fixed"] = np.array([b"abc", b"d"])
        f["a"].attrs["units"], f["a"].attrs["list"] = "m", [1, 2]
    for group in (None, "g", "g/deep"):
        same(tmp_path / "f.h5", group=group).close()


def test_links_in_circles_and_to_nowhere_do_no_harm(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "f.h5", "w") as f:
        f["g/x"] = np.arange(3)
        f["g/up"] = f["/"]
        f["g/soft"], f["g/none"] = h5py.SoftLink("/g"), h5py.SoftLink("/nowhere")
        f["g/far"] = h5py.ExternalLink("none.h5", "/x")
        f["y"] = h5py.SoftLink("/g/x")
        f["loop"], f["g/loop"] = h5py.SoftLink("/g/loop"), h5py.SoftLink("/loop")
        kind = h5py.enum_dtype({"A": 0, "B": 1}, "i1")
        f.create_dataset("g/states", data=np.array([0, 1], "i1"), dtype=kind)
        f["g/the_states"] = kind
    ours = xr.open_groups(tmp_path / "f.h5", engine=CoquinaBackend)
    assert ours["/g"]["x"].values.tolist() == ours["/"]["y"].values.tolist() == [0, 1, 2]
    assert ours["/g"]["states"].encoding["dtype"].metadata["enum_name"] == "the_states"
    for dataset in ours.values():
        dataset.close()


def test_groups_with_several_names_are_opened_by_each(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "f.h5", "w") as f:
        f["a/x"] = np.arange(5)
        f["b"], f["c"] = f["a"], h5py.SoftLink("/a")
    for group in "abc":
        with xr.open_dataset(tmp_path / "f.h5", engine=CoquinaBackend, group=group) as ours:
            assert ours["x"].values.tolist() == list(range(5))


def test_scales_of_h5py_are_dimensions(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "f.h5", "w") as f:
        f["x"], f["v"], f["g/w"] = np.arange(4.0), np.zeros((3, 4)), np.zeros((4, 3))
        f["y"] = np.arange(3)
        for name in ("x", "y"):
            f[name].make_scale(name)
        for axis, name in enumerate(["y", "x"]):
            f["v"].dims[axis].attach_scale(f[name])
            f["g/w"].dims[1 - axis].attach_scale(f[name])
    with same(tmp_path / "f.h5") as ours:
        assert ours["v"].dims == ("y", "x")
    with same(tmp_path / "f.h5", group="g") as ours:
        assert ours["w"].dims == ("x", "y")


def test_enumerations_keep_their_names_and_compounds_their_fields(tmp_path: Path) -> None:
    with netCDF4.Dataset(tmp_path / "f.nc", "w") as file:
        file.createDimension("x", 4)
        kind = file.createEnumType("i1", "colour", {"red": 0, "green": 1})
        file.createVariable("e", kind, ("x",))[:] = [0, 1, 1, 0]
        pair = file.createCompoundType(np.dtype([("p", "f8"), ("q", "i4")]), "pair")
        file.createVariable("c", pair, ("x",))[:] = np.ones(4, pair.dtype)
    with xr.open_dataset(tmp_path / "f.nc", engine=CoquinaBackend) as ours:
        assert ours["e"].values.tolist() == [0, 1, 1, 0]
        assert ours["e"].encoding["dtype"].metadata == {"enum": {"red": 0, "green": 1}, "enum_name": "colour"}
        assert ours["c"].values["q"].tolist() == [1, 1, 1, 1]


def test_items_of_variable_length_are_left_out_with_a_warning(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "f.h5", "w") as f:
        f.create_dataset("ragged", (2,), h5py.vlen_dtype("i4"))
        f["x"] = np.arange(3)
    with pytest.warns(UserWarning, match="ragged"):
        ours = xr.open_dataset(tmp_path / "f.h5", engine=CoquinaBackend)
    assert list(ours.variables) == ["x"]
    ours.close()
