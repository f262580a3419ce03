"""The studies of the gallery, in its order: what each asks, of whom, its figures, how it is summed up.

In: nothing. Out: `STUDIES`. The scripts that measure them import theirs from here; the gallery needs no
more than this and the JSON, so that its page can be made without any of the peers.
Invariant: every figure has a caption, every study a line in the summary.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from bench.common import summaries
from bench.common.summaries import Line, Row


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

    @property
    def module(self) -> str:
        """The name that `python -m` takes."""
        return "bench." + self.script.removesuffix(".py").replace("/", ".")

    def lines(self, rows: Iterable[Mapping[str, Any]]) -> list[dict[str, object]]:
        """The summary of rows as JSON has them."""
        return [line.stored() for line in self.summarize(list(rows))]


CODECS = Study(
    "codecs",
    "arrays/codecs.py",
    "Codecs and filters",
    "This study compresses and decompresses chunks of real data (climate, flights, a CT scan), of ERA5-like "
    "fields and of three levels of entropy with every codec and four combinations of filters. python-blosc2 "
    "gets the same bytes, codec, level, filters and threads. The ratios show the effect of the filters on "
    "measured fields.",
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
    "arrays/small.py",
    "Small buffers",
    "This study measures the overhead of a call: buffers of 1 KB to 64 KB, compared with the faster of "
    "python-blosc2's two functions, which uses one thread.",
    ["blosc2"],
    {"": "Microseconds of a call by size of the buffer."},
    summaries.small_buffers,
    1,
    is_in_memory=False,
)
BLOSCPACK = Study(
    "bloscpack",
    "arrays/bloscpack_grid.py",
    "The Bloscpack paper's grid",
    "Float64 arrays of low, medium and high entropy are written to files and read back as NPY, NPZ, with "
    "joblib, with bloscpack, and as Bloscpack files of coquina with every codec. The page cache is warm; "
    "only coquina syncs a file that replaces another.",
    ["blosc2", "blosc", "bloscpack", "joblib", "lz4"],
    {"": "Ratio against speed, arrays of 100 MB."},
    summaries.packed_files,
    3,
    "levels 1, 3, 5, 7, 9: 7 minutes",
    is_in_memory=False,
)
IMAGES = Study(
    "images",
    "images/images.py",
    "16-bit images",
    "Grey images of CT and MR scanners and an X-ray, one image per block: JPEG 2000 and HTJ2K of "
    "coquina-images, and Zstd and LZ4 with shuffle, bitshuffle and error bounds, compared with Pillow, "
    "imagecodecs (OpenJPEG, OpenJPH, CharLS, libpng), python-blosc2 with its image plugins and HDF5's HTJ2K "
    "filter. The study measures quality (PSNR, SSIM), size and speed.",
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
    "images/fields.py",
    "Lossy compression of float fields",
    "ERA5-like and real fields are stored with the same greatest error: with rounding, truncation and ZFP "
    "under coquina's error bound, python-blosc2's TRUNC_PREC and ZFP, and the HDF5 filters with error bounds "
    "(ZFP, SZ3, SPERR).",
    ["blosc2", "h5py", "hdf5plugin"],
    {
        "ratio": "Ratio by the allowed greatest error.",
        "speed": "Speed of compression and decompression by ratio.",
    },
    summaries.float_fields,
    2,
    "five bounds, larger fields: 15 minutes",
    is_in_memory=False,
)
SLICES = Study(
    "slices",
    "arrays/slices.py",
    "Slices of n-dimensional arrays",
    "Planes along each axis, boxes, single values and whole arrays of four axes are read from memory, from a "
    "file and from a cold file, with the same chunks and codec in python-blosc2, Zarr and h5py. Blocks keep "
    "thin planes cheap. The study also measures appends, opening, small arrays, and the cost of checksums "
    "and commits.",
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
UNSEEN = Study(
    "unseen",
    "arrays/unseen.py",
    "Fields that nothing was tuned by",
    "Eight real fields of climate models, weather forecasts, satellites and radar, none of which was used to "
    "choose a default or to tune code, with one thread and with two: codecs, boxes of cached blocks, cold "
    "files, small appends to files of thousands of chunks, and fields within an error bound, compared with "
    "python-blosc2 and with h5py and its filters.",
    ["blosc2", "h5py", "hdf5plugin"],
    {"": "Milliseconds of a chunk compressed and decompressed, two threads."},
    summaries.unseen_fields,
    6,
    parts=("codecs", "boxes", "cold", "append", "bound"),
    threads="1 and 2",
)
CHUNK_SIZE = Study(
    "chunk-size",
    "arrays/chunk_size.py",
    "Chunk and block sizes",
    "One field is written, read and sliced with chunks from 4 KB to 32 MB, compared with python-blosc2 with "
    "the same chunks and blocks and with h5py with the same chunks and the Blosc2 filter. Small chunks cost "
    "a lookup each; in large chunks, libraries that can decode single blocks have an advantage.",
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
    "hdf5/hdf5.py",
    "HDF5 datasets",
    "This study reads whole datasets with every common filter; hyperplanes, boxes and single values of an "
    "array that PyTables wrote; a stack of images with direct chunk access; small parts of large Blosc2 "
    "chunks; the chunk table of a dataset with a million chunks; and cold files. It also measures small "
    "appends. It compares h5py with hdf5plugin, PyTables and b2h5py.",
    ["h5py", "hdf5plugin", "tables", "blosc2", "b2h5py"],
    {
        "slices": "Hyperplanes along each axis of a dataset of four axes.",
        "direct": "Direct chunk access: a stack of images, a chunk each, written and read.",
    },
    summaries.hdf5_datasets,
    3,
    "every pipeline, every kind of chunk index, longer: 15 minutes",
    ("full", "slices", "direct", "small", "table", "append", "cold"),
)
NODES = Study(
    "many-nodes",
    "hdf5/many_nodes.py",
    "Files with many datasets",
    "An HDF5 file with thousands of small datasets in hundreds of groups is created, opened for one dataset, "
    "traversed, and read completely; then its datasets are read again in an order that repeats some often. "
    "The study compares h5py and PyTables, which caches recently used nodes.",
    ["h5py", "tables"],
    {"": "Microseconds per node."},
    summaries.many_nodes,
    0.5,
    "100,000 datasets: 15 minutes",
    threads="1",
)
COMPUTE = Study(
    "compute",
    "compute/compute.py",
    "Reductions and expressions",
    "Sums, extremes, means and standard deviations of cubes along each axis, and expressions of three "
    "operands, are computed on compressed arrays, compared with python-blosc2 on its compressed arrays, and "
    "with NumPy and numexpr on uncompressed arrays in memory.",
    ["blosc2", "numexpr"],
    {
        "reductions": "Milliseconds of reductions, by data, codec and chunks.",
        "expressions": "Milliseconds of expressions, by data, codec and kind of result.",
    },
    summaries.computing,
    5,
    "both codecs with all chunks, longer: 11 minutes",
    is_in_memory=False,
)
TABLES = Study(
    "tables",
    "tables/table.py",
    "Tables: queries",
    "A table of synthetic weather, 15.6 million rows of 32 bytes, is stored in rows that PyTables reads "
    "(Blosc2 in HDF5 tables) and in columns. The study measures six queries, aggregates and groups, random "
    "rows, appends, memory, and a query of a cold file, compared with PyTables, DuckDB and Polars on "
    "Parquet, and pandas in memory.",
    ["tables", "blosc2", "numexpr", "pandas", "duckdb", "polars", "pyarrow", "h5py"],
    {
        "queries": "Six queries that return one column.",
        "speed": "Whole tables of Blosc2 chunks in HDF5, read and appended to.",
        "small": "Single rows and slices of a hundred.",
        "memory": "Memory of a process after the queries, and its peak.",
    },
    summaries.table_queries,
    3,
    "longer rounds: 8 minutes",
    ("queries", "texts", "names", "aggregates", "reads", "memory", "cold"),
)
INDEXES = Study(
    "indexes",
    "indexes/index.py",
    "Tables: indexed queries",
    "The cost and benefit of indexes on ten million rows: build time, size, memory; ranges of 0 to a million "
    "hits, repeated and in a file opened for one query; conditions of three parts; orders; appends; sorted "
    "tables. The study compares PyTables, python-blosc2's tables and DuckDB.",
    ["tables", "blosc2", "duckdb", "h5py", "numexpr"],
    {
        "build": "Time to index a column, by kind of index.",
        "size": "Size of an index in the file.",
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
    "tuner/tuner.py",
    "Automatic tuning",
    'The choice of codec="auto" for seventy arrays (real data, fields, numbers, images, text, records, '
    "mixtures) with five goals, for reading, writing and both, is compared with every encoding of a grid "
    "measured on the same chunks, every fixed default, and BTune. The study also measures the cost of tuning "
    "and its repeatability.",
    ["blosc2"],
    {
        "regret": "Mean regret by goal: the excess cost over the best encoding of the grid.",
        "speed": "Ratio and speeds of the chosen encodings, from speed to size, among all fixed ones.",
    },
    summaries.tuner_choices,
    15,
    "BTune with every goal, longer turns: half an hour",
    ("choices", "peers", "overhead", "adaptation", "stability"),
    "1",
)
TRILLION = Study(
    "trillion",
    "tables/trillion.py",
    "A trillion rows",
    "Tables of zeros: coquina with 10^9 and 10^12 unwritten rows and with 10^8 appended rows, compared with "
    "PyTables with 10^7 appended rows and its published figures for 10^14. The study measures creation, a "
    "scan, a random row, file size and memory; quantities that grow with the rows are given for 10^9 rows.",
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
    UNSEEN,
    CHUNK_SIZE,
    HDF5,
    NODES,
    COMPUTE,
    TABLES,
    INDEXES,
    TUNER,
    TRILLION,
)
