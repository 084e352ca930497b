"""`dragoman train`: text in, a translator or a language model out."""

import argparse
import sys
from pathlib import Path

from dragoman.cli.corpus_options import PartOfCorpus, corpora_of
from dragoman.cli.parsers import (
    Subparsers,
    add_command,
    add_machine_options,
    positive_float,
    positive_int,
)
from dragoman.config import PRESETS, parse_settings

DESCRIPTION = """\
Train a translator on parallel text and leave it in the folder MODEL.

With --task lm or mlm it is a language model, and running text is what it learns from.

The same command, given again, goes on where an interrupted run stopped. With a budget
(--minutes, --steps or --epochs) the learning rate comes down to zero at its end."""

EXAMPLES = """\
examples:
  dragoman train MODEL --source train.en --target train.de --minutes 10
  dragoman train MODEL --source train.en --target train.de \\
      --valid-source val.en --valid-target val.de --preset tiny
  dragoman train MODEL --source pairs.tsv.gz --preset small --epochs 20 \\
      --set model.dropout=0.2 --set tokenizer.vocabulary_size=16000
  dragoman train MODEL --source train.en --target train.de --config settings.toml
  dragoman train MODEL --source news.en --target news.de --weight 3 \\
      --source web.en --target web.de --weight 1 --minutes 60
  dragoman train TUNED --from MODEL --source new.en --target new.de --weight 3 \\
      --source old.en --target old.de --weight 1 --epochs 3
  dragoman train MODEL --task lm --text book.txt --valid-text other.txt --minutes 10
  dragoman train MODEL --task mlm --text book.txt --set model.window=64
  dragoman train MODEL --debug-batch MODEL/bad-batches/step-120.safetensors
"""

PRESET_HELP = """\
small, base and big are the paper's Transformer in three sizes; fast is made for a few
minutes on a small machine and tiny for few pairs, both with norms first and rotary
positions; rnn, gru, lstm and lstm-attention are what the Transformer replaced (default:
by corpus size; with --minutes fast, narrower where the time is short for this machine,
or tiny where few pairs come back often)"""


def add_parser(subparsers: Subparsers) -> None:
    """Declare the command and its options."""
    parser = add_command(subparsers, "train", DESCRIPTION, EXAMPLES)
    parser.add_argument("model", type=Path, metavar="MODEL", help="folder to write")
    _add_pairs(parser)
    _add_running_text(parser)
    _add_budget(parser)
    _add_manner(parser)
    parser.set_defaults(run=run)


def _add_pairs(parser: argparse.ArgumentParser) -> None:
    text = parser.add_argument_group("text (plain, .tsv or .jsonl, each also .gz)")
    text.add_argument(
        "--source",
        type=Path,
        metavar="FILE",
        action=PartOfCorpus,
        help="may be repeated with its --target: several corpora in one run",
    )
    text.add_argument(
        "--target",
        type=Path,
        metavar="FILE",
        action=PartOfCorpus,
        help="not with .tsv and .jsonl",
    )
    text.add_argument(
        "--weight",
        type=positive_float,
        metavar="SHARE",
        action=PartOfCorpus,
        help="of this corpus among several (default: every pair counts the same)",
    )
    text.add_argument("--valid-source", type=Path, metavar="FILE")
    text.add_argument("--valid-target", type=Path, metavar="FILE")


def _add_running_text(parser: argparse.ArgumentParser) -> None:
    running = parser.add_argument_group("running text, for language models")
    running.add_argument(
        "--task",
        choices=("translation", "lm", "mlm"),
        default="translation",
        help="lm goes on with a text (`generate`), mlm finds missing words (`fill`)",
    )
    running.add_argument(
        "--text",
        type=Path,
        metavar="FILE",
        action="append",
        help="plain text, also .gz; may be repeated",
    )
    running.add_argument("--valid-text", type=Path, metavar="FILE")


def _add_budget(parser: argparse.ArgumentParser) -> None:
    budget = parser.add_argument_group("budget (whichever ends first)")
    budget.add_argument(
        "--minutes", type=positive_float, help="of training; preparing comes on top"
    )
    budget.add_argument("--steps", type=positive_int, help="updates")
    budget.add_argument("--epochs", type=positive_float, help="passes over the corpus")


def _add_manner(parser: argparse.ArgumentParser) -> None:
    how = parser.add_argument_group("how")
    how.add_argument(
        "--from",
        dest="start_from",
        type=Path,
        metavar="MODEL",
        help="fine-tune that model: its vocabulary, settings and weights, a lower rate",
    )
    how.add_argument("--preset", choices=PRESETS, help=PRESET_HELP)
    how.add_argument("--seed", type=int)
    add_machine_options(how)
    how.add_argument("--save-every", type=positive_int, metavar="STEPS")
    how.add_argument("--valid-every", type=positive_int, metavar="STEPS")
    how.add_argument(
        "--config",
        type=Path,
        metavar="FILE",
        help="settings in TOML, as in a preset; they go before the preset's, and --set "
        "before them",
    )
    how.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="SECTION.KEY=VALUE",
        help="any other setting, such as model.dropout=0.2; may be repeated",
    )
    how.add_argument(
        "--tensorboard", action="store_true", help="write MODEL/tensorboard as well"
    )
    how.add_argument(
        "--allow-changed",
        action="store_true",
        help="go on even if data, settings, threads, processes or kernels changed",
    )
    how.add_argument(
        "--allow-dropped",
        action="store_true",
        help="train even if more than a tenth of a corpus is not fit to learn from",
    )
    how.add_argument(
        "--debug-batch",
        type=Path,
        metavar="FILE",
        help="train nothing: run a batch again that a run in MODEL kept because its "
        "loss or gradient was no number, and show where that began",
    )
    how.add_argument("--quiet", action="store_true", help="show no progress")


def run(options: argparse.Namespace) -> int:
    """Train; exit with 130 or 143 when a signal ended the run."""
    if options.debug_batch is not None:
        return _show_batch(options)
    from dragoman.training.train import train

    is_text = options.task != "translation" or options.text is not None
    corpora = [] if is_text and "corpora" not in options else corpora_of(options)
    result = train(
        options.model,
        source=[corpus.source for corpus in corpora] or None,
        target=[corpus.target for corpus in corpora],
        weights=[corpus.weight for corpus in corpora],
        task=options.task,
        text=options.text,
        valid_text=options.valid_text,
        valid_source=options.valid_source,
        valid_target=options.valid_target,
        start_from=options.start_from,
        preset=options.preset,
        minutes=options.minutes,
        steps=options.steps,
        epochs=options.epochs,
        config=options.config,
        settings=_settings(options),
        device=options.device,
        tensorboard=options.tensorboard,
        quiet=options.quiet,
        allow_changed=options.allow_changed,
        allow_dropped=options.allow_dropped,
    )
    if result.signal is not None:
        return 128 + result.signal
    if not options.quiet and result.rank == 0:
        print(
            f"{result.steps:,} updates, {result.ending.value}; the model is in "
            f"{result.folder}",
            file=sys.stderr,
        )
    return 0


def _show_batch(options: argparse.Namespace) -> int:
    from dragoman.training.debug_replay import replay

    print(replay(options.model, options.debug_batch).table())
    return 0


def _settings(options: argparse.Namespace) -> dict[str, object]:
    settings = parse_settings(options.set)
    for key in ("seed", "threads", "save_every", "valid_every"):
        value = getattr(options, key)
        if value is not None:
            settings[f"training.{key}"] = value
    return settings
