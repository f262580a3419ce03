"""Attributes as h5py has them, read once it is known that libhdf5 can read them.

libhdf5 walks a damaged collection of the global heap, where values of variable length are, without end. So
the engine walks the collections that an object's attributes lie in before h5py is asked for a value.

In: objects of h5py. Out: their attributes, or a CorruptError.
Invariant: of a file that is simply a file, no value is asked for whose heap was not looked at as it was when
    the object's attributes were first read. What was written since, libhdf5 has in memory.
"""

from __future__ import annotations

import os
from functools import lru_cache
from itertools import islice
from typing import Any

from coquina import _core
from coquina._core import CorruptError
from coquina.hdf5.damage import is_of_system
from coquina.hdf5.h5py_errors import explained
from coquina.hdf5.open_files import OpenFile
from coquina.hdf5.sessions import Session
from coquina.hdf5.untyped import h5f, h5fd, h5g, h5i, h5py
from coquina.keyword_hints import no_key

_OBJECTS_MAX = 1 << 14
#: So many names are looked through for one that may be meant.
_NAMES_MAX = 1000
_Manager: Any = h5py.AttributeManager


class Attributes(_Manager):
    """The attributes of an object: h5py's mapping. Raises CorruptError for values that cannot be read."""

    def __init__(self, parent: Any) -> None:
        """Those of an object of h5py."""
        _Manager.__init__(self, parent)
        self._parent = parent

    @explained
    def __getitem__(self, name: Any) -> Any:
        """Return a value. Raises KeyError if there is none."""
        if name not in self:
            raise no_key(name, self._names())
        check(self._parent.id)
        try:
            return _Manager.__getitem__(self, name)
        except (OSError, RuntimeError, KeyError, OverflowError, MemoryError) as error:
            if isinstance(error, OSError) and is_of_system(error):
                raise
            if "conversion" in str(error):  # Of types that h5py does not know.
                raise
            raise CorruptError(f"{self._parent.name}: attribute {name!r} cannot be read: {error}") from error

    def get(self, name: Any, default: Any = None) -> Any:
        """Return a value, or `default` if there is none: without the error, which looks for near names."""
        if name not in self:
            return default
        return self[name]

    def _names(self) -> list[str]:
        try:
            return list(islice(self, _NAMES_MAX))
        except (OSError, RuntimeError):
            # Attributes that cannot be listed, as those of a dataset that is open with another prefix.
            return []

    def get_id(self, attr_name: str) -> Any:
        """Return h5py's object of an attribute; by that one gets at its file, and may write to it."""
        Session.at(self._parent)[0].hand_out()
        return _Manager.get_id(self, attr_name)

    @explained
    def create(self, name: Any, data: Any, shape: Any = None, dtype: Any = None) -> None:
        """Set an attribute, as h5py does: `attrs[name] = data`."""
        _Manager.create(self, name, data, shape, dtype)

    @explained
    def __delitem__(self, name: Any) -> None:
        """Remove an attribute. Raises KeyError if there is none."""
        _Manager.__delitem__(self, name)


def attributes(h5: Any) -> Attributes:
    """Return the attributes of an object of h5py."""
    return Attributes(h5)


def check(oid: Any) -> None:
    """Raise CorruptError if libhdf5 cannot read the attributes of a low-level object."""
    info = h5g.get_objinfo(oid, b".")
    _check(info.fileno[0], info.objno[0] | info.objno[1] << 32, _Object(oid))


class _Object:
    """A low-level object, which is as good as any other for a cache."""

    def __init__(self, oid: Any) -> None:
        self.oid = oid

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Object)

    def __hash__(self) -> int:
        return 0


@lru_cache(maxsize=_OBJECTS_MAX)
def _check(number: int, header: int, node: _Object) -> None:
    """Check the object with this header in the file of this number, once: libhdf5 uses no number twice."""
    file = h5i.get_file_id(node.oid)
    journaled = OpenFile.journaled_of(number)
    if journaled is not None:
        try:
            journaled.check_attributes(header)
        except CorruptError:
            if not file.get_intent() & h5f.ACC_RDWR:
                raise
            # What libhdf5 has in memory may be newer.
            h5f.flush(file)
            journaled.check_attributes(header)
        return
    if file.get_access_plist().get_driver() != h5fd.SEC2:
        return
    path = os.fsdecode(file.name)
    held = os.fstat(file.get_vfd_handle())
    try:
        named = os.stat(path)
    except OSError:
        return
    if (named.st_dev, named.st_ino) != (held.st_dev, held.st_ino):
        return
    try:
        _core.check_attributes(path, header)
    except CorruptError:
        if not file.get_intent() & h5f.ACC_RDWR:
            raise
        # The file may be older than what libhdf5 has in memory; in an append session it has to stay so.
        if file.get_mdc_config().evictions_enabled:
            h5f.flush(file)
            _core.check_attributes(path, header)
