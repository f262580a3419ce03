"""Who may read and write which folders.

In: a file of lines `TOKEN RIGHTS FOLDER`, and what a request says of itself. Out: rights on names.
Invariant: without a line that gives a right there is none; tokens are compared in constant time.
"""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass

from coquina.server.failures import RequestError

_RIGHTS = {"r": False, "rw": True}
TOKEN_BYTES_MIN = 8


@dataclass(frozen=True, slots=True)
class Grant:
    """A right: on a folder, "" for all, and all below; to write too, or only to read."""

    folder: str
    may_write: bool

    def covers(self, name: str) -> bool:
        """Whether a name is the folder, or below it."""
        return not self.folder or name == self.folder or name.startswith(f"{self.folder}/")

    def leads_to(self, name: str) -> bool:
        """Whether the folder is below a name, so that one gets there through it."""
        return not name or self.folder.startswith(f"{name}/")


@dataclass(frozen=True, slots=True)
class User:
    """Who asks. name: by which a client is counted."""

    name: str
    grants: tuple[Grant, ...]

    def may_read(self, name: str) -> bool:
        """Whether a file may be read."""
        return any(one.covers(name) for one in self.grants)

    def may_list(self, name: str) -> bool:
        """Whether a folder may be listed: what may not be read is left out of it."""
        return any(one.covers(name) or one.leads_to(name) for one in self.grants)

    def may_write(self, name: str) -> bool:
        """Whether a file may be changed."""
        return any(one.may_write and one.covers(name) for one in self.grants)

    @property
    def writes(self) -> bool:
        """Whether there is anything that may be changed."""
        return any(one.may_write for one in self.grants)


#: Whoever asks a server without tokens.
EVERYBODY = User("", (Grant("", False),))


class Users:
    """The users of a server. by_header: their names come in this header, from a proxy; else by tokens."""

    def __init__(self, grants: dict[str, tuple[Grant, ...]] | None = None, header: str | None = None) -> None:
        """grants: by token, or by name; None for a server that everybody may read."""
        self.header = None if header is None else header.lower()
        self._is_open = grants is None
        self._by_hash = {
            _hash(token): User(_hash(token).hex()[:16], one) for token, one in (grants or {}).items()
        }

    @property
    def is_open(self) -> bool:
        """Whether everybody may read, without saying who they are."""
        return self._is_open and self.header is None

    @classmethod
    def single(cls, token: str, *, may_write: bool = False) -> Users:
        """Return users of whom there is one, with a token."""
        return cls({token: (Grant("", may_write),)})

    @classmethod
    def read(cls, path: str, header: str | None = None) -> Users:
        """Return the users that a file lists. Raises ValueError, which names the line; OSError."""
        with open(path, encoding="utf-8") as file:
            return cls(grants_of(file.read(), path, is_secret=header is None), header)

    def user(self, token: str | None, named: str | None) -> User:
        """Return who asks. token: of the request. named: what the proxy says. Raises RequestError, 401."""
        if self.is_open:
            return EVERYBODY
        given = token if self.header is None else named
        if not given:
            raise RequestError(401, "unauthorized", "who asks? a token is needed")
        if self._is_open:
            return User(given, EVERYBODY.grants)
        found, wanted = None, _hash(given)
        for key, user in self._by_hash.items():
            if hmac.compare_digest(key, wanted):
                found = user
        if found is None:
            raise RequestError(401, "unauthorized", "there is no such token")
        return found


def _hash(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()


def grants_of(text: str, path: str, *, is_secret: bool) -> dict[str, tuple[Grant, ...]]:
    """Return the rights of each token that a text gives; lines that begin with "#" are passed over.

    is_secret: whether the first words are tokens, which must not be short. Raises ValueError.
    """
    found: dict[str, tuple[Grant, ...]] = {}
    for number, line in enumerate(text.splitlines(), 1):
        words = line.split(maxsplit=2)
        if not words or words[0].startswith("#"):
            continue
        if len(words) < 2 or words[1] not in _RIGHTS:
            raise ValueError(f"{path}, line {number}: takes TOKEN RIGHTS FOLDER, and rights are r or rw")
        if is_secret and len(words[0].encode()) < TOKEN_BYTES_MIN:
            raise ValueError(f"{path}, line {number}: a token of less than {TOKEN_BYTES_MIN} bytes")
        folder = (words[2] if len(words) > 2 else "").strip().strip("/")
        if any(part in (".", "..") for part in folder.split("/")) and folder != ".":
            raise ValueError(f"{path}, line {number}: {folder!r} is not a folder below the root")
        grant = Grant("" if folder == "." else folder, _RIGHTS[words[1]])
        found[words[0]] = (*found.get(words[0], ()), grant)
    return found
