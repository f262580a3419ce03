"""How the datasets of an HDF5 file should be stored, one by one.

In: an open group. Out: a `FileRecommendation`, and a copy of the file, made as `coquina repack` makes it.
Invariant: what `repack` would leave as it is, gets no advice, and its reason is told.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from coquina.hdf5 import File
from coquina.hdf5.attributes import attributes
from coquina.hdf5.filters import BLOSC2
from coquina.hdf5.places import inside, node_in
from coquina.hdf5.planning import CopyRequest, plan
from coquina.hdf5.trees import Walk
from coquina.storage_options import Storage
from coquina.tuning.arrays import of_array, refuse_cut
from coquina.tuning.dataset_copies import copied, storage_of
from coquina.tuning.files import FileRecommendation
from coquina.tuning.patterns import uses
from coquina.tuning.sources import is_table

if TYPE_CHECKING:
    from collections.abc import Generator

    from coquina._core import Path
    from coquina.tuning.arrays import Request
    from coquina.tuning.recommendation import Recommendation

#: What a choice for each chunk must save, so that a dataset is stored by it, and how large that must be.
_WORTH = 0.05
_WORTH_BYTES = 64 << 10


@dataclass(slots=True)
class _Found:
    """What is found of a group. axes: of each dataset, those that are the file's, and not of its items."""

    parts: dict[str, Recommendation] = field(default_factory=dict[str, "Recommendation"])
    axes: dict[str, int] = field(default_factory=dict[str, int])
    automatic: set[str] = field(default_factory=set[str])
    skipped: dict[str, str] = field(default_factory=dict[str, str])
    refused: list[ValueError] = field(default_factory=list[ValueError])


def of_group(group: Any, request: Request) -> FileRecommendation:
    """Return how the datasets at and below a group of an HDF5 file should be stored.

    Raises ValueError for a file that is no plain file, for chunks and blocks, which are of one array, and for
    ways of reading that no dataset can have.
    """
    file, top = group.file, group.name
    if file.path is None:
        raise ValueError("tune: takes HDF5 files on disk; for others, pass one array at a time")
    refuse_cut(request, "an HDF5 file")
    request = replace(request, is_plain=True)
    found = _Found()
    for entry in Walk(inside(group)):
        if entry.kind == "dataset":
            _look(group, entry, request, found)
    if found.refused and len(found.refused) == len(found.parts):
        raise found.refused[0]
    where = file.path, top

    def applied(advice: FileRecommendation, path: Path, overwrite: bool) -> Any:
        each = {
            name: storage_of(one, None if name in advice.automatic else one.best.way, found.axes[name])
            for name, one in advice.parts.items()
        }
        return copied(where, each, path, overwrite, request.threads)

    return FileRecommendation(
        name=file.path if top == "/" else f"{file.path}:{top}",
        wanted=request.wanted,
        parts=found.parts,
        automatic=frozenset(found.automatic),
        skipped=found.skipped,
        applied=applied,
    )


def _look(group: Any, entry: Any, request: Request, found: _Found) -> None:
    """Find how a dataset should be stored, or why it stays as it is."""
    h5, name = entry.object, entry.name
    wanted = Storage(filter="blosc2", lossy=request.lossy)
    planned = plan(h5, name, CopyRequest(wanted))
    dataset = (
        None if planned.reason is not None or "/_i_" in name or 0 in h5.shape else _dataset(group, entry)
    )
    if dataset is None:
        own = "PyTables' own" if "/_i_" in name else "it has no items that an array can have"
        found.skipped[name] = planned.reason or own
        return
    axes = dataset.shape[len(h5.shape) :]
    current = dataset.chunks, dataset.blocks
    if planned.blocks is not None and all(code != BLOSC2 for code, _, _ in dataset.filters):
        current = (*planned.chunks, *axes), (*planned.blocks, *axes)
    place = group.file.path, h5.name
    request = _fitting(replace(request, lossy=planned.lossy), dataset, found.refused)
    if axes or _is_of_table(h5):
        # The axes of array datatypes are in every item, and so in every block. The columns of a table have
        # blocks of the same rows.
        request = replace(request, access="any", chunks=current[0], blocks=current[1])
    one = of_array(dataset, request, name, lambda: _open_dataset(*place), current)
    found.parts[name], found.axes[name] = one, len(h5.shape)
    if one.automatic.saves >= _WORTH and one.nbytes >= _WORTH_BYTES and one.lossy is None:
        tuned = plan(h5, name, CopyRequest(replace(wanted, tuning=request.wanted.terms)))
        if tuned.reason is None:
            found.automatic.add(name)


def _is_of_table(h5: Any) -> bool:
    """Whether a dataset of h5py's is a table, or in one."""
    node = h5
    while node.name != "/":
        marks = [attributes(node).get(name) for name in ("CLASS", "encoding-type")]
        if any(one in ("TABLE", b"TABLE", "dataframe", b"dataframe") for one in marks if _is_text(one)):
            return True
        node = node.parent
    return False


def _is_text(mark: object) -> bool:
    return isinstance(mark, str | bytes)


def _fitting(request: Request, dataset: Any, refused: list[ValueError]) -> Request:
    """Return the request with an access that the dataset can have: "any" where it has other axes."""
    try:
        uses(dataset.shape, request.access)
    except ValueError as error:
        refused.append(error)
        return replace(request, access="any")
    return request


def _dataset(group: Any, entry: Any) -> Any:
    """Return a dataset of h5py's as an array, of a table of records the records; None if it is neither."""
    found = node_in(group.file, entry.object.name)
    found = found.dataset if is_table(found) else found
    return found if hasattr(found, "blocks_touched") else None


@contextmanager
def _open_dataset(path: str, name: str) -> Generator[Any]:
    with File(path) as file:
        found: Any = file[name]
        yield found.dataset if is_table(found) else found
