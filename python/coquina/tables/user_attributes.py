"""The attributes that users give a table: what goes with it to copies, Arrow and pandas, and comes back.

In: tables, selections, DataFrames, Arrow data. Out: attributes by name.
Invariant: attributes that say how a table is stored are none of them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, MutableMapping
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from coquina.tables.marks import text_array

if TYPE_CHECKING:
    from collections.abc import Mapping

#: Those of AnnData's encoding and ours, of PyTables, and of the dimensions of HDF5 and NetCDF.
_STORED = re.compile(
    r"encoding-(type|version)|column-order|_index|coquina|coquina_(rows|tuning|lossy.*|index:.*)"
    r"|CLASS|VERSION|TITLE|FLAVOR|NROWS|NODE_TYPE|PSEUDOATOM|EXTDIM|AUTO_INDEX|byteorder|FIELD_[0-9]+_.*"
    r"|_?p_coquina_.*|PYTABLES_FORMAT_VERSION|DIMENSION_(LIST|LABELS)|REFERENCE_LIST|NAME|_Netcdf4\w+|_NC\w+"
)
#: Of the schema of Arrow data: a JSON object.
_METADATA = b"coquina.attributes"


class UserAttributes(MutableMapping[str, Any]):
    """The attributes that users gave a table. Those of its format are found by name, and are not listed."""

    __slots__ = ("_all",)

    def __init__(self, attrs: Any) -> None:
        """Take all attributes, of which those of the format are not listed."""
        self._all = attrs

    def __getitem__(self, name: str) -> Any:
        """Return a value. Raises KeyError."""
        return self._all[name]

    def __setitem__(self, name: str, value: Any) -> None:
        """Set a value. Raises TypeError for one that cannot be stored."""
        self._all[name] = value

    def __delitem__(self, name: str) -> None:
        """Remove a value. Raises KeyError."""
        del self._all[name]

    def update(self, *args: Any, **more: Any) -> None:
        """Set several values: where a table has commits, as one. Raises TypeError as setting one does."""
        self._all.update(*args, **more)

    def __contains__(self, name: object) -> bool:
        """Return whether there is an attribute of this name, of the format too."""
        return name in self._all

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names that users gave."""
        return (name for name in self._all if not _STORED.fullmatch(name))

    def __len__(self) -> int:
        """Return how many attributes users gave."""
        return sum(1 for _ in self)

    def __getattr__(self, name: str) -> Any:
        """Return what else h5py's attributes have: `create`, `modify`, `get_id`."""
        if name.startswith("_") or not hasattr(self._all, name):
            raise AttributeError(f"the attributes have no method {name!r}; write attrs[{name!r}]")
        return getattr(self._all, name)

    def __setattr__(self, name: str, value: Any) -> None:
        """Raise AttributeError: attributes are set as items."""
        if name not in self.__slots__:
            raise AttributeError(f"attributes are set as items: attrs[{name!r}] = ...")
        object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        """Return the attributes as a dict prints them."""
        return repr(dict(self))


def user_attributes(table: Any) -> dict[str, Any]:
    """Return the attributes that users gave a table, without its title, which goes with it by itself."""
    found = UserAttributes(getattr(table.layout, "attrs", None) or {})
    return {name: value for name, value in found.items() if name != "title"}


def title_of(data: Any) -> str:
    """Return the title of a table; empty for what is none, or has none."""
    return str(getattr(getattr(data, "layout", None), "title", ""))


def attributes_of(data: Any) -> dict[str, Any]:
    """Return the attributes of what a table is made of; none of what has none."""
    table = getattr(data, "table", data)
    if hasattr(table, "layout") and hasattr(table, "nrows"):
        return user_attributes(table)
    if type(data).__module__.startswith("pandas."):
        return {str(name): value for name, value in getattr(data, "attrs", {}).items() if is_plain(value)}
    metadata: Any = getattr(getattr(data, "schema", None), "metadata", None)
    if not isinstance(metadata, dict) or _METADATA not in metadata:
        return {}
    try:
        found: Any = json.loads(cast("dict[bytes, bytes]", metadata)[_METADATA])
    except (ValueError, RecursionError):
        return {}
    return cast("dict[str, Any]", found) if isinstance(found, dict) else {}


def plain_attributes(table: Any) -> dict[str, Any]:
    """Return those that JSON can say, as Python's own values; arrays are lists."""
    found = {name: _python(value) for name, value in user_attributes(table).items()}
    return {name: value for name, value in found.items() if is_plain(value)}


def metadata_of(table: Any) -> dict[bytes, bytes] | None:
    """Return the metadata of a schema of Arrow; None if there is none."""
    plain = plain_attributes(table)
    return {_METADATA: json.dumps(plain).encode()} if plain else None


def is_plain(value: Any) -> bool:
    """Whether JSON and HDF5 both can say it."""
    if isinstance(value, list):
        return all(is_plain(one) and not isinstance(one, list) for one in cast("list[Any]", value))
    return isinstance(value, str | bool | int | float)


def put_attributes(table: Any, attributes: Mapping[str, Any]) -> None:
    """Give a table these attributes. Raises TypeError for what its home cannot keep."""
    for name, value in attributes.items():
        try:
            table.layout.attrs[name] = _as_hdf5(value)
        except (TypeError, ValueError) as error:
            raise TypeError(f"attribute {name!r} cannot be kept in {table.layout.name}: {error}") from error


def _as_hdf5(value: Any) -> Any:
    """Return a list of text as HDF5 takes it, if it is one."""
    texts = cast("list[Any]", value) if isinstance(value, list) else [None]
    if not all(isinstance(one, str) for one in texts):
        return cast("Any", value)
    return text_array(cast("list[str]", texts))


def _python(value: Any) -> Any:
    """Return a value of NumPy as Python's own."""
    return cast("Any", value).tolist() if isinstance(value, np.generic | np.ndarray) else value
