"""learn from your files what --codec auto should choose on this machine

Encodes and decodes samples of the files in every way that --codec auto knows, and writes a profile: a short
text with the speed of this machine and the compressibility of these files. The result is judged on files that
were left out of the training; a profile that chooses no better than the built-in table is not written. Run it
while the machine does nothing else.

Use the profile with `--codec auto --profile FILE`, or with `profile=` in Python. With the same profile, the
same values give the same bytes on every machine.

Examples:
  coquina train climate.npy run.h5 -o beamline.profile
  coquina train climate.npy --samples 8                 only report
  coquina convert next.npy new.b2nd --codec auto --profile mine.profile
"""

from __future__ import annotations

import argparse
import os

from coquina.cli import arguments, inputs, tuning_options
from coquina.cli.terminal import show, show_json
from coquina.tuning.training import train

_SAMPLE_BYTES = 1 << 20


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `coquina train`."""
    parser.add_argument("files", nargs="+", metavar="FILE", help="files, or folders with files, of your own")
    parser.add_argument("-o", "--output", metavar="PROFILE", help="write the profile to this file")
    parser.add_argument(
        "--samples", type=_count, default=64, metavar="N", help="measure at most N samples (default: 64)"
    )
    parser.add_argument(
        "--for", dest="for_", choices=("both", "read", "write"), default="both",
        help="judge by the time of reading, writing or both (default: both)",
    )  # fmt: skip
    parser.add_argument(
        "--bandwidth", type=tuning_options.bandwidth, metavar="SIZE",
        help="bytes per second of the storage, such as 500M (default: 125 million)",
    )  # fmt: skip
    arguments.add_force(parser)
    arguments.add_report(parser)


def run(options: argparse.Namespace) -> None:
    """Train, write the profile if it is better than the table, say how good it is."""
    for name in options.files:
        inputs.check(name)
    if options.output is not None:
        inputs.check_output(options.output)
        if not options.force and os.path.lexists(options.output):
            raise FileExistsError(f"{options.output} exists; --force replaces it")
    with arguments.progress(options.samples * _SAMPLE_BYTES, "train", options) as bar:
        training = train(
            options.files,
            path=options.output,
            for_=options.for_,
            bandwidth=options.bandwidth,
            samples=options.samples,
            overwrite=options.force,
            progress=None if bar is None else lambda done: bar(done * _SAMPLE_BYTES),
        )
    output = options.output if training.is_better else None
    if options.json:
        show_json({**training.to_dict(), "output": output})
    elif not options.quiet:
        show(training.explain())
        if output is None and options.output is not None:
            show(f"{options.output} was not written.")


def _count(text: str) -> int:
    """Return a number of samples."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r}: takes a number of samples, 1 or more")
    return int(text)
