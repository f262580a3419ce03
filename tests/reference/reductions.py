"""Folds of numbers by plain NumPy: the judge of those of the engine."""

from typing import Any

import numpy as np

from coquina.expressions import engine
from coquina.functions.reducing import columns_of


def fold_plain(node, name, is_reduced):
    """Return all columns of a fold of numbers, all items at once."""
    items = engine.read(node, tuple([slice(0, size) for size in node.shape]))
    axes = tuple([at for at, is_ in enumerate(is_reduced) if is_])
    # The reduced axes as one, behind the others.
    kept = [at for at, is_ in enumerate(is_reduced) if not is_]
    flat = items.transpose([*kept, *axes]).reshape([*[node.shape[at] for at in kept], -1])
    dtypes = columns_of(name, node.dtype)
    isnan = np.isnan(flat) if name.startswith("nan") else np.zeros(flat.shape, np.bool_)
    plain = name.removeprefix("nan")
    with np.errstate(all="ignore"):
        if plain in ("sum", "prod"):
            filled = np.where(isnan, flat.dtype.type(plain == "prod"), flat)
            return [np.asarray(getattr(np, plain)(filled, axis=-1, dtype=dtypes[0]))]
        if plain in ("min", "max"):
            reduce: Any = {"nanmin": np.fmin.reduce, "nanmax": np.fmax.reduce}.get(name, getattr(np, plain))
            return [np.asarray(reduce(flat, axis=-1))]
        if plain in ("argmin", "argmax"):
            worst = np.inf if plain == "argmin" else -np.inf
            ranked = np.where(isnan, flat.dtype.type(worst), flat) if isnan.any() else flat
            places = np.asarray(getattr(np, plain)(ranked, axis=-1))
            best = np.take_along_axis(ranked, places[..., np.newaxis], -1)[..., 0]
            best = np.where(isnan.all(axis=-1), np.nan, best).astype(node.dtype) if isnan.any() else best
            return [places, best]
        if plain in ("any", "all", "count_nonzero"):
            return [np.asarray(getattr(np, plain)(flat, axis=-1)).astype(dtypes[0])]
        count = np.asarray((~isnan).sum(axis=-1))
        total = np.where(isnan, 0, flat).sum(axis=-1, dtype=dtypes[0])
        if plain == "mean":
            return [np.asarray(total), count]
        mean = np.asarray(total / count)
        squares = np.abs(np.where(isnan, 0, flat - mean[..., np.newaxis])) ** 2
        return [mean, count.astype(np.float64), np.asarray(squares.sum(axis=-1, dtype=np.float64))]
