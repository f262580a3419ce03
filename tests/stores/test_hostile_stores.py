"""Stores that are damaged, or made to do harm: an error of ours or what was written, and no more memory."""

import os
import struct
import zipfile
from itertools import product

import blosc2
import msgpack
import numpy as np
import pytest

import coquina as cq

WANTED = {"a": np.arange(40), "g/b": np.linspace(0, 1, 30)}


def small(path, **options):
    with blosc2.DictStore(str(path), mode="w", **options) as store:
        for key, array in WANTED.items():
            store[f"/{key}"] = array


def tree(path):
    with blosc2.TreeStore(str(path), mode="w") as store:
        for key, array in WANTED.items():
            store[f"/{key}"] = array
        store.vlmeta["title"] = "right"


def is_same(found, wanted):
    return found.keys() == wanted.keys() and all(np.array_equal(found[key], wanted[key]) for key in found)


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    path = tmp_path_factory.mktemp("hostile") / "x.b2z"
    tree(path)
    return path.read_bytes()


@pytest.fixture(scope="module")
def embedded(tmp_path_factory):
    path = tmp_path_factory.mktemp("hostile") / "x.b2e"
    store = blosc2.EmbedStore(str(path), mode="w")
    for key, array in WANTED.items():
        store[f"/{key}"] = array
    return path.read_bytes()


def values(content):
    """Return the arrays and attributes of a store; an error of ours."""
    try:
        found = {}

        def look(name, node):
            if isinstance(node, cq.Array):
                found[name] = node[...]

        with cq.from_bytes(content) as store:
            if isinstance(store, cq.Frame):
                return {"chunks": list(store)}  # The name of the metadata that make it a store is wrong.
            store.visititems(look)
            found["attrs"] = dict(store.attrs)
        return found
    except cq.CoquinaError as error:
        return error
    except Exception as error:
        # Damage may name a filter that another test has registered, which raises what it likes.
        if not any(note.endswith("(noted)") for note in getattr(error, "__notes__", ())):
            raise
        return error


def test_a_changed_bit_of_an_archive_is_an_error_or_changes_nothing(archive):
    wanted = values(archive)
    assert set(wanted) == {*WANTED, "attrs"}
    assert wanted["attrs"] == {"title": "right"}
    errors = 0
    for at, bit in product(range(len(archive)), range(8)):
        damaged = bytearray(archive)
        damaged[at] ^= 1 << bit
        found = values(bytes(damaged))
        if isinstance(found, Exception):
            errors += 1
        else:
            assert is_same(found, wanted), (at, bit)
    # Most bytes are those of leaves, which have a CRC-32; times and permissions have nothing.
    assert errors > 0.8 * 8 * len(archive)


@pytest.mark.parametrize("name", ["archive", "embedded"])
def test_every_cut_is_an_error(request, name):
    content = request.getfixturevalue(name)
    for length in range(len(content)):
        assert isinstance(values(content[:length]), cq.CoquinaError), length


def test_a_changed_bit_of_embedded_frames_is_an_error_of_ours_or_some_values(embedded):
    # The frames of python-blosc2 have no checksums: what is left is that nothing else happens.
    errors = 0
    for at, bit in product(range(len(embedded)), range(8)):
        damaged = bytearray(embedded)
        damaged[at] ^= 1 << bit
        errors += isinstance(values(bytes(damaged)), cq.CoquinaError)
    assert errors > 2 * len(embedded)


# Archives


def rewritten(path, content, change):
    """Write an archive with the members of another one, changed; change: name -> (name, bytes, options)."""
    with zipfile.ZipFile(content) as old, zipfile.ZipFile(path, "w") as new:
        for info in old.infolist():
            for name, data, options in change(info.filename, old.read(info)):
                made = zipfile.ZipInfo(name)
                for option, value in options.items():
                    setattr(made, option, value)
                new.writestr(made, data)
    return path


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "source.b2z"
    small(path)
    return path


