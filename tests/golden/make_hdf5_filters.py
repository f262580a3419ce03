"""Writes chunks as libhdf5's legacy filters encode them, for the tests of the decoders; never over a file.

The golden files are `hdf5-filters/NAME.bin`; `MANIFEST` there has the SHA-256 and the name of each. A file
holds records one after another, all numbers little-endian:

    name: u8 length, text | filter id: u16 | parameters: u16 count, u32 each
    stored chunk: u32 length, bytes | decoded chunk, as the library reads it: u32 length, bytes

Run: python tests/golden/make_hdf5_filters.py
"""

from __future__ import annotations

import hashlib
import itertools
import struct
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import h5py
import hdf5plugin
import numpy as np
import tables
from h5py import h5d, h5f, h5p, h5s, h5t, h5z

FOLDER = Path(__file__).parent / "hdf5-filters"
SZIP_EC, SZIP_NN = h5z.SZIP_EC_OPTION_MASK, h5z.SZIP_NN_OPTION_MASK
HDF5 = f"h5py-{h5py.__version__}-hdf5-{h5py.version.hdf5_version}"


class Record(NamedTuple):
    name: str
    filter_id: int
    values: tuple[int, ...]
    stored: bytes
    decoded: bytes

    def pack(self) -> bytes:
        name = self.name.encode()
        head = struct.pack(f"<B{len(name)}sHH", len(name), name, self.filter_id, len(self.values))
        values = struct.pack(f"<{len(self.values)}I", *self.values)
        parts = (struct.pack("<I", len(part)) + part for part in (self.stored, self.decoded))
        return head + values + b"".join(parts)


SetUp = Callable[[h5p.PropDCID], object]


def chunk(
    name: str, items: bytes, shape: tuple[int, ...], tid: h5t.TypeID, set_up: SetUp
) -> Iterator[Record]:
    """A dataset of one chunk and one filter, as it is stored and as it is read from a file opened anew."""
    dcpl = h5p.create(h5p.DATASET_CREATE)
    dcpl.set_chunk(shape)
    set_up(dcpl)
    file = h5f.create(b"memory", h5f.ACC_TRUNC, fapl=in_memory())
    dset = h5d.create(file, b"d", tid, h5s.create_simple(shape), dcpl)
    dset.write(h5s.ALL, h5s.ALL, np.frombuffer(items, "u1"), mtype=tid)
    h5f.flush(file)
    fapl = in_memory()
    fapl.set_file_image(file.get_file_image())
    dset = h5d.open(h5f.open(b"memory", h5f.ACC_RDONLY, fapl=fapl), b"d")
    mask, stored = dset.read_direct_chunk((0,) * len(shape))
    if mask:
        return
    decoded = np.full(len(items), 0xA5, "u1")
    dset.read(h5s.ALL, h5s.ALL, decoded, mtype=dset.get_type())
    filter_id, _, values, _ = dset.get_create_plist().get_filter(0)
    yield Record(name, filter_id, values, stored, decoded.tobytes())


def in_memory() -> h5p.PropFAID:
    fapl = h5p.create(h5p.FILE_ACCESS)
    fapl.set_fapl_core(block_size=1 << 16, backing_store=False)
    return fapl


def integer(base: h5t.TypeIntegerID, precision: int, offset: int = 0) -> h5t.TypeIntegerID:
    tid = base.copy()
    tid.set_precision(precision)
    if offset:
        tid.set_offset(offset)
    return tid


