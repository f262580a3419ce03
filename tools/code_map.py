"""Prints the tree of the code, and with each file what it is: the first sentence of its documentation.

In: folders; without any, the crates and the package. Out: plain text, a line for each file. A folder is
shown with what its `mod.rs` or `__init__.py` says.
"""

from __future__ import annotations

import ast
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
FOLDERS = ("crates", "python/coquina")
ENDINGS = {".rs", ".py", ".pyi"}
#: The file that speaks for its folder.
FACES = {"mod.rs", "__init__.py"}


def first_sentence(path: Path) -> str:
    """The first sentence of a file's documentation, in one line; empty where it has none."""
    text = path.read_text()
    if path.suffix == ".rs":
        said = "\n".join(line[3:].strip() for line in _leading(text.splitlines(), "//!"))
    else:
        said = ast.get_docstring(ast.parse(text)) or ""
    paragraph = " ".join(said.partition("\n\n")[0].split())
    return re.split(r"(?<=\.) (?=[A-Z])", paragraph, maxsplit=1)[0]


def _leading(lines: list[str], mark: str) -> Iterator[str]:
    for line in lines:
        if not line.startswith(mark):
            return
        yield line


def tree(folder: Path, depth: int = 0) -> Iterator[str]:
    """The lines of a folder: its own, its files, its folders."""
    files = sorted(path for path in folder.iterdir() if path.suffix in ENDINGS and path.is_file())
    folders = sorted(path for path in folder.iterdir() if path.is_dir() and path.name[0] not in "._")
    below = [list(tree(path, depth + 1)) for path in folders if path.name != "target"]
    if not files and not any(below):
        return
    face = next((path for path in files if path.name in FACES), None)
    name = (
        f"{folder.name}/"
        if depth
        else f"{folder.relative_to(ROOT) if folder.is_relative_to(ROOT) else folder.name}/"
    )
    yield _line(depth, name, first_sentence(face) if face else "")
    yield from (_line(depth + 1, path.name, first_sentence(path)) for path in files if path != face)
    for lines in below:
        yield from lines


def _line(depth: int, name: str, said: str) -> str:
    return f"{'  ' * depth}{name:{30 - 2 * depth}} {said}".rstrip()


def main(folders: list[str]) -> None:
    """Print the tree of each folder."""
    try:
        for folder in folders or FOLDERS:
            print("\n".join(tree(ROOT / folder)), flush=True)
    except BrokenPipeError:  # whoever reads has seen enough; nothing is left to be flushed at the end
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


if __name__ == "__main__":
    main(sys.argv[1:])
