r"""Text that comes from files, as terminals may show it: what would act on the terminal becomes an escape.

In: names, attributes, values, sentences with these in them. Out: the text with an escape of Python's (`\x1b`,
`\u202e`) for each character that is not seen, moves the cursor, or changes the order in which others appear.
Source: Unicode's categories Cc, Cf, Zl, Zp and Cs, and fillers.
"""

from __future__ import annotations

import re

#: Control characters (C0, DEL, C1), soft hyphens and fillers, marks and isolates of direction, what has no
#: width, separators of lines and paragraphs, annotations, tags, and halves of surrogate pairs.
_UNSEEN = (
    "\x7f-\x9f\xad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f"
    "\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb\ud800-\udfff\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_IN_NAMES = re.compile(f"[\x00-\x1f{_UNSEEN}]")
_IN_TEXT = re.compile(f"[\x00-\x08\x0b-\x1f{_UNSEEN}]")


def quoted(name: object) -> str:
    """Return a name or a value as text of one line that acts on no terminal."""
    return _IN_NAMES.sub(_escape, str(name))


def quoted_lines(text: object) -> str:
    """Return text that acts on no terminal; its line breaks and tabs stay."""
    return _IN_TEXT.sub(_escape, str(text))


def _escape(found: re.Match[str]) -> str:
    return found[0].encode("unicode_escape").decode("ascii")


__all__ = ["quoted", "quoted_lines"]
