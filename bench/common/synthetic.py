"""Generated data: weather fields that compress like ERA5, and the Bloscpack paper's three levels of entropy.

In: a variable or level, a shape or length, a seed. Out: NumPy arrays, the fields also hour by hour.
Sources: the ERA5 documentation (0.25 degree grid of 721 x 1440, hourly fields in GRIB's 16-bit packing);
V. Haenel, "Bloscpack: a compressed lightweight serialization format for numerical data", 2014.
Invariant: an hour's values depend on variable, grid and seed alone, not on which hours are made with it.

How a field is made: a sum of layers over a mean that depends on latitude. A layer is a random field whose
spectrum falls as a power of the wave number and whose waves drift east and lose their phase, the small
ones faster. Near the poles the grid has more points along a parallel than the model has waves, so waves
are damped there. Last, each hour is packed as GRIB does it: minimum + k * 2^e with a 16-bit k. That step
decides how such data compress, as it leaves the low bits of each float32 mantissa nearly free of noise.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

GRID = (721, 1440)
WAVES = 500.0  # what a model of ERA5's resolution still carries, in waves around the equator


@dataclass(frozen=True)
class Spectrum:
    """One layer: amplitude falls with `slope` beyond `peak` waves around the globe.

    `turn` is how fast the waves lose their phase (radians an hour at wave number 1), `drift` how many
    degrees east the layer moves in an hour.
    """

    number: int
    slope: float
    peak: float
    turn: float = 0.02
    drift: float = 0.1


# Large waves that carry the weather, gusts, cloud and showers, smooth pressure, and two that stand still.
LARGE = Spectrum(1, slope=3.6, peak=6)
GUSTS = Spectrum(2, slope=1.5, peak=20)
CLOUD = Spectrum(3, slope=2.4, peak=8, turn=0.05)
SHOWERS = Spectrum(4, slope=1.3, peak=14, turn=0.08)
HIGHS = Spectrum(5, slope=4.0, peak=6)
LAND = Spectrum(6, slope=2.2, peak=4, turn=0.0, drift=0.0)


class Globe:
    """The grid, and the layers made for it so far."""

    def __init__(self, rows: int, cols: int, seed: int):
        """A grid of `rows` latitudes from pole to pole and `cols` longitudes; `seed` chooses the weather."""
        self.rows, self.cols, self.seed = rows, cols, seed
        self.lat = np.linspace(90, -90, rows)[:, None]
        self.lon = 360 * np.arange(cols)[None] / cols
        self.cosine = np.maximum(np.cos(np.deg2rad(self.lat)), 0.01)
        self.kx = np.arange(cols // 2 + 1)[None]
        self.ky = np.fft.fftfreq(rows, 1 / rows)[:, None]
        self.polar = np.exp(-((self.kx / (1.3 * WAVES * self.cosine)) ** 4))
        self.made: dict[Spectrum, tuple[np.ndarray, np.ndarray]] = {}
        self.land = self.at(LAND, 0)

    def waves(self, layer: Spectrum) -> tuple[np.ndarray, np.ndarray]:
        """Complex amplitudes that give unit variance, and how fast each turns (radians an hour)."""
        if layer not in self.made:
            self.made[layer] = self.make_waves(layer)
        return self.made[layer]

    def make_waves(self, layer: Spectrum) -> tuple[np.ndarray, np.ndarray]:
        """What `waves` returns, made anew."""
        # RandomState: its streams are frozen, so the same seed gives the same weather in every NumPy.
        random = np.random.RandomState(self.seed * 100 + layer.number)
        k = np.hypot(self.kx, 2 * self.ky)  # a row of the grid spans 360 degrees, a column 180
        amplitude = (1 + (k / layer.peak) ** 2) ** (-layer.slope / 2) * np.exp(-((k / WAVES) ** 4))
        amplitude[0, 0] = 0
        amplitude *= self.rows * self.cols / np.sqrt(2 * (amplitude**2).sum())
        phase = np.exp(2j * np.pi * random.random_sample(k.shape))
        spread = np.sqrt(12) * layer.turn * (random.random_sample(k.shape) - 0.5) * k ** (2 / 3)
        return amplitude * phase, np.deg2rad(layer.drift) * self.kx + spread

    def at(self, layer: Spectrum, hour: float) -> np.ndarray:
        """The layer at an hour: mean 0, variance about 1."""
        waves, turn = self.waves(layer)
        along = np.fft.ifft(waves * np.exp(-1j * hour * turn), axis=0) * self.polar
        return np.fft.irfft(along, n=self.cols, axis=1)

    def belt(self, latitude: float, width: float) -> np.ndarray:
        """A bump of height 1 around a latitude of both hemispheres."""
        return np.exp(-(((np.abs(self.lat) - latitude) / width) ** 2))


def wind(g: Globe, hour: float) -> np.ndarray:
    """Eastward wind in m/s: westerlies and trades, storms with gusts around them."""
    mean = 6 * g.belt(47, 12) - 6 * g.belt(0, 18) - 1.5 * g.belt(75, 10)
    gusts = 0.5 * np.exp(0.8 * g.at(CLOUD, hour)) * g.at(GUSTS, hour)
    rough = np.where(g.land > 0.55, 0.6, 1.0)
    return 38 * np.tanh((mean + 5 * g.at(LARGE, hour) + gusts) * rough / 38)


def temperature(g: Globe, hour: float) -> np.ndarray:
    """Air temperature in kelvin: latitude, mountains, time of day over land, weather."""
    mountains = np.clip(g.land - 0.5, 0, None)
    day = np.cos(np.deg2rad(15 * (hour - 14) + g.lon)) * np.clip(mountains, 0, 1) * g.cosine
    return (
        300 - 45 * (1 - g.cosine) - 14 * mountains + 5 * day + 4 * g.at(LARGE, hour) + 0.4 * g.at(GUSTS, hour)
    )


def pressure(g: Globe, hour: float) -> np.ndarray:
    """Pressure at sea level in pascal: very smooth, with the tide of the atmosphere."""
    mean = 101300 - 900 * g.belt(65, 12) + 400 * g.belt(32, 14)
    tide = 60 * np.cos(2 * np.deg2rad(g.lon + 15 * hour)) * g.cosine**3
    return mean + tide + 1300 * g.at(HIGHS, hour) * (1.2 - g.cosine)


def precipitation(g: Globe, hour: float) -> np.ndarray:
    """Metres of water in the hour: zero over most of the globe, five decades of magnitude elsewhere."""
    belts = 0.5 * g.belt(6, 7) + 0.25 * g.belt(50, 12) - 0.4 * g.belt(25, 8) - 0.3 * g.belt(85, 12)
    wet = 0.7 * g.at(CLOUD, hour) + 0.7 * g.at(SHOWERS, hour) + belts - 0.4
    return 1.9e-4 * np.clip(wet, 0, None) ** 2.4


Field = Callable[[Globe, float], np.ndarray]
VARIABLES: dict[str, Field] = {f.__name__: f for f in (wind, temperature, pressure, precipitation)}


def pack_grib(field: np.ndarray) -> np.ndarray:
    """The values that are left after storing a field as minimum + k * 2^e with 16-bit k."""
    low = float(np.float32(field.min()))
    step = 2.0 ** np.ceil(np.log2(max(float(field.max()) - low, 1e-30) / 65535))
    return (low + np.rint((field - low) / step) * step).astype(np.float32)


def era5_blocks(
    variable: str, shape: tuple[int, int, int], *, seed: int = 1987, hours: int = 4
) -> Iterator[np.ndarray]:
    """Float32 blocks of up to `hours` fields, which together have `shape` (hours, latitudes, longitudes).

    Memory: one block, and some 16 grids of float64 per core for the layers.
    """
    globe = Globe(shape[1], shape[2], seed)
    field = VARIABLES[variable]
    field(globe, 0)  # makes the layers before the threads share them
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for start in range(0, shape[0], hours):
            block = range(start, min(start + hours, shape[0]))
            yield np.stack(list(pool.map(lambda hour: pack_grib(field(globe, hour)), block)))


def era5(variable: str, shape: tuple[int, int, int] = (10, *GRID), *, seed: int = 1987) -> np.ndarray:
    """One ERA5-like variable in memory; see `era5_blocks`."""
    out = np.empty(shape, np.float32)
    start = 0
    for block in era5_blocks(variable, shape, seed=seed):
        out[start : start + len(block)] = block
        start += len(block)
    return out


def low(length: int) -> np.ndarray:
    """The paper's low entropy: a ramp."""
    return np.arange(length, dtype=np.float64)


def medium(length: int) -> np.ndarray:
    """The paper's medium entropy: a sine of 1000 samples a period, with noise of -1e-8 or 0 on each."""
    period = np.sin(np.linspace(0, 2 * np.pi, 1000))
    noise = np.random.RandomState(20140424).randint(-1, 1, length) / 1e8
    return np.resize(period, length) + noise


def high(length: int) -> np.ndarray:
    """The paper's high entropy: normally distributed numbers."""
    return np.random.RandomState(20140425).standard_normal(length)


ENTROPY: dict[str, Callable[[int], np.ndarray]] = {f.__name__: f for f in (low, medium, high)}