@pytest.mark.parametrize("name", ["/etc/a.b2nd", "../a.b2nd", "g/../../a.b2nd", "g//a.b2nd", "./a.b2nd"])
def test_names_that_lead_out_of_an_archive_are_refused(tmp_path, source, name):
    path = tmp_path / "x.b2z"
    rewritten(path, source, lambda old, data: [(name if old == "a.b2nd" else old, data, {})])
    with pytest.raises(cq.CorruptError, match="not a path within"):
        cq.open(path)


@pytest.mark.parametrize("other", ["a.b2nd", "a.b2f"])
def test_two_files_of_a_name_are_refused(tmp_path, source, other):
    path = tmp_path / "x.b2z"

    def twice(old, data):
        return [(old, data, {}), (other, data, {})] if old == "a.b2nd" else [(old, data, {})]

    if other == "a.b2nd":
        with pytest.warns(UserWarning, match="Duplicate"):
            rewritten(path, source, twice)
    else:
        rewritten(path, source, twice)
    with pytest.raises(cq.CorruptError, match="two files"):
        cq.open(path)


def test_what_is_compressed_once_more_is_refused(tmp_path, source):
    # A bomb needs that: what is stored as it is has no more bytes than the archive.
    path = tmp_path / "x.b2z"
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            new.writestr(name, old.read(name), zipfile.ZIP_STORED if name == "embed.b2e" else None)
        new.writestr("bomb.b2nd", bytes(100_000_000))
    store = cq.open(path)
    for name in ("a", "bomb"):
        with pytest.raises(cq.UnsupportedError, match="compressed"):
            store[name]


def test_links_are_not_followed(tmp_path, source):
    path = tmp_path / "x.b2z"
    link = {"external_attr": 0o120777 << 16, "create_system": 3}
    rewritten(path, source, lambda old, data: [(old, data, link if old == "a.b2nd" else {})])
    with pytest.raises(cq.UnsupportedError, match="link"):
        cq.open(path)["a"]
    folder = tmp_path / "x.b2d"
    small(folder)
    os.rename(folder / "a.b2nd", tmp_path / "elsewhere.b2nd")
    os.symlink(tmp_path / "elsewhere.b2nd", folder / "a.b2nd")
    os.symlink(tmp_path, folder / "up")
    store = cq.open(folder)
    assert list(store) == ["a", "g"]
    with pytest.raises(cq.UnsupportedError, match="link"):
        store["a"]


def test_encrypted_files_are_refused(tmp_path, source):
    content = bytearray(source.read_bytes())
    for signature, at in ((b"PK\3\4", 6), (b"PK\1\2", 8)):
        content[content.index(signature) + at] |= 1
    path = tmp_path / "x.b2z"
    path.write_bytes(content)
    store, refused = cq.open(path), []
    for name in WANTED:
        try:
            store[name]
        except cq.UnsupportedError as error:
            refused.append(str(error))
    assert len(refused) == 1
    assert "encrypted" in refused[0]


def central(content):
    """Yield the place of each row of the table of an archive."""
    at = content.find(b"PK\1\2")
    while at >= 0:
        yield at
        at = content.find(b"PK\1\2", at + 1)


def test_files_that_lie_in_each_other_are_refused(tmp_path, source):
    content = bytearray(source.read_bytes())
    rows = list(central(content))
    (first,) = struct.unpack_from("<I", content, rows[0] + 42)
    struct.pack_into("<I", content, rows[1] + 42, first)
    path = tmp_path / "x.b2z"
    path.write_bytes(content)
    with pytest.raises(cq.CorruptError):
        cq.open(path)
    # One that begins within another one, and has headers that agree, lies in it all the same.
    inside = source.read_bytes()
    with zipfile.ZipFile(path, "w") as new:
        new.writestr("outer.b2nd", inside)
    content, inside_table = bytearray(path.read_bytes()), next(central(inside))
    table, end = content.rindex(b"PK\1\2"), content.rindex(b"PK\5\6")
    row = bytearray(inside[inside_table : inside.index(b"PK", inside_table + 4)])
    struct.pack_into("<I", row, 42, struct.unpack_from("<I", row, 42)[0] + 30 + len("outer.b2nd"))
    content[end:end] = row
    end += len(row)
    struct.pack_into("<HHI", content, end + 8, 2, 2, end - table)
    path.write_bytes(content)
    with pytest.raises(cq.CorruptError, match="in another file"):
        cq.open(path)


