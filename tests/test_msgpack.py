"""MessagePack as the msgpack package has it: the same bytes, the same values, the same refusals."""

import msgpack as peer
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from coquina import msgpack

EDGES = sorted({sign * (1 << bit) + step for bit in range(65) for sign in (1, -1) for step in (-1, 0, 1)})
LENGTHS = (0, 1, 2, 3, 4, 8, 15, 16, 17, 31, 32, 255, 256, 65535, 65536)

plain = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.sampled_from([edge for edge in EDGES if -(2**63) <= edge < 2**64])
    | st.floats(allow_nan=False)
    | st.text()
    | st.binary()
    | st.builds(peer.ExtType, st.integers(0, 127), st.binary()),
    lambda inner: st.lists(inner) | st.dictionaries(st.integers(-99, 99) | st.text(), inner),
    max_leaves=30,
)


def refuse(value):
    raise TypeError(f"{value!r} is not plain")


def ours(value):
    """The value with our extensions in place of the peer's."""
    if isinstance(value, peer.ExtType):
        return msgpack.Ext(*value)
    if isinstance(value, list):
        return [ours(item) for item in value]
    if isinstance(value, dict):
        return {key: ours(item) for key, item in value.items()}
    return value


@given(plain)
def test_bytes_are_those_of_the_package(value):
    content = peer.packb(value)
    assert msgpack.pack(ours(value), refuse) == content
    assert msgpack.unpack(content, msgpack.Ext) == ours(value)


@pytest.mark.parametrize("length", LENGTHS)
def test_lengths_at_the_edges(length):
    values = [
        "x" * length,
        b"x" * length,
        [1] * length,
        dict.fromkeys(range(length)),
        peer.ExtType(7, b"x" * length),
    ]
    for value in values:
        assert msgpack.pack(ours(value), refuse) == peer.packb(value)
        assert msgpack.unpack(peer.packb(value), msgpack.Ext) == ours(value)


@given(st.binary(max_size=40))
@example(b"\xca\x3f\x80\x00\x00")
@example(b"\xd6\xff\x00\x00\x00\x00")
@example(b"\xc1")
@example(b"\x92\x01")
def test_any_bytes_are_a_value_or_refused(content):
    def ext(code, data):
        return (code, data)

    try:
        # The package makes times of code -1 itself, and compares keys in its own way.
        wanted = peer.unpackb(content, ext_hook=ext, strict_map_key=False, timestamp=0)
    except (ValueError, TypeError, peer.UnpackException):
        wanted = None
    try:
        found = msgpack.unpack(content, ext)
    except (ValueError, TypeError):
        found = None
    if b"\xff" not in content:
        assert repr(found) == repr(wanted)


def test_what_is_not_plain_is_asked_for_and_refused():
    assert msgpack.pack([1, (2, 3)], list) == peer.packb([1, (2, 3)])
    with pytest.raises(TypeError, match="object"):
        msgpack.pack([object()], lambda value: value)
    for big in (2**64, -(2**63) - 1):
        with pytest.raises(OverflowError, match=str(big)):
            msgpack.pack(big, refuse)


def test_depth_and_lengths_that_lie_are_refused():
    deep = []
    for _ in range(1000):
        deep = [deep]
    with pytest.raises(ValueError, match="nested"):
        msgpack.pack(deep, refuse)
    with pytest.raises(ValueError, match="nested"):
        msgpack.unpack(b"\x91" * 1000 + b"\xc0", msgpack.Ext)
    for head in (b"\xdd", b"\xdf", b"\xdb", b"\xc6", b"\xc9"):
        with pytest.raises(ValueError, match="bytes at"):
            msgpack.unpack(head + b"\xff\xff\xff\xff\x01", msgpack.Ext)
    with pytest.raises(ValueError, match="after"):
        msgpack.unpack(b"\x01\x01", msgpack.Ext)
