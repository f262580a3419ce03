"""Damaged files: whatever bit is flipped, what is read is right or an error; damage is found and mended."""

import shutil
from itertools import product

import blosc2
import numpy as np
import pytest

import coquina as cq
from coquina.cli import main

FLIPS = 10_000
RECORD = np.dtype([("t", "<M8[ns]"), ("xy", ">f4", (2,)), ("in", [("a", "u1"), ("b", "S3")])])
ATTRS = {"unit": "mm", "origin": [1.5, None, {"x": -2}], "long": "0123456789" * 30}


def random():
    """Return numbers that are the same in every run."""
    return np.random.default_rng(20260101)


def _records():
    x = np.zeros(300, RECORD)
    x["xy"] = np.arange(600).reshape(300, 2)
    x["in"]["a"] = np.arange(300) % 7
    return x


def _mixed():
    """Chunks of zeros, of one value, that compress well, and that do not at all."""
    x = np.zeros((8, 60), "i4")
    x[2:4] = 7
    x[4:6] = np.arange(60)
    x[6:] = random().integers(-(2**31), 2**31, (2, 60))
    return x


def written(folder):
    """Arrays, and what a file of each holds, written as users write them."""

    def file(x, changes=None, **options):
        path = folder / "x.b2nd"
        a = cq.asarray(x, path=path, overwrite=True, **options)
        a.attrs.update(ATTRS)
        if changes:
            x = changes(a, np.array(x))
        a.close()
        return x, path.read_bytes()

    def changed(a, x):
        a[1:3, 5:50] = x[1:3, 5:50] = 9
        a.append(x[:3])
        x = np.concatenate([x, x[:3]])
        a.resize((10, 70))
        return np.pad(x[:10], ((0, 0), (0, 10)))

    waves = np.sin(np.arange(2000) / 9).round(3)
    yield file(waves)
    yield file(waves.reshape(40, 50), chunks=(16, 20), blocks=(5, 7))
    yield file(
        np.arange(900, dtype="i2").reshape(9, 10, 10), chunks=(4, 5, 10), blocks=(2, 5, 5), codec="lz4"
    )
    yield file(_mixed(), chunks=(2, 60), blocks=(1, 60))
    yield file(_mixed(), changed, chunks=(3, 25), blocks=(2, 10))
    yield file(_records())
    yield file(np.array(["x" * (n % 70) for n in range(50)]), chunks=(20,), blocks=(7,), codec="zlib")
    yield file(waves.astype("c16")[:300] * 1j, codec="lz4", filters="bitshuffle", chunks=(100,), blocks=(30,))
    yield file(np.array(3.25))
    yield file(np.zeros((3, 0), "f4"))
    yield file(np.zeros((50, 50)), chunks=(9, 9), blocks=(4, 4))
    yield file(random().integers(0, 256, 3000, "u1"), level=0, chunks=(1000,), blocks=(1000,))
    yield file(waves.astype(">f2"), filters=["shuffle", "bytedelta"], chunks=(700,), blocks=(128,))


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    return list(written(tmp_path_factory.mktemp("damage")))


