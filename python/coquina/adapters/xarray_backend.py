"""`xarray.open_dataset(path, engine="coquina")`: frames, and HDF5 and NetCDF-4 files, read past libhdf5.

In: what `coquina.open` takes: a path, a file object, bytes. Out: datasets of xarray whose variables are read
    where they are indexed, decoded on all cores; masks, scales, times and characters are xarray's work.
Invariant: a NetCDF-4 file gives the dataset that xarray's engine "netcdf4" gives.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import xarray
from xarray.backends import BackendEntrypoint, StoreBackendEntrypoint

from coquina.adapters.xarray_store import Store

if TYPE_CHECKING:
    from collections.abc import Iterable

    from xarray import Dataset, DataTree


class CoquinaBackend(BackendEntrypoint):
    """The engine "coquina" of xarray.

    A `.b2nd` frame is a dataset of one variable, called as the file without its suffix; the names of its axes
    are those of `attrs["_ARRAY_DIMENSIONS"]` (or `attrs["dims"]`), else dim_0, dim_1 and so on; coordinates
    are in `attrs["_COORDS"]`, attributes of long names in `attrs["_ATTRS"]`, as `asarray` writes them. Files
    of HDF5 and NetCDF-4 have groups, dimensions and coordinates as NetCDF-4 has them.
    """

    description = "Blosc2 frames (.b2nd), and HDF5 and NetCDF-4 files decoded on all cores"
    supports_groups = True
    open_dataset_parameters = (
        "filename_or_obj",
        "mask_and_scale",
        "decode_times",
        "concat_characters",
        "decode_coords",
        "drop_variables",
        "use_cftime",
        "decode_timedelta",
        "group",
    )

    def guess_can_open(self, filename_or_obj: Any) -> bool:
        """Return whether it is a frame by its name; other files are ours only if `engine` says so."""
        if not isinstance(filename_or_obj, str | os.PathLike):
            return False
        return str(cast("Any", filename_or_obj)).rstrip("/").lower().endswith(".b2nd")

    def open_dataset(
        self,
        filename_or_obj: Any,
        *,
        mask_and_scale: Any = True,
        decode_times: Any = True,
        concat_characters: Any = True,
        decode_coords: Any = True,
        drop_variables: str | Iterable[str] | None = None,
        use_cftime: bool | None = None,
        decode_timedelta: Any = None,
        group: str | None = None,
    ) -> Dataset:
        """Return a file, or a group of it, as a dataset. Raises what `coquina.open` does, and KeyError."""
        decoding = _Decoding(
            mask_and_scale,
            decode_times,
            concat_characters,
            decode_coords,
            drop_variables,
            use_cftime,
            decode_timedelta,
        )
        store = Store.open(filename_or_obj, group)
        return decoding.dataset(store)

    def open_groups_as_dict(
        self,
        filename_or_obj: Any,
        *,
        mask_and_scale: Any = True,
        decode_times: Any = True,
        concat_characters: Any = True,
        decode_coords: Any = True,
        drop_variables: str | Iterable[str] | None = None,
        use_cftime: bool | None = None,
        decode_timedelta: Any = None,
        group: str | None = None,
    ) -> dict[str, Dataset]:
        """Return the datasets of a group and of all below it, by their paths from there."""
        decoding = _Decoding(
            mask_and_scale,
            decode_times,
            concat_characters,
            decode_coords,
            drop_variables,
            use_cftime,
            decode_timedelta,
        )
        first = Store.open(filename_or_obj, group)
        return {path: decoding.dataset(store) for path, store in first.below()}

    def open_datatree(
        self,
        filename_or_obj: Any,
        *,
        mask_and_scale: Any = True,
        decode_times: Any = True,
        concat_characters: Any = True,
        decode_coords: Any = True,
        drop_variables: str | Iterable[str] | None = None,
        use_cftime: bool | None = None,
        decode_timedelta: Any = None,
        group: str | None = None,
    ) -> DataTree:
        """Return a file, or a group of it, as a tree of datasets."""
        datasets = self.open_groups_as_dict(
            filename_or_obj,
            mask_and_scale=mask_and_scale,
            decode_times=decode_times,
            concat_characters=concat_characters,
            decode_coords=decode_coords,
            drop_variables=drop_variables,
            use_cftime=use_cftime,
            decode_timedelta=decode_timedelta,
            group=group,
        )
        tree: DataTree = cast("Any", xarray.DataTree).from_dict(datasets)
        for path, dataset in datasets.items():
            tree[path].set_close(dataset.close)
        return tree


@dataclass(frozen=True)
class _Decoding:
    """What xarray decodes by the CF conventions, and what it leaves out."""

    mask_and_scale: Any
    decode_times: Any
    concat_characters: Any
    decode_coords: Any
    drop_variables: Any
    use_cftime: bool | None
    decode_timedelta: Any

    def dataset(self, store: Store) -> Dataset:
        """Return the dataset of a store; the store is closed if there is none."""
        try:
            return cast("Any", StoreBackendEntrypoint()).open_dataset(store, **vars(self))
        except BaseException:
            store.close()
            raise


__all__ = ["CoquinaBackend"]
