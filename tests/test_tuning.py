"""`codec="auto"` on every writer: options and their errors, what is kept of them, and what is said of it."""

import pickle
from concurrent.futures import ThreadPoolExecutor

import blosc2
import numpy as np
import pytest

import coquina as cq
from coquina.tuning_options import DEFAULT_LEVEL, encodings_text, terms_of, words_of
from tests.tuning_cases import TERMS, data, of_blosc2, same

dask_array = pytest.importorskip("dask.array")

X = data("integers", 600).reshape(20, 30)

#: Each takes the path and the options, and returns an array.
WRITERS = {
    "asarray": lambda **o: cq.asarray(X, **o),
    "asarray_of_list": lambda **o: cq.asarray([[1, 2], [3, 4]], **o),
    "asarray_of_array": lambda **o: cq.asarray(cq.asarray(X), **o),
    "asarray_of_expression": lambda **o: cq.asarray(cq.asarray(X) + 1, **o),
    "from_slabs": lambda **o: cq.from_slabs([X[:3], X[3:]], **o),
    "fromiter": lambda **o: cq.fromiter(range(100), "i4", **o),
    "frombuffer": lambda **o: cq.frombuffer(X.tobytes(), "i8", **o),
    "arange": lambda **o: cq.arange(1000, **o),
    "linspace": lambda **o: cq.linspace(0, 1, 1000, **o),
    "zeros": lambda **o: cq.zeros((20, 30), **o),
    "ones": lambda **o: cq.ones((20, 30), **o),
    "full": lambda **o: cq.full((20, 30), 7, **o),
    "full_of_rows": lambda **o: cq.full((20, 30), np.arange(30), **o),
    "empty": lambda **o: cq.empty((20, 30), **o),
    "nans": lambda **o: cq.nans((20, 30), **o),
    "zeros_like": lambda **o: cq.zeros_like(X, **o),
    "ones_like": lambda **o: cq.ones_like(X, **o),
    "full_like": lambda **o: cq.full_like(X, 3, **o),
    "empty_like": lambda **o: cq.empty_like(X, **o),
    "eye": lambda **o: cq.eye(30, **o),
    "copy": lambda **o: cq.asarray(X).copy(**o),
    "compute": lambda **o: cq.expr("x * 2", x=cq.asarray(X)).compute(**o),
    "from_dask": lambda **o: cq.from_dask(dask_array.from_array(X, (7, 30)), **o),
}


@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.parametrize("words", TERMS)
def test_every_writer_takes_a_goal_and_keeps_it(name, words, tmp_path):
    plain = WRITERS[name]()
    made = WRITERS[name](path=tmp_path / "x.b2nd", codec="auto", **words)
    assert words_of(made.tuning.terms) == words_of(terms_of(words))
    assert plain.tuning is None
    if not name.startswith("empty"):
        same(made[...], plain[...])
        same(of_blosc2(tmp_path / "x.b2nd"), plain[...])
    assert cq.open(tmp_path / "x.b2nd").tuning == made.tuning
    assert WRITERS[name](codec="auto", **words).tuning == made.tuning


@pytest.mark.parametrize("name", WRITERS)
def test_goals_without_auto_and_unknown_keywords_are_refused(name, tmp_path):
    write = WRITERS[name]
    with pytest.raises(ValueError, match="for codec='auto', which chooses codecs; the codec is 'zstd'"):
        write(path=tmp_path / "x.b2nd", goal="size")
    with pytest.raises(ValueError, match=r"calibrate: for codec='auto'.* the codec is 'lz4'"):
        write(codec="lz4", calibrate=False)
    for codec in ({}, {"codec": "auto"}):
        with pytest.raises(TypeError, match="unexpected keyword argument 'gaol'"):
            write(**codec, gaol="size")
    assert list(tmp_path.iterdir()) == []


WRONG = [
    ({"goal": "fast"}, ValueError, "goal 'fast': takes 'speed', 'balanced', 'size', or a number from 0 to 1"),
    ({"goal": 1.5}, ValueError, "goal 1.5"),
    ({"goal": float("nan")}, ValueError, "goal NaN"),
    ({"goal": None}, TypeError, "goal None"),
    ({"goal": True}, TypeError, "goal True"),
    ({"goal": [0.5]}, TypeError, "goal \\[0.5\\]"),
    ({"goal": 10**400}, ValueError, "goal 1000"),
    ({"for_": "reading"}, ValueError, "for_ .reading.: takes read, write or both"),
    ({"for_": 3}, TypeError, "for_ 3"),
    ({"bandwidth": 0}, ValueError, "bandwidth 0"),
    ({"bandwidth": -5.0}, ValueError, "bandwidth -5"),
    ({"bandwidth": float("inf")}, ValueError, "bandwidth inf"),
    ({"bandwidth": "500M"}, TypeError, "bandwidth '500M'"),
    ({"calibrate": 1}, TypeError, "calibrate 1"),
    ({"level": 9}, ValueError, "level 9: codec='auto' chooses levels"),
    ({"filters": "bitshuffle"}, ValueError, "filters 'bitshuffle': codec='auto' chooses filters"),
    ({"filters": []}, ValueError, "filters \\[\\]"),
]


