"""`coquina compress - -` and `decompress - -`: pipes give what files give, read by the bloscpack package."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.interop.bloscpack_package import bloscpack


def piped(*words, content=b"", code=0):
    """Run the command in a process of its own, with bytes on standard input; return both outputs."""
    done = subprocess.run(
        [sys.executable, "-m", "coquina.cli", *words],
        input=content,
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == code, done.stderr
    return done.stdout, done.stderr.decode()


CONTENTS = [b"", b"a", bytes(range(256)) * 20_000]


@pytest.mark.parametrize("content", CONTENTS, ids=len)
def test_pipes_of_compress_and_decompress_give_the_bytes_back(content):
    packed, said = piped("compress", "-", "-", content=content)
    assert bloscpack.unpack_bytes_from_bytes(packed)[0] == content
    assert said == ""
    unpacked, said = piped("decompress", "-", content=packed)
    assert unpacked == content
    assert said == ""


def test_pipes_and_files_mix(tmp_path):
    content = CONTENTS[-1]
    (tmp_path / "x.dat").write_bytes(content)
    packed, said = piped("compress", str(tmp_path / "x.dat"), "-", "--json")
    assert json.loads(said)["written"] == len(packed)
    (tmp_path / "x.blp").write_bytes(packed)
    assert piped("decompress", str(tmp_path / "x.blp"), "-", "--quiet") == (content, "")
    out, _ = piped("decompress", "-", str(tmp_path / "y.dat"), content=packed)
    assert b"y.dat" in out
    assert (tmp_path / "y.dat").read_bytes() == content


def test_what_comes_by_a_pipe_and_is_damaged_writes_nothing():
    packed = bytearray(piped("compress", "-", content=CONTENTS[-1])[0])
    packed[len(packed) // 2] ^= 1
    out, said = piped("decompress", "-", content=bytes(packed), code=1)
    assert (out, "checksum" in said or "damaged" in said or "Corrupt" in said) == (b"", True), said
    out, said = piped("decompress", "-", content=b"words", code=1)
    assert out == b""


def test_other_commands_have_no_pipes():
    _, said = piped("info", "-", code=1)
    assert "`coquina compress - -` and `decompress` take pipes" in said
