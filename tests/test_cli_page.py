"""The page of the command: its lines run, and it names everything."""

import re
import shutil
from pathlib import Path

import pytest

from coquina.cli import parser
from coquina.cli.parsing import actions_of, subparsers_of
from tests import cli_world
from tests.cli_world import said

COMMANDS = subparsers_of(parser())
PAGE = (Path(__file__).parents[1] / "docs" / "guide" / "command.md").read_text()
LINES = [
    line.partition(" #")[0].strip()
    for block in re.findall(r"^```sh\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    for line in block.splitlines()
]


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    folder = tmp_path_factory.mktemp("world")
    cli_world.make(folder)
    return folder


@pytest.mark.parametrize("line", [one for one in dict.fromkeys(LINES) if not cli_world.is_shell(one)])
def test_lines_of_the_page_run(line, world, tmp_path, monkeypatch, capfd):
    shutil.copytree(world, tmp_path / "w")
    monkeypatch.chdir(tmp_path / "w")
    cli_world.be_quick(monkeypatch)
    code, _, err = said(capfd, line)
    assert (code, err) == (0, "")


def test_the_page_names_every_subcommand_and_option():
    assert {line.split()[1] for line in LINES} == set(COMMANDS)
    named = set(re.findall(r"--[a-z][\w-]*", PAGE))
    options = {
        one for sub in COMMANDS.values() for action in actions_of(sub) for one in action.option_strings
    }
    longs = {one for one in options if one.startswith("--")}
    assert longs == named
