"""What codec="auto" takes in a process of its own, for `tuner.py`: are the choices the same the next time?

    python -m bench.tuner.tuner_child GOAL MODE calibrate|table

Out: JSON on standard output: for each array of the corpus a list for each chunk: codec, filters, bytes, and a
checksum of what is stored.
"""

from __future__ import annotations

import json
import sys
import zlib

from bench.tuner import tuner_choices, tuner_corpus, tuner_grid


def main(goal: float, mode: str, *, calibrate: bool) -> None:
    """Writes all arrays, tells what became of them."""
    found = {}
    for case in tuner_corpus.corpus():
        chunks = tuner_grid.stored_chunks(tuner_choices.auto(case, goal, mode, calibrate=calibrate))
        found[case.name] = [[*tuner_choices.identity(chunk), zlib.crc32(chunk)] for chunk in chunks]
    print(json.dumps(found))


if __name__ == "__main__":
    main(float(sys.argv[1]), sys.argv[2], calibrate=sys.argv[3] == "calibrate")
