"""How much of a corpus is dropped, and the refusal to go on where it is too much."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from dragoman.errors import CorpusError
from dragoman.text.encodings import guess_encoding
from dragoman.text.pairs import Reason

MOST_DROPPED = 0.1  # of a corpus; more is a mistake more often than it is dirt

_ADVICE = {
    Reason.EMPTY: "look whether both sides belong together, line by line",
    Reason.RATIO: "look whether both sides belong together, line by line",
    Reason.TOO_LONG: "cut the text into sentences, or raise data.max_tokens and "
    "data.max_characters",
    Reason.MALFORMED: "give lines of two columns in a .tsv file, and objects with "
    '"source" and "target" in a .jsonl file',
    Reason.INVALID_UTF8: "convert the text to UTF-8",
    Reason.NUL: "convert the text to UTF-8",
}


@dataclass
class Tally:
    """What became of the lines of one corpus so far."""

    read: int = 0
    rejected: Counter[Reason] = field(default_factory=Counter)
    first_lines: dict[Reason, int] = field(default_factory=dict)

    def set_aside(self, reason: Reason, line: int) -> None:
        """Count a line that is not fit to learn from."""
        self.rejected[reason] += 1
        self.first_lines.setdefault(reason, line)

    @property
    def kept(self) -> int:
        """How many have not been set aside."""
        return self.read - self.rejected.total()


def refuse_many_dropped(what: str, tally: Tally, files: Sequence[Path]) -> None:
    """Refuse a corpus of which more than a tenth is lost, and say what to do.

    Duplicates are not lost: what they say is learned from the first of them.
    """
    lost = tally.rejected - Counter({Reason.DUPLICATE: tally.rejected.total()})
    if lost.total() <= MOST_DROPPED * tally.read:
        return
    reasons = ", ".join(f"{count:,} {why}" for why, count in lost.most_common())
    [(main, _)] = lost.most_common(1)
    raise CorpusError(
        f"{lost.total():,} of {tally.read:,} {what} of {files[0]} would be dropped, "
        f"more than a tenth ({reasons}; see line {tally.first_lines[main]}): "
        f"{_advice(main, files)}, or give --allow-dropped to learn from the rest"
    )


def _advice(reason: Reason, files: Sequence[Path]) -> str:
    if reason in (Reason.INVALID_UTF8, Reason.NUL):
        for path in files:
            if encoding := guess_encoding(path):
                return (
                    f"{path} is probably {encoding}, convert it "
                    f"(`iconv -f {encoding} -t UTF-8`)"
                )
    return _ADVICE[reason]
