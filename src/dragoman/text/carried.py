"""What a translation had to contain, and what became of it in the final text."""

from dataclasses import dataclass
from enum import StrEnum

from dragoman.text.pairs import shown


class Outcome(StrEnum):
    """What became of something that a translation had to contain."""

    PLACED = "placed"  # it stands where the model put it, as it should be
    CHANGED = "changed in form"  # in other capitals, or with another ending
    MISPLACED = "misplaced"  # a tag that no longer encloses what it did
    APPENDED = "appended"  # the model had no place for it: it stands at the end
    MISSING = "missing"


@dataclass(frozen=True)
class Carried:
    """Something that a sentence asked its translation to contain."""

    kind: str  # "term", or what kind of span: "tag", "variable", "number" …
    source: str
    target: str  # as it stands in the translation; "" if it does not
    outcome: Outcome
    case_kept: bool = True  # its capitals are those of the source or the glossary

    @property
    def placed(self) -> bool:
        """Whether it stands where it should, as it should."""
        return self.outcome is Outcome.PLACED

    def __str__(self) -> str:
        text = self.source
        if self.target not in (self.source, ""):
            text += f" → {self.target}"
        return shown(text if self.placed else f"{self.outcome}: {text}")
