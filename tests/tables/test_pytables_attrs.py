"""Attributes of PyTables' nodes: values that are plain are read, and no bytes make a pickle run."""

import datetime
import pickle
import warnings

import h5py
import numpy as np
import pytest
import tables
from hypothesis import given
from hypothesis import strategies as st

from coquina.hdf5 import File
from coquina.tables.pytables_attrs import Pickled, pytables_attrs, unpickled

ATOMS = (
    st.none()
    | st.booleans()
    | st.integers(-(10**30), 10**30)
    | st.floats(allow_nan=False)
    | st.text(st.characters(codec="utf-8"))
)
KEYS = st.integers() | st.text(st.characters(codec="utf-8"))
PLAIN = st.recursive(
    ATOMS, lambda x: st.lists(x) | st.dictionaries(KEYS, x) | st.lists(x).map(tuple), max_leaves=12
)


@given(PLAIN)
def test_plain_values_are_what_was_pickled(value):
    found = unpickled(pickle.dumps(value, 0))
    assert found == value
    assert repr(found) == repr(value)


@given(st.binary(max_size=60).map(lambda raw: raw + b"."))
def test_no_bytes_are_more_than_a_value(raw):
    found = unpickled(raw)
    assert isinstance(found, bytes | str | int | float | list | tuple | dict | None)


@given(PLAIN, st.data())
def test_pickles_with_a_byte_changed_are_a_value(value, data):
    raw = bytearray(pickle.dumps(value, 0))
    at = data.draw(st.integers(0, len(raw) - 1))
    raw[at] = data.draw(st.integers(0, 255))
    assert isinstance(unpickled(bytes(raw)), bytes | str | int | float | list | tuple | dict | None)


@pytest.mark.parametrize(
    "value", [datetime.date(2026, 1, 2), np.dtype("f8"), np.array(["a"]), {1, 2}, len, {(1, 2): 3}, b"raw"]
)
def test_what_needs_code_stays_bytes(value):
    raw = pickle.dumps(value, 0)
    found = unpickled(raw)
    assert type(found) is Pickled
    assert found == raw


def test_nesting_without_end_is_no_trouble():
    depth = 100_000
    found = unpickled(b"(l" * depth + b"a" * (depth - 1) + b".")
    levels = 1
    while found:
        (found,) = found
        levels += 1
    assert levels == depth
    # A key that is a tuple of tuples: its hash would be computed level by level.
    deep = b"(" * depth + b"t" * depth
    assert type(unpickled(b"(" + deep + b"I1\nd.")) is Pickled


def test_values_are_those_that_pytables_wrote(tmp_path):
    values = {
        "a_true": True,
        "b_false": np.bool_(False),
        "c_int": 7,
        "d_float": 2.5,
        "e_complex": 1 + 2j,
        "f_text": "κοχύλι.",
        "g_empty": "",
        "h_bytes": b"bytes.",
        "i_list": [1, "two", None, (3.5, {"four": 5})],
        "j_array": np.arange(6, dtype=">i2").reshape(2, 3),
        "k_bools": np.array([True, False]),
        "l_strings": np.array([b"ab", b"c"]),
        "m_record": np.array((1, 2.5), [("a", "i4"), ("b", "f8")]),
        "n_none": None,
    }
    with warnings.catch_warnings(), tables.open_file(tmp_path / "x.h5", "w", title="A file") as file:
        warnings.simplefilter("ignore")
        for name, value in values.items():
            file.root._v_attrs[name] = value
    with File(tmp_path / "x.h5") as file:
        found = pytables_attrs(file)
        assert pytables_attrs(file.h5)["a_true"] is True
    assert found["TITLE"] == "A file"
    assert found["CLASS"] == "GROUP"
    for name, value in values.items():
        if isinstance(value, np.ndarray):
            np.testing.assert_array_equal(found[name], value, err_msg=name)
        else:
            assert found[name] == value, name
            # Numbers are NumPy's.
            assert type(found[name]) is type(value) or isinstance(found[name], np.generic | bool), name


def test_attributes_of_others_are_values_too(tmp_path):
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file.attrs["vlen"] = "text"
        file.attrs["none"] = h5py.Empty("f4")
        file.attrs["reference"] = file.ref
        tid = h5py.h5t.UNIX_D64LE
        made = h5py.h5a.create(file.id, b"time", tid, h5py.h5s.create(h5py.h5s.SCALAR))
        made.write(np.frombuffer(b"12345678", "V8").reshape(()), tid)
        found = pytables_attrs(file)
    assert found["vlen"] == "text"
    assert found["none"] is None
    assert found["time"].tobytes() == b"12345678"
    assert set(found) == {"vlen", "none", "reference", "time"}
