"""All commands with their options, read from the parsers, for shells to complete."""

import argparse
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

LONGEST_HELP = 72  # characters, to stand beside a name


@dataclass(frozen=True)
class Option:
    """An option: its names, what may follow it, and its help."""

    names: tuple[str, ...]
    help: str
    takes_value: bool
    choices: tuple[str, ...]
    is_path: bool


@dataclass(frozen=True)
class Command:
    """A command, by the words that lead to it; the first is empty."""

    words: tuple[str, ...]
    help: str
    options: tuple[Option, ...]
    choices: tuple[str, ...]  # for what stands without an option's name
    takes_paths: bool
    commands: "tuple[Command, ...]"

    @property
    def name(self) -> str:
        """The last of its words."""
        return self.words[-1] if self.words else ""


def command_tree(
    parser: argparse.ArgumentParser, words: tuple[str, ...] = (), about: str = ""
) -> Command:
    """Read what a parser understands, and its subcommands."""
    known = parser._actions  # noqa: SLF001 (argparse has no public list)
    actions = [action for action in known if action.help != argparse.SUPPRESS]
    plain = [action for action in known if not action.option_strings]
    commands: list[Command] = []
    for action in plain:
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001
            helps = {a.dest: a.help or "" for a in action._choices_actions}  # noqa: SLF001
            commands += [
                command_tree(sub, (*words, name), helps.get(name, ""))
                for name, sub in action.choices.items()
            ]
    positional = [a for a in plain if not isinstance(a, argparse._SubParsersAction)]  # noqa: SLF001
    return Command(
        words,
        about,
        tuple(_option(action) for action in actions if action.option_strings),
        tuple(str(c) for action in positional for c in action.choices or ()),
        any(action.type is Path for action in positional),
        tuple(commands),
    )


def _option(action: argparse.Action) -> Option:
    return Option(
        names=tuple(action.option_strings),
        help=_short(action.help or ""),
        takes_value=action.nargs != 0,
        choices=tuple(map(str, action.choices or ())),
        is_path=action.type is Path,
    )


def walk(command: Command) -> Iterator[Command]:
    """Yield a command and all beneath it."""
    yield command
    for below in command.commands:
        yield from walk(below)


def _short(text: str) -> str:
    """Return the beginning of a help text, up to where it goes into particulars."""
    plain = re.split(r"[;(]", " ".join(text.split()))[0].strip().replace("%%", "%")
    return plain if len(plain) <= LONGEST_HELP else f"{plain[: LONGEST_HELP - 1]}…"
