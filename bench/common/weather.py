"""A table of weather, a row for each point of the globe and each hour, as generated fields say it.

In: how many hours, and the grid. Out: eight columns: where and when (indices), five variables in float32.
The rows go hour by hour, and row by row of the grid, as tables made of climate archives do. Sunshine follows
from the time of day and the rain, snow is rain where it freezes; all is packed as GRIB does it.
"""

from __future__ import annotations

import numpy as np

from bench.common import synthetic
from bench.common.synthetic import GRID, Globe, pack_grib

INDICES = ("lat", "lon", "time")
VARIABLES = ("precip", "solar", "air", "snow", "wind")
DTYPE = np.dtype([*((name, "<i4") for name in INDICES), *((name, "<f4") for name in VARIABLES)])


def columns(hours: int, grid: tuple[int, int] = GRID, *, seed: int = 1987) -> dict[str, np.ndarray]:
    """The columns of `hours` times all points of `grid` rows, in memory: 32 bytes a row."""
    rows, cols = grid
    shape = (hours, rows, cols)
    made = {
        "lat": np.broadcast_to(np.arange(rows, dtype=np.int32)[:, None], shape),
        "lon": np.broadcast_to(np.arange(cols, dtype=np.int32), shape),
        "time": np.broadcast_to(np.arange(hours, dtype=np.int32)[:, None, None], shape),
        "precip": synthetic.era5("precipitation", shape, seed=seed),
        "air": synthetic.era5("temperature", shape, seed=seed),
        "wind": synthetic.era5("wind", shape, seed=seed),
    }
    made["solar"] = sunshine(made["precip"], Globe(rows, cols, seed))
    made["snow"] = np.where(made["air"] < 273.15, made["precip"], np.float32(0))
    return {name: np.ascontiguousarray(made[name]).reshape(-1) for name in (*INDICES, *VARIABLES)}


def sunshine(rain: np.ndarray, globe: Globe) -> np.ndarray:
    """Watts on a square metre: none at night, less where it rains."""
    out = np.empty_like(rain)
    for hour, wet in enumerate(rain):
        height = globe.cosine * np.cos(np.deg2rad(15 * (hour - 12) + globe.lon))
        out[hour] = pack_grib(np.clip(height, 0, None) * 1100 * np.exp(-2e3 * wet))
    return out


def records(table: dict[str, np.ndarray]) -> np.ndarray:
    """The same as an array of records."""
    out = np.empty(len(table["lat"]), DTYPE)
    for name in DTYPE.names or ():
        out[name] = table[name]
    return out
