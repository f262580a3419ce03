"""Answers about tables: `/schema/`, `/rows/`, `/column/`, `/points/`.

In: objects and parameters. Out: `Encoded` answers, as docs/http-api.md says.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from coquina.server import table_columns
from coquina.server.array_requests import as_json
from coquina.server.encodings import Encoded, little
from coquina.server.failures import bad_request
from coquina.server.table_columns import ColumnRequest, PointsRequest
from coquina.server.table_rows import (
    FILES,
    ROWS_MAX,
    Query,
    columns_of,
    rows_as_file,
    rows_as_json,
    table_of,
    window,
)

if TYPE_CHECKING:
    from coquina.server.objects import Found
    from coquina.server.parameters import Parameters
    from coquina.server.service import Service


def schema(service: Service, found: Found, parameters: Parameters) -> Encoded:
    """Return the columns of a table."""
    del service, parameters
    return as_json(table_columns.schema(found))


def rows(service: Service, found: Found, parameters: Parameters) -> Encoded:
    """Return rows that meet a condition, in an order."""
    table = table_of(found)
    query = Query.of(parameters.text("where"), parameters.text("sort"))
    columns = columns_of(table, parameters.text("columns"))
    wanted = parameters.text("format") or "json"
    start, stop = parameters.integer("start", 0), parameters.optional_integer("stop")
    if wanted == "json":
        return rows_as_json(found, query, window(start, stop, columns, ROWS_MAX), service.limits)
    if wanted not in FILES:
        raise bad_request(f"format {wanted[:40]!r}: takes json, {', '.join(FILES)}")
    stop = len(table) if stop is None else stop
    return rows_as_file(found, query, window(start, stop, columns, max(stop, 1)), wanted, service.limits)


def column(service: Service, found: Found, parameters: Parameters) -> Encoded:
    """Return the statistics of a column."""
    query = Query.of(parameters.text("where"), None)
    wanted = ColumnRequest(parameters.needed("name"), parameters.integer("bins", 64))
    del service
    return as_json(table_columns.statistics(found, query, wanted))


def points(service: Service, found: Found, parameters: Parameters) -> Encoded:
    """Return two columns as pairs of float64."""
    query = Query.of(parameters.text("where"), None)
    wanted = PointsRequest(
        parameters.needed("x"), parameters.needed("y"), parameters.integer("most", 100_000)
    )
    made = table_columns.points(found, query, wanted, service.limits)
    headers = {"X-Count": str(len(made.pairs)), "X-Total": str(made.total)}
    return Encoded(little(made.pairs).tobytes(), "application/octet-stream", None, headers)
