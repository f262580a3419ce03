"""What tests of the xarray engine have in common: the NetCDF library as the judge."""

from __future__ import annotations

from typing import Any

import xarray as xr

from coquina.adapters.xarray_backend import CoquinaBackend


def same(path: Any, **options: Any) -> Any:
    """Return the dataset of a file, once it is sure that it is that of the NetCDF library."""
    ours = xr.open_dataset(path, engine=CoquinaBackend, **options)
    with xr.open_dataset(path, engine="netcdf4", **options) as theirs:
        xr.testing.assert_identical(ours, theirs)
        for name, variable in theirs.variables.items():
            mine = ours.variables[name]
            assert mine.dtype.newbyteorder("=") == variable.dtype.newbyteorder("=")
            for key in ("chunksizes", "preferred_chunks", "zlib", "complevel", "shuffle", "fletcher32"):
                assert mine.encoding.get(key) == variable.encoding.get(key)
            for key in ("dtype", "_FillValue", "scale_factor", "units", "source", "original_shape"):
                assert str(mine.encoding.get(key)) == str(variable.encoding.get(key))
        assert ours.encoding == theirs.encoding
    return ours
