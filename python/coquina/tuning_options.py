"""`Tuning`: what `codec="auto"` takes besides, for all writers: what is to be small or fast, and where.

In: the words of a user. Out: what the engine takes as `tuning`, and `TuningInfo`, which tells it of an array.
Invariant: the default codec and level of all writers stand here, and are the base of chunks that are tuned.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypedDict, cast

from coquina import _core
from coquina._core import CoquinaError, Profile

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from coquina._core import Codec, Filters, Path
    from coquina.arrays.array import Array

#: How chunks are encoded where nobody says how: those of arrays, frames and HDF5's Blosc2.
DEFAULT_CODEC = "zstd"
DEFAULT_LEVEL = 1
#: Those of Bloscpack files.
PACK_CODEC = "blosclz"
PACK_LEVEL = 7

#: The codec that is none: each chunk gets what suits it.
AUTO = "auto"

Goal = Literal["speed", "balanced", "size"] | float
For = Literal["read", "write", "both"]
#: A goal from 0 to 1, what is to be fast, bytes per second; whether times are measured here, or a profile.
Terms = tuple[float, str, float | None, bool | Profile]
#: A profile, or the path of its file.
ProfileOption: TypeAlias = "Path | Profile"


class Tuning(TypedDict, total=False):
    """Keywords of `codec="auto"`, in every function that writes. Without it they raise an error.

    Each chunk gets the codec, level and filters with the lowest cost in time and bytes: some blocks are
    analysed and a few encodings are tried. A chunk that resembles an earlier one reuses its choice. Chunks of
    one value take almost no space. Every reader of Blosc2 reads the result. Arrays and datasets store the
    goal, so later writes are tuned too.

    goal: "speed", "balanced" (the default) or "size", or a number from 0 (speed) to 1 (size).
    for_: "read", "write" or "both" (the default): what should be fast.
    bandwidth: of the storage, in bytes per second; by default 125e6, a gigabit network.
    calibrate: False (the default): times come from a table, so that equal values give equal bytes on every
        machine. True: times are scaled by the speed of this machine, which is measured once.
    profile: a result of `train`, or the path of its file, which replaces the table. Files do not store it:
        pass it again for later writes.

    >>> import numpy as np
    >>> import coquina as cq
    >>> a = cq.asarray(np.arange(1000), codec="auto", goal="size")
    >>> a.tuning.goal
    'size'
    """

    goal: Goal
    for_: For
    bandwidth: float
    calibrate: bool
    profile: ProfileOption


@dataclass(frozen=True, slots=True)
class TuningInfo:
    """What the chunks of an array are tuned for; the fields are those of `Tuning`, None for its default.

    >>> import numpy as np
    >>> import coquina as cq
    >>> cq.asarray(np.arange(1000), codec="auto").tuning.goal
    'balanced'
    """

    goal: Goal
    for_: For
    bandwidth: float | None
    calibrate: bool

    @property
    def terms(self) -> Terms:
        """What the engine takes."""
        return _goal(self.goal), self.for_, self.bandwidth, self.calibrate

    @property
    def options(self) -> dict[str, Any]:
        """The options that make another array be tuned so: `asarray(x, **info.options)`."""
        return {"codec": AUTO, **words_of(self.terms)}

    def __str__(self) -> str:
        """Say it in a few words."""
        goal = self.goal if isinstance(self.goal, str) else f"{self.goal:g}"
        wants = "" if self.for_ == "both" else f", to {self.for_}"
        rate = "" if self.bandwidth is None else f", {self.bandwidth:g} B/s"
        return f"{goal}{wants}{rate}{', calibrated' if self.calibrate else ''}"


@dataclass(frozen=True, slots=True)
class Base:
    """What a writer does without options: codec, level and filters, which tuning starts from."""

    codec: str
    level: int
    filters: Filters | None


ARRAYS = Base(DEFAULT_CODEC, DEFAULT_LEVEL, None)
PACKS = Base(PACK_CODEC, PACK_LEVEL, "shuffle")
DATASETS = Base(DEFAULT_CODEC, DEFAULT_LEVEL, "shuffle")


def tuned(
    codec: Codec | None,
    level: int | None,
    filters: Filters | None,
    tuning: Mapping[str, Any],
    base: Base = ARRAYS,
) -> tuple[Any, Any, Any, Terms | None]:
    """Return codec, level, filters, and what to tune for; None for the last if that was not asked for.

    tuning: the keywords that a writer does not know itself. base: what the writer does by default.
    Raises TypeError for keywords that there are not, ValueError for those of tuning without `codec="auto"`,
    for a level or filters with it, and for values out of range.
    """
    if codec != AUTO:
        if tuning:
            check_words(tuning)
            words, named = ", ".join(tuning), codec or base.codec
            raise ValueError(f"{words}: for codec='auto', which chooses codecs; the codec is {named!r}")
        return codec, level, filters, None
    if level is not None and level != base.level:
        raise ValueError(f"level {level}: codec='auto' chooses levels; leave it out, or name a codec")
    if filters is not None and filters != base.filters:
        raise ValueError(
            f"filters {filters!r}: codec='auto' chooses filters; leave them out, or name a codec"
        )
    return base.codec, base.level, base.filters, terms_of(tuning)


def check_words(tuning: Mapping[str, Any]) -> None:
    """Raise TypeError for a keyword that is none of `Tuning`."""
    for name in tuning:
        if name not in Tuning.__annotations__:
            raise TypeError(
                f"unexpected keyword argument {name!r}; tuning takes {', '.join(Tuning.__annotations__)}"
            )


def terms_of(tuning: Mapping[str, Any]) -> Terms:
    """Return the keywords of `Tuning` as the engine takes them.

    Raises TypeError for keywords that there are not and for values of a wrong kind, ValueError for others.
    """
    check_words(tuning)
    wants, calibrate = tuning.get("for_", "both"), tuning.get("calibrate", False)
    if not isinstance(wants, str):
        raise TypeError(f"for_ {wants!r}: takes 'read', 'write' or 'both'")
    if not isinstance(calibrate, bool):
        raise TypeError(f"calibrate {calibrate!r}: takes True or False")
    bandwidth = tuning.get("bandwidth")
    profile = profile_of(tuning.get("profile"))
    if profile is not None and calibrate:
        raise ValueError("profile: has times of its own; leave calibrate out")
    terms: Terms = (
        _goal(tuning.get("goal", "balanced")),
        wants,
        None if bandwidth is None else _number("bandwidth", bandwidth, "bytes per second"),
        calibrate if profile is None else profile,
    )
    _core.check_tuning(terms)
    return terms


def words_of(terms: Terms | None) -> Tuning:
    """Return the keywords that `terms_of` makes these of; none for None."""
    if terms is None:
        return {}
    tradeoff, wants, bandwidth, times = terms
    words: Tuning = {"goal": _goal_name(tradeoff), "for_": cast("For", wants)}
    if bandwidth is not None:
        words["bandwidth"] = bandwidth
    if isinstance(times, Profile):
        words["profile"] = times
    elif times:
        words["calibrate"] = True
    return words


def info_of(terms: Terms | None) -> TuningInfo | None:
    """Return what the engine says of an array's tuning, for people."""
    if terms is None:
        return None
    tradeoff, wants, bandwidth, times = terms
    return TuningInfo(_goal_name(tradeoff), cast("For", wants), bandwidth, times is True)


