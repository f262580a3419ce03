"""The public names of python-blosc2, PyTables and Bloscpack that coquina does not have, and what there is.

A name is answered by the same name of our counterpart, by the advice of `coquina.foreign_attributes`, or
by a line here: names, a colon, and what to write or why there is nothing. `test_peer_names.py` finds what is
missing.
"""

# ruff: noqa: E501 (a table)

from __future__ import annotations

from typing import NamedTuple

import blosc2
import numpy as np
import tables

import coquina as cq
from coquina import foreign_attributes as advice
from coquina.stores.tree import Store
from tests.interop.bloscpack_package import bloscpack


class Walk(NamedTuple):
    """A namespace of a peer. ours: what has its names here; advised: answers for others; lines: the rest."""

    title: str
    names: list[str]
    ours: tuple[object, ...]
    advised: dict[str, str]
    lines: str = ""


def members(kind: type) -> list[str]:
    """Return the public names of a class."""
    return [name for name in dir(kind) if not name.startswith("_")]


_ARRAY = (cq.Array,)
_ARRAYS = dict(advice.ARRAYS)
_ADDRESSES = "addresses in memory are not given"
_MEMBER = "one process writes; others read the last commit, without a lock"

WALKS = (
    Walk(
        "blosc2",
        [name for name in blosc2.__all__ if name not in blosc2.linalg_funcs_list],
        (cq, cq.strings, cq.linalg),
        dict(advice.PACKAGE),
        """
        DEFAULT_COMPLEX DEFAULT_FLOAT DEFAULT_INDEX DEFAULT_INT: `cq.__array_namespace_info__().default_dtypes()`
        EXTENDED_HEADER_LENGTH MAX_BUFFERSIZE MAX_TYPESIZE MIN_HEADER_LENGTH: numbers of the format, in its pages
        VERSION_DATE VERSION_STRING: `cq.__version__`
        C2Array C2NDSource RemoteArray RemoteCTable RemoteNode RemoteObject RemoteStore RemoteMetadataMapping URLPath: `cq.connect(url)` reads arrays and tables of `coquina serve`; servers of Caterva2 are not read
        B2ZNDSource ByteRangeNDSource FsspecNDSource HDF5NDSource ZarrNDSource Traffic scan_hdf5_index validate_hdf5_index CachePolicy: `cq.open(url)` reads remote files by byte ranges
        Proxy ProxyNDField ProxyNDSource ProxySource SimpleProxy as_simpleproxy ChunkAlreadyWritten: `cq.open(path)` reads the chunks that a cache has; `cq.asarray(source, path=...)` copies all
        Ref DeserializeMode UnsafeDeserializationError: `cq.open(path)` opens what a file refers to within its folder, others with `allow_external=True`, and runs no code
        Batch CTableGroupBy Column NDField NestedColumn NullPolicy RowTransformer: `cq.Table`, its columns and its fields
        DEFAULT_NULL_POLICY get_null_policy null_policy: values that are missing are masked in results
        DictionarySpec NDArraySpec bytes dictionary field list object string struct timestamp utf8 utf8_array vlbytes vlstring ndarray: types of columns are dtypes and Arrow's types, in `cq.create_table(path, data)`
        UTF8Array from_utf8 to_utf8: columns of text, which have any length
        group_reduce: `t.group_by(name).agg({"price": "sum"})`
        col: `cq.expr("price * 2", price=t["price"])`
        DSLKernel DSLSyntaxError dsl_kernel validate_dsl validate_dsl_jit: `cq.traced(f)` runs NumPy code by chunks
        LazyArray Operand: `cq.Expr`
        validate_expr get_expr_operands: `cq.expr(text, a=a)` checks its text; `cq.expr("a + 1", a=a).operands`
        DParams: `threads=` of each call
        SpecialValue: `cq.zeros`, `cq.full`, `cq.nans`, `cq.empty`
        SplitMode: `split=` of `cq.compress`
        Tuner: `codec="auto"` with `goal=`, `for_=`
        available_datasets: data for examples, not shipped
        are_partitions_behaved: all partitions are
        array_from_ffi_ptr: addresses in memory are not taken
        clib_info get_clib: `cq.codecs()`; versions are in `Cargo.lock`
        cparams_dflts dparams_dflts storage_dflts: defaults are those of the signatures
        cpu_info get_cpu_info: `cq.num_threads()`
        copy: `a.copy()`
        ctable_from_cframe objectarray_from_cframe estore_from_cframe: `cq.from_bytes(b)` for arrays; others are opened from files
        free_resources set_releasegil: threads and memory need no care; the GIL is always released
        get_blocksize set_blocksize: `blocksize=` of `cq.compress`
        get_matmul_library: products are computed by chunks
        postfilter_funcs prefilter_funcs: `cq.vectorize(f)(a)` computes when read
        remove_urlpath: `os.remove(path)`, and `shutil.rmtree` of directories
        get_printoptions printoptions set_printoptions: `numpy.set_printoptions`
        linalg_funcs_list: `cq.linalg`
        """,
    ),
    Walk(
        "blosc2.NDArray",
        members(blosc2.NDArray),
        (*_ARRAY, cq.Table),
        _ARRAYS,
        f"""
        as_ffi_ptr c_array: {_ADDRESSES}
        holding_lock: {_MEMBER}
        index compact_index rebuild_index: indexes are those of tables, `t.create_index(name)`
        """,
    ),
    Walk(
        "blosc2.SChunk",
        members(blosc2.SChunk),
        (cq.Frame,),
        {},
        f"""
        append_data: `frame.append(b)`
        append_chunk insert_chunk update_chunk: chunks are encoded by `frame.append(b)`, `frame.insert(n, b)`, `frame[n] = b`
        insert_data: `frame.insert(n, b)`
        update_data: `frame[n] = b`
        delete_chunk: `del frame[n]`
        decompress_chunk: `frame[n]`
        get_chunk get_lazychunk: `frame.stored(n)`
        get_slice set_slice: `frame[n]`, whole chunks; parts are those of arrays, `a[key]`
        get_vlblock: blocks of variable size are read by columns of lists
        iterchunks: `for chunk in frame`
        iterchunks_info: `cq.chunk_info(frame.stored(n))`
        nchunks: `len(frame)`
        blocksize chunkshape chunksize contiguous cparams cratio dparams typesize get_cparams get_dparams info_items: `frame.info`
        update_cparams update_dparams: chunks that are written later keep codec and filters of the frame
        fill_special update_special: `cq.zeros`, `cq.full`, `cq.nans` make arrays of such chunks
        filler prefilter postfilter remove_prefilter remove_postfilter: `cq.vectorize(f)(a)` computes when read
        reorder_offsets: `frame.insert(n, b)`, `del frame[n]`
        to_cframe: `a.to_bytes()` of arrays; the file is the frame
        urlpath: `frame.path`
        vlmeta: `frame.attrs`
        c_schunk: {_ADDRESSES}
        lock unlock holding_lock change_tick: {_MEMBER}
        """,
    ),
    Walk(
        "blosc2.CTable",
        members(blosc2.CTable),
        (cq.Table,),
        dict(advice.TABLES),
        """
        blocks: `chunk_rows=` of `cq.create_table`
        compact_index: indexes are compact when they are built
        computed_columns drop_computed_column materialize materialize_computed_column refresh_generated_column refresh_generated_columns: columns that python-blosc2 computes are shown; new ones are stored values
        convert_nulls: values that are missing are masked in results
        to_cframe: a table has more than one frame; its file is `t.path`
        trim_capacity: a table has no rows to spare
        """,
    ),
    Walk(
        "blosc2.Column",
        members(blosc2.Column),
        _ARRAY,
        {**_ARRAYS, **advice.COLUMNS},
        """
        is_computed is_dictionary is_generated is_list is_ndarray is_utf8 is_varlen_scalar item_ndim item_shape item_size: `t.schema`
        is_null notnull null_count null_storage null_value: `t.where("price is null")`
        is_stale read_stale row_transformer: columns are stored values, never out of date
        isin: `t.where("sym in ('ABC', 'XYZ')")`
        iter_chunks: `t.batches()`
        norm: `cq.linalg.vector_norm(t["price"])`
        overlaps: `cq.isin(a, b)`
        raw: `t["price"][:]`
        summary: `t.min(name)`, `t.max(name)`, `t.mean(name)`
        """,
    ),
    *(
        Walk(
            f"blosc2.{kind.__name__}",
            members(kind),
            (Store,),
            dict(advice.GROUPS),
            lines,
        )
        for kind, lines in (
            (
                blosc2.TreeStore,
                """
                discard: an exception in the `with` block leaves the archive as it was
                estore: leaves that are embedded are listed with the others
                get_children get_descendants: `f.keys()`, `f.visit(function)`
                get_subtree: `f["group"]`
                info info_items: `coquina ls run.b2z`
                materialize member_window open_remote: `cq.open(url)` reads by byte ranges; `coquina convert` copies
                to_b2d to_b2z: `coquina convert run.b2z run.b2d`
                vlmeta: `f.attrs`
                walk: `f.visititems(function)`
                """,
            ),
            (
                blosc2.DictStore,
                """
                discard: an exception in the `with` block leaves the archive as it was
                estore: leaves that are embedded are listed with the others
                info info_items: `coquina ls run.b2z`
                member_window: `cq.open(url)` reads by byte ranges
                to_b2d to_b2z: `coquina convert run.b2z run.b2d`
                """,
            ),
            (blosc2.EmbedStore, "to_cframe: `f.path` is the frame"),
        )
    ),
    Walk(
        "blosc2.LazyExpr",
        members(blosc2.LazyExpr),
        (cq.Expr, *_ARRAY),
        {},
        """
        get_chunk: `a[key]` computes the chunks that it needs
        get_num_elements: `a[a > 0].size`
        info_items: `cq.expr("a + 1", a=a).explain()`
        slice: `a[key]`, or `a.view(key)`
        sort: `cq.sort(a)`
        to_cframe: `a.save(path)`
        update_expr: a new expression is made of the old one
        vlmeta: an expression that was opened has none
        where: `cq.where(a > 0, x, y)`, or `a[a > 0]`
        will_use_index: `t.will_use_index(condition)` of tables
        """,
    ),
    *(
        Walk(
            f"blosc2.{kind.__name__}",
            members(kind),
            (cq.stores.ObjectArray, cq.stores.BatchArray, cq.stores.ListArray, cq.Frame),
            {},
            f"""
            extend delete pop clear extend_arrow from_arrow flush: they are read; `t.append(rows)` adds to columns of objects
            {others}: `cq.open(path)` gives items by number, slices and lists
            """,
        )
        for kind, others in (
            (blosc2.ObjectArray, "chunksize contiguous copy cparams cratio dparams info_items to_cframe typesize urlpath vlmeta"),
            (blosc2.BatchArray, "contiguous copy chunk_copy cparams cratio dparams info_items items items_per_block iter_items serializer to_cframe typesize urlpath vlmeta"),
            (blosc2.ListArray, "arrow_slice batch_rows contains contiguous copy cparams cratio dparams info_items items_per_block overlaps schunk to_arrow to_cframe urlpath vlmeta"),
        )
    ),
    Walk(
        "tables",
        [name for name in tables.__all__ if not name.endswith(("Atom", "Col", "Error", "Warning"))],
        (cq, cq.hdf5),
        dict(advice.PACKAGE),
        """
        CArray EArray Leaf: `cq.hdf5.Dataset`
        VLArray: `f["name"][3]`
        Node Unknown UnImplemented: `cq.hdf5.Dataset`, or the dataset of h5py
        Cols Column Description IsDescription: `t.schema`; dtypes with fields describe tables
        Enum: `h5py.enum_dtype(mapping)`
        is_pytables_file: `h5py.File(path).attrs.get("PYTABLES_FORMAT_VERSION")`
        restrict_flavors: results are NumPy arrays
        silence_hdf5_messages: h5py prints none
        split_type: dtypes say what atoms say
        test which_lib_version: `cq.__version__`
        """,
    ),
    Walk(
        "tables.File",
        members(tables.File),
        (cq.hdf5.File,),
        dict(advice.GROUPS),
        """
        filters: codec and filters are given to each `f.create_dataset`
        is_undo_enabled: `with f.transaction()` keeps all changes or none
        is_visible_node: all nodes are listed
        """,
    ),
    *(
        Walk(f"tables.{name}", members(getattr(tables, name)), (cq.hdf5.Dataset,), _ARRAYS, lines)
        for name, lines in (
            (
                "EArray",
                """
                isvisible: all nodes are listed
                move: `f.move(source, dest)`
                object_id: `h5py.h5o.get_info(dataset.h5.id)`
                remove: `del f["name"]`
                track_times: `track_times=` of `f.create_dataset`
                """,
            ),
            (
                "VLArray",
                """
                isvisible: all nodes are listed
                move: `f.move(source, dest)`
                object_id: `h5py.h5o.get_info(dataset.h5.id)`
                remove: `del f["name"]`
                track_times: `track_times=` of `f.create_dataset`
                """,
            ),
        )
    ),
    Walk(
        "tables.Table",
        members(tables.Table),
        (cq.Table,),
        dict(advice.TABLES),
        """
        chunkshape: `chunk_rows=` of `cq.create_table`; `t.info`
        isvisible: all nodes are listed
        maindim: rows are the first axis
        move: `f.move(source, dest)`
        object_id: `h5py.h5o.get_info(t.h5.id)`
        remove: `del f["name"]`
        track_times: `track_times=` of `f.create_dataset`
        """,
    ),
    Walk(
        "tables.Column",
        members(tables.table.Column),
        _ARRAY,
        _ARRAYS,
        """
        create_csindex: `t.create_index(name, kind="pytables")`
        index is_indexed: `t.indexes`
        reindex reindex_dirty: `t.refresh_index(name)`
        remove_index: `t.drop_index(name)`
        table: `t.name`
        type: `a.dtype`
        """,
    ),
    Walk(
        "bloscpack",
        [name for name in dir(bloscpack) if not name.startswith("_") and callable(getattr(bloscpack, name))],
        (cq,),
        {},
        """
        BloscArgs BloscpackArgs MetadataArgs: `codec=`, `level=`, `filters=`, `typesize=`, `offsets=`, `checksum=` of `cq.pack`
        pack_bytes_file pack_bytes_to_file pack_file pack_file_to_file pack_ndarray_file pack_ndarray_to_file: `cq.pack(data, path)`
        pack_bytes_to_bytes pack_ndarray_str pack_ndarray_to_bytes: `cq.dumps(data)`
        unpack_bytes_file unpack_bytes_from_file unpack_file unpack_file_from_file unpack_ndarray_file unpack_ndarray_from_file: `cq.unpack(path)`
        unpack_bytes_from_bytes unpack_ndarray_from_bytes unpack_ndarray_str: `cq.loads(b)`
        """,
    ),
)  # fmt: skip

