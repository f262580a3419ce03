"""A process of its own for `index.py`: what memory a library has at its highest while it builds an index.

    python -m bench.indexes.index_child LIBRARY FILE MEBIBYTES    what it may take; 0 says nothing

Out: JSON on standard output: MB beyond what it had with its libraries loaded, and seconds.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from bench.common import harness
from bench.indexes.index_data import FLOAT
from bench.indexes.index_ours import Ours
from bench.indexes.index_peers import COMPLETE, DuckDB, Library
from bench.indexes.index_theirs import Blosc, PyTables
from bench.tables import table_peers
from bench.tables.table_child import memory

LIBRARIES: tuple[Library, ...] = (Ours("columns"), Ours("rows"), PyTables(), Blosc(), DuckDB())


def build(library: Library, path: Path, mebibytes: int) -> None:
    """A complete index, with a limit where there is one."""
    kind = library.kinds[COMPLETE]
    if mebibytes and isinstance(library, Ours):
        import coquina as cq

        table: Any = cq.open_table(path, mode="r+")
        table.create_index(FLOAT, kind=kind, memory_limit=mebibytes << 20)
        table.close()
    elif mebibytes and isinstance(library, DuckDB):
        asker: Any = library.open(path, is_writable=True)
        asker.execute(f"set memory_limit='{mebibytes}MiB'")
        asker.execute(f"create index by_{FLOAT} on t ({FLOAT})")
        asker.execute("checkpoint")
        asker.close()
    else:
        library.index(path, FLOAT, COMPLETE)


if __name__ == "__main__":
    table_peers.set_threads()
    name, path, mebibytes = sys.argv[1:]
    import duckdb  # noqa: F401

    before = memory("VmRSS")
    watch = harness.Stopwatch()
    build(next(one for one in LIBRARIES if one.name == name), Path(path), int(mebibytes))
    seconds = watch.seconds
    print(json.dumps({"highest": memory("VmHWM") - before, "seconds": seconds}))
