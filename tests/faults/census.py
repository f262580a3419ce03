"""Counts faults after which a file is wrong, scenario by scenario, for those who work on the commits.

python -m tests.faults.census kill append_columns delete_rows_latest
python -m tests.faults.census power "append_.*_durable" --most 20 --show
"""

from __future__ import annotations

import argparse
import errno
import re
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from tests.faults.scenarios import SCENARIOS
from tests.faults.subjects import SUBJECTS
from tests.faults.trials import Fault, Laboratory, points

if TYPE_CHECKING:
    from tests.faults.scenarios import Scenario

KINDS = ("kill", "torn", "recover", "enospc", "eio", "short", "power", "damage")


def complaints_of(laboratory: Laboratory, scenario: Scenario, kind: str, most: int | None) -> list[list[str]]:
    """Return the complaints at each of some faults."""
    if kind == "power":
        logged = laboratory.logged(scenario)
        cuts = points(scenario, len(logged[1]), most)
        return [laboratory.cut(scenario, logged, cut, seed) for cut in cuts for seed in (1, 2)]
    calls = points(scenario, laboratory.calls(scenario), most)
    if kind == "recover":
        return [laboratory.recovered(scenario, Fault("kill", call)) for call in calls]
    if kind in ("kill", "torn"):
        return [laboratory.killed(scenario, Fault(kind, call)) for call in calls]
    error = {"enospc": errno.ENOSPC, "eio": errno.EIO, "short": errno.ENOSPC}[kind]
    mode = "short" if kind == "short" else "fail"
    return [laboratory.failed(scenario, Fault(mode, call, error)) for call in calls]


def main() -> None:
    """Print a line for each scenario, or for each subject if it is damaged."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("scenarios", nargs="*", help="patterns of names; all without any")
    parser.add_argument("--most", type=int, help="calls of each scenario")
    parser.add_argument("--show", action="store_true", help="print the first complaint of each fault")
    options = parser.parse_intermixed_args()
    with tempfile.TemporaryDirectory() as folder:
        laboratory = Laboratory(Path(folder))
        table = SUBJECTS if options.kind == "damage" else SCENARIOS
        for name, scenario in table.items():
            if options.scenarios and not any(re.fullmatch(one, name) for one in options.scenarios):
                continue
            try:
                if options.kind == "damage":
                    found = [laboratory.damaged(name, seed) for seed in range(options.most or 100)]
                else:
                    found = complaints_of(laboratory, scenario, options.kind, options.most)
            except AssertionError as error:
                print(f"{name}: {error}", flush=True)
                continue
            bad = [one for one in found if one]
            print(f"{name}: {len(bad)} of {len(found)}", flush=True)
            for one in bad if options.show else []:
                print(f"    {one[0][:400].strip()}", flush=True)
        laboratory.close()


if __name__ == "__main__":
    main()
