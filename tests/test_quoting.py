"""Text of files on terminals: quoted there, and nowhere else."""

from __future__ import annotations

import io
import json
import sys
import unicodedata

import h5py
import numpy as np
import pytest

import coquina as cq
from coquina.cli import main
from coquina.quoting import quoted, quoted_lines

EVIL = "a\x1b[31mred\x1b]0;title\x07\x9b2J\x7f\u202egnp.exe\u2066\u200b\u2028x\nfake line\t\udcff"
UNSEEN = {"\x1b", "\x07", "\x9b", "\x7f", "\u202e", "\u2066", "\u200b", "\u2028", "\udcff"}


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    encoding = "utf-8"

    def isatty(self):
        return True


@pytest.fixture
def run(monkeypatch):
    """Run the command on terminals; return what it printed on both."""

    def run(*words, stream=Terminal):
        out, err = stream(), stream()
        monkeypatch.setenv("NO_COLOR", "1")
        monkeypatch.setattr(sys, "stdout", out)
        monkeypatch.setattr(sys, "stderr", err)
        main(list(words))
        return out.getvalue() + err.getvalue()

    return run


def test_every_control_format_and_surrogate_character_is_quoted():
    # The law is Unicode's: what is not seen, or acts, is in these categories.
    for code in range(sys.maxunicode + 1):
        sign = chr(code)
        if unicodedata.category(sign) in ("Cc", "Cf", "Zl", "Zp", "Cs"):
            assert quoted(sign) != sign, f"U+{code:04X}"
            assert quoted(sign).isascii()
            assert quoted_lines(sign) == (sign if sign in "\n\t" else quoted(sign))
    assert quoted("température 温度 \N{NO-BREAK SPACE}x") == "température 温度 \N{NO-BREAK SPACE}x"


@pytest.fixture
def evil(tmp_path):
    """Make files with names, attributes and texts that act on terminals."""
    path = tmp_path / "evil.h5"
    name = EVIL.replace("\udcff", "").replace("/", "")
    with h5py.File(path, "w") as file:
        file[name] = np.arange(10)
        file.attrs[name] = name
        file["text"] = name
        file["texts"] = [name, "b"]
        file["link"] = h5py.SoftLink("/" + name)
        file["bad"] = np.arange(3)
    dtype = [("plain", "S40"), ("x\x1b[2J\u202e", "i4")]
    table = tmp_path / "evil_table"
    cq.create_table(str(table), np.array([(b"v\x1b[31m\x07", 1)], dtype)).close()
    return path, table, name


def test_no_verb_prints_what_acts_on_a_terminal(evil, run):
    path, table, name = evil
    words = [
        ("ls", str(path)), ("ls", "--all", str(path)), ("info", str(path)), ("info", f"{path}:/{name}"),
        ("cat", f"{path}:/text"), ("cat", f"{path}:/texts"), ("cat", f"{path}:/{name}"),
        ("cat", f"{path}:/no{name}"), ("verify", str(path)), ("tune", str(path)), ("tune", str(table)),
        ("cat", str(table)), ("query", str(table)), ("query", str(table), "--explain"),
        ("query", str(table), "--format", "json"), ("query", str(table), "--format", "csv"),
        ("query", str(table), "--agg", "max(plain)"), ("query", str(table), f"{name} > 1"),
        ("info", str(table)), ("index", str(table)), ("index", str(table), "--drop", name),
        ("info", f"{name}.b2nd"), ("ls", "--json", str(path)), ("cat", str(table), "--json"), (name,),
        ("recover", str(path), str(path) + "2"), ("repack", str(path), str(path) + "3"),
    ]  # fmt: skip
    for each in words:
        shown = run(*each)
        assert shown, each
        assert not UNSEEN & set(shown), (each, shown)
        # Of a value that is printed as it is, line breaks are part.
        is_value = each == ("cat", f"{path}:/text")
        assert is_value or not any(line.startswith("fake line") for line in shown.splitlines()), (each, shown)


def test_arrow_is_not_written_to_a_terminal(evil, run):
    assert "bytes" in run("query", str(evil[1]), "--format", "arrow")


def test_pipes_get_text_as_it_is_but_errors_are_quoted(evil, run):
    path, _, name = evil
    assert name in run("cat", f"{path}:/text", stream=io.StringIO)
    assert "\x1b" not in run("cat", f"{path}:/no{name}", stream=io.StringIO)
    listed = json.loads(run("ls", "--json", str(path), stream=io.StringIO))
    assert f"/{name}" in [row["path"] for row in listed["objects"]]


def test_reprs_and_html_of_files_quote_names(evil):
    path, table, name = evil
    with cq.open(path) as file, cq.open_table(table) as rows:
        shown = [file, file[name], rows, rows.where("plain == b'x'"), rows.where("plain == b'x'").explain()]
        for each in [*shown, cq.tune(path), cq.tune(table)]:
            for text in (repr(each), str(each), getattr(each, "_repr_html_", str)()):
                assert not UNSEEN & set(text), (type(each), text)


def test_errors_of_the_engine_quote_paths(tmp_path):
    path = tmp_path / "x\x1b[31m\u202e.b2nd"
    cq.asarray(np.arange(1000), path=path).close()
    path.write_bytes(path.read_bytes()[:200])
    with pytest.raises(cq.CorruptError) as caught:
        cq.open(path)
    assert "\\x1b[31m\\u202e" in str(caught.value)
    assert not UNSEEN & set(str(caught.value))
