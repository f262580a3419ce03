"""Tables whose files somebody has changed: what may come of looking at everything in them."""

from __future__ import annotations

import faulthandler
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import h5py
import numpy as np

import coquina as cq

#: What opening, reading and querying may raise. `RuntimeError` is how h5py tells most errors of libhdf5.
ALLOWED = (cq.CoquinaError, ValueError, KeyError, TypeError, OSError, RuntimeError)
#: Nothing that is looked at takes so long: what does, hangs. Machines may be busy.
SECONDS_MAX = 30
ROWS_MAX = 100_000
ROW = np.dtype(
    [
        ("n", "<i4"),
        ("x", "<f8"),
        ("u", "<u8"),
        ("s", "S4"),
        ("f", "?"),
        ("deep", [("k", "<i2"), ("v", "<f4", (2,))]),
    ]
)


def records(count: int, seed: int = 3) -> np.ndarray:
    """Return rows of which some columns are in order, so that bounds tell something."""
    rng = np.random.default_rng(seed)
    rows = np.zeros(count, ROW)
    rows["n"] = np.arange(count) // 3
    rows["x"] = rng.normal(size=count).round(2)
    rows["x"][rng.random(count) < 0.1] = np.nan
    rows["u"] = np.arange(count, dtype="u8") * 7919
    rows["s"] = rng.choice([b"", b"a", b"bcd", b"abcd"], count)
    rows["f"] = rng.random(count) < 0.5
    rows["deep"]["k"] = rng.integers(-9, 9, count)
    rows["deep"]["v"] = rng.normal(size=(count, 2))
    return rows


def columns(count: int, seed: int = 3) -> dict[str, Any]:
    """Return values of all kinds of columns that the columns layout has."""
    rows = records(count, seed)
    numbers = np.arange(count)
    texts = np.array(["", "a", "été", "longer than others"], np.dtypes.StringDType())[numbers % 4]
    return {
        **{name: rows[name] for name in "nxusf"},
        "t": texts,
        "m": np.ma.MaskedArray(numbers.astype("i4"), numbers % 5 == 0),
        "when": numbers.astype("M8[us]"),
    }


def look(table: Any) -> list[tuple[str, str]]:
    """Look at everything in a table; return what was not a value but an error. Others get through."""
    failed: list[tuple[str, str]] = []

    def attempt(what: str, action: Any) -> Any:
        try:
            return action()
        except ALLOWED as error:
            failed.append((what, f"{type(error).__name__}: {error}"[:200]))
            return None

    attempt("info", lambda: table.info)
    attempt("repr", lambda: (repr(table), table._repr_html_(), table.schema, table.dtype, table.layout.title))
    stop = min(table.nrows, ROWS_MAX)
    attempt("rows", lambda: table[:stop])
    attempt("last", lambda: table[-3:])
    attempt("head", lambda: table.head(9).to_dict())
    attempt("arrow", lambda: table.where("True", None, 0, stop).to_arrow())
    for name in list(table.layout.columns):
        kind = table.layout.columns[name].kind
        quoted = f"col({name!r})"
        attempt(name, lambda name=name: table[name][:stop])
        conditions = [f"{quoted} is null", f"{quoted} == 3", f"{quoted} > 2.5"]
        if kind in ("string", "categorical"):
            conditions = [f"{quoted} == 'a'", f"startswith({quoted}, 'a')", f"{quoted} is not null"]
        for condition in conditions:
            attempt(
                f"where {condition}",
                lambda condition=condition: table.where(condition, None, 0, stop).row_numbers(),
            )
        attempt(f"group {name}", lambda name=name: table.where("True", None, 0, stop).group_by(name).count())
        attempt(f"max {name}", lambda name=name: table.where("True", None, 0, stop).max(name))
        attempt(
            f"sort {name}",
            lambda name=name: table.where("True", None, 0, stop).order_by(name).head(3).to_numpy(),
        )
    attempt("verify", table.verify)
    return failed


def open_and_look(path: Path, name: str | None = None) -> list[tuple[str, str]]:
    """Open a table and look at all of it. Errors that are not documented get through; what hangs is ended."""
    faulthandler.dump_traceback_later(SECONDS_MAX, exit=True)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with cq.open_table(path, name) as table:
                return look(table)
    except ALLOWED as error:
        return [("open", f"{type(error).__name__}: {error}"[:200])]
    finally:
        faulthandler.cancel_dump_traceback_later()