@pytest.mark.parametrize(("words", "error", "text"), WRONG)
def test_values_that_mean_nothing_are_refused_with_what_is_taken(words, error, text, tmp_path):
    def check(write, *args, **options):
        with pytest.raises(error, match=text):
            write(*args, codec="auto", **words, **options)

    check(cq.asarray, X, path=tmp_path / "x.b2nd")
    check(cq.asarray(X).copy)
    check(cq.compress, X)
    if "filters" not in words:
        check(cq.pack, X, tmp_path / "x.blp")
        check(cq.create_table, tmp_path / "t", {"a": X[0]})
    check(cq.Frame.create, tmp_path / "x.b2frame")
    with cq.open(tmp_path / "x.h5", "w") as file:
        check(file.create_dataset, "x", data=X)
        assert list(file) == []
    assert sorted(one.name for one in tmp_path.iterdir()) == ["x.h5"]


def test_the_default_level_may_be_named():
    assert cq.asarray(X, codec="auto", level=DEFAULT_LEVEL, filters=None).tuning is not None


def test_chunks_packs_and_frames_are_tuned_too(tmp_path):
    x = data("mixed")
    chunk = cq.compress(x, codec="auto", goal="size", for_="read")
    assert cq.decompress(chunk) == x.tobytes()
    assert cq.decompress(cq.compress(x, codec="auto", format="blosc1")) == x.tobytes()
    same(cq.loads(cq.dumps(x, codec="auto", goal="speed")), x)
    cq.pack(x, tmp_path / "x.blp", codec="auto", chunk_size=4096)
    cq.append(tmp_path / "x.blp", x, codec="auto", goal="size")
    same(cq.unpack(tmp_path / "x.blp"), np.concatenate([x, x]))
    with cq.Frame.create(tmp_path / "x.b2frame", typesize=8, codec="auto", goal="size") as frame:
        frame.append(x)
    with cq.open(tmp_path / "x.b2frame", "a") as frame:
        assert frame.tuning.goal == "size"
        assert frame.info()["tuning"] == "size"
        frame.append(x[::-1].copy())
        assert b"".join(frame) == np.concatenate([x, x[::-1]]).tobytes()
        assert list(frame.attrs) == []
    with cq.Frame.create(tmp_path / "y.b2frame") as frame:
        assert frame.tuning is None
        assert "tuning" not in frame.info()


def test_what_chooses_streams_is_not_taken_with_auto():
    with pytest.raises(ValueError, match="a dictionary needs a codec by name"):
        cq.compress(X, codec="auto", dictionary=True)
    with pytest.raises(ValueError, match="split 'never' needs a codec by name"):
        cq.compress(X, codec="auto", split="never")


@pytest.mark.parametrize("contiguous", [True, False])
def test_what_is_written_later_is_tuned_too(contiguous, tmp_path):
    x = data("integers", 3000)
    path = tmp_path / "x.b2nd"
    cq.asarray(
        x, path=path, codec="auto", goal="size", for_="read", chunks=(500,), contiguous=contiguous
    ).close()
    expected = x
    for turn in range(3):
        with cq.open(path, "a") as array:
            assert str(array.tuning) == "size, to read"
            array.append(data("random", 700, turn).astype("i8"))
            array[100:400] = turn
            array.resize(len(array) + 10)
            new = np.concatenate([expected, data("random", 700, turn).astype("i8"), np.zeros(10, "i8")])
            new[100:400] = turn
            expected = new
    with cq.open(path) as array:
        same(array[...], expected)
        assert sum(array.encodings().values()) == array.info.nchunks
    if contiguous:
        same(of_blosc2(path), expected)


def test_chunks_of_one_value_take_no_space():
    x = np.concatenate([np.zeros(1000), np.full(1000, np.nan), data("random", 1000)])
    array = cq.asarray(x, codec="auto", chunks=(1000,))
    assert array.encodings()["special"] == 2
    assert array.info.special_chunks == 2
    same(array[...], x)
    array[2000:] = 0
    assert array.encodings() == {"special": 3}


def test_copies_keep_the_goal_unless_another_codec_is_named(tmp_path):
    array = cq.asarray(X, codec="auto", goal=0.3, bandwidth=1e9)
    array.attrs["unit"] = "K"
    for copy in (
        array.copy(),
        array.copy(path=tmp_path / "c.b2nd", chunks=(5, 5)),
        pickle.loads(pickle.dumps(array)),
        cq.from_bytes(array.to_bytes()),
    ):
        assert copy.tuning == array.tuning
        assert dict(copy.attrs) == {"unit": "K"}
        same(copy[...], X)
    array.save(tmp_path / "s.b2nd")
    assert cq.open(tmp_path / "s.b2nd").tuning == array.tuning
    assert array.copy(codec="auto", goal="size").tuning.goal == "size"
    for options in ({"codec": "lz4"}, {"level": 1}, {"filters": "bitshuffle"}):
        assert array.copy(**options).tuning is None
    with pytest.raises(ValueError, match="goal: for codec='auto'"):
        array.copy(goal="size")
    assert cq.asarray(X).copy(codec="auto").tuning is not None


