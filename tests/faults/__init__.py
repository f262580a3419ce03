"""Faults: programs that are killed, disks that fail, power that is cut, and readers beside a writer.

The law: a file is at a commit at every moment, and never before the last that was reported. Each call that
changes a file below a folder is numbered by a library that is loaded before the C library (`shim.c`), so that
tests can kill a program at the n-th of them, tear it in half, let it fail once, or log all of them.

- `shim.py` compiles the library with `cc` and arms it. Linux only; elsewhere the tests are skipped.
- `subjects.py`: the kinds of files: how each is made, opened, changed once more, and what may lie beside it.
- `states.py`: everything that can be observed of a file, as a mapping of short texts.
- `scenarios.py`: a table of changes: a subject, and steps each of which is one commit.
- `worker.py`: the process that has the library loaded; it forks a child for each run and each judgement.
- `trials.py`: runs a scenario with a fault, and tells what is wrong with what it left.
- `power_cuts.py`: makes files as a power cut may leave them, from a log.
- `damages.py`: damages files at rest.
- `census.py`: a command that counts, scenario by scenario, the faults after which a file is wrong.
- `test_kills.py`, `test_failing_calls.py`, `test_power_cuts.py`, `test_damages.py`,
  `test_readers.py`: the tests.

To see one scenario at every call: `python -m tests.faults.census kill append_columns --show`. A failure names
the scenario, the call by number and name, and the seed; `COQUINA_FAULT_CALL=13` tries this call alone.
"""
