"""What the examples of a page print, as the page shows it; `python docs/extensions/outputs.py` writes it.

In: a page. Out: the page with what its examples print now. A block of text right behind one of Python is what
that prints; a block of kind `console` is a command of ours, and what that prints. The examples of a page run
one after the other in one folder, where `bench/sample` is that of the repository. Names of files in that
folder are shown without it. Other blocks of Python are run, too, and nothing is shown of what they print.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
#: A block of Python with what it prints, or a command with what that prints.
EXAMPLE = re.compile(
    r"^```python\n(?P<code>.*?)^```$(?P<shown>\n\n```text\n.*?^```$)?"
    r"|^```console\n\$ (?P<command>.*?)\n.*?^```$",
    re.MULTILINE | re.DOTALL,
)


def filled(text: str, name: str) -> str:
    """Run the examples of a page in the folder that we are in, and return the page with what they print.

    Raises what the examples raise, CalledProcessError for commands that fail.
    """
    with contextlib.suppress(FileExistsError):
        Path("bench").mkdir()
        Path("bench/sample").symlink_to(ROOT / "bench/sample")
    names: dict[str, Any] = {}
    return EXAMPLE.sub(lambda match: _example(match, name, names), text)


def _example(match: re.Match[str], name: str, names: dict[str, Any]) -> str:
    code, shown, command = match["code"], match["shown"], match["command"]
    if command is not None:
        return f"```console\n$ {command}\n{_said(command)}```"
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, name, "exec"), names)
    if shown is None:
        return match.group()
    return f"```python\n{code}```\n\n```text\n{_near(printed.getvalue())}```"


def _said(command: str) -> str:
    """Return what `coquina ...` prints."""
    words = command.split()
    if words[0] != "coquina":
        raise ValueError(f"{command}: is no command of ours")
    done = subprocess.run(
        [sys.executable, "-m", "coquina.cli", *words[1:]], check=True, stdout=subprocess.PIPE, text=True
    )
    return _near(done.stdout)


def _near(text: str) -> str:
    """Return a text with names of files here as they are called here."""
    return text.replace(f"{os.getcwd()}{os.sep}", "")


def main() -> None:
    """Write all pages of the guide anew that show what examples print."""
    for path in sorted((ROOT / "docs").rglob("*.md")):
        text = path.read_text()
        if not any(match["shown"] or match["command"] for match in EXAMPLE.finditer(text)):
            continue
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            found = filled(text, str(path))
        if found != text:
            path.write_text(found)
            print(path.relative_to(ROOT))


if __name__ == "__main__":
    main()
