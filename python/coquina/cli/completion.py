"""print a script that completes subcommands and options in a shell

Examples:
  coquina completion bash > ~/.local/share/bash-completion/completions/coquina
  coquina completion zsh > ~/.zfunc/_coquina            with fpath+=~/.zfunc before compinit in ~/.zshrc
  coquina completion fish > ~/.config/fish/completions/coquina.fish
  source <(coquina completion bash)                     for this shell alone
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from coquina.cli import arguments, shells
from coquina.cli.parsing import subparsers_of
from coquina.cli.terminal import json_text, show

if TYPE_CHECKING:
    import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `coquina completion`."""
    parser.add_argument("shell", choices=tuple(shells.SCRIPTS), help="for which shell")
    arguments.add_json(parser)


def run(options: argparse.Namespace) -> None:
    """Print the script."""
    words = {name: shells.Command.of(sub) for name, sub in subparsers_of(options.top).items()}
    script = shells.SCRIPTS[options.shell](words)
    show(json_text({"shell": options.shell, "script": script}) if options.json else script, end="")
    if options.json:
        show("")
