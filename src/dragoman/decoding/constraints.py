"""What a translation must contain, and how far a hypothesis has come with it.

Each phrase may be spelled in several ways; one is enough. The state of a hypothesis is
passed and returned, so that a search may drop, double and reorder hypotheses at will.
"""

from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from dragoman.special_tokens import END

NONE = -1

Spelling = tuple[int, ...]


@dataclass(frozen=True)
class Phrase:
    """Tokens that must come, in one of their spellings."""

    spellings: tuple[Spelling, ...]  # each of them may begin anywhere
    inside: tuple[Spelling, ...] = ()  # only after a token that ends no word: "(term"
    whole_word: bool = False  # what comes next may not go on with its last word
    only_once: bool = False  # it is one token, which may not come again
    after: int = NONE  # the phrase that must have come before it
    apart: bool = False  # something must come between that one and it

    @cached_property
    def size(self) -> int:
        """The tokens of its longest spelling."""
        return max(map(len, self.spellings + self.inside))


@dataclass(frozen=True)
class Vocabulary:
    """Which tokens begin or end in the middle of a word, and which show nothing."""

    begins_inside: Container[int] = frozenset()
    ends_inside: Container[int] = frozenset()
    blank: Container[int] = frozenset()


@dataclass(frozen=True)
class Progress:
    """How far a hypothesis has come."""

    met: int = 0  # a bit for each phrase
    tail: Spelling = ()  # its last tokens
    fresh: int = 0  # so many of them belong to no phrase that was met
    just_met: int = NONE  # the phrase that its last token completed
    last_met: int = NONE  # the same, and still so after blanks
    bank: int = 0  # how much of the phrases it has said


class Constraints:
    """The phrases of one sentence, and the tokens that it may not have."""

    def __init__(
        self,
        phrases: Sequence[Phrase],
        vocabulary: Vocabulary,
        forbidden: Container[int] = frozenset(),
    ) -> None:
        self.phrases = tuple(phrases)
        self._vocabulary = vocabulary
        self._forbidden = forbidden
        self._all = (1 << len(self.phrases)) - 1
        self._longest = max((phrase.size for phrase in phrases), default=0)
        # Whatever completes a phrase goes to a higher bank than what only begins one.
        self.num_banks = len(self.phrases) * self._longest + 1
        self.num_tokens = sum(phrase.size for phrase in self.phrases)

    def are_met(self, progress: Progress) -> bool:
        """Say whether every phrase has come."""
        return progress.met == self._all

    @property
    def steps_needed(self) -> int:
        """Tokens after which a hypothesis in the highest bank has met all of them.

        Each token leads to a higher bank, but for those that keep two phrases apart.
        """
        return self.num_banks + len(self.phrases)

    def wanted(self, progress: Progress) -> set[int]:
        """Give the tokens that would bring a hypothesis further."""
        if self.are_met(progress):
            return {END}
        tokens = set()
        for _, spelling, done in self._begun(progress):
            tokens.add(spelling[done])
        return tokens

    def advance(self, progress: Progress, token: int) -> Progress | None:
        """Give the progress after one more token, or None if it may not come."""
        if token == END:
            return progress if self.are_met(progress) else None
        if token in self._forbidden or not self._may_come(progress, token):
            return None
        met = progress.met
        if self._is_undone(progress, token):
            met &= ~(1 << progress.just_met)
        tail = (*progress.tail, token)[-self._longest - 1 :]
        grown = Progress(met, tail, progress.fresh + 1, NONE, progress.last_met)
        completed = self._completed(grown)
        if completed != NONE:
            met |= 1 << completed
            return Progress(met, tail, 0, completed, completed, self._bank(met))
        last = progress.last_met if token in self._vocabulary.blank else NONE
        grown = replace(grown, last_met=last)
        begun = max(
            (p.size - len(s) + done for p, s, done in self._begun(grown) if done),
            default=0,
        )
        return replace(grown, bank=self._bank(met) + begun)

    def _is_undone(self, progress: Progress, token: int) -> bool:
        """Say whether a token turns a phrase that seemed met into part of a word."""
        return (
            progress.just_met != NONE
            and self.phrases[progress.just_met].whole_word
            and token in self._vocabulary.begins_inside
        )

    def _may_come(self, progress: Progress, token: int) -> bool:
        """Say whether a token that comes only so often may come now."""
        limited = [
            p for p in self.phrases if p.only_once and p.spellings[0][0] == token
        ]
        ready = [p for _, p in self._open(progress) if p in limited]
        return not limited or bool(ready)

    def _open(self, progress: Progress) -> Iterator[tuple[int, Phrase]]:
        """Give the phrases that have not come and may come now."""
        for number, phrase in enumerate(self.phrases):
            if progress.met >> number & 1:
                continue
            if phrase.after != NONE and not progress.met >> phrase.after & 1:
                continue
            if not (phrase.apart and progress.last_met == phrase.after):
                yield number, phrase

    def _completed(self, progress: Progress) -> int:
        """Give the phrase that the last token completes, the longest of several."""
        longest, found = 0, NONE
        for number, phrase in self._open(progress):
            for spelling in phrase.spellings + phrase.inside:
                size = len(spelling)
                if longest < size <= progress.fresh and self._is_there(
                    phrase, spelling, progress, size
                ):
                    longest, found = size, number
        return found

    def _begun(self, progress: Progress) -> Iterator[tuple[Phrase, Spelling, int]]:
        """Give each spelling that may go on or begin, and how much of it is there."""
        for _, phrase in self._open(progress):
            for spelling in phrase.spellings + phrase.inside:
                for done in range(min(progress.fresh, len(spelling) - 1), -1, -1):
                    if self._is_there(phrase, spelling, progress, done):
                        yield phrase, spelling, done

    def _is_there(
        self, phrase: Phrase, spelling: Spelling, progress: Progress, size: int
    ) -> bool:
        """Say whether the last tokens begin the spelling, where it may begin."""
        before = len(progress.tail) - size
        if progress.tail[before:] != spelling[:size]:
            return False
        if spelling in phrase.spellings:
            return True
        return (
            before > 0 and progress.tail[before - 1] not in self._vocabulary.ends_inside
        )

    def _bank(self, met: int) -> int:
        return met.bit_count() * self._longest
