"""Whether what a dataset stores is under checksums.

In: datasets of h5py. Out: whether damage of any of their items would be noticed.
"""

from __future__ import annotations

from typing import Any

from coquina import _core
from coquina.hdf5.filters import FLETCHER32, is_blosc2_alone
from coquina.hdf5.item_types import is_fixed
from coquina.hdf5.storing import slots_of, stored_rows
from coquina.hdf5.untyped import h5d


def is_protected(dataset: Any) -> bool:
    """Return whether every stored item of a dataset of h5py is under a checksum.

    Those of Fletcher32 and of our chunks of Blosc2 are; so are items that stand in a header with a checksum.
    """
    plist = dataset.id.get_create_plist()
    layout = plist.get_layout()
    if not is_fixed(dataset.id.get_type()):
        return False
    if dataset.shape is None or 0 in dataset.shape or dataset.id.get_storage_size() == 0:
        return True
    if layout != h5d.CHUNKED:
        return False
    filters = slots_of(dataset)
    rows = stored_rows(dataset)
    for at, (code, _, _) in enumerate(filters):
        if code == FLETCHER32:
            return not any(mask >> at & 1 for _, _, _, mask in rows)
    if not is_blosc2_alone(code for code, _, _ in filters):
        return False
    library = _core.Hdf5Library(dataset)
    return all(
        mask == 0 and (found := library.read_chunk(start)) is not None and _core.filter_has_sums(found[0])
        for start, _, _, mask in rows
    )
