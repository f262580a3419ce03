"""The command `coquina`, run as a user runs it."""

import json
import subprocess
import sys

import numpy as np
import pytest

import coquina as cq
from tests import cli_world

ROWS = np.arange(30_000, dtype="f4").reshape(300, 100)


def coquina(*arguments, code=0, cwd=None):
    done = subprocess.run(
        [sys.executable, "-m", "coquina.cli", *map(str, arguments)], capture_output=True, text=True, cwd=cwd
    )
    assert done.returncode == code, done.stderr
    return done.stdout if code == 0 else done.stderr


@pytest.fixture
def array(tmp_path):
    np.save(tmp_path / "x.npy", ROWS)
    return tmp_path / "x.npy"


def test_an_array_goes_to_a_packed_file_and_back(array):
    assert "x.npy.blp" in coquina("compress", array)
    array.rename(array.with_name("old.npy"))
    coquina("decompress", f"{array}.blp")
    assert array.read_bytes() == array.with_name("old.npy").read_bytes()


def test_fortran_arrays_keep_their_order(tmp_path):
    np.save(tmp_path / "f.npy", np.asfortranarray(ROWS))
    coquina("compress", "f.npy", cwd=tmp_path)
    coquina("decompress", "f.npy.blp", "g.npy", cwd=tmp_path)
    assert np.load(tmp_path / "g.npy").flags.f_contiguous
    np.testing.assert_array_equal(np.load(tmp_path / "g.npy"), ROWS)


def test_every_option_reaches_the_file(array, tmp_path):
    (tmp_path / "meta.json").write_text('{"run": 7}')
    raw = tmp_path / "x.raw"
    raw.write_bytes(ROWS.tobytes())
    options = [
        "-c",
        "zstd",
        "-l",
        "3",
        "-F",
        "bitshuffle",
        "--typesize",
        "4",
        "-z",
        "16K",
        "-k",
        "sha256",
        "--no-offsets",
        "-t",
        "1",
        "--json",
    ]
    result = json.loads(coquina("compress", raw, "out.blp", *options, "-m", "meta.json", cwd=tmp_path))
    assert result["nbytes"] == ROWS.nbytes
    info = json.loads(coquina("info", tmp_path / "out.blp", "--json"))
    assert info["first_chunk"]["codec"] == "zstd"
    assert info["first_chunk"]["filters"] == [["bitshuffle", 0]]
    expected = {"checksum": "sha256", "offsets": False, "chunk_size": 16384, "typesize": 4}
    assert {name: info[name] for name in expected} == expected
    assert info["metadata"] == {"run": 7}
    coquina("decompress", "out.blp", "back.raw", cwd=tmp_path)
    assert (tmp_path / "back.raw").read_bytes() == raw.read_bytes()


def test_appending_adds_rows(array, tmp_path):
    coquina("compress", array, tmp_path / "x.blp")
    coquina("append", tmp_path / "x.blp", array)
    np.testing.assert_array_equal(cq.unpack(tmp_path / "x.blp"), np.concatenate([ROWS, ROWS]))


def test_nothing_is_overwritten_without_force(array):
    coquina("compress", array)
    before = array.with_name("x.npy.blp").read_bytes()
    assert "exists" in coquina("compress", array, "-l", "1", code=1)
    assert array.with_name("x.npy.blp").read_bytes() == before
    coquina("compress", array, "-l", "1", "-f")
    assert "exists" in coquina("decompress", f"{array}.blp", code=1)
    coquina("decompress", f"{array}.blp", "-f")


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["compress", "missing.npy"], 1, "missing.npy"),
        (["compress", "x.npy", "-c", "lzma"], 2, "takes one of"),
        (["compress", "x.npy", "-l", "11"], 2, "takes 0 to 9"),
        (["compress", "x.npy", "-z", "lots"], 2, "not a size"),
        (["decompress", "x.npy"], 1, "name the output"),
        (["decompress", "x.npy", "out"], 1, "reads Bloscpack files"),
        (["frobnicate"], 2, "there is no command"),
        (["info"], 2, "required"),
    ],
)
def test_mistakes_get_one_clear_line_and_leave_no_file(arguments, code, message, array):
    error = coquina(*arguments, code=code, cwd=array.parent)
    assert message in error
    assert "Traceback" not in error
    assert [path.name for path in array.parent.iterdir()] == ["x.npy"]


def test_info_describes_single_chunks_too(tmp_path):
    (tmp_path / "c").write_bytes(cq.compress(ROWS, codec="lz4"))
    info = json.loads(coquina("info", tmp_path / "c", "--json"))
    assert (info["format"], info["codec"], info["nbytes"]) == ("Blosc chunk", "lz4", ROWS.nbytes)
    assert "lz4" in coquina("info", tmp_path / "c")


def test_codecs_lists_what_there_is():
    tables = json.loads(coquina("codecs", "--json"))
    assert tables["codecs"] == cq.codecs()
    assert tables["filters"] == cq.filters()
    assert "sha512" in tables["checksums"]
    assert "bytedelta" in coquina("codecs")


def test_help_teaches_by_example():
    for command in ["compress", "decompress", "append", "info", "codecs"]:
        assert f"coquina {command} " in coquina(command, "--help")
    assert "Examples:" in coquina("--help")
    assert coquina("--version").strip() == f"coquina {cq.__version__}"


def test_long_work_shows_a_bar_on_a_terminal_only(tmp_path):
    np.random.default_rng(0).integers(0, 16, 40 << 20, dtype="u1").tofile(tmp_path / "big.raw")
    command = [sys.executable, "-m", "coquina.cli", "compress", "-f", "-c", "zlib", "-l", "9", "big.raw"]
    quiet = subprocess.run(command, capture_output=True, cwd=tmp_path, check=True)
    assert quiet.stderr == b""
    code, drawn = cli_world.drawn_on_a_terminal(command, stdout=subprocess.DEVNULL, cwd=tmp_path)
    assert code == 0
    assert b"compress" in drawn
