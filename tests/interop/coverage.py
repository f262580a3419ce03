"""What is read and written of other systems' formats, and the test against the live peer that says so.

`python -m tests.interop.coverage` prints the page that docs/supported-formats.md is.
"""

# ruff: noqa: E501 (a table)

from __future__ import annotations

from typing import NamedTuple

from tests.interop import peer_names


class Row(NamedTuple):
    """Something that a system has. read, written: a test as `file::name`, or the reason why not."""

    system: str
    kind: str
    name: str
    read: str
    written: str


_ARRAYS = "tests/interop/test_arrays.py"
_KINDS = "tests/interop/test_blosc2_kinds.py"
_AXES = "tests/interop/test_axis_codecs.py"
_IMAGES = "tests/interop/test_image_codecs.py"
_PACKS = "tests/interop/test_bloscpack.py"
_FRAMES = "tests/interop/test_frames.py"
_SAVED = "tests/test_saved_expressions.py"
_PLUGINS = "tests/interop/test_blosc2_plugins.py"
_STORES = "tests/stores"

_THERE = f"{_ARRAYS}::test_coquina_reads_what_python_blosc2_writes"
_HERE = f"{_ARRAYS}::test_python_blosc2_reads_what_coquina_writes"
_VALUES = f"{_STORES}/test_ctable_values.py"
_WRITTEN_COLUMNS = f"{_STORES}/test_ctable_writing.py::test_all_columns_are_read_back_by_both"
_CPARAMS = "tests/interop/test_blosc2_options.py::test_arrays_of_every_option_of_cparams_are"
_STORAGE = "tests/interop/test_blosc2_options.py::test_arrays_of_every_option_of_storage_are_read"
_FOR_STORAGE = "tests/interop/test_blosc2_options.py::test_arrays_for_every_option_of_storage_are_written"
_SIZES = "tests/interop/test_blosc2_options.py::test_sizes_of_items_and_blocks_go_both_ways"
_PACK_OPTIONS = "tests/interop/test_bloscpack_options.py::test_files_of_every_option_are"
_APPENDING = "tests/interop/test_bloscpack_options.py::test_appending_and_files_of_any_name_go_both_ways"
_PYTABLES = "tests/interop/test_pytables_kinds.py"
_FIXTURES = "tests/tables/test_pytables_fixtures.py::test_all_nodes_have_the_values_that_pytables_reads"
_VLARRAYS = "tests/tables/test_vlarrays.py"
_ATOMS = (
    "StringAtom",
    "BoolAtom",
    *(f"{kind}{bits}Atom" for kind in ("Int", "UInt") for bits in (8, 16, 32, 64)),
    *(f"Float{bits}Atom" for bits in (16, 32, 64, 128)),
    *(f"Complex{bits}Atom" for bits in (64, 128, 256)),
    "Time32Atom",
    "Time64Atom",
    "EnumAtom",
)
_ITEMS = (
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "float32",
    "float64",
    "complex64",
    "complex128",
)
_CELLS = f"{_AXES}::test_filters_of_cells_are_read_both_ways"
_ZFP = f"{_AXES}::test_zfp_streams_are_those_of_python_blosc2_bit_for_bit"
_BOTH_PACKS = f"{_PACKS}::test_bytes_go_both_ways_with_every_checksum_codec_and_shuffle"

_BLOSC2 = "Blosc2"
_PACK = "Bloscpack"
_TABLES = "PyTables"

