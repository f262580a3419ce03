"""Whether there is memory for a result, asked before it is made.

In: a number of bytes. Out: nothing, or MemoryError with a hint. Linux promises memory that it does not
have, and then kills the process; where the system cannot be asked, NumPy's own MemoryError is all there is.
"""

from __future__ import annotations

#: Fewer bytes are not asked for.
_UNASKED_BYTES = 1 << 28


def check_memory(nbytes: int, what: str) -> None:
    """Raise MemoryError if a result of `nbytes` bytes has no chance to fit."""
    if nbytes <= _UNASKED_BYTES:
        return
    available = available_bytes()
    if available is not None and nbytes > available:
        raise MemoryError(
            f"{what} decodes to {nbytes / 2**30:.1f} GiB, and {available / 2**30:.1f} GiB of memory are "
            "available: read a part with a[key], or iterate with iterchunks()"
        )


def available_bytes() -> int | None:
    """Return how many bytes this process may still take, None if the system does not say."""
    found = [bytes_left for bytes_left in (_system_bytes(), _cgroup_bytes()) if bytes_left is not None]
    return min(found, default=None)


def _system_bytes() -> int | None:
    try:
        lines = _text("/proc/meminfo").splitlines()
    except OSError:
        return None
    free = [int(line.split()[1]) * 1024 for line in lines if line.startswith(("MemAvailable:", "SwapFree:"))]
    return sum(free) if free else None


def _cgroup_bytes() -> int | None:
    folder = "/sys/fs/cgroup/memory"
    try:
        limit = _text(f"{folder}.max").strip()
        used = int(_text(f"{folder}.current"))
        stat = dict(line.split() for line in _text(f"{folder}.stat").splitlines())
    except (OSError, ValueError):
        return None
    if limit == "max":
        return None
    # Pages of files that nobody uses count as used, and are given back when they are needed.
    return int(limit) - used + int(stat.get("inactive_file", 0))


def _text(path: str) -> str:
    with open(path, encoding="ascii") as file:
        return file.read()
