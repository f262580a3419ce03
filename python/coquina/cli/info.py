"""say what a Bloscpack file or a Blosc chunk holds, without decoding it

Examples:
  coquina info climate.npy.blp
  coquina info --json climate.npy.blp
"""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import coquina

if TYPE_CHECKING:
    import argparse

from coquina.cli import arguments

_MAGIC = b"blpk"
_HEADER_BYTES = 32


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `coquina info`."""
    parser.add_argument("file", help="a Bloscpack file, or a file that holds one Blosc chunk")
    arguments.add_json(parser)


def run(options: argparse.Namespace) -> None:
    """Print what the file holds."""
    facts = describe(options.file)
    if options.json:
        print(json.dumps(facts, default=asdict))
        return
    width = max(map(len, facts))
    for name, value in facts.items():
        print(f"{name:{width}}  {_text(name, value)}")


def describe(path: str) -> dict[str, Any]:
    """Return the facts of a file by name."""
    with Path(path).open("rb") as file:
        header = file.read(_HEADER_BYTES)
        if not header.startswith(_MAGIC):
            chunk = coquina.chunk_info(header)
            return {"file": path, "format": "Blosc chunk", **asdict(chunk), "cratio": chunk.cratio}
        packed = coquina.open(path)
        file.seek(packed.offsets()[0])
        chunk = coquina.chunk_info(file.read(_HEADER_BYTES))
    return {"file": path, "format": "Bloscpack 3", **packed.info(), "first_chunk": chunk}


def _text(name: str, value: object) -> str:
    if isinstance(value, coquina.ChunkInfo):
        filters = "+".join(filter_name for filter_name, _ in value.filters) or "no filter"
        return f"{value.kind}, {value.codec}, {filters}, {value.nblocks} blocks"
    if isinstance(value, int) and name in ("nbytes", "cbytes"):
        return f"{value} ({arguments.human(value)})"
    return f"{value:.2f}x" if isinstance(value, float) else str(value)
