"""Every file that PyTables ships for its tests: what it reads of them, we read too, and nothing crashes."""

import warnings
from pathlib import Path

import h5py
import numpy as np
import pytest
import tables

import coquina as cq
from coquina import CoquinaError, UnsupportedError
from coquina.hdf5 import Dataset, Group
from coquina.tables.pytables_attrs import Pickled, pytables_attrs
from coquina.tables.table import Table
from coquina.tables.time_columns import shown_seconds
from coquina.tables.vlarrays import VLArray

ROOT = Path(tables.__file__).parent
FILES = sorted([*ROOT.glob("tests/*.h5"), *ROOT.glob("nodes/tests/*.h5")])
EACH_FILE = pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)

#: Files whose tables we open, and cannot read, as wheels of PyTables cannot: liblzo2 is under the GPL.
LZO = {
    "Table2_1_lzo_nrv2e_shuffle.h5",
    "Tables_lzo1.h5",
    "Tables_lzo1_shuffle.h5",
    "Tables_lzo2.h5",
    "Tables_lzo2_shuffle.h5",
}
#: What PyTables cannot read itself: its wheels have no szip. The numbers are 0, 1, 2 and so on.
SZIP = {"test_szip.h5:/dset_szip"}
#: What PyTables 3.11 reads into a buffer that is too small: later the process may die. h5py reads it instead.
OVERFLOWS = {"nested-type-with-gaps.h5:/nestedtype"}
#: Attributes that PyTables reads wrongly: it swaps no bytes of this one, whose value is 10.
WRONG = {"times-nested-be.h5:/tbl.NROWS": 10}
#: What neither PyTables nor we have an array for: strings and records with references or sequences in them.
UNIMPLEMENTED = {"scalar.h5:/variable length string", "smpl_unsupptype.h5:/CompoundChunked"}


@pytest.fixture(autouse=True)
def quiet():
    """PyTables warns of most of these files."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def test_the_files_are_those_that_we_know():
    assert len(FILES) >= 45
    assert {path.name for path in FILES} >= LZO


@EACH_FILE
def test_all_nodes_have_the_values_that_pytables_reads(path):
    with tables.open_file(path) as theirs, cq.open(path) as ours:
        for node in theirs.walk_nodes("/"):
            check_node(node, ours, f"{path.name}:{node._v_pathname}", path.name in LZO)


def check_node(node, file, place, is_lzo):
    if isinstance(node, tables.link.Link):
        link = file.get(node._v_pathname, getlink=True)
        to = link.path if isinstance(node, tables.link.SoftLink) else f"{link.filename}:{link.path}"
        assert to == node.target
        return
    found = file[node._v_pathname]
    if isinstance(node, tables.Group):
        assert isinstance(found, Group)
        assert set(found) >= set(node._v_children)
    elif isinstance(node, tables.UnImplemented):
        assert place in UNIMPLEMENTED
        assert isinstance(found, h5py.Dataset)
    elif is_lzo:
        assert isinstance(found, Table)
        with pytest.raises(UnsupportedError, match=r"filter 305 .*neither coquina nor libhdf5"):
            found.read()
    elif place in SZIP:
        check_values(found[...], np.arange(800, dtype="i4").reshape(40, 20), place)
    elif place in OVERFLOWS:
        check_values(values_of(found), found.h5[...], place)
    else:
        check_values(values_of(found), node.read(), place)


def values_of(found):
    """Return all values of one of our nodes."""
    if isinstance(found, Table):
        return found.read()
    if isinstance(found, VLArray):
        assert list(found) == found[:] if found.kind != "numbers" else len(list(found)) == len(found)
        return found[:]
    assert isinstance(found, Dataset)
    return found[...]


def check_values(ours, theirs, place):
    if isinstance(ours, list):
        assert len(ours) == len(theirs), place
        for one, other in zip(ours, theirs, strict=True):
            check_values(one, other, place)
        return
    if isinstance(theirs, bytes | str):
        assert ours == theirs, place
        return
    has_dtype = isinstance(theirs, np.ndarray | np.generic)
    theirs = np.asarray(theirs)
    assert ours.shape == theirs.shape, place
    if theirs.dtype.names is not None:
        assert set(ours.dtype.names) == set(theirs.dtype.names), place
        for name in theirs.dtype.names:
            check_values(ours[name], theirs[name], f"{place}/{name}")
        return
    # The array shows what is stored, where PyTables means something else by it.
    if ours.dtype.str[1:] == "i8" and theirs.dtype == "f8":
        ours = shown_seconds(ours)
    if ours.dtype == "u1" and theirs.dtype == "?":
        ours = ours.astype(bool)
    assert not has_dtype or ours.dtype.newbyteorder("=") == theirs.dtype.newbyteorder("="), place
    np.testing.assert_array_equal(ours, theirs, err_msg=place)


@EACH_FILE
def test_all_attributes_have_the_values_that_pytables_reads(path):
    with tables.open_file(path) as theirs, h5py.File(path) as ours:
        for node in theirs.walk_nodes("/"):
            if isinstance(node, tables.link.Link):
                continue
            attrs = pytables_attrs(ours[node._v_pathname])
            assert set(attrs) >= set(node._v_attrs._f_list("all"))
            for name in node._v_attrs._f_list("all"):
                check_attribute(attrs[name], node._v_attrs[name], f"{path.name}:{node._v_pathname}.{name}")


def check_attribute(ours, theirs, place):
    if place in WRONG:
        assert ours == WRONG[place] != theirs
    elif isinstance(ours, Pickled):
        # PyTables loads it, or gives its bytes where it cannot find the class any more.
        assert ours == theirs or not isinstance(theirs, bytes), place
    elif isinstance(ours, np.void):
        assert theirs is None, place
    elif isinstance(ours, str) and isinstance(theirs, bytes):
        # One of variable length, which h5py gives as str whatever its character set.
        assert ours == theirs.decode()
    elif isinstance(theirs, np.ndarray):
        is_text = isinstance(ours.flat[0], str)
        theirs = np.vectorize(bytes.decode, otypes="O")(theirs) if is_text else theirs
        np.testing.assert_array_equal(ours, theirs, err_msg=place)
    else:
        # PyTables leaves NULs at the end of texts, which its own writer does not know.
        assert ours == (theirs.rstrip("\0") if isinstance(theirs, str) else theirs), place


@EACH_FILE
def test_whatever_the_files_hold_is_a_value_or_an_error_of_ours(path):
    seen = 0

    def read(name, node):
        nonlocal seen
        seen += 1
        try:
            if isinstance(node, Dataset | Table | VLArray):
                node[:] if node.shape else node[()]
        except (CoquinaError, OSError):
            assert path.name in LZO

    with cq.open(path) as file:
        file.visititems(read)
    assert seen or path.name in ("issue_368.h5", "issue_560.h5", "vlstr_attr.h5", "elink.h5")
