"""Names of other libraries that arrays, files and the package do not have are answered with ours."""

import re

import numpy as np
import pytest

import coquina as cq
from coquina import foreign_attributes


@pytest.fixture(scope="module")
def owners():
    with cq.hdf5.File.in_memory() as file:
        file["x"] = [1, 2]
        yield {"a": cq.asarray(np.arange(6)), "f": file, "cq": cq}


def check(owners, owner, name):
    with pytest.raises(AttributeError, match=f"has no attribute '{name}'; use ") as caught:
        getattr(owner, name)
    text = str(caught.value).replace("coquina.", "cq.")
    for of, path in re.findall(r"\b(a|f|cq)\.([\w.]+)", text):
        found = owners[of]
        for part in path.rstrip(".").split("."):
            found = getattr(found, part)


@pytest.mark.parametrize("name", foreign_attributes.ARRAYS)
def test_arrays_and_datasets_answer_with_names_that_there_are(owners, name):
    check(owners, owners["a"], name)
    check(owners, owners["f"]["x"], name)


@pytest.mark.parametrize("name", foreign_attributes.GROUPS)
def test_files_answer_with_names_that_there_are(owners, name):
    check(owners, owners["f"], name)


@pytest.mark.parametrize("name", foreign_attributes.PACKAGE)
def test_the_package_answers_with_names_that_there_are(owners, name):
    check(owners, cq, name)


def test_other_names_get_no_advice(owners):
    for owner in owners.values():
        with pytest.raises(AttributeError, match=r"has no attribute 'nothing'$"):
            _ = owner.nothing
        assert not hasattr(owner, "__array_struct__")
