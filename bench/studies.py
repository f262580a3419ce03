"""The studies of the gallery, in its order: what each asks, of whom, its figures, how it is summed up.

In: nothing. Out: `STUDIES`. The scripts that measure them import theirs from here; the gallery needs no
more than this and the JSON, so that its page can be made without any of the peers.
Invariant: every figure has a caption, every study a line in the summary.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import summaries
from summaries import Line, Row


@dataclass(frozen=True)
class Study:
    """A study: `name` begins its files, `figures` are the captions of its plots by suffix.

    full: what `--full` does beyond, "" if there is no such thing. minutes: of the default run on two cores.
    """

    name: str
    script: str
    title: str
    text: str
    packages: Sequence[str]
    figures: Mapping[str, str]
    summarize: Callable[[Sequence[Row]], Iterator[Line]]
    minutes: float
    full: str = ""
    parts: Sequence[str] = ()
    threads: str = "2"
    is_in_memory: bool = field(default=True, kw_only=True)

    def lines(self, rows: Iterable[Mapping[str, Any]]) -> list[dict[str, object]]:
        """The summary of rows as JSON has them."""
        return [line.stored() for line in self.summarize(list(rows))]


CODECS = Study(
    "codecs",
    "codecs.py",
    "Codecs and filters",
    "Chunks of real data (climate, flights, a CT scan), of ERA5-like fields and of three levels of "
    "entropy, packed and unpacked by every codec with four combinations of filters, beside python-blosc2 "
    "with the same bytes, codec, level, filters and threads. What byte planes and their differences do for "
    "measured fields shows in the ratios.",
    ["blosc2"],
    {
        "era5": "ERA5-like fields: ratio against speed, level 5, by codec and filters.",
        "real": "Real sets: the same.",
    },
    summaries.chunk_engine,
    5,
    "every level, every set, 400 MB: over an hour",
)
SMALL = Study(
    "small",
    "small.py",
    "Small buffers",
    "What a call costs beyond the codec: buffers of 1 KB to 64 KB, beside the faster of python-blosc2's "
    "two ways to call it, which has one thread.",
    ["blosc2"],
    {"": "Microseconds of a call by size of the buffer."},
    summaries.small_buffers,
    1,
    is_in_memory=False,
)
BLOSCPACK = Study(
    "bloscpack",
    "bloscpack_grid.py",
    "The Bloscpack paper's grid",
    "Float64 arrays of low, medium and high entropy, written to files and read back: NPY, NPZ, joblib, "
    "bloscpack, and Bloscpack files of ours with every codec. The page cache is warm; ours alone syncs a "
    "file that replaces another.",
    ["blosc2", "blosc", "bloscpack", "joblib", "lz4"],
    {"": "Ratio against speed, arrays of 100 MB."},
    summaries.packed_files,
    3,
    "levels 1, 3, 5, 7, 9: 7 minutes",
    is_in_memory=False,
)
IMAGES = Study(
    "images",
    "images.py",
    "Images of 16 bits",
    "Grey images of CT and MR scanners and an X-ray, an image a block: JPEG 2000 and HTJ2K of "
    "coquina-images, zstd and lz4 on shuffled bits or bytes and contracts, beside Pillow, imagecodecs "
    "(OpenJPEG, OpenJPH, CharLS, libpng), python-blosc2 with its image plugins and HDF5's HTJ2K filter. What "
    "each keeps (PSNR, SSIM), what it takes, how fast it is.",
    ["coquina-images", "pillow", "imagecodecs", "blosc2", "blosc2-j2k", "blosc2-htj2k", "hdf5plugin"],
    {
        "quality": "PSNR and dissimilarity by ratio, a curve for each library and codec.",
        "speed": "Speed of compression and decompression by ratio.",
    },
    summaries.image_codecs,
    2.5,
    is_in_memory=False,
)
FIELDS = Study(
    "fields",
    "fields.py",
    "Float fields within a bound",
    "ERA5-like and real fields, kept so that no item is off by more than a bound: rounding, truncation and "
    "ZFP under coquina's contract, python-blosc2's TRUNC_PREC and ZFP, and the filters of HDF5 that promise "
    "bounds (ZFP, SZ3, SPERR), all told the same greatest error.",
    ["blosc2", "h5py", "hdf5plugin"],
    {
        "ratio": "Ratio by the greatest error that is allowed.",
        "speed": "Speed of compression and decompression by ratio.",
    },
    summaries.float_fields,
    2,
    "five bounds, larger fields: 15 minutes",
    is_in_memory=False,
)
SLICES = Study(
    "slices",
    "slices.py",
    "Slices of n-dimensional arrays",
    "Planes along each axis, boxes, elements and all of arrays of four axes, in memory, in a file and in a "
    "cold file, with the same chunks and codec, beside python-blosc2, Zarr and h5py. Chunks of blocks are "
    "why a thin plane does not cost a thick one. Then appending, opening, small arrays, and what checksums "
    "and commits cost.",
    ["blosc2", "zarr", "numcodecs", "h5py", "hdf5plugin"],
    {
        "memory": "Time of a plane along each axis and of a box, arrays in memory.",
        "file": "The same from files in the page cache.",
    },
    summaries.array_slices,
    4,
    "a third array: 16 minutes",
    ("volumes", "append", "open", "small", "safety"),
    is_in_memory=False,
)
CHUNK_SIZE = Study(
    "chunk-size",
    "chunk_size.py",
    "The size of chunks and blocks",
    "One field written, read and sliced with chunks from 4 KB to 32 MB, beside python-blosc2 at the same "
    "chunks and blocks and h5py at the same chunks with the Blosc2 filter. Small chunks cost a lookup "
    "each, large ones are read through their blocks, where a library can.",
    ["blosc2", "h5py", "hdf5plugin"],
    {
        "speed": "Speed of writing and reading all of it, planes and boxes, by size of the chunks.",
        "blocks": "Chunks of 4 MB by size of their blocks: the same.",
    },
    summaries.chunk_sizes,
    1.5,
    "8 times the data: 12 minutes",
)
HDF5 = Study(
    "hdf5",
    "hdf5.py",
    "HDF5 datasets",
    "All of a dataset through every common filter; hyperplanes, boxes and elements of an array that "
    "PyTables wrote; a stack of images whose chunks are written and read directly; small parts of big "
    "Blosc2 chunks; the table of a million chunks; small appends; first reads of a cold file. Beside h5py "
    "with hdf5plugin, PyTables, b2h5py.",
    ["h5py", "hdf5plugin", "tables", "blosc2", "b2h5py"],
    {
        "slices": "Hyperplanes along each axis of a dataset of four axes.",
        "direct": "Direct chunking: a stack of images, a chunk each, written and read.",
    },
    summaries.hdf5_datasets,
    3,
    "every pipeline, every kind of chunk index, longer: 15 minutes",
    ("full", "slices", "direct", "small", "table", "append", "cold"),
)
NODES = Study(
    "many-nodes",
    "many_nodes.py",
    "Files of many nodes",
    "An HDF5 file with thousands of small datasets in hundreds of groups: made, opened for one dataset, "
    "walked, each read, and each read again in an order that comes back to some often, beside h5py and "
    "PyTables, which keeps the nodes that were used last.",
    ["h5py", "tables"],
    {"": "Microseconds per node."},
    summaries.many_nodes,
    0.5,
    "100,000 datasets: 15 minutes",
    threads="1",
)
COMPUTE = Study(
    "compute",
    "compute.py",
    "Reductions and expressions",
    "Sums, extremes, means and deviations of cubes along each axis, and expressions of three operands, of "
    "compressed arrays, beside python-blosc2 on its own compressed arrays, NumPy and numexpr on plain "
    "memory.",
    ["blosc2", "numexpr"],
    {
        "reductions": "Milliseconds of reductions, by data, codec and chunks.",
        "expressions": "Milliseconds of expressions, by data, codec and kind of result.",
    },
    summaries.computing,
    3,
    "both codecs with all chunks, longer: 11 minutes",
    is_in_memory=False,
)
TABLES = Study(
    "tables",
    "table.py",
    "Tables: queries in the kernel",
    "A table of synthetic weather, 15.6 million rows of 32 bytes, in rows that PyTables reads (Blosc2 in "
    "HDF5 tables) and in columns: six queries, folds and groups, random rows, appending, memory, and a "
    "query from a cold file. Beside PyTables, DuckDB and Polars on Parquet, pandas in memory.",
    ["tables", "blosc2", "numexpr", "pandas", "duckdb", "polars", "pyarrow", "h5py"],
    {
        "queries": "Six queries that return one column.",
        "speed": "Whole tables of Blosc2 chunks in HDF5, read and appended to.",
        "small": "Single rows and slices of a hundred.",
        "memory": "Memory that a process keeps after the queries, and has at the highest.",
    },
    summaries.table_queries,
    3,
    "longer rounds: 8 minutes",
    ("queries", "texts", "aggregates", "reads", "memory", "cold"),
)
INDEXES = Study(
    "indexes",
    "index.py",
    "Tables: indexed queries",
    "What indexes of ten million rows cost and give: builds, sizes, memory; ranges of 0 to a million hits, "
    "asked again and of a file opened for one query; conditions of three parts; orders; appends; sorted "
    "tables. Beside PyTables, python-blosc2's tables and DuckDB.",
    ["tables", "blosc2", "duckdb", "h5py", "numexpr"],
    {
        "build": "Time to index a column, by kind of index.",
        "size": "What an index adds to the file.",
        "queries": "One column of the rows in a range, by hits.",
        "levels": "The same by kinds of indexes.",
        "complex": "A condition of three parts, and sorted tables.",
    },
    summaries.table_indexes,
    7,
    "100 million rows, some of the parts: half an hour and 30 GB of disk",
    ("builds", "levels", "memory", "queries", "first", "rows", "complex", "orders", "appends", "sorted"),
)
TUNER = Study(
    "tuner",
    "tuner.py",
    "Automatic tuning",
    'What codec="auto" takes for seventy arrays (real sets, fields, numbers, images, text, records, '
    "mixtures) with five goals, for reading, writing and both, beside every way of a grid that was measured "
    "on the same chunks, every fixed default, and BTune. What choosing costs, whether it is the same again.",
    ["blosc2"],
    {
        "regret": "Mean regret by goal: how much worse than the best way of the grid.",
        "speed": "Ratio and speeds of what was chosen, from speed to size, among all fixed ways.",
    },
    summaries.tuner_choices,
    15,
    "BTune with every goal, longer turns: half an hour",
    ("choices", "peers", "overhead", "adaptation", "stability"),
    "1",
)
TRILLION = Study(
    "trillion",
    "trillion.py",
    "A trillion rows",
    "Tables of zeros: ours of 10^9 and 10^12 rows that nobody wrote, and of 10^8 that were appended, "
    "beside PyTables with 10^7 appended rows and the figures that were published of 10^14: create, scan, a "
    "random row, file, memory. Whatever grows with the rows is told by 10^9 of them.",
    ["tables", "h5py"],
    {"": "Six figures of tables of zeros."},
    summaries.trillion_rows,
    0.5,
)
STUDIES = (
    CODECS,
    SMALL,
    BLOSCPACK,
    IMAGES,
    FIELDS,
    SLICES,
    CHUNK_SIZE,
    HDF5,
    NODES,
    COMPUTE,
    TABLES,
    INDEXES,
    TUNER,
    TRILLION,
)
