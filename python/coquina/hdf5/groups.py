"""`Group`: a group of an HDF5 file, with h5py's vocabulary.

In: names. Out: groups, datasets as arrays, and h5py's own objects for what is neither. Structure is h5py's
work: names, links, attributes; what is here opens nodes when they are asked for, and makes datasets.
"""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from coquina.arrays.new_arrays import fill_boxes
from coquina.arrays.similar_bounds import rounded_bound
from coquina.arrays.writes import wrote
from coquina.foreign_attributes import GROUPS, no_attribute
from coquina.hdf5.creation import check, content, create, datatype, link, missing, smallest_storage
from coquina.hdf5.filters import check_is_used
from coquina.hdf5.group_html import group_html
from coquina.hdf5.group_tree import Tree, group_tree, is_hidden, is_hidden_path
from coquina.hdf5.group_views import GroupItems, GroupKeys, GroupValues
from coquina.hdf5.h5py_creation import create_as_h5py, create_like, is_as_h5py, required
from coquina.hdf5.h5py_errors import check_open, explained, takes_one_path
from coquina.hdf5.h5py_members import Member
from coquina.hdf5.near_names import near_name
from coquina.hdf5.open_files import external_access, link_access
from coquina.hdf5.places import Placed, inside
from coquina.hdf5.quantization import put_cf
from coquina.hdf5.sessions import HIDDEN, Session
from coquina.hdf5.untyped import h5g, h5py
from coquina.keyword_hints import check_keywords
from coquina.providers import Provider
from coquina.storage_options import ChunkOptions, DatasetOptions, Storage
from coquina.tuning_options import DATASETS

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Unpack

    import numpy.typing as npt

    from coquina.adapters import dask_storing
    from coquina.hdf5 import files as hdf5_files
    from coquina.hdf5.creation import Content
    from coquina.hdf5.datasets import Dataset
    from coquina.hdf5.nodes import Nodes
    from coquina.storage_options import TableOptions
    from coquina.tables import making as table_making
    from coquina.tables import opening as table_opening
    from coquina.tables.table import Table
else:
    dask_storing, hdf5_files = map(Provider, ("dask_storing", "hdf5_files"))
    table_making, table_opening = map(Provider, ("table_making", "table_opening"))


