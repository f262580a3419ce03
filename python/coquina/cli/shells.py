"""Scripts that make shells complete the command, made of argparse's tree.

In: the parsers of subcommands. Out: text for bash, zsh and fish. A script is plain data: it calls neither
Python nor the command, so that completing takes no time.
"""

from __future__ import annotations

import argparse
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from coquina.cli import arguments
from coquina.cli.parsing import actions_of

if TYPE_CHECKING:
    from collections.abc import Callable

Commands = dict[str, "Command"]

_FILES = ("output", "metadata", "plot", "apply")  # options whose values are names of files


@dataclass(frozen=True, slots=True)
class Option:
    """An option: its spellings, what it is for, and what may follow it."""

    names: tuple[str, ...]
    about: str
    takes_value: bool
    words: tuple[str, ...] = ()
    takes_file: bool = False
    repeats: bool = False


@dataclass(frozen=True, slots=True)
class Command:
    """A subcommand: what it is for, its options, and the words that its argument is one of, if it is."""

    about: str
    options: list[Option] = field(default_factory=list["Option"])
    words: tuple[str, ...] = ()

    @staticmethod
    def of(parser: argparse.ArgumentParser) -> Command:
        """Return what a parser takes."""
        options: list[Option] = []
        words: tuple[str, ...] = ()
        for action in actions_of(parser):
            if action.help == argparse.SUPPRESS:
                continue
            if action.option_strings:
                options.append(_option(action))
            elif action.choices is not None:
                words = tuple(map(str, action.choices))
        return Command(parser.description or "", options, words)


def _option(action: argparse.Action) -> Option:
    words: tuple[str, ...] = ()
    if action.choices is not None:
        words = tuple(map(str, action.choices))
    elif action.dest in arguments.WORDS:
        words = tuple(arguments.WORDS[action.dest]())
    about = (action.help or "").partition("; ")[0]
    return Option(
        tuple(action.option_strings),
        about,
        action.nargs != 0,
        words,
        action.dest in _FILES,
        type(action).__name__ == "_AppendAction",
    )


def bash(commands: Commands) -> str:
    """Return a function for bash, and the call that makes it complete the command."""
    names = " ".join([*commands, "--help", "--version"])
    lines: list[str] = []
    for name, command in commands.items():
        for option in command.options:
            if option.takes_value:
                patterns = "|".join(f"'{name} {spelling}'" for spelling in option.names)
                lines.append(f"        {patterns}) {_bash_words(option.words)} ;;")
    options = [
        f"        {name}) options='{' '.join(one for option in command.options for one in option.names)}'"
        f" words='{' '.join(command.words)}' ;;"
        for name, command in commands.items()
    ]
    return _BASH.format(names=names, values="\n".join(lines), options="\n".join(options))


def _bash_words(words: tuple[str, ...]) -> str:
    # With nothing to reply, `complete -o default` completes the names of files.
    return f"COMPREPLY=($(compgen -W '{' '.join(words)}' -- \"$cur\")); return" if words else "return"


_BASH = """\
# Completes coquina in bash.
_coquina() {{
    local cur=${{COMP_WORDS[COMP_CWORD]}} prev=${{COMP_WORDS[COMP_CWORD-1]}} command= options= words= i
    COMPREPLY=()
    # bash cuts --codec=zstd into three words.
    if [[ $cur == = ]]; then
        cur=
    elif [[ $prev == = ]]; then
        prev=${{COMP_WORDS[COMP_CWORD-2]}}
    fi
    for ((i = 1; i < COMP_CWORD; i++)); do
        if [[ ${{COMP_WORDS[i]}} != -* ]]; then
            command=${{COMP_WORDS[i]}}
            break
        fi
    done
    if [[ -z $command ]]; then
        COMPREPLY=($(compgen -W '{names}' -- "$cur"))
        return
    fi
    case "$command $prev" in
{values}
    esac
    case $command in
{options}
    esac
    if [[ $cur == -* ]]; then
        COMPREPLY=($(compgen -W "$options" -- "$cur"))
    elif [[ -n $words ]]; then
        COMPREPLY=($(compgen -W "$words" -- "$cur"))
    fi
}}
complete -o default -F _coquina coquina
"""


def zsh(commands: Commands) -> str:
    """Return a file for zsh's `fpath`, named `_coquina`; it may be sourced too."""
    listed = [f"        '{name}:{_zsh_text(command.about)}'" for name, command in commands.items()]
    cases: list[str] = []
    for name, command in commands.items():
        specs = [spec for option in command.options for spec in _zsh_specs(option)]
        specs.append(f"'1:word:({' '.join(command.words)})'" if command.words else "'*:file:_files'")
        cases.append(
            f"        {name})\n            _arguments -s \\\n                "
            + " \\\n                ".join(specs)
        )
        cases.append("            ;;")
    return _ZSH.format(commands="\n".join(listed), cases="\n".join(cases))


def _zsh_specs(option: Option) -> list[str]:
    others = "*" if option.repeats else f"({' '.join(option.names)})"
    value = ""
    if option.takes_value:
        long = option.names[-1].lstrip("-")
        action = "_files" if option.takes_file else f"({' '.join(option.words)})" if option.words else " "
        value = f":{long}:{action}"
    return [f"'{others}{name}[{_zsh_text(option.about)}]{value}'" for name in option.names]


def _zsh_text(text: str) -> str:
    return re.sub(r"([\[\]:\\])", r"\\\1", text.replace("'", ""))


_ZSH = """\
#compdef coquina
# Completes coquina in zsh.
_coquina() {{
    local -a commands
    commands=(
{commands}
    )
    if (( CURRENT == 2 )); then
        _describe command commands
        return
    fi
    shift words
    (( CURRENT-- ))
    case $words[1] in
{cases}
    esac
}}
if [[ $funcstack[1] == _coquina ]]; then
    _coquina "$@"
else
    compdef _coquina coquina
fi
"""


def fish(commands: Commands) -> str:
    """Return commands for fish: one for each subcommand and option."""
    lines = ["# Completes coquina in fish.", "complete -c coquina -n __fish_use_subcommand -f"]
    lines += [
        f"complete -c coquina -n __fish_use_subcommand -f -a {name} -d '{_fish_text(command.about)}'"
        for name, command in commands.items()
    ]
    for name, command in commands.items():
        where = f"complete -c coquina -n '__fish_seen_subcommand_from {name}'"
        if command.words:
            lines.append(f"{where} -f -a '{' '.join(command.words)}'")
        lines += [f"{where}{_fish_spec(option)}" for option in command.options]
    return "\n".join(lines) + "\n"


def _fish_spec(option: Option) -> str:
    spec = "".join(f" -l {name[2:]}" if name.startswith("--") else f" -s {name[1:]}" for name in option.names)
    if option.takes_value:
        spec += (
            " -r -F" if option.takes_file else f" -x -a '{' '.join(option.words)}'" if option.words else " -x"
        )
    return f"{spec} -d '{_fish_text(option.about)}'"


def _fish_text(text: str) -> str:
    return text.replace("\\", "\\\\").replace("'", "\\'")


#: Shells, and what makes their scripts.
SCRIPTS: dict[str, Callable[[Commands], str]] = {"bash": bash, "zsh": zsh, "fish": fish}
