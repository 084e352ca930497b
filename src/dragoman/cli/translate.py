"""`dragoman translate`: sentences in, translations out, line for line."""

import argparse
import json
import os
import sys
from collections.abc import Iterable, Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from dragoman.cli.parsers import (
    Subparsers,
    add_command,
    add_engine_options,
    add_machine_options,
    positive_int,
)
from dragoman.cli.search_options import add_search_options, asked_for

if TYPE_CHECKING:
    from dragoman.decoding.options import SearchOptions
    from dragoman.translator import Translation, Translator

DESCRIPTION = """\
Translate sentences, given as arguments or as lines on standard input.

Exactly one line comes out for each line that goes in; blank lines stay blank. With
--nbest, each translation is a line of its own: the number of the sentence, the score
(log-probability after the length penalty) and the text, separated by tabs; with --json
it is an object that has the log-probability of each piece too. With --alternatives, the
lines show what could come next after the prefix: number, log-probability, piece and the
translation that it leads to.

Words that stand in a row more than three times (--max-repeats) are taken for a loop of
the model, unless the source repeats itself as often, and translated anew without it."""

EXAMPLES = """\
examples:
  dragoman translate MODEL "Let's go!"
  dragoman translate MODEL < input.en > output.de
  dragoman translate MODEL "Let's go!" --beam 4 --nbest 3 --json
  dragoman translate MODEL "Let's go!" --search sampling --top-p 0.9 --nbest 5
  dragoman translate MODEL "A dog runs." --prefix "Ein" --alternatives 5
  dragoman translate MODEL --with OTHER_MODEL < input.en
"""


def add_parser(subparsers: Subparsers) -> None:
    """Declare the command and its options."""
    parser = add_command(subparsers, "translate", DESCRIPTION, EXAMPLES)
    parser.add_argument("model", type=Path, metavar="MODEL", help="model folder")
    parser.add_argument(
        "sentences", nargs="*", metavar="SENTENCE", help="else standard input is read"
    )
    parser.add_argument(
        "--nbest", type=positive_int, metavar="N", help="translations of each sentence"
    )
    parser.add_argument("--json", action="store_true", help="one object for each")
    parser.add_argument("--prefix", metavar="TEXT", help="begin each translation so")
    parser.add_argument(
        "--alternatives",
        type=positive_int,
        metavar="N",
        help="show what could come after the prefix",
    )
    parser.add_argument(
        "--with",
        dest="together_with",
        type=Path,
        action="append",
        default=[],
        metavar="MODEL",
        help="a further model of the same vocabulary to predict together with",
    )
    add_search_options(parser)
    add_engine_options(parser)
    add_machine_options(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Translate the arguments, or standard input as it comes."""
    from tqdm import tqdm

    from dragoman.cli.line_stream import arriving_lines
    from dragoman.translator import Translator

    translator = Translator.load(
        options.model,
        options.device,
        options.together_with,
        engine=options.engine,
        threads=options.threads,
    )
    guarded = translator.config.decoding.max_repeats
    own = replace(translator.options, max_repeats=guarded)
    search = search_options(own, options)
    done = 0
    given = [options.sentences] if options.sentences else None
    chunks = given or arriving_lines(_standard_input())
    with tqdm(unit=" lines", disable=not _shows_progress(options)) as bar:
        for lines in chunks:
            for line in _answer(translator, lines, search, options, done):
                sys.stdout.buffer.write(line.encode("utf-8") + b"\n")
            sys.stdout.buffer.flush()
            if options.verbose and not done:
                said = f"dragoman: translating with {translator.engine}"
                print(said, file=sys.stderr)
            done += len(lines)
            bar.update(len(lines))
    return 0


def search_options(
    own: "SearchOptions", options: argparse.Namespace
) -> "SearchOptions":
    """Give what was asked for; a beam that was not is as wide as the n best need."""
    search = asked_for(replace(own, nbest=1), options)
    nbest = options.nbest or 1
    if options.beam is None and search.method == "beam" and search.groups == 1:
        search = replace(search, beam_size=max(nbest, search.beam_size))
    return replace(search, nbest=nbest)


def _shows_progress(options: argparse.Namespace) -> bool:
    """Show a bar where there is someone to see it and it stands in nobody's way."""
    writes_elsewhere = not sys.stdout.isatty() and not sys.stdin.isatty()
    return sys.stderr.isatty() and writes_elsewhere and not options.sentences


def _standard_input() -> BinaryIO:
    """Open standard input anew: Python cannot end while a thread reads `sys.stdin`."""
    return os.fdopen(0, "rb", closefd=False)


def _answer(
    translator: "Translator",
    lines: list[str],
    search: "SearchOptions",
    options: argparse.Namespace,
    done: int,
) -> Iterable[str]:
    prefix = options.prefix or ""
    if options.alternatives:
        return _alternatives(translator, lines, search, options, done)
    prefixes = [prefix] * len(lines) if prefix else None
    if options.nbest is None and not options.json and prefixes is None:
        return translator.translate(lines, options=search)
    found = translator.translate_nbest(lines, options=search, prefixes=prefixes)
    if options.nbest is None and not options.json:
        return [best.text for best, *_ in found]
    return [
        _line(number, translation, options.json)
        for number, best in enumerate(found, done + 1)
        for translation in best
    ]


def _line(number: int, translation: "Translation", as_json: bool) -> str:
    if as_json:
        return json.dumps({"line": number} | asdict(translation), ensure_ascii=False)
    return f"{number}\t{translation.score:.4f}\t{translation.text}"


def _alternatives(
    translator: "Translator",
    lines: list[str],
    search: "SearchOptions",
    options: argparse.Namespace,
    done: int,
) -> Iterator[str]:
    for number, line in enumerate(lines, done + 1):
        found = translator.alternatives(
            line, options.prefix or "", options.alternatives, search
        )
        for one in found:
            text = one.translation.text
            yield f"{number}\t{one.log_probability:.4f}\t{one.piece}\t{text}"
