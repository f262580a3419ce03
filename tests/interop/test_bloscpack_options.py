"""Every option of the command `blpk`: files that it makes are read here, and `coquina` has one for each."""

import json
import sys

import numpy as np
import pytest

import coquina as cq
from coquina.cli import main
from tests.interop import coverage
from tests.interop.bloscpack_package import bloscpack  # noqa: F401 (makes the package run)

from bloscpack import cli as blpk  # isort: skip

DATA = np.cumsum(np.random.default_rng(0).integers(-3, 4, 60_000)).astype("i4").tobytes()
#: Options of packing: words of `blpk c`, and of `coquina compress`.
PACKING = {
    "typesize": (["-t", "4"], ["--typesize", "4"]),
    "clevel": (["-l", "9"], ["-l", "9"]),
    "no-shuffle": (["-s"], ["-F", "nofilter"]),
    "codec": (["-c", "zstd"], ["-c", "zstd"]),
    "chunk-size": (["-z", "64K"], ["-z", "64K"]),
    "checksum": (["-k", "sha256"], ["-k", "sha256"]),
    "no-offsets": (["-o"], ["--no-offsets"]),
    "metadata": (["-m", "META"], ["-m", "META"]),
    "force": (["-f"], ["-f"]),
    "nthreads": (["-n", "2"], ["-t", "2"]),
    "verbose": (["-v"], []),
    "debug": (["-d"], []),
}
#: Those that `blpk` takes before its verb.
GLOBAL = ("force", "nthreads", "verbose", "debug")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "x.dat").write_bytes(DATA)
    (tmp_path / "META").write_text(json.dumps({"unit": "K"}))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def theirs(monkeypatch, *words):
    monkeypatch.setattr(sys, "argv", ["blpk", *words])
    blpk.main()


@pytest.mark.parametrize("option", PACKING)
def test_files_of_every_option_are_read(option, folder, monkeypatch, capsys):
    words, _ = PACKING[option]
    before, after = (words, []) if option in GLOBAL else ([], words)
    theirs(monkeypatch, *before, "c", *after, "x.dat", "x.blp")
    assert main(["decompress", "x.blp", "back.dat"]) == 0
    assert (folder / "back.dat").read_bytes() == DATA
    if option == "metadata":
        assert cq.open("x.blp").metadata == {"unit": "K"}


@pytest.mark.parametrize("option", PACKING)
def test_files_of_every_option_are_written(option, folder, monkeypatch, capsys):
    _, words = PACKING[option]
    assert main(["compress", "x.dat", "x.blp", *words]) == 0
    theirs(monkeypatch, "d", "x.blp", "back.dat")
    assert (folder / "back.dat").read_bytes() == DATA


def test_appending_and_files_of_any_name_go_both_ways(folder, monkeypatch, capsys):
    theirs(monkeypatch, "c", "-z", "64K", "x.dat", "odd.name")
    assert main(["append", "odd.name", "x.dat"]) == 0
    theirs(monkeypatch, "a", "-e", "odd.name", "x.dat")
    theirs(monkeypatch, "d", "-e", "odd.name", "theirs.dat")
    assert main(["decompress", "odd.name", "ours.dat"]) == 0
    assert (folder / "ours.dat").read_bytes() == (folder / "theirs.dat").read_bytes() == DATA * 3


def test_all_options_have_a_row():
    (verbs,) = (one for one in blpk.create_parser()._actions if one.dest == "subcommand")
    parsers = [blpk.create_parser(), *verbs.choices.values()]
    words = {word for parser in parsers for word in parser._option_string_actions if word.startswith("--")}
    names = {word.removeprefix("--") for word in words}
    assert {row.name for row in coverage.ROWS if (row.system, row.kind) == ("Bloscpack", "option")} == names
