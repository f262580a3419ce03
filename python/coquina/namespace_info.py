"""What the Array API standard lets a program ask of `coquina`: what it can do, its devices and dtypes.

Source: the Array API standard 2024.12, "Inspection".
"""

from __future__ import annotations

from typing import Any

import numpy as np

from coquina.functions import data_types
from coquina.storage_options import check_device

#: The most axes that an array has.
DIMENSIONS_MAX = 16

_KINDS: dict[str, tuple[str, ...]] = {
    "bool": ("bool",),
    "signed integer": ("int8", "int16", "int32", "int64"),
    "unsigned integer": ("uint8", "uint16", "uint32", "uint64"),
    "real floating": ("float32", "float64"),
    "complex floating": ("complex64", "complex128"),
}
_KINDS["integral"] = _KINDS["signed integer"] + _KINDS["unsigned integer"]
_KINDS["numeric"] = _KINDS["integral"] + _KINDS["real floating"] + _KINDS["complex floating"]


class NamespaceInfo:
    """What `coquina` says of itself: `coquina.__array_namespace_info__()`.

    >>> import coquina as cq
    >>> cq.__array_namespace_info__().default_device()
    'cpu'
    """

    __slots__ = ()

    def capabilities(self) -> dict[str, bool | int | None]:
        """Return what the standard leaves open: indexing by masks, shapes that follow from items, axes.

        >>> import coquina as cq
        >>> cq.__array_namespace_info__().capabilities()["boolean indexing"]
        True
        """
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": DIMENSIONS_MAX}

    def default_device(self) -> str:
        """Return the only device.

        >>> import coquina as cq
        >>> cq.__array_namespace_info__().default_device()
        'cpu'
        """
        return "cpu"

    def devices(self) -> list[str]:
        """Return all devices: the only one.

        >>> import coquina as cq
        >>> cq.__array_namespace_info__().devices()
        ['cpu']
        """
        return ["cpu"]

    def default_dtypes(self, *, device: str | None = None) -> dict[str, np.dtype[Any]]:
        """Return the dtypes of arrays that are made without one.

        >>> import coquina as cq
        >>> cq.__array_namespace_info__().default_dtypes()["integral"]
        dtype('int64')
        """
        check_device(device)
        return {
            "real floating": data_types.float64,
            "complex floating": data_types.complex128,
            "integral": data_types.int64,
            "indexing": data_types.int64,
        }

    def dtypes(
        self, *, device: str | None = None, kind: str | tuple[str, ...] | None = None
    ) -> dict[str, np.dtype[Any]]:
        """Return the standard's dtypes by name: all, or those of a kind (see `isdtype`) or of several.

        Arrays may have other dtypes of NumPy too; the standard has no names for them.

        >>> import coquina as cq
        >>> sorted(cq.__array_namespace_info__().dtypes(kind="signed integer"))
        ['int16', 'int32', 'int64', 'int8']
        """
        check_device(device)
        kinds = ("bool", "numeric") if kind is None else (kind,) if isinstance(kind, str) else kind
        if unknown := [name for name in kinds if name not in _KINDS]:
            raise ValueError(f"kind {unknown[0]!r}: takes one of {', '.join(map(repr, _KINDS))}")
        return {name: np.dtype(name) for one in kinds for name in _KINDS[one]}


def __array_namespace_info__() -> NamespaceInfo:
    """Return what `coquina` says of itself as a namespace of the Array API standard.

    >>> import coquina as cq
    >>> cq.__array_namespace_info__().devices()
    ['cpu']
    """
    return NamespaceInfo()


__all__ = ["NamespaceInfo", "__array_namespace_info__"]
