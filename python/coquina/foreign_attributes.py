"""Attributes of other libraries (pandas, xarray, Zarr, PyTables, ...), and what to write here instead.

In: a name that an array, a group, a table or the package does not have. Out: the text of the error.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

#: `a` is the array, `cq` the package.
ARRAYS: Mapping[str, str] = {
    # NumPy, pandas, xarray, Dask
    "fill": "a[...] = value",
    "flat": "a.ravel()",
    "head": "a[:5]",
    "iloc": "a[5:9]",
    "load": "a[...]",
    "mask": "a.oindex, a.vindex, or a[mask]",
    "median": "cq.median(a)",
    "percentile": "cq.percentile(a, q)",
    "persist": "a[...]",
    "quantile": "cq.quantile(a, q)",
    "rechunk": "a.copy(chunks=...)",
    "sort": "cq.sort(a)",
    "tail": "a[-5:]",
    "to_xarray": "xarray.open_dataset(path, engine='coquina'), or xarray.DataArray(a[...])",
    "tofile": "a[...].tofile(path), or a.save(path)",
    "unique": "cq.unique_values(a)",
    "value": "a[()]",
    "value_counts": "cq.unique_counts(a)",
    "values": "a[...]",
    # Zarr
    "compressor": "a.info",
    "compressors": "a.info",
    "get_basic_selection": "a[key]",
    "get_mask_selection": "a[mask]",
    "get_orthogonal_selection": "a.oindex[key]",
    "set_basic_selection": "a[key] = values",
    "set_orthogonal_selection": "a.oindex[key] = values",
    "zattrs": "a.attrs",
    # python-blosc2, PyTables
    "atom": "a.dtype",
    "blockshape": "a.blocks",
    "chunkshape": "a.chunks",
    "cparams": "a.info",
    "dparams": "a.info",
    "iterchunks_info": "a.info",
    "iterrows": "for row in a",
    "nrows": "len(a)",
    "read": "a[start:stop]",
    "schunk": "a.info",
    "slice": "a[key]",
    "urlpath": "a.path",
    "vlmeta": "a.attrs",
}
#: `f` is the file or the group.
GROUPS: Mapping[str, str] = {
    # PyTables
    "copy_node": "f.copy(source, dest)",
    "create_carray": "f.create_dataset(name, shape, dtype)",
    "create_earray": "f.create_dataset(name, shape, dtype, maxshape=(None, ...))",
    "create_vlarray": "f.create_dataset(name, shape, h5py.vlen_dtype(dtype))",
    "get_node": "f['group/name']",
    "get_node_attr": "f['group/name'].attrs['key']",
    "is_open": "bool(f)",
    "isopen": "bool(f)",
    "iter_nodes": "f.values()",
    "list_nodes": "f.values()",
    "move_node": "f.move(source, dest)",
    "remove_node": "del f['group/name']",
    "rename_node": "f.move(source, dest)",
    "root": "f['group/name'], since a file is its root group",
    "set_node_attr": "f['group/name'].attrs['key'] = value",
    "walk_groups": "f.visititems(function), or f.tree()",
    "walk_nodes": "f.visititems(function), or f.tree()",
    # netCDF4
    "createDimension": "f[name].make_scale(), and f[other].dims",
    "createGroup": "f.create_group(name)",
    "createVariable": "f.create_dataset(name, shape, dtype)",
    "dimensions": "f[name].dims",
    "getncattr": "f.attrs['key']",
    "groups": "f.items()",
    "ncattrs": "f.attrs",
    "setncattr": "f.attrs['key'] = value",
    "variables": "f[name], or f.items()",
}
#: `t` is the table or the selection.
TABLES: Mapping[str, str] = {
    # PyTables
    "append_where": "t.where(condition).append_to(other)",
    "col": "t['price'][:]",
    "coldescrs": "t.schema",
    "coldtypes": "t.dtype",
    "colindexes": "t.indexes",
    "colnames": "t.columns",
    "cols": "t['price']",
    "get_where_list": "t.where(condition).row_numbers()",
    "itersequence": "t[[3, 5]]",
    "iterrows": "for row in t",
    "modify_coordinates": "t['price'][[3, 5]] = values",
    "modify_column": "t['price'][...] = values",
    "modify_rows": "t['price'][3:5] = values, or t.modify(condition, values)",
    "read_coordinates": "t[[3, 5]]",
    "read_where": "t.where(condition, params).to_numpy()",
    "reindex": "t.refresh_index(name)",
    "remove_row": "t.delete(condition)",
    "remove_rows": "t.delete(condition)",
    "remove_index": "t.drop_index(name)",
    "row": "t.append([(value, value)]), with tuples in the order of the columns",
    "will_query_use_indexing": "t.will_use_index(condition)",
    # pandas, Polars
    "collect": "t.to_numpy(), t.to_pandas() or t.to_polars()",
    "describe": "t.to_pandas().describe(), or t.min(name), t.max(name), t.mean(name), t.std(name)",
    "drop": "t.drop_column(name)",
    "dtypes": "t.dtype",
    "filter": "t.where('price > 20')",
    "groupby": "t.group_by(names).agg(...)",
    "iloc": "t[5:9]",
    "index": "t.create_index(name), t.indexes",
    "isna": "t.where('price is null')",
    "itertuples": "for row in t",
    "loc": "t.where('price > 20').select(names)",
    "nlargest": "t.order_by(name, descending=True).head(n)",
    "nsmallest": "t.order_by(name).head(n)",
    "query": "t.where('price > 20')",
    "rename": "t.rename_column(old, new)",
    "sample": "t[rng.integers(len(t), size=n)]",
    "sort": "t.order_by(names)",
    "sort_values": "t.order_by(names)",
    "tail": "t[-5:]",
    "unique": "t.group_by(names).count()",
    "update": "t['price'][3:5] = values, or t.modify(condition, values)",
    "value_counts": "t.group_by(names).count()",
    "values": "t.to_numpy()",
    "with_columns": "t['name'] = t['price'] * 2",
    "write_csv": "t.to_csv(path)",
    "write_parquet": "t.to_parquet(path)",
}
#: `t` is the table of a column of text, times or values that can be missing.
COLUMNS: Mapping[str, str] = {
    "astype": "t['price'][:].astype(dtype)",
    "fillna": "t.modify('price is null', {'price': 0})",
    "max": "t.max(name), which leaves nulls out",
    "mean": "t.mean(name), which leaves nulls out",
    "min": "t.min(name), which leaves nulls out",
    "nunique": "len(t.group_by(name).count())",
    "std": "t.std(name), which leaves nulls out",
    "str": "t['name'].startswith(text), .endswith(text), .contains(text)",
    "sum": "t.sum(name), which leaves nulls out",
    "to_list": "t['name'][:].tolist()",
    "to_numpy": "t['name'][:]",
    "to_pandas": "t.select(name).to_pandas()[name]",
    "tolist": "t['name'][:].tolist()",
    "unique": "t.group_by(name).count()",
    "value_counts": "t.group_by(name).count()",
    "values": "t['name'][:]",
    "var": "t.var(name), which leaves nulls out",
}
#: `cq` is the package.
PACKAGE: Mapping[str, str] = {
    "CTable": "cq.Table, cq.create_table",
    "DataFrame": "cq.create_table",
    "Dataset": "cq.hdf5.Dataset",
    "File": "cq.hdf5.File, or cq.open",
    "Group": "cq.hdf5.Group",
    "NDArray": "cq.Array, cq.asarray",
    "SChunk": "cq.Frame",
    "array": "cq.asarray",
    "create_array": "cq.asarray(x, path=...), or cq.empty(shape, path=...)",
    "from_arrow": "cq.create_table(path, data)",
    "from_numpy": "cq.asarray",
    "from_pandas": "cq.create_table(path, frame)",
    "from_polars": "cq.create_table(path, frame)",
    "is_hdf5": "h5py.is_hdf5",
    "lazyexpr": "cq.expr",
    "lazyudf": "cq.vectorize",
    "load": "cq.open(path)",
    "load_array": "cq.open(path)",
    "open_array": "cq.open(path)",
    "open_file": "cq.open(path)",
    "open_group": "cq.open(path)",
    "read_hdf": "cq.open_table(path, name)",
    "save": "cq.asarray(x, path=...)",
    "save_array": "cq.asarray(x, path=...)",
    "set_nthreads": "cq.set_num_threads(n)",
}


def no_attribute(owner: str, name: str, advice: Mapping[str, str], what: str = "attribute") -> str:
    """Return the text of the error for a name that `owner` does not have; what: what it could have been."""
    found = advice.get(name)
    return f"{owner} has no {what} {name!r}" + (f"; use {found}" if found else "")
