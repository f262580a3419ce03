"""What `test_plugin.py` does in a process of its own: `python -m tests.hdf5.plugin_worker TASK PATH`."""

import ctypes
import sys
import threading
from pathlib import Path

import numpy as np

BLOSC, LZ4, BITSHUFFLE, ZSTD, BLOSC2 = 32001, 32004, 32008, 32015, 32026

FILTERS = {
    "lz4": (LZ4, ()),
    "lz4-blocks": (LZ4, (1000,)),
    "zstd": (ZSTD, (7,)),
    "bitshuffle": (BITSHUFFLE, (0, 0)),
    "bitshuffle-lz4": (BITSHUFFLE, (0, 2)),
    "bitshuffle-zstd": (BITSHUFFLE, (1024, 3, 5)),
    "blosc-short": (BLOSC, (0, 0, 0, 0)),
    "blosc-blosclz": (BLOSC, (0, 0, 0, 0, 9, 1, 0)),
    "blosc-lz4": (BLOSC, (0, 0, 0, 0, 5, 2, 1)),
    "blosc-zlib": (BLOSC, (0, 0, 0, 0, 1, 0, 4)),
    "blosc-zstd": (BLOSC, (0, 0, 0, 0, 3, 1, 5)),
    "blosc2-blosclz": (BLOSC2, (0, 0, 0, 0, 5, 1, 0)),
    "blosc2-lz4": (BLOSC2, (0, 0, 0, 0, 9, 2, 1)),
    "blosc2-zlib": (BLOSC2, (0, 0, 0, 0, 1, 0, 4)),
    "blosc2-zstd": (BLOSC2, (0, 0, 0, 0, 5, 1, 5)),
}
ROW = np.dtype([("a", "<i4"), ("b", "<f8"), ("c", "S3")])


def arrays():
    """Return arrays with the shapes of their chunks; the same in every process."""
    random = np.random.default_rng(5)
    rows = np.zeros(1000, ROW)
    rows["a"], rows["b"], rows["c"] = np.arange(1000), random.normal(size=1000), b"xyz"
    vectors = np.zeros((50, 3, 2), "<f4") + np.arange(50, dtype="f4")[:, None, None]
    return {
        "line": (np.arange(5000, dtype="<f8"), (700,)),
        "swapped": (np.arange(5000, dtype=">i4"), (700,)),
        "plane": (np.arange(3000, dtype="<f4").reshape(60, 50), (17, 23)),
        "cube": (np.arange(990, dtype="<i2").reshape(9, 10, 11), (4, 5, 6)),
        "rows": (rows, (300,)),
        "vectors": (vectors, (20,)),
        "wide": (np.arange(100).astype("S300"), (30,)),
        "noise": (random.integers(0, 256, 10_000).astype("u1"), (4096,)),
        "zeros": (np.zeros((100, 100)), (50, 50)),
        "tiny": (np.arange(3, dtype="<u2"), (3,)),
        "big": (np.cumsum(random.integers(0, 9, 400_000)).astype("<i8"), (300_000,)),
    }


def ours_is_loaded():
    return "coquina_h5plugin" in Path("/proc/self/maps").read_text()


def create(file, name, array, chunks, number, values, **more):
    dtype, shape = array.dtype, array.shape
    if name.endswith("vectors"):
        dtype, shape = np.dtype((array.dtype, array.shape[1:])), array.shape[:1]
    opts = {"compression": number, "compression_opts": values, "chunks": chunks}
    dataset = file.create_dataset(name, shape, dtype, **opts, **more)
    dataset[...] = array
    return dataset


def masks(dataset):
    """Return the different filter masks of the chunks."""
    return {dataset.id.get_chunk_info(number).filter_mask for number in range(dataset.id.get_num_chunks())}


def write(path):
    """Write every array with every filter, and with a checksum before or behind it."""
    import h5py

    with h5py.File(path, "w") as file:
        for filter_name, (number, values) in FILTERS.items():
            for name, (array, chunks) in arrays().items():
                create(file, f"{filter_name}/{name}", array, chunks, number, values)
            line, chunks = arrays()["line"]
            create(file, f"{filter_name}/summed/line", line, chunks, number, values, fletcher32=True)
            create(file, f"{filter_name}/shuffled/line", line, chunks, number, values, shuffle=True)


def read(path):
    """Check every array."""
    import h5py

    with h5py.File(path) as file:
        for filter_name in FILTERS:
            for name, (array, _) in arrays().items():
                stored = file[f"{filter_name}/{name}"][...]
                np.testing.assert_array_equal(stored, array, f"{filter_name}/{name}")
            for kind in ["summed", "shuffled"]:
                np.testing.assert_array_equal(file[f"{filter_name}/{kind}/line"][...], arrays()["line"][0])


