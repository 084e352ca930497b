"""`dragoman serve`: models behind the APIs that existing programs speak."""

import argparse
import sys
from pathlib import Path

from dragoman.cli.parsers import Subparsers, add_command, add_machine_options

DESCRIPTION = """\
Serve models to programs that speak LibreTranslate's, DeepL's or other APIs.

These are LibreTranslate, DeepL (v2 and v3), OPUS-CAT, OpenNMT, MTUOC, and our own /v1,
which is described at /docs.

Pairs of languages are found by the models' own. With --models-dir, a directory of model
folders is watched: a new version is loaded beside the old one, tried on its validation
sentences and takes its place without a lost request. Every option can also stand in a
TOML file (--settings) or in the environment (DRAGOMAN_SERVE_PORT)."""

EXAMPLES = """\
examples:
  dragoman serve runs/en-es runs/en-de
  dragoman serve --models-dir models --database usage.db
  dragoman serve runs/en-es --host 0.0.0.0 --keys keys.toml
  curl -d '{"q": "Hello!", "source": "en", "target": "es"}' localhost:8718/translate
"""


def add_parser(subparsers: Subparsers) -> None:
    """Declare the command and its options."""
    parser = add_command(subparsers, "serve", DESCRIPTION, EXAMPLES)
    parser.add_argument("models", nargs="*", metavar="MODEL", help="model folder")
    texts = {
        "models-dir": "a directory of model folders, watched for new versions",
        "host": "address to bind to (default: 127.0.0.1)",
        "socket": "a Unix socket to bind to instead",
        "keys": "a TOML file of API keys; without one, only this machine may ask",
        "database": "an SQLite file for usage and glossaries (default: in memory)",
    }
    for name, said in texts.items():
        parser.add_argument(f"--{name}", help=said)
    parser.add_argument("--port", type=int, help="port to bind to (default: 8718)")
    numbers = {
        "max-characters": "of one request (default: 100000)",
        "max-tokens": "that may wait; more are refused (default: 100000)",
        "cache": "sentences that are remembered (default: 10000)",
    }
    for name, said in numbers.items():
        parser.add_argument(f"--{name}", type=int, help=said)
    parser.add_argument(
        "--timeout", type=float, help="seconds for a request (default: 30)"
    )
    parser.add_argument(
        "--watch-seconds", type=float, help="between looks at --models-dir (default: 5)"
    )
    for name, said in (
        ("allowed-hosts", "a further name that the server answers to"),
        ("cors", "an origin whose pages may ask"),
    ):
        parser.add_argument(f"--{name}", action="append", metavar="NAME", help=said)
    for name, said in (
        ("anonymous", "answer without a key, other machines too"),
        ("log-requests", "a line for each request, without its text"),
    ):
        parser.add_argument(
            f"--{name}", action="store_const", const=True, default=None, help=said
        )
    parser.add_argument("--settings", type=Path, metavar="FILE", help="a TOML file")
    add_machine_options(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Serve until SIGTERM or Ctrl-C."""
    import asyncio

    from dragoman.errors import MissingExtraError
    from dragoman.serving.settings import ServeSettings, read_settings

    names = ServeSettings.__dataclass_fields__
    flags = {name: getattr(options, name, None) for name in names}
    flags["models"] = options.models or None
    if flags["device"] == "auto":
        flags["device"] = None
    settings = read_settings(flags, options.settings)
    try:
        import granian  # noqa: F401 (to say at once that it is missing)

        from dragoman.serving.server import serve, set_up_logs
    except ModuleNotFoundError as error:
        raise MissingExtraError("the server", str(error.name), "serve") from error
    set_up_logs(settings.log_requests)
    asyncio.run(serve(settings, _say))
    return 0


def _say(message: str) -> None:
    print(message, file=sys.stderr, flush=True)
