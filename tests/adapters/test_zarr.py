"""The codec of Zarr 3: values are those of NumPy, parts are read in part, damage is an error."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import coquina as cq

zarr = pytest.importorskip("zarr", "3.0")
from zarr.storage import LocalStore, MemoryStore, WrapperStore  # noqa: E402

from coquina.adapters.zarr_codec import NAME, Blosc2Codec  # noqa: E402

DTYPES = [
    *("?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16"),
    *(">i2", ">f8", ">c8", "M8[s]", "M8[ns]", "m8[ms]", "S3", "U4", ">U2", "V5"),
    [("a", "i4"), ("b", "f8")],
]


def _made(store: Any, shape: Any, dtype: Any, chunks: Any, codec: Any = None, **options: Any) -> Any:
    return zarr.create_array(
        store,
        shape=shape,
        dtype=dtype,
        chunks=chunks,
        serializer=codec or Blosc2Codec(),
        compressors=None,
        filters=None,
        **options,
    )


def _values(shape: tuple[int, ...], dtype: Any) -> Any:
    rng = np.random.default_rng(3)
    dtype = np.dtype(dtype)
    if dtype.kind in "SU":
        return rng.choice(np.array(["", "a", "bc", "def"], dtype), shape)
    if dtype.kind == "b":
        return rng.random(shape) < 0.5
    if dtype.kind in "Vm" or dtype.kind == "M":
        raw = rng.integers(0, 100, (*shape, dtype.itemsize), dtype=np.uint8)
        if dtype.kind in "mM":
            return rng.integers(0, 1 << 40, shape).astype(dtype)
        return raw.view(dtype).reshape(shape)
    return (rng.normal(size=shape) * 50).astype(dtype)


@pytest.mark.filterwarnings("ignore::zarr.errors.UnstableSpecificationWarning")
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_every_dtype_comes_back_through_a_folder_and_memory(dtype: Any, tmp_path: Any) -> None:
    values = _values((37, 21), dtype)
    for store in (MemoryStore(), LocalStore(str(tmp_path))):
        _made(store, values.shape, values.dtype, (10, 8))[...] = values
        found = zarr.open_array(store, mode="r")
        # Zarr 3 has no byte order in its dtypes.
        wanted = values.astype(values.dtype.newbyteorder("="))
        assert found.dtype == wanted.dtype
        assert found[...].tobytes() == wanted.tobytes()
        assert found[3:30:4, 5].tobytes() == wanted[3:30:4, 5].tobytes()


slices = st.builds(slice, st.integers(0, 40), st.integers(0, 40), st.sampled_from([None, 1, 3]))
VALUES = np.random.default_rng(0).normal(size=(40, 30, 9)).cumsum(0)


@pytest.fixture(scope="module", params=["chunks", "shards", "a folder"])
def array(request: Any, tmp_path_factory: pytest.TempPathFactory) -> Any:
    store = LocalStore(str(tmp_path_factory.mktemp("zarr"))) if request.param == "a folder" else MemoryStore()
    shards = {"shards": (28, 40, 10)} if request.param == "shards" else {}
    made = _made(store, VALUES.shape, "f8", (14, 20, 10), Blosc2Codec(blocks=(4, 5, 3)), **shards)
    made[...] = VALUES
    return zarr.open_array(store, mode="r")


@settings(max_examples=60, deadline=None)
@given(key=st.tuples(*[st.one_of(slices, st.integers(0, 8))] * 3))
def test_slices_are_those_of_numpy(array: Any, key: Any) -> None:
    assert np.array_equal(array[key], VALUES[key])


@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_points_and_masks_are_those_of_numpy(array: Any, data: st.DataObject) -> None:
    count = data.draw(st.integers(1, 6))
    lists = [data.draw(st.lists(st.integers(0, n - 1), min_size=count, max_size=count)) for n in VALUES.shape]
    assert np.array_equal(array.vindex[tuple(lists)], VALUES[tuple(lists)])
    assert np.array_equal(array.oindex[lists[0], :, lists[2]], VALUES[np.ix_(lists[0], range(30), lists[2])])
    mask = np.random.default_rng(count).random(VALUES.shape) < 0.01
    assert np.array_equal(array.vindex[mask], VALUES[mask])


def test_writes_of_parts_and_missing_chunks_keep_the_fill_value() -> None:
    wanted = np.full((50, 50), -3, "i4")
    for shards in ({}, {"shards": (32, 32)}):
        a = _made(MemoryStore(), wanted.shape, "i4", (16, 16), fill_value=-3, **shards)
        assert np.array_equal(a[...], wanted)
        assert np.array_equal(a[3:40, 7], wanted[3:40, 7])
        changed = wanted.copy()
        a[5:20, 40:] = changed[5:20, 40:] = 9
        a[49] = changed[49] = np.arange(50)
        assert np.array_equal(a[...], changed)
        assert np.array_equal(a[15:17, 38:42], changed[15:17, 38:42])


@pytest.mark.parametrize("shape", [(), (1,), (5, 1)])
def test_small_and_empty_shapes(shape: tuple[int, ...]) -> None:
    a = _made(MemoryStore(), shape, "f4", shape)
    a[...] = 2.5
    assert np.array_equal(a[...], np.full(shape, 2.5, "f4"))


class Counting(WrapperStore):
    """A store that counts what is fetched from it."""

    sizes: ClassVar[list[int]] = []

    async def get(self, key: str, prototype: Any, byte_range: Any = None) -> Any:
        found = await super().get(key, prototype, byte_range)
        if found is not None and not key.endswith(".json"):
            self.sizes.append(len(found))
        return found


def test_only_the_bytes_of_the_blocks_touched_are_fetched() -> None:
    noise = np.random.default_rng(0).integers(0, 1 << 62, (512, 512))
    store = Counting(MemoryStore())
    _made(store, noise.shape, "i8", noise.shape, Blosc2Codec(blocks=(64, 64)))[...] = noise
    a = zarr.open_array(store, mode="r")
    for key, most in [((5, 7), 0.15), (np.s_[100:110, 100:110], 0.15), (np.s_[0], 0.25)]:
        Counting.sizes.clear()
        assert np.array_equal(a[key], noise[key])
        assert 0 < sum(Counting.sizes) < most * noise.nbytes
        assert len(Counting.sizes) <= 5
    Counting.sizes.clear()
    assert np.array_equal(a[...], noise)
    assert len(Counting.sizes) == 1


def test_many_chunks_are_read_in_part_at_once_from_a_folder(tmp_path: Any) -> None:
    """Readers wait for the store's threads, of which there are fewer: nobody may wait for itself."""
    values = np.random.default_rng(0).integers(0, 1 << 62, (60, 4, 8192))
    _made(LocalStore(str(tmp_path)), values.shape, "i8", (1, 4, 8192), Blosc2Codec(blocks=(1, 1, 1024)))[
        ...
    ] = values
    a = zarr.open_array(str(tmp_path), mode="r")
    assert np.array_equal(a[:, 2, 4000:6000:7], values[:, 2, 4000:6000:7])


