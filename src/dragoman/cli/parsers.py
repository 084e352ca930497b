"""What the parsers of all commands share."""

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    # argparse has no public name for what add_subparsers gives.
    Subparsers: TypeAlias = argparse._SubParsersAction[  # noqa: SLF001
        argparse.ArgumentParser
    ]
else:
    Subparsers = object


class CommandParser(argparse.ArgumentParser):
    """Understands options before, between and after what a command is about.

    By itself, argparse takes `MODEL --beam 4 SENTENCE` for a MODEL without sentences.
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


def add_command(
    subparsers: Subparsers, name: str, description: str, examples: str
) -> argparse.ArgumentParser:
    """Add a subcommand whose help begins with its purpose and ends with examples."""
    parser = subparsers.add_parser(
        name,
        help=description.split("\n", 1)[0].rstrip(".").lower(),
        description=description,
        epilog=examples,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    # Understood before and after the command; only said in the help of the whole.
    parser.add_argument(
        "--debug",
        action="store_true",
        default=argparse.SUPPRESS,
        help=argparse.SUPPRESS,
    )
    return parser


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
