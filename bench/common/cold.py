"""What a cold cache is here: the system was asked to drop a file's pages before each call, and did.

In: paths of files and folders. Out: nothing, or whether it works.
Source: posix_fadvise(2), POSIX_FADV_DONTNEED, which needs no rights; preadv2(2), RWF_NOWAIT, which reads
what is in the page cache and refuses the rest. A virtual machine's disk may still be in the memory of its
host.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

PROBE = 1 << 20  # bytes


def evict(paths: Iterable[Path]) -> None:
    """Asks the system to drop the pages of these files and folders; what is not yet on the disk stays."""
    for path in paths:
        for file in path.rglob("*") if path.is_dir() else [path]:
            if file.is_file():
                descriptor = os.open(file, os.O_RDONLY)
                try:
                    os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
                finally:
                    os.close(descriptor)


def is_cached(path: Path) -> bool:
    """True if the file's first bytes are in the page cache; OSError where the system does not tell."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        return os.preadv(descriptor, [bytearray(1)], 0, os.RWF_NOWAIT) == 1
    except BlockingIOError:
        return False
    finally:
        os.close(descriptor)


def works_in(folder: Path) -> bool:
    """True if files of this folder leave the page cache when they are asked to."""
    probe = folder / "probe"
    try:
        with probe.open("wb") as file:
            file.write(os.urandom(PROBE))
            file.flush()
            os.fsync(file.fileno())
        before = is_cached(probe)
        evict([probe])
        return before and not is_cached(probe)
    except (AttributeError, OSError):  # another system, or a file system without pages
        return False
    finally:
        probe.unlink(missing_ok=True)
