"""Options about what a translation must carry over, and notes on whether it did."""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from dragoman.errors import ConfigError
from dragoman.text.unbroken import LONGEST_RUN

if TYPE_CHECKING:
    from dragoman.text.glossary import Glossary
    from dragoman.translation import Translation


_NAMED = 10  # lines that a summary names


def add_glossary_options(parser: argparse.ArgumentParser) -> None:
    """Let the person give terms, and say what becomes of numbers, tags and the like."""
    parser.add_argument(
        "--glossary",
        type=Path,
        metavar="FILE",
        help="lines of a term, a tab and its translation, which is then always used",
    )
    parser.add_argument(
        "--no-protect",
        dest="protect",
        action="store_false",
        help="let the model write numbers, addresses, variables and tags as it likes",
    )
    parser.add_argument(
        "--one-sentence-per-line",
        dest="split",
        action="store_false",
        help="translate each line as a whole, though it may hold several sentences",
    )


def refuse_document_with_others(options: argparse.Namespace) -> None:
    """Refuse what only single sentences can have."""
    for name in ("nbest", "alternatives", "prefix"):
        if options.document and getattr(options, name) is not None:
            raise ConfigError(
                f"--document does not go with --{name}: a document has one "
                "translation, so leave one of them out"
            )


def load_glossary(path: Path | None) -> "Glossary | None":
    """Read the glossary, if one was given."""
    if path is None:
        return None
    from dragoman.text.glossary import Glossary

    glossary = Glossary.load(path)
    for note in glossary.notes:
        print(f"dragoman: {note}", file=sys.stderr)
    return glossary


def report_column(translation: "Translation") -> str:
    """Say in one column what was carried over, and what seems wrong."""
    doubts = (f"check: {concern}" for concern in translation.concerns)
    return "; ".join([*map(str, translation.report), *doubts])


class Notes:
    """What a person should know about lines that went by, said on standard error."""

    def __init__(self) -> None:
        self._cut_lines = 0
        self._unverified: list[int] = []

    def take(self, line: int, translation: "Translation") -> None:
        """Look at the translation of a line; say at once what found no place."""
        self._cut_lines += translation.num_cuts > 0
        if translation.num_copied:
            self._say(
                f"line {line}: {translation.num_copied:,} characters in runs of more "
                f"than {LONGEST_RUN:,} without a blank are no text: copied as they are"
            )
        if not translation.verified:
            self._unverified.append(line)
        for carried in translation.report:
            if not carried.placed:
                self._say(f"line {line}: {carried}; look at it")

    def finish(self, longest: int) -> None:
        """Say what concerns all lines together."""
        if self._unverified:
            count = len(self._unverified)
            lines = "line is" if count == 1 else "lines are"
            numbers = ", ".join(map(str, self._unverified[:_NAMED]))
            more = ", …" if count > _NAMED else ""
            self._say(
                f"{count:,} {lines} not verified ({numbers}{more}): something may be "
                "lost or invented there; --report says what"
            )
        if self._cut_lines:
            lines = "line was" if self._cut_lines == 1 else "lines were"
            self._say(
                f"{self._cut_lines:,} {lines} longer than the {longest} tokens that "
                "the model has learned, and translated in parts, cut at punctuation"
            )

    def _say(self, text: str) -> None:
        print(f"dragoman: {text}", file=sys.stderr)
