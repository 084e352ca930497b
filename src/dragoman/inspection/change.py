"""What became different when a model was made to compute differently."""

from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property
from typing import TYPE_CHECKING, Generic, Literal, TypeVar

from torch import Tensor

if TYPE_CHECKING:
    from dragoman.inspection.observation import Observation

Seen = TypeVar("Seen", bound="Observation")


@dataclass(frozen=True)
class DiffPart:
    """Words that two texts share, or that only one of them has."""

    fate: Literal["same", "removed", "added"]
    text: str


@dataclass(frozen=True)
class Change(Generic[Seen]):
    """The same sentence before and after an action.

    `after` holds the same target computed the new way, or, where a beginning was
    forced, the translation that came of it.
    """

    what: str
    before: Seen
    after: Seen

    @cached_property
    def delta(self) -> Tensor:
        """The change in log-probability of each token of the common beginning."""
        pairs = zip(self.before.target_out.ids, self.after.target_out.ids, strict=False)
        same = 0
        for one, other in pairs:
            if one != other:
                break
            same += 1
        after = self.after.target_log_probabilities[:same]
        return after - self.before.target_log_probabilities[:same]

    @property
    def total(self) -> float:
        """The change in log-probability of the whole target."""
        return self.after.log_probability - self.before.log_probability

    @cached_property
    def answer_before(self) -> str:
        """What the model itself answered before: a translation, or a text gone on."""
        return self.before.answer

    @cached_property
    def answer_after(self) -> str:
        """What it answers now."""
        return self.after.answer

    @cached_property
    def diff(self) -> tuple[DiffPart, ...]:
        """The two answers, word by word."""
        return word_diff(self.answer_before, self.answer_after)

    def __str__(self) -> str:
        lines = [f"{self.what}: {self.total:+.3f} log-probability"]
        if self.answer_after == self.answer_before:
            lines.append(f"the answer stays: {self.answer_after}")
        else:
            lines.append(f"before: {self.answer_before}")
            lines.append(f"after:  {self.answer_after}")
        return "\n".join(lines)


def word_diff(before: str, after: str) -> tuple[DiffPart, ...]:
    """Compare two texts by their words."""
    old, new = before.split(), after.split()
    parts: list[DiffPart] = []
    for what, i, j, k, m in SequenceMatcher(None, old, new, False).get_opcodes():
        if what == "equal":
            parts.append(DiffPart("same", " ".join(old[i:j])))
            continue
        if i < j:
            parts.append(DiffPart("removed", " ".join(old[i:j])))
        if k < m:
            parts.append(DiffPart("added", " ".join(new[k:m])))
    return tuple(parts)
