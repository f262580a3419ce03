"""Errors of requests: a status, a kind for programs, a sentence, and the place in a text.

In: exceptions of the engine and of the parsers. Out: `RequestError`, and the JSON of an answer.
Invariant: messages name files as the client does, never by their place on the server.
"""

from __future__ import annotations

from typing import Any

from coquina._core import CoquinaError, CorruptError, LimitError, TruncatedError, UnsupportedError
from coquina.expressions.grammar import ExpressionError


class RequestError(Exception):
    """A request that is not answered. status: of HTTP. kind: a word for programs.

    caret: which character of a condition or an expression is meant, counted from 0; None for other errors.
    """

    def __init__(self, status: int, kind: str, message: str, caret: int | None = None) -> None:
        """Say why."""
        super().__init__(message)
        self.status = status
        self.kind = kind
        self.message = message
        self.caret = caret

    def to_dict(self) -> dict[str, Any]:
        """Return the error as an answer has it."""
        caret = {} if self.caret is None else {"caret": self.caret}
        return {"error": self.kind, "message": self.message, **caret}


def bad_request(message: str) -> RequestError:
    """Return the error of a parameter that makes no sense."""
    return RequestError(400, "invalid", message)


def not_found(message: str) -> RequestError:
    """Return the error of what does not exist, or must not be known to exist."""
    return RequestError(404, "not_found", message)


def too_large(message: str) -> RequestError:
    """Return the error of a request that asks for more than a limit."""
    return RequestError(413, "limit", message)


_STATUS: tuple[tuple[type[BaseException], int, str], ...] = (
    (FileNotFoundError, 404, "not_found"),
    (BlockingIOError, 409, "busy"),
    (FileExistsError, 409, "exists"),
    (PermissionError, 403, "forbidden"),
    (LimitError, 413, "limit"),
    (MemoryError, 413, "memory"),
    (UnsupportedError, 400, "unsupported"),
    (TruncatedError, 500, "truncated"),
    (CorruptError, 500, "corrupt"),
    (ImportError, 501, "missing_package"),
    (KeyError, 404, "not_found"),
    (LookupError, 400, "invalid"),
    (OSError, 500, "io"),
    (CoquinaError, 400, "invalid"),
    (ValueError, 400, "invalid"),
    (TypeError, 400, "invalid"),
    (ArithmeticError, 400, "invalid"),
    (RecursionError, 400, "invalid"),
)


def failure_of(error: BaseException, root: str) -> RequestError:
    """Return what a client is told of an exception; of our own mistakes nothing but that there was one.

    root: the folder that is served, whose path is taken out of the message.
    """
    if isinstance(error, RequestError):
        return error
    found = next((row for row in _STATUS if isinstance(error, row[0])), None)
    if found is None:
        return RequestError(500, "internal", "the server failed; its log says why")
    _, status, kind = found
    text = str(error.args[0]) if isinstance(error, KeyError) and error.args else str(error)
    message = text.replace(f"{root}/", "").replace(root, "the folder") or type(error).__name__
    if isinstance(error, ExpressionError):
        # The place is told by a number; the lines below draw it.
        first = message.partition("\n")[0]
        return RequestError(400, "expression", first, getattr(error, "column", None))
    return RequestError(status, kind, message.partition("\n")[0] if status == 500 else message)
