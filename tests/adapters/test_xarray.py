"""The engine "coquina" of xarray: datasets are those of its engine "netcdf4", slices those of NumPy."""

from __future__ import annotations

import io
import pickle
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import coquina as cq

xr = pytest.importorskip("xarray")
netCDF4 = pytest.importorskip("netCDF4")

from coquina.adapters.xarray_backend import CoquinaBackend  # noqa: E402
from tests.adapters.xarray_cases import same  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore:numpy.ndarray size changed")


DTYPES = ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8", "S1", str]
names = st.sampled_from(["x", "y", "time", "level", "n"])


@st.composite
def variables(draw: st.DrawFn) -> dict[str, Any]:
    dtype = draw(st.sampled_from(DTYPES))
    is_number = dtype not in ("S1", str)
    return {
        "name": draw(st.sampled_from(["x", "y", "time", "level", "a", "b", "c", "d"])),
        "dtype": dtype,
        "dims": draw(st.lists(names, max_size=3, unique=True)),
        "fill": draw(st.booleans()) and is_number,
        "packed": draw(st.booleans()) and dtype in ("i2", "i4", "u1"),
        "zlib": draw(st.booleans()) and is_number,
        "units": draw(st.sampled_from([None, "m", "days since 2000-01-01", "hours"])) if is_number else None,
        "endian": draw(st.sampled_from(["native", "big", "little"])) if is_number else "native",
        "rows": draw(st.integers(0, 5)),
        "seed": draw(st.integers(0, 99)),
    }


def _write(group: Any, dims: dict[str, int | None], given: list[dict[str, Any]]) -> None:
    for name, length in dims.items():
        group.createDimension(name, length)
    for one in given:
        if one["name"] in group.variables or any(len_of(group, name) is None for name in one["dims"]):
            continue
        dtype = np.dtype(one["dtype"]) if one["dtype"] is not str else str
        if one["endian"] != "native":
            dtype = dtype.newbyteorder({"big": ">", "little": "<"}[one["endian"]])
        made = group.createVariable(
            one["name"],
            dtype,
            # Of one that grows along another axis than its first, and is shorter than the others that do,
            # the NetCDF library puts items in the wrong places.
            sorted(one["dims"], key=lambda name: not len_of(group, name).isunlimited()),
            zlib=one["zlib"],
            fill_value=3 if one["fill"] else None,
            endian=one["endian"],
        )
        made.set_auto_maskandscale(False)
        _fill(made, one)


def len_of(group: Any, name: str) -> Any:
    while group is not None:
        if name in group.dimensions:
            return group.dimensions[name]
        group = group.parent
    return None


def _fill(made: Any, one: dict[str, Any]) -> None:
    group = made.group()
    shape = [
        one["rows"] if (dim := len_of(group, name)).isunlimited() else len(dim) for name in made.dimensions
    ]
    rng = np.random.default_rng(one["seed"])
    values: Any = rng.integers(0, 90, shape)
    if one["dtype"] is str:
        values = np.asarray(np.array(["", "é", "abc"], object)[values % 3], object)
    elif one["dtype"] == "S1":
        values = np.asarray(np.array([b"a", b"b", b""], "S1")[values % 3])
    if values.shape == ():
        made[...] = values
    elif values.size:
        made[tuple([slice(0, length) for length in shape])] = values
    if one["packed"]:
        made.scale_factor, made.add_offset = 0.5, 10.0
    if one["units"] is not None:
        made.units = one["units"]


