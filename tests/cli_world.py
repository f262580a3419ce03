"""A folder with the files that the examples of `--help` and of the guide name, and what runs them."""

import os
import pty
import re
import shlex
import subprocess
import sys

import blosc2
import h5py
import numpy as np
from PIL import Image

import coquina as cq
from coquina.cli import bench_codecs, browse, main, parser
from coquina.cli.parsing import subparsers_of
from coquina.server import commanding, viewer
from coquina.server.presence import Presence
from coquina.server.root import Root
from coquina.tuning import training

ROWS = 2000
SHAPE = (20, 60, 120)


def make(folder):
    """Fill an empty folder."""
    rng = np.random.default_rng(7)
    climate = rng.normal(280, 5, SHAPE).round(1).astype("f4")
    np.save(folder / "climate.npy", climate)
    cq.asarray(climate, path=folder / "climate.b2nd", chunks=(5, 60, 120), blocks=(1, 20, 120))
    for name in ("climate", "wind"):
        cq.pack(climate, folder / f"{name}.npy.blp")
    np.save(folder / "next.npy", climate[:2])
    (folder / "tokens.txt").write_text("token-of-a-reader r .\n")
    profile = cq.train(folder / "climate.npy", samples=1, goals=["balanced"]).profile
    (folder / "mine.profile").write_text(profile.text)
    np.savez(folder / "results.npz", wind=climate[:, :50, :50], other=climate[0])
    climate.ravel()[: 100 * 200].tofile(folder / "floats.raw")
    cq.pack(folder / "floats.raw", folder / "floats.blp", typesize=4)
    records = np.array([(1, b"ab"), (2, b"c"), (3, b"d")], [("id", "<i4"), ("tag", "S2")])
    np.save(folder / "records.npy", records)
    cq.asarray(records, path=folder / "records.b2nd")
    for name in ("run.dat", "more.dat"):
        (folder / name).write_bytes(bytes(range(256)) * 100)
    cq.pack(folder / "run.dat", folder / "run.blp")
    (folder / "notes.json").write_text('{"run": 7}')
    (folder / "scans").mkdir()
    for number in range(3):
        scan = rng.integers(0, 1 << 16, (40, 30)).astype("u2")
        Image.fromarray(scan).save(folder / f"scans/{number:04d}.png")
    _hdf5(folder, rng)
    _tables(folder, rng)
    with blosc2.TreeStore(str(folder / "run.b2z"), mode="w") as store:
        store["/raw/images"] = climate[:4, :30, :50].reshape(4, 1500)


def _hdf5(folder, rng):
    with h5py.File(folder / "run.h5", "w") as file:
        frames = rng.integers(0, 50, (10, 100, 100), "u2")
        file.create_dataset("images/raw", data=frames, chunks=(1, 100, 100), compression="gzip")
        file.create_dataset("detector/counts", data=frames[:8], chunks=(2, 100, 100))
        file.create_dataset("mask", data=frames[:4] > 3, chunks=(4, 50, 50))
    for name in ("killed.h5", "before.h5"):
        (folder / name).write_bytes((folder / "run.h5").read_bytes())


def _tables(folder, rng):
    trades = {
        "time": np.arange(ROWS),
        "sym": [["ABC", "XYZ"][at] for at in rng.integers(0, 2, ROWS)],
        "price": rng.normal(50, 10, ROWS).round(2),
        "volume": rng.integers(1, 100, ROWS),
    }
    with cq.create_table(folder / "trades.h5", trades, name="/trades") as table:
        table.create_index("price")
        table.to_csv(folder / "trades.csv")
        table.to_parquet(folder / "trades.parquet")
        table.copy(folder / "trades_table").close()


def examples(text):
    """Return the commands of the examples in a text: lines of two spaces and a command, then a remark."""
    found = []
    for line in text.partition("Examples:\n")[2].split("\n\n")[0].splitlines():
        assert line.startswith("  "), line
        found.append(re.split(r"\s{2,}", line.strip())[0])
    return found


def all_examples():
    """Return (subcommand, example) of all; "" for those of the command itself."""
    top = parser()
    pairs = [("", one) for one in examples(top.epilog)]
    return pairs + [(name, one) for name, sub in subparsers_of(top).items() for one in examples(sub.epilog)]


def in_shell(command, folder):
    """Run a line in bash, in a folder that is the home of the user too, with the command on the PATH."""
    programs = folder / ".programs"
    programs.mkdir()
    shim = programs / "coquina"
    shim.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m coquina.cli "$@"\n')
    shim.chmod(0o755)
    for place in (".local/share/bash-completion/completions", ".zfunc", ".config/fish/completions"):
        (folder / place).mkdir(parents=True)
    settings = {"PATH": f"{programs}:/usr/bin:/bin", "HOME": str(folder)}
    return subprocess.run(
        ["bash", "-c", command], capture_output=True, text=True, cwd=folder, env=settings, timeout=60
    )


def is_shell(command):
    """Whether a line needs a shell."""
    plain = re.sub(r'"[^"]*"', "", command)
    return not plain.startswith("coquina ") or any(sign in plain for sign in (" > ", "$(", "<(", "&&", " | "))


def said(capfd, command):
    """Run a line in this process; return exit code, output and errors."""
    words = shlex.split(command)[1:]
    options = parser().parsed(words)
    output = f"{options.file}.blp" if options.command == "compress" else None
    # What an example makes may be what another one is about.
    for name in (output, getattr(options, "output", None)):
        if name is not None and "file" in options and os.path.isfile(name):
            os.unlink(name)
    code = main(words)
    return code, *capfd.readouterr()


def be_quick(monkeypatch):
    """Let bench measure few ways, each once, and let servers and browsers end."""
    monkeypatch.setattr(bench_codecs, "SECONDS", 0)
    monkeypatch.setattr(training, "PLACES", 1)
    monkeypatch.setattr(bench_codecs, "CODECS", ("lz4", "blosclz"))
    monkeypatch.setattr(commanding, "serve", _served)
    monkeypatch.setattr(viewer, "site_of", _Site)
    monkeypatch.setattr(browse, "start", lambda library: print(*library.children(library.top)))


def _served(settings, on_start):
    """Make the application of a server, and end it at once."""
    commanding.application_of(settings)
    on_start("http://localhost/")


class _Site:
    """A site of `coquina view` that ends at once, and needs no page."""

    url = "http://localhost/"
    presence = Presence()

    def __init__(self, path, *, port=0):
        assert Root(path).path
        assert 0 <= port < 1 << 16

    def run(self, *, on_start, is_over):
        on_start()
        assert not is_over()


def drawn_on_a_terminal(command, *, stdout=None, **options):
    """Exit code, and what a program wrote to a terminal: errors, and output if that has no other place."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(command, stdout=stdout or theirs, stderr=theirs, **options) as process:
        os.close(theirs)
        drawn = b""
        try:
            while piece := os.read(ours, 4096):
                drawn += piece
        except OSError:
            pass  # the terminal is gone when the process is
    os.close(ours)
    return process.returncode, drawn
