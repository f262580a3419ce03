"""What tells how a columns table is stored in HDF5: where it stands, and that cuts are noticed."""

import h5py
import numpy as np
import pytest

import coquina as cq
from coquina import CorruptError

DATA = {
    "n": np.arange(300),
    "text": [f"row {i}" for i in range(300)],
    "maybe": np.ma.masked_equal(np.arange(300), 7),
    "when": np.arange(300).astype("M8[us]"),
}
ROWS = "coquina_rows"


@pytest.fixture
def path(tmp_path):
    made = tmp_path / "t.h5"
    cq.create_table(made, DATA, name="/t", index=["n"]).close()
    return made


def _texts(node):
    for name in node.attrs:
        kind = node.attrs.get_id(name).get_type()
        if h5py.check_string_dtype(kind.dtype) is not None:
            yield name, kind.is_variable_str()


def test_text_that_decides_how_items_are_read_is_of_fixed_length(path):
    decisive = {"encoding-type", "encoding-version", "column-order", "form", "dtype", "zone"}
    found = set()
    with h5py.File(path) as file:
        nodes = [file["t"]]
        file["t"].visititems(lambda _, node: nodes.append(node))
        for node in nodes:
            for name, is_variable in _texts(node):
                if name in decisive:
                    found.add(name)
                    assert not is_variable, (node.name, name)
    assert {"encoding-type", "column-order", "form", "dtype"} <= found


def test_a_thousand_long_names_of_columns_are_kept(tmp_path):
    names = [f"{'ä' * 50}{i}" for i in range(1000)]
    path = tmp_path / "wide.h5"
    cq.create_table(path, {name: np.zeros(1) for name in names}, name="/t").close()
    with cq.open_table(path) as table:
        assert list(table.columns) == names


def test_the_number_of_rows_goes_with_each_commit(path):
    def noted():
        with h5py.File(path) as file:
            return file["t"].attrs[ROWS]

    assert noted() == 300
    with cq.open_table(path, mode="r+") as table:
        table.append({name: values[:5] for name, values in DATA.items()})
        table.flush()
        assert noted() == 305
        table.resize(400)
        table.delete(slice(0, 100))
        table.truncate(250)
    assert noted() == 250


def test_a_column_that_was_cut_short_is_an_error_and_recover_has_the_rest(path, tmp_path):
    with h5py.File(path, "r+") as file:
        file["t/n"].resize((280,))
    with pytest.raises(CorruptError, match=r"300 rows, and column 'n' has 280.*recover"):
        cq.open_table(path)
    cq.hdf5.recover(path, tmp_path / "good.h5")
    with cq.open_table(tmp_path / "good.h5") as table:
        assert len(table) == 280


def test_rows_that_other_programs_add_to_or_take_from_all_columns_are_theirs(tmp_path):
    path = tmp_path / "t.h5"
    cq.create_table(path, {"a": np.arange(10), "b": np.arange(10.0)}, name="/t").close()
    for rows in (12, 7):
        with h5py.File(path, "r+") as file:
            for name in "ab":
                file["t"][name].resize((rows,))
        with cq.open_table(path) as table:
            assert len(table) == rows


def test_tables_without_the_number_are_read_and_get_it(path):
    with h5py.File(path, "r+") as file:
        del file["t"].attrs[ROWS]
        file["t/n"].resize((280,))
    with cq.open_table(path) as table:
        assert len(table) == 280
    with cq.open_table(path, mode="r+") as table:
        table.append({name: values[:1] for name, values in DATA.items()})
    with h5py.File(path) as file:
        assert file["t"].attrs[ROWS] == 281
