"""Completion: bash's is asked as bash asks; zsh's and fish's are parsed where there are such shells."""

import json
import re
import shutil
import subprocess

import pytest

import coquina as cq
from coquina.cli import main, parser, shells
from coquina.cli.parsing import actions_of, subparsers_of

COMMANDS = subparsers_of(parser())


@pytest.fixture(scope="module")
def script(tmp_path_factory):
    path = tmp_path_factory.mktemp("bash") / "coquina.bash"
    path.write_text(shells.bash({name: shells.Command.of(sub) for name, sub in COMMANDS.items()}))
    return path


def completed(script, *questions):
    """Return what bash is told for each line, the last word of which is to be completed."""
    lines = [f"source {script}"]
    for words in questions:
        quoted = " ".join(f"'{word}'" for word in ("coquina", *words))
        lines.append(f'COMP_WORDS=({quoted}) COMP_CWORD={len(words)}; _coquina; echo "${{COMPREPLY[*]}}"')
    done = subprocess.run(["bash", "-c", "\n".join(lines)], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    return [line.split() for line in done.stdout.splitlines()]


def test_bash_completes_subcommands(script):
    everything, some, none = completed(script, [""], ["re"], ["zz"])
    assert everything == [*COMMANDS, "--help", "--version"]
    assert some == [name for name in COMMANDS if name.startswith("re")]
    assert none == []


def test_bash_completes_every_option_of_every_subcommand(script):
    found = completed(script, *([name, "-"] for name in COMMANDS))
    for (name, sub), words in zip(COMMANDS.items(), found, strict=True):
        assert words == [one for action in actions_of(sub) for one in action.option_strings], name


def test_bash_completes_values(script):
    questions = {
        ("compress", "x.npy", "-c", "l"): ["lz4", "lz4hc"],
        ("convert", "x.npy", "y.b2nd", "--codec", ""): [*cq.codecs(), "auto"],
        # bash cuts words at equality signs.
        ("convert", "x.npy", "--codec", "=", "zs"): ["zstd"],
        ("convert", "x.npy", "--codec", "="): [*cq.codecs(), "auto"],
        ("convert", "x.npy", "-F", "bit"): ["bitshuffle"],
        ("repack", "--filter", "b"): ["blosc2", "blosc", "bitshuffle"],
        ("query", "t.h5", "--format", ""): ["table", "csv", "arrow", "json"],
        ("bench", "x.npy", "--goal", "s"): ["speed", "size"],
        ("completion", ""): ["bash", "zsh", "fish"],
        ("compress", "--checksum", "sha5"): ["sha512"],
    }
    assert completed(script, *questions) == list(questions.values())


def test_bash_leaves_files_to_bash(script):
    # Nothing is answered, and `complete -o default` then gives the names of files.
    for words in (["info", ""], ["convert", "x.npy", ""], ["compress", "x", "--metadata", ""]):
        assert completed(script, words) == [[]]
    assert "complete -o default -F _coquina coquina" in script.read_text()


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_know_every_subcommand_and_option(shell, capfd, tmp_path):
    assert main(["completion", shell]) == 0
    text = capfd.readouterr().out
    for name, sub in COMMANDS.items():
        part = text
        if shell == "zsh":
            part = re.search(rf"^        {name}\)\n(.*?)^            ;;", text, re.MULTILINE | re.DOTALL)[1]
            assert f"'{name}:" in text
            found = set(re.findall(r"^\s+'(?:\*|\([^)]*\))(-[^\[]+)\[", part, re.MULTILINE))
        else:
            assert f"-a {name} -d" in text
            part = "\n".join(re.findall(rf"^.*seen_subcommand_from {name}'(.*)$", text, re.MULTILINE))
            longs = {f"--{one}" for one in re.findall(r" -l ([\w-]+)", part)}
            found = longs | {f"-{one}" for one in re.findall(r" -s (\w)", part)}
        assert found == {one for action in actions_of(sub) for one in action.option_strings}, name
    # Quotes pair up on every line, so that no help text ends a word.
    assert all(line.replace("\\'", "").count("'") % 2 == 0 for line in text.splitlines())
    if shutil.which(shell):
        (tmp_path / "script").write_text(text)
        done = subprocess.run([shell, "-n", tmp_path / "script"], capture_output=True, text=True)
        assert (done.returncode, done.stderr) == (0, "")


def test_the_script_is_the_same_in_json(capfd):
    assert main(["completion", "fish"]) == 0
    plain = capfd.readouterr().out
    assert main(["completion", "fish", "--json"]) == 0
    assert json.loads(capfd.readouterr().out) == {"shell": "fish", "script": plain}
