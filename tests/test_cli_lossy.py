"""The command with bounds: what comes out is within them, and `quality` and `info` say so."""

import json

import numpy as np
import pytest

import coquina as cq
from coquina.cli import lossy_options, main
from tests.lossy_cases import check, smooth

FIELD = smooth("<f4", (30, 40, 50))
OPTIONS = {
    "--max-error": ("0.05", {"max_error": 0.05}),
    "--relative-error": ("1e-3", {"relative_error": 1e-3}),
    "--psnr": ("60", {"psnr": 60.0}),
    "--keep-bits": ("8", {"keep_bits": 8}),
}


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.save("x.npy", FIELD)
    return tmp_path


def done(capfd, *words, code=0):
    assert main(list(words)) == code
    out, err = capfd.readouterr()
    if code:
        assert (out, err.count("\n")) == ("", 1)
        return err
    assert err == ""
    return out


def read(path):
    if path.endswith(".blp"):
        return cq.unpack(path)
    if path.endswith(".h5"):
        with cq.open(path) as file:
            return file["data"][...]
    return np.asarray(cq.open(path))


@pytest.mark.parametrize("option", OPTIONS)
@pytest.mark.parametrize("output", ["y.b2nd", "y.h5", "y.blp"])
def test_converted_arrays_are_within_the_bound(option, output, here, capfd):
    text, bound = OPTIONS[option]
    done(capfd, "convert", "x.npy", output, option, text)
    found = read(output)
    check(bound, FIELD, found)
    assert (found != FIELD).any()


@pytest.mark.parametrize("option", OPTIONS)
def test_packed_arrays_are_within_the_bound(option, here, capfd):
    text, bound = OPTIONS[option]
    exact = json.loads(done(capfd, "compress", "x.npy", "e.blp", "--json"))
    loose = json.loads(done(capfd, "compress", "x.npy", option, text, "--json"))
    assert loose["written"] < exact["written"]
    assert loose["output"] == "x.npy.blp"
    check(bound, FIELD, cq.unpack("x.npy.blp"))


def test_repacked_files_are_within_the_bound(here, capfd):
    with cq.open("a.h5", "w") as file:
        file.create_dataset("f", data=FIELD)
        file.create_dataset("g", data=FIELD)
        file.create_dataset("n", data=np.arange(90_000))
    done(capfd, "repack", "a.h5", "b.h5", "--max-error", "0.1", "--path", "/f")
    with cq.open("b.h5") as file:
        check({"max_error": 0.1}, FIELD, file["f"][...])
        assert file["f"].lossy is not None
        np.testing.assert_array_equal(file["g"][...], FIELD)
        np.testing.assert_array_equal(file["n"][...], np.arange(90_000))


@pytest.mark.parametrize("output", ["y.b2nd", "y.h5"])
def test_info_shows_what_is_promised(output, here, capfd):
    done(capfd, "convert", "x.npy", output, "--max-error", "0.05")
    place = "y.h5:/data" if output == "y.h5" else output
    assert "0.05" in next(
        line for line in done(capfd, "info", place).splitlines() if line.startswith("lossy")
    )
    facts = json.loads(done(capfd, "info", place, "--json"))
    assert "max_error" in str(facts["lossy"])
    done(capfd, "convert", "x.npy", f"exact_{output}")
    place = f"exact_{place}"
    assert "lossy" not in done(capfd, "info", place)


def test_info_shows_the_bounds_of_columns(here, capfd):
    rows = {"x": np.linspace(0, 1, 500), "n": np.arange(500)}
    cq.create_table("t.h5", rows, lossy={"x": {"max_error": 0.01}}).close()
    lines = [line.split() for line in done(capfd, "info", "t.h5").splitlines()]
    (x,) = (line for line in lines if line[:1] == ["x"])
    (n,) = (line for line in lines if line[:1] == ["n"])
    assert x[-3:] == ["max", "error", "0.01"]
    assert "error" not in n
    columns = json.loads(done(capfd, "info", "t.h5", "--json"))["columns"]
    assert columns["x"]["lossy"]["error_bound"]["max_error"] == 0.01
    assert "lossy" not in columns["n"]


