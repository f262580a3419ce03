"""The first plots of the gallery with their conclusions, and the six figures of the README.

In: nothing. Out: `PLOTS`, each with a sentence whose figures come from stored lines; `README`, lines by name.
Invariant: every line that is named here is in the summary of its study; otherwise the gallery is not made.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Named:
    """A stored line by its study, work and peer; `label` is its row in the README."""

    study: str
    work: str
    peer: str
    label: str = ""


@dataclass(frozen=True)
class Plot:
    """A plot, and what to conclude: `{0}`, `{1}` are the mean ratios of the lines."""

    figure: str
    conclusion: str
    lines: Sequence[Named]


PLOTS = (
    Plot(
        "slices-memory",
        "**Slices.** Planes, boxes and elements of compressed arrays take less time than in python-blosc2: "
        "coquina is {0} as fast on average, because it decodes only the blocks that a slice touches.",
        [Named("slices", "planes along each axis, boxes, elements, all", "python-blosc2")],
    ),
    Plot(
        "hdf5-slices",
        "**HDF5.** Reading a whole dataset is {0} as fast as with h5py, over all filter pipelines. Reading "
        "small parts of large Blosc2 chunks is {1} as fast, because h5py decodes whole chunks.",
        [Named("hdf5", "read all, every pipeline", "h5py"), Named("hdf5", "small parts", "h5py")],
    ),
    Plot(
        "tables-queries",
        "**Queries.** Six queries of 15.6 million rows are {0} as fast as in PyTables, {1} as fast as in "
        "DuckDB and {2} as fast as in Polars, both on Parquet.",
        [
            Named("tables", "six queries, rows", "PyTables"),
            Named("tables", "six queries, columns", "DuckDB"),
            Named("tables", "six queries, columns", "Polars"),
        ],
    ),
    Plot(
        "indexes-queries",
        "**Indexes.** A complete index is built {0} as fast as in PyTables, and repeated indexed queries are "
        "{1} as fast.",
        [
            Named("indexes", "build a complete index", "PyTables"),
            Named("indexes", "indexed queries, asked again", "PyTables"),
        ],
    ),
    Plot(
        "compute-reductions",
        "**Computing.** Reductions of compressed arrays are {0} as fast as in python-blosc2, but {1} as fast "
        "as NumPy on an array that already is in memory: compression saves memory here, not time.",
        [
            Named("compute", "reductions", "python-blosc2"),
            Named("compute", "reductions, beside plain memory", "NumPy"),
        ],
    ),
    Plot(
        "codecs-era5",
        "**Codecs and filters.** Filters raise the compression ratio of measured fields with every codec. "
        "Compression is {0} as fast as in python-blosc2 and decompression {1} as fast, at equal settings.",
        [
            Named("codecs", "compress, 1 to 40 MB, every codec and filter", "python-blosc2"),
            Named("codecs", "decompress, 1 to 40 MB, every codec and filter", "python-blosc2"),
        ],
    ),
)

README = (
    Named(
        "hdf5",
        "read all, every pipeline",
        "h5py",
        "read a whole HDF5 dataset, 21 filter pipelines",
    ),
    Named("hdf5", "small parts", "h5py", "read small parts of large Blosc2 chunks in HDF5"),
    Named(
        "slices", "planes along each axis, boxes, elements, all", "python-blosc2", "slice compressed arrays"
    ),
    Named("tables", "six queries, rows", "PyTables", "six queries of a PyTables file, 15.6 M rows"),
    Named("tables", "six queries, columns", "DuckDB", "the same queries in columns, DuckDB on Parquet"),
    Named(
        "compute",
        "reductions, beside plain memory",
        "NumPy",
        "reduce an array that fits in memory uncompressed",
    ),
)
