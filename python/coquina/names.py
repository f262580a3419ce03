"""Where the names of `coquina` are that it does not import at once: most functions on arrays.

A module's names are those of its `__all__`. They stand here too, so that no module is imported to know them;
those of the functions of items, and of reductions, come from their table.
"""

from __future__ import annotations

from coquina.function_table import ELEMENTWISE_NAMES, REDUCTIONS

_NAMES = {
    "adapters.dask_storing": "from_dask",
    "client.connecting": "connect",
    "codec_plugins": "BlockInfo Plugin allow_blosc2_plugins list_plugins register_codec register_filter",
    "arrays.comparison": "Quality quality",
    "expressions.expression": "Expr",
    "expressions.text": "ExpressionError expr",
    "functions.composed": "allclose angle array_equal isclose iscomplex isreal nan_to_num",
    "functions.cumulative": "cumprod cumsum cumulative_prod cumulative_sum nancumprod nancumsum",
    "functions.data_types": """
        FloatInfo IntegerInfo bool can_cast complex128 complex64 e finfo float32 float64 iinfo inf int16
        int32 int64 int8 isdtype nan newaxis pi result_type uint16 uint32 uint64 uint8
    """,
    "functions.diagonals": "eye tril triu",
    "functions.einstein": "einsum",
    "functions.elementwise": " ".join(
        (*ELEMENTWISE_NAMES, "around", "clip", "divmod", "fix", "frexp", "modf", "round", "where")
    ),
    "functions.exchange": "astype from_dlpack",
    "functions.histograms": "bincount digitize histogram histogram_bin_edges",
    "functions.joining": """
        column_stack concat concatenate diff dstack hstack meshgrid repeat split stack tile unstack vstack
    """,
    "functions.linear_algebra": "dot inner kron matmul outer tensordot vdot vecdot",
    "functions.manipulation": """
        atleast_1d atleast_2d atleast_3d broadcast_arrays broadcast_shapes broadcast_to expand_dims flip
        fliplr flipud matrix_transpose moveaxis pad permute_dims roll rollaxis rot90 squeeze swapaxes
        transpose
    """,
    "functions.nan_reductions": " ".join(f"nan{row.name}" for row in REDUCTIONS if row.numbers is not None),
    "functions.quantiles": "median nanmedian nanpercentile nanquantile percentile quantile",
    "functions.reductions": " ".join((*(row.name for row in REDUCTIONS), "average", "count_nonzero", "ptp")),
    "functions.reshaping": "ravel reshape",
    "functions.searching": "argwhere extract flatnonzero nonzero take take_along_axis",
    "functions.sets": """
        UniqueAllResult UniqueCountsResult UniqueInverseResult isin unique unique_all unique_counts
        unique_inverse unique_values
    """,
    "functions.sorting": "argsort searchsorted sort",
    "functions.traces": "diagonal trace",
    "functions.tracing": "TraceError traced",
    "functions.user_functions": "vectorize",
    "indexes.index": "Index",
    "lossy": "Lossy LossyInfo",
    "tables.array_layout": "as_table",
    "tables.files": "read_csv read_parquet",
    "tables.making": "create_table",
    "tables.opening": "open_table",
    "tables.selection": "Selection",
    "tables.table": "Table",
    "server.viewer": "Viewer view",
    "tuning.advising": "tune",
    "tuning.files": "FileRecommendation",
    "tuning.recommendation": "Recommendation",
    "tuning.training": "Training train",
    "tuning_options": "Profile Tuning TuningInfo",
    "namespace_info": "NamespaceInfo __array_namespace_info__",
}

#: The module of each name.
MODULES: dict[str, str] = {
    name: f"coquina.{module}" for module, names in _NAMES.items() for name in names.split()
}

#: Which module serves what a lower part asks of a higher one; see `providers`.
PROVIDERS: dict[str, str] = {
    "arithmetic": "coquina.expressions.arithmetic",
    "array_tables": "coquina.tables.array_layout",
    "assignment": "coquina.expressions.assignment",
    "dask": "coquina.adapters.dask_arrays",
    "dask_frames": "coquina.adapters.dask_frames",
    "dask_storing": "coquina.adapters.dask_storing",
    "functions": "coquina",
    "hdf5_files": "coquina.hdf5.files",
    "masked_rows": "coquina.tables.masked_rows",
    "netcdf_groups": "coquina.hdf5.netcdf_groups",
    "numpy_protocols": "coquina.expressions.protocols",
    "opening": "coquina.arrays.opening",
    "polars_scan": "coquina.adapters.polars_scan",
    "saved_expressions": "coquina.expressions.saved",
    "store_tables": "coquina.stores.ctable",
    "similarity": "coquina.arrays.similarity",
    "similar_bounds": "coquina.arrays.similar_bounds",
    "store_writing": "coquina.stores.ctable_writing",
    "stores": "coquina.stores.opening",
    "table_directories": "coquina.tables.directories",
    "table_making": "coquina.tables.making",
    "table_opening": "coquina.tables.opening",
    "variable_arrays": "coquina.tables.vlarrays",
}

#: Modules that are used by their own name, and imported when they are.
SUBMODULES = frozenset({"fft", "hdf5", "linalg", "stores", "strings"})
