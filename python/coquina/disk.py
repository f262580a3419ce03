"""Waiting until the disk has what was written: files, the names in folders, and all that is below one."""

from __future__ import annotations

import os


def sync_path(path: str) -> None:
    """Wait until the disk has a file, or the names in a folder."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sync_folder(folder: str) -> None:
    """Wait until the disk has the names in a folder, where that can be asked for."""
    if os.name == "posix":
        sync_path(folder)


def sync_below(path: str) -> None:
    """Wait until the disk has a file, or a folder with all files and folders below it."""
    if not os.path.isdir(path):
        sync_path(path)
        return
    for folder, _, names in os.walk(path):
        for name in names:
            sync_path(os.path.join(folder, name))
        sync_folder(folder)
