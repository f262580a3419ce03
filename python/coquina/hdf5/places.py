"""What all nodes of an HDF5 file say of where they are: their name, file, parent and attributes.

In: an object of h5py, and the open nodes of its file. Out: properties that groups, datasets and rows of
variable length share.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from coquina.hdf5.attributes import attributes
from coquina.hdf5.h5py_members import Member

if TYPE_CHECKING:
    from coquina.hdf5.files import File
    from coquina.hdf5.groups import Group
    from coquina.hdf5.nodes import Nodes


class Placed:
    """A node of an HDF5 file."""

    __slots__ = ()
    _h5: Any
    _nodes: Nodes

    @property
    def h5(self) -> Any:
        """The object of h5py (of a file the `h5py.File`), for all that is not here.

        Where the file is open for writing nobody knows what is written by that: indexes are not used from
        then on, until the file is opened again.
        """
        self._nodes.session.hand_out()
        return self._h5

    @property
    def name(self) -> str | None:
        """Its name in the file, from the root on."""
        return self._h5.name

    id = Member("The identifier of h5py's low-level interface.", may_write=True)
    _id = Member("The identifier, by the name that older programs know it by.", may_write=True)
    ref = Member("A reference to it, as h5py has them.")

    @property
    def attrs(self) -> Any:
        """The attributes: h5py's mapping."""
        return attributes(self._h5)

    @property
    def file(self) -> File:
        """The file that it is in."""
        return self._nodes.file_of(self._h5)

    @property
    def parent(self) -> Group:
        """The group that it is in; the root is its own."""
        return self._nodes.node(self._h5.parent)


def inside(node: Any) -> Any:
    """Return the object of h5py of one of our nodes, for code of this package; h5py's own as it is."""
    return getattr(node, "_h5", node)


def node_in(group: Any, name: str) -> Any:
    """Return what has this name in a group, for code of this package. Raises KeyError.

    Unlike `group[name]` this may be h5py's own object without anybody having got it to write by.
    """
    return group._nodes.named(group._h5, name)
