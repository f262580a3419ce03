"""Integers of 64 bits keep their values in files of text, as far as a dtype has them."""

import io

import numpy as np
import pytest

import coquina as cq
from coquina.cli import main

WIDE = [0, 2**53 + 1, 2**63 - 1, 2**63, 2**63 + 1, 2**64 - 1]


def written(path, values, other="s"):
    rows = [(value, other) for value in values]
    if path.suffix == ".csv":
        lines = ["n,other", *(f"{'' if n is None else n},{text}" for n, text in rows)]
    else:
        lines = [f'{{"n": {"null" if n is None else n}, "other": "{text}"}}' for n, text in rows]
    path.write_text("\n".join(lines) + "\n")
    return path


def read(tmp_path, source):
    assert main(["convert", str(source), str(tmp_path / "t.h5")]) == 0
    return cq.open_table(tmp_path / "t.h5")


@pytest.mark.parametrize("suffix", [".csv", ".jsonl"])
@pytest.mark.parametrize("values", [WIDE, WIDE[3:], [*WIDE, None], WIDE[:3], [-1, *WIDE[:3]]], ids=len)
def test_integers_of_64_bits_are_kept(tmp_path, suffix, values):
    with read(tmp_path, written(tmp_path / f"x{suffix}", values)) as table:
        assert table.columns == ("n", "other")
        found = table["n"][...]
        assert found.tolist() == values
        assert found.dtype == ("u8" if max(value or 0 for value in values) >= 2**63 else "i8")


@pytest.mark.parametrize("suffix", [".csv", ".jsonl"])
@pytest.mark.parametrize("values", [[-1, 2**63], [1.5, 2**63], [1, 2**64], ["1e19", 2**63], [0.0, 2.0**70]])
def test_numbers_that_no_integer_dtype_has_are_floating_point(tmp_path, suffix, values):
    with read(tmp_path, written(tmp_path / f"x{suffix}", values)) as table:
        assert table["n"].dtype == np.float64
        assert table["n"][...].tolist() == [float(value) for value in values]


def test_file_objects_are_read_so_too(tmp_path):
    from coquina.tables.files import json_rows

    content = written(tmp_path / "x.jsonl", WIDE).read_bytes()
    assert json_rows(io.BytesIO(content)).column("n").to_pylist() == WIDE
