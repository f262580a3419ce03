"""`tune`: `apply` stores what it advises, and the same data get the same advice."""

import json
from itertools import pairwise

import h5py
import numpy as np
import pytest

import coquina as cq
from coquina.tuning import advising, ways
from coquina.tuning.samples import Place

RNG = np.random.default_rng(5)
WAVES = (RNG.normal(280, 3, (60, 80, 90)).cumsum(0) / 7).round(1).astype("f4")
COUNTS = RNG.integers(0, 300, 40000).cumsum()
GOALS = ("speed", "balanced", "size")


def stored_as(advice, array):
    """Whether an array is stored as it was advised."""
    info = array.info
    made = cq.zeros((1,), array.dtype, codec=advice.codec, level=advice.level, filters=advice.filters).info
    return (info.codec, info.level, info.filters, array.chunks, array.blocks) == (
        *(made.codec, made.level, made.filters), *(advice.chunks, advice.blocks)
    )  # fmt: skip


def way_in_hdf5(dataset):
    """Codec, level and filters of a dataset, as HDF5 was told of them."""
    ((_, _, values),) = dataset.filters
    codecs = {0: "blosclz", 1: "lz4", 2: "lz4hc", 4: "zlib", 5: "zstd"}
    return codecs[values[6]], values[4], ("nofilter", "shuffle", "bitshuffle")[values[5]]


# The choice of a way


def said(**costs):
    """Return what the engine might say of a place: ways of LZ4, by level, with these costs."""
    levels = {int(name[1:]): cost for name, cost in costs.items()}
    tried = [
        {"codec": "lz4", "level": level, "filters": [], "ratio": 1 / cost, "cost": cost,
         "write_mbs": 100.0 * level, "read_mbs": 50.0}
        for level, cost in levels.items()
    ]  # fmt: skip
    features = {
        "entropies": [4.0],
        "delta_entropies": [2.0],
        "repeats": 0.5,
        "zeros": 0.25,
        "is_uniform": False,
    }
    return {
        "tried": tried,
        "chosen": min(tried, key=lambda one: one["cost"]),
        "features": features,
        "why": "",
    }


def chosen(monkeypatch, reports, tradeoff=0.5):
    told = iter(reports)
    monkeypatch.setattr(ways._core, "explain_tuning", lambda *_, **__: next(told))
    places = [Place((), np.zeros((3, 8), "f8"), 24) for _ in reports]
    terms = (tradeoff, "both", None, False)
    return ways.choose(places, np.dtype("f8"), (8,), terms, is_plain=False, threads=None)


def test_the_least_sum_wins_and_what_was_not_tried_counts_as_the_worst(monkeypatch):
    choice = chosen(monkeypatch, [said(l1=0.5, l5=0.4, l9=0.8), said(l1=0.5, l9=0.9), said(l1=0.5, l5=0.4)])
    assert [(one.way.level, one.places) for one in choice.tried] == [(1, 3), (5, 2), (9, 2)]
    assert [one.cost for one in choice.tried] == pytest.approx(
        [0.5, (0.4 + 0.9 + 0.4) / 3, (0.8 + 0.9 + 0.5) / 3]
    )
    assert choice.automatic.cost == pytest.approx((0.4 + 0.5 + 0.4) / 3)
    assert choice.automatic.saves == pytest.approx(1 - choice.automatic.cost / 0.5)
    assert choice.automatic.ways == {"lz4-5 + nofilter": 2, "lz4-1 + nofilter": 1}
    assert choice.best.ratio == pytest.approx(2)
    assert choice.features.entropies == (4.0,)


def test_for_size_a_byte_in_a_thousand_is_worth_no_time(monkeypatch):
    assert chosen(monkeypatch, [said(l1=0.5, l5=0.5002, l9=0.51)], 1.0).best.way.level == 5
    assert chosen(monkeypatch, [said(l1=0.5, l5=0.5002, l9=0.51)], 0.5).best.way.level == 1


# Advice