class Group(Placed, MutableMapping[str, Any]):
    """A group of an HDF5 file: a mapping of names to groups, datasets and tables, opened on demand.

    A dataset is a `Dataset`, which is an `Array`; a table is a `Table`. Datasets whose elements no array can
    hold (variable length, references, opaque bytes) and named datatypes are h5py's own objects. Indexes of
    tables (`_i_...`, `_p_coquina...`) can be accessed by name but are not listed; `group.h5` lists them.

    >>> import coquina as cq
    >>> f = cq.hdf5.File.in_memory()
    >>> g = f.create_group("run/1")
    >>> g["x"] = [1, 2]
    >>> list(g), "run/1/x" in f
    (['x'], True)
    """

    __slots__ = ("__weakref__", "_h5", "_nodes")

    def __init__(self, h5: Any, nodes: Nodes | None = None) -> None:
        """Made by a file or a group; or for an identifier of h5py's low-level interface."""
        if nodes is None:
            h5 = h5py.Group(h5)
            nodes = hdf5_files.nodes_for(h5)
        self._h5 = h5
        self._nodes = nodes

    def show(self, h5: Any) -> None:
        """Show another group of h5py: the same in another state of the file."""
        self._h5 = h5

    def __getitem__(self, name: Any) -> Any:
        """Return what has this name, or path of names, or what a reference refers to. Raises KeyError."""
        try:
            return self._shown(self._nodes.named(self._h5, name))
        except (ValueError, KeyError) as error:
            check_open(self._h5)
            if isinstance(error, KeyError) and (hint := self._hint(name)):
                raise KeyError(f"{error.args[0]}; {hint}") from error
            raise

    def _hint(self, name: Any) -> str:
        """Return what to say about a name that leads to nothing: where a link goes, or which name is near."""
        try:
            link: Any = self._h5.get(name, getlink=True) if isinstance(name, str | bytes) else None
        except (KeyError, ValueError, RuntimeError, OSError):
            link = None
        if isinstance(link, h5py.ExternalLink):
            return f"{name!r} is a link to {link.filename}:{link.path}"
        if isinstance(link, h5py.SoftLink):
            return f"{name!r} is a link to {link.path}"
        near = near_name(self._h5, name)
        return f"did you mean {near!r}?" if near else ""

    @explained
    def __setitem__(self, name: str, value: Any) -> None:
        """Give a node another name (a hard link), make a link, a named datatype, or a dataset of `value`."""
        if isinstance(name, bytes):
            name = name.decode()
        if (h5 := getattr(value, "_h5", None)) is not None:
            self._h5[name] = h5
        elif isinstance(value, (*_H5PY_OBJECTS, np.dtype)):
            self._h5[name] = value
        else:
            self.create_dataset(name, data=value)

    @explained
    def __delitem__(self, name: str) -> None:
        """Remove a name, and the node if it was the last one; the indexes beside a table. Raises KeyError."""
        try:
            place = self._nodes.place_of_link(self._h5, name)
            del self._h5[name]
        except KeyError as error:
            if self.is_closed or name in self:
                raise
            near = near_name(self._h5, name)
            hint = f"; did you mean {near!r}?" if near else ""
            raise KeyError(f"there is no {name!r} in {self.name}{hint}") from error
        self._nodes.forget(place)
        self._drop_indexes(name)

    def __contains__(self, name: object) -> bool:
        """Return whether there is something of this name, or path of names."""
        if not isinstance(name, str) or not self:
            return name in self._h5
        return h5g._path_valid(self._h5.id, name.encode(), link_access())

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names."""
        check_open(self._h5)
        # Most names begin otherwise, and a group may have a hundred thousand.
        return (name for name in self._h5 if name[:1] != "_" or not is_hidden(name))

    def __len__(self) -> int:
        """Return how many names there are."""
        check_open(self._h5)
        names: list[bytes] = []
        self._h5.id.links.iterate(names.append)
        return len(names) - sum([is_hidden(name.decode(errors="surrogateescape")) for name in names])

    if not TYPE_CHECKING:  # To type checkers, every name would be an attribute.

        def __getattr__(self, name: str) -> Any:
            """Raise AttributeError; for names of other libraries it says what to write here."""
            owner = f"{type(self).__name__!r} object"
            raise AttributeError(no_attribute(owner, name, GROUPS), name=name, obj=self)

    def __bool__(self) -> bool:
        """Return whether the file is open."""
        return bool(self._h5)

    @property
    def is_closed(self) -> bool:
        """Whether the file is closed."""
        return not self

    def __eq__(self, other: object) -> bool:
        """Return whether both are the same group of the same file."""
        return isinstance(other, Group) and self._h5 == other._h5

    def __hash__(self) -> int:
        """By the place in the file."""
        return hash(self._h5)

    def get(
        self,
        name: str | bytes,
        default: Any = None,
        getclass: bool = False,
        getlink: bool = False,
        **elink: Any,
    ) -> Any:
        """Return the object of this name, or `default`.

        getlink: return the link instead: h5py's `HardLink`, `SoftLink` or `ExternalLink`. getclass: return
            the type of the object or link instead. elink: how to open the file of an external link; see h5py.

        >>> import coquina as cq
        >>> f = cq.hdf5.File.in_memory()
        >>> f.get("nothing", "none")
        'none'
        """
        access = external_access(self._h5.file, **elink) if elink else None
        folder, _, last = name.rpartition("/") if isinstance(name, str) and getlink else ("", "", name)
        try:
            if getlink:
                group = inside(self._nodes.named(self._h5, folder, access)) if folder else self._h5
                return group.get(last if folder else name, default, getclass=getclass, getlink=True)
            node = self._shown(self._nodes.named(self._h5, name, access))
        except KeyError:
            return default
        return cast("Any", type(node)) if getclass else node

    def keys(self) -> GroupKeys:
        """Return a view of the names.

        >>> import coquina as cq
        >>> f = cq.hdf5.File.in_memory()
        >>> f["x"] = [1, 2]
        >>> list(f.keys())
        ['x']
        """
        return GroupKeys(self)

    def values(self) -> GroupValues:
        """Return a view of the nodes; None where a link leads to nothing.

        >>> import coquina as cq
        >>> f = cq.hdf5.File.in_memory()
        >>> f["x"] = [1, 2]
        >>> [node.shape for node in f.values()]
        [(2,)]
        """
        return GroupValues(self)

    def items(self) -> GroupItems:
        """Return a view of names and nodes; None where a link leads to nothing.

        >>> import coquina as cq
        >>> f = cq.hdf5.File.in_memory()
        >>> f["x"] = [1, 2]
        >>> [(name, node.shape) for name, node in f.items()]
        [('x', (2,))]
        """
        return GroupItems(self)

    def __reversed__(self) -> Iterator[str]:
        """Iterate over the names, from the last to the first."""
        return (name for name in reversed(self._h5) if not is_hidden(name))

    @explained
    def tree(self, depth: int | None = None, *, show_hidden: bool = False) -> Tree:
        """Return the objects below as a tree of text: names, shapes, dtypes, chunks, and bytes in the file.

        depth: the number of levels of groups; None for all. show_hidden: also columns and indexes of tables.

        >>> import coquina as cq
        >>> with cq.hdf5.File.in_memory() as f:
        ...     x = f.create_dataset("raw/x", data=[1, 2, 3], chunks=False)
        ...     print(f.tree())
        /
        └── raw/
            └── x  (3,) int64, 24 B
        """
        return group_tree(self, depth, show_hidden=show_hidden)

    def _ipython_key_completions_(self) -> list[str]:
        """Return the names, for interpreters that complete `group["`."""
        return sorted(self)

    def visit_links(self, func: Callable[[str], Any]) -> Any:
        """Call `func(name)` for every link below, once each; a result that is not None ends it.

        >>> import coquina as cq
        >>> f = cq.hdf5.File.in_memory()
        >>> f["a/x"] = [1, 2]
        >>> f.visit_links(print)
        a
        a/x
        """
        names: list[str] = []
        self._h5.visit_links(names.append)
        return _first_result(func(name) for name in names)

    def visititems_links(self, func: Callable[[str, Any], Any]) -> Any:
        """Call `func(name, link)` for every link below, once each; a result that is not None ends it.

        >>> import coquina as cq
        >>> f = cq.hdf5.File.in_memory()
        >>> f["a/x"] = [1, 2]
        >>> f.visititems_links(lambda name, link: print(name, type(link).__name__))
        a HardLink
        a/x HardLink
        """
        links: list[tuple[str, Any]] = []

        def note(name: str, link: Any) -> None:
            links.append((name, link))

        self._h5.visititems_links(note)
        return _first_result(func(name, link) for name, link in links)

    @property
    def track_order(self) -> bool:
        """Whether the order in which names were given is kept."""
        return bool(self._h5["."].id.get_create_plist().get_link_creation_order())

    def visit(self, func: Callable[[str], Any]) -> Any:
        """Call `func(name)` for every node below, once each; a result that is not None ends it.

        >>> import coquina as cq
        >>> f = cq.hdf5.File.in_memory()
        >>> f["a/x"] = [1, 2]
        >>> f.visit(print)
        a
        a/x
        """
        return _first_result(func(name) for name in self._visited())

    def visititems(self, func: Callable[[str, Any], Any]) -> Any:
        """Call `func(name, node)` for every node below, once each; a result that is not None ends it.

        >>> import coquina as cq
        >>> f = cq.hdf5.File.in_memory()
        >>> f["a/x"] = [1, 2]
        >>> f.visititems(lambda name, node: print(name, getattr(node, "shape", None)))
        a None
        a/x (2,)
        """
        nodes = ((name, self._visited_node(name)) for name in self._visited())
        return _first_result(func(name, node) for name, node in nodes if node is not None)

    def _visited(self) -> list[str]:
        """Return the names of all nodes below, which are visited when h5py's lock is free again."""
        names: list[str] = []
        self._h5.visit(names.append)
        return [name for name in names if not is_hidden_path(name)]

    def _visited_node(self, name: str) -> Any:
        """Return a node that is visited; None if it was removed since the visit began."""
        try:
            return self._shown(self._nodes.named(self._h5, name))
        except KeyError:
            if name in self._h5:
                raise
            return None

    @takes_one_path
    @explained
    def create_group(self, name: str, *, track_order: bool | None = None) -> Group:
        """Make a group, and the groups on the way. Raises ValueError if the name exists already.

        >>> import coquina as cq
        >>> f = cq.hdf5.File.in_memory()
        >>> f.create_group("a/b").name
        '/a/b'
        """
        return self._nodes.node(self._h5.create_group(name, track_order=track_order))

    @explained
    def require_group(self, name: str) -> Group:
        """Return the group of this name, created if missing. Raises TypeError if it is not a group.

        >>> import coquina as cq
        >>> f = cq.hdf5.File.in_memory()
        >>> f.require_group("a").name
        '/a'
        """
        return self._nodes.node(self._h5.require_group(name))

    def require_dataset(
        self,
        name: str,
        shape: int | tuple[int, ...],
        dtype: npt.DTypeLike,
        exact: bool = False,
        **storage: Unpack[DatasetOptions],
    ) -> Dataset:
        """Return the dataset of this name; create it if it does not exist. See `create_dataset`.

        shape, dtype: of the dataset. exact: require this dtype; by default a dtype that can be cast to it
            without loss is accepted. Raises TypeError for another shape or dtype, and for other objects.

        >>> import coquina as cq
        >>> f = cq.hdf5.File.in_memory()
        >>> f.require_dataset("x", (3,), "f8").shape
        (3,)
        """
        return required(self, name, shape, dtype, exact, storage)

    def create_dataset_like(self, name: str | None, other: Any, **storage: Unpack[DatasetOptions]) -> Dataset:
        """Return a new dataset with the shape, dtype, chunks and filters of another one, without its items.

        shape, dtype and options of `create_dataset` that are given come first.

        name: of the new one. other: a dataset of ours or of h5py. Raises what `create_dataset` raises.

        >>> import numpy as np
        >>> import coquina as cq
        >>> f = cq.hdf5.File.in_memory()
        >>> d = f.create_dataset("x", data=np.arange(6), chunks=3)
        >>> f.create_dataset_like("y", d).shape
        (6,)
        """
        return create_like(self, name, other, storage)

    def create_virtual_dataset(self, name: str, layout: Any, fillvalue: Any = None) -> Dataset:
        """Return a new dataset whose items are those of others, by a layout of h5py (`VirtualLayout`).

        name: of the new one. layout: which parts are where. fillvalue: what items are that no source has.

        >>> import coquina as cq
        >>> import h5py
        >>> with cq.hdf5.File("a.h5", "w") as f:
        ...     f["x"] = [1, 2, 3]
        >>> layout = h5py.VirtualLayout((3,), "i8")
        >>> layout[:] = h5py.VirtualSource("a.h5", "x", (3,))
        >>> with cq.hdf5.File("v.h5", "w") as f:
        ...     d = f.create_virtual_dataset("x", layout)
        >>> cq.open("v.h5")["x"][:]
        array([1, 2, 3])
        """
        return self._nodes.node(self._h5.create_virtual_dataset(name, layout, fillvalue))

    build_virtual_dataset = Member(
        "Fill the layout of a new virtual dataset in a `with` block, as h5py does.", may_write=True
    )

    @explained
    def create_dataset(
        self,
        name: str | None,
        shape: int | tuple[int, ...] | None = None,
        dtype: npt.DTypeLike | None = None,
        data: Any = None,
        *,
        threads: int | None = None,
        **storage: Unpack[DatasetOptions],
    ) -> Dataset:
        """Return a new dataset. If its data cannot be written, no dataset is left.

        name: missing groups are created; None creates an anonymous dataset (`group[name] = dataset` names
            it).
        shape, dtype, data: as in h5py. data may also be an `Array` or a dataset, which is read in parts, or a
            Dask array, whose chunks are encoded by the tasks that compute them.
        chunks: elements along each axis of a chunk. None, "auto" or True: the default rule. False: contiguous
            storage, without filters.
        maxshape: the maximal length of each axis, None for unlimited. True: all axes are unlimited.
        filter: "blosc2" (the default), "blosc", "gzip", "lz4", "zstd", "bitshuffle", "htj2k" (images of 8-bit
            and 16-bit integers; needs coquina-images) or "none". "lzf", "szip", "nbit", "scaleoffset"
            (integers) and "bzip2" (if a plugin for it is loaded) are written by libhdf5, which is slow.
        codec: for Blosc2 and Blosc "zstd" (the default), "lz4", "lz4hc", "blosclz", "zlib"; for bitshuffle
            "lz4" (the default), "zstd", "none". "auto" chooses codec, level and filters of each Blosc2 chunk,
            by the keywords of `coquina.Tuning`, which an attribute stores for later writes. With goal="size"
            and `data`, chunks below 64 KiB get "gzip", "zstd" or no filter where that is smaller than Blosc2,
            unless `filter`, `blocks`, `checksums` or `lossy` is given.
        level: 0 to 9, or 1 to 22 for the filter "zstd". By default 1 for Blosc2 and 5 for others.
        filters: "shuffle" or "nofilter"; for Blosc also "bitshuffle". For Blosc2 all filters of arrays: names
            or pairs of a name and a parameter, in a list; its codec may be a pair too, such as ("zfp_rate",
            25). Options that the parameters of the HDF5 filter cannot express are stored in each chunk, where
            h5py and PyTables read them, and in an attribute for later writes; see `Dataset.encoding`.
        dictionary: share a dictionary between the streams of a chunk; for Blosc2 with the codec "zstd".
        blocks: elements along each axis of a Blosc2 block, the unit of decoding.
        fletcher32: add HDF5's checksum to each chunk, which h5py verifies too.
        fillvalue: the value of elements that have not been written.
        lossy: an error bound: a `Lossy`, or a mapping of its keywords. Values are rounded before the filter.
            Attributes store the bound for later writes.
        zones: numbers and text whose minimum and maximum are stored for each block; see `Dataset.with_zones`.
        checksums: add a checksum to each block of chunks whose only filter is Blosc2, which is verified when
            the block is read. False is stored in an attribute for later writes.
        threads: the number of threads; all by default.

        With an option of h5py (`compression="gzip"`, `shuffle=True`, `**hdf5plugin.Zstd()`) the dataset is
        created as by h5py, without other filters.

        Returns a `Dataset`; for elements that no array can hold (str, objects) h5py's dataset, without
        compression. Raises ValueError if the name exists or options do not fit, TypeError for dtypes that
        HDF5 does not have and for options that contiguous storage cannot have.

        >>> import numpy as np
        >>> import coquina as cq
        >>> f = cq.hdf5.File.in_memory()
        >>> d = f.create_dataset("raw/x", data=np.arange(6), filter="gzip", level=5, chunks=3)
        >>> e = f.create_dataset("raw/y", (0, 8), "u2", maxshape=(None, 8))
        >>> e.append(np.ones((2, 8), "u2"))
        >>> d.chunks, e.shape
        ((3,), (2, 8))
        """
        if isinstance(name, bytes):
            name = name.decode()
        if is_as_h5py(shape, dtype, data, storage):
            check_keywords(Group.create_dataset, storage, DatasetOptions)
            fill: Callable[[Any, Any], None] = lambda made, values: _fill(made, values, threads)  # noqa: E731
            return self._shown(create_as_h5py(self, name, shape, dtype, data, storage, fill))
        wanted = Storage.of(Group.create_dataset, storage, DatasetOptions, base=DATASETS)
        check_is_used(wanted)
        made = content(shape, dtype, data)
        if (types := datatype(made.dtype)) is not None:
            return create_in(self, name, made, types, wanted, threads)
        if wanted.lossy is not None:
            raise ValueError(f"lossy: {made.dtype} cannot be stored with a bound")
        options = {"chunks": wanted.chunks, "maxshape": wanted.maxshape, "fillvalue": wanted.fillvalue}
        return self._shown(self._h5.create_dataset(name, shape, dtype, data, **options))

    @explained
    def create_array(
        self,
        name: str,
        data: Any,
        *,
        threads: int | None = None,
        **storage: Unpack[ChunkOptions],
    ) -> Dataset:
        """Return a new dataset with the items of `data`, compressed by Blosc2; see `create_dataset`.

        >>> import coquina as cq
        >>> f = cq.hdf5.File.in_memory()
        >>> f.create_array("x", [1, 2, 3], codec="lz4")[:]
        array([1, 2, 3])
        """
        check_keywords(Group.create_array, storage, ChunkOptions)
        return self.create_dataset(name, data=data, threads=threads, **storage)

    @takes_one_path
    @explained
    def create_table(self, name: str, data: Any, **storage: Unpack[TableOptions]) -> Table:
        """Return a new table in this group, open for writing.

        name: of the table. data and the options of storage: see `coquina.create_table`. Raises ValueError if
            the name exists.

        >>> import coquina as cq
        >>> f = cq.hdf5.File.in_memory()
        >>> f.create_table("t", {"x": [3, 1, 2]}).where("x > 1").count()
        2
        """
        return table_making.create_in(self, name, data, table_making.NewTable.of(Group.create_table, storage))

    def table(self, name: str) -> Table:
        """Return a table: a group or dataset that is marked as one, or a one-dimensional dataset of records.

        name: a path of names. Raises KeyError for an unknown name, UnsupportedError, with the reason, for an
            object that is not a table.

        >>> import coquina as cq
        >>> f = cq.hdf5.File.in_memory()
        >>> t = f.create_table("t", {"x": [3, 1, 2]})
        >>> f.table("t").nrows
        3
        """
        return table_opening.open_in(self, name)

    def dataset(self, name: str) -> Dataset:
        """Return a dataset as an array, even if it is marked as a table.

        name: a path of names. Returns h5py's own dataset for elements that no array can hold. Raises KeyError
            for an unknown name.

        >>> import coquina as cq
        >>> f = cq.hdf5.File.in_memory()
        >>> t = f.create_table("t", {"x": [3, 1, 2]}, layout="rows")
        >>> f.dataset("t").dtype.names
        ('x',)
        """
        return self._shown(self._nodes.array(self._h5[name]))

    def _shown(self, node: Any) -> Any:
        """Return a node that is given to users; h5py's own may write past us."""
        if isinstance(node, h5py.HLObject):
            self._nodes.session.hand_out()
        return node

    def adopt(self, table: Table) -> Table:
        """Give out this table for its name from now on."""
        self._nodes.adopt(table)
        return table

    @explained
    def move(self, source: str, dest: str) -> None:
        """Give a node another name, and no longer the old one; the indexes beside a table follow.

        source, dest: the old name and the new one. Raises ValueError where the first is missing, or the
            second taken.

        >>> import coquina as cq
        >>> f = cq.hdf5.File.in_memory()
        >>> f["x"] = [1, 2]
        >>> f.move("x", "y")
        >>> list(f)
        ['y']
        """
        self._h5.move(source, dest)
        self._drop_indexes(dest)
        old, new = _indexes_of(source), _indexes_of(dest)
        if old and new and old in self._h5:
            self._h5.move(old, new)

    def _drop_indexes(self, name: str) -> None:
        """Remove the indexes of what had this name."""
        beside = _indexes_of(name)
        if beside and beside in self._h5:
            del self._h5[beside]

    def copy(
        self,
        source: Any,
        dest: Any,
        name: str | None = None,
        *,
        shallow: bool = False,
        expand_soft: bool = False,
        expand_external: bool = False,
        expand_refs: bool = False,
        without_attrs: bool = False,
    ) -> None:
        """Copy an object to a name or a group, in this file or another. Chunks are copied verbatim.

        source: an object or its name. dest: a group or a name. name: of the copy; by default that of the
            source.
        shallow, expand_soft, expand_external, expand_refs, without_attrs: see h5py. Raises RuntimeError, as
            h5py does, if the source does not exist.

        >>> import coquina as cq
        >>> f = cq.hdf5.File.in_memory()
        >>> f["x"] = [1, 2]
        >>> f.copy("x", "y")
        >>> sorted(f)
        ['x', 'y']
        """
        target = inside(dest)
        try:
            self._h5.copy(
                inside(source),
                target,
                name,
                shallow=shallow,
                expand_soft=expand_soft,
                expand_external=expand_external,
                expand_refs=expand_refs,
                without_attrs=without_attrs,
            )
        finally:
            group = target if isinstance(target, h5py.Group) else self._h5
            Session.at(group)[0].all_changed()

    def __repr__(self) -> str:
        """Say name and how many members."""
        if not self:
            return f"<{type(self).__name__}, closed>"
        return f"<{type(self).__name__} {self.name!r} ({len(self)} members)>"

    def _repr_html_(self) -> str:
        """Return what is in it, for notebooks."""
        return group_html(self)

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        """Pickle by path and name: it reopens for reading."""
        return self._nodes.pickled(self)


