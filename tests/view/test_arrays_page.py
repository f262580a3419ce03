import io

import numpy as np
import pytest

import coquina as cq

from .samples import field


@pytest.fixture(scope="module")
def volume(samples):
    with cq.open(samples / "volume.b2nd") as array:
        return np.asarray(array)


def is_near(text, value):
    return float(text) == pytest.approx(value, rel=1e-5)


@pytest.mark.parametrize(
    ("file", "path", "lengths"),
    [
        ("volume.b2nd", "/", (120, 160)),
        ("run.h5", "/entry/run 1/detector", (800, 1000)),
        ("run.h5", "/entry/run 1/mask", (30, 40)),
        ("climate.nc", "/t2m", (73, 144)),
        ("store.b2z", "/day 1/grid", (60, 80)),
        ("packed.blp", "/", (50, 70)),
        ("below/line.b2nd", "/", (10,)),
    ],
)
def test_a_file_of_each_kind_is_drawn(shown, file, path, lengths):
    shown.open(file, path)
    assert shown.drawn() == lengths
    shown.picture(f"drawn-{file.replace('/', '-')}-{path.rpartition('/')[2]}")


def test_the_slider_moves_and_statistics_are_those_of_the_shown_part(shown, volume):
    shown.open("volume.b2nd").drawn()
    shown.page.get_by_label("axis 0", exact=True).fill("11")
    shown.selection("11,0:120,0:160")
    shown.page.wait_for_timeout(200)
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


def test_colours_and_their_scale(shown):
    shown.open("volume.b2nd").drawn()
    before = shown.page.locator(".vis").screenshot()
    shown.page.get_by_role("combobox", name="Viridis").click()
    shown.page.get_by_role("option", name="Magma").click()
    shown.page.get_by_role("combobox", name="Linear").click()
    shown.page.get_by_role("option", name="SymLog").click()
    shown.page.wait_for_timeout(200)
    assert shown.page.locator(".vis").screenshot() != before
    link = shown.page.get_by_role("link", name="PNG").get_attribute("href")
    assert "cmap=magma" in link
    shown.picture("colours")


def test_packed_values_of_netcdf_are_decoded_and_fill_values_left_out(shown):
    shown.open("climate.nc", "/t2m").drawn()
    shown.page.wait_for_timeout(500)
    decoded = shown.numbers()
    masked = field(73, 144) > 0.9
    assert int(decoded["fill"]) == masked.sum()
    assert 230 < float(decoded["min"]) < float(decoded["max"]) < 300
    shown.page.get_by_label("decoded").uncheck()
    shown.page.wait_for_function(
        "() => [...document.querySelectorAll('.numbers dd')].some((one) => one.innerText === '-32767')"
    )


def test_coordinates_label_the_axes(shown):
    shown.open("climate.nc", "/t2m").drawn()
    texts = shown.page.locator(".vis svg text").all_text_contents()
    assert {"lon", "lat", "-50", "50", "300"} <= {text.replace("\u2212", "-") for text in texts}


def test_lines_and_their_log_scale(shown):
    shown.open("run.h5", "/entry/run 1/signal")
    assert shown.drawn()[0] <= 6000
    shown.page.get_by_label("log scale").check()
    shown.picture("line-log")
    shown.open("volume.b2nd").drawn()
    shown.page.get_by_role("radio", name="line").click()
    assert shown.drawn() == (160,)


def test_parts_of_complex_values(shown):
    shown.open("run.h5", "/entry/run 1/spectrum").drawn()
    for part in ("phase", "real", "imag", "abs"):
        shown.page.get_by_label("part", exact=True).select_option(part)
        shown.drawn()
    shown.picture("complex")
    shown.page.get_by_role("radio", name="matrix").click()
    assert shown.grid()[0][0] == "1+0j"


def test_three_channels_are_an_image(shown):
    shown.open("run.h5", "/photo")
    assert shown.drawn() == (90, 120, 3)
    shown.picture("image")


def test_the_matrix_shows_exact_values(shown):
    shown.open("run.h5", "/entry/run 1/counts")
    shown.page.get_by_role("radio", name="matrix").click()
    assert [row[0] for row in shown.grid()] == [str(2**53 - 2 + i) for i in range(12)]
    shown.open("run.h5", "/label")
    assert shown.grid() == [["a text"]]
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


def test_attributes(shown):
    shown.open("volume.b2nd", view="attributes")
    row = shown.page.get_by_role("row", name="title")
    assert "A wave that travels" in row.inner_text()
    shown.picture("attributes")
