"""`dragoman demo`: the main job, once through, on real sentences."""

import argparse
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from dragoman.cli.parsers import Subparsers, add_command, positive_float
from dragoman.errors import FetchError

if TYPE_CHECKING:
    from dragoman.text.corpus_folder import CorpusFiles
    from dragoman.translator import Translator

DESCRIPTION = """\
Train an English-Spanish translator, score it and use it.

Fetches a corpus of everyday sentences, trains for five minutes, scores the translator
on sentences that it never saw, translates a few, draws where it looked, and writes a
page that shows one translation from inside. Run again, it reuses what is there."""

EXAMPLES = """\
examples:
  dragoman demo
  dragoman demo runs/demo --minutes 20
"""

DATA = Path("data")
FEW_PAIRS = 10_000  # as in the phrasebook: no translator comes of so few
SENTENCES = (
    "Let's go!",
    "Where can I find the train station?",
    "I would like a cup of coffee, please.",
    "My sister lives in a small house near the sea.",
    "It will probably rain tomorrow.",
    "She didn't know what to say.",
)
# Below this, most sentences come out wrong.
USABLE_BLEU = 25.0
MORE_MINUTES = 5.0
PICTURED = "My sister lives in a small house near the sea."


def add_parser(subparsers: Subparsers) -> None:
    """Declare the command and its options."""
    parser = add_command(subparsers, "demo", DESCRIPTION, EXAMPLES)
    parser.add_argument(
        "model",
        type=Path,
        nargs="?",
        default=Path("runs/demo"),
        metavar="MODEL",
        help="folder to write (default: runs/demo)",
    )
    parser.add_argument(
        "--minutes", type=positive_float, default=5.0, help="of training (default: 5)"
    )
    parser.add_argument(
        "--data",
        type=Path,
        default=DATA,
        metavar="DIR",
        help="where corpora are kept (default: data)",
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Fetch, train, score, translate, draw."""
    files = _fetch(options.data)
    from dragoman.evaluation.report import evaluate
    from dragoman.training.train import train
    from dragoman.translator import Translator

    _title(f"Training for {options.minutes:g} minutes")
    result = train(
        options.model,
        source=files.train_source,
        target=files.train_target,
        valid_source=files.valid_source,
        valid_target=files.valid_target,
        minutes=options.minutes,
    )
    if result.signal is not None:
        return 128 + result.signal

    _title(f"Scoring on {files.test_pairs:,} sentences that it never saw")
    report = evaluate(
        options.model,
        source=files.test_source,
        reference=files.test_target,
        progress=sys.stderr.isatty(),
    )
    print(report.table())

    _title("Translating")
    translator = Translator.load(options.model)
    for sentence, translation in zip(
        SENTENCES, translator.translate(SENTENCES), strict=True
    ):
        print(f"{sentence}\n    {translation}")

    picture, page = options.model / "attention.png", options.model / "inspection.html"
    _show(translator, options.model, picture, page)
    _title("Done")
    print(f"the model       {options.model}")
    print(f"its attention   {picture}")
    print(f"its inside      {page}")
    print(f'go on           {_command()} translate {options.model} "Good morning!"')
    print(f'                {_command()} inspect {options.model} "Good morning!"')
    print(f"                {_command()} studio {options.model}")
    if report.scores.bleu.score < USABLE_BLEU:
        print(_too_little(options, files.train_pairs, report.scores.bleu.score))
    return 0


def _command() -> str:
    """Name this command so that it can be typed again, found by the shell or not."""
    return sys.argv[0] if Path(sys.argv[0]).name == "dragoman" else "dragoman"


def _too_little(options: argparse.Namespace, pairs: int, bleu: float) -> str:
    """Say plainly that this is no translator yet, and what makes it one."""
    said = f"\nBLEU {bleu:.1f} is too little to be of use: "
    if pairs < FEW_PAIRS:
        return f"{said}{pairs:,} pairs teach no more, however long it trains"
    more = options.minutes + MORE_MINUTES
    command = [_command(), "demo", str(options.model), "--minutes", f"{more:g}"]
    if options.data != DATA:
        command += ["--data", str(options.data)]
    return (
        f"{said}{options.minutes:g} minutes were not enough on this machine "
        f"(`{_command()} doctor` says what would make it faster).\n"
        f"This goes on for {MORE_MINUTES:g} more:\n    {shlex.join(command)}"
    )


def _fetch(folder: Path) -> "CorpusFiles":
    from dragoman.text.public_corpora import get

    def say(message: str) -> None:
        print(message, file=sys.stderr)

    _title("Getting real sentences")
    try:
        return get("tatoeba-en-es", folder / "tatoeba-en-es", on_message=say)
    except FetchError as error:
        say(f"{error}. Going on with the small phrasebook that Dragoman contains.")
        return get("phrasebook-en-es", folder / "phrasebook-en-es", on_message=say)


def _show(translator: "Translator", model: Path, picture: Path, page: Path) -> None:
    from dragoman.cli.inspect import profile_heads
    from dragoman.inspection.inspect import inspect

    seen = inspect(translator, PICTURED)
    seen.draw(picture)
    shown = seen.to_html(str(model), profile_heads(translator, model))
    page.write_text(shown, "utf-8")


def _title(text: str) -> None:
    print(f"\n== {text}", file=sys.stderr, flush=True)
