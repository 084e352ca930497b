"""What the parsers of all commands share."""

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING, NoReturn, TypeAlias

from dragoman.arguments import nearest

if TYPE_CHECKING:
    # argparse has no public name for what add_subparsers gives.
    Subparsers: TypeAlias = argparse._SubParsersAction[  # noqa: SLF001
        argparse.ArgumentParser
    ]
else:
    Subparsers = object


MISSING = "the following arguments are required"  # argparse's own words


class CommandParser(argparse.ArgumentParser):
    """Understands options before, between and after what a command is about.

    By itself, argparse takes `MODEL --beam 4 SENTENCE` for a MODEL without sentences,
    and answers a slip with the whole usage.
    """

    _is_parsing = False

    def parse_known_args(  # type: ignore[override]  # argparse's has overloads
        self,
        args: Sequence[str] | None = None,
        namespace: argparse.Namespace | None = None,
    ) -> tuple[argparse.Namespace, list[str]]:
        """Read options first, and what is left of the command after them."""
        if self._is_parsing or self._subparsers is not None:
            return super().parse_known_args(args, namespace)
        self._is_parsing = True
        try:
            return self.parse_known_intermixed_args(args, namespace)
        finally:
            self._is_parsing = False

    def error(self, message: str) -> NoReturn:
        """Say in one line what is wrong with a command, and end."""
        _, is_missing, names = message.partition(f"{MISSING}: ")
        if is_missing:
            noun = "is" if "," not in names else "are"
            message = f"{names} {noun} missing: {self._advice()}"
        self.exit(2, f"{self.prog}: {message}\n")

    def refuse_unknown(self, arguments: Sequence[str]) -> NoReturn:
        """Say which option was probably meant, or that there is too much."""
        known = self._option_string_actions
        for argument in arguments:
            name = argument.partition("=")[0]
            if name.startswith("-"):
                self.error(
                    f"there is no option {name!r}{nearest(name, known)}: "
                    f"{self._advice()}"
                )
        self.error(f"{arguments[0]!r} is one argument too many: {self._advice()}")

    def _advice(self) -> str:
        return f"see `{self.prog} --help`"

    def _check_value(self, action: argparse.Action, value: object) -> None:
        """Name the nearest right choice where argparse lists them all and no more."""
        if action.choices is None or value in action.choices:
            return
        choices = list(map(str, action.choices))
        near = nearest(value, choices)
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001 (no public name)
            self.error(f"there is no command {value!r}{near}: {self._advice()}")
        raise argparse.ArgumentError(
            action, f"there is no {value!r}{near}: choose one of {', '.join(choices)}"
        )


def add_command(
    subparsers: Subparsers, name: str, description: str, examples: str
) -> argparse.ArgumentParser:
    """Add a subcommand whose help begins with its purpose and ends with examples."""
    parser = subparsers.add_parser(
        name,
        help=summary(description),
        description=description,
        epilog=examples,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(parser=parser)
    # Understood before and after the command; only said in the help of the whole.
    parser.add_argument(
        "--debug",
        action="store_true",
        default=argparse.SUPPRESS,
        help=argparse.SUPPRESS,
    )
    return parser


def summary(description: str) -> str:
    """Return the first line of a description, as lists of commands show it."""
    return description.split("\n", 1)[0].rstrip(".")


def add_machine_options(
    parser: argparse._ActionsContainer, threads: str = "one per core"
) -> None:
    """Let the person say what the network runs on."""
    parser.add_argument("--threads", type=positive_int, help=f"default: {threads}")
    parser.add_argument(
        "--device", default="auto", help="auto (a GPU where there is one), cpu or cuda"
    )


def add_engine_options(parser: argparse._ActionsContainer) -> None:
    """Let the person say what translates, and what to tell of it."""
    parser.add_argument(
        "--engine",
        choices=("auto", "pytorch", "ctranslate2"),
        default="auto",
        help="auto: ctranslate2 where `dragoman export` was run and it can do what is "
        "asked, else pytorch",
    )
    parser.add_argument(
        "-v", "--verbose", action="store_true", help="say which engine translates"
    )


def positive_int(text: str) -> int:
    """Read a whole number above 0."""
    try:
        value = int(text)
    except ValueError:
        value = 0
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number above 0")
    return value


def positive_float(text: str) -> float:
    """Read a number above 0."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number above 0")
    return value


def share(text: str) -> float:
    """Read a number from 0 to 1."""
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 0 to 1")
    return value