# Only one grows: of variables with two the NetCDF library gives zeros for some items that are not stored.
lengths = st.integers(1, 4)
dimensions = st.fixed_dictionaries(
    {}, optional={**dict.fromkeys(["x", "y", "level", "n"], lengths), "time": st.one_of(st.none(), lengths)}
)


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    outer=dimensions,
    inner=dimensions,
    first=st.lists(variables(), max_size=5),
    second=st.lists(variables(), max_size=3),
)
def test_datasets_are_those_of_the_netcdf_library(
    outer: Any, inner: Any, first: Any, second: Any, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("nc") / "f.nc"
    with netCDF4.Dataset(path, "w") as file:
        file.title, file.numbers, file.words = "a title", np.arange(3), ["a", "é"]
        file.number, file.nothing = 5, ""
        _write(file, outer, first)
        group = file.createGroup("g")
        group.setncattr_string("note", "in a group")
        _write(group, inner, second)
        _write(group.createGroup("deep"), {}, second[:1])
    for options in ({"decode_times": False}, {"decode_cf": False}):
        for inside in (None, "g", "/g/deep"):
            try:
                xr.open_dataset(path, engine="netcdf4", group=inside, **options).close()
            except ValueError as error:
                # xarray knows no variable without axes that is called as a dimension.
                with pytest.raises(ValueError, match=re.escape(str(error)[:40])):
                    xr.open_dataset(path, engine=CoquinaBackend, group=inside, **options)
                continue
            same(path, group=inside, **options).close()


def _made(path: Path) -> Any:
    """Return a dataset as users have them, which was written by xarray."""
    rng = np.random.default_rng(0)
    times = np.datetime64("2024-01-01", "ns") + np.arange(40) * np.timedelta64(6, "h")
    made = xr.Dataset(
        {
            "temperature": (("time", "lat", "lon"), rng.normal(size=(40, 18, 36)).astype("f4")),
            "packed": (("time", "lat"), rng.normal(size=(40, 18)), {"units": "K", "long_name": "Größe"}),
            "station": (("lat",), [f"station {k} é" for k in range(18)]),
            "flag": (("lat", "lon"), rng.random((18, 36)) < 0.5),
            "took": (("time",), np.arange(40) * np.timedelta64(1, "s").astype("m8[ns]")),
            "scalar": ((), 7),
        },
        {
            "time": times,
            "lat": np.linspace(-85, 85, 18),
            "lon": np.arange(36) * 10.0,
            "area": (("lat", "lon"), rng.random((18, 36))),
        },
        {"title": "made for a test", "list": [1, 2, 3], "empty": ""},
    )
    made["packed"][3, 4] = np.nan
    encoding = {
        "temperature": {"zlib": True, "chunksizes": (10, 9, 18)},
        "packed": {"dtype": "i2", "scale_factor": 0.01, "add_offset": 1.0, "_FillValue": -999},
        "station": {"dtype": "S1"},
    }
    made.to_netcdf(path, engine="netcdf4", encoding=encoding, unlimited_dims=["time"])
    return made


@pytest.fixture(scope="module")
def climate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("nc") / "climate.nc"
    _made(path)
    return path


def test_a_dataset_of_xarray_comes_back(climate: Path) -> None:
    with same(climate, decode_timedelta=True) as ours:
        assert set(ours.coords) == {"time", "lat", "lon", "area"}
        assert ours["temperature"].encoding["preferred_chunks"] == {"time": 10, "lat": 9, "lon": 18}
        assert ours["flag"].dtype == bool
        assert "temperature" not in repr(ours.drop_vars("temperature"))
    same(climate, drop_variables=["packed", "flag"], decode_timedelta=False, decode_coords="all").close()


indices = st.one_of(
    st.integers(-18, 17),
    st.builds(slice, st.integers(-18, 18), st.integers(-18, 18), st.sampled_from([None, 1, 3, -1, -2])),
    st.lists(st.integers(-18, 17), min_size=1, max_size=5),
)


@pytest.fixture(scope="module", params=["nc", "b2nd"])
def lazy(request: Any, climate: Path, tmp_path_factory: pytest.TempPathFactory) -> Any:
    values = xr.open_dataset(climate, engine="netcdf4", decode_timedelta=False)["temperature"].values
    path = climate
    if request.param == "b2nd":
        path = tmp_path_factory.mktemp("b2nd") / "temperature.b2nd"
        with cq.asarray(values, path=path, chunks=(16, 18, 36), blocks=(4, 6, 12)) as a:
            a.attrs["_ARRAY_DIMENSIONS"] = ["time", "lat", "lon"]
    with xr.open_dataset(path, engine=CoquinaBackend, cache=False, decode_timedelta=False) as found:
        yield found["temperature"].variable, xr.Variable(("time", "lat", "lon"), values)


@settings(max_examples=80, deadline=None)
@given(keys=st.fixed_dictionaries({}, optional=dict.fromkeys(["time", "lat", "lon"], indices)))
def test_slices_and_lists_give_what_numpy_gives(lazy: Any, keys: Any) -> None:
    ours, theirs = lazy
    assert ours.isel(keys).equals(theirs.isel(keys))


@settings(max_examples=40, deadline=None)
@given(data=st.data(), names=st.lists(st.sampled_from(["time", "lat", "lon"]), min_size=2, unique=True))
def test_points_give_what_numpy_gives(lazy: Any, data: Any, names: list[str]) -> None:
    ours, theirs = lazy
    shape = data.draw(st.sampled_from([(1,), (4,), (2, 3)]))
    axes = ("point", "other")[: len(shape)]
    keys = {
        name: xr.Variable(
            axes, data.draw(st.lists(st.integers(0, 17), min_size=6, max_size=6))[: int(np.prod(shape))]
        )
        if len(shape) == 1
        else xr.Variable(
            axes, np.array(data.draw(st.lists(st.integers(0, 17), min_size=6, max_size=6))).reshape(shape)
        )
        for name in names
    }
    assert ours.isel(keys).equals(theirs.isel(keys))


def test_labels_select_what_they_name(climate: Path) -> None:
    options = {"decode_timedelta": False}
    with (
        xr.open_dataset(climate, engine=CoquinaBackend, **options) as ours,
        xr.open_dataset(climate, engine="netcdf4", **options) as theirs,
    ):
        for key in ({"lat": slice(-40, 40), "lon": [0, 350]}, {"time": "2024-01-03", "lat": 25}):
            wanted = theirs.sel(**key, method=None if "time" in key or "lon" in key else "nearest")
            assert ours.sel(**key).identical(wanted)
        assert ours.mean("time").equals(theirs.mean("time"))


def test_chunks_of_dask_are_whole_stored_ones_in_other_processes_too(climate: Path) -> None:
    dask = pytest.importorskip("dask")
    with xr.open_dataset(climate, engine=CoquinaBackend, chunks={}, decode_timedelta=False) as ours:
        assert ours["temperature"].chunks == ((10,) * 4, (9, 9), (18, 18))
        found = ours["temperature"].sum(("lat", "lon"))
        with dask.config.set(scheduler="processes", num_workers=1):
            elsewhere = found.compute()
        assert elsewhere.equals(found.compute(scheduler="threads"))


@pytest.mark.parametrize("suffix", ["nc", "b2nd"])
def test_datasets_can_be_pickled(climate: Path, tmp_path: Path, suffix: str) -> None:
    path = climate
    if suffix == "b2nd":
        cq.asarray(np.arange(10.0), path=(path := tmp_path / "a.b2nd")).close()
    with xr.open_dataset(path, engine=CoquinaBackend, decode_timedelta=False) as ours:
        again = pickle.loads(pickle.dumps(ours))
        assert again.identical(ours.load())
        again.close()


@pytest.mark.parametrize("suffix", ["nc", "b2nd"])
def test_threads_read_on_while_xarray_closes_files_to_open_others(tmp_path: Path, suffix: str) -> None:
    opened: list[Any] = []
    for number in range(3):
        path = tmp_path / f"{number}.{suffix}"
        if suffix == "b2nd":
            cq.asarray(np.full(4000, number), path=path, chunks=500).close()
        else:
            with netCDF4.Dataset(path, "w") as file:
                file.createDimension("x", 4000)
                file.createVariable("v", "i4", ("x",), zlib=True, chunksizes=(500,))[:] = number
        opened.append(xr.open_dataset(path, engine=CoquinaBackend, cache=False))

    def is_right(turn: int) -> bool:
        variable = next(iter(opened[turn % 3].data_vars.values()))
        return bool((variable[turn : turn + 1000].values == turn % 3).all())

    with xr.set_options(file_cache_maxsize=1), ThreadPoolExecutor(6) as pool:
        assert all(pool.map(is_right, range(300)))
    for dataset in opened:
        dataset.close()


def test_what_was_opened_from_bytes_is_closed_for_good(climate: Path) -> None:
    ours = xr.open_dataset(climate.read_bytes(), engine=CoquinaBackend, cache=False)
    ours.close()
    with pytest.raises(ValueError, match="was closed"):
        ours["temperature"].values  # noqa: B018


def test_a_frame_is_a_dataset_of_one_variable(tmp_path: Path) -> None:
    values = np.arange(24, dtype="i2").reshape(4, 6)
    path = tmp_path / "wind.speed.b2nd"
    with cq.asarray(values, path=path, chunks=(2, 6)) as a:
        a.attrs.update(units="m/s", scale_factor=0.5, _FillValue=3, _ARRAY_DIMENSIONS=["y", "x"])
    with xr.open_dataset(path, engine=CoquinaBackend) as ours:
        wanted = np.where(values == 3, np.nan, values * 0.5)
        assert ours["wind.speed"].equals(xr.DataArray(wanted, dims=("y", "x")))
        assert ours["wind.speed"].attrs == {"units": "m/s"}
        assert ours["wind.speed"].encoding["preferred_chunks"] == {"y": 2, "x": 6}
    with cq.open(path, "a") as a:
        a.attrs["_ARRAY_DIMENSIONS"] = ["y"]
    with pytest.raises(ValueError, match="2 axes"):
        xr.open_dataset(path, engine=CoquinaBackend)
    with cq.open(path, "a") as a:
        del a.attrs["_ARRAY_DIMENSIONS"]
    with xr.open_dataset(path, engine=CoquinaBackend, mask_and_scale=False) as ours:
        assert ours["wind.speed"].dims == ("dim_0", "dim_1")
        assert np.array_equal(ours["wind.speed"], values)


class Counted(io.BytesIO):
    """A file in memory that counts what is read."""

    nread = 0

    def read(self, size: int | None = -1, /) -> bytes:
        found = super().read(size)
        self.nread += len(found)
        return found


def test_nothing_is_read_before_it_is_asked_for_and_then_only_its_blocks() -> None:
    values = np.random.default_rng(0).integers(0, 1 << 62, (200, 200))
    file = Counted(cq.asarray(values, chunks=(200, 200), blocks=(20, 20)).to_bytes())
    ours = xr.open_dataset(file, engine=CoquinaBackend, cache=False)
    assert file.nread < 10_000
    before = file.nread
    assert np.array_equal(ours["array"][30:35, 7], values[30:35, 7])
    assert file.nread - before < values.nbytes / 20
    before = file.nread
    points = xr.Variable("p", [0, 199]), xr.Variable("p", [199, 0])
    assert np.array_equal(ours["array"].isel(dim_0=points[0], dim_1=points[1]), values[[0, 199], [199, 0]])
    assert file.nread - before < values.nbytes / 20


@pytest.mark.parametrize("source", ["bytes", "file"])
def test_bytes_and_file_objects_are_opened(climate: Path, source: str) -> None:
    content: Any = climate.read_bytes()
    with (
        xr.open_dataset(
            io.BytesIO(content) if source == "file" else content,
            engine=CoquinaBackend,
            decode_timedelta=False,
        ) as ours,
        xr.open_dataset(climate, engine="netcdf4", decode_timedelta=False) as theirs,
    ):
        assert ours.identical(theirs)


@pytest.mark.parametrize("suffix", ["nc", "b2nd"])
def test_urls_are_opened_also_from_a_pickle(climate: Path, suffix: str) -> None:
    fsspec = pytest.importorskip("fsspec")
    content = climate.read_bytes() if suffix == "nc" else cq.asarray(np.arange(1000)).to_bytes()
    fsspec.filesystem("memory").pipe(f"/tests/far.{suffix}", content)
    options = {"engine": CoquinaBackend, "decode_timedelta": False}
    with (
        xr.open_dataset(f"memory://tests/far.{suffix}", **options) as ours,
        xr.open_dataset(io.BytesIO(content), **options) as near,
    ):
        wanted = near.rename(array="far") if suffix == "b2nd" else near
        again = pickle.loads(pickle.dumps(ours))
        assert again.identical(wanted)
        assert ours.identical(wanted)
        again.close()


def test_trees_have_all_groups(climate: Path, tmp_path: Path) -> None:
    with netCDF4.Dataset(tmp_path / "f.nc", "w") as file:
        _write(file, {"x": 3}, [_plain("x", ["x"]), _plain("a", ["x"])])
        _write(file.createGroup("g"), {"y": 2}, [_plain("b", ["x", "y"])])
        _write(file["g"].createGroup("h"), {}, [_plain("c", ["y"])])
    with (
        xr.open_datatree(tmp_path / "f.nc", engine=CoquinaBackend) as ours,
        xr.open_datatree(tmp_path / "f.nc", engine="netcdf4") as theirs,
    ):
        xr.testing.assert_identical(ours, theirs)
    ours = xr.open_groups(tmp_path / "f.nc", engine=CoquinaBackend, group="g")
    theirs = xr.open_groups(tmp_path / "f.nc", engine="netcdf4", group="g")
    assert list(ours) == list(theirs)
    for path, dataset in theirs.items():
        xr.testing.assert_identical(ours[path], dataset)
        dataset.close()
        ours[path].close()


def _plain(name: str, dims: list[str]) -> dict[str, Any]:
    return {"name": name, "dtype": "f8", "dims": dims, "fill": False, "packed": False, "zlib": False} | {
        "units": None,
        "endian": "native",
        "rows": 2,
        "seed": 1,
    }


def test_only_frames_are_taken_without_being_asked(tmp_path: Path) -> None:
    guess = CoquinaBackend().guess_can_open
    assert guess("a/b.b2nd")
    assert guess(tmp_path / "x.B2ND")
    assert not any(map(guess, ["a.nc", "a.h5", "a.zarr", tmp_path / "x.nc4", b"b2nd", io.BytesIO()]))


def test_what_is_not_there_is_an_error(climate: Path, tmp_path: Path) -> None:
    for path, group in [(climate, "nowhere"), (climate, "temperature")]:
        with pytest.raises(KeyError, match="group"):
            xr.open_dataset(path, engine=CoquinaBackend, group=group)
    with pytest.raises(FileNotFoundError):
        xr.open_dataset(tmp_path / "none.nc", engine=CoquinaBackend)
    cq.pack(np.arange(5), tmp_path / "x.blp")
    with pytest.raises(TypeError, match="PackFile"):
        xr.open_dataset(tmp_path / "x.blp", engine=CoquinaBackend)


def test_what_is_no_dataset_says_what_makes_one(tmp_path):
    with cq.open(tmp_path / "run.b2z", "w") as store:
        store.create_dataset("x", data=[1, 2])
    cq.create_table(tmp_path / "folder", {"x": [1, 2]}).close()
    for name, meant in (("run.b2z", "coquina convert run.b2z run.nc"), ("folder", "to_pandas().to_xarray()")):
        with pytest.raises(TypeError, match=re.escape(meant)):
            xr.open_dataset(tmp_path / name, engine="coquina")
