"""`dragoman evaluate`: how good a translator is, with signatures and intervals."""

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from dragoman.cli.carrying_over import add_glossary_options, load_glossary
from dragoman.cli.parsers import (
    Subparsers,
    add_command,
    add_engine_options,
    add_machine_options,
)
from dragoman.cli.search_options import add_search_options, asked_for
from dragoman.cli.threads import set_threads
from dragoman.errors import ConfigError

if TYPE_CHECKING:
    from dragoman.evaluation.report import EvaluationReport

DESCRIPTION = """\
Score a translator on a test set: BLEU, chrF2 and TER by sacreBLEU.

Each score comes with its signature and a 95 % bootstrap confidence interval, and BLEU
and chrF2 by source length besides. With --against, a paired bootstrap says whether the
difference between two models is more than chance. Of a language model, --text shows
the perplexity per token and the bits per character."""

EXAMPLES = """\
examples:
  dragoman evaluate MODEL --source test.en --reference test.de
  dragoman evaluate MODEL --source test.en --reference test.de --json
  dragoman evaluate MODEL --source test.en --reference test.de --against OTHER_MODEL
  dragoman evaluate LANGUAGE_MODEL --text test.txt
"""


def add_parser(subparsers: Subparsers) -> None:
    """Declare the command and its options."""
    parser = add_command(subparsers, "evaluate", DESCRIPTION, EXAMPLES)
    parser.add_argument("model", type=Path, metavar="MODEL", help="model folder")
    parser.add_argument("--source", type=Path, metavar="FILE")
    parser.add_argument("--reference", type=Path, metavar="FILE")
    parser.add_argument(
        "--text",
        type=Path,
        metavar="FILE",
        help="of a language model: its perplexity on this text",
    )
    parser.add_argument(
        "--against", type=Path, metavar="MODEL", help="compare with another model"
    )
    parser.add_argument(
        "--lowercase", action="store_true", help="compare without regard to case"
    )
    parser.add_argument(
        "--output", type=Path, metavar="FILE", help="keep the translations there"
    )
    add_glossary_options(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    add_search_options(parser)
    add_engine_options(parser)
    add_machine_options(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Translate the test set, score it and print the report."""
    if options.text is not None:
        return _perplexity(options)
    if options.source is None or options.reference is None:
        raise ConfigError(
            "there is nothing to score on: give --source and --reference for a "
            "translator, or --text for a language model"
        )
    from dragoman.evaluation.report import evaluate, plainly

    if options.output is not None:
        options.output.open("a").close()  # where nothing can be kept is said at once
    report = evaluate(
        options.model,
        source=options.source,
        reference=options.reference,
        against=options.against,
        lowercase=options.lowercase,
        glossary=load_glossary(options.glossary),
        protect=options.protect,
        split=options.split,
        device=options.device,
        engine=options.engine,
        threads=options.threads,
        progress=sys.stderr.isatty(),
        options=lambda own: asked_for(plainly(own), options),
    )
    if options.verbose:
        print(f"dragoman: translated with {report.engine}", file=sys.stderr)
    if options.output is not None:
        text = "".join(f"{line}\n" for line in report.translations)
        options.output.write_text(text, "utf-8")
    _print(report, options.json)
    return 0


def _perplexity(options: argparse.Namespace) -> int:
    from tqdm import tqdm

    from dragoman.language_models.language_model import LanguageModel
    from dragoman.text.lines import read_lines

    set_threads(options.threads)
    model = LanguageModel.load(options.model, options.device)
    with tqdm(unit="window", leave=False, disable=not sys.stderr.isatty()) as bar:

        def show(done: int, total: int) -> None:
            bar.total = total
            bar.update(done - bar.n)

        found = model.perplexity(read_lines(options.text), show)
    print(json.dumps(found.to_dict(), indent=2) if options.json else found.table())
    return 0


def _print(report: "EvaluationReport", as_json: bool) -> None:
    if as_json:
        print(json.dumps(report.to_dict(), indent=2))
    else:
        print(report.table())
