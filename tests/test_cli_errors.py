"""What the command says where it fails, and how it ends."""

import io
import json
import os
import re
import signal
import subprocess
import sys

import h5py
import numpy as np
import pytest

import coquina as cq
from coquina.cli import colours, main
from tests.cli_world import drawn_on_a_terminal

COMMAND = [sys.executable, "-m", "coquina.cli"]


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    grid = np.arange(3000, dtype="f4").reshape(50, 60)
    np.save("climate.npy", grid)
    cq.asarray(grid, path="climate.b2nd")
    (tmp_path / "notes.txt").write_text("no format at all")
    (tmp_path / "empty").touch()
    (tmp_path / "folder").mkdir()
    with h5py.File("run.h5", "w") as file:
        file["a"], file["b"], file["group/image"] = grid, grid, grid
    return tmp_path


@pytest.mark.parametrize(
    ("words", "code", "parts"),
    [
        ("info climat.npy", 1, ["climat.npy: there is no such file", "did you mean climate.npy?"]),
        ("info nowhere/x.npy", 1, ["nor the folder nowhere"]),
        ("cat runs.h5:/a", 1, ["runs.h5: there is no such file", "run.h5"]),
        ("cat run.h5:/c", 1, ["there is no /c", "a, b"]),
        ("cat run.h5:/group/imag", 1, ["there is no /group/imag; did you mean /group/image?"]),
        ("info run.h5/group/image", 1, ["run.h5 is a file; what is in it is written run.h5:/group/image"]),
        ("convert run.h5 x.npy", 1, ["not a dataset", "coquina ls run.h5"]),
        ("convert climate.npy nowhere/x.b2nd", 1, ["no folder nowhere", "make it"]),
        ("convert climate.npy climate.b2nd", 1, ["climate.b2nd exists", "--force"]),
        ("convert climate.npy x.b2nd -c zst", 2, ["no codec 'zst'", "'zstd'", "takes one of blosclz, lz4"]),
        ("convert climate.npy x.b2nd -F shufle", 2, ["'shuffle'", "bytedelta"]),
        ("convert climate.npy x.b2nd -F trunc_prec:x", 2, ["whole number"]),
        ("convert climate.npy x.b2nd --chunks 3,y", 2, ["'3,y'", "100,20"]),
        ("convert climate.npy x.b2nd --access lines", 2, ["any, rows, columns"]),
        ("convert notes.txt x.b2nd --dtype zz", 2, ["'zz' is not a dtype"]),
        ("convert notes.txt x.b2nd --dtype O", 2, ["objects"]),
        ("convert notes.txt x.b2nd --dtype <f8 --shape 3", 1, ["2 items of float64", "(3,)"]),
        ("convert notes.txt x.b2nd --dtype S3", 1, ["16 bytes are not a whole number"]),
        ("compress climate.npy -t 0", 2, ["from 1 on"]),
        ("compress climate.npy -k md6", 2, ["'md5'"]),
        ("info notes.txt", 1, ["plain text", "Bloscpack"]),
        ("verify climate.npy", 1, ["an NPY file", "`coquina convert climate.npy OUTPUT`"]),
        ("cat empty", 1, ["an empty file"]),
        ("info folder", 1, ["a folder without"]),
        ("verify notes.txt", 1, ["plain text"]),
        ("decompress climate.b2nd x", 1, ["reads Bloscpack files"]),
        ("append climate.b2nd climate.npy", 1, ["reads Bloscpack files"]),
        ("recover climate.b2nd x.h5", 1, ["HDF5", "coquina repair"]),
        ("repair run.h5 x.b2nd", 1, ["not an array of Blosc2"]),
        ("query climate.b2nd", 1, ["reads tables"]),
        ("query run.h5 -o x.json --format json", 1, ["needs rows; leave out --json and --explain"]),
        ("bench climate.npy --plot x.txt", 1, ["--plot x.txt", ".png"]),
        ("bench climate.npy --access 3,4,5", 1, ["does not fit"]),
        ("bench climate.npy --level 3,x", 2, ["level x"]),
        ("completion csh", 2, ["takes one of bash, zsh, fish"]),
    ],
)
def test_errors_are_one_line_with_what_to_do(words, code, parts, here, capfd):
    before = sorted(os.listdir())
    assert main(words.split()) == code
    out, err = capfd.readouterr()
    assert out == ""
    assert re.fullmatch(r"coquina: [^\n]+\n", err), err
    assert "rrno" not in err
    for part in parts:
        assert part in err
    assert sorted(os.listdir()) == before


