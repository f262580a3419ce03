"""The bytes of files, whole or by ranges, as HTTP has them: `/raw/FILE`.

In: the place of a file, and headers of a request. Out: status, headers, and which bytes are sent.
Source: RFC 9110, sections 8.8 (validators), 13 (conditions) and 14 (ranges).
Invariant: bytes of one answer are of one state of the file: it is opened once, and its state is in the ETag.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, replace
from email.utils import formatdate, parsedate_to_datetime
from typing import TYPE_CHECKING

from coquina.server.failures import RequestError, not_found

if TYPE_CHECKING:
    from collections.abc import Mapping

    from coquina.server.root import Place

_RANGE = re.compile(r"bytes=\s*(\d{0,18})\s*-\s*(\d{0,18})\s*\Z")


@dataclass(frozen=True, slots=True)
class RawAnswer:
    """What is sent of a file. descriptor: open, to be closed by whoever sends; None without bytes."""

    status: int
    headers: dict[str, str]
    descriptor: int | None
    start: int
    stop: int


def with_headers(answer: RawAnswer, headers: dict[str, str]) -> RawAnswer:
    """Return an answer with these headers."""
    return replace(answer, headers=headers)


def answer(place: Place, headers: Mapping[str, str], *, is_head: bool) -> RawAnswer:
    """Return what a request gets of a file. Raises RequestError: 404 for folders, 416 for bytes beyond it."""
    if not os.path.isfile(place.path):
        raise not_found(f"{place.name!r}: no file")
    # What was replaced by a pipe meanwhile is not waited for.
    descriptor = os.open(place.path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOFOLLOW)
    try:
        made = _answer(descriptor, headers)
    except BaseException:
        os.close(descriptor)
        raise
    if is_head or made.start == made.stop:
        os.close(descriptor)
        return RawAnswer(made.status, made.headers, None, made.start, made.start)
    return made


def _answer(descriptor: int, headers: Mapping[str, str]) -> RawAnswer:
    stat = os.fstat(descriptor)
    tag = f'"{stat.st_ino:x}-{stat.st_size:x}-{stat.st_mtime_ns:x}"'
    known = {
        "ETag": tag,
        "Last-Modified": formatdate(stat.st_mtime, usegmt=True),
        "Accept-Ranges": "bytes",
        "Cache-Control": "private, no-cache",
        "Content-Type": "application/octet-stream",
    }
    if _is_known(headers, tag, stat.st_mtime):
        return RawAnswer(304, known, descriptor, 0, 0)
    wanted = headers.get("range")
    if wanted is not None and _is_valid(headers.get("if-range"), tag, stat.st_mtime):
        part = _part(wanted, stat.st_size)
        if part is not None:
            start, stop = part
            known["Content-Range"] = f"bytes {start}-{stop - 1}/{stat.st_size}"
            known["Content-Length"] = str(stop - start)
            return RawAnswer(206, known, descriptor, start, stop)
    known["Content-Length"] = str(stat.st_size)
    return RawAnswer(200, known, descriptor, 0, stat.st_size)


def is_matched(header: str, tag: str) -> bool:
    """Whether a list of ETags names this one; weak ones are compared as strong ones."""
    if header.strip() == "*":
        return True
    return any(one.strip().removeprefix("W/") == tag for one in header.split(","))


def _is_known(headers: Mapping[str, str], tag: str, modified: float) -> bool:
    given = headers.get("if-none-match")
    if given is not None:
        return is_matched(given, tag)
    since = headers.get("if-modified-since")
    try:
        return since is not None and int(modified) <= parsedate_to_datetime(since).timestamp()
    except (ValueError, TypeError, OverflowError):
        return False


def _is_valid(condition: str | None, tag: str, modified: float) -> bool:
    """Whether a range is of what the client has: If-Range takes a strong ETag, or the exact date."""
    if condition is None:
        return True
    if condition.startswith(('"', "W/")):
        return condition.strip() == tag
    try:
        return parsedate_to_datetime(condition).timestamp() == int(modified)
    except (ValueError, TypeError, OverflowError):
        return False


def _part(text: str, size: int) -> tuple[int, int] | None:
    """Return start and stop of the one range that a header names; None for what is taken as no range at all.

    Raises RequestError with status 416 for a range that begins beyond the end.
    """
    match = _RANGE.match(text)
    if match is None:
        return None
    first, last = match.groups()
    if not first and not last:
        return None
    if not first:
        start, stop = max(0, size - int(last)), size
    else:
        start, stop = int(first), min(size, int(last) + 1) if last else size
        if last and int(last) < int(first):
            return None
    if start >= size or start >= stop:
        raise RequestError(416, "range", f"{text[:60]}: the file has {size} bytes")
    return start, stop
