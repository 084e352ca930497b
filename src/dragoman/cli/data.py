"""`dragoman data`: public corpora to begin with."""

import argparse
import sys
from pathlib import Path

from dragoman.cli.parsers import Subparsers, add_command

DESCRIPTION = """\
Get a public corpus, split for training, validation and test."""

EXAMPLES = """\
examples:
  dragoman data list
  dragoman data get tatoeba-en-es corpus
"""


def add_parser(subparsers: Subparsers) -> None:
    """Declare the command and its options."""
    parser = add_command(subparsers, "data", DESCRIPTION, EXAMPLES)
    actions = parser.add_subparsers(metavar="ACTION", required=True)
    listing = add_command(actions, "list", "List the corpora that can be had.", "")
    listing.set_defaults(run=list_corpora)
    get = add_command(actions, "get", "Fetch and split a corpus.", EXAMPLES)
    get.add_argument("name", metavar="NAME", help="see `dragoman data list`")
    get.add_argument("folder", type=Path, metavar="DIR", help="folder to write")
    get.set_defaults(run=get_corpus)


def list_corpora(options: argparse.Namespace) -> int:
    """Print each corpus with one line about it."""
    from dragoman.text.public_corpora import CORPORA

    del options
    for name, corpus in CORPORA.items():
        print(f"{name:18} {corpus.summary}")
    return 0


def get_corpus(options: argparse.Namespace) -> int:
    """Fetch a corpus and print the files it became."""
    from dragoman.text.public_corpora import get

    def say(message: str) -> None:
        print(message, file=sys.stderr)

    get(options.name, options.folder, on_message=say)
    return 0
