"""The package of image codecs: what it says of itself, and what coquina says where it is not installed."""

from __future__ import annotations

import contextlib
import ctypes
import subprocess
import sys
import tomllib
from importlib.metadata import entry_points, requires, version
from pathlib import Path

import h5py
import hdf5plugin
import numpy as np
import pytest

import coquina as cq

coquina_images = pytest.importorskip(
    "coquina_images", reason="the codecs of images are a package of their own"
)

ROOT = Path(__file__).parents[1]
GREY = (np.add.outer(np.arange(40) * 30, np.arange(50) * 7) % 3000).astype("u2")


WITHOUT = """
from importlib import metadata
metadata.entry_points = lambda **wanted: metadata.EntryPoints()
import coquina as cq, hdf5plugin, numpy as np

x = np.load("x.npy")
with cq.open("x.h5", "a") as file:
    assert file["x"].access == "whole" and (file["x"][...] == x).all()
    made = file.create_dataset("y", data=x, chunks=x.shape, filter="htj2k")
    assert made.access == "whole" and (made[...] == x).all()
array = cq.open("x.b2nd")
assert "40" in repr(array.info)
try:
    array[...]
except cq.UnsupportedError as error:
    assert "pip install coquina[images]" in str(error)
else:
    raise AssertionError("it was read without the codec")
"""


def project(path: str) -> dict:
    return tomllib.loads((ROOT / path).read_text())["project"]


def test_the_versions_of_the_packages_and_of_the_crate_are_one():
    crate = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["version"]
    assert {crate, version("coquina-images"), coquina_images.__version__} == {
        project("images/pyproject.toml")["version"]
    }
    assert not requires("coquina-images")


def test_entry_points_name_the_ids_that_the_library_has():
    offered = entry_points(group="coquina.plugins").select(module="coquina_images")
    assert {found.name for found in offered} == {"codec-36", "codec-37", "codec-39", "codec-40"}
    assert {found.load()() for found in offered} == {coquina_images.library()}
    library = ctypes.CDLL(str(coquina_images.library()))
    assert library.coquina_plugin
    # What is linked in is not for others to trip over.
    assert not hasattr(library, "opj_decode")


def test_the_extra_brings_the_package():
    assert "coquina-images" in project("pyproject.toml")["optional-dependencies"]["images"]


def test_without_the_package_files_say_what_is_missing_and_hdf5_is_left_to_libhdf5(tmp_path):
    """Another process, in which no package offers plugins."""
    block = {"chunks": GREY.shape, "blocks": GREY.shape}
    cq.asarray(GREY, codec="htj2k", path=tmp_path / "x.b2nd", **block).close()
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file.create_dataset("x", data=GREY, chunks=GREY.shape, compression=hdf5plugin.Htj2k())
    np.save(tmp_path / "x.npy", GREY)
    subprocess.run([sys.executable, "-c", WITHOUT], cwd=tmp_path, check=True)


def test_codecs_that_only_read_say_so():
    for codec in ("grok", "openhtj2k"):
        with pytest.raises(ValueError, match="can be read"):
            cq.asarray(GREY, codec=codec)


@pytest.mark.parametrize(
    ("codec", "x", "words"),
    [
        ("htj2k", GREY.astype("f4"), "items of 4 bytes"),
        ("j2k", GREY.astype("f2"), "kind"),
        (("htj2k", {"quality_mode": "dB"}), GREY, "quality_mode"),
        (("htj2k", {"levels": 99}), GREY, "levels 99"),
        (("htj2k", {"tile": 3}), GREY, "tile"),
        (("htj2k", {"tile": [64, 64]}), GREY, "are for j2k"),
        (("htj2k", {"quality_mode": "dB", "quality": [30, 40]}), GREY, "are for j2k"),
        (("j2k", {"tile": [64, 4]}), GREY, "tile 4: takes 32"),
        (("j2k", {"progression": "LPRC"}), GREY, "takes LRCP"),
        (("j2k", {"quality_mode": "rates", "quality": [5, 10]}), GREY, "each finer"),
        (("htj2k", {"quality_mode": "rates", "quality": 1e6}), GREY, "cannot be made so small"),
    ],
)
def test_what_cannot_be_written_says_why(codec, x, words):
    with pytest.raises(ValueError, match=words):
        cq.asarray(x, chunks=x.shape, blocks=x.shape, codec=codec)


def unsummed(codec: str, folder: Path) -> bytes:
    """A file with one block, whose damage no checksum notices."""
    path = folder / "image.b2nd"
    cq.asarray(GREY, chunks=GREY.shape, blocks=GREY.shape, codec=codec, checksums=False, path=path).close()
    return path.read_bytes()


def stream_start(content: bytes) -> int:
    return content.index(b"\xff\x4f\xff\x51")


@pytest.mark.parametrize("codec", ["j2k", "htj2k"])
def test_images_in_parts_at_the_edges_come_back(codec, tmp_path):
    x = np.stack([GREY, GREY[::-1]])
    path = tmp_path / "x.b2nd"
    with cq.asarray(x, chunks=(1, 32, 32), blocks=(1, 16, 32), codec=codec, path=path) as made:
        np.testing.assert_array_equal(made[:, 3:37:5, -7:], x[:, 3:37:5, -7:])
        made[1, 20:30, 40:] = 77
        x[1, 20:30, 40:] = 77
        assert made.cbytes < x.nbytes
        assert codec in repr(made.info)
    np.testing.assert_array_equal(cq.open(path)[...], x)


@pytest.mark.parametrize("codec", ["j2k", "htj2k"])
def test_damage_is_an_error_that_names_the_codec_or_makes_other_samples(codec, tmp_path):
    content = unsummed(codec, tmp_path)
    start = stream_start(content)
    rng = np.random.default_rng(3)
    errors = []
    for _ in range(300):
        damaged = bytearray(content)
        damaged[start + rng.integers(150)] ^= 1 << rng.integers(8)
        try:
            found = cq.from_bytes(bytes(damaged))[...]
        except cq.CoquinaError as error:
            errors.append(str(error))
        else:
            assert (found.shape, found.dtype) == (GREY.shape, GREY.dtype)
    assert errors
    assert all(f"({codec})" in error for error in errors)


@pytest.mark.parametrize(
    ("field", "lie", "words"),
    [
        (8, (60_000).to_bytes(4, "big") * 2, "pixels"),
        (24, (1).to_bytes(4, "big") * 2, "tiles"),
        (40, (16_000).to_bytes(2, "big"), "head|components"),
        (42, b"\x25", "26|38 bits"),
    ],
)
def test_a_head_that_claims_more_than_the_block_is_refused(field, lie, words, tmp_path):
    content = unsummed("j2k", tmp_path)
    at = stream_start(content) + field
    with pytest.raises(cq.CoquinaError, match=words):
        cq.from_bytes(content[:at] + lie + content[at + len(lie) :])[...]


@pytest.mark.skipif(sys.platform != "linux", reason="asks Linux for the most memory that a process had")
def test_damaged_heads_ask_for_memory_in_proportion_to_the_block(tmp_path):
    resource = pytest.importorskip("resource")
    content = unsummed("j2k", tmp_path)
    start = stream_start(content)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    rng = np.random.default_rng(4)
    for _ in range(500):
        damaged = bytearray(content)
        for _ in range(3):
            damaged[start + rng.integers(120)] = rng.integers(256)
        with contextlib.suppress(cq.CoquinaError):
            cq.from_bytes(bytes(damaged))[...]
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < 100_000, f"{grown} kB"
