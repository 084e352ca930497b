"""`dragoman shortlist`: which target tokens a source sentence may call for."""

import argparse
import sys
from pathlib import Path

from dragoman.cli.parsers import (
    Subparsers,
    add_command,
    add_machine_options,
    positive_int,
)

DESCRIPTION = """\
Learn a vocabulary shortlist, with which translating scores fewer tokens.

Which target tokens translate which source tokens is learned from the model's own
training text (IBM model 1) and kept in MODEL/shortlist.safetensors. `translate` and
`evaluate` use it with --shortlist. What it costs in BLEU and saves in time is then
measured and printed, on the validation text of the training run or on your own."""

EXAMPLES = """\
examples:
  dragoman shortlist MODEL
  dragoman shortlist MODEL --candidates 100 --common 500
  dragoman shortlist MODEL --source test.en --reference test.de
  dragoman translate MODEL --shortlist < input.en > output.de
"""

MOST_SENTENCES = 1000  # of validation text


def add_parser(subparsers: Subparsers) -> None:
    """Declare the command and its options."""
    parser = add_command(subparsers, "shortlist", DESCRIPTION, EXAMPLES)
    parser.add_argument("model", type=Path, metavar="MODEL", help="model folder")
    parser.add_argument(
        "--candidates",
        type=positive_int,
        metavar="N",
        help="translations of each source token (default: 200)",
    )
    parser.add_argument(
        "--common",
        type=positive_int,
        metavar="N",
        help="commonest tokens, always allowed (default: 1000)",
    )
    parser.add_argument(
        "--source", type=Path, metavar="FILE", help="text to measure its cost on"
    )
    parser.add_argument(
        "--reference", type=Path, metavar="FILE", help="its translations"
    )
    add_machine_options(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Learn the shortlist, and measure what it costs."""
    from dragoman.cli.threads import set_threads
    from dragoman.evaluation.shortlist_cost import shortlist_cost
    from dragoman.model_files import SHORTLIST
    from dragoman.training.shortlist import CANDIDATES, COMMON, learn_shortlist
    from dragoman.translator import Translator

    set_threads(options.threads)
    pairs = _pairs(options)
    learn_shortlist(
        options.model, options.candidates or CANDIDATES, options.common or COMMON
    )
    print(f"the shortlist is in {options.model / SHORTLIST}", file=sys.stderr)
    if not pairs:
        print(
            "this run kept no validation text: give --source and --reference to see "
            "what the shortlist costs",
            file=sys.stderr,
        )
        return 0
    translator = Translator.load(options.model, options.device, engine="pytorch")
    sources, references = zip(*pairs, strict=True)
    print(shortlist_cost(translator, sources, references))
    return 0


def _pairs(options: argparse.Namespace) -> list[tuple[str, str]]:
    """Read the text to measure on, before anything is learned."""
    from dragoman.errors import ConfigError
    from dragoman.evaluation.report import read_test_set
    from dragoman.inspection.validation_pairs import validation_pairs

    if (options.source is None) != (options.reference is None):
        raise ConfigError(
            "--source and --reference belong together: give both, or neither for the "
            "validation text of the training run"
        )
    if options.source is None:
        return validation_pairs(options.model, MOST_SENTENCES)
    return list(zip(*read_test_set(options.source, options.reference), strict=True))
