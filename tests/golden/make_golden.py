"""Adds golden chunks and frames written by the peers; a file that exists is never rewritten.

A golden file is named library-version-what. MANIFEST, here and in `frames`, has a line for each: the SHA-256
of the file, that of what it decodes to, as its own library reads it, and the name.
Run: python tests/golden/make_golden.py
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

import blosc
import blosc2
import numpy as np
from make_frames import frames

FOLDER = Path(__file__).parent
Filter, Codec, Split = blosc2.Filter, blosc2.Codec, blosc2.SplitMode

FIELD = (np.sin(np.arange(150) / 9) * 100).round(1)
COUNTS = (np.arange(400) % 37 * 5).astype("i4")
NOISE = np.random.default_rng(7).bytes(200)
TEXT = b"".join(b"station %03d temperature %03d;" % (i % 17, i * i % 101) for i in range(250))


def chunk2(raw: bytes, **options: object) -> tuple[bytes, bytes]:
    """A chunk of C-Blosc2, and what it reads in it."""
    chosen = {
        "clevel": 5,
        "typesize": 4,
        "filters": [Filter.SHUFFLE],
        "splitmode": Split.AUTO_SPLIT,
        "nthreads": 1,
    }
    chosen.update(options)
    chosen["filters_meta"] = chosen.get("filters_meta", [0] * len(chosen["filters"]))
    chunk = blosc2.compress2(bytearray(raw), **chosen)
    return chunk, blosc2.decompress2(chunk, nthreads=1)


def blosc2_chunks() -> Iterator[tuple[str, tuple[bytes, bytes]]]:
    field, counts = FIELD.tobytes(), COUNTS.tobytes()
    for codec in (Codec.BLOSCLZ, Codec.LZ4, Codec.LZ4HC, Codec.ZLIB, Codec.ZSTD):
        name = codec.name.lower()
        yield f"{name}-shuffle-f8", chunk2(field, codec=codec, typesize=8)
        yield (
            f"{name}-nofilter-i4-blocks",
            chunk2(counts, codec=codec, filters=[Filter.NOFILTER], blocksize=500),
        )
    yield "lz4-bitshuffle-i4", chunk2(counts, codec=Codec.LZ4, filters=[Filter.BITSHUFFLE])
    yield (
        "lz4-delta-shuffle-i4-blocks",
        chunk2(counts, codec=Codec.LZ4, filters=[Filter.DELTA, Filter.SHUFFLE], blocksize=400),
    )
    yield (
        "zstd-shuffle-bytedelta-f8",
        chunk2(field, codec=Codec.ZSTD, typesize=8, filters=[Filter.SHUFFLE, Filter.BYTEDELTA]),
    )
    yield (
        "zlib-trunc_prec-f8",
        chunk2(field, codec=Codec.ZLIB, typesize=8, filters=[Filter.TRUNC_PREC], filters_meta=[9]),
    )
    yield "zlib-int_trunc-i4", chunk2(counts, codec=Codec.ZLIB, filters=[Filter.INT_TRUNC], filters_meta=[-2])
    yield (
        "lz4-split-always-typesize-7",
        chunk2(TEXT[:2100], codec=Codec.LZ4, typesize=7, splitmode=Split.ALWAYS_SPLIT, blocksize=700),
    )
    for codec in (Codec.LZ4, Codec.LZ4HC, Codec.ZSTD):
        yield (
            f"{codec.name.lower()}-dictionary",
            chunk2(TEXT, codec=codec, typesize=1, filters=[Filter.NOFILTER], blocksize=800, use_dict=True),
        )
    yield "stored-noise", chunk2(NOISE, codec=Codec.ZSTD)
    yield "zeros-by-compression", chunk2(bytes(1000), codec=Codec.ZSTD)
    # The peer cannot read this one itself: the header says blocks of 1600 bytes, which are of 1596 (fault 1).
    misstated = {"codec": Codec.LZ4, "typesize": 4, "blocksize": 1600, "clevel": 5, "nthreads": 1}
    yield "misstated-blocksize", (blosc2.compress2(counts[:1597], **misstated), counts[:1597])
    for name, value in (("zeros", blosc2.SpecialValue.ZERO), ("nans", blosc2.SpecialValue.NAN)):
        array = blosc2.SChunk(chunksize=800, cparams=blosc2.CParams(typesize=8))
        array.fill_special(100, value)
        yield f"{name}-f8", (array.get_chunk(0), array.decompress_chunk(0))
    full = blosc2.full((100,), np.float32(1.5), dtype="f4", chunks=(100,))
    array = full.schunk
    yield "repeated-f4", (array.get_chunk(0), array.decompress_chunk(0))
    params = blosc2.CParams(codec=Codec.ZSTD, typesize=1, nthreads=1)
    batches = blosc2.BatchArray(items_per_block=2, cparams=params)
    batches.append([TEXT[:n] for n in (10, 300, 1, 400, 70)])
    array = batches.schunk
    yield "variable-blocks", (array.get_chunk(0), array.decompress_chunk(0))


def blosc1_chunks() -> Iterator[tuple[str, tuple[bytes, bytes]]]:
    blosc.set_nthreads(1)
    for codec in ("blosclz", "lz4", "lz4hc", "zlib", "zstd"):
        chunk = blosc.compress(FIELD.tobytes(), 8, 5, blosc.SHUFFLE, codec)
        yield f"{codec}-shuffle-f8", (chunk, blosc.decompress(chunk))
    chunk = blosc.compress(COUNTS.tobytes(), 4, 5, blosc.BITSHUFFLE, "lz4")
    yield "lz4-bitshuffle-i4", (chunk, blosc.decompress(chunk))
    chunk = blosc.compress(COUNTS.tobytes() * 6, 4, 5, blosc.SHUFFLE, "lz4")
    yield "lz4-shuffle-i4-split", (chunk, blosc.decompress(chunk))
    chunk = blosc.compress(NOISE, 4, 5, blosc.SHUFFLE, "lz4")
    yield "stored-noise", (chunk, blosc.decompress(chunk))


def add(folder: Path, files: Iterator[tuple[str, bytes, bytes]]) -> None:
    """Write those that are not there, and their lines of the manifest."""
    manifest = folder / "MANIFEST"
    known = manifest.read_text().splitlines() if manifest.exists() else []
    names = {line.split()[2] for line in known}
    for name, content, decoded in files:
        if name not in names:
            (folder / name).write_bytes(content)
            hashes = [hashlib.sha256(part).hexdigest() for part in (content, decoded)]
            known.append(f"{hashes[0]} {hashes[1]} {name}")
    manifest.write_text("".join(f"{line}\n" for line in known))


def main() -> None:
    c_blosc2 = f"c-blosc2-{blosc2.blosclib_version.split()[0]}"
    c_blosc = f"c-blosc-{blosc.blosclib_version.split()[0]}"
    for library, chunks in ((c_blosc2, blosc2_chunks()), (c_blosc, blosc1_chunks())):
        add(FOLDER, ((f"{library}-{what}.chunk", *both) for what, both in chunks))
    add(FOLDER / "frames", ((f"{c_blosc2}-{what}", *both) for what, *both in frames()))


if __name__ == "__main__":
    main()
