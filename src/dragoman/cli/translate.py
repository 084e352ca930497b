"""`dragoman translate`: sentences in, translations out, line for line."""

import argparse
import json
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from dragoman.cli.carrying_over import (
    Notes,
    add_glossary_options,
    load_glossary,
    refuse_document_with_others,
    report_column,
)
from dragoman.cli.document_file import document_to_translate, translate_file
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
    from dragoman.text.glossary import Glossary
    from dragoman.translation import Translation
    from dragoman.translator import Translator

LONG_LINE = 100_000  # characters

DESCRIPTION = """\
Translate sentences, given as arguments or as lines on standard input.

Exactly one line comes out for each line that goes in; blank lines stay blank. With
--nbest, each translation is a line of its own: the number of the sentence, the score
(log-probability after the length penalty) and the text, separated by tabs; with --json
it is an object that has the log-probability of each piece too. With --alternatives, the
lines show what could come next after the prefix: number, log-probability, piece and the
translation that it leads to.

Words that stand in a row more than three times (--max-repeats) are taken for a loop of
the model, unless the source repeats itself as often, and translated anew without it.

A line of several sentences is translated sentence by sentence (--one-sentence-per-line
takes it as a whole).

Numbers, addresses, variables such as {name} or %1$s, code and tags are looked for in
every translation, and so are the terms of a glossary, in the translation given for
them. So is what seems lost or invented: a strange length, words that nobody attended
to, repetitions, other numbers or scripts, a copied source. What fails is searched
again; what still fails is said on standard error, by line with --report or --json.

Runs of more than 1,000 characters without a blank or punctuation are no text: they are
copied as they are, and that is said."""

EXAMPLES = """\
examples:
  dragoman translate MODEL "Let's go!"
  dragoman translate MODEL < input.en > output.de
  dragoman translate MODEL "Let's go!" --beam 4 --nbest 3 --json
  dragoman translate MODEL "Let's go!" --search sampling --top-p 0.9 --nbest 5
  dragoman translate MODEL "A dog runs." --prefix "Ein" --alternatives 5
  dragoman translate MODEL --with OTHER_MODEL < input.en
  dragoman translate MODEL --glossary terms.tsv --report < input.en
  dragoman translate MODEL --document < letter.en > letter.de
  dragoman translate MODEL page.html --output seite.html
"""


def add_parser(subparsers: Subparsers) -> None:
    """Declare the command and its options."""
    parser = add_command(subparsers, "translate", DESCRIPTION, EXAMPLES)
    parser.add_argument("model", type=Path, metavar="MODEL", help="model folder")
    parser.add_argument(
        "sentences",
        nargs="*",
        default=[],  # else argparse says that one is required
        metavar="SENTENCE",
        help="else standard input is read",
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
    parser.add_argument(
        "--document",
        action="store_true",
        help="split each line into sentences, keep indentation and list marks",
    )
    parser.add_argument(
        "--report",
        action="store_true",
        help="add a column: what had to be carried over, and what seems wrong",
    )
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        metavar="FILE",
        help="translate the file that is named instead of a sentence (.txt, .md, "
        ".html, .srt, .vtt) and write it here, all but its text as it was",
    )
    add_glossary_options(parser)
    add_search_options(parser)
    add_engine_options(parser)
    add_machine_options(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Translate the arguments, or standard input as it comes."""
    from tqdm import tqdm

    from dragoman.cli.line_stream import arriving_lines, invite
    from dragoman.translator import Translator

    refuse_document_with_others(options)
    glossary = load_glossary(options.glossary)
    source = document_to_translate(options)
    translator = Translator.load(
        options.model,
        options.device,
        options.together_with,
        engine=options.engine,
        threads=options.threads,
    )
    notes = Notes()
    guarded = translator.config.decoding.max_repeats
    own = replace(translator.options, max_repeats=guarded)
    search = search_options(own, options)
    if source is not None:
        return translate_file(translator, source, options, search, glossary)
    done = 0
    if not options.sentences:
        invite("a line to translate")
    given = [options.sentences] if options.sentences else None
    chunks = given or arriving_lines(_standard_input())
    with tqdm(unit=" lines", disable=not _shows_progress(options)) as bar:
        for lines in chunks:
            _say_if_endless(lines, done)
            if options.alternatives:
                answers = _alternatives(translator, lines, search, options, done)
            else:
                found = _translate(translator, lines, search, options, glossary)
                for number, best in enumerate(found, done + 1):
                    notes.take(number, best[0])
                answers = _answer(found, options, done)
            for line in answers:
                sys.stdout.buffer.write(line.encode("utf-8") + b"\n")
            sys.stdout.buffer.flush()
            if options.verbose and not done:
                said = f"dragoman: translating with {translator.engine}"
                print(said, file=sys.stderr)
            done += len(lines)
            bar.update(len(lines))
    notes.finish(translator.longest)
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


def _say_if_endless(lines: Sequence[str], done: int) -> None:
    """Say beforehand which lines will take long, as nothing comes out meanwhile."""
    for number, line in enumerate(lines, done + 1):
        if len(line) > LONG_LINE:
            print(
                f"dragoman: line {number} has {len(line):,} characters and comes out "
                "at once: this may take minutes (one sentence a line is faster)",
                file=sys.stderr,
            )


def _standard_input() -> BinaryIO:
    """Open standard input anew: Python cannot end while a thread reads `sys.stdin`."""
    return os.fdopen(0, "rb", closefd=False)


def _translate(
    translator: "Translator",
    lines: list[str],
    search: "SearchOptions",
    options: argparse.Namespace,
    glossary: "Glossary | None",
) -> "list[list[Translation]]":
    protect = options.protect
    if options.document:
        found = translator.translate_lines(
            lines, options=search, glossary=glossary, protect=protect
        )
        return [[translation] for translation in found]
    prefixes = [options.prefix] * len(lines) if options.prefix else None
    return translator.translate_nbest(
        lines,
        options=search,
        prefixes=prefixes,
        glossary=glossary,
        protect=protect,
        token_scores=options.nbest is not None or options.json,
        split=options.split,
    )


def _answer(
    found: "list[list[Translation]]", options: argparse.Namespace, done: int
) -> Iterator[str]:
    for number, best in enumerate(found, done + 1):
        for translation in best:
            yield _line(number, translation, options)


def _line(number: int, translation: "Translation", options: argparse.Namespace) -> str:
    if options.json:
        verdict = {"line": number, "verified": translation.verified}
        return json.dumps(verdict | asdict(translation), ensure_ascii=False)
    columns = [translation.text]
    if options.nbest is not None:
        columns = [str(number), f"{translation.score:.4f}", *columns]
    if options.report:
        columns.append(report_column(translation))
    return "\t".join(columns)


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
