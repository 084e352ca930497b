"""`dragoman completion`: a script by which a shell completes commands and options."""

import argparse

from dragoman.cli.command_tree import command_tree
from dragoman.cli.parsers import Subparsers, add_command
from dragoman.cli.shell_scripts import bash_script, fish_script, zsh_script

DESCRIPTION = """\
Print a script that lets a shell complete commands, options and choices.

Let the shell read it whenever it starts: put the line for your shell (below) into
~/.bashrc, into ~/.zshrc after compinit, or into ~/.config/fish/config.fish."""

EXAMPLES = """\
examples:
  eval "$(dragoman completion bash)"
  eval "$(dragoman completion zsh)"
  dragoman completion fish | source
"""

SHELLS = ("bash", "zsh", "fish")


def add_parser(subparsers: Subparsers) -> None:
    """Declare the command."""
    parser = add_command(subparsers, "completion", DESCRIPTION, EXAMPLES)
    parser.add_argument("shell", choices=SHELLS)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print the script."""
    from dragoman.cli.main import build_parser  # which knows all commands, and this one

    tree = command_tree(build_parser())
    scripts = {"bash": bash_script, "zsh": zsh_script, "fish": fish_script}
    print(scripts[options.shell](tree), end="")
    return 0
