"""Members of h5py's objects that ours have too, and that are what h5py says.

In: a class of ours whose objects stand for objects of h5py. Out: attributes that ask these.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

if TYPE_CHECKING:
    from typing import Self


class Member:
    """An attribute or a method of h5py's object, under its own name.

    may_write: by which the file may be changed, past what we know of it; see `Placed.h5`.
    """

    def __init__(self, doc: str, *, may_write: bool = False) -> None:
        """Take what it is told of as."""
        self.__doc__ = doc
        self._may_write = may_write
        self._name = ""

    def __set_name__(self, owner: type, name: str) -> None:
        """Take the name that it has in our class."""
        self._name = name

    @overload
    def __get__(self, instance: None, owner: type) -> Self: ...

    @overload
    def __get__(self, instance: object, owner: type) -> Any: ...

    def __get__(self, instance: Any, owner: type) -> Any:
        """Return what h5py's object has."""
        if instance is None:
            return self
        return getattr(instance.h5 if self._may_write else instance._h5, self._name)
