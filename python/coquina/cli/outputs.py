"""What `coquina convert` writes, by the names of the files.

In: the name of an output. Out: nothing, or an error that says which names there are.
Invariant: an output whose name says nothing is refused before anything is read. Plain bytes, which say
    neither what they are nor how many axes they have, are written only to names that say so.
"""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coquina import disk
from coquina.cli import hdf5_paths, store_paths
from coquina.cli.image_files import EXTENSIONS as IMAGES
from coquina.cli.inputs import PLAIN, is_url
from coquina.cli.row_files import ROWS, STORES
from coquina.hdf5_names import HDF5_SUFFIXES
from coquina.remote import new_path

if TYPE_CHECKING:
    from collections.abc import Generator
    from typing import BinaryIO

    import numpy as np

ARRAYS = (".b2nd", ".blp", ".npy", ".npz")


@contextmanager
def new_file(path: str) -> Generator[BinaryIO]:
    """Open a file that gets its name when it is complete."""
    with disk.new_file(new_path(path)) as temporary, open(temporary, "x+b") as file:
        yield file


def check(output: str) -> None:
    """Raise ValueError for the name of an output that says of no kind what it is."""
    if is_url(output):
        raise ValueError(f"{output}: remote files can only be read; write a local file and copy it there")
    known = (*ARRAYS, *STORES, *ROWS, *IMAGES, *PLAIN)
    if output.lower().endswith(known) or hdf5_paths.new_place(output, "/data") is not None:
        return
    if store_paths.new_place(output, "/data") is not None:
        return
    if Path(output).suffix:
        raise ValueError(f"{output}: unknown extension; {kinds()}")


def kinds() -> str:
    """Return which kinds of file there are, by extension."""
    return (
        f"arrays: {', '.join(ARRAYS)}; tables: {', '.join(ROWS)}, or no extension for a directory; "
        f"both: {', '.join((*HDF5_SUFFIXES, *STORES))}; images: {', '.join(IMAGES)}; "
        f"raw bytes: {', '.join(PLAIN)}"
    )


def check_items(dtype: np.dtype[Any], output: str) -> None:
    """Raise ValueError for items of which an array has pointers: text and objects of any length."""
    if dtype.hasobject or dtype.kind == "T":
        raise ValueError(
            f"{output}: items of {dtype} have no fixed size, and files of arrays have no others; "
            ".h5, .csv, .parquet and .feather keep text"
        )
