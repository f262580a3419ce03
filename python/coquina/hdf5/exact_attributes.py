"""Attributes copied and compared to the bit: datatype, shape, order, and values as they are stored.

In: objects of h5py, of two files. Out: the same attributes. Fixed-size values go from file to file as bytes,
with no conversion; those of variable length by way of h5py. References are left null, for `point` to set
once everything they may refer to is there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from coquina._core import CorruptError, UnsupportedError
from coquina.hdf5.item_types import is_fixed
from coquina.hdf5.untyped import h5a, h5p, h5py, h5s, h5t
from coquina.hdf5.variable_items import in_order

if TYPE_CHECKING:
    from collections.abc import Callable

    from coquina.hdf5.targets import Targets


def refers(tid: Any) -> bool:
    """Whether items of a datatype are references, or have some in them.

    Raises UnsupportedError for the kind that HDF5 1.12 brought, which h5py does not know.
    """
    if isinstance(tid, h5t.TypeReferenceID):
        if not tid.equal(h5t.STD_REF_OBJ) and not tid.equal(h5t.STD_REF_DSETREG):
            raise UnsupportedError("references of HDF5 1.12 (H5T_STD_REF)")
        return True
    if isinstance(tid, h5t.TypeCompoundID):
        # A list: all members are looked at.
        found = [refers(tid.get_member_type(at)) for at in range(tid.get_nmembers())]
        return any(found)
    return isinstance(tid, h5t.TypeArrayID | h5t.TypeVlenID) and refers(tid.get_super())


def names(object: Any) -> list[bytes]:
    """Return the names of the attributes: in the order of their making if that is kept, else sorted."""
    is_tracked = not isinstance(object, h5py.Datatype) and bool(
        object.id.get_create_plist().get_attr_creation_order() & h5p.CRT_ORDER_TRACKED
    )
    found: list[tuple[int, bytes]] = []

    def note(name: bytes, info: Any) -> None:
        found.append((info.corder if is_tracked else 0, name))

    h5a.iterate(object.id, note, info=True)
    return [name for _, name in sorted(found)]


def copy(source: Any, target: Any, datatype: Callable[[Any], Any]) -> bool:
    """Copy all attributes, and tell if some are references.

    datatype: gives the counterpart in the other file of a datatype, which may have a name.
    """
    has_references = False
    for name in names(source):
        try:
            old = h5a.open(source.id, name)
            tid, space = old.get_type(), old.get_space()
            is_reference = refers(tid)
            new = h5a.create(target.id, name, datatype(tid), space)
            if is_reference:
                has_references = True
            elif space.get_simple_extent_type() != h5s.NULL:
                values = _values(old, tid)
                new.write(values, tid) if is_fixed(tid) else new.write(values)
        except (UnsupportedError, TypeError, ValueError, OSError, RuntimeError) as error:
            raise UnsupportedError(f"{source.name}: attribute {name!r} cannot be copied: {error}") from error
    return has_references


def point(source: Any, target: Any, targets: Targets) -> None:
    """Give the attributes of `target` that are references their values."""
    for name in names(source):
        old = h5a.open(source.id, name)
        tid = old.get_type()
        if refers(tid) and old.get_space().get_simple_extent_type() != h5s.NULL:
            h5a.open(target.id, name).write(targets.pointed(_values(old, tid)))


def types(object: Any) -> list[Any]:
    """Return the datatypes of all attributes."""
    return [h5a.open(object.id, name).get_type() for name in names(object)]


def any_type(object: Any, claim: Callable[[Any], bool]) -> bool:
    """Whether `claim` is true for the datatype of any attribute."""
    found = [claim(tid) for tid in types(object)]
    return any(found)


def compare(source: Any, target: Any, targets: Targets) -> None:
    """Raise CorruptError if `target` has not the attributes of `source`, in their order, and no others."""
    found = names(target)
    if names(source) != found:
        raise CorruptError(f"{source.name}: the copy has the attributes {found}, not {names(source)}")
    for name in found:
        old, new = h5a.open(source.id, name), h5a.open(target.id, name)
        tid, space = old.get_type(), old.get_space()
        if not tid.equal(new.get_type()) or not same_space(space, new.get_space()):
            raise CorruptError(f"{source.name}: attribute {name!r} differs in datatype or shape in the copy")
        if space.get_simple_extent_type() == h5s.NULL:
            continue
        values, others = _values(old, tid), _values(new, tid)
        if refers(tid):
            values, others = targets.told(values), targets.told_of_copy(others)
        if not is_same(values, others):
            raise CorruptError(f"{source.name}: attribute {name!r} differs in the copy")


def same_space(one: Any, other: Any) -> bool:
    """Whether two dataspaces are equal, room to grow included."""
    kind = one.get_simple_extent_type()
    if kind != other.get_simple_extent_type() or kind == h5s.NULL:
        return kind == other.get_simple_extent_type()
    return all(
        one.get_simple_extent_dims(limits) == other.get_simple_extent_dims(limits) for limits in (False, True)
    )


def is_same(one: Any, other: Any) -> bool:
    """Whether values that h5py read are equal, to the bit where they are numbers."""
    if type(one) is not type(other):
        return False
    dtype: Any = getattr(one, "dtype", None)
    if dtype is None:
        return one == other or (isinstance(one, float) and one != one and other != other)
    if one.shape != other.shape:
        return False
    if not dtype.hasobject:
        return one.tobytes() == other.tobytes()
    if type(one) is np.void:
        return all(is_same(one[name], other[name]) for name in dtype.names)
    return all(is_same(one[at], other[at]) for at in np.ndindex(one.shape))


def _values(attribute: Any, tid: Any) -> Any:
    shape = attribute.shape
    if is_fixed(tid):
        values: Any = np.empty(shape, f"V{tid.get_size()}")
        attribute.read(values, tid)
    else:
        values = np.empty(shape, attribute.dtype)
        attribute.read(values)
        values = in_order(values, attribute.dtype)
    return values