@pytest.mark.parametrize("goal", [*GOALS, 0.25])
def test_apply_stores_what_was_advised(goal, tmp_path):
    for x in (WAVES, COUNTS):
        advice = cq.tune(x, goal, access="points")
        for array in (advice.apply(), advice.apply(tmp_path / "a.b2nd", overwrite=True)):
            assert stored_as(advice, array)
            np.testing.assert_array_equal(array[...], x)
            array.close()
        made = cq.asarray(x, **advice.options)
        assert stored_as(advice, made)
        assert advice.ratio == pytest.approx(made.info.cratio, rel=0.1)
    with pytest.raises(FileExistsError):
        advice.apply(tmp_path / "a.b2nd")


@pytest.mark.parametrize("threads", [1, 3])
def test_the_same_data_get_the_same_advice(threads):
    first = cq.tune(WAVES, "size", access="planes").to_dict()
    assert cq.tune(WAVES.copy(), "size", access="planes", threads=threads).to_dict() == first
    assert cq.tune(np.asfortranarray(WAVES), "size", access="planes").to_dict() == first
    assert json.loads(json.dumps(first)) == first


def test_smaller_goals_give_smaller_files():
    words = np.array(["spring", "summer", "autumn", "winter"])[RNG.integers(0, 4, 5000)]
    for x in (WAVES, COUNTS, words, RNG.normal(size=5000)):
        ratios = [cq.tune(x, goal).ratio for goal in GOALS]
        assert all(small <= large * 1.002 for small, large in pairwise(ratios))


def test_reading_and_writing_and_the_storage_count():
    read, write = (cq.tune(WAVES, for_=use).best for use in ("read", "write"))

    def nanoseconds(one, speed):
        return 1e3 / getattr(one, speed) + 1e9 / 125e6 / one.ratio

    assert nanoseconds(read, "read_mbs") <= nanoseconds(write, "read_mbs") * 1.01
    assert nanoseconds(write, "write_mbs") <= nanoseconds(read, "write_mbs") * 1.01
    slow, fast = (cq.tune(WAVES, bandwidth=rate) for rate in (1e6, 1e11))
    assert slow.ratio >= fast.ratio
    assert fast.to_dict()["bandwidth"] == 1e11
    assert cq.tune(WAVES, calibrate=True).wanted.calibrate


def test_codecs_are_those_of_the_cheapest_way():
    advice = cq.tune(WAVES)
    assert [one.cost for one in advice.tried] == sorted(one.cost for one in advice.tried)
    best = advice.tried[0]
    assert (advice.codec, advice.level, advice.filters) == (best.way.codec, best.way.level, best.way.filters)
    assert (advice.cost, advice.ratio) == (best.cost, best.ratio)
    text = advice.explain()
    for part in (
        str(best.way),
        "60, 80, 90",
        "codec='auto' would",
        f"asarray(x, codec={advice.codec!r}",
        "zero",
    ):
        assert part in text
    assert str(advice) == text
    assert "decoded for needed" in cq.tune(WAVES, access="points").explain()


@pytest.mark.parametrize(
    "x",
    [
        np.float64(3.5), [1, 2, 3], ["ab", "cde"], np.zeros((3, 1, 2), "c8"), np.ones((1, 1, 4), "?"),
        np.zeros(7, [("a", "i4"), ("b", "S3")]), np.arange(9).astype("M8[s]"), np.zeros((400, 300)),
        np.arange(300, dtype=">i2"), RNG.bytes(5000), np.zeros(3, "V300"),
    ],
)  # fmt: skip
def test_arrays_of_all_kinds_get_advice_that_can_be_followed(x):
    advice = cq.tune(np.frombuffer(x, "u1") if isinstance(x, bytes) else x)
    made = advice.apply()
    assert stored_as(advice, made)
    assert made.shape == advice.shape
    assert advice.explain().endswith(")")
    json.dumps(advice.to_dict())


def test_what_is_no_array_of_items_is_refused(tmp_path):
    for x, error, text in [
        (np.zeros((0, 3)), ValueError, "array is empty"), (np.array([None]), TypeError, "objects"),
        (tmp_path / "none.b2nd", FileNotFoundError, "none.b2nd"), (np.zeros(3, "V0"), TypeError, "stored"),
    ]:  # fmt: skip
        with pytest.raises(error, match=text):
            cq.tune(x)
    cq.Frame.create(tmp_path / "x.b2frame").close()
    with pytest.raises(ValueError, match="not an array"):
        cq.tune(tmp_path / "x.b2frame")
    for words, error in [
        ({"goal": "fast"}, ValueError), ({"goal": 1.5}, ValueError), ({"for_": "all"}, ValueError),
        ({"bandwidth": 0}, ValueError), ({"calibrate": 1}, TypeError), ({"lossy": {"max": 1}}, ValueError),
    ]:  # fmt: skip
        with pytest.raises(error):
            cq.tune(WAVES, **words)


