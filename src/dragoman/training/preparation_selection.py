"""Selects the pairs that are fit to learn from, and counts what is set aside."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self, TextIO

import numpy as np

from dragoman.config import DataConfig
from dragoman.errors import CorpusError
from dragoman.text.cleaning import Reason, Reject, clean
from dragoman.text.corpus import Corpus, read_pairs
from dragoman.text.pairs import reject
from dragoman.text.seen import Seen
from dragoman.text.tokenizer_pair import TokenizerPair
from dragoman.training.dropped_share import Tally, refuse_many_dropped
from dragoman.training.preparation_report import LongestPair
from dragoman.training.preparation_text import KeptText, Portion

PROGRESS_EVERY = 10_000

Progress = Callable[[str, int, int | None], None]
# Gives what each pair is to teach instead of itself.
Teach = Callable[[Portion], list[tuple[str, str]]]


@dataclass(frozen=True)
class Encoded:
    """Pairs short enough to keep, as text and as token ids."""

    text: Portion
    sources: list[list[int]]
    targets: list[list[int]]


class Selection:
    """The pairs of some corpora: read and cleaned first, then encoded."""

    def __init__(
        self, folder: Path, name: str, corpora: Sequence[Corpus], rejects: TextIO
    ) -> None:
        self.tallies = [Tally() for _ in corpora]
        self.longest = LongestPair("", 0, 0, 0)
        self.text = KeptText(folder, name)
        self._name = name
        self._corpora = corpora
        self._starts: list[int] = []  # the first kept pair of each corpus
        self._rejects = rejects

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.text.delete()

    @property
    def read_count(self) -> int:
        """How many pairs there were, fit or not."""
        return sum(tally.read for tally in self.tallies)

    @property
    def rejected(self) -> Counter[Reason]:
        """How many pairs were set aside, and why."""
        return sum((tally.rejected for tally in self.tallies), Counter())

    @property
    def kept_count(self) -> int:
        """How many pairs have not been set aside."""
        return sum(tally.kept for tally in self.tallies)

    def read(self, settings: DataConfig, progress: Progress) -> None:
        """Read and clean all pairs; the kept ones go to temporary files."""
        label = f"reading {self._name} pairs"
        seen, count = Seen(), 0
        for number, corpus in enumerate(self._corpora):
            self._starts.append(len(self.text))
            for pair in clean(read_pairs(corpus), settings, seen):
                if isinstance(pair, Reject):
                    self._set_aside(number, pair)
                else:
                    self.text.add(pair)
                self.tallies[number].read += 1
                count += 1
                if count % PROGRESS_EVERY == 0:
                    progress(label, count, None)
        self.text.finish()
        progress(label, self.read_count, self.read_count)
        self._refuse_nothing()

    def encode(
        self,
        tokenizers: TokenizerPair,
        max_tokens: int,
        progress: Progress,
        teach: Teach | None = None,
    ) -> Iterator[Encoded]:
        """Encode the kept pairs, setting aside those with too many tokens."""
        label = f"encoding {self._name} pairs"
        done = 0
        for portion in self.text.portions():
            encoded = _encode(portion, tokenizers)
            if teach is not None:
                encoded = _taught(encoded, tokenizers, max_tokens, teach)
            yield self._fitting(encoded, done, max_tokens)
            done += len(portion.lines)
            progress(label, done, len(self.text))
        self._refuse_nothing()

    def refuse_many_dropped(self) -> None:
        """Refuse corpora of which too little is left."""
        for corpus, tally in zip(self._corpora, self.tallies, strict=True):
            files = [path for path in (corpus.source, corpus.target) if path]
            refuse_many_dropped(f"{self._name} pairs", tally, files)

    def _fitting(self, encoded: Encoded, first: int, max_tokens: int) -> Encoded:
        portion, sources, targets = encoded.text, encoded.sources, encoded.targets
        lengths = np.array([list(map(len, side)) for side in (sources, targets)])
        fits = (lengths.max(axis=0) <= max_tokens) & (lengths.min(axis=0) > 0)
        for place in np.flatnonzero(~fits).tolist():
            line = portion.lines[place]
            reason = Reason.TOO_LONG if lengths[:, place].all() else Reason.EMPTY
            pair = portion.sources[place], portion.targets[place]
            self._set_aside(self._number(first + place), reject(line, reason, *pair))
        self._note_longest(portion, first, lengths * fits)
        kept = np.flatnonzero(fits).tolist()
        return Encoded(
            Portion(
                [portion.sources[place] for place in kept],
                [portion.targets[place] for place in kept],
                [portion.lines[place] for place in kept],
            ),
            [sources[place] for place in kept],
            [targets[place] for place in kept],
        )

    def _note_longest(
        self, portion: Portion, first: int, lengths: np.ndarray[tuple[int, int]]
    ) -> None:
        place = int(lengths.sum(axis=0).argmax())
        source, target = lengths[:, place].tolist()
        if source + target > self.longest.source_tokens + self.longest.target_tokens:
            file = str(self._corpora[self._number(first + place)].source)
            self.longest = LongestPair(file, portion.lines[place], source, target)

    def _number(self, index: int) -> int:
        """Say of which corpus a kept pair is."""
        return bisect_right(self._starts, index) - 1

    def _set_aside(self, number: int, pair: Reject) -> None:
        file = self._corpora[number].source
        columns = (file, pair.line, pair.reason, pair.source, pair.target)
        self._rejects.write("\t".join(map(str, columns)) + "\n")
        self.tallies[number].set_aside(pair.reason, pair.line)

    def _refuse_nothing(self) -> None:
        if self.kept_count:
            return
        reasons = ", ".join(f"{n} {why}" for why, n in self.rejected.most_common())
        raise CorpusError(
            f"no {self._name} pair is left, all {self.read_count} were dropped "
            f"({reasons}): check the files, or the [data] settings that drop pairs"
        )


def _encode(portion: Portion, tokenizers: TokenizerPair) -> Encoded:
    return Encoded(
        portion,
        tokenizers.source.encode_many(portion.sources),
        tokenizers.target.encode_many(portion.targets),
    )


def _taught(
    encoded: Encoded, tokenizers: TokenizerPair, max_tokens: int, teach: Teach
) -> Encoded:
    """Encode anew the pairs that are to teach something else, if they still fit."""
    sources, targets = list(encoded.sources), list(encoded.targets)
    pairs = zip(encoded.text.sources, encoded.text.targets, strict=True)
    lessons = teach(encoded.text)
    for place, (pair, (source, target)) in enumerate(zip(pairs, lessons, strict=True)):
        if (source, target) != pair:
            source_ids = tokenizers.source.encode(source)
            target_ids = tokenizers.target.encode(target)
            if max(len(source_ids), len(target_ids)) <= max_tokens:
                sources[place], targets[place] = source_ids, target_ids
    return Encoded(encoded.text, sources, targets)
