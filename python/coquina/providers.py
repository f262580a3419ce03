"""What parts of the package use of the parts above them: modules that `coquina` names when it is imported.

In: for each purpose the name of a module, from `names.PROVIDERS`. Out: its functions and classes. A module is
    imported when something of it is first asked for.
Invariant: no purpose is known here; the one list that says which module serves which is that of `names`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import ModuleType

_modules: dict[str, str] = {}


class Provider:
    """The module that serves a purpose: its names are attributes, kept here once they were found."""

    def __init__(self, purpose: str) -> None:
        """Name the purpose, which need not be served yet."""
        self._purpose = purpose

    def __getattr__(self, name: str) -> Any:
        """Return what has this name in the module. Raises KeyError for a purpose that nothing serves."""
        if name.startswith("__"):
            # Programs that look at modules ask all of their names for such; that imports nothing.
            raise AttributeError(name)
        found = getattr(serving(self._purpose), name)
        setattr(self, name, found)
        return found


def provide(modules: Mapping[str, str]) -> None:
    """Say which module serves each purpose."""
    _modules.update(modules)


def serving(purpose: str) -> ModuleType:
    """Return the module that serves a purpose."""
    return import_module(_modules[purpose])