def test_files_with_a_variable_of_cf_beside_the_data_are_files_of_one_array(here, capfd):
    done(capfd, "convert", "x.npy", "y.h5", "--keep-bits", "8")
    with cq.open("y.h5") as file:
        assert set(file) == {"data", "quantization_bitround"}
    assert json.loads(done(capfd, "quality", "x.npy", "y.h5", "--json"))["max_error"] > 0


def test_quality_says_how_far_two_files_are_from_each_other(here, capfd):
    done(capfd, "convert", "x.npy", "y.b2nd", "--max-error", "0.05")
    done(capfd, "convert", "x.npy", "y.h5", "--max-error", "0.05")
    for other in ("y.b2nd", "y.h5", "y.h5:/data"):
        facts = json.loads(done(capfd, "quality", "x.npy", other, "--json"))
        assert 0.02 < facts["max_error"] <= 0.05
        assert facts["shape"] == [30, 40, 50]
        assert 0.9 < facts["ssim"] <= 1
        text = done(capfd, "quality", "x.npy", other)
        assert {"max error", "psnr", "ssim"} <= {
            line.rsplit("  ", 1)[0].strip() for line in text.splitlines()
        }
    same = json.loads(done(capfd, "quality", "x.npy", "x.npy", "--json"))
    assert (same["max_error"], same["psnr"]) == (0, None)
    narrow = json.loads(done(capfd, "quality", "x.npy", "y.b2nd", "--data-range", "1000", "--json"))
    assert narrow["psnr"] > facts["psnr"]


def test_quality_refuses_what_cannot_be_compared(here, capfd):
    np.save("short.npy", FIELD[:3])
    np.save("text.npy", np.array(["a"]))
    np.save("text2.npy", np.array(["a"]))
    assert "shapes (30, 40, 50) and (3, 40, 50)" in done(capfd, "quality", "x.npy", "short.npy", code=1)
    assert "takes numbers" in done(capfd, "quality", "text.npy", "text2.npy", code=1)
    assert "there is no such file" in done(capfd, "quality", "x.npy", "nothing.npy", code=1)
    assert "takes a number above 0" in done(capfd, "quality", "x.npy", "x.npy", "--data-range", "0", code=2)


def test_bounds_that_cannot_be_are_wrong_arguments(here, capfd):
    for words in (
        ("--max-error", "0"),
        ("--max-error", "nan"),
        ("--relative-error", "x"),
        ("--keep-bits", "0"),
        ("--ratio", "inf"),
        ("--max-error", "1", "--psnr", "60"),
    ):
        err = done(capfd, "convert", "x.npy", "y.b2nd", *words, code=2)
        assert words[0] in err or words[2] in err
    assert not (here / "y.b2nd").exists()


def test_outputs_that_know_no_bounds_refuse_them(here, capfd):
    (here / "x.csv").write_text("a,b\n1,2.5\n")
    np.save("i.npy", np.arange(9, dtype="u1").reshape(3, 3))
    for words in (("x.npy", "y.npy"), ("x.npy", "y.raw"), ("x.csv", "y.h5"), ("i.npy", "y.png")):
        err = done(capfd, "convert", *words, "--max-error", "1", code=1)
        assert "--max-error" in err
        assert not (here / words[1]).exists()
    (here / "plain.dat").write_bytes(bytes(999))
    assert ".npy" in done(capfd, "compress", "plain.dat", "--max-error", "1", code=1)


def test_a_ratio_is_reached(here, capfd):
    done(capfd, "convert", "x.npy", "y.b2nd", "--ratio", "8")
    assert cq.open("y.b2nd").cratio == pytest.approx(8, rel=0.05)


def test_options_and_keywords_are_the_same():
    assert [f"--{name.replace('_', '-')}" for name in lossy_options.BOUNDS][:4] == list(OPTIONS)
    for _, bound in OPTIONS.values():
        assert cq.Lossy(**bound)
        assert lossy_options.option_of(bound) in OPTIONS
