"""`dragoman fill`: a masked language model finds missing words."""

import argparse
import json
from dataclasses import asdict
from pathlib import Path

from dragoman.cli.parsers import (
    Subparsers,
    add_command,
    add_machine_options,
    positive_int,
)
from dragoman.cli.threads import set_threads

DESCRIPTION = """\
Let a masked language model fill the gaps of a text.

A gap is [MASK], as a word by itself. For each, the likeliest words come with their
probabilities."""

EXAMPLES = """\
examples:
  dragoman train MODEL --task mlm --text book.txt --minutes 10
  dragoman fill MODEL "the [MASK] sat on the mat"
  dragoman fill MODEL "the [MASK] sat on the [MASK]" --top-k 3 --json
"""


def add_parser(subparsers: Subparsers) -> None:
    """Declare the command and its options."""
    parser = add_command(subparsers, "fill", DESCRIPTION, EXAMPLES)
    parser.add_argument("model", type=Path, metavar="MODEL", help="model folder")
    parser.add_argument("text", metavar="TEXT", help="with [MASK] in it")
    parser.add_argument(
        "--top-k", type=positive_int, default=5, metavar="N", help="words for each gap"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON array")
    add_machine_options(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print the words of each gap, a blank line between two gaps."""
    from dragoman.language_models.masked_language_model import MaskedLanguageModel

    set_threads(options.threads)
    model = MaskedLanguageModel.load(options.model, options.device)
    gaps = model.fill(options.text, options.top_k)
    if options.json:
        print(json.dumps([[asdict(word) for word in words] for words in gaps]))
        return 0
    shown = [
        "\n".join(f"{word.probability:7.2%}  {word.word}" for word in words)
        for words in gaps
    ]
    print("\n\n".join(shown))
    return 0
