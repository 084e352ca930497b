"""The `dragoman` command: picks the subcommand, and says errors in one clear line."""

import argparse
import sys
from collections.abc import Sequence

from dragoman import __version__
from dragoman.cli import (
    data,
    demo,
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
    shortlist,
    studio,
    train,
    translate,
)
from dragoman.cli.parsers import CommandParser
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

COMMANDS = (
    train,
    translate,
    evaluate,
    score,
    export,
    import_,
    shortlist,
    inspect,
    plan,
    studio,
    lab,
    generate,
    fill,
    embed,
    neighbours,
    data,
    demo,
)


def build_parser() -> argparse.ArgumentParser:
    """Put the parsers of all subcommands together."""
    parser = argparse.ArgumentParser(
        prog="dragoman",
        description=DESCRIPTION,
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=__version__)
    parser.add_argument(
        "--debug", action="store_true", help="show the traceback of an error"
    )
    subparsers = parser.add_subparsers(
        dest="command", metavar="COMMAND", required=True, parser_class=CommandParser
    )
    for command in COMMANDS:
        command.add_parser(subparsers)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; give its exit code."""
    options = build_parser().parse_args(arguments)
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
        return _fail(_unforeseen(error), options.debug)
    return code


def _unforeseen(error: Exception) -> str:
    said = str(error).strip().partition("\n")[0]
    return (
        f"unforeseen {type(error).__name__} ({said or 'without a word'}): "
        "`dragoman --debug ...` shows where, please report it"
    )


def _fail(message: str, debug: bool) -> int:
    if debug:
        raise
    print(f"dragoman: {message}", file=sys.stderr)
    return 1
