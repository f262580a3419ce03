"""The reader of `*.test` files: what it makes of lines, and what it refuses, with the line."""

from __future__ import annotations

import math
from pathlib import Path
from random import Random

import pytest

from tests.queries.query_files import read
from tests.queries.query_values import MalformedError, Time, value_of, words_of
from tests.queries.query_values import type_of as kind

TABLE = """table t
column id i4
column s text null
| 0 "a"
| 1 null
"""
CASE = "case c\nwhere id == 0\nnumbers 0\n"


def test_a_table_and_its_cases():
    cases = read(
        "# A comment.\n\n" + TABLE + CASE + "case d\n" + 'order s down, id\nselect s\nrows\n| "a"\n| null\n'
    )
    assert [case.title for case in cases] == ["c", "d"]
    (step,) = cases[0].steps
    assert (step.where, step.numbers, step.line) == (["id == 0"], [0], 8)
    assert cases[0].table.rows == [[0, "a"], [1, None]]
    assert cases[0].table.homes == ("columns", "directory")
    assert cases[1].steps[0].order == [("s", True), ("id", False)]
    assert cases[1].steps[0].rows == [["a"], [None]]


def test_the_last_line_needs_no_end():
    assert len(read(TABLE + CASE.rstrip())) == 1


def test_a_case_has_steps():
    text = TABLE + "case c\nwhere id > 0\ndelete\nchanged 1\nthen\nnumbers 0\n"
    (case,) = read(text)
    assert [step.is_change for step in case.steps] == [True, False]
    assert case.steps[0].changed == 1


def test_values_of_all_types():
    (words,) = words_of('["a\\"\\\\\\n\\t\\0\\x41\\u{1f600}"]')
    assert value_of(words[0], kind("bytes:20")) == b'a"\\\n\t\0A\xf0\x9f\x98\x80'
    assert value_of(words_of('"\\u{e9}"')[0], kind("text")) == "é"
    assert math.isnan(value_of("nan", kind("f8")))
    assert value_of("-inf", kind("f4")) == -math.inf
    assert math.copysign(1, value_of("-0.0", kind("f8"))) == -1
    assert value_of("-128", kind("i1")) == -128
    assert value_of("1.5,-2", kind("c16")) == 1.5 - 2j
    assert value_of("2024-01-02T03:04:05.5", kind("time:ms")) == Time("2024-01-02T03:04:05.5")
    assert value_of("nat", kind("span:s")) == Time("nat")
    assert value_of("true", kind("bool")) is True
    assert kind(">u8").is_swapped


def generated(*fills):
    (case,) = read("table t\ncolumn x i4 null\nrows 8\n" + "\n".join(fills) + "\ncase c\nnumbers 0..7\n")
    return [row[0] for row in case.table.rows]


def test_rows_are_generated():
    assert generated("fill x step 5 -2") == [5 - 2 * i for i in range(8)]
    assert generated("fill x mix 3 1 7 -1 2") == [-1 + 2 * ((3 * i + 1) % 7) for i in range(8)]
    assert generated("fill x cycle 1 null 3") == [1, None, 3, 1, None, 3, 1, None]
    assert generated("fill x runs 3 1 2") == [1, 1, 1, 2, 2, 2, 1, 1]
    assert generated("fill x pick 3 1 7 10 20") == [(10, 20)[(3 * i + 1) % 7 % 2] for i in range(8)]
    assert generated("fill x step 0 1", "fill x every 3 2 null") == [0, 1, None, 3, 4, None, 6, 7]


def test_times_are_counted_in_their_unit():
    text = "table t\ncolumn x time:s\nrows 3\nfill x step 2024-01-01 60\ncase c\nnumbers 0\n"
    assert read(text)[0].table.rows == [[Time("2024-01-01", 60 * i)] for i in range(3)]


def test_numbers_of_rows():
    text = TABLE + "case c\nnumbers 0 3..5 10..20/5\ncase d\norder id\nnumbers 1 0\n"
    assert [case.steps[0].numbers for case in read(text)] == [[0, 3, 4, 5, 10, 15, 20], [1, 0]]


