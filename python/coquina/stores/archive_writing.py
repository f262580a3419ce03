"""ZIP archives that are written: leaves as they are stored, and nothing compressed once more.

In: leaves by the paths of their files. Out: a file, in which frames are read in place.
Source: docs/formats/blosc2-stores.md, "Archives".
"""

from __future__ import annotations

import os
import zipfile
from typing import TYPE_CHECKING

from coquina.folder_members import STORE
from coquina.stores.archive import Member

if TYPE_CHECKING:
    from collections.abc import Mapping

    from coquina.stores.leaves import FileLeaf


def write_archive(path: str, leaves: Mapping[str, FileLeaf | Member]) -> None:
    """Write a new file: the largest leaf first, and `embed.b2e` last.

    Raises CorruptError for a member of another archive whose CRC-32 is not that of its bytes.
    """
    sizes = {name: _size(leaf) for name, leaf in leaves.items()}
    with zipfile.ZipFile(path, "x", zipfile.ZIP_STORED) as archive:
        for name in sorted(leaves, key=lambda name: (name == STORE, -sizes[name], name)):
            # Without a time, so that equal stores are equal files.
            info = zipfile.ZipInfo(name)
            info.file_size, info.external_attr = sizes[name], 0o644 << 16
            with archive.open(info, "w") as file:
                for piece in leaves[name].pieces():
                    file.write(piece)


def _size(leaf: FileLeaf | Member) -> int:
    return leaf.info.file_size if isinstance(leaf, Member) else os.path.getsize(leaf.place)
