"""What users of PyTables and of pandas' HDFStore meet on a first day: attributes, names, keywords, errors."""

from __future__ import annotations

import re

import h5py
import numpy as np
import pandas as pd
import pytest
import tables

import coquina as cq


class Place(tables.IsDescription):
    """A description of PyTables with a column within a column, an enumeration and a time."""

    time = tables.Time64Col(pos=0)
    value = tables.Float64Col(pos=1)

    class info(tables.IsDescription):
        """A nested column."""

        lon = tables.Float32Col(pos=0)
        flag = tables.EnumCol({"good": 0, "bad": 1}, "good", "uint8", pos=1)


@pytest.fixture
def lab(tmp_path):
    path = tmp_path / "lab.h5"
    with tables.open_file(path, "w") as h5:
        for name in ("/run0", "/run1"):
            t = h5.create_table(name, "det00", Place, createparents=True)
            rows = np.zeros(20, t.dtype)
            rows["time"], rows["value"], rows["info"]["flag"] = 1.7e9, np.arange(20), np.arange(20) % 2
            t.append(rows)
        attrs = h5.root.run0.det00.attrs
        attrs.unit, attrs.empty, attrs.raw, attrs.ok = "mV é", "", b"raw", True
        attrs.mask, attrs.number, attrs.byte = np.array([True, False]), 5, np.uint8(1)
    return path


def test_text_and_truth_of_pytables_attributes_are_what_was_stored(lab):
    """Text was bytes, so that `== "mV"` was false and Parquet files lost it; truth values were uint8."""
    with cq.open_table(lab, "/run0/det00") as t:
        assert t.attrs["unit"] == "mV é"
        assert t.attrs["empty"] == ""
        assert t.attrs["raw"] == b"raw"
        assert t.attrs["ok"] is np.True_
        assert t.attrs["mask"].tolist() == [True, False]
        assert t.attrs["mask"].dtype == bool
        assert (t.attrs["byte"].dtype, t.attrs["number"]) == (np.uint8, 5)
        assert t.attrs["CLASS"] == "TABLE"
        assert t.select(["value"]).to_pandas().attrs["unit"] == "mV é"
        again = t.copy(lab.with_name("copy.h5"), layout="rows")
        assert again.attrs["unit"] == "mV é"
        assert again.attrs["ok"] is np.True_
        again.close()


VALUES = [True, np.False_, np.array([[True, False]]), "text", "", ["a", "é"], 2.5]


@pytest.mark.parametrize("value", VALUES)
def test_attributes_that_are_set_are_read_by_pytables(lab, value):
    """PyTables read None for truth values, with a warning: h5py's enumeration is unknown to it."""
    with cq.open_table(lab, "/run0/det00", "a") as t:
        t.attrs["new"] = value
        t.attrs["unit"] = value  # in place of another one
        assert np.array_equal(t.attrs["new"], value)
    with tables.open_file(lab) as h5:
        for name in ("new", "unit"):
            found = h5.root.run0.det00.attrs[name]
            assert np.array_equal(found, value)
            assert np.asarray(found).dtype.kind == np.asarray(value).dtype.kind or isinstance(value, list)
    with h5py.File(lab) as h5:
        assert "new" in h5["run0/det00"].attrs


def test_attributes_that_hdf5_cannot_have_say_what_to_store(lab):
    with cq.open_table(lab, "/run0/det00", "a") as t, cq.open(lab, "a") as f:
        for attrs in (t.attrs, f["run1"].attrs, f.attrs):
            with pytest.raises(TypeError, match=r"json\.dumps"):
                attrs["new"] = {"a": 1}
            with pytest.raises(TypeError, match=r"json\.dumps"):
                attrs["new"] = None
            with pytest.raises(TypeError, match=r"M8\[D\].*str\(x\)"):
                attrs["new"] = np.datetime64("2024-01-01")
        with pytest.raises(AttributeError, match=r"attrs\['unit'\] = "):
            t.attrs.unit = "V"
        with pytest.raises(AttributeError, match=r"write attrs\['unit'\]"):
            t.attrs.unit  # noqa: B018


def meets(call, *texts):
    """Call, and look for texts in the error."""
    with pytest.raises((TypeError, ValueError, KeyError, AttributeError)) as caught:
        call()
    for text in texts:
        assert text in str(caught.value), str(caught.value)


def test_names_that_are_nearly_those_of_columns_are_told(lab):
    with cq.open_table(lab, "/run0/det00", "a") as t:
        for call in (
            lambda: t["info.lon"],
            lambda: t.select(["info.lon"]),
            lambda: t.order_by("info.lon"),
            lambda: t.group_by("info.lon"),
            lambda: t.modify("value == 1", {"info.lon": 5}),
        ):
            meets(call, "did you mean 'info/lon'?")
        meets(lambda: t["valeu"], "did you mean 'value'?")
        meets(lambda: t.create_index("vale"), "did you mean 'value'?")
        hint = "did you mean 'value'? Or pass a value: params={'vale': ...}"
        meets(lambda: t.where("vale > 3"), "'vale' is not a column (time, ", hint)
        meets(lambda: t.where("info.lo > 3"), "did you mean 'info.lon'?")
        meets(lambda: t.where("xyz > 3"), "put text in quotes: 'xyz'")
        meets(lambda: t.nrow, "did you mean 'nrows'?")
        meets(lambda: t.vale, "did you mean 'value'?")
        t.create_index("info.lon")
        assert list(t.indexes) == ["info/lon"]
        assert t.will_use_index("info.lon > 5") <= {"info/lon"}


