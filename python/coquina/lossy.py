"""`Lossy`: how much of the items of an array may be lost, and what was lost of them.

In: one bound, and the method if it is chosen by hand. Out: what every writer takes as `lossy=`, and
what `a.lossy` says. The engine rounds, codes, decodes again and measures; see docs/guide/lossy.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal, cast, get_args

from coquina import _core

LossyMethod = Literal["round", "trunc", "zfp", "predict", "j2k", "htj2k"]


@dataclass(frozen=True, slots=True)
class Lossy:
    """An error bound for the values of an array: exactly one of the following.

    max_error: the greatest absolute error; for complex values the distance in the plane.
    relative_error: the greatest error as a fraction of the value, such as 1e-3.
    psnr: the lowest peak signal-to-noise ratio in decibels; the peak is the range of the values. It holds for
        each write to a chunk, and therefore for the array.
    keep_bits: the number of bits of the mantissa (10, 23 and 52 are all of float16, float32 and float64), or
        of high bits of an integer; the last one is rounded, half to even.
    ratio: how many times smaller the array should be, with as little loss as possible.
    ssim: the lowest structural similarity of each image (the last two axes), from 0 to 1. The PSNR that
        achieves it is searched for, verified, and becomes the bound of the array. For `asarray`, `copy`,
        `create_dataset(data=)` and `repack`, where all values are known.
    method: None: chosen for each chunk. "round": to numbers with low bits of zero, which all codecs compress
        well. "trunc": Blosc2's filters that clear low bits (not for psnr and ratio). "zfp": its codecs
        (float32 and float64 of 1 to 4 axes with blocks of at least 4 values along each; for max_error, psnr
        and ratio). "predict": a codec that only coquina reads (max_error of float32 and float64). "j2k",
        "htj2k": image codecs (8-bit and 16-bit integers; the same bounds as "zfp"; needs `pip install
        coquina[images]`). None never chooses the last three.

    Values may be float16, float32, float64, complex64, complex128, or integers. NaN, infinities and the sign
    of zeros are preserved. Raises ValueError for no bound, several bounds, or values out of range, TypeError
    for values that are not numbers.

    >>> import coquina as cq
    >>> a = cq.asarray([0.1234, 0.5678], lossy=cq.Lossy(max_error=0.01))
    >>> bool(abs(a[0] - 0.1234) <= 0.01)
    True
    """

    max_error: float | None = None
    relative_error: float | None = None
    psnr: float | None = None
    keep_bits: int | None = None
    ratio: float | None = None
    ssim: float | None = None
    method: LossyMethod | None = None

    def __init__(
        self,
        max_error: float | None = None,
        relative_error: float | None = None,
        psnr: float | None = None,
        keep_bits: int | None = None,
        ratio: float | None = None,
        ssim: float | None = None,
        *,
        method: LossyMethod | None = None,
    ) -> None:
        """Take one bound."""
        given = {
            "max_error": max_error,
            "relative_error": relative_error,
            "psnr": psnr,
            "keep_bits": keep_bits,
            "ratio": ratio,
            "ssim": ssim,
        }
        bounds = [name for name, value in given.items() if value is not None]
        if len(bounds) != 1:
            found = " and ".join(bounds) or "none"
            raise ValueError(f"lossy: takes exactly one of {', '.join(given)}; {found} given")
        if method is not None and not isinstance(method, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            known = ", ".join(get_args(LossyMethod))
            raise TypeError(f"method {method!r}: takes one of {known}, or None to choose")
        name = bounds[0]
        terms = {**given, name: _number(name, given[name]), "method": method}
        for name, value in terms.items():
            object.__setattr__(self, name, value)
        if self.ssim is None:
            _core.check_lossy(self.terms)
        elif not 0 < self.ssim < 1:
            raise ValueError(f"ssim {self.ssim}: takes a number between 0 and 1")
        else:
            _core.check_lossy(("psnr", 60.0, method))

    @property
    def bound(self) -> str:
        """The name of the bound."""
        return next(name for name in BOUNDS if getattr(self, name) is not None)

    @property
    def value(self) -> float:
        """The value of the bound."""
        return getattr(self, self.bound)

    @property
    def terms(self) -> tuple[str, float, str | None]:
        """Bound, value and method, as the engine takes them. Raises ValueError for ssim."""
        if self.ssim is not None:
            raise ValueError("lossy: ssim is searched among what is written at once; give data, or a psnr")
        return self.bound, self.value, self.method

    def __repr__(self) -> str:
        """Say what was asked for."""
        method = "" if self.method is None else f", method={self.method!r}"
        return f"Lossy({self.bound}={self.value!r}{method})"


def _number(name: str, value: Any) -> float:
    """Return a bound as a plain number. TypeError: it is none; ValueError: too great."""
    if isinstance(value, float):
        return float(value)
    try:
        number = float(value) if hasattr(value, "__float__") else None
    except OverflowError as error:
        raise ValueError(f"{name}: takes a number below 1.8e308") from error
    except TypeError:  # of an array of several items
        number = None
    if number is None:
        raise TypeError(f"{name} {value!r}: takes a number, not {type(value).__name__}")
    return int(number) if number.is_integer() and not number > 2**53 else number


#: The bounds.
BOUNDS = tuple(field.name for field in fields(Lossy) if field.name != "method")

#: What writers take: a bound, or the keywords of one.
LossyOption = Lossy | Mapping[str, Any] | None


def lossy_of(option: Any) -> Lossy | None:
    """Return the bound of an option. Raises TypeError for what is none, ValueError as `Lossy` does."""
    if option is None or isinstance(option, Lossy):
        return option
    if not isinstance(option, Mapping):
        meant = f"; did you mean {{'max_error': {option!r}}}?" if isinstance(option, int | float) else ""
        raise TypeError(
            f"lossy: takes a Lossy or a mapping of its keywords, not {type(option).__name__}{meant}"
        )
    known = {field.name for field in fields(Lossy)}
    keywords = cast("Mapping[str, Any]", option)
    unknown = sorted(set(keywords) - known)
    if unknown:
        raise ValueError(f"lossy: {unknown[0]!r}: takes {', '.join(sorted(known))}")
    return Lossy(**keywords)


@dataclass(frozen=True, slots=True)
class LossyInfo:
    """The error bound of an array, and the greatest error so far.

    error_bound: the bound, a `Lossy`.
    max_error, relative_error: the greatest absolute and relative error (infinite if a 0 became another
        number).
    psnr: the lowest peak signal-to-noise ratio of a chunk, in decibels; infinite without loss.
    chunks: the number of chunks written by each method: "round", "trunc", "zfp" ("predict" if that is the
        method of the bound), "image", or "exact".

    >>> import numpy as np
    >>> import coquina as cq
    >>> a = cq.asarray(np.linspace(0, 1, 100), lossy={"max_error": 0.01})
    >>> a.lossy.max_error <= 0.01
    True
    """

    error_bound: Lossy
    max_error: float
    relative_error: float
    psnr: float
    chunks: dict[str, int]

    def __str__(self) -> str:
        """Say it in one line."""
        used = ", ".join(f"{count} {name}" for name, count in self.chunks.items() if count) or "none written"
        errors = f"max error {self.max_error:.4g}, relative {self.relative_error:.4g}"
        reached = f"{errors}, PSNR {self.psnr:.4g} dB"
        return f"{self.error_bound.bound} {self.error_bound.value:g}; reached: {reached}; chunks: {used}"


#: How chunks may have been written, in the order of the engine.
_WAYS = ("round", "trunc", "zfp", "image", "exact")


def _ways(error_bound: Lossy) -> tuple[str, ...]:
    """Return how chunks may have been written; a bound has either ZFP or prediction."""
    return tuple("predict" if way == "zfp" and error_bound.method == "predict" else way for way in _WAYS)


def lossy_info(handle: _core.ArrayHandle) -> LossyInfo | None:
    """Return what the array of a handle says of its loss. Raises CorruptError if that is damaged."""
    found = handle.lossy()
    if found is None:
        return None
    bound, value, method, reached = found
    terms: dict[str, Any] = {bound: int(value) if bound == "keep_bits" else value, "method": method}
    return info_of(Lossy(**terms), reached)


def info_of(error_bound: Lossy, reached: tuple[float, float, float, list[int]]) -> LossyInfo:
    """Return a bound and the errors so far, as the engine gives them."""
    max_error, relative_error, psnr, counts = reached
    chunks = dict(zip(_ways(error_bound), counts, strict=True))
    return LossyInfo(error_bound, max_error, relative_error, psnr, chunks)


def reached_of(info: LossyInfo) -> tuple[float, float, float, list[int]]:
    """Return what was lost, as the engine takes it over."""
    counts = [info.chunks.get(way, 0) for way in _ways(info.error_bound)]
    return info.max_error, info.relative_error, info.psnr, counts


__all__ = ["Lossy", "LossyInfo"]
