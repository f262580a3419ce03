"""Progress bars: shown for long work only, on the right screen, closed in the end, and never in the way."""

import sys
import time
from types import SimpleNamespace

import numpy as np
import pytest

import coquina as cq


class Bars:
    """Makes bars that remember what they were told."""

    def __init__(self):
        self.made = []

    def __call__(self, total):
        bar = Bar(total)
        self.made.append(bar)
        return bar


class Bar:
    def __init__(self, total):
        self.total, self.done, self.closed = total, [], 0

    def __call__(self, done):
        self.done.append(done)

    def close(self):
        self.closed += 1


@pytest.fixture(autouse=True)
def after():
    yield
    cq.set_progress("auto")


def slow(seconds, blocks=40):
    """An expression that takes so long to be computed."""

    def work(block):
        time.sleep(seconds / blocks)
        return block + 1

    x = cq.zeros((blocks, 50_000), chunks=(1, 50_000), dtype="f8")
    return cq.vectorize(work, dtype="f8")(x)


def test_long_work_shows_how_far_it_is():
    bars = Bars()
    cq.set_progress(bars)
    e = slow(3.2)
    assert e.sum() == 40 * 50_000
    (bar,) = bars.made
    assert bar.total == 40 * 50_000 * 8
    assert bar.closed == 1
    assert bar.done
    assert bar.done == sorted(bar.done)
    assert 0 < bar.done[-1] <= bar.total


def test_short_work_and_bars_that_nobody_wants_show_nothing():
    bars = Bars()
    cq.set_progress(bars)
    cq.asarray(np.zeros((1000, 1000))).sum()
    assert bars.made == []
    cq.set_progress("never")
    slow(1.5).sum()
    asked = []
    cq.set_progress(asked.append)  # returns None: no bar for this one
    slow(1.5).sum()
    assert bars.made == []
    assert len(asked) == 1


def test_work_that_fails_closes_its_bar_and_a_bar_that_fails_stops_the_work():
    bars = Bars()
    cq.set_progress(bars)

    def fails(block):
        time.sleep(0.04)
        if bars.made and bars.made[0].done:
            raise RuntimeError("enough")
        return block

    x = cq.zeros((200, 50_000), chunks=(1, 50_000), dtype="f8")
    with pytest.raises(RuntimeError, match="enough"):
        cq.vectorize(fails, dtype="f8")(x).sum()
    assert [bar.closed for bar in bars.made] == [1]

    def broken(total):
        raise OSError("no screen")

    cq.set_progress(broken)
    with pytest.raises(OSError, match="no screen"):
        slow(3).sum()


def test_notebooks_have_bars_by_default(monkeypatch):
    shown = []

    def display(html, display_id):
        assert display_id
        shown.append(html)
        return SimpleNamespace(update=shown.append)

    shell = SimpleNamespace(kernel=object())
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    monkeypatch.setitem(sys.modules, "IPython.display", SimpleNamespace(display=display, HTML=str))
    slow(2.4).sum()
    assert shown[0].startswith("<progress")
    assert "15.3 MiB" in shown[0]
    assert shown[-1] == ""
    shown.clear()
    shell.kernel = None  # an IPython on a terminal
    slow(1.5).sum()
    assert shown == []


def test_other_words_are_refused():
    with pytest.raises(ValueError, match="'sometimes'"):
        cq.set_progress("sometimes")
