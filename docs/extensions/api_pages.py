"""The reference: a page for each group of public names, written when the site is built.

In: the public names of `coquina`, `coquina.hdf5`, `coquina.linalg`, `coquina.fft`, `coquina.stores` and
    `coquina.strings`.
Out: `docs/api/*.md`, which autodoc fills with docstrings. They are not kept in the repository.
Invariant: every public name is on one page; those that no group takes are on the last.
"""

from __future__ import annotations

import importlib
import inspect
import typing
from pathlib import Path
from typing import Any

from docstrings import as_restructured_text

import coquina
from coquina.names import MODULES, SUBMODULES

API = Path(__file__).parents[1] / "api"

#: Page, title, and what is on it: names of `coquina`, modules it has names of, all names of modules (`.*`).
GROUPS: list[tuple[str, str, str]] = [
    (
        "arrays",
        "Arrays and files",
        """
        open from_bytes asarray zeros ones full empty nans zeros_like ones_like full_like empty_like arange
        linspace fromiter frombuffer from_slabs from_dask Array View ArrayInfo Damage Frame functions.exchange
        """,
    ),
    (
        "expressions",
        "Expressions",
        "expressions.expression expressions.text functions.tracing functions.user_functions",
    ),
    ("items", "Elementwise functions", "functions.elementwise functions.composed"),
    (
        "reductions",
        "Reductions, sorting and sets",
        """
        functions.reductions functions.nan_reductions functions.quantiles functions.histograms
        functions.cumulative functions.sorting functions.searching functions.sets
        """,
    ),
    (
        "layout",
        "Array manipulation",
        """
        functions.manipulation functions.joining functions.reshaping functions.diagonals functions.traces
        """,
    ),
    ("algebra", "Linear algebra", "functions.linear_algebra functions.einstein linalg.*"),
    ("fourier", "Fourier transforms", "fft.*"),
    ("strings", "Strings", "strings.*"),
    (
        "tables",
        "Tables and indexes",
        """
        open_table create_table read_csv read_parquet as_table Table Selection tables.grouping.Groups Index
        tables.query_explanation.QueryExplanation tables.layout.ColumnSpec
        """,
    ),
    ("hdf5", "HDF5 files", "hdf5.File hdf5.Group hdf5.Dataset hdf5.AppendSession hdf5.*"),
    ("stores", "Stores", "stores.Store stores.Group stores.*"),
    (
        "compression",
        "Automatic tuning and lossy compression",
        """
        tune Recommendation FileRecommendation Tuning TuningInfo train Training Profile
        Lossy LossyInfo quality Quality
        """,
    ),
    ("remote", "Servers and the viewer", "connect view Viewer"),
    (
        "chunks",
        "Buffers and Bloscpack files",
        """
        compress decompress decompress_into decompress_items chunk_info ChunkInfo codecs filters pack unpack
        append dumps loads PackFile codec_plugins
        """,
    ),
    ("others", "Dtypes, constants, settings and errors", ""),
]


def public_names() -> list[str]:
    """Return all public names of `coquina`, but for its modules."""
    return sorted({*coquina.__all__, *MODULES} - SUBMODULES)


def _found(name: str) -> Any:
    found: Any = coquina
    for part in name.split("."):
        if not hasattr(found, part):
            importlib.import_module(f"{found.__name__}.{part}")
        found = getattr(found, part)
    return found


def _names_of(word: str) -> list[str]:
    """Return the names that a word of a group stands for, as attributes of `coquina`."""
    if word.endswith(".*"):
        return [f"{word[:-2]}.{name}" for name in _found(word[:-2]).__all__]
    if word in public_names() or word.rpartition(".")[2][0].isupper():
        return [word]
    module = f"coquina.{word}"
    lazy = [name for name, home in MODULES.items() if home == module]
    return lazy or [name for name in coquina.__all__ if getattr(_found(name), "__module__", "") == module]


def _entry(name: str) -> str:
    found = _found(name)
    if inspect.isclass(found) and issubclass(found, BaseException):
        return f".. autoexception:: coquina.{name}\n"
    if typing.is_typeddict(found):
        return f".. autoclass:: coquina.{name}\n"  # its methods are those of every dict
    if inspect.isclass(found) and found.__module__.startswith("coquina"):
        return f".. autoclass:: coquina.{name}\n   :members:\n   :inherited-members: Mapping\n"
    if callable(found) and not inspect.isclass(found):
        return f".. autofunction:: coquina.{name}\n"
    return f".. py:data:: coquina.{name}\n\n   ``{found!r}``\n"


def pages() -> dict[str, str]:
    """Return the text of each page by its name."""
    left = set(public_names())
    texts: dict[str, str] = {}
    for page, title, words in GROUPS:
        found = {word: _names_of(word) for word in words.split()}
        if without := [word for word, names in found.items() if not names]:
            raise ValueError(f"{page}: no names of {', '.join(without)}")
        names = [name for some in found.values() for name in some]
        names = names or sorted(name for name in left if not name.startswith("__"))
        left -= set(names)
        entries = "\n".join(_entry(name) for name in dict.fromkeys(names))
        texts[page] = f"# {title}\n\n```{{eval-rst}}\n{entries}```\n"
    return texts


def write_pages(_app: Any) -> None:
    """Write the pages that are not as they should be."""
    API.mkdir(exist_ok=True)
    wanted = pages()
    for name, text in wanted.items():
        path = API / f"{name}.md"
        if not path.exists() or path.read_text() != text:
            path.write_text(text)
    for path in API.glob("*.md"):
        if path.stem not in wanted:
            path.unlink()


def _docstring(_app: Any, _what: str, _name: str, found: Any, _options: Any, lines: list[str]) -> None:
    try:
        parameters = frozenset(inspect.signature(found).parameters)
    except (TypeError, ValueError):
        parameters = frozenset()
    lines[:] = as_restructured_text(lines, parameters)


def setup(app: Any) -> dict[str, Any]:
    """Register with Sphinx."""
    app.connect("builder-inited", write_pages)
    app.connect("autodoc-process-docstring", _docstring)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