def test_a_goal_and_a_bound_go_together(tmp_path):
    x = data("smooth", 5000)
    path = tmp_path / "x.b2nd"
    array = cq.asarray(x, path=path, codec="auto", goal="size", lossy={"max_error": 0.01}, chunks=(500,))
    exact = cq.asarray(x, codec="auto", goal="size", chunks=(500,))
    assert np.abs(array[...] - x).max() <= 0.01
    assert array.cbytes < exact.cbytes
    array.close()
    with cq.open(path, "a") as array:
        assert (array.tuning.goal, array.lossy.error_bound.max_error) == ("size", 0.01)
        array.append(x)
        assert np.abs(array[5000:] - x).max() <= 0.01
    same(of_blosc2(path), cq.open(path)[...])


def test_info_says_what_was_chosen(tmp_path):
    array = cq.asarray(X, path=tmp_path / "x.b2nd", codec="auto", goal="size", for_="write", bandwidth=5e8)
    info = array.info
    assert (info.tuning, info.encodings) == (array.tuning, array.encodings())
    lines = dict(line.split(None, 1) for line in str(info).splitlines())
    found = encodings_text(array.encodings())
    assert lines["codec"] == f"auto (size, to write, 5e+08 B/s): {found}"
    assert lines["filters"] == "auto"
    assert lines["codec"] in array._repr_html_()
    known = info.to_dict()
    assert known["tuning"] == {"goal": "size", "for_": "write", "bandwidth": 5e8, "calibrate": False}
    assert known["encodings"] == array.encodings()
    assert cq.asarray(X).info.tuning is None
    assert array.tuning.options == {"codec": "auto", "goal": "size", "for_": "write", "bandwidth": 5e8}
    assert cq.asarray(X, **array.tuning.options).tuning == array.tuning


def test_many_ways_to_encode_are_counted_in_a_line():
    ways = {"lz4": 5, "special": 90, "zstd + shuffle": 7, "zlib": 1, "stored": 1, "zstd": 1}
    assert encodings_text(ways) == "zstd + shuffle 7, lz4 5, stored 1, zlib 1, 2 more"
    assert encodings_text({"special": 3, "lz4": 1}) == "lz4 1, special 3"


def test_a_goal_that_is_damaged_can_be_read_past_and_not_written_over(tmp_path):
    path = tmp_path / "x.b2nd"
    cq.asarray(X, path=path, codec="auto").close()
    # Another program may write to the metadata what it likes.
    theirs = blosc2.open(str(path), mode="a")
    theirs.schunk.vlmeta["coquina.tuning"] = "goal=9.5 for=both bandwidth=any times=table"
    del theirs
    with cq.open(path, "a") as array:
        same(array[...], X)
        with pytest.raises(cq.CorruptError, match="goal"):
            _ = array.tuning
        with pytest.raises(cq.CorruptError):
            array[0, 0] = 1
        assert "9.5" in array.info.tuning
        assert "9.5" in str(array.info)
        assert array.copy().tuning is None
        same(array[...], X)


def test_what_is_not_tuned_says_how_its_chunks_are_encoded():
    array = cq.asarray(X, codec="lz4", filters=["shuffle", "bytedelta"], chunks=(10, 30))
    assert array.encodings() == {"lz4 + shuffle + bytedelta": 2}
    assert cq.zeros((10, 10)).encodings() == {"special": 1}


def test_info_of_what_is_far_away_asks_for_no_chunks(tmp_path):
    fsspec = pytest.importorskip("fsspec")
    cq.asarray(X, path=tmp_path / "x.b2nd", codec="auto", goal="size", chunks=(5, 10)).close()
    fsspec.filesystem("memory").pipe("/tuned.b2nd", (tmp_path / "x.b2nd").read_bytes())
    with cq.open("memory://tuned.b2nd") as array:
        before = array.remote.requests
        info = array.info
        assert (info.tuning.goal, info.encodings) == ("size", None)
        assert "auto (size)" in str(info)
        assert array.remote.requests == before
        assert array.encodings() == cq.open(tmp_path / "x.b2nd").encodings()
        same(array[...], X)


def test_threads_may_write_to_a_tuned_array_at_once():
    x = data("mixed", 40_000).reshape(40, 1000)
    array = cq.zeros(x.shape, codec="auto", goal="size", chunks=(5, 1000))
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda row: array.__setitem__(row, x[row]), range(40)))
    same(array[...], x)
    assert sum(array.encodings().values()) == 8
