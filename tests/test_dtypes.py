"""The text of a dtype in a file: what python-blosc2 writes, what comes back, and what is refused."""

import struct

import blosc2
import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis.extra import numpy as hnp

import coquina as cq
from coquina.dtypes import DEPTH_MAX, TEXT_MAX, dtype_text, parse_dtype

PLAIN = (
    *("?", "i1", "u1", "i2", ">i2", "i4", ">u4", "i8", ">u8", "f2", ">f2", "f4", ">f4", "f8", ">f8", "g"),
    *("F", ">c8", "D", "G", "M8", "M8[ns]", ">M8[D]", "M8[25s]", "m8", "m8[us]", ">m8[7ms]", "m8[Y]"),
    *("S1", "S300", "U1", ">U8", "V1", "V16", "V70000", "c"),
)
FIELDS = (
    [("a", "i4"), ("b", "f8")],
    [("a", "i4"), ("b", "f8", (2, 2)), ("c", "U3", (1,))],
    [("a", [("b", ">i2"), ("c", [("d", "?"), ("e", "S3")], (2,))]), ("f", "M8[us]")],
    [(("A title", "a"), "i4"), ("b", "u1")],
    [("it's", "i4"), ('"', "u1"), ("a\n\\\t\0", "u1"), ("é\u2028", "u1"), ("]})", "u1"), ("(" * 99, "u1")],
    [("none", "V0"), ("void", "V5"), ("voids", "V5", (3,)), ("empty", "S0"), ("text", "U0")],
    [("f2", "f2"), ("g", "g"), ("G", "G"), ("m", "m8[3h]")],
    {"names": ["x", "y"], "formats": ["u1", ">f4"], "offsets": [3, 8], "itemsize": 20},
    {"names": ["y", "x"], "formats": ["i4", "i2"], "offsets": [0, 1]},
    {"names": ["x"], "formats": [("i4", (2, 3))], "offsets": [4], "itemsize": 40, "titles": ["T"]},
    {"names": [], "formats": [], "offsets": [], "itemsize": 8},
)
ALIGNED = ([("a", "u1"), ("b", "f8")], [(("T", "a"), "u1"), ("b", "f8")], [("a", "i4"), ("b", "f4")])
DTYPES = [np.dtype(d) for d in (*PLAIN, *FIELDS)] + [np.dtype(d, align=True) for d in ALIGNED]
# Aligned structs in others: NumPy prints them without their gaps, and so does python-blosc2.
IN_OTHERS = [
    np.dtype([("in", DTYPES[-3]), ("at", DTYPES[-2], (2,))]),
    np.dtype([("at", "u1"), ("in", DTYPES[-3])], align=True),
]
RECORD = np.dtype((np.record, [("a", "i4"), ("r", np.dtype((np.record, [("x", "f4")])), (2,))]))


@pytest.mark.parametrize("dtype", DTYPES + IN_OTHERS, ids=str)
def test_a_dtype_comes_back_from_its_text(dtype):
    back = parse_dtype(dtype_text(dtype), dtype.itemsize)
    assert back == dtype
    assert back.fields == dtype.fields


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_the_text_is_the_one_that_python_blosc2_writes(dtype):
    frame = blosc2.zeros((3,), dtype=dtype).to_cframe()
    # The header lists the layer's name, then 0xd2 and where its content starts: 0xc6, its length, its bytes.
    at = frame.index(b"\xa4b2nd\xd2") + 6
    (start,) = struct.unpack_from(">i", frame, at)
    (length,) = struct.unpack_from(">i", frame, start + 1)
    layer = frame[start + 5 : start + 5 + length]
    # One axis: 6 bytes of markers, 9 + 5 + 5 of shapes, 6 in front of the text.
    assert layer[31:].decode() == dtype_text(dtype)


def test_the_text_of_a_dtype_does_not_depend_on_those_that_were_asked_for_before():
    fields = [("a", "i4"), ("b", "f4")]
    packed, aligned = np.dtype(fields), np.dtype(fields, align=True)
    assert packed == aligned
    for first, then in [(packed, aligned), (aligned, packed)]:
        texts = [dtype_text(first), dtype_text(then)]
        assert texts == [str(first), str(then)]


ANY = st.one_of(
    *(hnp.scalar_dtypes(), hnp.nested_dtypes(), hnp.array_dtypes(allow_subarrays=True)),
    *(hnp.datetime64_dtypes(endianness="?"), hnp.timedelta64_dtypes(endianness="?")),
    *(hnp.byte_string_dtypes(), hnp.unicode_string_dtypes()),
)


@given(ANY)
def test_any_dtype_comes_back_or_is_refused_with_a_reason(dtype):
    if dtype.itemsize == 0 or dtype.subdtype is not None:
        with pytest.raises(TypeError, match="cannot be stored"):
            dtype_text(dtype)
    else:
        assert parse_dtype(dtype_text(dtype), dtype.itemsize) == dtype


def test_a_record_is_stored_as_its_fields():
    plain = np.dtype([("a", "i4"), ("r", [("x", "f4")], (2,))])
    assert dtype_text(RECORD) == dtype_text(plain)
    assert parse_dtype(dtype_text(RECORD), 12).type is np.void


