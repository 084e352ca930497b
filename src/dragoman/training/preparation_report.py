"""What preparation found, as a small table to read before the first step."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Self

from dragoman.data.statistics import EpochStatistics


@dataclass(frozen=True)
class LongestPair:
    """The kept pair with the most tokens, and where it came from."""

    file: str
    line: int
    source_tokens: int
    target_tokens: int


@dataclass(frozen=True)
class CorpusReport:
    """What was read and kept of one of the corpora."""

    file: str
    read: int
    kept: int
    rejected: dict[str, int]
    per_epoch: int  # pairs that an epoch takes from it

    def describe(self, epoch: int) -> str:
        """Say in a line what became of it, and what share of an epoch it has."""
        return (
            f"{self.kept:,} of {self.read:,} pairs kept; {self.per_epoch / epoch:.1%} "
            f"of an epoch, each {self.per_epoch / max(1, self.kept):.3g} times"
        )


@dataclass(frozen=True)
class PreparationReport:
    """Counts of what was read, kept and dropped, and what an epoch costs."""

    read: int
    kept: int
    rejected: dict[str, int]
    valid_read: int
    valid_kept: int
    longest: LongestPair
    source_vocabulary: int
    target_vocabulary: int
    shared_vocabulary: bool
    source_tokens: int
    target_tokens: int
    padding_share: float
    batches_per_epoch: int
    corpora: tuple[CorpusReport, ...]
    window: int = 0  # of running text, in tokens; 0 where there are pairs

    def with_epoch(self, statistics: EpochStatistics, counts: Sequence[int]) -> Self:
        """Give the same report for batches of another size, or other shares."""
        return replace(
            self,
            padding_share=statistics.padding_share,
            batches_per_epoch=statistics.num_batches,
            corpora=tuple(
                replace(corpus, per_epoch=count)
                for corpus, count in zip(self.corpora, counts, strict=True)
            ),
        )

    def table(self, extra_rows: Sequence[tuple[str, str]] = ()) -> str:
        """Lay out as aligned rows; a trainer may add rows of its own."""
        rows = [*self._rows(), *extra_rows]
        width = max(len(label) for label, _ in rows)
        return "\n".join(f"{label:<{width}}  {value}" for label, value in rows)

    def _text_rows(self) -> list[tuple[str, str]]:
        rows = [
            ("lines read", f"{self.read:,}"),
            *((f"dropped: {why}", f"{n:,}") for why, n in self.rejected.items()),
            ("windows", f"{self.kept:,} of {self.window} tokens"),
            ("vocabulary", f"{self.target_vocabulary:,}"),
            ("tokens", f"{self.target_tokens:,}"),
            ("batches per epoch", f"{self.batches_per_epoch:,}"),
        ]
        if self.valid_read:
            rows.append(("validation windows", f"{self.valid_kept:,}"))
        return rows

    def _rows(self) -> list[tuple[str, str]]:
        if self.window:
            return self._text_rows()
        longest = self.longest
        vocabulary = f"{self.source_vocabulary:,}, shared"
        if not self.shared_vocabulary:
            vocabulary = (
                f"{self.source_vocabulary:,} source, {self.target_vocabulary:,} target"
            )
        rows = [
            ("pairs read", f"{self.read:,}"),
            ("pairs kept", f"{self.kept:,}"),
            *self._corpus_rows(),
            *((f"dropped: {why}", f"{n:,}") for why, n in self.rejected.items()),
            (
                "longest pair",
                f"{longest.source_tokens} source, {longest.target_tokens} target "
                f"tokens ({Path(longest.file).name}, line {longest.line})",
            ),
            ("vocabulary", vocabulary),
            (
                "tokens",
                f"{self.source_tokens:,} source, {self.target_tokens:,} target",
            ),
            ("padding", f"{self.padding_share:.1%}"),
            ("batches per epoch", f"{self.batches_per_epoch:,}"),
        ]
        if self.valid_read:
            valid = f"{self.valid_kept:,} of {self.valid_read:,}"
            rows.append(("validation pairs kept", valid))
        return rows

    def _corpus_rows(self) -> list[tuple[str, str]]:
        if len(self.corpora) == 1:
            return []
        epoch = sum(corpus.per_epoch for corpus in self.corpora)
        return [(f"  {Path(c.file).name}", c.describe(epoch)) for c in self.corpora]

    def to_dict(self) -> dict[str, Any]:
        """Give plain data that `from_dict` and JSON understand."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """Rebuild from plain data; unfit data raises TypeError."""
        parts = {
            "longest": LongestPair(**values["longest"]),
            "corpora": tuple(CorpusReport(**corpus) for corpus in values["corpora"]),
        }
        return cls(**{**values, **parts})
