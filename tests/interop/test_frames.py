"""Frames of chunks: those of python-blosc2 read by coquina, and the other way round; both changing one frame.

After each change by one library the other one reads all of it.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path
from random import Random

import blosc2
import numpy as np
import pytest

import coquina as cq
from tests.interop.interop_cells import data
from tests.interop.test_blosc2_chunks import CODECS

TYPESIZES = (1, 3, 4, 8, 24, 255, 256, 300)
KINDS = {"file": True, "directory": False}

kinds = pytest.mark.parametrize("kind", KINDS)


def their_chunks(path: Path, offset: int = 0) -> list[bytes]:
    frame = blosc2.open(str(path), offset=offset)
    return [frame.decompress_chunk(number) for number in range(frame.nchunks)]


def our_chunks(source: Path, offset: int = 0) -> list[bytes]:
    with cq.open(source, offset=offset) as frame:
        return list(frame)


def chunks_of_objects(path: str) -> list[bytes]:
    """The chunks of a frame that `open` would show as the objects in them."""
    with cq.open(path, "a") as frame:
        return list(frame)


def random_chunk(rng: Random, nbytes: int, typesize: int, *, is_special: bool) -> bytes:
    """Return smooth or random bytes, or some of one value."""
    kind = rng.choice(
        ("walk", "noise", "text", "zeros", "repeated") if is_special else ("walk", "noise", "text")
    )
    if kind == "repeated":
        return rng.randbytes(typesize) * (nbytes // typesize) + bytes(nbytes % typesize)
    return data(kind, nbytes, typesize)


class Model:
    """What is in a frame: its chunks and metadata. Draws changes that are allowed."""

    def __init__(self, rng: Random, typesize: int, chunk_items: int) -> None:
        self.rng, self.typesize = rng, typesize
        self.chunk_bytes = chunk_items * typesize
        self.chunks: list[bytes] = []
        self.attrs: dict[str, object] = {}

    def change(self, *, is_ours: bool) -> tuple[str, int, bytes]:
        """Draw a change, and make it here."""
        names = ["append", "append", "attrs"]
        if self.chunks:
            names += ["insert", "update", "update"]
        # After the peer has taken out the last chunk of a file, it cannot read what it adds.
        if len(self.chunks) > (0 if is_ours else 1):
            names += ["delete"]
        name = self.rng.choice(names)
        number = self.rng.randrange(len(self.chunks)) if self.chunks else 0
        nbytes = self.chunk_bytes or self.typesize * self.rng.randint(1, 500 // self.typesize + 3)
        # Of chunks of zeros the peer loses the sizes, where these vary.
        is_special = is_ours or self.chunk_bytes > 0
        chunk = random_chunk(self.rng, nbytes, self.typesize, is_special=is_special)
        match name:
            case "append":
                self.chunks.append(chunk)
            case "insert":
                self.chunks.insert(number, chunk)
            case "update":
                self.chunks[number] = chunk
            case "delete":
                del self.chunks[number]
            case "attrs":
                self.attrs[f"name {number % 3}"] = number
        return name, number, chunk


def change_ours(frame: cq.Frame, name: str, number: int, chunk: bytes) -> None:
    match name:
        case "append":
            frame.append(chunk)
        case "insert":
            frame.insert(number, chunk)
        case "update":
            frame[number] = chunk
        case "delete":
            del frame[number]
        case "attrs":
            frame.attrs[f"name {number % 3}"] = number


def change_theirs(frame: blosc2.SChunk, name: str, number: int, chunk: bytes) -> None:
    match name:
        case "append":
            frame.append_data(chunk)
        case "insert":
            frame.insert_data(number, chunk, True)
        case "update":
            frame.update_data(number, chunk, True)
        case "delete":
            frame.delete_chunk(number)
        case "attrs":
            frame.vlmeta[f"name {number % 3}"] = number


def check(path: Path, model: Model) -> None:
    """Both read what should be there."""
    assert their_chunks(path) == model.chunks
    peer = blosc2.open(str(path))
    found = peer.vlmeta.getall()
    found.pop("coquina", None)
    assert found == model.attrs
    with cq.open(path) as frame:
        assert list(frame) == model.chunks
        assert len(frame) == len(model.chunks)
        assert frame.nbytes == sum(map(len, model.chunks))
        assert dict(frame.attrs) == model.attrs
        assert [cq.decompress(frame.stored(number)) for number in range(len(frame))] == model.chunks


def new_frame(path: Path, model: Model, kind: str, codec: str, *, is_ours: bool) -> None:
    if is_ours:
        options = {"typesize": model.typesize, "chunk_size": model.chunk_bytes, "codec": codec}
        cq.Frame.create(path, **options, contiguous=KINDS[kind], meta={"made": "here"}).close()
    else:
        blosc2.SChunk(
            model.chunk_bytes,
            urlpath=str(path),
            contiguous=KINDS[kind],
            meta={"made": "there"},
            cparams=blosc2.CParams(typesize=model.typesize, codec=CODECS[codec], nthreads=1),
        )


@kinds
@pytest.mark.parametrize("typesize", TYPESIZES)
@pytest.mark.parametrize("chunk_items", [0, 1, 50], ids=["variable", "one item", "fifty items"])
def test_each_reads_what_the_other_has_changed(kind, typesize, chunk_items, tmp_path):
    changes = 0
    for number, (codec, is_ours) in enumerate(itertools.product(CODECS, (True, False))):
        if chunk_items == 0 and not is_ours:
            continue  # The peer's chunks vary in size where its own classes ask for it; see below.
        rng = Random(f"{kind} {typesize} {chunk_items} {number}")
        model = Model(rng, typesize, chunk_items)
        path = tmp_path / str(number)
        new_frame(path, model, kind, codec, is_ours=is_ours)
        for turn in range(6):
            if (turn % 2 == 0) == is_ours:
                with cq.open(path, "a") as frame:
                    for _ in range(rng.randint(1, 3)):
                        change_ours(frame, *model.change(is_ours=True))
                        assert list(frame) == model.chunks
                        changes += 1
            else:
                frame = blosc2.open(str(path), mode="a")
                for _ in range(rng.randint(1, 3)):
                    change_theirs(frame, *model.change(is_ours=False))
                    changes += 1
                del frame
            check(path, model)
        with cq.open(path, "a") as frame:
            frame.compact()
            assert frame.info()["dead_bytes"] == 0
        check(path, model)
    assert changes >= (40 if chunk_items == 0 else 80)


@kinds
@pytest.mark.parametrize("typesize", [1, 300])
def test_empty_frames_of_the_peer_are_read_and_filled(kind, typesize, tmp_path):
    walk, ones = data("walk", 10 * typesize, typesize), b"\x01" * 10 * typesize
    for number, has_had_chunks in enumerate((False, True)):
        path = tmp_path / str(number)
        cparams = blosc2.CParams(typesize=typesize, nthreads=1)
        frame = blosc2.SChunk(10 * typesize, urlpath=str(path), contiguous=KINDS[kind], cparams=cparams)
        frame.vlmeta["a"] = 1
        if has_had_chunks:
            # C-Blosc2 still counts the bytes of the chunk that is gone.
            frame.append_data(walk)
            frame.delete_chunk(0)
        del frame
        with cq.open(path, "a") as ours:
            assert list(ours) == []
            assert (len(ours), ours.nbytes, dict(ours.attrs)) == (0, 0, {"a": 1})
            for count, chunk in enumerate((walk, ones, bytes(len(ones)))):
                ours.append(chunk)
                assert len(their_chunks(path)) == count + 1
        assert our_chunks(path) == their_chunks(path) == [walk, ones, bytes(len(ones))]
        frame = blosc2.open(str(path), mode="a")
        frame.append_data(walk)
        del frame
        assert our_chunks(path) == their_chunks(path) == [walk, ones, bytes(len(ones)), walk]
        with cq.open(path, "a") as ours:
            # The first chunk has said how large all are, but for the last one.
            assert ours.info()["chunk_size"] == len(walk)
            ours.append(walk[: 3 * typesize])
            with pytest.raises(ValueError, match="bytes in place of"):
                ours.append(walk)


@kinds
def test_a_frame_that_we_have_emptied_is_filled_by_the_peer(kind, tmp_path):
    with cq.Frame.create(tmp_path / "f", typesize=4, chunk_size=40, contiguous=KINDS[kind]) as ours:
        ours.append(data("walk", 40, 4))
        ours.append(data("noise", 40, 4))
        del ours[1], ours[0]
        assert list(ours) == []
    frame = blosc2.open(str(tmp_path / "f"), mode="a")
    assert frame.nchunks == 0
    frame.append_data(data("text", 40, 4))
    del frame
    assert our_chunks(tmp_path / "f") == their_chunks(tmp_path / "f") == [data("text", 40, 4)]


@kinds
def test_a_short_last_chunk_is_read_by_both(kind, tmp_path):
    seen = 0
    for typesize, last in itertools.product((1, 4, 300), (1, 7)):
        chunks = [
            data("walk", 10 * typesize, typesize),
            bytes(10 * typesize),
            data("noise", last * typesize, 1),
        ]
        for number, ending in enumerate((chunks[2], bytes(last * typesize))):
            expected = [*chunks[:2], ending]
            path = tmp_path / f"{typesize} {last} {number}"
            options = {"typesize": typesize, "chunk_size": 10 * typesize, "contiguous": KINDS[kind]}
            with cq.Frame.create(path, **options) as frame:
                for chunk in expected:
                    frame.append(chunk)
                with pytest.raises(ValueError, match="bytes"):
                    frame.append(chunks[0])
            assert their_chunks(path) == expected
            theirs = blosc2.SChunk(
                10 * typesize,
                b"".join(expected),
                urlpath=f"{path} theirs",
                contiguous=KINDS[kind],
                cparams=blosc2.CParams(typesize=typesize, nthreads=1),
            )
            assert theirs.nchunks == 3
            assert our_chunks(Path(f"{path} theirs")) == expected
            seen += 1
    assert seen == 12


@kinds
@pytest.mark.parametrize("value", ["ZERO", "NAN", "UNINIT", "VALUE"])
def test_frames_filled_with_one_value_are_read(kind, value, tmp_path):
    for number, (items, typesize) in enumerate(itertools.product((50, 120, 125, 100_000), (4, 8))):
        path = tmp_path / str(number)
        frame = blosc2.SChunk(
            50 * typesize,
            urlpath=str(path),
            contiguous=KINDS[kind],
            cparams=blosc2.CParams(typesize=typesize, nthreads=1),
        )
        repeated = {"value": np.arange(1, typesize + 1, dtype="u1").tobytes()} if value == "VALUE" else {}
        frame.fill_special(items, blosc2.SpecialValue[value], **repeated)
        with cq.open(path) as ours:
            assert len(ours) == -(-items // 50)
            assert ours.nbytes == items * typesize
            decoded = b"".join(ours)
            assert len(decoded) == ours.nbytes
            match value:
                case "NAN":
                    assert np.isnan(np.frombuffer(decoded, f"<f{typesize}")).all()
                case "VALUE":
                    assert decoded == repeated["value"] * items
                case _:
                    assert decoded == bytes(len(decoded))
            kinds_of_chunks = {cq.chunk_info(ours.stored(n)).kind for n in (0, len(ours) - 1)}
            expected = {"ZERO": "zeros", "NAN": "nans", "UNINIT": "uninit", "VALUE": "value"}[value]
            assert kinds_of_chunks == {expected}
        with cq.open(path, "a") as ours:
            if items % 50 == 0:
                ours.append(b"\x05" * 50 * typesize)
                assert blosc2.open(str(path)).decompress_chunk(len(ours) - 1) == b"\x05" * 50 * typesize
            ours[0] = b"\x06" * 50 * typesize
        assert blosc2.open(str(path)).decompress_chunk(0) == b"\x06" * 50 * typesize
        if value != "UNINIT":
            assert their_chunks(path)[1:3] == our_chunks(path)[1:3]


@kinds
def test_special_chunks_that_the_peer_puts_among_others_are_read(kind, tmp_path):
    frame = blosc2.SChunk(
        400,
        urlpath=str(tmp_path / "f"),
        contiguous=KINDS[kind],
        cparams=blosc2.CParams(typesize=8, nthreads=1),
    )
    expected = [data("walk", 400, 8), bytes(400), b"\x07" * 400, np.full(50, np.nan).tobytes(), bytes(24)]
    for chunk in expected:
        frame.append_data(chunk)
    del frame
    assert our_chunks(tmp_path / "f") == expected == their_chunks(tmp_path / "f")
    # Special values come and go.
    frame = blosc2.open(str(tmp_path / "f"), mode="a")
    for number, chunk in ((0, bytes(400)), (1, data("noise", 400, 8)), (2, bytes(400))):
        frame.update_data(number, chunk, True)
        expected[number] = chunk
        assert our_chunks(tmp_path / "f") == expected
    del frame
    with cq.open(tmp_path / "f", "a") as ours:
        for number, chunk in ((0, data("walk", 400, 8)), (1, bytes(400)), (4, b"\x01" * 24)):
            ours[number] = expected[number] = chunk
            assert their_chunks(tmp_path / "f") == expected


@kinds
def test_metalayers_are_exchanged(kind, tmp_path):
    fixed = {
        "text": "é" * 40,
        "list": [1, [2, None]],
        "dict": {"a": 1.5},
        "n" * 31: True,
        "bytes": b"\x00\xff",
    }
    cq.Frame.create(tmp_path / "ours", contiguous=KINDS[kind], meta=fixed).close()
    blosc2.SChunk(100, urlpath=str(tmp_path / "theirs"), contiguous=KINDS[kind], meta=fixed)
    peer = blosc2.open(str(tmp_path / "ours"), mode="a")
    assert {name: peer.meta[name] for name in fixed} == fixed
    with cq.open(tmp_path / "theirs") as ours:
        assert dict(ours.meta) == fixed
    # A fixed layer is overwritten in place, where nothing but the header is written.
    peer.meta["dict"] = {"a": -2.5}
    del peer
    with cq.open(tmp_path / "ours", "a") as ours:
        assert dict(ours.meta) == fixed | {"dict": {"a": -2.5}}
        ours.attrs["more"] = 1
    peer = blosc2.open(str(tmp_path / "ours"))
    assert peer.meta["dict"] == {"a": -2.5}
    assert peer.vlmeta["more"] == 1


@kinds
def test_as_many_variable_metalayers_as_the_peer_takes_are_exchanged(kind, tmp_path):
    # C-Blosc2 refuses to write a seventeenth one; that of our checksums is one of them.
    values = {f"{number:02} " + "x" * 28: {"value": list(range(number * 50))} for number in range(15)}
    options = {"contiguous": KINDS[kind], "typesize": 4, "chunk_size": 40}
    with cq.Frame.create(tmp_path / "f", **options) as frame:
        frame.append(data("walk", 40, 4))
        for name, value in values.items():
            frame.attrs[name] = value
        with pytest.raises(cq.LimitError, match="no more"):
            frame.attrs["one more"] = 1
        assert dict(frame.attrs) == values
    peer = blosc2.open(str(tmp_path / "f"), mode="a")
    assert {name: peer.vlmeta[name] for name in values} == values
    changed = sorted(values)[3]
    peer.vlmeta[changed] = values[changed] = "other"
    del peer
    with cq.open(tmp_path / "f", "a") as frame:
        assert dict(frame.attrs) == values
        del frame.attrs[changed], values[changed]
        assert list(frame) == [data("walk", 40, 4)]
    peer = blosc2.open(str(tmp_path / "f"))
    found = peer.vlmeta.getall()
    found.pop("coquina", None)
    assert found == values


@kinds
def test_a_frame_of_the_peer_without_room_for_our_layer_is_changed(kind, tmp_path):
    cparams = blosc2.CParams(typesize=4, nthreads=1)
    frame = blosc2.SChunk(40, urlpath=str(tmp_path / "f"), contiguous=KINDS[kind], cparams=cparams)
    frame.append_data(data("walk", 40, 4))
    values = {f"name {number}": number for number in range(16)}
    for name, value in values.items():
        frame.vlmeta[name] = value
    del frame
    with cq.open(tmp_path / "f", "a") as ours:
        assert dict(ours.attrs) == values
        ours.append(data("noise", 40, 4))
        ours.attrs["name 3"] = values["name 3"] = "three"
    peer = blosc2.open(str(tmp_path / "f"))
    assert peer.vlmeta.getall() == values
    assert (
        our_chunks(tmp_path / "f")
        == [data("walk", 40, 4), data("noise", 40, 4)]
        == their_chunks(tmp_path / "f")
    )


def test_frames_inside_other_files_are_read_by_both(tmp_path):
    with cq.Frame.create(tmp_path / "f", typesize=4, chunk_size=40) as frame:
        for kind in ("walk", "zeros", "noise"):
            frame.append(data(kind, 40, 4))
        frame.attrs["a"] = 1
    ours = (tmp_path / "f").read_bytes()
    peer = blosc2.SChunk(40, contiguous=True, cparams=blosc2.CParams(typesize=4))
    for kind in ("walk", "zeros", "noise"):
        peer.append_data(data(kind, 40, 4))
    peer.vlmeta["a"] = 1
    theirs = peer.to_cframe()
    expected = [data(kind, 40, 4) for kind in ("walk", "zeros", "noise")]
    seen = 0
    for content, before, behind in itertools.product((ours, theirs), (0, 1, 999), (0, 5)):
        path = tmp_path / f"inside {seen}"
        path.write_bytes(b"\x9e" * before + content + bytes(behind))
        assert our_chunks(path, before) == their_chunks(path, before) == expected
        with cq.open(path, offset=before) as frame:
            assert dict(frame.attrs) == {"a": 1}
        if not before:
            assert list(cq.from_bytes(path.read_bytes())) == expected
        seen += 1
    assert seen == 12
    assert [blosc2.schunk_from_cframe(ours).decompress_chunk(n) for n in range(3)] == expected


def objects() -> Iterator[object]:
    yield from ("a short one", list(range(200)), {"k": [1, None]}, b"\x00" * 5000, 3.5, "", list(range(9)))


@kinds
def test_variable_chunks_of_object_arrays_are_read_and_changed(kind, tmp_path):
    path = str(tmp_path / "f.b2frame")
    array = blosc2.ObjectArray(urlpath=path, contiguous=KINDS[kind], cparams=blosc2.CParams(typesize=1))
    for item in objects():
        array.append(item)
    chunks = their_chunks_of(array.schunk)
    assert len({len(chunk) for chunk in chunks}) > 4
    del array
    assert chunks_of_objects(path) == chunks
    with cq.open(path, "a") as frame:
        frame.append(chunks[1])
        del frame[0]
        frame[2] = chunks[0]
    expected = [chunks[1], chunks[2], chunks[0], *chunks[4:], chunks[1]]
    assert chunks_of_objects(path) == expected
    again = blosc2.open(path, mode="a")
    items = list(objects())
    assert list(again) == [items[1], items[2], items[0], *items[4:], items[1]]
    again.append("more")
    del again
    assert chunks_of_objects(path)[:-1] == expected


def their_chunks_of(frame: blosc2.SChunk) -> list[bytes]:
    return [frame.decompress_chunk(number) for number in range(frame.nchunks)]


@kinds
def test_variable_blocks_of_batch_arrays_are_read(kind, tmp_path):
    seen = 0
    for items_per_block, codec in itertools.product((1, 2, 50), ("lz4", "zstd")):
        path = str(tmp_path / f"{items_per_block} {codec}.b2frame")
        array = blosc2.BatchArray(
            items_per_block=items_per_block,
            urlpath=path,
            contiguous=KINDS[kind],
            cparams=blosc2.CParams(typesize=1, codec=CODECS[codec]),
        )
        for lengths in ((10, 300, 1), (40,), (7, 70, 0, 5)):
            array.append([b"station" * n for n in lengths])
        frame = array.schunk
        expected = []
        for number in range(frame.nchunks):
            blocks = cq.chunk_info(frame.get_chunk(number)).nblocks
            expected.append(b"".join(frame.get_vlblock(number, block) for block in range(blocks)))
        del array, frame
        assert chunks_of_objects(path) == expected
        with cq.open(path, "a") as ours:
            infos = [cq.chunk_info(ours.stored(number)) for number in range(len(ours))]
        assert {info.kind for info in infos} == {"variable blocks"}
        seen += len(infos)
    assert seen == 18


def test_what_refers_to_other_files_is_read_as_far_as_it_goes(tmp_path):
    source = blosc2.asarray(np.arange(10), urlpath=str(tmp_path / "source.b2nd"))
    blosc2.Proxy(source, urlpath=str(tmp_path / "proxy.b2nd"))
    (source + 1).save(urlpath=str(tmp_path / "lazy.b2nd"))
    with cq.open(tmp_path / "proxy.b2nd") as cache, pytest.raises(cq.UnsupportedError, match=r"source\.b2nd"):
        cache[...]
    assert np.array_equal(cq.open(tmp_path / "lazy.b2nd")[...], np.arange(10) + 1)
    assert np.array_equal(cq.open(tmp_path / "source.b2nd")[...], np.arange(10))