def flipped(content, bit):
    damaged = bytearray(content)
    damaged[bit // 8] ^= 1 << bit % 8
    return bytes(damaged)


def read(opened, x, what):
    """Return whether all of a damaged file could be read; what can be read must be what was written."""
    try:
        a = opened()
    except cq.CoquinaError:
        return False
    is_whole = True
    assert (a.shape, a.dtype) == (x.shape, x.dtype), what
    try:
        assert dict(a.attrs) == ATTRS, what
    except cq.CoquinaError:
        is_whole = False
    try:
        assert a[...].tobytes() == x.tobytes(), what
    except cq.CoquinaError:
        is_whole = False
        # What is not damaged can still be read.
        for region in _regions(a):
            try:
                part = a[region]
            except cq.CoquinaError:
                continue
            assert part.tobytes() == x[region].tobytes(), (what, region)
    return is_whole


def _regions(a):
    starts = (range(0, size, max(chunk, 1)) for size, chunk in zip(a.shape, a.chunks, strict=True))
    for corner in product(*starts):
        yield tuple(slice(at, at + chunk) for at, chunk in zip(corner, a.chunks, strict=True))


def test_a_flipped_bit_is_an_error_or_does_no_harm(files):
    whole, numbers = 0, random()
    for number in range(FLIPS):
        x, content = files[number % len(files)]
        bit = int(numbers.integers(8 * len(content)))
        what = f"file {number % len(files)}, bit {bit}"
        damaged = flipped(content, bit)
        whole += read(lambda damaged=damaged: cq.from_bytes(damaged), x, what)
    # Headers have a copy and there is unused room: some do no harm. If many did, nothing would be checked.
    assert 0 < whole < FLIPS // 2, f"{whole} of {FLIPS} files were read"


def test_undamaged_files_are_read(files):
    for number, (x, content) in enumerate(files):
        assert read(lambda content=content: cq.from_bytes(content), x, f"file {number}")


def test_every_bit_of_a_header_does_no_harm(files):
    x, content = files[1]
    header_len = int.from_bytes(content[11:15], "big")
    for bit in range(8 * header_len):
        damaged = flipped(content, bit)
        assert read(lambda damaged=damaged: cq.from_bytes(damaged), x, f"bit {bit}"), f"bit {bit}"


@pytest.mark.parametrize("mode", ["r", "r+"])
def test_flipped_bits_of_files_on_disk_are_noticed_too(mode, files, tmp_path):
    path, numbers = tmp_path / "x.b2nd", random()
    for number in range(40 * len(files)):
        x, content = files[number % len(files)]
        bit = int(numbers.integers(8 * len(content)))
        path.write_bytes(flipped(content, bit))
        read(lambda: cq.open(path, mode), x, f"{mode}, file {number % len(files)}, bit {bit}")


def test_flipped_bits_in_directories_are_noticed(tmp_path):
    x = np.arange(2000.0).reshape(40, 50)
    good = tmp_path / "good"
    a = cq.asarray(x, path=good, contiguous=False, chunks=(15, 20), blocks=(5, 10))
    a.attrs.update(ATTRS)
    a[3:20] = x[3:20] = -1
    a.close()
    whole, numbers = 0, random()
    for number in range(400):
        damaged = tmp_path / "damaged"
        shutil.copytree(good, damaged)
        names = sorted(path for path in damaged.iterdir() if path.is_file() and path.stat().st_size)
        name = names[number % len(names)]
        bit = int(numbers.integers(8 * name.stat().st_size))
        name.write_bytes(flipped(name.read_bytes(), bit))
        whole += read(lambda damaged=damaged: cq.open(damaged), x, f"{name.name}, bit {bit}")
        shutil.rmtree(damaged)
    assert whole < 200


@pytest.mark.parametrize("lost", ["sector", "tail", "front"])
def test_lost_parts_of_files_are_noticed(lost, files):
    numbers = random()
    for number in range(1000):
        x, content = files[number % len(files)]
        at = int(numbers.integers(len(content)))
        damaged = {
            "sector": content[: at - at % 64] + bytes(64) + content[at - at % 64 + 64 :],
            "tail": content[:at],
            "front": content[at:],
        }[lost]
        read(lambda damaged=damaged: cq.from_bytes(damaged), x, f"{lost}, file {number % len(files)}, {at}")


def _damaged_chunks(path, numbers, a):
    """Flip a bit in the stored bytes of these chunks, found by what they hold."""
    content = bytearray(path.read_bytes())
    for number in numbers:
        region = list(_regions(a))[number]
        before = bytes(content)
        # A chunk that is stored as it is: its items stand in the file.
        row = a[region][0].tobytes()
        assert before.count(row) == 1
        content[before.index(row) + 5] ^= 16
    path.write_bytes(content)


@pytest.fixture
def damaged(tmp_path):
    """An array, the path of its file in which chunks 1 and 4 are damaged, and the regions of these chunks."""
    path = tmp_path / "x.b2nd"
    x = random().integers(0, 2**62, (50, 30))
    a = cq.asarray(x, path=path, level=0, chunks=(20, 20), blocks=(10, 20))
    a.attrs.update(ATTRS)
    _damaged_chunks(path, (1, 4), a)
    a.close()
    return x, path, [(slice(0, 20), slice(20, 30)), (slice(40, 50), slice(0, 20))]


def test_verify_names_the_damaged_chunks_and_their_regions(damaged):
    x, path, regions = damaged
    a = cq.open(path)
    found = a.verify()
    assert [damage.chunk for damage in found] == [1, 4]
    assert [damage.region for damage in found] == regions
    assert all(isinstance(damage.error, cq.CorruptError) for damage in found)
    assert str(found[0]).startswith("chunk 1, items [0:20, 20:30]")
    for region in regions:
        with pytest.raises(cq.CorruptError, match=r"chunk [14]: block"):
            a[region]
    np.testing.assert_array_equal(a[20:40], x[20:40])
    # Only the damaged block of a chunk is lost, not all of it.
    np.testing.assert_array_equal(a[10:20, 20:], x[10:20, 20:])


def test_checksums_can_be_left_alone(damaged):
    x, path, _ = damaged
    a = cq.open(path, verify=False)
    assert len(np.argwhere(a[...] != x)) == 2


def test_verify_and_repair_look_at_checksums_that_reads_leave_alone(damaged, tmp_path):
    _, path, regions = damaged
    a = cq.open(path, verify=False)
    read = a[...]
    assert [damage.region for damage in a.verify()] == regions
    assert [damage.region for damage in a.repair(tmp_path / "mended.b2nd")] == regions
    assert np.array_equal(a[...], read)


def test_repair_saves_what_is_good(damaged, tmp_path):
    x, path, regions = damaged
    before, target = path.read_bytes(), tmp_path / "mended.b2nd"
    lost = cq.open(path).repair(target)
    assert [damage.region for damage in lost] == regions
    assert path.read_bytes() == before
    expected = x.copy()
    for region in regions:
        expected[region] = 0  # of integers; floats become NaN
    mended = cq.open(target)
    np.testing.assert_array_equal(mended[...], expected)
    assert dict(mended.attrs) == ATTRS
    assert mended.verify() == []
    np.testing.assert_array_equal(blosc2.open(target)[...], expected)
    with pytest.raises(FileExistsError):
        cq.open(path).repair(target)


def test_a_good_file_has_nothing_to_repair(tmp_path):
    x = np.arange(1000.0)
    cq.asarray(x, path=tmp_path / "x.b2nd", chunks=(300,)).close()
    a = cq.open(tmp_path / "x.b2nd")
    assert a.verify() == []
    assert a.repair(tmp_path / "y.b2nd") == []
    np.testing.assert_array_equal(cq.open(tmp_path / "y.b2nd")[...], x)


def test_a_damaged_chunk_can_be_overwritten_and_not_be_changed_in_part(damaged):
    x, path, regions = damaged
    with cq.open(path, "r+") as a:
        before = path.read_bytes()
        with pytest.raises(cq.CorruptError):
            a[0, 25] = 1
        assert path.read_bytes()[: len(before)] == before
        for region in regions:
            a[region] = x[region]
        assert a.verify() == []
    np.testing.assert_array_equal(cq.open(path)[...], x)


def test_damage_to_a_file_is_no_damage_to_its_pickled_or_saved_copies(damaged, tmp_path):
    _, path, _ = damaged
    a = cq.open(path)
    with pytest.raises(cq.CorruptError):
        a.save(tmp_path / "copy.b2nd")
    with pytest.raises(cq.CorruptError):
        a.to_bytes()
    assert not (tmp_path / "copy.b2nd").exists()


def _tail(content):
    """Return the bits of index, copy of the header and trailer."""
    start = int.from_bytes(content[11:15], "big") + int.from_bytes(content[39:47], "big")
    return range(8 * start, 8 * len(content))


def test_what_is_left_can_be_read_and_saved_if_index_or_trailer_are_damaged(tmp_path):
    path, target = tmp_path / "x.b2nd", tmp_path / "mended.b2nd"
    x = random().integers(0, 2**62, (50, 30))
    cq.asarray(x, path=path, chunks=(20, 20), blocks=(10, 20)).close()
    content = path.read_bytes()
    saved = whole = 0
    for bit in _tail(content):
        path.write_bytes(flipped(content, bit))
        with pytest.raises(cq.CoquinaError):
            cq.open(path)
        try:
            a = cq.open(path, damaged=True)
        except cq.CoquinaError:
            continue
        lost = a.repair(target, overwrite=True)
        expected = x.copy()
        for damage in lost:
            expected[damage.region] = 0
        np.testing.assert_array_equal(cq.open(target)[...], expected, err_msg=f"bit {bit}")
        whole += not lost
        saved += len(lost) < a.info.nchunks
    assert whole > 1000
    assert saved >= whole


def test_a_damaged_file_is_opened_for_reading_only(damaged):
    x, path, _ = damaged
    with pytest.raises(ValueError, match="only be read"):
        cq.open(path, "r+", damaged=True)
    # Where the frame itself is whole, it makes no difference.
    np.testing.assert_array_equal(cq.open(path, damaged=True)[20:40], x[20:40])


def test_the_command_goes_on_with_what_is_left(damaged, tmp_path, capsys):
    _, path, regions = damaged
    content, target = path.read_bytes(), tmp_path / "mended.b2nd"
    path.write_bytes(flipped(content, 8 * len(content) - 8 * 10))  # in the fingerprint
    assert main(["verify", str(path)]) == 1
    out, err = capsys.readouterr()
    assert "fingerprint" in out
    assert "2 damaged" in out
    assert "fingerprint" in err
    assert main(["repair", str(path), str(target)]) == 0
    out, err = capsys.readouterr()
    assert out.count("lost:") == len(regions)
    assert "going on" in err
    assert cq.open(target).verify() == []
