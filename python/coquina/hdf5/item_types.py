"""HDF5 datatypes as NumPy dtypes of the same bytes.

In: a low-level datatype of h5py. Out: the dtype whose items have exactly the bytes that stand in the file, or
None where NumPy has none: variable lengths, references, strings padded with spaces, odd bit fields.
Source: docs/formats/hdf5-filters.md.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from coquina.hdf5.untyped import h5py, h5t

if TYPE_CHECKING:
    Dtype = np.dtype[Any]


def _swapped(tid: Any) -> Any:
    """Return a datatype with its bytes the other way round."""
    found = tid.copy()
    found.set_order(h5t.ORDER_BE if tid.get_order() == h5t.ORDER_LE else h5t.ORDER_LE)
    return found


_LONG = np.dtype(np.longdouble)
_FLOATS: list[tuple[Any, str]] = [
    (h5t.IEEE_F64LE, "<f8"),
    (h5t.IEEE_F32LE, "<f4"),
    (h5t.IEEE_F64BE, ">f8"),
    (h5t.IEEE_F32BE, ">f4"),
    (h5t.IEEE_F16LE, "<f2"),
    (h5t.IEEE_F16BE, ">f2"),
    (h5t.NATIVE_LDOUBLE, _LONG.str),
    (_swapped(h5t.NATIVE_LDOUBLE), _LONG.newbyteorder("S").str),
]
#: Integers without arithmetic: bits, and times as they are stored.
_BITS: list[tuple[Any, str]] = [
    *((getattr(h5t, f"STD_B{8 * size}LE"), f"<u{size}") for size in (1, 2, 4, 8)),
    *((getattr(h5t, f"STD_B{8 * size}BE"), f">u{size}") for size in (2, 4, 8)),
    (h5t.UNIX_D32LE, "<i4"),
    (h5t.UNIX_D64LE, "<i8"),
    (h5t.UNIX_D32BE, ">i4"),
    (h5t.UNIX_D64BE, ">i8"),
]
#: How h5py stores truth values.
_BOOL = [(b"FALSE", 0), (b"TRUE", 1)]
_COMPLEX: Any = getattr(h5t, "TypeComplexID", ())  # HDF5 2.0 and newer


def stored_dtype(tid: Any) -> Dtype | None:
    """Return the dtype whose items are the bytes of `tid`, None if there is none.

    Array types give a dtype with a shape, enumerations their integers (truth values bool), times and bit
    fields the integers that are stored, strings `S`.
    """
    if isinstance(tid, h5t.TypeIntegerID):
        return _integer(tid)
    if isinstance(tid, h5t.TypeFloatID):
        return _named(tid, _FLOATS)
    if isinstance(tid, h5t.TypeBitfieldID | h5t.TypeTimeID):
        return _named(tid, _BITS)
    if isinstance(tid, h5t.TypeStringID):
        is_padded = tid.is_variable_str() or tid.get_strpad() == h5t.STR_SPACEPAD
        return None if is_padded else np.dtype(f"S{tid.get_size()}")
    if isinstance(tid, h5t.TypeEnumID):
        return _enumeration(tid)
    if isinstance(tid, h5t.TypeArrayID):
        base = stored_dtype(tid.get_super())
        return None if base is None else np.dtype((base, tid.get_array_dims()))
    if isinstance(tid, h5t.TypeCompoundID):
        return _compound(tid)
    if _COMPLEX and isinstance(tid, _COMPLEX):
        return _complex(tid, stored_dtype(tid.get_super()))
    if isinstance(tid, h5t.TypeOpaqueID) and tid.get_tag().startswith(b"NUMPY:"):
        return bare(tid.dtype)
    return None


def is_fixed(tid: Any) -> bool:
    """Whether items of a datatype are plain bytes: no lengths that vary, no references."""
    if isinstance(tid, h5t.TypeStringID):
        return not tid.is_variable_str()
    if isinstance(tid, h5t.TypeVlenID | h5t.TypeReferenceID):
        return False
    if isinstance(tid, h5t.TypeCompoundID):
        return all(is_fixed(tid.get_member_type(at)) for at in range(tid.get_nmembers()))
    return is_fixed(tid.get_super()) if isinstance(tid, h5t.TypeArrayID) else True


def terminated_strings(tid: Any) -> list[tuple[int, int, int]]:
    """Return where strings stand in an item that end at their first NUL: offset, size, and how many.

    tid: a datatype that `stored_dtype` has a dtype for.
    """
    if isinstance(tid, h5t.TypeStringID):
        return [(0, tid.get_size(), 1)] if tid.get_strpad() == h5t.STR_NULLTERM else []
    if isinstance(tid, h5t.TypeArrayID):
        base = tid.get_super()
        size, count = base.get_size(), prod(tid.get_array_dims())
        found = terminated_strings(base)
        if all(part * parts == size for _, part, parts in found):
            return [(0, part, parts * count) for _, part, parts in found]
        return [(at * size + start, part, parts) for at in range(count) for start, part, parts in found]
    if not isinstance(tid, h5t.TypeCompoundID):
        return []
    members = range(tid.get_nmembers())
    offsets = [tid.get_member_offset(at) for at in members]
    members = [terminated_strings(tid.get_member_type(at)) for at in members]
    each = zip(offsets, members, strict=True)
    return [(at + start, size, count) for at, found in each for start, size, count in found]


def bare(dtype: Dtype) -> Dtype:
    """Return `dtype` without what h5py attaches to it (that it was an enumeration, or UTF-8)."""
    if dtype.subdtype is not None:
        base, shape = dtype.subdtype
        return np.dtype((bare(base), shape))
    if dtype.names is None:
        return np.dtype(dtype.str) if dtype.kind != "O" else dtype
    known: Any = dtype.fields
    parts: Any = {
        "names": list(dtype.names),
        "formats": [bare(known[name][0]) for name in dtype.names],
        "offsets": [known[name][1] for name in dtype.names],
        "itemsize": dtype.itemsize,
    }
    return np.dtype(parts)


def _named(tid: Any, known: list[tuple[Any, str]]) -> Dtype | None:
    return next((np.dtype(name) for other, name in known if tid.equal(other)), None)


def _order(tid: Any) -> str | None:
    return {h5t.ORDER_LE: "<", h5t.ORDER_BE: ">"}.get(tid.get_order())


def _integer(tid: Any) -> Dtype | None:
    size, order = tid.get_size(), _order(tid)
    if size not in (1, 2, 4, 8) or tid.get_precision() != 8 * size or tid.get_offset() or order is None:
        return None
    return np.dtype(f"{order}{'i' if tid.get_sign() == h5t.SGN_2 else 'u'}{size}")


def _enumeration(tid: Any) -> Dtype | None:
    base = stored_dtype(tid.get_super())
    if base == np.int8 and tid.get_nmembers() == 2:
        members = [(tid.get_member_name(at), tid.get_member_value(at)) for at in range(2)]
        if sorted(members) == _BOOL:
            return np.dtype(np.bool_)
    return base


def _complex(tid: Any, part: Dtype | None) -> Dtype | None:
    if part is None or part.kind != "f" or part.itemsize < 4 or tid.get_size() != 2 * part.itemsize:
        return None
    return np.dtype(f"{part.str[0]}c{2 * part.itemsize}")


def _compound(tid: Any) -> Dtype | None:
    members = range(tid.get_nmembers())
    names = [tid.get_member_name(at).decode("utf8", "surrogateescape") for at in members]
    offsets = [tid.get_member_offset(at) for at in members]
    formats = [stored_dtype(tid.get_member_type(at)) for at in members]
    # Not `None in formats`: to NumPy, None is the dtype float64.
    if any(part is None for part in formats):
        return None
    if tuple(names) == tuple(h5py.get_config().complex_names) and formats[0] == formats[1]:
        part = formats[0]
        found = _complex(tid, part)
        if part is not None and found is not None and offsets == [0, part.itemsize]:
            return found
    parts: Any = {"names": names, "formats": formats, "offsets": offsets, "itemsize": tid.get_size()}
    try:
        return np.dtype(parts)
    except (ValueError, TypeError):
        return None  # Two members of one name, or overlapping ones.