ROWS = (
    *(Row(_BLOSC2, "codec", name, _THERE, _HERE) for name in ("BLOSCLZ", "LZ4", "LZ4HC", "ZLIB", "ZSTD")),
    Row(_BLOSC2, "codec", "NDLZ", *(f"{_AXES}::test_ndlz_is_read_both_ways",) * 2),
    *(Row(_BLOSC2, "codec", name, _ZFP, _ZFP) for name in ("ZFP_ACC", "ZFP_PREC", "ZFP_RATE")),
    *(
        Row(
            _BLOSC2,
            "codec",
            name,
            f"{_IMAGES}::test_lossless_images_of_the_plugins_are_read_bit_for_bit",
            f"{_IMAGES}::test_the_plugins_read_lossless_images_bit_for_bit",
        )
        for name in ("J2K", "HTJ2K")
    ),
    Row(_BLOSC2, "codec", "GROK", f"{_IMAGES}::test_golden_images_are_read_as_their_packages_read_them", "J2K writes such images"),
    Row(_BLOSC2, "codec", "OPENHTJ2K", f"{_IMAGES}::test_golden_images_are_read_as_their_packages_read_them", "HTJ2K is written in its place"),
    Row(_BLOSC2, "codec", "OPENZL", *("its package is under the AGPL and not tried; `allow_blosc2_plugins` would load it",) * 2),
    *(
        Row(
            _BLOSC2,
            "plugin package",
            f"{kind}s",
            f"{_PLUGINS}::test_plugin_packages_read_what_python_blosc2_writes",
            f"{_PLUGINS}::test_plugin_packages_write_what_python_blosc2_reads",
        )
        for kind in ("codec", "filter")
    ),
    *(
        Row(_BLOSC2, "filter", name, _THERE, _HERE)
        for name in ("NOFILTER", "SHUFFLE", "BITSHUFFLE", "DELTA", "TRUNC_PREC", "BYTEDELTA", "INT_TRUNC")
    ),
    *(Row(_BLOSC2, "filter", name, _CELLS, _CELLS) for name in ("NDCELL", "NDMEAN")),
    Row(_BLOSC2, "chunk", "ZERO", f"{_KINDS}::test_chunks_of_zeros_are_read", f"{_KINDS}::test_zeros_are_written_as_a_header_alone"),
    Row(_BLOSC2, "chunk", "NAN", f"{_KINDS}::test_chunks_of_nans_are_read", f"{_ARRAYS}::test_arrays_of_one_value_are_exchanged"),
    Row(_BLOSC2, "chunk", "VALUE", f"{_KINDS}::test_chunks_of_a_repeated_value_are_read", f"{_ARRAYS}::test_arrays_of_one_value_are_exchanged"),
    Row(_BLOSC2, "chunk", "UNINIT", f"{_KINDS}::test_uninitialised_chunks_are_read_as_zeros", f"{_SAVED}::test_expressions_that_are_saved_here_are_the_same_in_python_blosc2"),
    Row(_BLOSC2, "chunk", "NOT_SPECIAL", *(f"{_KINDS}::test_stored_chunks_are_read_both_ways",) * 2),
    Row(_BLOSC2, "chunk", "with a dictionary", *(f"{_KINDS}::test_dictionary_chunks_are_read_both_ways",) * 2),
    Row(_BLOSC2, "chunk", "with blocks of variable size", f"{_KINDS}::test_chunks_of_variable_blocks_are_read", f"{_VALUES}::test_lists_and_structs_are_written_and_read_back_by_both"),
    Row(_BLOSC2, "chunk", "of C-Blosc 1", "tests/interop/test_blosc1_chunks.py::test_coquina_reads_what_c_blosc_writes", "tests/interop/test_blosc1_chunks.py::test_c_blosc_and_c_blosc2_read_what_coquina_writes"),
    *(
        Row(_BLOSC2, "split mode", name, "tests/interop/test_blosc2_chunks.py::test_coquina_reads_what_c_blosc2_writes", "tests/interop/test_blosc2_chunks.py::test_c_blosc2_reads_what_coquina_writes")
        for name in ("ALWAYS_SPLIT", "NEVER_SPLIT", "AUTO_SPLIT")
    ),
    Row(_BLOSC2, "split mode", "FORWARD_COMPAT_SPLIT", f"{_KINDS}::test_chunks_that_are_split_as_old_versions_read_them_are_read", "it gives the chunks of one of the others"),
    Row(_BLOSC2, "tuner", "STUNE", "no tuner is stored in a file", "no tuner is stored in a file; ours is `codec=\"auto\"`"),
    Row(_BLOSC2, "tuner", "BTUNE", "no tuner is stored in a file", "no tuner is stored in a file; ours is `codec=\"auto\"`"),
    Row(_BLOSC2, "container", "NDArray (.b2nd)", _THERE, _HERE),
    Row(_BLOSC2, "container", "NDArray in a directory", *(f"{_AXES}::test_directories_and_files_are_exchanged",) * 2),
    Row(_BLOSC2, "container", "SChunk (.b2frame)", *(f"{_FRAMES}::test_each_reads_what_the_other_has_changed",) * 2),
    Row(_BLOSC2, "container", "fixed and variable metadata", *(f"{_FRAMES}::test_metalayers_are_exchanged",) * 2),
    Row(_BLOSC2, "container", "TreeStore", f"{_STORES}/test_store_writing.py::test_python_blosc2_changes_what_coquina_wrote_and_the_other_way_round", f"{_STORES}/test_store_writing.py::test_all_that_is_written_is_read_back_here_and_by_python_blosc2"),
    Row(_BLOSC2, "container", "DictStore", f"{_STORES}/test_stores.py::test_every_array_is_read_by_its_path", "a TreeStore is written, which has attributes of groups"),
    Row(_BLOSC2, "container", "EmbedStore", f"{_STORES}/test_stores.py::test_every_array_is_read_by_its_path", "a TreeStore is written, whose leaves can be changed"),
    Row(_BLOSC2, "container", "CTable", f"{_STORES}/test_ctables.py::test_every_column_is_read", f"{_STORES}/test_ctable_writing.py::test_all_columns_are_read_back_by_both"),
    *(Row(_BLOSC2, "column of a CTable", name, f"{_STORES}/test_ctables.py::test_every_column_is_read", _WRITTEN_COLUMNS) for name in _ITEMS),
    *(Row(_BLOSC2, "column of a CTable", name, f"{_STORES}/test_ctables.py::test_every_column_is_read", _WRITTEN_COLUMNS) for name in ("bool", "string", "bytes", "utf8", "timestamp")),
    Row(_BLOSC2, "column of a CTable", "dictionary", f"{_STORES}/test_ctables.py::test_every_column_is_read", f"{_STORES}/test_ctable_writing.py::test_categories_are_read_back_by_both"),
    Row(_BLOSC2, "column of a CTable", "vlstring", f"{_STORES}/test_ctables.py::test_every_column_is_read", "utf8 is written in its place"),
    Row(_BLOSC2, "column of a CTable", "ndarray", f"{_VALUES}::test_lists_structs_and_arrays_with_nulls_are_read", f"{_VALUES}::test_arrays_with_nulls_are_written_and_read_back_by_both"),
    *(Row(_BLOSC2, "column of a CTable", name, f"{_VALUES}::test_lists_structs_and_arrays_with_nulls_are_read", f"{_VALUES}::test_lists_and_structs_are_written_and_read_back_by_both") for name in ("list", "struct", "vlbytes")),
    Row(_BLOSC2, "column of a CTable", "object", f"{_VALUES}::test_lists_structs_and_arrays_with_nulls_are_read", f"{_VALUES}::test_rows_are_appended_to_a_table_of_theirs_with_one_batch"),
    Row(_BLOSC2, "container", "ObjectArray", f"{_STORES}/test_objects.py::test_objects_are_read_by_number", "objects are written as columns of tables"),
    Row(_BLOSC2, "container", "BatchArray", f"{_STORES}/test_objects.py::test_batches_are_lists_of_values", "objects are written as columns of tables"),
    Row(_BLOSC2, "container", "ListArray", f"{_STORES}/test_objects.py::test_lists_are_values", "objects are written as columns of tables"),
    Row(_BLOSC2, "container", "save_array, save_tensor, pack_array2", f"{_STORES}/test_objects.py::test_packed_arrays_are_arrays", "an NDArray is written, which has axes"),
    Row(_BLOSC2, "container", "pack, pack_array", "pickles are not loaded: they are code", "pickles are not written"),
    Row(_BLOSC2, "container", "LazyExpr", f"{_SAVED}::test_expressions_of_python_blosc2_are_the_same_here", f"{_SAVED}::test_expressions_that_are_saved_here_are_the_same_in_python_blosc2"),
    Row(_BLOSC2, "container", "LazyUDF", "it holds code, which is not run", "functions are not written into files"),
    Row(_BLOSC2, "container", "Proxy (a cache)", f"{_SAVED}::test_a_cache_gives_the_chunks_that_were_fetched_and_names_the_source_of_others", "a copy is written, which has all chunks"),
    Row(_BLOSC2, "container", "C2Array, RemoteArray", "arrays on servers are not followed", "arrays on servers are not followed"),
    Row(_BLOSC2, "container", "RemoteStore, RemoteCTable", "objects that stand for data on servers are not followed", "`coquina serve` and `cq.open(url)` read files on servers"),
    Row(_BLOSC2, "container", "UTF8Array", f"{_STORES}/test_ctables.py::test_every_column_is_read", _WRITTEN_COLUMNS),
    Row(_BLOSC2, "container", "array in a file at an offset", f"{_ARRAYS}::test_an_array_inside_another_file_is_read_by_both", "a frame is appended to a file by other programs"),
    Row(_BLOSC2, "index", "of a CTable", "it is not used: conditions scan, or use an index of coquina", "python-blosc2 makes its own from the columns"),
    Row(_BLOSC2, "index", "of an NDArray", "it is not used: conditions scan, or use an index of coquina", "python-blosc2 makes its own from the array"),
    *(Row(_BLOSC2, "cparams", name, f"{_CPARAMS}_read", f"{_CPARAMS}_written") for name in ("codec", "codec_meta", "clevel", "filters", "filters_meta", "nthreads")),
    Row(_BLOSC2, "cparams", "use_dict", f"{_CPARAMS}_read", f"{_KINDS}::test_dictionary_chunks_are_read_both_ways"),
    Row(_BLOSC2, "cparams", "splitmode", f"{_CPARAMS}_read", "tests/interop/test_blosc2_chunks.py::test_c_blosc2_reads_what_coquina_writes"),
    *(Row(_BLOSC2, "cparams", name, _SIZES, _SIZES) for name in ("typesize", "blocksize")),
    Row(_BLOSC2, "cparams", "tuner", "no tuner is stored in a file", "no tuner is stored in a file; ours is `codec=\"auto\"`"),
    *(Row(_BLOSC2, "storage", name, _STORAGE, _FOR_STORAGE) for name in ("contiguous", "urlpath", "mode", "mmap_mode", "initial_mapping_size", "locking")),
    Row(_BLOSC2, "storage", "meta", f"{_ARRAYS}::test_fixed_metadata_are_exchanged", f"{_FRAMES}::test_metalayers_are_exchanged"),
    *(
        Row(_PACK, "option", name, f"{_PACK_OPTIONS}_read", f"{_PACK_OPTIONS}_written")
        for name in ("typesize", "clevel", "no-shuffle", "codec", "chunk-size", "checksum", "no-offsets", "metadata", "force", "nthreads")
    ),
    Row(_PACK, "option", "no-check-extension", _APPENDING, _APPENDING),
    Row(_PACK, "option", "verbose", f"{_PACK_OPTIONS}_read", "errors are complete at once; `coquina info` describes files"),
    Row(_PACK, "option", "debug", f"{_PACK_OPTIONS}_read", "errors are complete at once; `coquina info` describes files"),
    Row(_PACK, "option", "help", *("it prints a text, and is `coquina compress --help`",) * 2),
    Row(_PACK, "option", "version", *("it prints a text, and is `coquina --version`",) * 2),
    *(Row(_PACK, "checksum", name, _BOTH_PACKS, _BOTH_PACKS) for name in ("None", "adler32", "crc32", "md5", "sha1", "sha224", "sha256", "sha384", "sha512")),
    *(Row(_PACK, "codec", name, _BOTH_PACKS, _BOTH_PACKS) for name in ("blosclz", "lz4", "lz4hc", "zlib", "zstd")),
    Row(_PACK, "codec", "snappy", *(f"{_PACKS}::test_snappy_goes_both_ways_with_a_c_blosc_that_has_it",) * 2),
    Row(_PACK, "container", "arrays", f"{_PACKS}::test_arrays_packed_there_are_read_here", f"{_PACKS}::test_arrays_packed_here_are_read_there"),
    Row(_PACK, "container", "metadata", *(f"{_PACKS}::test_metadata_goes_both_ways",) * 2),
    Row(_PACK, "container", "metadata that grow in place", *(f"{_PACKS}::test_metadata_grow_in_their_room_by_both",) * 2),
    Row(_PACK, "container", "appended chunks", f"{_PACKS}::test_what_is_appended_there_is_read_here", f"{_PACKS}::test_what_is_appended_here_is_read_there"),
    Row(_PACK, "container", "pipes", *("tests/test_cli_pipes.py::test_pipes_of_compress_and_decompress_give_the_bytes_back",) * 2),
    Row(_PACK, "container", "versions 1 and 2 of the header", f"{_PACKS}::test_files_of_older_versions_are_read", "version 3 is written"),
    *(
        Row(_TABLES, "compression", name, _FIXTURES, "tests/interop/test_hdf5_writing.py::test_pytables_reads_them")
        for name in ("zlib", "blosc", "blosc2")
    ),
    *(
        Row(_TABLES, "compression", f"{kind}:{name}", "tests/interop/test_hdf5_foreign_files.py::test_every_dataset_has_the_makers_items", written)
        for kind, written in (
            ("blosc", "tests/interop/test_hdf5_writing.py::test_pytables_reads_them"),
            ("blosc2", "tests/interop/test_hdf5_writing.py::test_pytables_reads_them"),
        )
        for name in ("blosclz", "lz4", "lz4hc", "zlib", "zstd")
    ),
    Row(_TABLES, "compression", "bzip2", "tests/interop/test_hdf5_foreign_files.py::test_every_dataset_has_the_makers_items", "tests/interop/test_hdf5_writing.py::test_pytables_reads_them"),
    Row(_TABLES, "compression", "lzo", "its library is under the GPL, and wheels of PyTables lack it", "its library is under the GPL, and wheels of PyTables lack it"),
    Row(_TABLES, "node", "Table", _FIXTURES, "tests/tables/test_rows_interop.py::test_pytables_reads_ours"),
    Row(_TABLES, "node", "Array, CArray, EArray", _FIXTURES, "tests/interop/test_hdf5_writing.py::test_pytables_reads_them"),
    *(Row(_TABLES, "atom", name, f"{_PYTABLES}::test_arrays_and_columns_of_every_atom_are_read", f"{_PYTABLES}::test_arrays_and_columns_of_every_atom_are_written") for name in _ATOMS),
    *(Row(_TABLES, "atom", name, f"{_VLARRAYS}::test_texts_are_texts_and_pickles_stay_bytes", "datasets of text of any length are written as h5py has them") for name in ("VLStringAtom", "VLUnicodeAtom")),
    Row(_TABLES, "atom", "ObjectAtom", "its rows are given as bytes: pickles are code, and not loaded", "pickles are code, and not written"),
    *(Row(_TABLES, "filter", name, f"{_PYTABLES}::test_arrays_of_every_option_of_filters_are_read", f"{_PYTABLES}::test_arrays_of_every_option_of_filters_are_written") for name in ("complevel", "complib", "shuffle", "bitshuffle", "fletcher32")),
    Row(_TABLES, "filter", "least_significant_digit", f"{_PYTABLES}::test_arrays_of_every_option_of_filters_are_read", "`lossy={\"max_error\": 0.005}` bounds errors, and stores fewer bits"),
    Row(_TABLES, "node", "Group", *(f"{_PYTABLES}::test_titles_byte_orders_and_nested_columns_go_both_ways",) * 2),
    Row(_TABLES, "node", "hard, soft and external links", *(f"{_PYTABLES}::test_links_are_followed_both_ways",) * 2),
    Row(_TABLES, "node", "nested columns, titles, byte orders", *(f"{_PYTABLES}::test_titles_byte_orders_and_nested_columns_go_both_ways",) * 2),
    Row(_TABLES, "node", "UnImplemented", "they are datasets of h5py, which are read as such", "PyTables writes none of them"),
    Row(_TABLES, "node", "user blocks, files made in memory", *(f"{_PYTABLES}::test_user_blocks_and_files_made_in_memory_go_both_ways",) * 2),
    Row(_TABLES, "node", "filenode", "it is an array of bytes, `f[\"node\"][...].tobytes()`", "`f[\"node\"] = np.frombuffer(b, \"u1\")` stores bytes as an array"),
    Row(_TABLES, "node", "marks of undo and redo", "they are for PyTables alone; its hidden groups are listed", "`with f.transaction():` keeps all changes or none"),
    Row(_TABLES, "node", "VLArray", _FIXTURES, "they are copied by `repack`, and else only read"),
    Row(_TABLES, "node", "attributes", "tests/tables/test_pytables_fixtures.py::test_all_attributes_have_the_values_that_pytables_reads", "pickles are not written; plain values are those of HDF5"),
    Row(_TABLES, "node", "indexes", "tests/indexes/test_pytables_reading.py::test_every_kind_and_effort_gives_all_rows", "tests/indexes/test_pytables_writing.py::test_pytables_uses_sorts_by_and_goes_on_with_an_index"),
    Row(_TABLES, "node", "times", "tests/hdf5/test_pytables_time_arrays.py::test_arrays_of_times_are_read_as_pytables_reads_them", "tests/hdf5/test_pytables_time_arrays.py::test_what_is_written_pytables_reads"),
    Row(_TABLES, "node", "truth values", "tests/hdf5/test_pytables_truths.py::test_truths_are_truths_and_pick_rows", "tests/hdf5/test_pytables_truths.py::test_what_is_written_pytables_reads"),
)  # fmt: skip

