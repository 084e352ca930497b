"""`dragoman neighbours`: which words a language model takes to be alike."""

import argparse
import json
from dataclasses import asdict
from pathlib import Path

from dragoman.cli.parsers import Subparsers, add_command, positive_int

DESCRIPTION = """\
Show the pieces whose learned vectors point most nearly where a word's does.

A word of several pieces is their mean. The model is a language model of either kind."""

EXAMPLES = """\
examples:
  dragoman neighbours MODEL king
  dragoman neighbours MODEL king --count 20 --json
"""


def add_parser(subparsers: Subparsers) -> None:
    """Declare the command and its options."""
    parser = add_command(subparsers, "neighbours", DESCRIPTION, EXAMPLES)
    parser.add_argument("model", type=Path, metavar="MODEL", help="model folder")
    parser.add_argument("word", metavar="WORD")
    parser.add_argument("--count", type=positive_int, default=10, metavar="N")
    parser.add_argument("--json", action="store_true", help="print one JSON array")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print the cosine and the piece of each neighbour, the nearest first."""
    from dragoman.language_models.embeddings import neighbours
    from dragoman.model_folder import load_text_model

    found = neighbours(load_text_model(options.model), options.word, options.count)
    if options.json:
        print(json.dumps([asdict(one) for one in found]))
    else:
        print("\n".join(f"{one.cosine:6.3f}  {one.piece}" for one in found))
    return 0
