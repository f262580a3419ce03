"""Images in and out of the command: what Pillow and tifffile write is read, and the reverse, to the bit."""

import io
import json
import sys
from contextlib import ExitStack

import numpy as np
import pytest

import coquina as cq
from coquina.cli import image_files, images, main
from tests.cli_world import said

Image = pytest.importorskip("PIL.Image")

RNG = np.random.default_rng(5)
GREY = RNG.integers(0, 1 << 16, (60, 40)).astype("u2")
STACK = RNG.integers(0, 1 << 16, (7, 30, 20)).astype("u2")
COLOURS = RNG.integers(0, 256, (30, 20, 3)).astype("u1")

#: What each kind of file holds, by packages: pillow alone, or tifffile too.
KINDS = {
    ".tif": [
        GREY,
        STACK,
        COLOURS,
        STACK.astype("u1"),
        STACK.astype("f4"),
        RNG.integers(0, 256, (3, 9, 8, 4)).astype("u1"),
    ],
    ".tiff": [STACK],
    ".png": [GREY, COLOURS, GREY.astype("u1"), RNG.integers(0, 256, (9, 8, 4)).astype("u1"), GREY > 9],
    ".jp2": [GREY, COLOURS, GREY.astype("u1")],
    ".j2k": [GREY],
}
CASES = [(end, array) for end, arrays in KINDS.items() for array in arrays]


@pytest.fixture(params=["tifffile", "pillow"])
def packages(request, monkeypatch):
    """Run with tifffile, and as if it was not there."""
    if request.param == "tifffile":
        pytest.importorskip("tifffile")
    else:
        monkeypatch.setitem(sys.modules, "tifffile", None)
    return request.param


def convert(capfd, *words):
    code = main(["convert", *map(str, words)])
    out, err = capfd.readouterr()
    assert (code, err) == (0, "")
    return out


def refused(capfd, *words):
    code = main([*map(str, words), "--json"])
    out, err = capfd.readouterr()
    assert (code, out) == (1, "")
    return json.loads(err)["error"]


@pytest.mark.parametrize(
    ("end", "array"), CASES, ids=lambda one: str(one) if isinstance(one, str) else f"{one.dtype}{one.shape}"
)
def test_arrays_become_images_and_images_arrays(end, array, packages, tmp_path, capfd):
    cq.asarray(array, path=tmp_path / "a.b2nd")
    convert(capfd, tmp_path / "a.b2nd", tmp_path / f"a{end}")
    convert(capfd, tmp_path / f"a{end}", tmp_path / "b.b2nd")
    with cq.open(tmp_path / "b.b2nd") as b:
        assert b.dtype == array.dtype
        np.testing.assert_array_equal(b[...], array)


@pytest.mark.parametrize("end", [".png", ".jp2", ".tif"])
def test_stacks_become_numbered_files_in_the_order_of_their_numbers(end, tmp_path, capfd):
    stack = RNG.integers(0, 1 << 16, (12, 9, 8)).astype("u2")
    np.save(tmp_path / "x.npy", stack)
    (tmp_path / "frames").mkdir()
    out = convert(capfd, tmp_path / "x.npy", tmp_path / f"frames/slice_%d{end}", "--json")
    said_files = json.loads(out)
    assert said_files["written"] == sum(path.stat().st_size for path in (tmp_path / "frames").iterdir())
    assert len(list((tmp_path / "frames").iterdir())) == 12
    np.testing.assert_array_equal(np.asarray(Image.open(tmp_path / f"frames/slice_10{end}")), stack[10])
    convert(capfd, tmp_path / "frames", tmp_path / "y.b2nd")
    np.testing.assert_array_equal(cq.open(tmp_path / "y.b2nd")[...], stack)


def test_files_of_pillow_and_of_tifffile_are_read(packages, tmp_path):
    first, *rest = [Image.fromarray(frame) for frame in STACK]
    first.save(
        tmp_path / "p.tif",
        save_all=True,
        append_images=rest,
        compression="tiff_lzw" if packages == "pillow" else None,
    )
    files = [tmp_path / "p.tif"]
    if packages == "tifffile":
        import tifffile

        tifffile.imwrite(tmp_path / "t.tif", STACK)
        tifffile.imwrite(tmp_path / "i.tif", STACK, imagej=True)
        tifffile.imwrite(tmp_path / "z.tif", STACK, compression="zlib", tile=(16, 16))
        files += [tmp_path / name for name in ("t.tif", "i.tif", "z.tif")]
    for path in files:
        with ExitStack() as stack:
            found = images.load(str(path), stack)
            assert (found.shape, np.dtype(found.dtype)) == (STACK.shape, STACK.dtype)
            np.testing.assert_array_equal(np.asarray(found[2:5]), STACK[2:5])


