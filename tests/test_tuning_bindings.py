"""What the compiled module says and takes of tuning: goals, counters, encodings, chunks of frames."""

from __future__ import annotations

import numpy as np
import pytest

from coquina import CorruptError, UnsupportedError, _core

GOAL = (0.5, "both", None, False)


def array_of(x, goal=GOAL, **options):
    return _core.create_array(x.shape, x.dtype.str, x.dtype.itemsize, x, tuning=goal, **options)


@pytest.mark.parametrize(
    ("goal", "error"),
    [
        ((-0.1, "both", None, False), ValueError),
        ((float("nan"), "both", None, False), ValueError),
        ((0.5, "append", None, False), ValueError),
        ((0.5, "both", 0.0, False), ValueError),
        ((0.5, "both", float("inf"), False), ValueError),
        (("size", "both", None, False), TypeError),
        ((0.5, "both", None), ValueError),
        (0.5, TypeError),
        (None, TypeError),
    ],
)
def test_goals_that_cannot_be_are_refused(goal, error):
    with pytest.raises(error):
        _core.check_tuning(goal)


@pytest.mark.parametrize("goal", [GOAL, (5e-324, "read", 1.0, True), (1.0, "write", 2.5e9, False)])
def test_a_goal_comes_back_from_its_text(goal):
    assert _core.tuning_of_text(_core.tuning_text(goal)) == goal
    x = np.arange(1000)
    assert array_of(x, goal).tuning() == goal


def test_other_texts_are_no_goals():
    for text in ["", "goal=0.5", _core.tuning_text(GOAL) + " more=1"]:
        with pytest.raises(CorruptError):
            _core.tuning_of_text(text)


def test_what_the_tuner_does_is_counted_and_the_codecs_are_told():
    x = np.arange(40_000, dtype="<i4").repeat(2)
    x[60_000:] = 7
    handle = array_of(x, chunks=(10_000,), blocks=(2500,))
    counters = handle.tuner_counters()
    assert counters["chosen"] == 8
    assert counters["uniform"] == 2
    assert counters["tried"] + counters["reused"] == 6
    assert counters["reused"] > 0
    encodings = handle.encodings()
    assert encodings.pop("special") == 2
    assert sum(encodings.values()) == 6
    handle.set_tuning(None)
    assert handle.tuning() is None
    assert set(handle.tuner_counters().values()) == {0}


def test_chunks_of_a_frame_are_tuned_as_long_as_it_says_so(tmp_path):
    frame = _core.create_frame(tmp_path / "a.b2frame", typesize=8, tuning=GOAL)
    frame.publish()
    assert frame.layer_names() == []
    x = np.arange(20_000.0)
    chunk = frame.tuned_chunk(x)
    assert _core.decompress(chunk) == x.tobytes()
    assert len(chunk) < x.nbytes / 2
    for value, size in [(np.nan, 32), (0.0, 32), (2.5, 40)]:
        same = np.full(20_000, value)
        chunk = frame.tuned_chunk(same)
        assert len(chunk) == size
        assert _core.decompress(chunk) == same.tobytes()
    with pytest.raises(ValueError, match="taken"):
        frame.set_layer("coquina.tuning", b"")
    frame.set_tuning((1.0, "read", None, False))
    frame.close()
    again = _core.open_content(tmp_path / "a.b2frame", writable=True)
    assert again.tuning() == (1.0, "read", None, False)
    again.set_tuning(None)
    assert again.tuned_chunk(x) is None
    again.close()


def test_what_loses_something_or_shares_a_dictionary_is_not_tuned(tmp_path):
    x = np.arange(1000.0)
    lossy = [("trunc_prec", 10), "shuffle"]
    with pytest.raises(ValueError, match="lossy"):
        _core.compress(x, filters=lossy, tuning=GOAL)
    with pytest.raises(ValueError, match="lossy"):
        _core.pack(x, filters=lossy, tuning=GOAL)
    with pytest.raises(ValueError, match="lossy"):
        array_of(x, filters=lossy)
    with pytest.raises(ValueError, match="lossy"):
        _core.create_frame(tmp_path / "a", typesize=8, filters=lossy, tuning=GOAL)
    with pytest.raises(ValueError, match="dictionary"):
        _core.compress(x, dictionary=True, tuning=GOAL)
    assert not (tmp_path / "a").exists()


def test_other_chunks_than_those_of_blosc2_are_not_tuned(tmp_path):
    h5py = pytest.importorskip("h5py")
    import coquina as cq

    with h5py.File(tmp_path / "a.h5", "w") as file:
        file.create_dataset("gzip", data=np.arange(1000), chunks=(100,), compression="gzip")
    with cq.open(tmp_path / "a.h5", "r+") as file:
        dataset = file["gzip"]
        with pytest.raises(UnsupportedError, match="Blosc2"):
            dataset.handle.set_tuning(GOAL)
        assert dataset.handle.encodings() == {"other": 10}