def test_a_bound_makes_the_sample_smaller_and_is_kept():
    exact, loose = cq.tune(WAVES, "size"), cq.tune(WAVES, "size", lossy={"max_error": 0.5})
    assert loose.ratio > exact.ratio * 1.2
    made = loose.apply()
    assert made.lossy.error_bound == loose.options["lossy"]
    assert np.abs(made[...] - WAVES).max() <= 0.5


# Files and tables


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.save("x.npy", WAVES)
    cq.asarray(WAVES, path="x.b2nd").close()
    cq.pack(WAVES, "x.blp")
    cq.pack(b"spam" * 10000, "bytes.blp")
    with h5py.File("x.h5", "w") as file:
        file.create_dataset("g/x", data=WAVES, chunks=(1, 80, 90), compression="gzip")
        file["counts"] = COUNTS
        file["word"], file["few"], file["g/soft"] = "hello", np.arange(5), h5py.SoftLink("/counts")
        file.create_dataset("pairs", (20000,), np.dtype(("f4", (2,))), chunks=(1000,))
        file["pairs"][...] = RNG.normal(size=(20000, 2)).round(1)
        file["g/x"].attrs["units"] = "K"
    return tmp_path


def test_files_get_the_advice_of_their_arrays(folder):
    found = [cq.tune(name) for name in ("x.npy", "x.blp", folder / "x.b2nd")]
    for one in found:
        assert (one.options, one.ratio) == (cq.tune(WAVES).options, cq.tune(WAVES).ratio)
    assert found[0].name == "x.npy"
    assert stored_as(found[1], found[1].apply("y.b2nd"))
    assert cq.tune("bytes.blp").apply()[...].tobytes() == b"spam" * 10000
    dataset = cq.tune("x.h5:/g/x")
    assert (dataset.chunks, dataset.shape) == ((1, 80, 90), WAVES.shape)
    np.testing.assert_array_equal(dataset.apply()[...], WAVES)
    done = cq.tune("x.h5:/g/x", "size", access="series:0").apply("one.h5")
    assert [one.how for one in done.datasets] == ["encoded"]
    with cq.open("one.h5") as file:
        assert file["x"].chunks[0] == 60
        np.testing.assert_array_equal(file["x"][...], WAVES)


def test_of_an_hdf5_file_every_dataset_gets_advice_and_a_copy(folder):
    advice = cq.tune("x.h5", "size", access="series:0")
    assert set(advice.parts) == {"/g/x", "/counts", "/pairs"}
    assert set(advice.skipped) == {"/word", "/few"}
    assert "too small" in advice.skipped["/few"]
    done = advice.apply("y.h5")
    assert {one.name for one in done.datasets if one.how == "encoded"} == set(advice.parts)
    with cq.open("y.h5") as file:
        for path, one in advice.parts.items():
            dataset = file[path]
            assert (dataset.chunks, dataset.blocks) == (one.chunks, one.blocks)
            if path in advice.automatic:
                assert dataset.tuning.goal == "size"
            else:
                assert way_in_hdf5(dataset) == (one.codec, one.level, one.filters)
        np.testing.assert_array_equal(file["g/x"][...], WAVES)
        np.testing.assert_array_equal(file["counts"][...], COUNTS)
        assert file["g/x"].attrs["units"] == "K"
    assert advice["/g/x"].blocks[0] == 60
    assert advice.ratio > 1
    text = advice.explain()
    for part in ("/g/x", "unchanged:", "size: only bytes count"):
        assert part in text
    json.dumps(advice.to_dict())
    with pytest.raises(FileExistsError):
        advice.apply("y.h5")
    with pytest.raises(ValueError, match="needs the path"):
        advice.apply()