def test_wide_dtypes_go_through_tifffile(tmp_path, capfd):
    pytest.importorskip("tifffile")
    for array in (
        STACK.astype("f8"),
        STACK.astype("i2"),
        RNG.integers(0, 1 << 16, (5, 4, 3)).astype("u2"),
        STACK > 7,
    ):
        np.save(tmp_path / "x.npy", array)
        convert(capfd, tmp_path / "x.npy", tmp_path / "x.tif", "--force")
        convert(capfd, tmp_path / "x.tif", tmp_path / "y.npy", "--force")
        back = np.load(tmp_path / "y.npy")
        np.testing.assert_array_equal(back, array)


def test_images_of_a_stack_are_decoded_as_they_are_asked_for(tmp_path):
    asked = []
    pages = image_files.Pages(7, lambda number: asked.append(number) or STACK[number])
    stack = images.Stack("x", pages)
    np.testing.assert_array_equal(stack[2:4, 5:], STACK[2:4, 5:])
    np.testing.assert_array_equal(stack[-1], STACK[-1])
    np.testing.assert_array_equal(stack[..., 3], STACK[..., 3])
    assert stack[7:].shape == (0, 30, 20)
    assert asked[:4] == [0, 2, 3, 6]
    np.testing.assert_array_equal(np.asarray(stack), STACK)


def test_colours_of_sixteen_bits_are_never_cut_down_to_eight(tmp_path, monkeypatch, capfd):
    monkeypatch.setitem(sys.modules, "tifffile", None)
    png = bytearray(png_of(COLOURS))
    assert png[24] == 8
    png[24] = 16  # of a file that says so; Pillow gives eight of the bits
    (tmp_path / "c.png").write_bytes(png_with_sums(png))
    error = refused(capfd, "convert", tmp_path / "c.png", tmp_path / "c.npy")
    assert "3 channels of 16 bits" in error["message"]
    np.save(tmp_path / "c.npy", np.zeros((9, 8, 3), "u2"))
    for end in (".png", ".jp2", ".tif"):
        error = refused(capfd, "convert", tmp_path / "c.npy", tmp_path / f"d{end}")
        assert "uint16" in error["message"]
        assert not (tmp_path / f"d{end}").exists()


def png_of(array):
    file = io.BytesIO()
    Image.fromarray(array).save(file, "PNG")
    return file.getvalue()


def png_with_sums(png):
    import zlib

    png[29:33] = zlib.crc32(png[12:29]).to_bytes(4, "big")
    return bytes(png)


def test_depths_of_codestreams_are_read():
    def head(depths):
        marks = b"".join(bytes([depth, 1, 1]) for depth in depths)
        return b"box" + b"\xff\x4f\xff\x51" + bytes(36) + len(depths).to_bytes(2, "big") + marks

    assert image_files._depth_of_codestream(head([15, 15, 15])) == (16, 3)
    assert image_files._depth_of_codestream(head([0x80 | 11])) == (12, 1)
    assert image_files._depth_of_codestream(head([7, 7])) == (8, 2)
    assert image_files._depth_of_codestream(b"") == (8, 1)
    assert image_files._depth_of_codestream(head([15])[:20]) == (8, 1)


def test_what_is_no_image_is_refused_in_one_line(tmp_path, capfd):
    np.save(tmp_path / "x.npy", np.zeros((2, 3, 4, 5), "f4"))
    np.save(tmp_path / "s.npy", STACK)
    np.save(tmp_path / "t.npy", np.zeros((0, 3), "u1"))
    (tmp_path / "bad.png").write_bytes(b"no image")
    cut = png_of(COLOURS)[:200]
    (tmp_path / "cut.png").write_bytes(cut)
    (tmp_path / "empty").mkdir()
    for words, text in (
        (("x.npy", "x.tif"), "images are (rows, columns)"),
        (("t.npy", "t.tif"), "shape (0, 3)"),
        (("s.npy", "s.png"), "%04d.png"),
        (("bad.png", "bad.npy"), "bad.png: no image: it does not begin as PNG files do"),
        (("cut.png", "cut.npy"), "cut.png: image 0 is cut or damaged: image file is truncated"),
        (("s.npy", "s%d%02d.png"), "%d and %02d; use one number in a file name"),
        (("empty", "empty.npy"), "a folder without images; expected a file, or a folder of .tif"),
        (("s.npy", "s.jp2"), "7 images"),
    ):
        error = refused(capfd, "convert", *[tmp_path / word for word in words])
        assert text in error["message"], words
        assert "\n" not in error["message"]
        assert not (tmp_path / words[1]).exists()