def damaged(path):
    content = bytearray(path.read_bytes())
    content[len(content) // 3] ^= 16
    path.write_bytes(content)


def test_damage_says_how_to_go_on(here, capfd):
    damaged(here / "climate.b2nd")
    assert main(["cat", "climate.b2nd", "--json"]) == 1
    error = json.loads(capfd.readouterr().err)["error"]
    assert (error["kind"], error["place"]) == ("corrupt", "climate.b2nd")
    assert "coquina verify climate.b2nd" in error["message"]
    assert main(["verify", "climate.b2nd", "--json"]) == 1
    out, err = capfd.readouterr()
    assert len(json.loads(out)["damage"]) == 1
    assert "coquina repair climate.b2nd OUTPUT" in json.loads(err)["error"]["message"]
    assert main(["verify", "climate.b2nd", "--quiet"]) == 1
    assert capfd.readouterr().out == ""


def test_kinds_of_errors_are_words_for_programs(here, capfd):
    for words, kind in (
        ("convert climate.npy climate.b2nd", "exists"),
        ("info notes.txt", "invalid"),
        ("cat climate.b2nd [99]", "not_there"),
        ("index run.h5:/a", "unsupported"),
    ):
        assert main([*words.split(), "--json"]) == 1
        error = json.loads(capfd.readouterr().err)["error"]
        assert error["kind"] == kind, error


def test_a_reader_that_goes_away_is_no_error(here):
    cq.asarray(np.arange(60_000), path="long.b2nd")
    for words in (["cat", "long.b2nd", "--all"], ["cat", "long.b2nd", "--json"], ["query", "--help"]):
        with subprocess.Popen([*COMMAND, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            process.stdout.close()
            assert process.stderr.read() == b""
        assert process.returncode == 141


def test_ctrl_c_ends_with_130(here):
    np.tile(np.random.default_rng(0).integers(0, 16, 1 << 20, dtype="u1"), 100).tofile("big.raw")
    command = [*COMMAND, "compress", "big.raw", "-c", "zlib", "-l", "9"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        while not any(name.startswith(".") or name.endswith(".blp") for name in os.listdir()):
            assert process.poll() is None
        process.send_signal(signal.SIGINT)
        assert process.stderr.read() == b"coquina: interrupted\n"
    assert process.returncode == 130
    assert not os.path.exists("big.raw.blp")


def drawn(words, **settings):
    environment = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "TERM")}
    return drawn_on_a_terminal([*COMMAND, *words], env={**environment, "TERM": "xterm", **settings})


def test_colours_are_on_terminals_only_and_not_where_they_are_not_wanted(here):
    code, shown = drawn(["info", "missing"])
    assert (code, shown[:5]) == (1, b"\x1b[31m")
    for settings in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
        assert b"\x1b" not in drawn(["info", "missing"], **settings)[1]
    done = subprocess.run([*COMMAND, "info", "missing"], capture_output=True)
    assert b"\x1b" not in done.stderr
    assert colours.painted("x", "red", io.StringIO()) == "x"


def test_nothing_unexpected_is_hidden(here, monkeypatch):
    def fails(_):
        raise AssertionError("a mistake of ours")

    monkeypatch.setattr("coquina.cli.info.describe", fails)
    with pytest.raises(AssertionError):
        main(["info", "climate.b2nd"])
