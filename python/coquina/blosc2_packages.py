"""Installed plugin packages of python-blosc2: which codec or filter each one has, and where its library is.

In: permission, by a call or by the environment, and names by id. Out: libraries of installed packages.
Source: `docs/formats/plugins.md`, "Plugins of Blosc2".
Invariant: without permission nothing is looked for, and no code of a package is run to find it.
"""

from __future__ import annotations

import importlib.util
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

#: The variable that allows packages: "1", or ids with names.
VARIABLE = "COQUINA_BLOSC2_PLUGINS"
#: Codecs in packages of their own that Blosc2 has given ids to.
REGISTERED: Mapping[tuple[Kind, int], str] = {
    ("codec", 36): "openhtj2k",
    ("codec", 37): "grok",
    ("codec", 38): "openzl",
    ("codec", 39): "j2k",
    ("codec", 40): "htj2k",
}
ID_MIN, ID_MAX = 32, 255

Kind: TypeAlias = Literal["codec", "filter"]

#: What was allowed by a call; None where nothing was.
_ALLOWED: dict[str, dict[tuple[Kind, int], str] | None] = {"names": None}


@dataclass(frozen=True, slots=True)
class Package:
    """A package with the library of one codec or filter."""

    kind: Kind
    id: int
    name: str
    library: str

    @property
    def title(self) -> str:
        """The package in words."""
        return f"the package blosc2_{self.name} of Blosc2"


def allow(names: Mapping[Kind, Mapping[int, str]]) -> None:
    """Allow packages, with names beyond the registered ones. Raises ValueError for what cannot be one."""
    given: dict[tuple[Kind, int], str] = {
        (kind, id): name for kind, by_id in names.items() for id, name in by_id.items()
    }
    for (kind, id), name in given.items():
        _check(kind, id, name)
    _ALLOWED["names"] = {**(_ALLOWED["names"] or REGISTERED), **given}


def installed() -> Iterator[Package]:
    """Yield the packages that are allowed and installed."""
    for (kind, id), name in _allowed().items():
        library = _library(name)
        if library is not None:
            yield Package(kind, id, name, library)


def _allowed() -> Mapping[tuple[Kind, int], str]:
    by_call, by_environment = _ALLOWED["names"], os.environ.get(VARIABLE, "")
    if by_environment in ("", "0"):
        return by_call or {}
    if by_environment == "1":
        return by_call or REGISTERED
    return {**REGISTERED, **(by_call or {}), **_parsed(by_environment)}


def _parsed(text: str) -> dict[tuple[Kind, int], str]:
    """Return the names of `codec-200=name,filter-201=other`. Raises ValueError for other text."""
    names: dict[tuple[Kind, int], str] = {}
    for word in text.split(","):
        match = re.fullmatch(r"\s*(codec|filter)-(\d{1,3})=(\w+)\s*", word, re.ASCII)
        if match is None:
            raise ValueError(f"{VARIABLE}={text}: takes 1, or codec-ID=NAME and filter-ID=NAME with commas")
        kind: Kind = "codec" if match[1] == "codec" else "filter"
        _check(kind, int(match[2]), match[3])
        names[kind, int(match[2])] = match[3]
    return names


def _check(kind: Kind, id: int, name: str) -> None:
    if not ID_MIN <= id <= ID_MAX:
        raise ValueError(f"{kind} {id}: takes ids {ID_MIN} to {ID_MAX}")
    if re.fullmatch(r"\w+", name, re.ASCII) is None:
        raise ValueError(f"{kind} {id}: {name!r}: takes the name of a package blosc2_NAME")


def _library(name: str) -> str | None:
    """Return the path of a package's library, without importing it; None where it is not installed."""
    try:
        spec = importlib.util.find_spec(f"blosc2_{name}")
    except (ImportError, ValueError):
        return None
    folders = [] if spec is None else spec.submodule_search_locations or []
    names = [f"libblosc2_{name}.so", f"libblosc2_{name}.dylib", f"blosc2_{name}.dll", f"libblosc2_{name}.dll"]
    paths = (Path(folder, file) for folder in folders for file in names)
    return next((str(path) for path in paths if path.is_file()), None)
