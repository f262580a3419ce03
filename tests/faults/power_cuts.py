"""Files as a power cut may leave them, from a log of the calls that a run has made.

In: the folder as it was, the log, a call at which power is cut, and a seed. Out: the folder as it may be:

- of each file, bytes that were written before its last sync are there; of those behind it each sector of 512
  bytes may be there or not, whatever came first, so that an old sector may lie beside a newer one;
- names (create, rename, link, unlink, folders) and truncations that were not synced may be lost too, but in
  their order: the file system has a journal of them, of which a prefix is there. Names are synced with their
  folder; the length of a file, and the name it was made by, with the file;
- what no sector was written for reads as zeros.

A file is its inode, as it was made: names lead to it.
"""

from __future__ import annotations

import os
import shutil
import struct
from dataclasses import dataclass
from pathlib import Path

import numpy as np

SECTOR = 512
NOTE, WRITE, TRUNCATE, SYNC, CREATE, RENAME, LINK, UNLINK, MKDIR, RMDIR, ALLOCATE = range(11)
_NAMES = (CREATE, RENAME, LINK, UNLINK, MKDIR, RMDIR)
_EXCHANGE = 2
_HEAD = struct.Struct("7q")


@dataclass
class Call:
    """A call of the log. offset: for those without bytes the new length, the number of a note, or flags."""

    kind: int
    file: int
    offset: int
    path: str
    second: str
    content: bytes


def read_log(path: str | Path) -> list[Call]:
    """Return the calls of a log; each file with a number of its own, also where an inode is used again."""
    log, at, calls = Path(path).read_bytes(), 0, []
    lives: dict[int, int] = {}
    while at < len(log):
        kind, inode, offset, _, first, second, length = _HEAD.unpack_from(log, at)
        at += _HEAD.size
        parts = []
        for part in (first, second, length):
            parts.append(log[at : at + part])
            at += part
        if kind == CREATE:
            lives[inode] = lives.get(inode, 0) + 1
        number = inode * 1000 + lives.get(inode, 0)
        calls.append(Call(kind, number, offset, os.fsdecode(parts[0]), os.fsdecode(parts[1]), parts[2]))
    return calls


@dataclass(frozen=True)
class Before:
    """A folder before the log begins: files by path, their numbers, and folders."""

    root: str
    numbers: dict[str, int]
    contents: dict[int, bytes]
    folders: tuple[str, ...]

    @classmethod
    def of(cls, root: str) -> Before:
        """Read a folder."""
        numbers, contents, folders = {}, {}, []
        for folder, _, names in os.walk(root):
            folders.append(folder)
            for name in names:
                path = os.path.join(folder, name)
                numbers[path] = os.lstat(path).st_ino * 1000
                contents[numbers[path]] = Path(path).read_bytes()
        return cls(root, numbers, contents, tuple(folders))


def committed(calls: list[Call], cut: int) -> int:
    """Return how many commits were reported before the cut."""
    return max([call.offset for call in calls[:cut] if call.kind == NOTE], default=0)


def leave(before: Before, calls: list[Call], cut: int, seed: int, target: str) -> None:
    """Make the folder `target` as a power cut after the first `cut` calls may leave the one that was."""
    rng = np.random.default_rng((seed, cut))
    # How much is lost differs from cut to cut: nothing, everything, or something between.
    lost = rng.choice([0.0, 1.0, rng.random(), rng.random()])
    calls = calls[:cut]
    synced = {call.file: at for at, call in enumerate(calls) if call.kind == SYNC}
    folders_synced = {call.path: at for at, call in enumerate(calls) if call.kind == SYNC}
    forced = max(
        [at for at, call in enumerate(calls) if _is_forced(at, call, synced, folders_synced)], default=-1
    )
    kept_names = forced if lost == 1 else cut if lost == 0 else int(rng.integers(forced, cut + 1))
    names = _names_of(before, calls, kept_names)
    _write_out(before, names, _contents_of(before, calls, synced, kept_names, lost, rng), target)


def _is_forced(at: int, call: Call, synced: dict[int, int], folders_synced: dict[str, int]) -> bool:
    """Whether a change of names must be there, and with it all before it."""
    if call.kind == CREATE and synced.get(call.file, -1) > at:
        return True
    if call.kind not in _NAMES:
        return False
    folders = [os.path.dirname(one) for one in (call.path, call.second) if one and call.kind != LINK]
    folders += [os.path.dirname(call.second)] if call.kind == LINK else []
    return all(folders_synced.get(folder, -1) > at for folder in folders)


def _names_of(before: Before, calls: list[Call], kept: int) -> dict[str, int]:
    """Return the number of the file of each path; 0 for a folder."""
    names = {**dict.fromkeys(before.folders, 0), **before.numbers}
    for at, call in enumerate(calls):
        if at > kept or call.kind not in _NAMES:
            continue
        if call.kind == CREATE:
            names[call.path] = call.file
        elif call.kind == MKDIR:
            names[call.path] = 0
        elif call.kind == LINK:
            names[call.second] = names[call.path]
        elif call.kind in (UNLINK, RMDIR):
            names.pop(call.path, None)
        else:
            moved = _taken(names, call.path)
            other = _taken(names, call.second)
            names |= {call.second + rest: number for rest, number in moved.items()}
            if call.offset == _EXCHANGE:
                names |= {call.path + rest: number for rest, number in other.items()}
    return names


def _taken(names: dict[str, int], path: str) -> dict[str, int]:
    """Take out a name and those below it; return what is behind the path, with the numbers."""
    found = [one for one in names if one == path or one.startswith(f"{path}/")]
    return {one[len(path) :]: names.pop(one) for one in found}


def _contents_of(
    before: Before,
    calls: list[Call],
    synced: dict[int, int],
    kept_names: int,
    lost: float,
    rng: np.random.Generator,
) -> dict[int, bytearray]:
    contents = {number: bytearray(content) for number, content in before.contents.items()}
    for at, call in enumerate(calls):
        is_synced = at < synced.get(call.file, -1)
        content = contents.setdefault(call.file, bytearray())
        if call.kind == WRITE:
            _put(content, call, 0.0 if is_synced else lost, rng)
        elif call.kind == TRUNCATE and (is_synced or at <= kept_names):
            del content[call.offset :]
            content.extend(bytes(call.offset - len(content)))
        elif call.kind == ALLOCATE and (is_synced or at <= kept_names):
            content.extend(bytes(max(0, call.offset - len(content))))
    return contents


def _put(content: bytearray, call: Call, lost: float, rng: np.random.Generator) -> None:
    """Write the sectors of a call that are not lost."""
    stop = call.offset + len(call.content)
    at = call.offset
    while at < stop:
        until = min(stop, (at // SECTOR + 1) * SECTOR)
        if rng.random() >= lost:
            content.extend(bytes(max(0, until - len(content))))
            content[at:until] = call.content[at - call.offset : until - call.offset]
        at = until


def _write_out(before: Before, names: dict[str, int], contents: dict[int, bytearray], target: str) -> None:
    shutil.rmtree(target, ignore_errors=True)
    os.makedirs(target)
    for path, number in sorted(names.items()):
        out = target + path[len(before.root) :]
        if number == 0:
            os.makedirs(out, exist_ok=True)
        else:
            Path(out).write_bytes(contents.get(number, bytearray()))
