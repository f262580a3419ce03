"""verify a file: decode every chunk and compare checksums

The exit code is 0 if nothing is damaged, 1 if any chunk is, and 3 if some chunks cannot be checked because
a codec or filter is missing. Arrays and frames that coquina wrote have a checksum for every chunk. For a
table directory, the files must have the states that the table names. For HDF5 files, all chunks of all
datasets are read, and datasets without checksums are listed: a changed value may go unnoticed there. For a
saved expression, the files of its operands are listed.

Examples:
  coquina verify climate.b2nd
  coquina verify climate.b2nd --json
  coquina verify run.h5
  coquina verify trades_table --json
  coquina verify run.b2z
  coquina verify run.h5:/images --quiet && echo good
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import coquina
from coquina.cli import arguments, hdf5_paths, inputs, store_paths, tables
from coquina.cli.failures import UncheckedError
from coquina.cli.terminal import cell
from coquina.hdf5.checking import check
from coquina.providers import Provider

if TYPE_CHECKING:
    import argparse

    from coquina import Damage
    from coquina.expressions import saved as saved_expressions
    from coquina.hdf5.checking import Bad
    from coquina.stores import opening as stores

else:
    stores, saved_expressions = map(Provider, ("stores", "saved_expressions"))

#: Of names on a line; --json has all.
_NAMES_MAX = 10


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `coquina verify`."""
    parser.add_argument(
        "file", help="an array, a frame, a store, a Bloscpack file, the directory of a table, FILE.h5[:/path]"
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
    if (store := store_paths.place(options.file)) is not None and store.file == options.file:
        _verify_store(options)
        return
    file, damage = open_or_recover(options.file)
    if isinstance(file, coquina.Expr):
        _tell_expression(options)
        return
    found: list[dict[str, Any]] = []
    unchecked: list[dict[str, Any]] = []
    checksums = "none"
    if isinstance(file, coquina.Array):
        checksums, nchunks = file.info.checksums, file.info.nchunks
        with arguments.bars(options):
            for one in file.verify(threads=options.threads):
                (unchecked if _is_unchecked(one.error) else found).append(facts(one))
    elif isinstance(file, coquina.Frame):
        checksums, nchunks = file.info()["checksums"], len(file)
        for number in range(nchunks):
            try:
                file[number]
            except coquina.CoquinaError as error:
                (unchecked if _is_unchecked(error) else found).append({"chunk": number, "error": str(error)})
    else:
        checksums, nchunks = file.info()["checksum"], file.info()["nchunks"]
        file.read(threads=options.threads)
    counts = _counts(nchunks, found, unchecked)
    sentence = f"{cell(options.file)}: {counts}, checksums: {checksums}"
    if damage:
        sentence += f"\n  {cell(damage)}"
    bad = [*found, *unchecked]
    lines = [sentence, *(f"  chunk {one['chunk']}: {cell(one['error'])}" for one in bad)]
    result = {"file": options.file, "nchunks": nchunks, "checksums": checksums, "damage": found}
    result["unchecked"] = unchecked
    result["error"] = str(damage) if damage else None
    arguments.report(result, "\n".join(lines), options)
    if damage:
        raise damage
    _judge(options.file, nchunks, found, unchecked)


def _tell_expression(options: argparse.Namespace) -> None:
    """Say of which files an expression, which could be opened, is computed: each is checked by itself."""
    facts = cast("dict[str, Any]", saved_expressions.facts_at(options.file))
    operands = list(facts["operands"].values())
    sentence = f"{cell(options.file)}: an expression without chunks of its own, of {len(operands)} operands"
    lines = [sentence, *(f"  not checked: {cell(one)}" for one in operands)]
    result = {"file": options.file, "nchunks": 0, "damage": [], "unchecked": [], "operands": operands}
    arguments.report(result, "\n".join(lines), options)


def _verify_hdf5(place: hdf5_paths.Place, options: argparse.Namespace) -> None:
    with hdf5_paths.opened(place) as found:
        checked = check(getattr(found, "h5", found), options.threads)
    bad, unchecked = ([_bad_facts(one) for one in some] for some in (checked.bad, checked.unchecked))
    counts = f"{checked.ndatasets} datasets, {_counts(checked.nchunks, bad, unchecked)}"
    lines = [f"{cell(options.file)}: {counts}"]
    if checked.unprotected:
        more = len(checked.unprotected) - _NAMES_MAX
        named = ", ".join(map(cell, checked.unprotected[:_NAMES_MAX])) + f" and {more} more" * (more > 0)
        lines.append(f"  not protected by checksums: {named}")
    both = (*checked.bad, *checked.unchecked)
    lines += [f"  {cell(one.dataset)} {list(one.start)}: {cell(one.error)}" for one in both]
    result = {
        "file": place.file,
        "path": place.path,
        "ndatasets": checked.ndatasets,
        "nchunks": checked.nchunks,
        "damage": bad,
        "unchecked": unchecked,
        "unprotected": checked.unprotected,
    }
    arguments.report(result, "\n".join(lines), options)
    _judge(options.file, checked.nchunks, bad, unchecked)


def _is_unchecked(error: Exception) -> bool:
    """Whether a chunk may be right: nobody here can decode it."""
    return isinstance(error, coquina.UnsupportedError)


def _counts(nchunks: int, bad: list[dict[str, Any]], unchecked: list[dict[str, Any]]) -> str:
    rest = f", {len(unchecked)} cannot be checked here" if unchecked else ""
    return f"{nchunks} chunks, {len(bad)} damaged{rest}"


def _judge(file: str, nchunks: int, bad: list[dict[str, Any]], unchecked: list[dict[str, Any]]) -> None:
    """Raise CorruptError if something is damaged, UncheckedError if something cannot be checked."""
    if bad:
        raise coquina.CorruptError(f"{file}: {len(bad)} of {nchunks} chunks are damaged")
    if unchecked:
        raise UncheckedError(
            f"{file}: {len(unchecked)} of {nchunks} chunks cannot be checked without their plugin; "
            "`coquina repack` and `coquina recover` copy them as they are stored"
        )


def _bad_facts(one: Bad) -> dict[str, Any]:
    return {"dataset": one.dataset, "start": one.start, "error": one.error}


def _verify_directory(options: argparse.Namespace) -> None:
    from coquina.tables.directory_checking import check_directory

    with arguments.bars(options):
        checked = check_directory(options.file, threads=options.threads)
    bad: list[dict[str, Any]] = []
    unchecked: list[dict[str, Any]] = []
    for one in checked.bad:
        fact = {"array": one.array, "file": one.file, "chunk": one.chunk, "error": str(one.error)}
        (unchecked if _is_unchecked(one.error) else bad).append(fact)
    counts = f"{checked.narrays} arrays, {_counts(checked.nchunks, bad, unchecked)}"
    lines = [f"{cell(options.file)}: {counts}"]
    for one in [*bad, *unchecked]:
        chunk = "" if one["chunk"] is None else f", chunk {one['chunk']}"
        lines.append(f"  {cell(one['array'])} ({cell(one['file'])}){chunk}: {cell(one['error'])}")
    result = {
        "file": options.file,
        "narrays": checked.narrays,
        "nchunks": checked.nchunks,
        "checksums": "fresh",
        "damage": bad,
        "unchecked": unchecked,
    }
    arguments.report(result, "\n".join(lines), options)
    _judge(options.file, checked.nchunks, bad, unchecked)


def _verify_store(options: argparse.Namespace) -> None:
    checked = stores.checked(options.file, options.threads)
    bad: list[dict[str, Any]] = []
    unchecked: list[dict[str, Any]] = []
    for key, chunk, error in checked.bad:
        (unchecked if _is_unchecked(error) else bad).append(
            {"path": f"/{key}", "chunk": chunk, "error": str(error)}
        )
    lines = [f"{cell(options.file)}: {checked.nleaves} leaves, {_counts(checked.nchunks, bad, unchecked)}"]
    for one in [*bad, *unchecked]:
        chunk = "" if one["chunk"] is None else f", chunk {one['chunk']}"
        lines.append(f"  {cell(one['path'])}{chunk}: {cell(one['error'])}")
    result = {"file": options.file, "nchunks": checked.nchunks, "damage": bad, "unchecked": unchecked}
    arguments.report(result, "\n".join(lines), options)
    _judge(options.file, checked.nchunks, bad, unchecked)


def open_or_recover(path: str) -> tuple[Any, coquina.CoquinaError | None]:
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
