"""`dragoman embed`: the vectors of words, alone and in context, for other programs."""

import argparse
import sys
from pathlib import Path

from dragoman.cli.line_stream import invite
from dragoman.cli.parsers import Subparsers, add_command, add_machine_options
from dragoman.cli.threads import set_threads

DESCRIPTION = """\
Export a masked language model's vectors to a file that numpy.load reads.

It holds `vocabulary` and `static`, the learned vector of each piece. For texts it also
holds `contextual`, a vector for each token as the encoder leaves it, with `tokens`,
`pieces` and `starts` (where each text begins), and `texts`, the mean of each text."""

EXAMPLES = """\
examples:
  dragoman embed MODEL --output vectors.npz
  dragoman embed MODEL "the bank of the river" "money in the bank" --output vectors.npz
  dragoman embed MODEL - --output vectors.npz < lines.txt
"""


def add_parser(subparsers: Subparsers) -> None:
    """Declare the command and its options."""
    parser = add_command(subparsers, "embed", DESCRIPTION, EXAMPLES)
    parser.add_argument("model", type=Path, metavar="MODEL", help="model folder")
    parser.add_argument(
        "texts",
        nargs="*",
        metavar="TEXT",
        help="- reads lines of standard input",
    )
    parser.add_argument("--output", type=Path, required=True, metavar="FILE.npz")
    add_machine_options(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Write the vectors."""
    from dragoman.language_models.embeddings import write_npz
    from dragoman.language_models.masked_language_model import MaskedLanguageModel

    set_threads(options.threads)
    model = MaskedLanguageModel.load(options.model, options.device)
    texts = options.texts
    if texts == ["-"]:
        invite("lines of text")
        texts = [line for line in sys.stdin.read().split("\n") if line.strip()]
    write_npz(options.output, model.saved, model.embed(texts) if texts else None)
    return 0
