"""What the attributes of a dataset say of the loss in it: a bound, what was reached, and CF's words for it.

In: a dataset of h5py. Out: its bound, or attributes that state one.
Source: docs/hdf5.md, "Bounds"; the Climate and Forecast conventions 1.12, section 8.4: a scalar variable with
    the attributes `algorithm` and `implementation`, which `quantization` of the data names, and
    `quantization_nsb`, the explicit bits of the mantissa that are kept.
Invariant: what none of ours could have written promises nothing.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from coquina._core import __version__
from coquina.hdf5.attributes import attributes
from coquina.hdf5.untyped import h5a, h5py
from coquina.lossy import Lossy, LossyInfo, info_of, lossy_of, reached_of

if TYPE_CHECKING:
    import numpy.typing as npt

    Reached = tuple[float, float, float, list[int]]

#: The bound, as JSON with the keywords of `coquina.Lossy`; and what was reached: greatest error, greatest
#: relative error, least PSNR, and chunks rounded, truncated, by ZFP, as images and exact: eight numbers.
CONTRACT, REACHED = "coquina_lossy", "coquina_lossy_reached"
#: What the file calls `method`.
_METHOD = "means"
_NOTHING: Reached = (0.0, 0.0, float("inf"), [0, 0, 0, 0, 0])
#: CF's name of rounding to the nearest number with so many bits.
_BITROUND = "bitround"


def state(h5: Any) -> LossyInfo | None:
    """Return the bound of a dataset and what was reached; None if it has no bound that is understood."""
    if not h5a.exists(h5.id, CONTRACT.encode()):
        return None
    text = attributes(h5)[CONTRACT]
    if not isinstance(text, str | bytes):
        return None
    try:
        found: Any = json.loads(text)
        if isinstance(found, dict) and _METHOD in found:
            found["method"] = found.pop(_METHOD)  # pyright: ignore[reportUnknownMemberType]
        lossy = lossy_of(found)
    except (ValueError, TypeError, RecursionError):
        return None
    return None if lossy is None else info_of(lossy, _reached(h5))


def _reached(h5: Any) -> Reached:
    found: Any = np.asarray(h5.attrs.get(REACHED))
    if found.shape != (8,) or found.dtype.kind != "f" or np.isnan(found).any():
        return _NOTHING
    error, relative, psnr, *counts = found.tolist()
    if min(error, relative, *counts) < 0:
        return _NOTHING
    return error, relative, psnr, [int(min(one, 2.0**53)) for one in counts]


def put(h5: Any, lossy: Lossy) -> None:
    """State the bound of a dataset."""
    keywords: dict[str, Any] = {lossy.bound: lossy.value}
    if lossy.method is not None:
        keywords[_METHOD] = lossy.method
    h5.attrs[CONTRACT] = json.dumps(keywords)
    h5.attrs[REACHED] = _numbers(_NOTHING)


def put_reached(h5: Any, reached: Reached) -> None:
    """State what was reached, as the engine knows it, of a dataset whose bound is stated."""
    if h5a.exists(h5.id, REACHED.encode()):
        # Another handle of the dataset may have noted more.
        a, b = _reached(h5), reached
        counts = list(map(max, a[3], b[3]))
        h5.attrs.modify(REACHED, _numbers((max(a[0], b[0]), max(a[1], b[1]), min(a[2], b[2]), counts)))


def _numbers(reached: Reached) -> Any:
    return np.array([*reached[:3], *reached[3]], np.float64)


def put_cf(h5: Any, lossy: Lossy) -> None:
    """State the bound in CF's words too, where they have a name for how it is kept, and a place for that."""
    bits = kept_bits(lossy, h5.dtype)
    if bits is not None and h5.name is not None:
        h5.attrs["quantization"] = _container(h5.parent)
        h5.attrs["quantization_nsb"] = np.int32(bits)


def kept_bits(lossy: Lossy, dtype: np.dtype[Any]) -> int | None:
    """Return how many explicit bits of the mantissa a bound keeps; None where it says something else.

    CF takes 1 to 23 of float32, to 52 of float64.
    """
    if dtype.kind != "f" or dtype.itemsize not in (4, 8):
        return None
    most = 23 if dtype.itemsize == 4 else 52
    if lossy.keep_bits is not None:
        bits = lossy.keep_bits
    elif lossy.relative_error is not None:
        # A number halfway between two with n bits moves by 1 / (2**(n + 1) + 1) of itself.
        bits = next((n for n in range(64) if lossy.relative_error * (2 ** (n + 1) + 1) >= 1), most)
    else:
        return None
    return bits if 1 <= bits < most else None


def is_container(h5: Any) -> bool:
    """Whether a dataset holds nothing, and says how others were rounded."""
    is_scalar = isinstance(h5, h5py.Dataset) and h5.shape == ()
    return is_scalar and {"algorithm", "implementation"} <= set(h5.attrs)


def _container(group: Any) -> str:
    """Return the name of the variable in a group that says which algorithm rounded; it is made if need be."""
    facts = {"algorithm": _BITROUND, "implementation": f"coquina version {__version__}"}
    base = name = f"quantization_{_BITROUND}"
    count = 1
    while name in group:
        there = group[name]
        if is_container(there) and all(there.attrs.get(key) == text for key, text in facts.items()):
            return name
        count += 1
        name = f"{base}_{count}"
    made = group.create_dataset(name, shape=(), dtype="S1")
    made.attrs.update(facts)
    return name


def state_all(h5: Any, known: LossyInfo) -> None:
    """State the bound of a dataset that has been written, and what was reached, in CF's words too."""
    put(h5, known.error_bound)
    h5.attrs.modify(REACHED, _numbers(reached_of(known)))
    put_cf(h5, known.error_bound)


#: What computing an error in floating point may be off, as a part of it.
_SLACK = 1 + 1e-12


def holds(lossy: Lossy, given: npt.NDArray[Any], found: npt.NDArray[Any]) -> bool:
    """Whether numbers are as near to those that were given as a bound asks for, if it speaks of distances."""
    is_finite = np.isfinite(given)
    if not np.array_equal(given[~is_finite], found[~is_finite], equal_nan=True):
        return False
    wide = np.clongdouble if given.dtype.kind == "c" else np.longdouble
    x, y = given[is_finite].astype(wide), found[is_finite].astype(wide)
    errors = np.abs(y - x)
    if not np.isfinite(errors).all():
        return False
    if lossy.max_error is not None:
        return bool((errors <= lossy.max_error * _SLACK).all())
    if lossy.relative_error is not None:
        return bool((errors <= lossy.relative_error * np.abs(x) * _SLACK).all())
    if lossy.psnr is not None and x.size and given.dtype.kind == "f":
        return bool(np.mean(errors**2) <= np.ptp(x) ** 2 * 10 ** (-lossy.psnr / 10) * _SLACK)
    return True
