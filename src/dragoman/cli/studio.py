"""`dragoman studio`: opens a page that shows models at work."""

import argparse
import os
import sys
from pathlib import Path

from dragoman.cli.parsers import Subparsers, add_command, add_machine_options

DESCRIPTION = """\
Open a page on this machine that shows what happens inside your translators.

Type a sentence and see its translation with the whole search for it, the attention of
every head, and each step of the arithmetic; switch heads off, edit scores, and watch
the translation change. Give several models to compare them; the checkpoints inside a
folder can be chosen on the page. Only this machine can open it, unless --host says
otherwise."""

EXAMPLES = """\
examples:
  dragoman studio runs/demo
  dragoman studio runs/demo runs/other --port 9000 --no-browser
"""


def add_parser(subparsers: Subparsers) -> None:
    """Declare the command and its options."""
    parser = add_command(subparsers, "studio", DESCRIPTION, EXAMPLES)
    parser.add_argument(
        "models", type=Path, nargs="+", metavar="MODEL", help="model folder"
    )
    parser.add_argument(
        "--host", default="127.0.0.1", help="address to bind to (default: 127.0.0.1)"
    )
    parser.add_argument(
        "--port", type=_port, help="port to bind to (default: the first free from 8717)"
    )
    parser.add_argument(
        "--no-browser", action="store_true", help="do not open a browser"
    )
    add_machine_options(parser, threads="one per core but one, for the browser")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Load the first model, and serve until Ctrl-C."""
    from dragoman.cli.threads import set_threads
    from dragoman.errors import MissingExtraError

    try:
        from dragoman.studio.app import build_app
        from dragoman.studio.server import serve
    except ModuleNotFoundError as error:
        raise MissingExtraError("the studio", str(error.name), "studio") from error
    # The browser needs a core of its own: one that is shared makes both wait.
    set_threads(options.threads or max(1, (os.cpu_count() or 1) - 1))
    app = build_app(options.models, device=options.device, host=options.host)
    serve(
        app,
        options.host,
        options.port,
        open_browser=not options.no_browser,
        say=_say,
    )
    return 0


def _say(message: str) -> None:
    print(message, file=sys.stderr, flush=True)


def _port(text: str) -> int:
    try:
        port = int(text)
    except ValueError:
        port = -1
    if not 0 <= port <= 65_535:
        raise argparse.ArgumentTypeError(f"{text!r} is not a port: choose 0 to 65535")
    return port
