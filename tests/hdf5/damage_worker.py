"""Damages files and reads them, in a process of its own: libhdf5 may hang or crash on what it is given.

Arguments: the folder, the kind of file, and the numbers of the first damage and the last. Prints a line for
each: its number, what became of it ("same", "error", "wrong", "other"), and what was said.
"""

from __future__ import annotations

import sys
from pathlib import Path
from random import Random

import numpy as np
import pandas as pd

import coquina as cq
from coquina.hdf5 import File

#: What reading a damaged file may raise.
ERRORS = (cq.CorruptError, cq.UnsupportedError, OSError)
SECTOR = 512
ROWS = 6000


def _columns():
    rng = np.random.default_rng(5)
    names = np.array(["left", "right", "ahead", "behind", ""])
    return {
        "number": np.arange(ROWS) * 3 - 1000,
        "value": rng.normal(size=ROWS).astype("f4"),
        "text": np.array([f"row {n % 700} é" for n in range(ROWS)], object),
        "kind": names[rng.integers(0, 5, ROWS)],
        "maybe": np.ma.masked_array(rng.integers(0, 99, ROWS), rng.random(ROWS) < 0.1),
        "flag": rng.random(ROWS) < 0.5,
    }


def make(path, kind):
    """Make a sound file, and return what is in it."""
    if kind == "arrays":
        rng = np.random.default_rng(7)
        with File(path, "w") as file:
            group = file.create_group("inner")
            file.create_dataset("line", data=np.arange(20_000), chunks=(3000,))
            file.create_dataset("plane", data=rng.normal(size=(90, 70)).astype("f4"), chunks=(40, 40))
            group.create_dataset("noise", data=rng.integers(0, 256, 9000, "u1"), codec="lz4")
            group.create_dataset("zeros", data=np.zeros((3, 50, 50)), chunks=(1, 50, 50))
            grown = group.create_dataset("grown", (0,), "i4", maxshape=(None,), chunks=(500,))
            for start in range(0, 2600, 260):
                grown.append(np.arange(start, start + 260, dtype="i4"))
            file["line"].attrs["unit"] = "m"
            file["line"].attrs["scale"] = np.array([1.5, 2.5])
        return
    columns = _columns()
    if kind == "columns":
        frame = pd.DataFrame(
            {
                **{name: columns[name] for name in ("number", "value", "text", "flag")},
                "kind": pd.Categorical(columns["kind"]),
                "maybe": pd.array(columns["maybe"].filled(0), "Int64"),
            }
        )
        frame.loc[columns["maybe"].mask, "maybe"] = pd.NA
        cq.create_table(path, frame, chunk_rows=2000).close()
    else:
        records = np.zeros(ROWS, [("number", "i8"), ("value", "f4"), ("text", "S12"), ("flag", "?")])
        for name in ("number", "value", "flag"):
            records[name] = columns[name]
        records["text"] = [one.encode() for one in columns["text"]]
        cq.create_table(path, records, layout="rows", chunk_rows=2000).close()


def read(path, kind):
    """Return all that is in a file, as something to be compared by."""
    if kind == "arrays":
        found = {}
        with cq.open(path) as file:
            for name in ("line", "plane", "inner/noise", "inner/zeros", "inner/grown"):
                dataset = file[name]
                items = dataset[...]
                found[name] = (dataset.shape, dataset.dtype.str, items.tobytes())
            found["attrs"] = (file["line"].attrs["unit"], file["line"].attrs["scale"].tolist())
        return found
    with cq.open_table(path, "table") as table:
        found = {"rows": len(table), "names": list(table.columns)}
        for name in table.columns:
            values = table[name][:]
            mask = np.ma.getmaskarray(values)
            found[name] = (str(values.dtype), mask.tobytes(), np.ma.getdata(values)[~mask].tolist())
        return found


def damaged(content, seed):
    """Return a file with one damage: bits, sectors, or its end."""
    rng = Random(seed)
    made = bytearray(content)
    sectors = len(made) // SECTOR
    kind = rng.choice(("bit", "bit", "bits", "zeros", "double", "swap", "noise", "cut"))
    at, other = (rng.randrange(sectors) * SECTOR for _ in range(2))
    if kind in ("bit", "bits"):
        for _ in range(1 if kind == "bit" else 8):
            made[rng.randrange(len(made))] ^= 1 << rng.randrange(8)
    elif kind == "cut":
        del made[rng.randrange(len(made)) :]
    elif kind == "swap":
        made[at : at + SECTOR], made[other : other + SECTOR] = (
            made[other : other + SECTOR],
            made[at : at + SECTOR],
        )
    else:
        new = {
            "zeros": bytes(SECTOR),
            "double": content[other : other + SECTOR],
            "noise": rng.randbytes(SECTOR),
        }
        made[at : at + SECTOR] = new[kind]
    return f"{kind} {at if kind not in ('bit', 'bits', 'cut') else ''}", bytes(made)


def main(folder, kind, first, last):
    sound, bad = Path(folder, f"{kind}.h5"), Path(folder, f"{kind}-{first}.h5")
    content, expected = sound.read_bytes(), read(sound, kind)
    for seed in range(first, last):
        what, made = damaged(content, f"{kind} {seed}")
        bad.write_bytes(made)
        print(seed, "begins", what, flush=True)
        try:
            outcome = "same" if read(bad, kind) == expected else "wrong"
            said = what
        except ERRORS as error:
            outcome, said = "error", f"{what}: {type(error).__name__}: {error}"
        except Exception as error:
            import traceback

            place = traceback.extract_tb(error.__traceback__)[-1]
            outcome, said = (
                "other",
                f"{what}: {type(error).__name__}: {error} ({place.filename}:{place.lineno})",
            )
        print(seed, outcome, said.replace("\n", " "), flush=True)


if __name__ == "__main__":
    if sys.argv[2:] and sys.argv[3] == "make":
        make(Path(sys.argv[1], f"{sys.argv[2]}.h5"), sys.argv[2])
    else:
        main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