def create_in(
    group: Any,
    name: str | None,
    made: Content,
    types: tuple[Any, np.dtype[Any]],
    storage: Storage,
    threads: int | None = None,
) -> Any:
    """Return a new dataset in a group of ours; see `Group.create_dataset`.

    types: of its elements, as `datatype` gives them.
    """
    h5, bound = inside(group), storage.lossy
    first = None if name is None else missing(h5, name)
    if name is not None and first is None:
        raise ValueError(f"create_dataset: {name!r} exists already")
    check(storage)
    storage = smallest_storage(made, types[1], storage)
    new, blocks = create(h5, made, types[0], storage)
    # Named before it is filled: HDF5 2.0 loses large ones that get their name later, in the newer format.
    if name is not None:
        link(h5, name, new)
    try:
        dataset = group._nodes.new_dataset(new, types[1], blocks, storage.zones)
        # There may have been another dataset at its place in the file.
        wrote(dataset)
        if storage.tuning is not None and blocks is not None:
            dataset.tune(storage.tuning)
        if bound is not None:
            if made.values is not None:
                bound = rounded_bound(made.values, bound, dataset.chunks)
            dataset.set_error_bound(bound)
        if made.values is not None:
            _fill(dataset, made.values, threads)
        if bound is not None:
            put_cf(new, bound)
    except BaseException:
        if first is not None:
            del h5[first]
        raise
    return dataset


def _fill(dataset: Any, values: Any, threads: int | None) -> None:
    """Write all items of a new dataset: those of a Dask array by Dask's tasks, others in boxes."""
    if hasattr(values, "__dask_graph__") and dask_storing.fill_dataset(dataset, values):
        return
    fill_boxes(dataset, values.__getitem__, threads)


def _indexes_of(name: str) -> str:
    """Return where the indexes of a table are that has this name; empty for what has none."""
    above, slash, own = name.rstrip("/").rpartition("/")
    return f"{above}{slash}{HIDDEN}{own}" if own and not own.startswith(HIDDEN) else ""


_H5PY_OBJECTS = (
    h5py.Group,
    h5py.Dataset,
    h5py.Datatype,
    h5py.SoftLink,
    h5py.HardLink,
    h5py.ExternalLink,
)


def _first_result(results: Iterator[Any]) -> Any:
    """Return the first result that is not None."""
    return next((result for result in results if result is not None), None)
