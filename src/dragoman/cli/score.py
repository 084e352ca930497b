"""`dragoman score`: how likely a model finds given translations."""

import argparse
import json
import sys
from array import array
from pathlib import Path
from typing import TYPE_CHECKING

from dragoman.cli.parsers import Subparsers, add_command, add_machine_options, share

if TYPE_CHECKING:
    from dragoman.evaluation.pair_scores import PairScore
    from dragoman.translator import Translator

DESCRIPTION = """\
Score given translations by their log-probability.

One line comes out for each pair: the score (mean log-probability of a token), the
log-probability of the whole, and those of its pieces, the end of the sentence last,
separated by tabs; or one JSON object for each. A pair that is blank on a side or longer
than the model was trained for has the score -inf.

With --filter, the best share of the pairs is written to DIR/kept, and the rest to
DIR/aside, in files called as yours are; the scores are in DIR/scores.tsv."""

EXAMPLES = """\
examples:
  dragoman score MODEL --source test.en --target test.de
  dragoman score MODEL --source test.en --target test.de --json
  dragoman score MODEL --source web.en --target web.de --filter 0.8 --output filtered
"""


def add_parser(subparsers: Subparsers) -> None:
    """Declare the command and its options."""
    parser = add_command(subparsers, "score", DESCRIPTION, EXAMPLES)
    parser.add_argument("model", type=Path, metavar="MODEL", help="model folder")
    parser.add_argument("--source", type=Path, required=True, metavar="FILE")
    parser.add_argument("--target", type=Path, required=True, metavar="FILE")
    parser.add_argument("--json", action="store_true", help="one object for each pair")
    parser.add_argument(
        "--filter", type=share, metavar="SHARE", help="keep this share, from 0 to 1"
    )
    parser.add_argument(
        "--output", type=Path, metavar="DIR", help="where --filter writes"
    )
    add_machine_options(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Score all pairs as they are read; then part them, if asked to."""
    from dragoman.cli.threads import set_threads
    from dragoman.errors import ConfigError
    from dragoman.evaluation.corpus_filter import filter_corpus, output_files
    from dragoman.translator import Translator

    if (options.filter is None) != (options.output is None):
        raise ConfigError(
            "--filter SHARE and --output DIR belong together: give both, or neither to "
            "see the scores"
        )
    set_threads(options.threads)
    if options.output is None:
        _score(Translator.load(options.model, options.device), options, None)
        return 0
    output_files(options.source, options.target, options.output)  # refuses early
    translator = Translator.load(options.model, options.device)
    options.output.mkdir(parents=True, exist_ok=True)
    scores = _score(translator, options, options.output / "scores.tsv")
    report = filter_corpus(
        options.source, options.target, scores, options.filter, options.output
    )
    print(report.sentence())
    return 0


def _score(
    translator: "Translator", options: argparse.Namespace, path: Path | None
) -> "array[float]":
    """Write the scores as they come, to a file or to standard output."""
    from contextlib import nullcontext

    from tqdm import tqdm

    from dragoman.evaluation.pair_scores import read_pairs, score_pairs

    scores = array("d")
    out = nullcontext(sys.stdout) if path is None else path.open("w", encoding="utf-8")
    shows = sys.stderr.isatty() and not (path is None and sys.stdout.isatty())
    with out as file, tqdm(unit=" pairs", disable=not shows) as bar:
        for sources, targets in read_pairs(options.source, options.target):
            found = score_pairs(translator, sources, targets)
            for one in found:
                scores.append(one.score)
                print(_line(len(scores), one, options.json), file=file)
            file.flush()
            bar.update(len(found))
    return scores


def _line(number: int, score: "PairScore", as_json: bool) -> str:
    if as_json:
        return json.dumps({"line": number} | score.to_dict(), ensure_ascii=False)
    said = " ".join(f"{value:.4f}" for value in score.piece_log_probabilities)
    return f"{score.score:.4f}\t{score.log_probability:.4f}\t{said}"
