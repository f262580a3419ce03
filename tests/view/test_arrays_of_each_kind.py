"""Every view of arrays, for a file of each kind and for objects in memory."""

import contextlib
import io

import numpy as np
import pytest
from PIL import Image

import coquina as cq

from .conftest import Command, require_bundle
from .kinds import EXPRESSIONS, FILL, IN_MEMORY, KINDS, VALUES, WITHOUT_ATTRIBUTES, write_arrays

#: The shown part and its statistics, read in one step; null while they are those of another part.
PART = """() => {
    if (document.querySelector(".card[aria-busy=true]")) return null;
    if (!document.querySelector(".card .numbers dd")) return null;
    const selection = document.querySelector(".selection").innerText;
    if (/[[,]0:/.test(selection)) return null;
    const pairs = [...document.querySelectorAll(".card .numbers > div")];
    return [selection, pairs.map((pair) => [...pair.children].map((one) => one.innerText))];
}"""


#: What the page does with any array is tried with these: a file, a dataset, and an object of the process.
SOME_KINDS = ("b2nd", "hdf5", "numpy")


def kinds_with(name):
    return [kind for kind, names in KINDS.items() if name in names]


def some_of(kinds):
    """`SOME_KINDS` of them, and the others in long runs."""
    return [kind if kind in SOME_KINDS else pytest.param(kind, marks=pytest.mark.long) for kind in kinds]


@pytest.fixture(scope="module")
def places(tmp_path_factory):
    """The address of a server of a folder, and where in it each array of each kind is."""
    require_bundle()
    folder = tmp_path_factory.mktemp("kinds")
    found = write_arrays(folder)
    command = Command(folder, "--keep")
    yield command.url, found
    command.end()


@pytest.fixture
def show(shown, places):
    """Shows an array of a kind, by its name. For those of the process each test has a server."""
    with contextlib.ExitStack() as stack:

        def open_page(kind, name):
            shown.url, found = places
            if kind not in IN_MEMORY:
                return shown.open(*found[kind][name])
            viewer = stack.enter_context(cq.view({name: IN_MEMORY[kind](VALUES[name])}, browser=False))
            # A page whose server is gone would say so in the console.
            stack.callback(shown.page.goto, "about:blank")
            shown.url = viewer.url
            return shown.open(name)

        yield open_page


def near(text, value):
    """Whether a number of the page is a value, in the digits that are shown."""
    return float(text.replace("\u2212", "-")) == pytest.approx(float(value), rel=1e-4, abs=1e-6)


def are_those_of(numbers, values):
    """Whether statistics are those of values."""
    wanted = {"min": np.min, "max": np.max, "mean": np.mean, "std": np.std}
    return all(near(numbers[name], call(values.astype("f8"))) for name, call in wanted.items())


def saved(shown):
    """The values of the shown part as they are saved: NPY and CSV."""
    values = np.load(io.BytesIO(shown.link("NPY")))
    rows = np.loadtxt(shown.link("CSV").decode().splitlines(), delimiter=",", ndmin=values.ndim)
    assert np.array_equal(rows.reshape(values.shape).astype(values.dtype), values)
    return values


def picture_of(shown):
    return np.asarray(Image.open(io.BytesIO(shown.link("PNG"))))


@pytest.mark.parametrize("kind", KINDS)
def test_planes_lines_and_numbers(show, kind):
    """Sliders, statistics, exports, other axes, a line on a logarithmic scale, and the matrix."""
    volume = VALUES["volume"]
    shown = show(kind, "volume")
    assert shown.drawn() == (48, 64)
    shown.page.locator(".axis.slider input[type=range]").fill("3")
    shown.selection("3,0:48,0:64")
    assert are_those_of(shown.numbers(), volume[3])
    shown.page.get_by_label("Histogram of the shown part").wait_for()
    shown.page.get_by_label("logarithmic bins").check()
    assert are_those_of(shown.numbers(), volume[3])
    assert np.array_equal(saved(shown), volume[3])
    assert picture_of(shown).shape == (48, 64, 4)
    shown.picture(f"heat-map-{kind}")
    shown.page.get_by_label("Axis along x").select_option("0")
    shown.selection("0:6,0:48,0")
    assert shown.drawn() == (48, 6)
    assert np.array_equal(saved(shown), volume[:, :, 0])
    shown.page.get_by_role("radio", name="line").click()
    shown.selection("3,0,0:64")
    assert shown.drawn() == (64,)
    shown.page.get_by_label("log scale").check()
    assert are_those_of(shown.numbers(), volume[3, 0])
    assert np.array_equal(saved(shown), volume[3, 0])
    shown.picture(f"line-{kind}")
    shown.page.get_by_role("radio", name="matrix").click()
    assert near(shown.grid()[1][2], volume[3, 1, 2])
    shown.picture(f"matrix-{kind}")
    assert shown.page.get_by_role("alert").count() == 0


