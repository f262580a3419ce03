"""`coquina view` and `cq.view` without a browser, and how the command ends with its last page."""

import os
import re
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request

import numpy as np
import pytest

import coquina as cq
from coquina.server import viewer

from .conftest import Command, require_bundle


@pytest.fixture
def bundle():
    require_bundle()


def get(url, endpoint="", **options):
    """Ask a server for something, with the token of its address."""
    base, _, token = url.partition("?token=")
    request = urllib.request.Request(base + endpoint, **options)
    request.add_header("Authorization", f"Bearer {token.partition('#')[0]}")
    with urllib.request.urlopen(request, timeout=10) as answer:
        return answer.read()


@pytest.mark.usefixtures("bundle")
def test_the_command_prints_an_address_that_takes_its_token_only(samples):
    command = Command(samples / "run.h5")
    try:
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/\?token=[\w-]{32}", command.url)
        assert command.line.endswith(" (Ctrl-C ends it, or closing its last page)\n")
        assert b'<div id="root">' in get(command.url, headers={"Accept": "text/html,*/*"})
        assert get(command.url) == b"ok"
        assert b"beam 4" in get(command.url, "info/?file=run.h5&path=/")
        with pytest.raises(urllib.error.HTTPError, match="401"):
            get(command.url.partition("?")[0] + "?token=another", "files/")
        command.process.send_signal(signal.SIGINT)
        assert command.process.wait(10) in (0, 130)
    finally:
        command.end()


@pytest.mark.usefixtures("bundle")
def test_the_command_ends_after_its_last_page_and_stays_with_keep(samples):
    ends, stays = Command(samples), Command(samples, "--keep")
    try:
        for page in ("a", "b"):
            for command in (ends, stays):
                get(command.url, f"alive/?page={page}", method="POST")
        for command in (ends, stays):
            get(command.url, "closed/?page=a", method="POST")
        with pytest.raises(subprocess.TimeoutExpired):
            ends.process.wait(0.5)
        for command in (ends, stays):
            get(command.url, "closed/?page=b", method="POST")
        assert ends.process.wait(15) == 0
        time.sleep(0.2)
        assert stays.process.poll() is None
    finally:
        ends.end()
        stays.end()


def test_a_missing_package_is_named_with_what_to_install(samples, monkeypatch):
    monkeypatch.setitem(sys.modules, "coquina_view", None)
    with pytest.raises(ImportError, match=r"pip install 'coquina\[serve\]' coquina-view"):
        cq.view(samples, browser=False)
    monkeypatch.setitem(sys.modules, "coquina.server.application", None)
    with pytest.raises(ImportError, match=r"pip install 'coquina\[serve\]' coquina-view"):
        cq.view(samples, browser=False)


@pytest.mark.usefixtures("bundle")
def test_what_cannot_be_shown_is_an_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        cq.view(tmp_path / "none.h5", browser=False)
    (tmp_path / "notes.txt").write_text("none of ours")
    with pytest.raises(ValueError, match="no file that coquina opens"):
        cq.view(tmp_path / "notes.txt", browser=False)
    with pytest.raises(TypeError, match="a set cannot be shown"):
        cq.view({1, 2}, browser=False)


def values(url, name):
    """All values of an array that is shown."""
    return np.frombuffer(get(url, f"slice/?file={name}&path=/&format=bin"), "f8")


@pytest.mark.usefixtures("bundle")
def test_objects_of_the_process_are_shown(tmp_path):
    plain = np.arange(12.0).reshape(3, 4)
    packed = cq.asarray(plain)
    for data, expected in (
        (plain, plain),
        (packed, plain),
        (packed * 2 + 1, plain * 2 + 1),
        ([1.0, 2.0], [1, 2]),
    ):
        with cq.view(data, browser=False, name="x") as shown:
            assert np.array_equal(values(shown.url, "x"), np.ravel(expected))
    with cq.view({"a": plain, "b": packed + 1}, browser=False) as shown:
        assert np.array_equal(values(shown.url, "b"), np.ravel(plain + 1))
        assert b'"name":"a"' in get(shown.url, "files/").replace(b" ", b"")
    with (
        cq.create_table(tmp_path / "t.h5", {"n": np.arange(5)}) as table,
        cq.view(table, browser=False, name="t") as shown,
    ):
        assert b'"total":3' in get(shown.url, "rows/?file=t&path=/&where=n%3E1").replace(b" ", b"")


@pytest.mark.usefixtures("bundle")
def test_an_array_that_changes_is_shown_as_it_is():
    array = cq.zeros((4,), dtype="f8")
    with cq.view(array, browser=False, name="x") as shown:
        assert values(shown.url, "x").sum() == 0
        array[1] = 5
        assert values(shown.url, "x").tolist() == [0, 5, 0, 0]


@pytest.mark.usefixtures("bundle")
def test_a_viewer_is_a_frame_in_notebooks_and_ends():
    with cq.view(np.eye(2), browser=False) as shown:
        frame = shown._repr_html_()
        assert frame.startswith("<iframe ")
        assert shown.url in frame
        assert not shown.wait(0.01)
    assert shown.wait(0.01)
    with pytest.raises(urllib.error.URLError):
        get(shown.url)


SCRIPT = """
import numpy as np
import coquina as cq
cq.view(np.eye(3), browser=True)
print("the end")
"""


@pytest.mark.usefixtures("bundle")
@pytest.mark.parametrize("is_closed", [False, True], ids=["Ctrl-C", "its last page"])
def test_a_script_waits_for_its_page_and_says_what_ends_it(is_closed):
    words = [sys.executable, "-c", SCRIPT]
    environment = {**os.environ, "BROWSER": "true"}
    with subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    ) as script:
        told = script.stderr.readline()
        assert re.fullmatch(r"shown at http://\S+ until its last page is closed; Ctrl-C ends it too\n", told)
        assert script.stdout.readline() == "the end\n"
        url = re.search(r"http://\S+", told).group(0)
        get(url, "alive/?page=a", method="POST")
        with pytest.raises(subprocess.TimeoutExpired):
            script.wait(0.5)
        if is_closed:
            get(url, "closed/?page=a", method="POST")
        else:
            script.send_signal(signal.SIGINT)
        assert script.wait(15) == 0 or not is_closed


@pytest.mark.usefixtures("bundle")
def test_interactive_sessions_and_notebooks_say_what_ends_it(monkeypatch, capsys):
    monkeypatch.setattr(sys, "ps1", ">>> ", raising=False)
    with cq.view(np.eye(2), browser=False) as shown:
        assert f"shown at {shown.url}" in (told := capsys.readouterr().err)
        assert "viewer.close() ends it" in told
    monkeypatch.setattr(viewer, "_in_notebook", lambda: True)
    with cq.view(np.eye(2)) as shown:
        # The frame is what is shown.
        assert capsys.readouterr().err == ""
        assert not shown.wait(0)


@pytest.mark.usefixtures("bundle")
def test_a_browser_opens_unless_told(monkeypatch):
    opened = []
    monkeypatch.setattr(viewer.webbrowser, "open", opened.append)
    with cq.view(np.eye(2), browser=True) as shown:
        assert opened == [shown.url]
    with cq.view(np.eye(2), browser=False):
        assert len(opened) == 1