@pytest.mark.skipif(not hasattr(os, "fork"), reason="Systems without fork")
def test_a_process_that_was_forked_off_reads_parts_too(tmp_path: Any) -> None:
    program = (
        "import os, signal, sys, zarr\n"
        "from coquina.adapters import zarr_codec\n"
        "read = lambda: zarr.open_array(sys.argv[1], mode='r')[1, 3:5].tolist()\n"
        "found = read()\n"
        "process = os.fork()\n"
        "if not process:\n"
        "    signal.alarm(20)\n"
        "    os._exit(read() != found)\n"
        "sys.exit(os.waitpid(process, 0)[1] != 0)\n"
    )
    noise = np.random.default_rng(0).integers(0, 1 << 62, (2, 20_000))
    _made(LocalStore(str(tmp_path)), noise.shape, "i8", noise.shape)[...] = noise
    subprocess.run([sys.executable, "-c", program, str(tmp_path)], check=True)


def test_metadata_say_how_chunks_are_stored() -> None:
    codec = Blosc2Codec(codec="lz4", level=3, filters=["bitshuffle", ("trunc_prec", 20)], blocks=(4, 4))
    store = MemoryStore()
    _made(store, (16, 16), "f4", (8, 8), codec)[...] = 1
    stored = json.loads(asyncio.run(_fetch(store, "zarr.json")))["codecs"]
    assert stored == [
        {
            "name": "coquina.blosc2",
            "configuration": {
                "codec": "lz4",
                "level": 3,
                "filters": ["bitshuffle", ["trunc_prec", 20]],
                "blocks": [4, 4],
            },
        }
    ]
    assert Blosc2Codec.from_dict(json.loads(json.dumps(codec.to_dict()))) == codec
    assert Blosc2Codec.from_dict({"name": NAME}) == Blosc2Codec()


async def _fetch(store: Any, key: str) -> bytes:
    found = await store.get(key, zarr.core.buffer.default_buffer_prototype())
    return found.to_bytes()


async def _put(store: Any, key: str, content: bytes) -> None:
    await store.set(key, zarr.core.buffer.default_buffer_prototype().buffer.from_bytes(content))


def test_a_codec_may_have_a_parameter() -> None:
    codec = Blosc2Codec(codec=("zfp_accuracy", -3), filters=())
    assert Blosc2Codec.from_dict(json.loads(json.dumps(codec.to_dict()))) == codec
    values = np.add.outer(np.sin(np.arange(60) / 9), np.arange(40) / 7)
    array = _made(MemoryStore(), values.shape, "f8", (30, 20), codec)
    array[...] = values
    assert 0 < np.abs(array[...] - values).max() <= 1e-3


