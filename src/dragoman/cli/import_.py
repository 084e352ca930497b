"""`dragoman import`: another program's model as one of ours."""

import argparse
import sys
from pathlib import Path

from dragoman.cli.parsers import Subparsers, add_command

DESCRIPTION = """\
Import a model of another program.

SOURCE is a folder of Hugging Face's Marian (OPUS-MT), of CTranslate2 or of Firefox
(Bergamot), an .argosmodel, or Marian's own .npz or .bin. MODEL is then a model like any
other: it translates, is evaluated, looked into and tuned (`dragoman train --from
MODEL`). Each import proves itself first: it translates a self-test and compares it with
the original program where that is installed, with the known answers of --self-test
where they are given, and writes the outcome into the card. A model that fails is not
written."""

EXAMPLES = """\
examples:
  dragoman import opus-mt-en-fr MODEL
  dragoman import translate-en_es.argosmodel MODEL
  dragoman import model.enpt.intgemm.alphas.bin MODEL --vocabulary vocab.enpt.spm
  dragoman import model.npz MODEL --vocabulary source.spm target.spm \\
      --languages en de --self-test known.tsv
"""


def add_parser(subparsers: Subparsers) -> None:
    """Declare the command and its options."""
    parser = add_command(subparsers, "import", DESCRIPTION, EXAMPLES)
    parser.add_argument(
        "source", type=Path, metavar="SOURCE", help="the other program's model"
    )
    parser.add_argument("model", type=Path, metavar="MODEL", help="folder to make")
    parser.add_argument(
        "--format",
        choices=("huggingface", "marian", "ctranslate2", "argos"),
        help="the program it comes from (default: seen from its files)",
    )
    parser.add_argument(
        "--languages",
        nargs=2,
        metavar=("SOURCE", "TARGET"),
        help="the languages, where no name says them",
    )
    parser.add_argument(
        "--vocabulary",
        nargs="+",
        type=Path,
        default=[],
        metavar="FILE",
        help="SentencePiece of a Marian or CTranslate2 model, or of its source and its "
        "target",
    )
    parser.add_argument(
        "--self-test",
        type=Path,
        metavar="FILE",
        help="known answers: sentence, tab, translation, line by line",
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Import, and say what the self-test showed."""
    from dragoman.interchange.importing import Request, import_model
    from dragoman.interchange.self_test import read_known

    request = Request(
        source=options.source,
        format=options.format,
        languages=tuple(options.languages) if options.languages else None,
        vocabularies=tuple(options.vocabulary),
        known=read_known(options.self_test) if options.self_test else (),
    )
    proof = import_model(request, options.model)
    print(f"the model is in {options.model}: {proof.describe()}", file=sys.stderr)
    return 0
