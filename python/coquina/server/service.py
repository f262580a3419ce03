"""What requests ask: objects of files that somebody may read, within limits.

In: names and paths of requests, and who asks. Out: objects, in files that stay open as long as they are used.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from coquina.server.failures import RequestError, not_found
from coquina.server.limits import Limits
from coquina.server.opened_files import OpenedFiles
from coquina.server.users import Users

if TYPE_CHECKING:
    from collections.abc import Generator

    from coquina.server.held_objects import HeldObjects
    from coquina.server.opened_files import OpenedFile
    from coquina.server.parameters import Parameters
    from coquina.server.root import Place, Root
    from coquina.server.users import User


@dataclass(frozen=True, slots=True)
class Service:
    """A root that is served, its users, its limits, and its open files; objects in memory are both."""

    root: Root | HeldObjects
    users: Users = field(default_factory=Users)
    limits: Limits = field(default_factory=Limits)
    files: OpenedFiles | HeldObjects = field(default_factory=OpenedFiles)

    def readable(self, user: User, name: str) -> Place:
        """Return the place of a file that a user may read. Raises RequestError: 403, 404.

        Who may not read a folder does not learn what is in it.
        """
        place = self._named(user, name)
        self.root.file(name)
        return place

    def _named(self, user: User, name: str) -> Place:
        place = self.root.named(name)
        if not user.may_read(place.inside):
            raise not_found(f"{place.name!r}: there is no such file")
        return place

    def writable(self, user: User, place: Place) -> None:
        """Raise RequestError, 403, for a file that a user may not change."""
        if not user.may_write(place.inside):
            raise RequestError(403, "forbidden", f"{place.name!r} may not be written by you")

    @classmethod
    def of_objects(cls, objects: HeldObjects, users: Users) -> Service:
        """Return a service of objects in memory."""
        return cls(objects, users, Limits(), objects)

    @contextmanager
    def opened(self, user: User, parameters: Parameters) -> Generator[OpenedFile]:
        """Return the file of a request, open in the block."""
        with self.files.using(self._named(user, parameters.text("file") or "")) as file:
            yield file