def test_groups_and_open_files_get_advice_too(folder):
    assert set(cq.tune("x.h5:/g").parts) == {"/x"}
    with cq.hdf5.File("x.h5") as file:
        assert set(cq.tune(file["g"]).parts) == {"/x"}
        assert set(cq.tune(file, threads=1).parts) == {"/g/x", "/counts", "/pairs"}
        assert cq.tune(file["g/x"]).shape == WAVES.shape
    for words, text in [({"access": "plane"}, "takes any"), ({"access": "planes:9"}, "not an axis"),
                        ({"chunks": (1, 2)}, "of one array|one array")]:  # fmt: skip
        with pytest.raises(ValueError, match=text):
            cq.tune("x.h5", **words)


def test_ways_for_hdf5_are_those_that_its_filter_can_be_told_of(folder):
    advice = cq.tune("x.h5", "size")
    assert {way.way.is_plain for one in advice.parts.values() for way in one.tried} == {True}


ROWS = 20000
COLUMNS = {
    "time": np.arange(ROWS), "sym": [["ABC", "XYZ"][at % 2] for at in range(ROWS)],
    "price": RNG.normal(50, 10, ROWS).round(2),
    "volume": np.ma.MaskedArray(np.arange(ROWS) % 7, np.arange(ROWS) % 3 == 0),
}  # fmt: skip


@pytest.mark.parametrize("place", ["t", "t.h5"])
def test_of_a_table_every_array_gets_advice_and_a_copy(place, tmp_path):
    cq.create_table(tmp_path / place, COLUMNS).close()
    with cq.open_table(tmp_path / place) as table:
        advice = cq.tune(table, "size")
        assert {"time", "price", "volume/values", "volume/mask"} < set(advice.parts)
        assert len(advice.parts) == 6
        for target in ("copy", "copy.h5"):
            with advice.apply(tmp_path / target) as copy:
                home = copy.layout.home
                for path, one in advice.parts.items():
                    array = home.array(path)
                    if target == "copy":
                        info = array.info
                        assert (info.codec, info.level) == (one.codec, one.level)
                        continue
                    way = next(each.way for each in one.tried if each.way.is_plain)
                    assert way_in_hdf5(array) == (way.codec, way.level, way.filters)
                np.testing.assert_array_equal(copy["price"][:], COLUMNS["price"])
                assert list(copy["sym"][:5]) == COLUMNS["sym"][:5]
    if place == "t":
        assert set(cq.tune(tmp_path / place).parts) == set(advice.parts)


def test_the_columns_of_a_table_in_a_file_stay_cut_as_they_are(tmp_path):
    cq.create_table(tmp_path / "t.h5", COLUMNS, chunk_rows=8192).close()
    with h5py.File(tmp_path / "t.h5", "r+") as file:
        file["x"] = WAVES
    advice = cq.tune(tmp_path / "t.h5", access="points")
    assert advice["/x"].cuts[0].name != "current"
    with cq.open_table(tmp_path / "t.h5") as table:
        array = table.layout.home.array("price")
        assert (advice["/table/price"].chunks, advice["/table/price"].blocks) == (array.chunks, array.blocks)


def test_records_get_advice_as_one_array(tmp_path):
    cq.create_table(tmp_path / "r.h5", {"a": np.arange(9000), "b": np.zeros(9000)}, layout="rows").close()
    with cq.open_table(tmp_path / "r.h5") as table:
        advice = cq.tune(table)
        assert list(advice.parts) == ["records"]
        with advice.apply(tmp_path / "copy.h5") as copy:
            one = advice["records"]
            assert way_in_hdf5(copy.dataset) == (one.codec, one.level, one.filters)
            assert copy.nrows == 9000
        with pytest.raises(ValueError, match="whole table"):
            advice["records"].apply()
        for words in ({"lossy": {"max_error": 1}}, {"access": "points"}, {"chunks": 5}):
            with pytest.raises(ValueError, match=next(iter(words))):
                cq.tune(table, **words)


def test_a_table_without_rows_has_nothing_to_choose_by(tmp_path):
    with cq.create_table(tmp_path / "t.h5", {"a": np.int64}) as table:
        advice = cq.tune(table)
        assert (advice.parts, list(advice.skipped), advice.ratio) == ({}, ["a"], 1.0)


def test_names_are_those_of_the_package():
    assert cq.tune is advising.tune
    assert isinstance(cq.tune(COUNTS), cq.Recommendation)