HEAD = """# Supported formats

Coquina reads and writes these formats; [File formats](formats/index.md) describes every byte.

| Format | Read | Written |
|---|---|---|
| chunks | Blosc1, Blosc2: blocks, stored, special values, variable blocks | Blosc1, Blosc2: blocks, stored, special values |
| codecs | BloscLZ, LZ4, LZ4HC, Zlib, Zstd, Snappy; for arrays ZFP (three modes) and NDLZ; with `coquina[images]` JPEG 2000 and HTJ2K, also those of blosc2-grok and openhtj2k; any codec of a [plugin](guide/extending.md) | all except grok and openhtj2k; Snappy in Blosc1 chunks |
| filters | shuffle, bitshuffle, delta, bytedelta (old and new), trunc_prec, int_trunc; for arrays ndcell and ndmean; any filter of a plugin | all except the old bytedelta |
| dictionaries | LZ4, LZ4HC, Zstd | LZ4, LZ4HC, Zstd |
| frames | in one file, in a directory, in memory, at an offset in any file; metadata of both kinds | the same, except at an offset |
| arrays in frames (`b2nd`) | every dtype except objects, 0 to 16 axes | the same |
| HDF5 datasets | gzip, shuffle, fletcher32, szip, n-bit, scale-offset, LZF, bzip2, Blosc, Blosc2, LZ4, Zstd, bitshuffle, HTJ2K, in any order, with masks; all layouts through h5py | Blosc2, Blosc, gzip, LZ4, Zstd, bitshuffle, HTJ2K, with shuffle and fletcher32; n-bit, scale-offset, LZF, szip and bzip2 through libhdf5, where it has them |
| tables | PyTables', AnnData's dataframes, directories of frames; CSV, Parquet, Arrow, DataFrames | the same |
| indexes | coquina's, and PyTables' of every kind | coquina's, and PyTables' complete ones |
| plain arrays | NPY, NPZ, raw bytes, with `coquina convert`; in Python any NumPy array, also memory-mapped | NPY, raw bytes, with `coquina convert` |
| Bloscpack | versions 1 to 3, every checksum, with and without offsets; any dtype except objects, C and F order | the same in version 3 |

The tables below list the features of Blosc2, Bloscpack and PyTables. Each "yes" stands for a test that runs the other library
and coquina (for GROK and OPENHTJ2K: that reads files made by it), named in `tests/interop/coverage.py`; each "no" gives the
reason. `python -m tests.interop.coverage` generates this page, and tests compare the tables with the codecs, filters, modes,
options, atoms and names that the installed libraries list.
"""


