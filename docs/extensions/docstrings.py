"""Our docstrings as reStructuredText.

In: a docstring of the package: paragraphs, some of which say of each parameter what it is
(`name: what it is`, continued in lines that are indented), examples, names in single backticks.
Out: lines that docutils reads: lists for parameters, literals for names, all else as plain text.
"""

from __future__ import annotations

import re

PARAMETER = re.compile(r"^(\*{0,2}\w+(?:, \*{0,2}\w+)*): (?=\S)")
LITERAL = re.compile(r"(`[^`]+`)")
SPECIAL = re.compile(r"([\\*_|`<]|:(?=//))")


def _text(text: str) -> str:
    parts = LITERAL.split(" ".join(text.split()))
    return "".join(f"`{part}`" if part[:1] == "`" else SPECIAL.sub(r"\\\1", part) for part in parts)


def _list(lines: list[str], parameters: frozenset[str]) -> list[str]:
    items: list[str] = []
    for line in lines:
        if PARAMETER.match(line):
            items.append(line)
        else:
            items[-1] += " " + line.strip()
    out = []
    for item in [part for one in items for part in _split(one, parameters)]:
        name, _, what = item.partition(": ")
        out.append(f"* ``{name}``: {_text(what)}")
    return out


def _split(item: str, parameters: frozenset[str]) -> list[str]:
    """Return the parameters of an item, of which one line may describe several: `a: this. b: that.`"""
    parts = re.split(r"(?<=\.) (?=[a-z_]\w*(?:, [a-z_]\w*)*: )", item)
    found = [parts[0]]
    for part in parts[1:]:
        names = part.partition(": ")[0].split(", ")
        if parameters.issuperset(names):
            found.append(part)
        else:
            found[-1] += f" {part}"
    return found


def _paragraph(lines: list[str], parameters: frozenset[str]) -> list[str]:
    first = lines[0]
    if first.lstrip().startswith(">>>"):
        return lines
    if PARAMETER.match(first) and first[0].islower():
        return _list(lines, parameters)
    if first.lstrip().startswith("- "):
        joined: list[str] = []
        for line in lines:
            if line.lstrip().startswith("- "):
                joined.append(line.strip()[2:])
            else:
                joined[-1] += " " + line.strip()
        return [f"* {_text(item)}" for item in joined]
    if re.match(r"^\s*[|+=]", first) or (len(lines) > 1 and all(line.startswith("    ") for line in lines)):
        return ["::", "", *(f"    {line}" for line in lines)]
    return [_text(" ".join(lines))]


def as_restructured_text(lines: list[str], parameters: frozenset[str] = frozenset()) -> list[str]:
    """Return the lines of a docstring, as docutils is to read them. parameters: those of the function."""
    out: list[str] = []
    paragraph: list[str] = []
    for line in [*lines, ""]:
        if line.strip():
            paragraph.append(line.rstrip())
        elif paragraph:
            out += [*_paragraph(paragraph, parameters), ""]
            paragraph = []
    return out
