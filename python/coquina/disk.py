"""Files on disk: new files, named when they are complete, and waiting until the disk has them."""

from __future__ import annotations

import os
import secrets
import shutil
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Generator


@contextmanager
def new_file(path: str) -> Generator[str]:
    """Give the path of a file to write; it replaces `path` when the block ends, and is removed if that fails.

    The file keeps the permissions of the one that it replaces. A link still points where it did.
    """
    target = os.path.realpath(path)
    folder, name = os.path.split(target)
    temporary = os.path.join(folder, f".{name[:100]}.{secrets.token_hex(4)}")
    try:
        yield temporary
        if os.path.exists(target):
            shutil.copymode(target, temporary)
        os.replace(temporary, target)
    except BaseException:
        if os.path.exists(temporary):
            os.unlink(temporary)
        raise


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