def look_and_change(path: Path, name: str | None = None) -> list[tuple[str, str]]:
    """Look at a table, then write to it: as `open_and_look`."""
    failed = open_and_look(path, name)
    faulthandler.dump_traceback_later(SECONDS_MAX, exit=True)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with cq.open_table(path, name, "r+") as table:
                for change in (append_some, delete_some, add_some):
                    try:
                        change(table)
                    except ALLOWED as error:
                        failed.append((change.__name__, f"{type(error).__name__}: {error}"[:200]))
    except ALLOWED:
        pass
    finally:
        faulthandler.cancel_dump_traceback_later()
    return failed


def append_some(table: Any) -> None:
    """Put some rows behind the last, and see them."""
    rows = table[:3]
    before = table.nrows
    table.append(rows)
    assert table.nrows == before + len(rows)
    table.flush()


def delete_some(table: Any) -> None:
    """Remove some rows."""
    table.delete(slice(0, 4, 2))


def add_some(table: Any) -> None:
    """Make a column, and remove another."""
    table.add_column("added", 5)
    table.rename_column("added", "renamed")
    table.drop_column(table.columns[0])


def chunk_places(path: Path) -> list[tuple[int, int]]:
    """Return where the chunks of a file lie, and how long they are."""
    found: list[tuple[int, int]] = []

    def add(_: str, node: Any) -> None:
        if isinstance(node, h5py.Dataset) and node.chunks is not None and node.id.get_num_chunks():
            infos = (node.id.get_chunk_info(at) for at in range(node.id.get_num_chunks()))
            found.extend((info.byte_offset, info.size) for info in infos)

    with h5py.File(path) as file:
        file.visititems(add)
    return found


def flipped(content: bytes, rng: np.random.Generator, places: list[tuple[int, int]] | None = None) -> bytes:
    """Return a copy with one bit flipped: in one of these places, each as likely, or anywhere."""
    start, length = (0, len(content)) if places is None else places[int(rng.integers(len(places)))]
    damaged = bytearray(content)
    damaged[start + int(rng.integers(length))] ^= 1 << int(rng.integers(8))
    return bytes(damaged)


def mutated(content: bytes, rng: np.random.Generator) -> bytes:
    """Return a copy with some bytes changed: flipped, set to extremes, copied from elsewhere, cut off."""
    damaged = bytearray(content)
    for _ in range(int(rng.integers(1, 4))):
        at, length = int(rng.integers(len(damaged))), int(rng.integers(1, 9))
        kind = int(rng.integers(6))
        if kind < 2:
            damaged[at] ^= 1 << int(rng.integers(8))
        elif kind == 2:
            damaged[at : at + length] = bytes([int(rng.choice([0, 1, 0x7F, 0x80, 0xFF]))]) * len(
                damaged[at : at + length]
            )
        elif kind == 3:
            source = int(rng.integers(len(damaged)))
            piece = damaged[source : source + length]
            damaged[at : at + len(piece)] = piece
        elif kind == 4:
            damaged[at] = int(rng.integers(256))
        elif rng.random() < 0.1:
            del damaged[at:]
            if not damaged:
                return bytes(content[:1])
    return bytes(damaged)


def looked_at(path: Path, how: str, first: int, count: int) -> int:
    """Change a file so many times, and look at each in a process of its own; return how many opened well.

    libhdf5 itself crashes at some files, and hangs at some: these are passed over, if it was called by h5py.
    """
    stop, good = first + count, 0
    while first < stop:
        done = _look_from(path, how, first, stop - first)
        lines = done.stdout.splitlines()
        good += sum(line.startswith("seen") and "('open'" not in line for line in lines)
        if done.returncode == 0:
            break
        failed = lines[-1].split()
        assert failed[0] == "look", done.stderr[-3000:]
        stack = done.stderr.partition("(most recent call first):")[2].splitlines()
        assert "h5py" in "".join(stack[1:2]), f"{lines[-1]}: {done.returncode}\n{done.stderr[-3000:]}"
        first = int(failed[1]) + 1
    return good


def _look_from(path: Path, how: str, first: int, count: int) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-X", "faulthandler", "-m", "tests.tables.hostile_worker"]
    arguments = [str(path), how, str(first), str(count), str(path.with_suffix(".damaged.h5"))]
    root = Path(__file__).parents[2]
    return subprocess.run([*command, *arguments], cwd=root, capture_output=True, text=True, check=False)
