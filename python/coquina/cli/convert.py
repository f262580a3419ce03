"""convert an array or a table to another format, by the file extensions

Arrays: .npy .npz .blp .b2nd .h5, and .raw and .bin for raw bytes. Tables: .h5, .csv, .parquet, .feather,
.jsonl, .npy, and directories, whose names have no extension. Images: .tif .png .jp2, with Pillow and
tifffile; a folder of images is a stack, and frames/%04d.png writes a file for each image. A dataset or
table of an HDF5 file or of a store is FILE.h5:/path, FILE.b2z:/path, FILE.b2d:/path; existing files keep
their other contents. The default path is /data or /table. Records become a table with --layout, and in
stores. A whole HDF5 or NetCDF-4 file or store, or a group of one, is converted with all groups, arrays,
tables and attributes. Unknown extensions raise an error, as do data that the format cannot hold; with
--dtype any file is read as raw bytes.

Examples:
  coquina convert climate.npy climate.b2nd
  coquina convert climate.b2nd copy.npy
  coquina convert results.npz:wind wind.b2nd -c lz4 -l 9 -F shuffle --chunks 10,50,50
  coquina convert climate.npy climate.b2nd -c auto --goal size --for read
  coquina convert floats.raw floats.b2nd --dtype "<f4" --shape 100,200 --threads 2
  coquina convert run.h5:/images/raw raw.b2nd --access rows --json
  coquina convert climate.b2nd new.h5:/model/climate
  coquina convert climate.npy run.b2z:/model/climate    into a store, which keeps what it has
  coquina convert run.h5 run.b2z                        all that is in it
  coquina convert climate.npy loose.b2nd --max-error 0.05
  coquina convert run.h5:/images/raw raw.tif
  coquina convert "climate.b2nd[3:5, ::-1]" part.npy    a part, as `coquina cat` takes it
  coquina convert "trades.h5:/trades[100:200]" some.csv
  coquina convert scans scans.b2nd                      a folder of numbered images
  coquina convert trades.csv prices.h5:/trades
  coquina convert trades.h5:/trades trades.parquet
  coquina convert records.npy records.h5:/table --layout rows
"""

from __future__ import annotations

import math
import os
import secrets
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, cast

import numpy as np

import coquina
from coquina.arrays.descriptions import description_of
from coquina.arrays.info import human
from coquina.arrays.regions import boxes
from coquina.cli import (
    arguments,
    convert_tables,
    convert_trees,
    hdf5_paths,
    images,
    keys,
    lossy_options,
    outputs,
    repack,
    sources,
    store_paths,
    tables,
    tuning_options,
)
from coquina.cli.outputs import new_file
from coquina.hdf5 import File
from coquina.hdf5.scales import add_attributes, add_axes