def test_a_frame_longer_than_its_file_is_refused(tmp_path, source):
    def cut(old, data):
        return [(old, data[:-20] if old == "a.b2nd" else data, {})]

    path = rewritten(tmp_path / "x.b2z", source, cut)
    with pytest.raises(cq.CorruptError, match="a frame of"):
        cq.open(path)["a"]


def test_a_wrong_crc_is_found(tmp_path, source):
    path = tmp_path / "x.b2z"
    content = bytearray(source.read_bytes())
    with zipfile.ZipFile(source) as old:
        info = old.getinfo("a.b2nd")
    at = info.header_offset + 30 + len("a.b2nd") + info.file_size // 2
    content[at] ^= 1
    path.write_bytes(content)
    with pytest.raises(cq.CorruptError, match="CRC-32"):
        cq.open(path)["a"]


# Frames in frames


def with_map(path, entries):
    """Write an EmbedStore whose map is this one."""
    store = blosc2.EmbedStore(str(path), mode="w")
    store["/a"] = np.arange(40)
    frame = cq.open(path, "a")
    frame.attrs["estore_metadata"] = {"embed_map": entries, "current_offset": 0}
    frame.close()
    return path


@pytest.mark.parametrize(
    "entries",
    [
        5,
        {"/a": 5},
        {"/a": {}},
        {"/a": {"offset": -1, "length": 100}},
        {"/a": {"offset": 0, "length": 2**62}},
        {"/a": {"offset": 2**63, "length": 2**63}},
        {"/a": {"offset": 0.0, "length": 100}},
        {"a": {"offset": 0, "length": 100}},
        {"/../a": {"offset": 0, "length": 100}},
        {5: {"offset": 0, "length": 100}},
    ],
)
def test_maps_that_lead_out_of_the_frame_are_refused(tmp_path, entries):
    with pytest.raises(cq.CorruptError):
        cq.open(with_map(tmp_path / "x.b2e", entries))


@pytest.mark.parametrize(("offset", "length"), [(1, 100), (0, 100), (0, 30)])
def test_what_is_no_frame_of_its_length_is_refused(tmp_path, offset, length):
    store = cq.open(with_map(tmp_path / "x.b2e", {"/a": {"offset": offset, "length": length}}))
    with pytest.raises(cq.CorruptError, match="not a frame"):
        store["a"]


def test_arrays_on_servers_are_not_followed(tmp_path):
    entry = {"/a": {"urlbase": "http://localhost:1/", "path": "x"}}
    with pytest.raises(cq.UnsupportedError, match="server"):
        cq.open(with_map(tmp_path / "x.b2e", entry))["a"]


def test_a_frame_of_zeros_is_no_bomb(tmp_path):
    path = tmp_path / "x.b2e"
    chunk = cq.compress(bytes(2**20), typesize=1)
    with cq.Frame.create(path, chunk_size=2**20, meta={"b2embed": {"version": 1}}) as frame:
        with frame.transaction():
            for _ in range(4000):
                frame._handle.put_chunk(len(frame), chunk, insert=True)
        length = 4000 * 2**20
        frame.attrs["estore_metadata"] = {"embed_map": {"/a": {"offset": 0, "length": length}}}
    assert path.stat().st_size < 2**20
    with pytest.raises(cq.LimitError):
        cq.open(path)["a"]


def test_maps_are_read_as_metadata_are(tmp_path):
    # A reference in the map is no place in the frame, and is not followed.
    path = with_map(tmp_path / "x.b2e", {})
    reference = msgpack.packb({"embed_map": {"/a": msgpack.ExtType(43, msgpack.packb({"kind": "ref"}))}})
    frame = cq.open(path, "a")
    frame._handle.set_layer("estore_metadata", reference)
    frame.close()
    with pytest.raises(cq.UnsupportedError, match="extension 43"):
        cq.open(path)
