"""The `dragoman` command: picks the subcommand, and says errors in one clear line."""

import argparse
import sys
from collections.abc import Mapping, Sequence
from types import ModuleType

from dragoman import __version__
from dragoman.cli import (
    completion,
    data,
    demo,
    doctor,
    embed,
    evaluate,
    export,
    fill,
    generate,
    import_,
    inspect,
    lab,
    neighbours,
    plan,
    score,
    serve,
    shortlist,
    studio,
    train,
    translate,
)
from dragoman.cli.parsers import CommandParser, summary
from dragoman.errors import DragomanError

DESCRIPTION = """\
Train, score, use and look inside your own Transformer translator."""

EXAMPLES = """\
examples:
  dragoman data get tatoeba-en-es corpus
  dragoman train runs/en-es --source corpus/train.en --target corpus/train.es \\
      --valid-source corpus/valid.en --valid-target corpus/valid.es --minutes 10
  dragoman translate runs/en-es "Let's go!"
  dragoman evaluate runs/en-es --source corpus/test.en --reference corpus/test.es
  dragoman inspect runs/en-es "Let's go!" --html lets-go.html

`dragoman COMMAND --help` says more about each.
"""

GROUPS: Mapping[str, tuple[ModuleType, ...]] = {
    "make": (data, plan, train, import_, demo),
    "use": (translate, serve, export, shortlist),
    "measure": (evaluate, score, lab),
    "look inside": (inspect, studio),
    "language models": (generate, fill, embed, neighbours),
    "your machine": (doctor, completion),
}


def build_parser() -> CommandParser:
    """Put the parsers of all subcommands together."""
    parser = CommandParser(
        prog="dragoman",
        usage="dragoman [--help] [--version] [--debug] COMMAND ...",
        description=f"{DESCRIPTION}\n\n{_list_of_commands()}",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=__version__)
    parser.add_argument(
        "--debug", action="store_true", help="show the traceback of an error"
    )
    subparsers = parser.add_subparsers(
        prog="dragoman",
        dest="command",
        metavar="COMMAND",
        required=True,
        parser_class=CommandParser,
        help=argparse.SUPPRESS,  # as they are listed in groups
    )
    for commands in GROUPS.values():
        for command in commands:
            command.add_parser(subparsers)
    return parser


def _list_of_commands() -> str:
    lines = []
    for group, commands in GROUPS.items():
        lines.append(f"{group}:")
        for command in commands:
            # A module named for a word of Python's own has a dash below behind it.
            name = command.__name__.rpartition(".")[2].rstrip("_")
            lines.append(f"  {name:<12}{summary(command.DESCRIPTION)}")
    return "\n".join(lines)


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Read a command line; what is not understood ends the program with one line."""
    parser = build_parser()
    options, unknown = parser.parse_known_args(arguments)
    if unknown:
        options.parser.refuse_unknown(unknown)
    return options


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; give its exit code."""
    options = parse(arguments)
    try:
        code: int = options.run(options)
    except DragomanError as error:
        return _fail(str(error), options.debug)
    except BrokenPipeError:
        sys.stderr.close()  # the reader has left, as `head` does: that is no error
        return 0
    except KeyboardInterrupt:
        return 130
    except OSError as error:
        named = f"{error.filename}: " if error.filename else ""
        return _fail(f"{named}{error.strerror or error}", options.debug)
    except Exception as error:  # whatever nobody thought of is one line too
        return _fail(_internal(error), options.debug)
    return code


def _internal(error: Exception) -> str:
    said = str(error).strip().partition("\n")[0]
    named = f"{type(error).__name__}: {said}" if said else type(error).__name__
    return (
        f"internal error: {named} (`dragoman --debug ...` shows where; please report "
        "it with what `dragoman doctor` prints)"
    )


def _fail(message: str, debug: bool) -> int:
    if debug:
        raise
    print(f"dragoman: {message}", file=sys.stderr)
    return 1
