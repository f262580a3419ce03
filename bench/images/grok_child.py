"""Times blosc2-grok in a process of its own: it works with versions of python-blosc2 that others do not.

    PYTHON bench/images/grok_child.py FOLDER

In: FOLDER/images.npy and FOLDER/plan.json (blocks, chunks, settings, seconds). Out: FOLDER/N.npy, what comes
back of each setting, and FOLDER/found.json, bytes and seconds. Needs blosc2 4.0.0, blosc2-grok and NumPy.
"""

from __future__ import annotations

import json
import statistics
import sys
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from bench.common import harness

THREADS = 2


def main(folder: Path) -> None:
    """Writes what was found."""
    import blosc2
    import blosc2_grok  # noqa: F401, imported because it brings the codec

    x, plan = np.load(folder / "images.npy"), json.loads((folder / "plan.json").read_text())

    def encode(meta: int) -> Any:
        cparams = {"codec": blosc2.Codec.GROK, "codec_meta": meta, "filters": [], "nthreads": THREADS}
        cparams["splitmode"] = blosc2.SplitMode.NEVER_SPLIT
        options = {"cparams": cparams, "dparams": {"nthreads": THREADS}}
        return blosc2.asarray(x, chunks=plan["chunks"], blocks=plan["blocks"], **options)

    held = {name: encode(meta) for name, meta in plan["settings"].items()}
    effort = harness.Effort(plan["seconds"], 2, 5)
    writes = {name: partial(encode, meta) for name, meta in plan["settings"].items()}
    reads = {name: partial(array.__getitem__, ...) for name, array in held.items()}
    compress, decompress = (harness.take_turns(calls, effort, alike=False) for calls in (writes, reads))
    found = []
    for number, (name, array) in enumerate(held.items()):
        np.save(folder / f"{number}.npy", array[...])
        seconds = [statistics.median(of[name]) for of in (compress, decompress)]
        found.append([name, array.schunk.cbytes, *seconds])
    (folder / "found.json").write_text(json.dumps(found))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