TAIL = """## Files of python-blosc2's own tests

`tools/blosc2_suite.py` runs the tests and examples of python-blosc2 4.14.1 (10,406 tests pass), keeps every file that they leave
or remove, and opens each with both libraries. Of 3,331 different files that were compared, 819 are read by neither (their
operands, sources or servers are gone, or they are damaged on purpose), 78 by coquina alone. The others, by what python-blosc2 takes them for:

| Object | Equal | Different | Not read |
|---|---|---|---|
| BatchArray | 47 | 0 | 0 |
| CTable | 519 | 9 | 1 |
| DictStore | 74 | 0 | 4 |
| EmbedStore | 10 | 0 | 0 |
| LazyExpr | 56 | 0 | 2 |
| LazyUDF | 0 | 0 | 10 |
| ListArray | 15 | 0 | 0 |
| NDArray | 901 | 0 | 0 |
| ObjectArray | 16 | 0 | 2 |
| Proxy | 3 | 0 | 2 |
| RemoteArray | 0 | 0 | 38 |
| RemoteCTable | 0 | 0 | 87 |
| SChunk | 373 | 0 | 2 |
| TreeStore | 259 | 2 | 2 |

- Different: tables with computed columns, which are read since; columns without rows whose dtype differs; a table in a store,
  whose parts python-blosc2 lists among the keys.
- Not read: objects that stand for data on servers, functions, references within values, operands outside the file's
  folder (`allow_external=True` reads them), chunks that a cache has not fetched, codecs that a
  test registers, and archives whose members are compressed.
"""


def is_test(cell: str) -> bool:
    """Whether a cell names a test."""
    return "::" in cell


def page() -> str:
    """Return the page."""
    lines = [HEAD]
    for system in dict.fromkeys(row.system for row in ROWS):
        lines += [f"## {system}\n", "| Kind | Names | Read | Written |", "|---|---|---|---|"]
        alike: dict[tuple[str, str, str], list[str]] = {}
        for row in ROWS:
            if row.system == system:
                read, written = ("yes" if is_test(one) else f"no: {one}" for one in (row.read, row.written))
                alike.setdefault((row.kind, read, written), []).append(row.name)
        for (kind, read, written), names in alike.items():
            lines.append(f"| {kind} | {', '.join(names)} | {read} | {written} |")
        lines.append("")
    return "\n".join([*lines, peer_names.section(), TAIL])


if __name__ == "__main__":
    print(page(), end="")
