"""Bytes of files: ranges and conditions, as RFC 9110 has them, and arrays that are read by ranges."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st


@pytest.fixture(scope="module")
def content(folder):
    return (folder / "grid.b2nd").read_bytes()


def ask(client, **headers):
    return client.get("/raw/grid.b2nd", {name.replace("_", "-"): value for name, value in headers.items()})


@settings(max_examples=200, deadline=None)
@given(st.none() | st.integers(0, 5000), st.none() | st.integers(0, 5000))
def test_ranges_are_those_bytes(client, content, first, last):
    text = f"bytes={'' if first is None else first}-{'' if last is None else last}"
    answer = ask(client, range=text)
    size = len(content)
    if (first is None and last is None) or (first is not None and last is not None and last < first):
        assert (answer.status, answer.content) == (200, content)
        return
    start, stop = (
        (max(0, size - last), size) if first is None else (first, size if last is None else last + 1)
    )
    wanted = content[start:stop]
    if not wanted:
        assert answer.status == 416
        return
    assert (answer.status, answer.content) == (206, wanted)
    assert answer.headers["content-range"] == f"bytes {start}-{start + len(wanted) - 1}/{size}"
    assert answer.headers["content-length"] == str(len(wanted))


@pytest.mark.parametrize("text", ["bytes=0-1,3-4", "items=0-1", "bytes=a-b", "bytes", "bytes=-" + "9" * 40])
def test_other_ranges_are_taken_as_none(client, content, text):
    answer = ask(client, range=text)
    assert (answer.status, answer.content) == (200, content)


def test_conditions_hold_by_tag_and_date(client, content):
    first = ask(client)
    tag, date = first.headers["etag"], first.headers["last-modified"]
    assert first.content == content
    assert first.headers["accept-ranges"] == "bytes"
    for headers in ({"if_none_match": tag}, {"if_none_match": f'"x", W/{tag}'}, {"if_none_match": "*"}):
        answer = ask(client, **headers)
        assert (answer.status, answer.content) == (304, b"")
    assert ask(client, if_modified_since=date).status == 304
    assert ask(client, if_none_match='"x"', if_modified_since=date).status == 200
    assert ask(client, if_modified_since="Mon, 01 Jan 2001 00:00:00 GMT").status == 200
    assert ask(client, if_modified_since="nonsense").status == 200
    for condition, status in ((tag, 206), (f"W/{tag}", 200), ('"x"', 200), (date, 206), ("nonsense", 200)):
        assert ask(client, range="bytes=3-5", if_range=condition).status == status, condition


def test_heads_say_what_is_there(client, content):
    answer = client.ask("HEAD", "/raw/grid.b2nd")
    assert answer.headers["content-length"] == str(len(content))
    assert answer.content == b""


def test_a_changed_file_has_another_tag(client, folder, grid):
    import coquina as cq

    path = folder / "below" / "changing.b2nd"
    tags = set()
    for number in range(3):
        cq.asarray(grid + number, path=path, overwrite=True).close()
        answer = client.get("/raw/below/changing.b2nd")
        assert answer.content == path.read_bytes()
        tags.add(answer.headers["etag"])
        assert np.array_equal(client.get("/slice/", file="below/changing.b2nd").array(), grid + number)
    assert len(tags) == 3
