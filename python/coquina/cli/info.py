"""describe an array, table, frame, Bloscpack file or Blosc chunk, without decoding it

Examples:
  coquina info climate.b2nd
  coquina info climate.npy
  coquina info climate.npy.blp --json
  coquina info run.h5:/images/raw
  coquina info run.b2z:/raw/images                      of a store of python-blosc2
  coquina info trades.h5                                of a file with a table alone, that table
"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import coquina

if TYPE_CHECKING:
    import argparse

    from coquina.expressions import saved as saved_expressions

from coquina.arrays.aligning import aligned
from coquina.arrays.info import human
from coquina.cli import arguments, attribute_text, hdf5_paths, inputs, ls, numpy_files, store_paths, tables
from coquina.cli.terminal import cell, show, show_json
from coquina.hdf5.dataset_info import described, dtype_name
from coquina.providers import Provider
from coquina.tuning_options import encodings_text

if not TYPE_CHECKING:
    saved_expressions = Provider("saved_expressions")

_MAGIC = b"blpk"
_FRAME_MAGIC = b"b2frame\0"
_HEADER_BYTES = 32


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `coquina info`."""
    parser.add_argument(
        "file",
        help="an array, a table, a frame, a Bloscpack file, a Blosc chunk, a NumPy file (.npy, .npz), "
        "FILE.h5[:/path], STORE[:/path]",
    )
    arguments.add_json(parser)


def run(options: argparse.Namespace) -> None:
    """Print what the file holds."""
    facts = describe(options.file)
    attrs = facts.pop("attrs", {})
    if options.json:
        show_json({**facts, "attrs": attribute_text.document(attrs)}, asdict)
        return
    facts = {name: value for name, value in facts.items() if value is not None}
    width = max(map(len, facts))
    for name, value in facts.items():
        if name == "columns" and isinstance(value, dict):
            show(f"columns\n{tables.columns_text(cast('Any', value))}")
            continue
        if name == "arrays" and isinstance(value, dict):
            _show_arrays(cast("dict[str, dict[str, Any]]", value))
            continue
        show(f"{name:{width}}  {cell(_text(name, value))}")
    if attrs:
        show("attrs")
    for line in attribute_text.lines(attrs):
        show(f"  {line}")


def _show_arrays(arrays: dict[str, dict[str, Any]]) -> None:
    """Print the arrays of a NumPy archive, a line each."""
    show("arrays")
    rows = [
        [cell(name), str(one["shape"]), one["dtype"], human(one["nbytes"])] for name, one in arrays.items()
    ]
    for line in aligned(rows):
        show(f"  {line}")


def describe(path: str) -> dict[str, Any]:
    """Return the facts of a file by name."""
    place = hdf5_paths.place(path)
    if place is not None:
        return _describe_hdf5(place)
    if (stored := store_paths.place(path)) is not None:
        return store_paths.describe(stored)
    if tables.is_directory(path):
        with coquina.open_table(path) as table:
            return {"file": path, "format": "table", **tables.facts(table)}
    if inputs.is_url(path) or Path(path).is_dir():
        return _describe_frame(path)
    with Path(path).open("rb") as file:
        header = file.read(_HEADER_BYTES)
        if _FRAME_MAGIC in header:
            return _describe_frame(path)
        if (numpy_facts := numpy_files.described(file, header)) is not None:
            return {"file": path, **numpy_facts}
        if not header.startswith(_MAGIC):
            chunk = _chunk(path, header)
            return {"file": path, "format": "Blosc chunk", **asdict(chunk), "cratio": chunk.cratio}
        packed = coquina.open(path)
        file.seek(packed.offsets()[0])
        chunk = coquina.chunk_info(file.read(_HEADER_BYTES))
    return {"file": path, "format": "Bloscpack 3", **packed.info(), "first_chunk": chunk}


def _chunk(path: str, header: bytes) -> coquina.ChunkInfo:
    try:
        return coquina.chunk_info(header)
    except coquina.CoquinaError:
        raise inputs.unknown(path, f"{inputs.FORMATS}, Blosc chunks") from None


def _describe_frame(path: str) -> dict[str, Any]:
    """Return the facts of an array, of a frame of plain chunks, or of a saved expression."""
    if not inputs.is_url(path) and (said := saved_expressions.facts_at(path)) is not None:
        return {"file": path, "format": "Blosc2 expression", **said}
    opened = inputs.opened(path)
    if isinstance(opened, coquina.Array):
        facts = {
            "format": "Blosc2 array",
            **opened.info.to_dict(),
            "attrs": attribute_text.values(opened.attrs),
        }
    elif isinstance(opened, coquina.PackFile):
        facts = {"format": "Bloscpack 3", **opened.info()}
    else:
        facts = {"format": "Blosc2 frame", **opened.info(), "attrs": attribute_text.values(opened.attrs)}
    # Nothing has been read of the data, and the path is known.
    hidden = ("path", "blocks_decoded", "blocks_cached")
    return {"file": path, **{name: value for name, value in facts.items() if name not in hidden}}


