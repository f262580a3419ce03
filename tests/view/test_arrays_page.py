import io
import time
from urllib.parse import parse_qsl, urlsplit

import numpy as np
import pytest
from PIL import Image

import coquina as cq

from .conftest import TIMEOUT_MS


@pytest.fixture(scope="module")
def volume(samples):
    with cq.open(samples / "volume.b2nd") as array:
        return np.asarray(array)


def parameters_of(link):
    """The parameters of an address; those that are left out are empty."""
    return {"flip": "", **dict(parse_qsl(urlsplit(link).query))}


def is_near(text, value):
    return float(text) == pytest.approx(value, rel=1e-5)


#: Arrays unlike those of `kinds`: thinned out, of truth values, with one axis. Then lengths that are drawn.
OTHERS = [
    ("run.h5", "/entry/run 1/detector", (800, 1000)),
    ("run.h5", "/entry/run 1/mask", (30, 40)),
    ("below/line.b2nd", "/", (10,)),
]


@pytest.mark.parametrize(("file", "path", "lengths"), OTHERS)
def test_other_arrays_are_drawn(shown, file, path, lengths):
    shown.open(file, path)
    assert shown.drawn() == lengths
    shown.picture(f"drawn-{file.replace('/', '-')}-{path.rpartition('/')[2]}")
    values = np.load(io.BytesIO(shown.link("NPY")))
    # The detector is drawn from every third value, and saved with all.
    assert values.shape == tuple(length * (3 if "detector" in path else 1) for length in lengths)
    if "detector" in path:
        return
    rows = shown.link("CSV").decode().splitlines()
    if values.dtype != bool:
        read = np.loadtxt(rows, delimiter=",").astype(values.dtype)
        assert np.array_equal(read, values, equal_nan=True)
    assert len(rows) == lengths[0]
    if len(lengths) == 2:
        picture = Image.open(io.BytesIO(shown.link("PNG")))
        assert picture.size == lengths[::-1]
    # What the arrays' storage is, where they have chunks.
    shown.tab("storage")
    shown.page.locator(".chunks canvas, .view.storage").first.wait_for()


@pytest.mark.parametrize(("file", "path", "lengths"), OTHERS)
def test_every_view_of_other_arrays(shown, file, path, lengths):
    shown.open(file, path).drawn()
    page = shown.page
    names = page.get_by_role("radio").all_inner_texts()
    assert names == (["line", "matrix"] if len(lengths) == 1 else ["heat map", "line", "matrix"])
    for name in names:
        page.get_by_role("radio", name=name).click()
        if name == "matrix":
            assert shown.grid()
        else:
            assert len(shown.drawn()) == (1 if name == "line" else 2)
        assert shown.numbers()["count"] != "0"
    shown.picture(f"matrix-{file.replace('/', '-')}-{path.rpartition('/')[2]}")
    shown.tab("storage")
    page.locator(".chunks canvas, .view.storage .numbers").first.wait_for()
    shown.picture(f"storage-{file.replace('/', '-')}-{path.rpartition('/')[2]}")
    shown.tab("attributes")
    page.get_by_role("tab", name="attributes", selected=True).wait_for()
    assert page.get_by_role("alert").count() == 0


def test_what_has_no_values_or_no_statistics_says_so(shown):
    """The page asked for a histogram of times and of empty datasets, and showed the refusal."""
    shown.open("run.h5", "/empty")
    shown.page.get_by_text("This dataset is empty").wait_for()
    shown.open("below/times.b2nd").drawn()
    shown.page.get_by_role("radio", name="matrix").click()
    assert [row[0] for row in shown.grid()] == [f"1970-01-0{day}" for day in range(1, 7)]
    assert shown.page.get_by_role("alert").count() == 0


def test_the_slider_moves_and_statistics_are_those_of_the_shown_part(shown, volume):
    shown.open("volume.b2nd").drawn()
    shown.page.get_by_label("axis 0", exact=True).fill("11")
    shown.selection("11,0:120,0:160")
    numbers = shown.numbers()
    assert is_near(numbers["min"], volume[11].min())
    assert is_near(numbers["max"], volume[11].max())
    assert is_near(numbers["std"], volume[11].std())
    shown.page.get_by_label("Axis along x").select_option(label="axis 0")
    shown.page.get_by_label("First index along x").fill("4")
    shown.page.keyboard.press("Enter")
    assert shown.selection("4:24,0:120,0") == "4:24,0:120,0"
    assert shown.drawn() == (120, 20)


def test_what_is_saved_is_what_is_shown(shown, volume):
    shown.open("volume.b2nd").drawn()
    shown.page.get_by_label("axis 0", exact=True).fill("9")
    shown.selection("9,0:120,0:160")
    assert np.array_equal(np.load(shown.download("NPY")), volume[9])
    rows = np.loadtxt(io.StringIO(shown.download("CSV").read_text()), delimiter=",")
    assert np.allclose(rows, volume[9])
    assert shown.download("PNG").read_bytes().startswith(b"\x89PNG")


