"""The bloscpack package, made to run: it still asks `collections` for names that Python 3.10 took away."""

import collections
import collections.abc
import warnings

collections.MutableMapping = collections.abc.MutableMapping  # type: ignore[attr-defined]

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import bloscpack
    from bloscpack.append import _rewrite_metadata_fp as rewrite_metadata
    from bloscpack.append import append as bloscpack_append

__all__ = ["bloscpack", "bloscpack_append", "rewrite_metadata"]