if TYPE_CHECKING:
    import argparse

    from coquina.hdf5_names import Place


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `coquina convert`."""
    parser.add_argument(
        "file",
        help="FILE.npz:NAME or FILE.h5:/path for one of several arrays; FILE[3:5] for a part",
    )
    parser.add_argument("output", help="the file to write")
    arguments.add_plain(parser)
    arguments.add_encoding(parser, None, None, arrays=arguments.codecs_of_arrays())
    arguments.add_cut(parser, "of .b2nd and HDF5: ")
    tuning_options.add_tuning(parser)
    lossy_options.add_lossy(parser)
    parser.add_argument(
        "--access", type=arguments.access, default="any",
        help="for .b2nd: how the array will be read: any, rows, columns, or boxes such as 1,512,512",
    )  # fmt: skip
    parser.add_argument(
        "--layout",
        choices=("columns", "rows"),
        help="for tables: a dataset for each column (default), or records, as PyTables has them; "
        "tables of HDF5 files keep theirs",
    )
    arguments.add_threads(parser)
    arguments.add_force(parser)
    arguments.add_report(parser)


def run(options: argparse.Namespace) -> None:
    """Convert the file."""
    options.chunks, options.blocks = (
        None if one == "auto" else one for one in (options.chunks, options.blocks)
    )
    outputs.check(options.output)
    target = hdf5_paths.new_place(options.output, "/data")
    store = store_paths.new_place(options.output, "/data")
    if target is None and os.path.lexists(options.output) and not options.force:
        raise FileExistsError(f"{options.output} exists; --force replaces it")
    with ExitStack() as stack:
        options.file, key = _with_key(options.file)
        if key is None and (group := convert_trees.group_of(options, stack)) is not None:
            bound, encoding = lossy_options.bound_of(options), _encoding(options)
            if (result := convert_trees.repacked(options, encoding, bound)) is not None:
                arguments.report(repack.facts(result), repack.sentence(result), options)
                return
            lossy_options.refuse(options, "whole trees are converted as they are")
            said = convert_trees.convert(group, options, encoding)
            counts = ", ".join(f"{said[one]} {one}" for one in ("groups", "arrays", "tables"))
            dropped = f"; left out: {', '.join(said['dropped'])}" if said["dropped"] else ""
            arguments.report(said, f"{said['output']}: {counts}{dropped}", options)
            return
        rows = convert_tables.rows_of(options, stack)
        if rows is not None and convert_tables.is_for_arrays(options):
            rows = stack.enter_context(convert_tables.as_table(rows, options))
        source = sources.load(options, stack) if rows is None else rows
        if key is not None:
            source = _part(source, key, options)
            rows = None if rows is None or source.dtype.names is None else source
        if rows is not None or convert_tables.is_wanted(source, options):
            lossy_options.refuse(options, "rows take bounds by column, which `coquina.create_table` knows")
            said = convert_tables.convert(source, options)
            if said is not None:
                sentence = f"{said['output']}: {said['rows']} rows of {said['columns']} columns"
                arguments.report(said, sentence, options)
                return
            source = convert_tables.array_of(source, options)
        _convert(source, target or store, options)


def _with_key(text: str) -> tuple[str, Any]:
    """Return a name without the key that may follow it, and that key or None."""
    for paths in (hdf5_paths, store_paths):
        if (place := paths.place(text)) is not None:
            found, key = paths.with_key(place)
            return (text, None) if key is None else (f"{found.file}:{found.path}", key)
    return keys.split(text)


def _part(source: Any, key: Any, options: argparse.Namespace) -> Any:
    """Return a part of an array or a table. Raises ValueError for what has none."""
    if not hasattr(source, "__getitem__"):
        raise ValueError(f"{options.file}: rows can only be read in order; convert the file to a table first")
    part = sources.part(source, key)
    return part[:] if tables.is_table(source) and isinstance(key, str) else part


def _convert(source: Any, target: Place | None, options: argparse.Namespace) -> None:
    extension = Path(options.output).suffix
    if target is None and not extension:
        raise ValueError(f"{options.output}: a directory can only hold a table; {outputs.kinds()}")
    is_store = store_paths.new_place(options.output, "/") is not None
    if target is None or is_store:
        outputs.check_items(np.dtype(source.dtype), options.output)
    dropped = [] if target is not None or extension == ".b2nd" else _dropped(source, options.output)
    paths = _written(source, target, extension, options)
    path = options.output if target is None else target.file
    found = [Path(one) for one in paths] or [Path(path), *Path(path).rglob("*")]
    written = sum(one.stat().st_size for one in found)
    nbytes = math.prod(source.shape) * source.dtype.itemsize
    sentence = f"{options.output}: {source.dtype} {source.shape}, {human(written)}"
    if dropped:
        sentence += f"; such a file has no attributes: {', '.join(dropped)} left out"
    result = {"output": options.output, "nbytes": nbytes, "written": written, "dropped": dropped}
    arguments.report(result, sentence, options)


def _written(source: Any, target: Place | None, extension: str, options: argparse.Namespace) -> list[str]:
    """Write an array to what the output is, and return the files of a plain one."""
    encoding = _encoding(options)
    bound = lossy_options.bound_of(options)
    if target is not None and store_paths.new_place(options.output, "/") is not None:
        _add_array(target, source, encoding, options)
    elif target is not None:
        add_dataset(target, source, encoding, options)
    elif extension == ".b2nd":
        coquina.asarray(
            source,
            path=options.output,
            overwrite=options.force,
            chunks=options.chunks,
            blocks=options.blocks,
            access=options.access,
            lossy=bound,
            **encoding,
        )
    elif extension == ".blp":
        packed = np.asarray(source) if bound is None else lossy_options.rounded(source, bound, options)
        coquina.pack(packed, options.output, overwrite=options.force, **encoding)
    else:
        lossy_options.refuse(options, f"{extension or 'plain bytes'}: takes .b2nd, .blp and .h5 files")
        return _write_plain(source, extension, options)
    return []


def _encoding(options: argparse.Namespace) -> dict[str, Any]:
    """Return how arrays are to be encoded, as writers take it."""
    names = ("codec", "level", "filters", "threads")
    given = {name: value for name in names if (value := getattr(options, name)) is not None}
    return given | tuning_options.words_of(options)


def _dropped(source: Any, output: str) -> list[str]:
    """Return the notes on an array that a file without attributes does not keep.

    Raises ValueError where the items are other ones without it: those of packed variables.
    """
    attributes, names, coordinates = description_of(source)
    packing = [name for name in ("scale_factor", "add_offset") if name in attributes]
    if packing:
        raise ValueError(
            f"{output}: the items are packed ({', '.join(packing)}), which such a file cannot say; .b2nd, "
            ".h5 and .nc can, and xarray unpacks them"
        )
    return [*attributes, *([] if names is None else ["names of axes"]), *coordinates]


def _write_plain(source: Any, extension: str, options: argparse.Namespace) -> list[str]:
    """Write an array as a file of others; return the names of the files."""
    if images.is_image(options.output):
        return images.save(options.output, source, new_file, overwrite=options.force)
    with new_file(options.output) as file:
        write(file, source, extension)
    return [options.output]


def _add_array(target: Place, source: Any, encoding: dict[str, Any], options: argparse.Namespace) -> None:
    """Write an array in a store of python-blosc2, which is made if there is none."""
    # A store that is named alone is replaced as a whole.
    is_new = target.file == options.output
    bound = lossy_options.bound_of(options)
    cut = {"chunks": options.chunks, "blocks": options.blocks}
    with store_paths.replaced(target, is_forced=options.force, is_new=is_new) as (store, name):
        store.create_dataset(name, data=source, lossy=bound, **cut, **encoding)


def add_dataset(target: Place, source: Any, encoding: dict[str, Any], options: argparse.Namespace) -> None:
    """Write an array as a dataset of an HDF5 file, which is made if there is none."""
    hdf5_paths.check_new(target, is_forced=options.force)
    with File(target.file, "r+" if os.path.exists(target.file) else "x") as file:
        # Under another name first, so that what is there is lost only once this is complete.
        name = f"{target.path.rstrip('/')}.{secrets.token_hex(4)}"
        bound = lossy_options.bound_of(options)
        cut = {"chunks": options.chunks, "blocks": options.blocks}
        attributes, names, coordinates = description_of(source)
        try:
            file.create_dataset(name, data=source, lossy=bound, **cut, **encoding)
            add_attributes(file.h5[name], attributes, getattr(source, "h5", None))
        except BaseException:
            if name in file:
                del file[name]
            raise
        if target.path in file:
            del file[target.path]
        file.move(name, target.path)
        add_axes(file.h5[target.path], names, coordinates)


def write(file: BinaryIO, source: Any, extension: str) -> None:
    """Write an array as .npy, .npz or plain bytes, some rows at a time."""
    if extension == ".npz":
        np.savez_compressed(file, data=np.asarray(source))
        return
    if extension == ".npy":
        descr = np.lib.format.dtype_to_descr(source.dtype)
        header = {"descr": descr, "fortran_order": False, "shape": tuple(source.shape)}
        np.lib.format.write_array_header_2_0(file, cast("Any", header))
    if not source.shape:
        file.write(np.asarray(source).tobytes())
        return
    row_bytes = math.prod(source.shape[1:]) * source.dtype.itemsize
    rows = getattr(source, "chunks", source.shape)[:1]
    for box in boxes(source.shape[:1], rows, row_bytes):
        file.write(np.ascontiguousarray(source[box]).tobytes())