def test_zoom_shows_and_counts_a_part_and_reads_it_finely(shown):
    shown.open("run.h5", "/entry/run 1/detector").drawn()
    box = shown.page.locator(".vis canvas").bounding_box()
    shown.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    with shown.page.expect_response(lambda answer: "/slice/" in answer.url) as answer:
        for _ in range(12):
            shown.page.mouse.wheel(0, -120)
    shape = [int(length) for length in answer.value.headers["x-shape"].split(",")]
    shown.page.wait_for_function("() => !/[[,]0:/.test(document.querySelector('.selection').innerText)")
    rows, columns = ([int(end) for end in part.split(":")] for part in shown.selection().split(","))
    assert 0 < rows[0] < rows[1] < 2400
    assert 0 < columns[0] < columns[1] < 3000
    # More than the overview's every third value of this part.
    assert shape[0] > (rows[1] - rows[0]) / 3 + 2
    shown.page.get_by_role("button", name="Reset zoom").click()
    shown.selection("0:2400,0:3000")


def test_colours_and_their_scale(shown, samples):
    shown.open("volume.b2nd").drawn()
    before = shown.page.locator(".vis").screenshot()
    shown.page.get_by_role("combobox", name="Viridis").click()
    shown.page.get_by_role("option", name="Magma").click()
    shown.page.get_by_role("combobox", name="Linear").click()
    shown.page.get_by_role("option", name="SymLog").click()
    give_up = time.monotonic() + TIMEOUT_MS / 1000
    while shown.page.locator(".vis").screenshot() == before:
        assert time.monotonic() < give_up, "the drawing stays as it was"
    link = shown.page.get_by_role("link", name="PNG").get_attribute("href")
    assert {"scale": "symlog", "flip": "", "turn": "0"}.items() <= parameters_of(link).items()
    shown.picture("colours")
    saved = np.asarray(Image.open(io.BytesIO(shown.link("PNG"))))
    assert saved.shape == (120, 160, 4)
    # The first and last colour of Magma, where the least and greatest value are.
    with cq.open(samples / "volume.b2nd") as array:
        plane = np.asarray(array[0])
    for at, colour in ((plane.argmin(), (0, 0, 4)), (plane.argmax(), (252, 253, 191))):
        assert np.allclose(saved[np.unravel_index(at, plane.shape)][:3], colour, atol=3)


def test_coordinates_label_the_axes(shown):
    shown.open("climate.nc", "/t2m").drawn()
    texts = shown.page.locator(".vis svg text").all_text_contents()
    assert {"lon", "lat", "-50", "50", "300"} <= {text.replace("\u2212", "-") for text in texts}
    # The south is the first row, and stands below.
    assert parameters_of(shown.page.get_by_role("link", name="PNG").get_attribute("href"))["flip"] == "y"


def test_lines_and_their_log_scale(shown):
    shown.open("run.h5", "/entry/run 1/signal")
    assert shown.drawn()[0] <= 6000
    shown.page.get_by_label("log scale").check()
    shown.picture("line-log")
    shown.open("volume.b2nd").drawn()
    shown.page.get_by_role("radio", name="line").click()
    assert shown.drawn() == (160,)


def test_the_matrix_shows_exact_values(shown):
    shown.open("run.h5", "/entry/run 1/counts")
    shown.page.get_by_role("radio", name="matrix").click()
    assert [row[0] for row in shown.grid()] == [str(2**53 - 2 + i) for i in range(12)]
    assert shown.link("CSV").decode().split() == [str(2**53 - 2 + i) for i in range(12)]
    shown.open("run.h5", "/label")
    assert shown.grid() == [["a text"]]
    assert shown.link("CSV") == b"a text\n"
    assert np.load(io.BytesIO(shown.link("NPY"))) == b"a text"
    shown.open("run.h5", "/temperature")
    assert shown.grid() == [["21.5"]]


def test_storage_is_a_picture_of_chunks(shown, samples):
    shown.open("volume.b2nd").drawn()
    shown.page.get_by_label("axis 0", exact=True).fill("5")
    shown.selection("5,0:120,0:160")
    shown.tab("storage")
    touched = shown.page.locator(".touched").inner_text()
    assert "[5,0:120,0:160] touches 12 of 72 chunks, 48 blocks" in touched
    picture = shown.page.locator(".chunks canvas")
    picture.focus()
    shown.page.keyboard.press("Home")
    chosen = shown.page.locator(".chosen")
    assert chosen.inner_text().startswith("Chunk 0 at (0, 0, 0): zstd, 25.0 KiB in")
    shown.page.keyboard.press("ArrowRight")
    shown.page.keyboard.press("ArrowRight")
    assert "Chunk 2 at (0, 0, 2): all zeros" in chosen.inner_text()
    picture.hover(position={"x": 3, "y": 3})
    assert chosen.inner_text().startswith("Chunk 0 ")
    shown.picture("storage")
    shown.open("packed.blp", view="storage")
    shown.page.get_by_text("no grid of chunks").wait_for()


def test_frames_without_an_array_show_their_chunks(shown, samples):
    """They were shown as an array of objects, whose values were all chunks as text."""
    with cq.Frame.create(samples / "below" / "plain.b2frame", typesize=4, overwrite=True) as frame:
        frame.attrs["origin"] = "a detector"
        for number in range(7):
            frame.append(np.full(100 * (number + 1), number, "i4"))
    shown.open("below/plain.b2frame")
    shown.page.get_by_role("img", name="7 chunks").focus()
    shown.page.keyboard.press("End")
    shown.page.locator(".chosen", has_text="Chunk 6: ").wait_for()
    shown.picture("frame")
    shown.tab("attributes")
    assert "a detector" in shown.page.get_by_role("row", name="origin").inner_text()


def test_attributes(shown):
    shown.open("volume.b2nd", view="attributes")
    row = shown.page.get_by_role("row", name="title")
    assert "A wave that travels" in row.inner_text()
    shown.picture("attributes")