REFUSED = {
    "": "no cases",
    TABLE: "no cases",
    "case c\nnumbers\n": "text:1: a case has a title, and a table before it",
    TABLE + "case\nnumbers\n": "text:6: a case has a title",
    "where id > 0\n": "text:1: a file begins with a table",
    "| 0\n": "text:1: a file begins with a table",
    "table 1x\n": "text:1: '1x': not a name",
    "table t\ncase c\nnumbers\n": "text:2: table t has no columns",
    TABLE + TABLE: "text:6: table 't' is there twice",
    TABLE + CASE + CASE: "text:9: case 'c' is there twice",
    TABLE + "index i\n" + CASE: "text:6: index NAME EXPRESSION",
    TABLE + "colour red\n": "text:6: 'colour': not a line of a table",
    TABLE + "column x i4\n": "text:6: columns come before rows",
    TABLE + "| 1\n": "text:6: 1 values for 2 columns",
    TABLE + '| null "a"\n': "text:6: id has no nulls",
    TABLE + "| 1 a\n": "text:6: 'a': text stands in quotes",
    TABLE + '| 2147483648 "a"\n': "text:6: '2147483648': not a value of i4",
    TABLE + '| 01 "a"\n': "text:6: '01': not a value of i4",
    TABLE + '| 1.0 "a"\n': "text:6: '1.0': not a value of i4",
    TABLE + '| 1 "a\n': "text:6: a quote is not closed",
    TABLE + '| 1 "a"b\n': "text:6: a quote is closed within a word",
    TABLE + '| 1 "\\q"\n': "text:6: \\q: not an escape",
    TABLE + '| 1 "\\xff"\n': "text:6: \\x is for bytes",
    TABLE + "| 1 [null\n": "text:6: a bracket is not closed",
    TABLE + "| 1 null]\n": "text:6: a bracket is closed that was not opened",
    TABLE + "rows 5\n": "text:6: rows are generated, or written down",
    TABLE + "homes moon\n": "text:6: 'moon': homes are columns, rows, directory, memory",
    TABLE + "homes rows\n" + CASE: "text:7: table t cannot be in rows",
    TABLE + " | 1 null\n": "text:6: a tab, or white space at an end of the line",
    TABLE + "chunk 0\n": "text:6: one number from 1 on is wanted",
    "table t\ncolumn x i3\n": "text:2: 'i3': not a type",
    "table t\ncolumn x int\n": "text:2: int is for params",
    "table t\ncolumn x bytes\n": "text:2: 'bytes': not a type",
    "table t\ncolumn x >bool\n": "text:2: '>bool': not a type",
    "table t\ncolumn x time:y\n": "text:2: 'time:y': not a type",
    "table t\ncolumn x i4 zone UTC\n": "text:2: 'zone': not an option of a column of i4",
    "table t\ncolumn x i4\ncolumn x i8\n": "text:3: column x is there twice",
    "table t\ncolumn x i4\ncolumn x/y i8\n": "text:3: column x/y is there twice",
    'table t\ncolumn x bytes:2\n| "abc"\n': "text:3: b'abc': more than 2 bytes",
    "table t\ncolumn x i4 shape [2]\n| [1 2 3]\n": "text:3: 2 values in brackets are wanted",
    'table t\ncolumn x text categories ["a"]\n| "b"\n': "text:3: 'b' is no category of x",
    "table t\ncolumn x time:s\n| yesterday\n": "text:3: 'yesterday': not a value of time",
    "table t\ncolumn x i4 null\ncolumn y i4 shape [2]\ncase c\n": "text:4: table t: no home has all",
    "table t\ncolumn x i4\nrows 3\ncase c\n": "text:4: table t: no fill of x",
    "table t\ncolumn x i4\nfill x step 0 1\ncase c\n": "text:4: table t: fill without rows N",
    "table t\ncolumn x i1\nrows 300\nfill x step 0 1\ncase c\n": "text:5: '128': not a value of i1",
    "table t\ncolumn x i1\nrows 3\nfill x jump 0 1\ncase c\n": "text:5: fill x: step, mix, cycle",
    "table t\ncolumn x i1\nrows 3\nfill y step 0 1\n": "text:4: fill COLUMN HOW",
    TABLE + "case c\nwhere id > 0\n": "the step of line 6 says nothing of what it gives",
    TABLE + "case c\nwhere\nnumbers\n": "text:7: where needs a condition",
    TABLE + "case c\nsort id\n": "text:7: 'sort': not a line of a case",
    TABLE + "case c\nselect z\n": "text:7: 'z': no column of table t",
    TABLE + "case c\norder id up\n": "text:7: order COLUMN [down]",
    TABLE + "case c\nhead -1\n": "text:7: one number from 0 on",
    TABLE + "case c\nhead 1\nhead 2\n": "text:8: head is there twice",
    TABLE + "case c\nslice 1 2\n": "text:7: slice START STOP STEP",
    TABLE + "case c\nnumbers 2 1\n": "text:7: numbers of rows increase",
    TABLE + "case c\nnumbers 2..1\n": "text:7: '2..1': the last row stands before the first",
    TABLE + "case c\nnumbers x\n": "text:7: 'x': rows are 3, 3..9 or 3..9/2",
    TABLE + "case c\n| 1 null\n": "text:7: a row stands behind the line rows",
    TABLE + 'case c\nselect s\nrows\n| 1 "a"\n': "text:9: 2 values for 1 columns",
    TABLE + "case c\nrows\nhead 1\n": "text:8: rows come last",
    TABLE + "case c\nparam x int\nnumbers\n": "text:7: param NAME TYPE VALUE",
    TABLE + "case c\nparam x int 1\nparam x int 2\n": "text:8: param NAME TYPE VALUE, each name once",
    TABLE + "case c\nask median id\n": "text:7: ask KIND EXPRESSION",
    TABLE + "case c\nask sum id\nnumbers 1\n": "the step of line 6 gives value, or an error",
    TABLE + "case c\nvalue i8 1\n": "the step of line 6: changed is for changes, value for ask",
    TABLE + "case c\ngroup s\nrows\n": "the step of line 6: group and aggregate go together",
    TABLE + "case c\ngroup s\naggregate n i8 median id\n": "text:8: aggregate NAME TYPE KIND",
    TABLE + "case c\ngroup s\naggregate n i8 sum\n": "text:8: sum of what?",
    TABLE + "case c\nmodify id 3\nchanged 1\n": "text:7: modify COLUMN to VALUE",
    TABLE + "case c\nmodify id to null\nchanged 1\n": "text:7: id has no nulls",
    TABLE + "case c\nmodify id to 3\ndelete\nchanged 1\n": "does more than one thing",
    TABLE + "case c\ndelete now\n": "text:7: delete stands alone",
    TABLE + 'case c\nerror fatal "x"\n': "text:7: error KIND",
    TABLE + 'case c\nerror type "x"\ncount 3\n': "gives an error, and nothing else",
    TABLE + "case c\nnumbers\nindex id\n": "the step of line 6: an index answers where",
    TABLE + "case c\nthen\nnumbers\n": "the step of line 6 says nothing",
}


@pytest.mark.parametrize("text", REFUSED)
def test_a_malformed_file_is_refused_with_its_line(text):
    with pytest.raises(MalformedError) as caught:
        read(text)
    assert REFUSED[text] in str(caught.value)


def refused(text):
    """What is said of a text that is refused; nothing of one that is read."""
    try:
        read(text)
    except MalformedError as error:
        return str(error)
    return ""


LONG = TABLE + 'case c\nwhere s == "a"\nparam p list i4 1 2\nselect s\nrows\n| "\\u{e9}"\n| [null]\n'


@pytest.mark.parametrize("seed", range(4))
def test_a_text_that_is_cut_or_changed_is_read_or_refused_with_its_line(seed):
    pick = Random(seed)
    files = [LONG, (Path(__file__).parent / "nested.test").read_text(encoding="utf-8")[:2500]]
    for _ in range(150):
        text = pick.choice(files)
        at = pick.randrange(len(text))
        changed = (
            text[:at] + pick.choice(["", '"', "[", "]", " ", "\n", "\\", "0", "x", "|"]) + text[at + 1 :]
        )
        assert (refused(changed) or "text:").startswith("text:")
        assert (refused(text[:at]) or "text:").startswith("text:")