def patterns(count: int, bits: int, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Samples of this many bits that make the entropy coder take each of its ways."""
    top = np.uint64((1 << bits) - 1)
    third, fifth, one = top // np.uint64(3), top // np.uint64(5), np.uint64(1)
    at = np.arange(count, dtype="u8")
    sparse = np.where(rng.random(count) < 0.04, rng.integers(1, 4, count, dtype="u8"), 0)
    noise = rng.integers(0, top, count, endpoint=True, dtype="u8")
    walk = np.cumsum(rng.integers(-3, 4, count)) + int(third)
    return {
        "zeros": np.zeros(count, "u8"),
        "sparse": np.minimum(sparse, top),
        "sparse-high": np.minimum(sparse + fifth, top),
        "mixed": np.where(at // 40 % 2 == 0, noise, third),
        "walk": np.clip(walk, 0, min(int(top), 2**63 - 1)).astype("u8"),
        "spike": np.where(at == count // 2, third, fifth),
        "saw": at * (fifth + one) & top,
        "noise-low": noise & (top >> np.uint64(bits // 2)),
    }


def szip_cases(
    sizes: list[tuple[int, ...]], blocks: tuple[int, ...], rng: np.random.Generator
) -> Iterator[Record]:
    kinds = {
        "u1": (h5t.STD_U8LE, 8),
        "u1-5bits": (integer(h5t.STD_U8LE, 5), 5),
        "u2": (h5t.STD_U16LE, 16),
        "u2-be": (h5t.STD_U16BE, 16),
        "u2-be-11bits": (integer(h5t.STD_U16BE, 11), 11),
        "u4-20bits": (integer(h5t.STD_U32LE, 20), 20),
        "u4-be-24bits": (integer(h5t.STD_U32BE, 24), 24),
        "u4": (h5t.STD_U32LE, 32),
        "u4-be": (h5t.STD_U32BE, 32),
        "f4": (h5t.IEEE_F32LE, 32),
        "u8": (h5t.STD_U64LE, 64),
        "u8-be": (h5t.STD_U64BE, 64),
    }
    for shape, (kind, (tid, bits)), (mode, mask) in itertools.product(
        sizes, kinds.items(), {"nn": SZIP_NN, "ec": SZIP_EC}.items()
    ):
        for pattern, samples in patterns(int(np.prod(shape)), bits, rng).items():
            block = int(rng.choice([size for size in blocks if size <= np.prod(shape)]))
            order = ">" if tid.get_order() == h5t.ORDER_BE else "<"
            items = samples.astype(f"{order}u{tid.get_size()}").tobytes()
            name = f"szip-{mode}-{kind}-{pattern}-{'x'.join(map(str, shape))}-block{block}"
            yield from chunk(name, items, shape, tid, lambda dcpl: dcpl.set_szip(mask, block))  # noqa: B023


def small_float(base: h5t.TypeFloatID, bits: int) -> h5t.TypeFloatID:
    """A float of 20 bits in 4 bytes, with 7 bits below it that say nothing."""
    tid = base.copy()
    tid.set_fields(26, 20, 6, 7, 13)
    tid.set_offset(7)
    tid.set_precision(bits)
    tid.set_ebias(31)
    return tid


def compound(size: int, *members: tuple[int, h5t.TypeID]) -> h5t.TypeCompoundID:
    tid = h5t.create(h5t.COMPOUND, size)
    for number, (offset, member) in enumerate(members):
        tid.insert(f"m{number}".encode(), offset, member)
    return tid


def nbit_types() -> dict[str, h5t.TypeID]:
    text = h5t.C_S1.copy()
    text.set_size(5)
    i2, i4be, i8 = (
        integer(h5t.STD_I16LE, 11, 3),
        integer(h5t.STD_I32BE, 17, 5),
        integer(h5t.STD_I64LE, 61, 2),
    )
    row = compound(24, (1, i2), (4, i4be), (9, text), (14, integer(h5t.STD_U8LE, 3, 4)), (16, i8))
    return {
        "i1": integer(h5t.STD_I8LE, 5, 1),
        "i2": i2,
        "u2-be": integer(h5t.STD_U16BE, 9),
        "i4-be": i4be,
        "u4-1bit": integer(h5t.STD_U32LE, 1, 31),
        "i8": i8,
        "u8-be": integer(h5t.STD_U64BE, 33, 30),
        "f4-20bits": small_float(h5t.IEEE_F32LE, 20),
        "f4-20bits-be": small_float(h5t.IEEE_F32BE, 20),
        "full": h5t.STD_I32LE,
        "array": h5t.array_create(i2, (3, 2)),
        "array-of-arrays": h5t.array_create(h5t.array_create(i4be, (2,)), (3,)),
        "compound": row,
        "compound-full": compound(12, (0, h5t.STD_I32LE), (4, h5t.IEEE_F64LE)),
        # An array of compounds comes last: libhdf5 loses what stands behind it.
        "compound-of-arrays": compound(60, (0, h5t.array_create(i2, (4,))), (8, h5t.array_create(row, (2,)))),
        "compound-in-compound": compound(31, (1, compound(6, (3, i2))), (7, row)),
        "array-of-compounds": h5t.array_create(compound(5, (0, text)), (2,)),
    }


def nbit_cases(sizes: list[tuple[int, ...]], rng: np.random.Generator) -> Iterator[Record]:
    for shape, (kind, tid) in itertools.product(sizes, nbit_types().items()):
        items = rng.bytes(int(np.prod(shape)) * tid.get_size())
        name = f"nbit-{kind}-{'x'.join(map(str, shape))}"
        yield from chunk(name, items, shape, tid, lambda dcpl: dcpl.set_filter(h5z.FILTER_NBIT, 0, ()))


def scale_offset(kind: int, factor: int, fill: np.ndarray | None) -> SetUp:
    def set_up(dcpl: h5p.PropDCID) -> None:
        if fill is not None:
            dcpl.set_fill_value(fill)
        dcpl.set_scaleoffset(kind, factor)

    return set_up


def scaleoffset_integers(count: int, rng: np.random.Generator) -> Iterator[Record]:
    for code, order, filled in itertools.product(
        ("u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8"), "<>", (None, 77, -3)
    ):
        dtype = np.dtype(code).newbyteorder(order)
        info = np.iinfo(dtype)
        if filled is not None and filled < info.min:
            continue
        fill = None if filled is None else np.array(filled, dtype)
        spans = {
            "constant": np.full(count, 9),
            "small": rng.integers(20, 90, count),
            "signed": rng.integers(max(info.min, -60), 55, count),
            "wide": rng.integers(info.min // 5, info.max // 3, count, dtype=code),
            "full": rng.integers(info.min, info.max, count, endpoint=True, dtype=code),
        }
        if fill is not None:
            spans["all-fill"] = np.full(count, filled)
        for (pattern, values), factor in itertools.product(spans.items(), (0, 3, info.bits)):
            items = values.astype(dtype)
            if fill is not None:
                items[:: count // 4 + 1] = fill
            name = f"scaleoffset-{dtype.str[0]}{code}-{pattern}-fill{filled}-factor{factor}"
            tid = h5t.py_create(dtype)
            yield from chunk(name, items.tobytes(), (count,), tid, scale_offset(h5z.SO_INT, factor, fill))


def scaleoffset_floats(count: int, rng: np.random.Generator) -> Iterator[Record]:
    for code, order, filled, scale in itertools.product(("f4", "f8"), "<>", (None, -9.25), (0, 2, 7)):
        dtype = np.dtype(code).newbyteorder(order)
        fill = None if filled is None else np.array(filled, dtype)
        spans = {
            "constant": np.full(count, 2.5),
            "near": rng.normal(3, 2, count),
            "far": rng.normal(-1000, 9000, count),
        }
        for pattern, values in spans.items():
            items = values.astype(dtype)
            if fill is not None:
                items[:: count // 4 + 1] = fill
            name = f"scaleoffset-{dtype.str[0]}{code}-{pattern}-fill{filled}-digits{scale}"
            set_up = scale_offset(h5z.SO_FLOAT_DSCALE, scale, fill)
            yield from chunk(name, items.tobytes(), (count,), h5t.py_create(dtype), set_up)


def texts(count: int, rng: np.random.Generator) -> dict[str, bytes]:
    words = [b"temperature ", b"wind ", b"0.25 ", b"station "]
    return {
        "words": b"".join(words[i] for i in rng.integers(0, 4, count))[:count],
        "zeros": bytes(count),
        "period3": (b"abc" * count)[:count],
        "ramp": np.arange(count // 8 + 1, dtype="<i8").tobytes()[:count],
        "half-noise": bytes(count // 2) + rng.bytes(count - count // 2),
    }


def byte_cases(
    filter_name: str, set_up: SetUp, counts: list[int], rng: np.random.Generator
) -> Iterator[Record]:
    for count in counts:
        for pattern, items in texts(count, rng).items():
            yield from chunk(f"{filter_name}-{pattern}-{count}", items, (count,), h5t.STD_U8LE, set_up)


def lzf_cases(counts: list[int], rng: np.random.Generator) -> Iterator[Record]:
    optional = h5z.FLAG_OPTIONAL
    yield from byte_cases("lzf", lambda dcpl: dcpl.set_filter(h5z.FILTER_LZF, optional, ()), counts, rng)


def fletcher_cases(counts: list[int], rng: np.random.Generator) -> Iterator[Record]:
    yield from byte_cases("fletcher32", lambda dcpl: dcpl.set_fletcher32(), counts, rng)


def bzip2_cases(counts: list[int], rng: np.random.Generator) -> Iterator[Record]:
    level = dict(hdf5plugin.BZip2(blocksize=1))["compression_opts"]
    yield from byte_cases("bzip2", lambda dcpl: dcpl.set_filter(307, 0, level), counts, rng)


def pytables_bzip2(path: Path) -> Iterator[Record]:
    items = np.arange(700, dtype="<i4") % 50
    with tables.open_file(path, "w") as file:
        filters = tables.Filters(complib="bzip2", complevel=9, shuffle=False)
        file.create_carray("/", "d", obj=items, chunkshape=(700,), filters=filters)
    with h5py.File(path) as file:
        mask, stored = file["d"].id.read_direct_chunk((0,))
        filter_id, _, values, _ = file["d"].id.get_create_plist().get_filter(0)
        assert mask == 0
    path.unlink()
    yield Record("bzip2-pytables", filter_id, values, stored, items.tobytes())


def modern_cases(rng: np.random.Generator) -> Iterator[Record]:
    """Filters of hdf5plugin, over a ramp, zeros and noise of 4-byte items, of one axis and of several."""
    plugin = hdf5plugin
    filters = {
        "lz4": plugin.LZ4(),
        "lz4-blocks": plugin.LZ4(nbytes=100),
        "zstd": plugin.Zstd(clevel=5),
        "bitshuffle-none": plugin.Bitshuffle(cname="none"),
        "bitshuffle-lz4": plugin.Bitshuffle(),
        "bitshuffle-lz4-blocks": plugin.Bitshuffle(nelems=16),
        "bitshuffle-zstd": plugin.Bitshuffle(cname="zstd", clevel=4),
        "blosc-lz4": plugin.Blosc(cname="lz4", shuffle=plugin.Blosc.SHUFFLE),
        "blosc-zlib-bits": plugin.Blosc(cname="zlib", shuffle=plugin.Blosc.BITSHUFFLE),
        "blosc-zstd": plugin.Blosc(cname="zstd", shuffle=plugin.Blosc.NOSHUFFLE),
        "blosc2-zstd": plugin.Blosc2(cname="zstd", filters=plugin.Blosc2.SHUFFLE),
        "blosc2-lz4-bits": plugin.Blosc2(cname="lz4", filters=plugin.Blosc2.BITSHUFFLE),
        "blosc2-blosclz-delta": plugin.Blosc2(cname="blosclz", filters=plugin.Blosc2.DELTA),
    }
    for (name, options), shape in itertools.product(filters.items(), [(203,), (13, 11), (3, 5, 7)]):
        count = int(np.prod(shape))
        for pattern, items in texts(4 * count, rng).items():
            if pattern not in ("zeros", "ramp", "half-noise"):
                continue
            yield from chunk(
                f"{name}-{pattern}-{'x'.join(map(str, shape))}",
                items,
                shape,
                h5t.STD_U32LE,
                lambda dcpl: dcpl.set_filter(options["compression"], 1, options["compression_opts"]),  # noqa: B023
            )


def golden() -> Iterator[tuple[str, list[Record]]]:
    rng = np.random.default_rng(20)
    sizes, blocks = [(90,), (3, 37), (7, 3)], (2, 4, 8, 10, 16, 30, 32)
    short = (record for record in szip_cases(sizes, blocks, rng) if rng.random() < 0.12)
    # More than 64 blocks: runs of zeros are cut there.
    long = szip_cases([(1, 400)], (4,), rng)
    long = (record for record in long if record.name.startswith("szip-nn-u1-"))
    yield f"{HDF5}-szip", [*short, *(record for record in long if "-u1-" in record.name)]
    yield f"{HDF5}-nbit", list(nbit_cases([(7,)], rng))
    integers = (record for record in scaleoffset_integers(13, rng) if rng.random() < 0.09)
    floats = (record for record in scaleoffset_floats(9, rng) if rng.random() < 0.4)
    yield f"{HDF5}-scaleoffset", [*integers, *floats]
    yield f"{HDF5}-lzf", list(lzf_cases([500], rng))
    yield f"{HDF5}-fletcher32", list(fletcher_cases([1, 63, 745], rng))[::2]
    bzip2 = [*bzip2_cases([400], rng), *pytables_bzip2(FOLDER / "scratch.h5")]
    yield f"hdf5plugin-{hdf5plugin.version}-pytables-{tables.__version__}-bzip2", bzip2
    yield f"hdf5plugin-{hdf5plugin.version}-modern", list(modern_cases(rng))


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    for name, records in golden():
        path = FOLDER / f"{name}.bin"
        if path.exists():
            continue
        content = b"".join(record.pack() for record in records)
        path.write_bytes(content)
        with (FOLDER / "MANIFEST").open("a") as manifest:
            manifest.write(f"{hashlib.sha256(content).hexdigest()} {path.name}\n")
        sys.stdout.write(f"{path.name}: {len(records)} chunks, {len(content)} bytes\n")


if __name__ == "__main__":
    main()
