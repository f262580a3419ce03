"""The folder with our filters as plugins for HDF5: shared libraries, for any program that uses libhdf5."""

from __future__ import annotations

from pathlib import Path

__all__ = ["plugin_path"]

MAIN_LIBRARY = "libcoquina_h5plugin"


def plugin_path() -> str:
    """Return the folder that HDF5_PLUGIN_PATH must name for other programs to use our filters.

    They are Blosc2 (32026), Blosc (32001), LZ4 (32004), Zstd (32015) and bitshuffle (32008). That environment
    variable takes several folders with colons between them. Raises FileNotFoundError if this build has none.
    """
    folder = Path(__file__).parent
    main_library(folder)
    return str(folder)


def main_library(folder: Path | None = None) -> Path:
    """Return the library that holds all filters. Raises FileNotFoundError if it was not built."""
    folder = folder or Path(__file__).parent
    found = next((path for path in folder.glob(f"{MAIN_LIBRARY}.*")), None)
    if found is None:
        raise FileNotFoundError(f"{folder / MAIN_LIBRARY}.*: this build of coquina has no plugins for HDF5")
    return found
