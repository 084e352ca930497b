"""`dragoman generate`: a language model goes on with a text."""

import argparse
from pathlib import Path

from dragoman.cli.parsers import (
    Subparsers,
    add_command,
    add_machine_options,
    positive_int,
)
from dragoman.cli.threads import set_threads

DESCRIPTION = """\
Let a language model go on with a text.

Each token is drawn by its probability; the same seed draws the same text. The end of a
line is a token like any other."""

EXAMPLES = """\
examples:
  dragoman train MODEL --task lm --text book.txt --minutes 10
  dragoman generate MODEL "It was a dark and"
  dragoman generate MODEL "It was a dark and" --temperature 0.8 --top-k 50 --seed 3
  dragoman generate MODEL "It was a dark and" --top-p 0.9 --max-tokens 300 --one-line
  dragoman generate MODEL "It was a dark and" --top-k 1        (always the likeliest)
"""


def add_parser(subparsers: Subparsers) -> None:
    """Declare the command and its options."""
    parser = add_command(subparsers, "generate", DESCRIPTION, EXAMPLES)
    parser.add_argument("model", type=Path, metavar="MODEL", help="model folder")
    parser.add_argument(
        "prompt", nargs="?", default="", metavar="TEXT", help="how it begins"
    )
    parser.add_argument("--max-tokens", type=positive_int, default=100, metavar="N")
    parser.add_argument(
        "--temperature",
        type=float,
        default=1.0,
        metavar="X",
        help="below 1 the likely becomes likelier (default: 1)",
    )
    parser.add_argument(
        "--top-k", type=int, default=0, metavar="N", help="of the N likeliest tokens"
    )
    parser.add_argument(
        "--top-p", type=float, default=1.0, metavar="X", help="of those that make up X"
    )
    parser.add_argument("--seed", type=int, default=1, metavar="N")
    parser.add_argument(
        "--one-line", action="store_true", help="stop where the line ends"
    )
    add_machine_options(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print the text that begins with the prompt."""
    from dragoman.language_models.language_model import LanguageModel

    set_threads(options.threads)
    model = LanguageModel.load(options.model, options.device)
    print(
        model.generate(
            options.prompt,
            max_tokens=options.max_tokens,
            temperature=options.temperature,
            top_k=options.top_k,
            top_p=options.top_p,
            seed=options.seed,
            one_line=options.one_line,
        )
    )
    return 0