def test_a_codec_may_choose_for_each_chunk() -> None:
    codec = Blosc2Codec(codec="auto", goal="size", for_="read", blocks=(8, 8))
    assert codec.to_dict()["configuration"] == {
        "codec": "auto",
        "goal": "size",
        "for_": "read",
        "blocks": [8, 8],
    }
    assert Blosc2Codec.from_dict(json.loads(json.dumps(codec.to_dict()))) == codec
    store = MemoryStore()
    values = np.where(np.arange(32)[:, None] < 16, 0, np.add.outer(np.arange(32), np.arange(16)))
    array = _made(store, values.shape, "i8", (16, 16), codec, fill_value=-1)
    array[...] = values
    assert np.array_equal(array[...], values)
    chunks = [cq.from_bytes(asyncio.run(_fetch(store, f"c/{at}/0"))) for at in range(2)]
    assert [str(one.tuning) for one in chunks] == ["size, to read"] * 2
    assert chunks[0].encodings() == {"special": 1} != chunks[1].encodings()
    for options in ({"goal": "size"}, {"codec": "auto", "goal": "best"}, {"codec": "auto", "level": 9}):
        with pytest.raises(ValueError, match=r"auto|best"):
            Blosc2Codec(**options)
    with pytest.raises(TypeError, match="unexpected keyword argument 'gaol'"):
        Blosc2Codec(gaol=1)  # pyright: ignore[reportCallIssue]


def test_a_chunk_is_a_frame_that_others_read() -> None:
    import blosc2

    values = np.arange(300.0).reshape(15, 20)
    store = MemoryStore()
    _made(store, values.shape, "f8", (15, 20), Blosc2Codec(codec="zlib", level=1, blocks=(4, 8)))[...] = (
        values
    )
    content = asyncio.run(_fetch(store, "c/0/0"))
    ours, theirs = cq.from_bytes(content), blosc2.ndarray_from_cframe(content)
    assert ours.blocks == (4, 8)
    assert ours.info.codec == "zlib"
    assert np.array_equal(ours[...], values)
    assert np.array_equal(theirs[...], values)


def test_damage_is_an_error_or_does_not_matter() -> None:
    values = np.random.default_rng(0).integers(0, 50, (64, 64)).cumsum(0).astype("i4")
    store = MemoryStore()
    _made(store, values.shape, "i4", (64, 64), Blosc2Codec(blocks=(16, 16)))[...] = values
    content = asyncio.run(_fetch(store, "c/0/0"))
    a = zarr.open_array(store, mode="r")
    rng = np.random.default_rng(1)
    errors = 0
    for at in rng.integers(0, len(content), 150):
        damaged = bytearray(content)
        damaged[at] ^= 1 << rng.integers(0, 8)
        asyncio.run(_put(store, "c/0/0", bytes(damaged)))
        for key in (np.s_[...], np.s_[3:9, 20:50]):
            try:
                assert np.array_equal(a[key], values[key])
            except (cq.CoquinaError, ValueError):
                errors += 1
    assert errors > 150


@pytest.mark.parametrize("content", [b"", b"x", b"not a frame, but long enough to be one" * 10])
@pytest.mark.parametrize("key", [np.s_[...], np.s_[1:3, 2]])
def test_other_bytes_and_cut_ones_are_an_error(content: bytes, key: Any) -> None:
    store = MemoryStore()
    a = _made(store, (8, 8), "i4", (8, 8))
    a[...] = np.arange(64).reshape(8, 8)
    whole = asyncio.run(_fetch(store, "c/0/0"))
    other = cq.asarray(np.arange(64.0).reshape(8, 8)).to_bytes()
    for bad in (content, whole[: len(whole) // 2], whole[:-1], other):
        asyncio.run(_put(store, "c/0/0", bad))
        with pytest.raises((cq.CoquinaError, ValueError)):
            a[key]


def test_options_out_of_range_are_refused() -> None:
    for options in ({"codec": "no"}, {"level": 99}, {"filters": ["no"]}, {"blocks": [0]}, {"level": "5"}):
        with pytest.raises(ValueError):  # noqa: PT011 - each names its own option
            Blosc2Codec(**options)
    with pytest.raises(ValueError, match="axes"):
        _made(MemoryStore(), (8, 8), "i4", (8, 8), Blosc2Codec(blocks=(4,)))
    with pytest.raises(TypeError, match="variable length"):
        _made(MemoryStore(), (8,), str, (8,))


def test_zarr_knows_the_codec_once_it_is_imported() -> None:
    script = (
        "import coquina.adapters.zarr_codec, zarr\n"
        "from zarr.registry import get_codec_class\n"
        "assert get_codec_class('coquina.blosc2').__name__ == 'Blosc2Codec'\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
