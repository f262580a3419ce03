"""What one request, and one client, may ask of the server.

In: nothing. Out: numbers that are passed to whatever needs them; nothing is read from the environment.
"""

from __future__ import annotations

from dataclasses import dataclass

MIB = 1 << 20


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of one server.

    result_bytes: of one answer, decoded. decoded_bytes: of the blocks that one request may decode.
    upload_bytes: of the body of one request. concurrent: requests at work or waiting; others get status 503.
    rate: requests a second of one client, on average; 0 for no limit. burst: how many may come at once.
    work: items that one expression may compute, each operator counted. seconds: how long it may take.
    rows: row numbers that are kept for one condition. header_seconds: how long a client may take to send its
    request. threads: requests that read at the same time; 0 for two more than the engine has threads, 4 at
    least. held_bytes: of answers that clients have not taken yet; beyond it requests get status 503.
    """

    result_bytes: int = 256 * MIB
    decoded_bytes: int = 8192 * MIB
    upload_bytes: int = 4096 * MIB
    concurrent: int = 128
    rate: float = 200.0
    burst: int = 400
    work: int = 1 << 30
    seconds: float = 30.0
    rows: int = 1 << 24
    header_seconds: float = 20.0
    threads: int = 0
    held_bytes: int = 1024 * MIB