def test_damaged_images_are_named_as_such(tmp_path, capfd):
    # Pillow's own sentence came without the file's name, and tifffile wrote a line of its own.
    for name, compression in (
        ("a.png", None),
        ("a.tif", None),
        ("b.tif", "tiff_adobe_deflate"),
        ("a.jp2", None),
    ):
        options = {} if compression is None else {"compression": compression}
        Image.fromarray(STACK[0].astype("u1")).save(tmp_path / name, **options)
        content = (tmp_path / name).read_bytes()
        for size in (0, 1, 7, len(content) // 2):
            cut = tmp_path / f"cut{size}{name}"
            cut.write_bytes(content[:size])
            assert main(["convert", str(cut), str(tmp_path / "out.npy")]) == 1, (name, size)
            said = capfd.readouterr().err
            assert said.startswith(f"coquina: {cut}: "), said
            assert said.count("\n") == 1
            assert any(
                word in said
                for word in (
                    "damaged",
                    "no image",
                    "offset of an image",
                    "empty file",
                    "cannot read the TIFF file",
                )
            ), said
            assert not (tmp_path / "out.npy").exists()


def test_images_of_other_shapes_are_no_stack(tmp_path, capfd):
    (tmp_path / "f").mkdir()
    for number, array in enumerate((GREY, GREY, GREY[:9])):
        Image.fromarray(array).save(tmp_path / f"f/{number}.png")
    error = refused(capfd, "convert", tmp_path / "f", tmp_path / "f.npy")
    assert "image 2 is uint16 (9, 40), the first uint16 (60, 40)" in error["message"]
    assert not (tmp_path / "f.npy").exists()


def test_nothing_is_overwritten_without_force(tmp_path, capfd):
    np.save(tmp_path / "s.npy", STACK[:2])
    (tmp_path / "01.png").write_bytes(b"old")
    assert refused(capfd, "convert", tmp_path / "s.npy", tmp_path / "%02d.png")["kind"] == "exists"
    assert not (tmp_path / "00.png").exists()
    assert (tmp_path / "01.png").read_bytes() == b"old"
    convert(capfd, tmp_path / "s.npy", tmp_path / "%02d.png", "--force")
    np.testing.assert_array_equal(np.asarray(Image.open(tmp_path / "01.png")), STACK[1])


def test_without_pillow_the_command_says_what_to_install(tmp_path, monkeypatch, capfd):
    np.save(tmp_path / "x.npy", GREY)
    (tmp_path / "y.png").write_bytes(png_of(GREY))
    monkeypatch.setitem(sys.modules, "PIL.Image", None)
    monkeypatch.setitem(sys.modules, "tifffile", None)
    for words in (("x.npy", "x.png"), ("y.png", "y.npy")):
        error = refused(capfd, "convert", *[tmp_path / word for word in words])
        assert error["kind"] == "missing_package"
        assert "pip install 'coquina[images]'" in error["message"]


def test_palettes_become_colours_and_other_kinds_are_refused(tmp_path, capfd):
    Image.fromarray(COLOURS).quantize(8).save(tmp_path / "p.png")
    convert(capfd, tmp_path / "p.png", tmp_path / "p.npy")
    np.testing.assert_array_equal(
        np.load(tmp_path / "p.npy"), np.asarray(Image.open(tmp_path / "p.png").convert("RGB"))
    )
    Image.fromarray(COLOURS).convert("CMYK").save(tmp_path / "c.tif")
    tiff = sys.modules.pop("tifffile", None)
    try:
        sys.modules["tifffile"] = None
        assert "CMYK" in refused(capfd, "convert", tmp_path / "c.tif", tmp_path / "c.npy")["message"]
    finally:
        sys.modules.pop("tifffile")
        if tiff is not None:
            sys.modules["tifffile"] = tiff


def test_commands_that_take_no_images_say_what_makes_arrays_of_them(tmp_path, capfd):
    Image.fromarray(GREY).save(tmp_path / "a.png")
    message = refused(capfd, "verify", tmp_path / "a.png")["message"]
    assert "a PNG image" in message
    assert f"`coquina convert {tmp_path / 'a.png'} OUTPUT` converts it" in message


def test_other_commands_read_images_too(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    Image.fromarray(GREY).save("a.png")
    np.save("a.npy", GREY)
    code, out, err = said(capfd, "coquina quality a.npy a.png --json")
    assert (code, err) == (0, "")
    assert json.loads(out)["max_error"] == 0