def rewrite(path):
    """Write to datasets that a process without plugins made, with the parameters that it gave."""
    import h5py

    # libhdf5 looks for plugins when it makes or reads a dataset; without this it would write plain chunks.
    assert all(h5py.h5z.filter_avail(number) for number in [BLOSC, LZ4, BITSHUFFLE, ZSTD, BLOSC2])
    with h5py.File(path, "r+") as file:
        for dataset in file.values():
            dataset[...] = np.arange(dataset.size).reshape(dataset.shape)
    with h5py.File(path) as file:
        for name, dataset in file.items():
            assert masks(dataset) == {0}, name
            np.testing.assert_array_equal(dataset, np.arange(dataset.size).reshape(dataset.shape))


def bare(path):
    """Make datasets where no plugin is found: nobody completes their parameters."""
    import h5py

    cases = {
        "none": (BLOSC2, ()),
        "four": (BLOSC2, (1, 0, 8, 80_000)),
        "seven": (BLOSC2, (1, 0, 8, 80_000, 9, 2, 5)),
        "blosc-none": (BLOSC, ()),
        "blosc-four": (BLOSC, (2, 2, 8, 80_000)),
        "lz4": (LZ4, ()),
        "zstd": (ZSTD, ()),
        "bitshuffle": (BITSHUFFLE, (0, 4, 8)),
    }
    assert not any(h5py.h5z.filter_avail(number) for number, _ in cases.values())
    with h5py.File(path, "w") as file:
        for name, (number, values) in cases.items():
            plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
            plist.set_chunk((100, 100))
            plist.set_filter(number, h5py.h5z.FLAG_OPTIONAL, values)
            space = h5py.h5s.create_simple((150, 150))
            h5py.h5d.create(file.id, name.encode(), h5py.h5t.NATIVE_INT64, space, dcpl=plist)