def test_keywords_of_others_are_told_by_every_function_of_tables(lab):
    with cq.open_table(lab, "/run0/det00", "a") as t:
        meets(lambda: t.read(start=0, field="value"), "columns=")
        meets(lambda: t.where("value > 1", sort="value"), "order_by")
        meets(lambda: t.modify("value == 7", name="six"), "{'name': ...}")
        meets(lambda: t.delete("value == 7", start=3), "takes rows")
        meets(lambda: t.copy("x.h5", start=0, stop=5), "t[start:stop]")
        meets(lambda: t.copy("x.h5", sortby="value"), "sort_by=")
        meets(lambda: t.to_pandas(index="value"), "set_index")
        meets(lambda: t.create_index("value", kind="csi"), "'pytables'")
        meets(lambda: t.where("value > 1").copy("x.h5"), "condition=...")
        meets(lambda: t.description, "t.schema")
        meets(lambda: t._v_attrs, "t.attrs")


def test_what_is_no_list_of_values_is_told_by_its_column(lab):
    """columns of unequal lengths: {'id': None, 'value': None}"""
    single, described = {"time": 5.0, "value": 2.0}, {"a": tables.Float64Col()}
    with cq.open(lab, "a") as f:
        meets(
            lambda: f["run0/det00"].append(single), "column 'time': 5.0 is a single value", "{'time': [...]}"
        )
        meets(lambda: f.create_table("x", described), "column 'a': a Float64Col", "dtype_from_descr")


def test_names_in_files_are_told_with_what_is_near(lab):
    with cq.open(lab, "a") as f:
        f["gone"], f["far"] = h5py.SoftLink("/nowhere"), h5py.ExternalLink("other.h5", "/x")
        meets(lambda: f["run9/det00"], "did you mean 'run")
        meets(lambda: f["rum0/det0"], "did you mean 'run0/det00'?")
        meets(lambda: f["far"], "'far' is a link to other.h5:/x")
        meets(lambda: f["gone"], "'gone' is a link to /nowhere")
        meets(lambda: f.__delitem__("run0/det"), "there is no 'run0/det' in /", "did you mean 'run0/det00'?")
        del f["gone"], f["far"]
        meets(lambda: f.create_group("/", "new"), "takes one path: /new")
        meets(lambda: f.create_table("/run0", "new", {"x": "f8"}), "takes one path: /run0/new")
        assert sorted(f) == ["run0", "run1"]


def test_groups_that_pandas_wrote_open_as_the_table_in_them(tmp_path):
    """/df: encoding None is not a table of columns; and categories counted as tables of the file."""
    path = tmp_path / "pd.h5"
    frame = pd.DataFrame({"a": np.arange(9.0), "c": pd.Categorical(list("abc") * 3)})
    with pd.HDFStore(path, "w") as store:
        store.put("df", frame, format="table", data_columns=True)
    for name in (None, "df", "/df/table"):
        with cq.open_table(path, name) as t:
            assert t.name == "/df/table"
            assert t.where("a > 6").row_numbers().tolist() == [7, 8]
    with pd.HDFStore(path, "a") as store:
        store.put("fixed", frame[["a"]])
    with pytest.raises(cq.UnsupportedError, match=re.escape("/fixed: pandas' format 'fixed' is not a table")):
        cq.open_table(path, "fixed")


def test_tables_of_one_name_in_many_groups_are_all_told(lab):
    with pytest.raises(KeyError, match=r"did you mean /run0/det00 or /run1/det00\?"):
        cq.open_table(lab, "det00")


def test_long_facts_are_short_where_they_are_shown(lab):
    """Pages of text: a row for each of hundred datasets, and every field of every column."""
    made = cq.hdf5.repack(lab, lab.with_name("small.h5"))
    assert repr(made).startswith(f"<Repacked {made.out!r}: ")
    assert len(repr(made)) < 300
    assert made.datasets
    with cq.open_table(lab, "/run0/det00") as t:
        assert repr(t.schema[1]) == "ColumnSpec(name='value', dtype=dtype('float64'))"
        flag = t.schema[2].children[1]
        assert eval(repr(flag), {"ColumnSpec": type(flag), "dtype": np.dtype}) == flag


def test_times_have_no_sum_and_say_so(tmp_path):
    """ufunc 'add' cannot use operands with types dtype('<M8[s]') and dtype('<M8[s]')"""
    with cq.create_table(tmp_path / "t.h5", {"when": np.array(["2024-01-01"], "M8[s]")}) as t:
        for kind in ("sum", "std", "var"):
            with pytest.raises(TypeError, match=f"{kind}: 'when' has times"):
                getattr(t, kind)("when")
        assert t.max("when") == np.datetime64("2024-01-01")
