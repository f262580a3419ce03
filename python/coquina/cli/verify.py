"""check a file: read and decode every chunk, and compare checksums

Exit code 1 if any chunk is damaged. Arrays and frames that coquina wrote have a checksum for every chunk. The
files of a table that is a directory must be in the states that the table names. Of HDF5 files all chunks of
all datasets are read: few have checksums, but most damage keeps one from decoding.

Examples:
  coquina verify climate.b2nd
  coquina verify climate.b2nd --json
  coquina verify run.h5
  coquina verify trades_table --json
  coquina verify run.h5:/images --quiet && echo good
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import coquina
from coquina.cli import arguments, hdf5_paths, inputs, tables

if TYPE_CHECKING:
    import argparse

    from coquina import Damage


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `coquina verify`."""
    parser.add_argument(
        "file", help="an array, a frame, a Bloscpack file, the directory of a table, FILE.h5[:/path]"
    )
    arguments.add_threads(parser)
    arguments.add_report(parser)


def run(options: argparse.Namespace) -> None:
    """Check the file. Raises CorruptError if something is wrong."""
    place = hdf5_paths.place(options.file)
    if place is not None:
        _verify_hdf5(place, options)
        return
    if tables.is_directory(options.file):
        _verify_directory(options)
        return
    file, damage = open_or_salvage(options.file)
    found: list[dict[str, Any]] = []
    checksums = "none"
    if isinstance(file, coquina.Array):
        checksums, nchunks = file.info.checksums, file.info.nchunks
        found = [facts(one) for one in file.verify(threads=options.threads)]
    elif isinstance(file, coquina.Frame):
        checksums, nchunks = file.info()["checksums"], len(file)
        for number in range(nchunks):
            try:
                file[number]
            except coquina.CoquinaError as error:
                found.append({"chunk": number, "error": str(error)})
    else:
        checksums, nchunks = file.info()["checksum"], file.info()["nchunks"]
        file.read(threads=options.threads)
    sentence = f"{options.file}: {nchunks} chunks, {len(found)} damaged, checksums: {checksums}"
    if damage:
        sentence += f"\n  {damage}"
    lines = [sentence, *(f"  chunk {one['chunk']}: {one['error']}" for one in found)]
    result = {"file": options.file, "nchunks": nchunks, "checksums": checksums, "damage": found}
    result["error"] = str(damage) if damage else None
    arguments.report(result, "\n".join(lines), options)
    if damage:
        raise damage
    if found:
        raise coquina.CorruptError(f"{options.file}: {len(found)} of {nchunks} chunks are damaged")


def _verify_hdf5(place: hdf5_paths.Place, options: argparse.Namespace) -> None:
    from coquina.hdf5.checking import check

    with hdf5_paths.opened(place) as found:
        checked = check(getattr(found, "h5", found), options.threads)
    bad = [{"dataset": one.dataset, "start": one.start, "error": one.error} for one in checked.bad]
    counts = f"{checked.ndatasets} datasets, {checked.nchunks} chunks"
    lines = [f"{options.file}: {counts}, {len(bad)} damaged"]
    lines += [f"  {one.dataset} {list(one.start)}: {one.error}" for one in checked.bad]
    result = {
        "file": place.file,
        "path": place.path,
        "ndatasets": checked.ndatasets,
        "nchunks": checked.nchunks,
        "damage": bad,
    }
    arguments.report(result, "\n".join(lines), options)
    if bad:
        raise coquina.CorruptError(f"{options.file}: {len(bad)} of {checked.nchunks} chunks are damaged")


def _verify_directory(options: argparse.Namespace) -> None:
    from coquina.tables.directory_checking import check_directory

    checked = check_directory(options.file, threads=options.threads)
    bad = [
        {"array": one.array, "file": one.file, "chunk": one.chunk, "error": str(one.error)}
        for one in checked.bad
    ]
    lines = [f"{options.file}: {checked.narrays} arrays, {checked.nchunks} chunks, {len(bad)} damaged"]
    for one in checked.bad:
        chunk = "" if one.chunk is None else f", chunk {one.chunk}"
        lines.append(f"  {one.array} ({one.file}){chunk}: {one.error}")
    result = {
        "file": options.file,
        "narrays": checked.narrays,
        "nchunks": checked.nchunks,
        "checksums": "fresh",
        "damage": bad,
    }
    arguments.report(result, "\n".join(lines), options)
    if bad:
        raise coquina.CorruptError(f"{options.file}: {len(bad)} of {checked.nchunks} chunks are damaged")


def open_or_salvage(path: str) -> tuple[Any, coquina.CoquinaError | None]:
    """Open a file; if header, index or trailer are damaged, what is left of it, and the error."""
    try:
        return inputs.opened(path), None
    except (coquina.CorruptError, coquina.UnsupportedError) as error:
        try:
            return inputs.opened(path, damaged=True), error
        except coquina.CoquinaError:
            raise error from None


def facts(damage: Damage) -> dict[str, Any]:
    """Return a damaged chunk as JSON knows it."""
    region = [[part.start, part.stop] for part in damage.region]
    return {"chunk": damage.chunk, "region": region, "error": str(damage.error)}