def damage(path):
    """Read chunks of damaged and of random bytes: an error or values, and the process lives on."""
    import h5py

    random = np.random.default_rng(11)
    failed = 0
    with h5py.File(path, "w") as file:
        for filter_name, (number, values) in FILTERS.items():
            for name in ["line", "plane", "noise"]:
                array, chunks = arrays()[name]
                dataset = create(file, f"{filter_name}/{name}", array, chunks, number, values)
                file.flush()
                start = (0,) * array.ndim
                box = tuple(slice(0, size) for size in chunks)
                mask, stored = dataset.id.read_direct_chunk(start)
                chunks_bytes = array.itemsize * int(np.prod(chunks))
                for trial in range(30):
                    bad = bytearray(stored)
                    if trial < 15:
                        for place in random.integers(0, len(bad), 1 + trial // 5):
                            bad[place] ^= 1 << int(random.integers(8))
                    elif trial < 25:
                        del bad[int(random.integers(1, len(bad))) :]
                    else:
                        bad = random.bytes(int(random.integers(1, chunks_bytes)))
                    dataset.id.write_direct_chunk(start, bytes(bad), mask)
                    try:
                        dataset[box]
                    except OSError:
                        failed += 1
                dataset.id.write_direct_chunk(start, stored, mask)
                np.testing.assert_array_equal(dataset[...], array)
    assert failed > 300, failed


def threads(path):
    """Use the filters from four threads, each with a file of its own."""
    import h5py

    errors = []

    def work(number):
        try:
            array = np.arange(200_000) + number
            for filter_name, (identity, values) in FILTERS.items():
                with h5py.File(f"{path}-{number}", "w") as file:
                    create(file, filter_name, array, (40_000,), identity, values)
                with h5py.File(f"{path}-{number}") as file:
                    np.testing.assert_array_equal(file[filter_name][...], array)
        except BaseException as error:
            errors.append(error)

    workers = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert not errors, errors


def pytables(path):
    """Read through PyTables and h5py, each with a libhdf5 of its own, in turns."""
    import h5py
    import tables

    assert tables.hdf5_version != h5py.version.hdf5_version
    with h5py.File(path) as file, tables.open_file(path) as other:
        for filter_name in FILTERS:
            for name in ["line", "plane", "cube", "noise", "big"]:
                array = arrays()[name][0]
                np.testing.assert_array_equal(file[f"{filter_name}/{name}"][...], array)
                np.testing.assert_array_equal(other.get_node(f"/{filter_name}/{name}")[...], array)
    for lib in ["blosc2:zstd", "blosc2:lz4", "blosc2", "blosc:lz4", "blosc:zlib"]:
        for name in ["line", "plane", "cube", "rows", "big"]:
            array, chunks = arrays()[name]
            with tables.open_file(f"{path}-tables", "w", filters=tables.Filters(5, lib)) as other:
                if name == "rows":
                    other.create_table("/", "x", array)
                else:
                    other.create_carray("/", "x", obj=array, chunkshape=chunks)
            with h5py.File(f"{path}-tables") as file:
                np.testing.assert_array_equal(file["x"][...], array, f"{lib} {name}")


def netcdf(path):
    """Write through netCDF4, with its own libhdf5, and h5py in one process; each reads the other's."""
    import h5py
    import netCDF4

    plane, chunks = arrays()["plane"]
    kinds = {"zstd": ZSTD, "blosc_lz4": BLOSC, "blosc_zstd": BLOSC, "blosc_zlib": BLOSC}
    with netCDF4.Dataset(path, "w") as file, h5py.File(f"{path}-h5py", "w") as other:
        file.createDimension("y", 60)
        file.createDimension("x", 50)
        for kind, number in kinds.items():
            for is_summed in [False, True]:
                name = f"{kind}-{is_summed}"
                variable = file.createVariable(
                    name, "f4", ("y", "x"), compression=kind, fletcher32=is_summed, chunksizes=chunks
                )
                variable[...] = plane
            values = () if number == ZSTD else (0, 0, 0, 0, 5, 1, 1)
            create(other, kind, plane, chunks, number, values)
            create(other, f"{kind}-2", plane, chunks, BLOSC2, FILTERS["blosc2-lz4"][1])
    with h5py.File(path) as file, netCDF4.Dataset(f"{path}-h5py") as other:
        for kind, number in kinds.items():
            for is_summed in [False, True]:
                dataset = file[f"{kind}-{is_summed}"]
                plist = dataset.id.get_create_plist()
                filters = [plist.get_filter(n) for n in range(plist.get_nfilters())]
                values = next(f[2] for f in filters if f[0] == number)
                assert number == ZSTD or values[2:4] == (4, 4 * 17 * 23), values
                np.testing.assert_array_equal(dataset[...], plane)
            for name in [kind, f"{kind}-2"]:
                np.testing.assert_array_equal(other[name][...], plane)


def facts(path):
    """Print a line for each dataset: name, filters with their parameters, masks of its chunks."""
    import h5py

    def show(name, dataset):
        if isinstance(dataset, h5py.Dataset):
            plist = dataset.id.get_create_plist()
            filters = [plist.get_filter(n)[::2] for n in range(plist.get_nfilters())]
            print(name, filters, sorted(masks(dataset)), sep="|")

    with h5py.File(path) as file:
        file.visititems(show)


def c_border(path):
    """Call the plugin's functions as C would, from code that belongs to no libhdf5."""
    library = ctypes.CDLL(path)
    library.coquina_h5_filter.restype = ctypes.c_void_p
    library.H5PLget_plugin_info.restype = ctypes.c_void_p
    assert library.H5PLget_plugin_type() == 0
    assert library.H5PLget_plugin_info() == library.coquina_h5_filter(BLOSC2)
    assert library.coquina_h5_filter(4) is None
    set_local_type = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int64, ctypes.c_int64, ctypes.c_int64)
    for number in [BLOSC, BLOSC2, BITSHUFFLE]:
        # Version, id, encoder, decoder, name, can_apply, set_local, filter.
        fields = (ctypes.c_int * 4).from_address(library.coquina_h5_filter(number))
        assert list(fields) == [1, number, 1, 1]
        set_local = ctypes.c_void_p.from_address(library.coquina_h5_filter(number) + 32).value
        assert set_local_type(set_local)(1, 2, 3) == 0


def copied(path):
    """Make datasets from the creation properties of others: the parameters follow the new shape and type."""
    import h5py

    with h5py.File(path, "w") as file:
        for name, (number, values) in FILTERS.items():
            plist = create(file, name, np.arange(400.0), (100,), number, values).id.get_create_plist()
            for shape in [(100,), (20, 30), (5, 6, 7), (64,)]:
                plist.set_chunk(shape)
                label, space = f"{name}-{shape}", h5py.h5s.create_simple(shape)
                made = h5py.h5d.create(file.id, label.encode(), h5py.h5t.NATIVE_INT32, space, dcpl=plist)
                plist = made.get_create_plist()
                array = np.arange(np.prod(shape), dtype="i4").reshape(shape)
                file[label][...] = array
                fresh = create(file, f"{label}-fresh", array, shape, number, values)
                want = fresh.id.get_create_plist().get_filter(0)[2]
                got = plist.get_filter(0)[2]
                # Blosc2 with a shape notes its choices too, which then stay.
                assert got[: len(want)] == want, (name, shape)


if __name__ == "__main__":
    if "--peer" in sys.argv:
        import hdf5plugin  # noqa: F401
    globals()[sys.argv[1]](sys.argv[2])
    if "--ours" in sys.argv:
        assert ours_is_loaded()
        assert "hdf5plugin" not in sys.modules
    if "--peer" in sys.argv:
        assert not ours_is_loaded()
