"""Chunks of filters that nobody here has: they cannot be checked, are not damaged, and stay as they are."""

from __future__ import annotations

import json
import struct
from unittest import mock

import h5py
import numpy as np
import pytest
from h5py import h5d, h5p, h5s, h5t, h5z

import coquina as cq
from coquina.cli import main
from coquina.hdf5 import recovered
from coquina.hdf5.recovery import recover

#: PyTables' LZO, and an id that nobody has registered.
FILTERS = (305, 31999)


def stored(path, name="x"):
    """Return the chunks of a dataset as they are stored, and its filters."""
    with h5py.File(path) as file:
        found = file[name].id
        plist = found.get_create_plist()
        filters = [plist.get_filter(number)[0] for number in range(plist.get_nfilters())]
        starts = [found.get_chunk_info(number).chunk_offset for number in range(found.get_num_chunks())]
        return filters, {start: found.read_direct_chunk(start) for start in starts}


def with_filter(path, code, flag=h5z.FLAG_OPTIONAL, values=()):
    """Make a file with a dataset of three chunks of this filter, beside one that is fine."""
    with h5py.File(path, "w") as file:
        file.create_dataset("fine", data=np.arange(1000), chunks=(100,), compression="gzip")
        plist = h5p.create(h5p.DATASET_CREATE)
        plist.set_chunk((16, 16))
        plist.set_filter(code, flag, values)
        space = h5s.create_simple((48, 16))
        made = h5d.create(file.id, b"x", h5t.NATIVE_UINT16, space, plist)
        for row in (0, 16, 32):
            made.write_direct_chunk((row, 0), b"what only that filter knows %d" % row, 0)
    return path


def mandatory(path, code):
    """Make such a file whose filter is no optional one, which libhdf5 would not make without it."""
    with h5py.File(path, "w") as file:
        file["fine"] = np.arange(10)
        file.create_dataset(
            "x", data=np.arange(48 * 16, dtype="u2").reshape(48, 16), chunks=(16, 16), compression="gzip"
        )
    content = bytearray(path.read_bytes())
    at = content.index(b"deflate\0") - 8
    assert struct.unpack_from("<H", content, at) == (1,)
    struct.pack_into("<HHH", content, at, code, 8, 0)
    path.write_bytes(content)
    return path


@pytest.fixture(
    params=[(kind, code) for kind in (with_filter, mandatory) for code in FILTERS],
    ids=lambda one: f"{one[0].__name__}-{one[1]}",
)
def source(request, tmp_path):
    kind, code = request.param
    return kind(tmp_path / "source.h5", code)


def test_verify_has_three_answers(source, capfd):
    # Chunks of a filter that is not here were called damaged, and `recover` was advised.
    assert main(["verify", str(source), "--json"]) == 3
    out, err = capfd.readouterr()
    said = json.loads(out)
    assert said["damage"] == []
    assert [(one["dataset"], one["start"]) for one in said["unchecked"]] == [
        ("/x", [row, 0]) for row in (0, 16, 32)
    ]
    assert json.loads(err)["error"]["kind"] == "unsupported"
    assert main(["verify", f"{source}:/fine"]) == 0
    content = bytearray(source.read_bytes())
    with h5py.File(source) as file:
        chunked = file["fine"].chunks is not None
        at = file["fine"].id.get_chunk_info(0).byte_offset if chunked else None
    if at is not None:
        content[at + 3] ^= 0xFF
        content[at + 9] ^= 0xFF
        source.write_bytes(content)
        capfd.readouterr()
        assert main(["verify", str(source), "--json"]) == 1
        said = json.loads(capfd.readouterr().out)
        assert (len(said["damage"]), len(said["unchecked"])) == (1, 3)


def test_recover_and_repack_keep_chunks_of_unknown_filters_with_their_filter(source, tmp_path):
    report = recover(source, tmp_path / "saved.h5")
    assert report.is_whole
    assert [one.unchecked for one in report.datasets if one.name == "/x"] == [3]
    made = [tmp_path / "saved.h5"]
    for number, options in enumerate(
        ([], ["--filter", "blosc2"], ["--auto"], ["--chunks", "8,8", "--filter", "gzip"])
    ):
        made.append(tmp_path / f"{number}.h5")
        assert main(["repack", str(source), str(made[-1]), *options]) == 0
    assert main(["tune", str(source)]) == 0
    for path in made:
        assert stored(path) == stored(source), path


def test_recover_keeps_the_other_chunks_where_one_is_lost(source, tmp_path):
    """Two chunks at one place: both may be wrong, the third one is kept."""
    wanted = stored(source)
    content = bytearray(source.read_bytes())
    with h5py.File(source) as file:
        first, second = (file["x"].id.get_chunk_info(number).byte_offset for number in (0, 1))
    content = bytes(content).replace(struct.pack("<Q", second), struct.pack("<Q", first))
    source.write_bytes(content)
    report = recover(source, tmp_path / "saved.h5")
    assert not report.is_whole
    filters, chunks = stored(tmp_path / "saved.h5")
    assert filters == wanted[0]
    assert chunks == {(32, 0): wanted[1][32, 0]}


def test_what_ours_does_not_decode_of_a_known_filter_is_kept(tmp_path):
    """As HTJ2K of old writers, which has no parameters."""
    source = with_filter(tmp_path / "old.h5", 32033)
    unknown = mock.Mock(side_effect=cq.UnsupportedError("no such kind of it"))
    with mock.patch.object(recovered._core, "filter_decode", unknown):
        assert recover(source, tmp_path / "saved.h5").is_whole
    assert stored(tmp_path / "saved.h5") == stored(source)


def test_damage_of_a_known_filter_is_damage(tmp_path):
    source = with_filter(tmp_path / "bad.h5", 1)
    assert main(["verify", str(source)]) == 1
    assert not recover(source, tmp_path / "saved.h5").is_whole


def test_frames_of_unknown_codecs_cannot_be_checked(tmp_path, capfd):
    path = tmp_path / "a.b2nd"
    cq.asarray(np.arange(1000), path=path, chunks=(500,), checksums=False).close()
    assert main(["verify", str(path), "--json"]) == 0
    assert json.loads(capfd.readouterr().out)["unchecked"] == []
