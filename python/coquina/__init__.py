"""Compressed arrays and tables that you compute on directly.

>>> import coquina as cq
>>> chunk = cq.compress(bytes(1000), codec="lz4")  # any contiguous buffer to a small chunk
>>> len(chunk), cq.decompress(chunk) == bytes(1000)  # and back, on all cores
(32, True)
"""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING

from coquina._core import (
    CoquinaError,
    CorruptError,
    LimitError,
    TruncatedError,
    UnsupportedError,
    __version__,
    codecs,
    decompress,
    decompress_into,
    decompress_items,
    filters,
    num_threads,
    set_num_threads,
)
from coquina.arrays.array import Array
from coquina.arrays.bloscpack import PackFile, append, dumps, loads, pack, unpack
from coquina.arrays.constants import empty, full, nans, ones, zeros
from coquina.arrays.constants_like import empty_like, full_like, ones_like, zeros_like
from coquina.arrays.creation import asarray, from_slabs
from coquina.arrays.frames import Frame
from coquina.arrays.info import ArrayInfo, Damage
from coquina.arrays.opening import from_bytes, open
from coquina.arrays.progress import set_progress
from coquina.arrays.sequences import arange, frombuffer, fromiter, linspace
from coquina.arrays.views import View
from coquina.chunks import ChunkInfo, chunk_info, compress
from coquina.foreign_attributes import PACKAGE, no_attribute
from coquina.names import MODULES, PROVIDERS, SUBMODULES
from coquina.providers import provide

if TYPE_CHECKING:
    # What `__getattr__` finds, for type checkers.
    from coquina._core import Profile

    from . import codec_plugins, fft, hdf5, linalg, namespace_info, strings
    from . import stores as stores
    from .adapters.dask_storing import from_dask
    from .arrays.comparison import Quality, quality
    from .client.connecting import connect
    from .codec_plugins import *  # noqa: F403
    from .expressions.expression import Expr
    from .expressions.text import ExpressionError, expr
    from .functions import (
        composed,
        cumulative,
        data_types,
        diagonals,
        einstein,
        elementwise,
        exchange,
        histograms,
        joining,
        linear_algebra,
        manipulation,
        nan_reductions,
        quantiles,
        reductions,
        reshaping,
        searching,
        sets,
        sorting,
        traces,
        tracing,
        user_functions,
    )
    from .functions.composed import *  # noqa: F403
    from .functions.cumulative import *  # noqa: F403
    from .functions.data_types import *  # noqa: F403
    from .functions.diagonals import *  # noqa: F403
    from .functions.einstein import *  # noqa: F403
    from .functions.elementwise import *  # noqa: F403
    from .functions.exchange import *  # noqa: F403
    from .functions.histograms import *  # noqa: F403
    from .functions.joining import *  # noqa: F403
    from .functions.linear_algebra import *  # noqa: F403
    from .functions.manipulation import *  # noqa: F403
    from .functions.nan_reductions import *  # noqa: F403
    from .functions.quantiles import *  # noqa: F403
    from .functions.reductions import *  # noqa: F403
    from .functions.reshaping import *  # noqa: F403
    from .functions.searching import *  # noqa: F403
    from .functions.sets import *  # noqa: F403
    from .functions.sorting import *  # noqa: F403
    from .functions.traces import *  # noqa: F403
    from .functions.tracing import *  # noqa: F403
    from .functions.user_functions import *  # noqa: F403
    from .indexes.index import Index
    from .lossy import Lossy, LossyInfo
    from .namespace_info import *  # noqa: F403
    from .server.viewer import Viewer, view
    from .tables.array_layout import as_table
    from .tables.files import read_csv, read_parquet
    from .tables.making import create_table
    from .tables.opening import open_table
    from .tables.selection import Selection
    from .tables.table import Table
    from .tuning.advising import tune
    from .tuning.files import FileRecommendation
    from .tuning.recommendation import Recommendation
    from .tuning.training import Training, train
    from .tuning_options import Tuning, TuningInfo

provide(PROVIDERS)

#: The newest version of the Array API standard that all of is there.
__array_api_version__ = "2024.12"


def __getattr__(name: str) -> object:
    """Import what `names` lists when it is asked for: most functions, and `hdf5`, which needs h5py."""
    if name in SUBMODULES:
        return _import_module(f"coquina.{name}")
    module = MODULES.get(name)
    if module is None:
        raise AttributeError(no_attribute("module 'coquina'", name, PACKAGE).replace("cq.", "coquina."))
    found = globals()[name] = getattr(_import_module(module), name)
    return found


def __dir__() -> list[str]:
    """Return all names, imported or not."""
    return sorted({*globals(), *MODULES, *SUBMODULES})


__all__ = [
    "Array",
    "ArrayInfo",
    "ChunkInfo",
    "CoquinaError",
    "CorruptError",
    "Damage",
    "Frame",
    "LimitError",
    "PackFile",
    "TruncatedError",
    "UnsupportedError",
    "View",
    "__array_api_version__",
    "__version__",
    "append",
    "arange",
    "asarray",
    "chunk_info",
    "codecs",
    "compress",
    "decompress",
    "decompress_into",
    "decompress_items",
    "dumps",
    "empty",
    "empty_like",
    "filters",
    "from_bytes",
    "from_slabs",
    "frombuffer",
    "fromiter",
    "full",
    "full_like",
    "linspace",
    "loads",
    "nans",
    "num_threads",
    "ones",
    "ones_like",
    "open",
    "pack",
    "set_num_threads",
    "set_progress",
    "unpack",
    "zeros",
    "zeros_like",
]

if TYPE_CHECKING:
    __all__ += ["Expr", "ExpressionError", "connect", "expr", "fft", "from_dask", "hdf5", "linalg", "strings"]
    __all__ += ["Index", "Selection", "Table", "as_table", "create_table", "open_table"]
    __all__ += ["Viewer", "read_csv", "read_parquet", "view"]
    __all__ += ["Lossy", "LossyInfo", "Profile", "Quality", "Tuning", "TuningInfo", "quality"]
    __all__ += ["FileRecommendation", "Recommendation", "Training", "train", "tune"]
    __all__ += codec_plugins.__all__
    __all__ += composed.__all__
    __all__ += cumulative.__all__
    __all__ += data_types.__all__
    __all__ += diagonals.__all__
    __all__ += einstein.__all__
    __all__ += elementwise.__all__
    __all__ += exchange.__all__
    __all__ += histograms.__all__
    __all__ += joining.__all__
    __all__ += linear_algebra.__all__
    __all__ += manipulation.__all__
    __all__ += namespace_info.__all__
    __all__ += nan_reductions.__all__
    __all__ += quantiles.__all__
    __all__ += reductions.__all__
    __all__ += reshaping.__all__
    __all__ += searching.__all__
    __all__ += sets.__all__
    __all__ += sorting.__all__
    __all__ += traces.__all__
    __all__ += tracing.__all__
    __all__ += user_functions.__all__
else:
    __all__ += [*MODULES, *SUBMODULES]
