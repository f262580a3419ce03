"""Copies of arrays, tables and Bloscpack files that are compressed otherwise: `coquina repack` beyond HDF5.

In: what stands on the command line. Out: a file, or the directory of a table, with the same items, and what
    is said of it. It appears when it is complete, and goes again if a comparison finds other items in it.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import numpy as np

import coquina
from coquina.arrays.info import human
from coquina.arrays.regions import boxes
from coquina.cli import (
    arguments,
    convert_trees,
    hdf5_paths,
    inputs,
    lossy_options,
    row_files,
    store_paths,
    tables,
)

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping

_OF_HDF5 = ("filter", "fletcher32", "path", "in_place")


def repack(options: argparse.Namespace, words: Mapping[str, Any]) -> dict[str, Any]:
    """Write the copy, and return a summary. Raises ValueError for options of HDF5 files.

    words: the options of `--codec auto`.
    """
    if options.codec is None:
        raise ValueError(
            f"{options.file} is not an HDF5 file; add --auto or --codec to repack it, or use "
            "`coquina convert` for another format"
        )
    for name in _OF_HDF5:
        if getattr(options, name):
            raise ValueError(f"--{name.replace('_', '-')}: takes HDF5 files, and {options.file} is not one")
    if options.output is None:
        raise ValueError(f"{options.file}: name the new file")
    if os.path.lexists(options.output):
        if os.path.realpath(options.output) == os.path.realpath(options.file):
            raise ValueError(
                f"{options.output} is the file itself; only HDF5 files are replaced by --in-place"
            )
        if not options.force:
            raise FileExistsError(f"{options.output} exists; --force replaces it")
    encoding, store = _encoding(options, words), store_paths.place(options.file)
    if tables.is_directory(options.file):
        _table(options, encoding)
    elif store is not None:
        _store(store, options, encoding)
    else:
        found = inputs.opened(options.file)
        if isinstance(found, coquina.Array):
            _array(found, options, encoding)
        elif isinstance(found, coquina.PackFile):
            _packed(found, options, encoding)
        else:
            raise ValueError(f"{options.file}: takes HDF5 files, stores, arrays, tables and Bloscpack files")
    before, after = _size(options.file), _size(options.output)
    is_compared = not options.no_compare and lossy_options.bound_of(options) is None
    return {
        "file": options.file,
        "output": options.output,
        "before": before,
        "after": after,
        "is_compared": is_compared and store is None and not tables.is_directory(options.file),
    }


def _encoding(options: argparse.Namespace, words: Mapping[str, Any]) -> dict[str, Any]:
    """Return codec, and level and filters where they were asked for."""
    given: dict[str, Any] = {} if options.level is None else {"level": options.level}
    if options.filters is not None:
        given["filters"] = options.filters
    return {"codec": options.codec, **given, **words}


def sentence(said: dict[str, Any]) -> str:
    """Return what was done, for people."""
    compared = ", compared with the file" if said["is_compared"] else ""
    return f"{said['output']}: {human(said['before'])} -> {human(said['after'])}{compared}"


def _array(found: coquina.Array, options: argparse.Namespace, encoding: dict[str, Any]) -> None:
    chunks, blocks = (None if one == "auto" else one for one in (options.chunks, options.blocks))
    bound = lossy_options.bound_of(options)
    made = found.copy(
        path=options.output,
        chunks="auto" if options.chunks == "auto" else chunks,
        blocks=blocks,
        lossy=bound,
        overwrite=options.force,
        checksums=found.info.checksums != "absent" if options.checksums is None else options.checksums,
        threads=options.threads,
        **encoding,
    )
    if options.no_compare or bound is not None:
        return
    for region in boxes(found.shape, found.chunks, found.itemsize):
        if found[region].tobytes() != made[region].tobytes():
            made.close()
            os.remove(options.output)
            raise coquina.CorruptError(f"{options.output}: the copy differs at {region}")


def _refuse_checksums(options: argparse.Namespace, why: str) -> None:
    if options.checksums is not None:
        raise ValueError(f"--checksums: {why}")


def _store(place: store_paths.Place, options: argparse.Namespace, encoding: dict[str, Any]) -> None:
    _refuse_checksums(options, "the arrays of a store always have some")
    lossy_options.refuse(options, "whole trees are copied as they are")
    with store_paths.opened(place) as found:
        if not store_paths.is_group(found):
            raise ValueError(f"{options.file}: a table; copy it with `coquina convert`")
        convert_trees.convert(found, options, encoding)


def _table(options: argparse.Namespace, encoding: dict[str, Any]) -> None:
    _refuse_checksums(options, "tables in directories always have some")
    lossy_options.refuse(options, "tables take bounds by column, which `coquina.create_table` knows")
    if encoding.pop("filters", "shuffle") != "shuffle":
        raise ValueError(
            f"--filters: {options.file} is a table, whose columns are always shuffled; use --auto to choose"
        )
    with coquina.open_table(options.file) as table:
        table.copy(options.output, overwrite=options.force, **encoding).close()


def sort_table(options: argparse.Namespace, words: Mapping[str, Any]) -> dict[str, Any]:
    """Write a table with its rows sorted, and return a summary. words: as for `repack`.

    Raises ValueError for anything but a table, and for options that are not about the encoding of tables.
    """
    if options.output is None:
        raise ValueError(f"{options.file}: name the new file")
    for name in (*_OF_HDF5, "no_compare"):
        if getattr(options, name):
            raise ValueError(f"--{name.replace('_', '-')}: is not for --sort-by, which copies a table")
    _refuse_checksums(options, "--sort-by copies a table, which has those of its layout")
    lossy_options.refuse(options, "tables take bounds by column, which `coquina.create_table` knows")
    encoding = {} if options.codec is None else {"codec": options.codec, **words}
    if options.level is not None:
        encoding["level"] = options.level
    with row_files.opened(options.file) as table:
        place = hdf5_paths.new_place(options.output, table.name or "/table")
        target, name = (options.output, None) if place is None else place
        source = inputs.path_of(options.file)
        if os.path.realpath(target) == os.path.realpath(source):
            raise ValueError(f"{target} is the file itself; name another")
        if place is not None:
            hdf5_paths.check_new(place, is_forced=options.force)
        elif os.path.lexists(target) and not options.force:
            raise FileExistsError(f"{target} exists; --force replaces it")
        table.copy(target, name, sort_by=options.sort_by, overwrite=options.force, **encoding).close()
    before, after = _size(source), _size(target)
    return {
        "file": options.file, "output": options.output, "before": before, "after": after,
        "is_compared": False, "sorted_by": options.sort_by,
    }  # fmt: skip


def _packed(found: coquina.PackFile, options: argparse.Namespace, encoding: dict[str, Any]) -> None:
    lossy_options.refuse(options, "Bloscpack files are repacked as they are; `coquina compress` takes bounds")
    _refuse_checksums(options, "Bloscpack files keep theirs; `coquina compress --checksum` chooses one")
    about, items = found.info(), found.read(threads=options.threads)
    metadata = None if found.array is not None or found.metadata is None else json.dumps(found.metadata)
    with arguments.progress(found.nbytes, "repack", options) as progress:
        coquina.pack(
            items,
            options.output,
            typesize=about["typesize"],
            chunk_size=about["chunk_size"] or max(found.nbytes, 1),
            checksum=about["checksum"],
            offsets=about["offsets"],
            metadata=None if metadata is None else metadata.encode(),
            overwrite=options.force,
            threads=options.threads,
            progress=progress,
            **encoding,
        )
    if not options.no_compare:
        made: Any = coquina.unpack(options.output, threads=options.threads)
        if np.asarray(made).tobytes() != np.asarray(items).tobytes():
            os.remove(options.output)
            raise coquina.CorruptError(f"{options.output}: the copy differs")


def _size(path: str) -> int:
    """Return the bytes of a file, or of all in a directory."""
    if os.path.isfile(path):
        return os.path.getsize(path)
    return sum(os.path.getsize(os.path.join(top, name)) for top, _, names in os.walk(path) for name in names)
