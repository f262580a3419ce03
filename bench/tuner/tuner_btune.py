"""BTune's trials in a process of its own: it works with a version of python-blosc2 that others do not.

    BTUNE_TRACE=1 PYTHON bench/tuner/tuner_btune.py FOLDER TRADEOFF MODE KILOBYTES

In: FOLDER/plan.json (files of plain chunks with the bytes of items and of blocks, and how often to append
each); MODE is COMP, DECOMP or BALANCED; KILOBYTES a second of the storage, 0 for what BTune thinks itself.
Out: BTune's own trace on standard output, which begins anew with each chunk's file. Needs blosc2 4.0.0,
blosc2-btune 1.2.1 and NumPy; only what its README tells is called.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path


def main(folder: Path, tradeoff: float, mode: str, kilobytes: int) -> None:
    """Lets BTune find its way for each chunk."""
    import blosc2
    import blosc2_btune

    options = {"tradeoff": tradeoff, "perf_mode": getattr(blosc2_btune.PerformanceMode, mode)}
    blosc2_btune.set_params_defaults(**options, **({"bandwidth": kilobytes} if kilobytes else {}))
    plan = json.loads((folder / "plan.json").read_text())
    for name, typesize, block_bytes in plan["chunks"]:
        plain = (folder / name).read_bytes()
        cparams = {"typesize": typesize, "blocksize": block_bytes, "nthreads": 1, "tuner": blosc2.Tuner.BTUNE}
        held = blosc2.SChunk(chunksize=len(plain), cparams=cparams, dparams={"nthreads": 1})
        for _ in range(plan["times"]):
            held.append_data(plain)


if __name__ == "__main__":
    main(Path(sys.argv[1]), float(sys.argv[2]), sys.argv[3], int(sys.argv[4]))
