"""What holds for every subcommand: examples that run, --json, names of options, errors in one line."""

import argparse
import json
import shlex
import shutil

import pytest

from coquina.cli import main, parser
from coquina.cli.parsing import actions_of, subparsers_of
from tests import cli_world
from tests.cli_world import said

COMMANDS = subparsers_of(parser())
EXAMPLES = cli_world.all_examples()
#: Subcommands that are about no file, or that print no report but content.
WITHOUT_FILE = {"codecs", "plugins", "plugin-path", "completion", "licenses"}
#: Subcommands that answer until they are ended; other programs say with how many threads.
SERVERS = {"browse", "serve", "view"}
PARALLEL = set(COMMANDS) - WITHOUT_FILE - SERVERS - {"info", "ls", "recover", "train"}
WRITERS = {"convert", "repair", "repack", "recover", "compress", "decompress"}


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    folder = tmp_path_factory.mktemp("world")
    cli_world.make(folder)
    return folder


@pytest.fixture
def here(world, tmp_path, monkeypatch):
    shutil.copytree(world, tmp_path / "w")
    monkeypatch.chdir(tmp_path / "w")
    cli_world.be_quick(monkeypatch)
    return tmp_path / "w"


@pytest.mark.parametrize(("command", "example"), EXAMPLES)
def test_examples_of_help_run(command, example, here, capfd):
    if cli_world.is_shell(example):
        done = cli_world.in_shell(example, here)
        assert (done.returncode, done.stderr) == (0, "")
        return
    code, out, err = said(capfd, example)
    assert (code, err) == (0, "")
    is_silent = "--quiet" in example and command != "bench"
    assert bool(out) != is_silent


@pytest.mark.parametrize(("command", "example"), [pair for pair in EXAMPLES if pair[0]])
def test_json_is_one_document(command, example, here, capfd):
    if cli_world.is_shell(example):
        example = {"verify": "coquina verify run.h5", "plugin-path": "coquina plugin-path"}.get(
            command, "coquina completion zsh"
        )
    words = shlex.split(example)
    if command == "query" and "-o" in words:
        pytest.skip("writes a file")
    if "--json" not in words:
        words.append("--json")
    code, out, err = said(capfd, shlex.join(words))
    assert (code, err) == (0, "")
    assert isinstance(json.loads(out), dict)
    assert out.endswith("\n")


def test_every_subcommand_has_examples_and_says_what_it_is():
    assert {name for name, _ in EXAMPLES} == {"", *COMMANDS}
    for name, sub in COMMANDS.items():
        assert any(f"coquina {name}" in one for command, one in EXAMPLES if command == name)
        assert sub.description
        assert "Examples:" in sub.format_help()
        assert all(action.help for action in actions_of(sub)), name


def test_options_have_one_name_and_one_meaning():
    names: dict[str, set[str]] = {}
    letters: dict[str, set[str]] = {}
    types: dict[str, set[bool]] = {}
    for sub in COMMANDS.values():
        for action in actions_of(sub):
            if not action.option_strings:
                continue
            longs = [one for one in action.option_strings if one.startswith("--")]
            for one in action.option_strings:
                names.setdefault(one, set()).add(action.dest)
                if not one.startswith("--"):
                    letters.setdefault(one, set()).add(longs[0])
            types.setdefault(action.dest, set()).add(action.nargs == 0)
    assert {one: found for one, found in (names | letters | types).items() if len(found) > 1} == {}
    assert letters["-t"] == {"--threads"}
    assert letters["-o"] == {"--output"}


def test_options_that_belong_to_a_kind_of_command_are_on_all_of_it():
    options = {
        name: {one for action in actions_of(sub) for one in action.option_strings}
        for name, sub in COMMANDS.items()
    }
    for name, found in options.items():
        assert {"-h", "--help", "--json"} <= found, name
        assert ("--threads" in found) == (name in PARALLEL), name
        if name in WRITERS:
            assert {"-f", "--force", "-q", "--quiet"} <= found, name
        encoding = {"--codec", "--level", "--filters"} & found
        assert len(encoding) in (0, 3), name
    for name, sub in COMMANDS.items():
        places = [action.dest for action in actions_of(sub) if not action.option_strings]
        if name in WRITERS:
            assert places == ["file", "output"]
        elif name not in WITHOUT_FILE:
            assert places[0] == ("files" if name == "train" else "file")


def needed(name):
    """Return words for all that a subcommand must be told, of files that are not there."""
    sub = COMMANDS[name]
    required = [one for one in actions_of(sub) if not one.option_strings and one.nargs not in ("?", "*")]
    return [f"not_there_{one.dest}" for one in required]


@pytest.mark.parametrize("name", sorted(set(COMMANDS) - WITHOUT_FILE))
def test_a_file_that_is_not_there_is_one_line(name, tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "not_there_fill").touch()
    missing = needed(name)[0]
    assert main([name, *needed(name)]) == (2 if name == "diff" else 1)
    out, err = capfd.readouterr()
    assert out == ""
    assert err == f"coquina: {missing}: there is no such file; did you mean not_there_fill?\n"
    assert main([name, *needed(name), "--json"]) == (2 if name == "diff" else 1)
    out, err = capfd.readouterr()
    assert out == ""
    error = json.loads(err)["error"]
    assert set(error) == {"kind", "message", "place"}
    # Where several files are given, the message alone names the one.
    place = None if name == "train" else missing
    assert (error["kind"], error["place"]) == ("not_found", place)
    assert [path.name for path in tmp_path.iterdir()] == ["not_there_fill"]


@pytest.mark.parametrize("name", COMMANDS)
def test_wrong_arguments_are_one_line_and_exit_code_2(name, capfd):
    assert main([name, *needed(name), "--thread=1"]) == 2
    err = capfd.readouterr().err
    assert err.startswith("coquina: ")
    assert err.count("\n") == 1
    assert f"`coquina {name} --help`" in err
    assert main([name, *needed(name), "--json", "--thread=1"]) == 2
    assert json.loads(capfd.readouterr().err)["error"]["kind"] == "arguments"


def test_abbreviations_are_not_taken_but_answered(capfd):
    assert main(["compress", "x", "--leve", "3"]) == 2
    assert "'--leve' (did you mean '--level'?)" in capfd.readouterr().err
    assert main(["compres", "x"]) == 2
    assert "did you mean 'compress'?" in capfd.readouterr().err


def test_no_parser_is_plain_argparse():
    def all_of(found):
        yield found
        for sub in subparsers_of(found).values():
            yield from all_of(sub)

    for one in all_of(parser()):
        assert type(one) is not argparse.ArgumentParser
