"""The site: it builds without a warning, has every public name, and its links lead somewhere."""

import importlib
import re
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

import pytest

import coquina
from coquina.names import MODULES, SUBMODULES

pytest.importorskip("furo")
pytest.importorskip("myst_parser")
pytest.importorskip("sphinx")

ROOT = Path(__file__).parents[1]
MADE = ("_build", "api", "target", "demo-out", "node_modules")
PAGES = sorted(
    path
    for top in ("*.md", "docs/**/*.md", "bench/**/*.md", "crates/**/*.md", "fuzz/**/*.md")
    for path in ROOT.glob(top)
    if not set(path.relative_to(ROOT).parts) & set(MADE)
)
LINK = re.compile(r"(?<!`)\[[^\]\[]*\]\(([^)\s]+)\)|<(https?://[^>\s]+)>")


def prose(path: Path) -> str:
    """Return a page without its code."""
    text = re.sub(r"^(`{3,}|:{3,}).*?^\1", "", path.read_text(), flags=re.MULTILINE | re.DOTALL)
    return re.sub(r"`[^`\n]+`(?!\])", "code", text)


def anchors(path: Path) -> set[str]:
    """Return the anchors of a page's headings, as GitHub and MyST make them."""
    headings = re.findall(r"^#{1,6} +(.*)$", path.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-") for heading in headings}


def links() -> list[tuple[Path, str]]:
    """Return all links of all pages: the page, and where the link leads."""
    return [(path, link or bracketed) for path in PAGES for link, bracketed in re.findall(LINK, prose(path))]


def problem(page: Path, link: str) -> str | None:
    """Return what is wrong with a link."""
    if "://" in link:
        parts = urlsplit(link)
        return None if parts.scheme == "https" and "." in parts.netloc else "is no address"
    name, _, anchor = link.partition("#")
    target = (page.parent / name).resolve() if name else page
    if not target.is_relative_to(ROOT):
        return "leads out of the repository"
    if not target.exists():
        return "there is no such file"
    if anchor and anchor not in anchors(target):
        return f"{target.name} has no such heading"
    return None


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    command = [
        sys.executable,
        "-m",
        "sphinx",
        "-q",
        "-W",
        "--keep-going",
        "-b",
        "html",
        "-d",
        folder / "doctrees",
    ]
    done = subprocess.run([*command, ROOT / "docs", folder / "html"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return folder / "html"


def test_every_public_name_is_in_the_reference(site):
    reference = "".join(path.read_text() for path in (site / "api").glob("*.html"))
    named = set(re.findall(r'id="coquina\.(\w+)"', reference))
    wanted = {name for name in {*coquina.__all__, *MODULES} - SUBMODULES if not name.startswith("__")}
    assert wanted - named == set()


def test_every_guide_page_is_on_the_site(site):
    made = {path.relative_to(site).with_suffix("").as_posix() for path in site.rglob("*.html")}
    written = {
        path.relative_to(ROOT / "docs").with_suffix("").as_posix()
        for path in PAGES
        if path.is_relative_to(ROOT / "docs")
    }
    assert written - made == set()


def test_the_pictures_are_those_that_are_drawn(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "docs" / "pictures"))
    draw = importlib.import_module("draw")
    for name, picture in draw.PICTURES.items():
        assert (ROOT / "docs" / "pictures" / f"{name}.svg").read_text() == picture(), name


def test_links_lead_somewhere():
    found = links()
    assert len(found) > 100
    wrong = [
        f"{page.relative_to(ROOT)}: {link}: {what}" for page, link in found if (what := problem(page, link))
    ]
    assert wrong == []


def test_wrong_links_are_noticed(tmp_path):
    page = ROOT / "README.md"
    assert problem(page, "docs/no-such-page.md") == "there is no such file"
    assert problem(page, "docs/tables.md#no-such-heading") == "tables.md has no such heading"
    assert problem(page, "http://example.org") == "is no address"
    assert problem(page, "docs/tables.md#two-layouts") is None


def test_names_are_on_the_page_of_their_subject(monkeypatch):
    # Modules moved, and `zeros`, `create_table` and `tune` stood on the page of what is left.
    monkeypatch.syspath_prepend(str(ROOT / "docs" / "extensions"))
    texts = importlib.import_module("api_pages").pages()
    wanted = {
        "arrays": "open asarray zeros arange Array from_dask",
        "tables": "open_table create_table Table Index",
        "hdf5": "hdf5.File hdf5.Dataset",
        "compression": "tune Lossy Tuning",
        "remote": "connect view",
        "others": "CorruptError set_num_threads",
    }
    for page, names in wanted.items():
        on_it = re.findall(r"^\.\. auto\w+:: coquina\.(\S+)$", texts[page], re.MULTILINE)
        assert {*names.split()} <= {*on_it}, page
    assert texts["hdf5"].index("hdf5.File") < texts["hdf5"].index("hdf5.AppendSession")
    left = re.findall(r"auto(?:class|function)::", texts["others"])
    assert len(left) < 20, "a new name has no page: add it to a group of docs/extensions/api_pages.py"