UNSTORED = (
    *("O", [("a", "O")], [("a", [("b", "i4"), ("c", "O", (2,))])], np.dtypes.StringDType()),
    *("S0", "U", "V", [], ("i4", (2,)), [("a", "i4", (0,))], [((1, "a"), "i4")]),
)


@pytest.mark.parametrize("dtype", UNSTORED, ids=str)
def test_what_a_file_cannot_hold_is_a_type_error(dtype):
    with pytest.raises(TypeError, match="stored"):
        dtype_text(np.dtype(dtype))


def test_a_type_nested_deeper_than_readers_go_is_a_type_error():
    dtype = np.dtype("i4")
    for _ in range(DEPTH_MAX):
        dtype = np.dtype([("a", dtype)])
    with pytest.raises(TypeError, match="stored"):
        dtype_text(dtype)


UNKNOWN = (
    *(
        None,
        "",
        "bfloat16",
        "f3",
        "i4,i4",
        "\0",
        "<i4\0",
        "\ud800",
        "M8[ns/3]",
        "m8[1000000000000s]",
        "V99999999999",
    ),
    *("[", "[]]", "[('a', '<i4'", "[('a',)]", "[('a', '<i4', 2, 2)]", "[(1, '<i4')]", "[('a', '<i4', 'b')]"),
    *("[('a', '<i4', (-1,))]", "[('a', '<i4'), ('a', '<i4')]", "[('a', 'i4', (99999999999, 99999999999))]"),
    *("('<i4', (2,))", "(numpy.record, [('a', '<i4')])", "[('a', '\\d')]", "[b'a']", "[...]", "'<i4'"),
    *("{'names': ['a']}", "{'names': 'a', 'formats': ['<i4']}", "{['a']: 1}"),
    "{'names': ['a'], 'formats': ['<i4'], 'x': 1}",
    "{'names': ['a'], 'formats': ['<i4'], 'offsets': [-4]}",
    "{'names': ['a'], 'formats': ['<i4'], 'offsets': [True]}",
    "{'names': ['a'], 'formats': ['<i4'], 'itemsize': 2}",
    "{'names': ['a'], 'formats': ['<i4'], 'itemsize': -4}",
    *("[" * 100, "[" * 1_000_000, "-" * 1_000_000, "[" + "-" * 1000 + "1]", "[" * 10_000 + "]" * 10_000),
    "[('a', '<i4')" + ", ('b', '<i4')" * TEXT_MAX,
    *("__import__('os').system('true')", "[x for x in ()]", "['a' * 99999999]", "[1_0]", "[0x10]", "[1e9]"),
)


@pytest.mark.parametrize("text", UNKNOWN, ids=range(len(UNKNOWN)))
def test_a_text_that_is_not_understood_means_plain_bytes(text):
    assert parse_dtype(text, 12) == np.dtype("V12")


OBJECTS = (
    *("|O", "O", "O8", "object", "[('a', '<i4'), ('b', '|O')]", "[('a', [('b', 'O')], (2,))]"),
    "{'names': ['a'], 'formats': ['O'], 'offsets': [0], 'itemsize': 8}",
)


@pytest.mark.parametrize("text", OBJECTS)
def test_objects_are_refused(text):
    with pytest.raises(cq.UnsupportedError, match="could run code"):
        parse_dtype(text, 8)


@pytest.mark.parametrize(("text", "typesize"), [("<i4", 8), ("[('a', '<i4')]", 8), ("|V300", 1), ("|S0", 3)])
def test_another_item_size_is_corrupt(text, typesize):
    with pytest.raises(cq.CorruptError, match=f"the items have {typesize}"):
        parse_dtype(text, typesize)


@pytest.mark.parametrize(
    ("name", "code"), [("bool", "?"), ("int32", "i4"), ("float64", "f8"), ("complex64", "F")]
)
def test_names_of_other_writers_are_read(name, code):
    assert parse_dtype(name, np.dtype(code).itemsize) == np.dtype(code)


def changed(text, changes):
    """Return `text` with some characters replaced."""
    characters = list(text)
    for at, character in changes:
        characters[at % len(characters)] = character
    return "".join(characters)


@given(
    st.one_of(
        st.text(),
        st.text("[](){}'\\,: <|ifSUVMm0123456789ab"),
        st.builds(
            changed,
            st.sampled_from(DTYPES).map(dtype_text),
            st.lists(st.tuples(st.integers(0, 500), st.characters(codec="ascii")), max_size=3),
        ),
    ),
    st.integers(1, 100),
)
@example("[('a', '<i4', 1)]", 4)
def test_any_text_gives_a_dtype_of_that_size_or_an_error_of_ours(text, typesize):
    # Warnings are errors here: NumPy and Python warn of much that a file may say.
    try:
        dtype = parse_dtype(text, typesize)
    except (cq.CorruptError, cq.UnsupportedError):
        return
    assert dtype.itemsize == typesize
    assert not dtype.hasobject
    assert parse_dtype(dtype_text(dtype), typesize) == dtype