def _describe_hdf5(place: hdf5_paths.Place) -> dict[str, Any]:
    """Return the facts of an HDF5 file, or of a group or dataset in it."""
    with hdf5_paths.opened(place) as found:
        top = getattr(found, "h5", found)
        if place.path == "/" and (only := tables.only_of(top)) is not None:
            place, found = hdf5_paths.Place(place.file, only), found[only]
            top = found.h5
        where = {"file": place.file, "path": place.path}
        attrs = attribute_text.values(top.attrs, top)
        if tables.is_table(found):
            attrs = attribute_text.of_table(found)
            return {**where, "format": "HDF5 table", **tables.facts(found), "attrs": attrs}
        if isinstance(found, coquina.Array):
            facts: dict[str, Any] = found.info.to_dict()
            shown = {name: value for name, value in facts.items() if name not in _NOT_OF_DATASETS}
            return {**where, "format": "HDF5 dataset", **shown, "attrs": attrs}
        if hasattr(found, "keys"):
            kind = "file" if place.path == "/" else "group"
            within = {"tables": names} if (names := tables.of_file(top)) else {}
            return {**where, "format": f"HDF5 {kind}", **totals(top), **within, "attrs": attrs}
        if not hasattr(found, "shape"):
            return {**where, "format": "HDF5 datatype", "dtype": dtype_name(found), "attrs": attrs}
        return {**where, "format": "HDF5 dataset", **ls.stored(top), "attrs": attrs}


#: Of names on a line.
_NAMES_MAX = 10
_NOT_OF_DATASETS = (
    "path", "codec", "codec_parameter", "level", "filters", "checksums", "dead_bytes", "special_chunks",
    "blocks_decoded", "blocks_cached", "chunks_direct", "chunks_fetched", "chunks_unchanged", "boxes_whole",
    "table_rows", "fallbacks",
)  # fmt: skip


def totals(top: Any) -> dict[str, Any]:
    """Return how much there is in a group of h5py."""
    rows = ls.listed(top)
    datasets = [row for row in rows if row["kind"] == "dataset"]
    nbytes, cbytes = (sum(row[name] for row in datasets) for name in ("nbytes", "cbytes"))
    return {
        "groups": sum(row["kind"] == "group" for row in rows),
        "datasets": len(datasets),
        "links": sum("to" in row for row in rows),
        "nbytes": nbytes,
        "cbytes": cbytes,
        "cratio": nbytes / cbytes if cbytes else None,
    }


def _text(name: str, value: object) -> str:
    if isinstance(value, coquina.ChunkInfo):
        filters = "+".join(filter_name for filter_name, _ in value.filters) or "no filter"
        parameter = "" if value.codec_parameter is None else f":{value.codec_parameter}"
        return f"{value.kind}, {value.codec}{parameter}, {filters}, {value.nblocks} blocks"
    if name == "lossy" and isinstance(value, dict):
        return _lossy_text(cast("dict[str, Any]", value))
    if name == "tuning" and isinstance(value, dict):
        return str(coquina.TuningInfo(**cast("dict[str, Any]", value)))
    if name == "encodings" and isinstance(value, dict):
        return encodings_text(cast("dict[str, int]", value))
    if isinstance(value, int) and name in ("nbytes", "cbytes", "dead_bytes"):
        return f"{value} ({human(value)})"
    if name in ("filters", "pipeline") and isinstance(value, list | tuple):
        return " + ".join(map(_filter_text, cast("list[Any]", value))) or "none"
    names = cast("list[object]", value) if isinstance(value, list) else []
    if names and all(isinstance(one, str) for one in names):
        return _names_text(cast("list[str]", names))
    return f"{value:.2f}x" if isinstance(value, float) else str(cast("object", value))


def _filter_text(filter: Any) -> str:
    """Return a filter of Blosc2, (name, parameter), or of HDF5, (id, name, parameters), as a few words."""
    if not isinstance(filter, tuple):
        return str(filter)
    *_, name, values = cast("tuple[Any, ...]", filter)
    if isinstance(values, tuple):
        return described(name, cast("tuple[int, ...]", values))
    return f"{name} {values}" if values else str(name)


def _names_text(names: list[str]) -> str:
    """Return names in a line; of many the first ones, and how many more there are."""
    more = len(names) - _NAMES_MAX
    return ", ".join(names[:_NAMES_MAX]) + (f" and {more} more" if more > 0 else "")


def _lossy_text(facts: dict[str, Any]) -> str:
    """Return the error bound of an array, and what was reached."""
    error, relative, psnr = (facts[name] for name in ("max_error", "relative_error", "psnr"))
    reached = f"error {error:.4g}, relative {relative:.4g}, PSNR {psnr:.4g} dB"
    return f"{tables.bound_text(facts)}; so far: {reached}"
