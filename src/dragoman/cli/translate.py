"""`dragoman translate`: sentences in, translations out, line for line."""

import argparse
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from dragoman.cli.parsers import (
    Subparsers,
    add_command,
    add_machine_options,
    positive_int,
)

if TYPE_CHECKING:
    from dragoman.translator import Translator

DESCRIPTION = """\
Translate sentences, given as arguments or as lines on standard input.

Exactly one line comes out for each line that goes in; blank lines stay blank. With
--nbest, each translation is a line of its own: the number of the sentence, the score
(log-probability after the length penalty) and the text, separated by tabs."""

EXAMPLES = """\
examples:
  dragoman translate MODEL "Let's go!"
  dragoman translate MODEL < input.en > output.de
  dragoman translate MODEL "Let's go!" --beam 4 --nbest 3
"""


def add_parser(subparsers: Subparsers) -> None:
    """Declare the command and its options."""
    parser = add_command(subparsers, "translate", DESCRIPTION, EXAMPLES)
    parser.add_argument("model", type=Path, metavar="MODEL", help="model folder")
    parser.add_argument(
        "sentences", nargs="*", metavar="SENTENCE", help="else standard input is read"
    )
    parser.add_argument(
        "--beam", type=positive_int, metavar="N", help="hypotheses kept; 1 is greedy"
    )
    parser.add_argument(
        "--nbest", type=positive_int, metavar="N", help="translations of each sentence"
    )
    add_machine_options(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Translate the arguments, or standard input as it comes."""
    from dragoman.cli.line_stream import arriving_lines
    from dragoman.translator import Translator

    set_threads(options.threads)
    translator = Translator.load(options.model, options.device)
    done = 0
    given = [options.sentences] if options.sentences else None
    chunks = given or arriving_lines(_standard_input())
    for lines in chunks:
        for line in _answer(translator, lines, options, done):
            sys.stdout.buffer.write(line.encode("utf-8") + b"\n")
        sys.stdout.buffer.flush()
        done += len(lines)
    return 0


def _standard_input() -> BinaryIO:
    """Open standard input anew: Python cannot end while a thread reads `sys.stdin`."""
    return os.fdopen(0, "rb", closefd=False)


def set_threads(threads: int | None) -> None:
    """Let torch use so many threads, or as many as it would (one per core)."""
    import torch

    if threads is not None:
        torch.set_num_threads(threads)


def _answer(
    translator: "Translator", lines: list[str], options: argparse.Namespace, done: int
) -> list[str]:
    if options.nbest is None:
        return translator.translate(lines, beam_size=options.beam)
    beam = options.beam
    if beam is None:
        beam = max(options.nbest, translator.config.decoding.beam_size)
    found = translator.translate_nbest(lines, options.nbest, beam)
    return [
        f"{number}\t{translation.score:.4f}\t{translation.text}"
        for number, best in enumerate(found, done + 1)
        for translation in best
    ]