@pytest.mark.parametrize("kind", some_of(KINDS))
def test_zoom_and_colours(show, kind):
    volume = VALUES["volume"]
    shown = show(kind, "volume")
    shown.drawn()
    box = shown.page.locator(".vis canvas").bounding_box()
    shown.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    for _ in range(6):
        shown.page.mouse.wheel(0, -120)
    selection, numbers = shown.page.wait_for_function(PART).json_value()
    step, *ends = selection.strip("[]").split(",")
    rows, columns = (slice(*map(int, part.split(":"))) for part in ends)
    assert 0 < rows.start < rows.stop < 48
    assert are_those_of(dict(numbers), volume[int(step), rows, columns])
    shown.page.get_by_role("button", name="Reset zoom").click()
    shown.selection("0,0:48,0:64")
    shown.page.get_by_role("combobox", name="Viridis").click()
    shown.page.get_by_role("option", name="Magma").click()
    shown.page.get_by_role("combobox", name="Linear").click()
    shown.page.get_by_role("option", name="Square root").click()
    shown.page.get_by_label("y downwards").uncheck()
    assert "scale=sqrt" in shown.page.get_by_role("link", name="PNG").get_attribute("href")
    saved_picture = picture_of(shown)[::-1]
    # The first and last colour of Magma, where the least and greatest value are.
    for at, colour in ((volume[0].argmin(), (0, 0, 4)), (volume[0].argmax(), (252, 253, 191))):
        assert np.allclose(saved_picture[np.unravel_index(at, (48, 64))][:3], colour, atol=3)
    shown.picture(f"colours-{kind}")


@pytest.mark.parametrize("kind", kinds_with("photo"))
def test_images(show, kind):
    photo = VALUES["photo"]
    shown = show(kind, "photo")
    assert shown.drawn() == photo.shape
    shown.selection("0:40,0:56,:")
    assert are_those_of(shown.numbers(), photo)
    assert np.array_equal(np.load(io.BytesIO(shown.link("NPY"))), photo)
    assert np.array_equal(picture_of(shown), photo)
    shown.picture(f"image-{kind}")


@pytest.mark.parametrize("kind", kinds_with("spectrum"))
def test_complex_values(show, kind):
    spectrum = VALUES["spectrum"]
    shown = show(kind, "spectrum")
    assert shown.drawn() == spectrum.shape
    for part, of in (("phase", np.angle), ("real", np.real), ("imag", np.imag), ("abs", np.abs)):
        shown.page.get_by_label("part", exact=True).select_option(part)
        shown.page.get_by_role("heading", name=f"Shown part: {part}").wait_for()
        assert are_those_of(shown.numbers(), of(spectrum))
        shown.drawn()
        assert picture_of(shown).shape[:2] == spectrum.shape
    assert np.array_equal(np.load(io.BytesIO(shown.link("NPY"))), spectrum)
    shown.picture(f"complex-{kind}")
    shown.page.get_by_role("radio", name="line").click()
    assert shown.drawn() == (24,)
    shown.page.get_by_role("radio", name="matrix").click()
    assert shown.grid()[0][0] == "1+0j"


@pytest.mark.parametrize("kind", kinds_with("packed"))
def test_scale_offset_and_fill_values(show, kind):
    packed = VALUES["packed"]
    is_there = packed != FILL
    shown = show(kind, "packed")
    assert shown.drawn() == packed.shape
    numbers = shown.numbers()
    assert int(numbers["fill"].replace("\u202f", "")) == (~is_there).sum()
    assert are_those_of(numbers, packed[is_there] * 0.01 + 273.15)
    decoded = np.load(io.BytesIO(shown.link("NPY")))
    assert np.array_equal(np.isnan(decoded), ~is_there)
    shown.picture(f"decoded-{kind}")
    shown.page.get_by_label("decoded").uncheck()
    shown.page.wait_for_function(
        f"() => [...document.querySelectorAll('.numbers dd')].some((one) => one.innerText === '{FILL}')"
    )
    assert np.array_equal(np.load(io.BytesIO(shown.link("NPY"))), packed)


@pytest.mark.parametrize("kind", KINDS)
def test_storage_and_attributes(show, kind):
    shown = show(kind, "volume")
    shown.drawn()
    page = shown.page
    if kind in EXPRESSIONS:
        assert page.get_by_role("tab").all_inner_texts() == ["Data", "Attributes"]
    elif kind == "bloscpack":
        shown.tab("storage")
        page.get_by_text("no grid of chunks").wait_for()
    else:
        shown.tab("storage")
        chunks = page.locator(".chunks canvas")
        chunks.focus()
        page.keyboard.press("Home")
        page.locator(".chosen", has_text="Chunk 0 at (0, 0, 0): ").wait_for()
        assert "[0,0:48,0:64] touches " in page.locator(".touched").inner_text()
        # Of other filters of HDF5 it named the codec that new arrays get.
        named = page.locator(".numbers.wide").inner_text()
        assert {"h5py": "gzip 4", "netcdf": "gzip 4"}.get(kind, "zstd") in named
        assert ("zstd" in named) == (kind not in ("h5py", "netcdf"))
        shown.picture(f"storage-{kind}")
    shown.tab("attributes")
    page.get_by_role("row", name="48").first.wait_for()
    if kind not in WITHOUT_ATTRIBUTES:
        page.get_by_role("row", name="A wave that travels").wait_for()
    assert page.get_by_role("alert").count() == 0