def profile_of(profile: object) -> Profile | None:
    """Return a profile, or the one in a file. Raises TypeError for what is neither; CorruptError; OSError."""
    if profile is None or isinstance(profile, Profile):
        return profile
    if not isinstance(profile, str | os.PathLike):
        raise TypeError(f"profile {profile!r}: takes a path, or what `train` returned as `profile`")
    path = os.fsdecode(cast("Path", profile))
    with open(path, encoding="utf-8", errors="replace") as file:
        try:
            return Profile(file.read(_PROFILE_MAX))
        except CoquinaError as error:
            raise type(error)(f"{path}: {error}") from None


#: Longer files are no profiles.
_PROFILE_MAX = 1 << 20


def known_terms(info: TuningInfo | str | None) -> Terms | None:
    """Return what to tune a copy for, by the info of an array; None where it is not, or that is damaged."""
    return info.terms if isinstance(info, TuningInfo) else None


def tuning_facts(array: Array) -> dict[str, Any]:
    """Return what the info of an array says of its tuning: the goal, and how many chunks are encoded how.

    What is damaged is a text. Chunks are looked at where that asks no server for each of them.
    """
    try:
        found = array.tuning
    except CoquinaError as error:
        return {"tuning": str(error)}
    if found is None or array.remote is not None:
        return {"tuning": found}
    try:
        return {"tuning": found, "encodings": array.encodings()}
    except CoquinaError:  # of damaged chunks, of which `verify` tells
        return {"tuning": found}


def tuning_facts_of(arrays: Iterable[Array]) -> dict[str, Any]:
    """Return the same of several arrays that belong together, such as those of a column."""
    found = [facts for facts in map(tuning_facts, arrays) if facts["tuning"] is not None]
    counts: dict[str, int] = {}
    for facts in found:
        encodings: dict[str, int] = facts.get("encodings") or {}
        for name, count in encodings.items():
            counts[name] = counts.get(name, 0) + count
    return {"tuning": found[0]["tuning"] if found else None, "encodings": counts or None}


def tuning_text(tuning: TuningInfo | str | None, encodings: Mapping[str, int] | None) -> str:
    """Return what chunks are tuned for, and how many are encoded how, in one line."""
    return f"auto ({tuning}){f': {encodings_text(encodings)}' if encodings else ''}"


def encodings_text(encodings: Mapping[str, int], most: int = 4) -> str:
    """Return how many chunks are encoded how, the most common first; of the rest how many ways there are."""
    ordered = sorted(encodings.items(), key=lambda one: (one[0] == "special", -one[1], one[0]))
    shown = [f"{name} {count}" for name, count in ordered[:most]]
    return ", ".join([*shown, *([f"{len(ordered) - most} more"] if len(ordered) > most else [])])


def only_bytes_count(terms: Terms | None) -> bool:
    """Whether chunks are tuned for size alone."""
    return terms is not None and terms[0] == _GOALS["size"]


_GOALS = {"speed": 0.0, "balanced": 0.5, "size": 1.0}


def _goal(goal: Any) -> float:
    """Return a goal as a number. TypeError: it is neither a word nor a number; ValueError: another word."""
    if isinstance(goal, str):
        if goal not in _GOALS:
            raise ValueError(f"goal {goal!r}: takes {', '.join(map(repr, _GOALS))}, or a number from 0 to 1")
        return _GOALS[goal]
    return _number("goal", goal, "a word, or a number from 0 to 1")


def _goal_name(tradeoff: float) -> Goal:
    return next((cast("Goal", name) for name, value in _GOALS.items() if value == tradeoff), tradeoff)


def _number(name: str, value: Any, what: str) -> float:
    """Return a number as Python has it. Raises TypeError for what is none, ValueError for one beyond all."""
    if isinstance(value, bool) or not hasattr(value, "__float__"):
        raise TypeError(f"{name} {value!r}: takes {what}, not {type(value).__name__}")
    try:
        return float(value)
    except OverflowError:
        raise ValueError(f"{name} {value!r}: takes {what}") from None


__all__ = ["Profile", "Tuning", "TuningInfo"]