OWNERS = {"a": cq.asarray(np.arange(6).reshape(2, 3)), "frame": cq.Frame, "t": cq.Table, "f": Store, "cq": cq}


def answers(walk: Walk) -> dict[str, str]:
    """Return what the lines of a walk say, by name. Names of members that the class lacks are passed over."""
    found: dict[str, str] = {}
    for line in filter(None, map(str.strip, walk.lines.splitlines())):
        names, _, answer = line.partition(": ")
        found |= dict.fromkeys(names.split(), answer)
    return found


def other_names(walk: Walk) -> list[str]:
    """Return the names of a walk that our counterparts do not have."""
    return [name for name in walk.names if not any(hasattr(one, name) for one in walk.ours)]


HEAD = """## Names of other libraries

For names of python-blosc2, PyTables and Bloscpack that coquina does not have: what to write here, or why there is nothing. A test
walks the public names of the installed libraries, so that none is missing. `a` is an array, `t` a table, `f` a file or a
store, `frame` a frame, `cq` the package. Functions and methods of the same name are left out, as are PyTables' atoms and errors.
"""


def section() -> str:
    """Return the tables of names, as they stand in docs/supported-formats.md."""
    lines = [HEAD]
    for walk in WALKS:
        said = answers(walk)
        by_answer: dict[str, list[str]] = {}
        for name in other_names(walk):
            answer = said.get(name) or f"`{walk.advised[name]}`"
            by_answer.setdefault(answer, []).append(f"`{name}`")
        lines += [f"### {walk.title}\n", "| Name | Here |", "|---|---|"]
        lines += [f"| {', '.join(names)} | {answer} |" for answer, names in by_answer.items()]
        lines.append("")
    return "\n".join(lines)
