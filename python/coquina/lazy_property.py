"""A property that is computed once for an object: `functools.cached_property` without a lock.

In: a method without arguments. Out: its result, kept in the object.
In Python 3.11 that one has a lock for all objects of a class, also while it calls h5py. Threads may compute a
value twice here, and all get the same one.
"""

from __future__ import annotations

from functools import cached_property  # noqa: TID251
from typing import Any, Self, TypeVar, overload

T = TypeVar("T")


class lazy_property(cached_property[T]):
    """Decorates a method that is computed once, when the attribute is first used.

    Assigning to the attribute replaces the value, and `del` forgets it.
    """

    @overload
    def __get__(self, instance: None, owner: type[Any] | None = None) -> Self: ...
    @overload
    def __get__(self, instance: object, owner: type[Any] | None = None) -> T: ...
    def __get__(self, instance: object | None, owner: type[Any] | None = None) -> Self | T:
        """Return the value; the property itself for a class."""
        if instance is None:
            return self
        assert self.attrname is not None
        return vars(instance).setdefault(self.attrname, self.func(instance))
