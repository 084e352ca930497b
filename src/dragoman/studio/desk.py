"""The inspections on the desk: made when first asked for, kept while there is room."""

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeVar

from dragoman.errors import StudioError
from dragoman.inspection.inspect import inspect
from dragoman.inspection.inspection import Inspection
from dragoman.inspection.interventions import Intervention
from dragoman.studio.asked import Asked
from dragoman.studio.jobs import Jobs
from dragoman.studio.shelf import Shelf

KEPT = 24
Result = TypeVar("Result")


@dataclass(frozen=True)
class Question:
    """Which model, which sentence, which translation of it, and changed how."""

    model: str
    source: str
    target: str | None
    changes: tuple[Intervention, ...] = ()
    prefix: tuple[int, ...] = ()

    @classmethod
    def read(cls, asked: Asked) -> "Question":
        """Take what every question has in common from the page's request."""
        source = asked.text("source")
        if not source.strip():
            raise StudioError("the sentence is blank: give one to look at")
        return cls(
            model=asked.text("model"),
            source=source,
            target=asked.optional_text("target"),
            changes=asked.changes(),
            prefix=asked.prefix(),
        )

    @property
    def untouched(self) -> "Question":
        """The same question about the model as it was trained."""
        return replace(self, changes=(), prefix=())


class Desk:
    """Answers questions about runs; a run that was looked at lately is not run again.

    One thread at a time may use it: looking inside a model hangs hooks on it.
    """

    def __init__(self, shelf: Shelf) -> None:
        self.shelf = shelf
        self.jobs = Jobs()
        self._kept: OrderedDict[object, object] = OrderedDict()

    def original(self, question: Question) -> Inspection:
        """Look at the run of the model as it was trained."""
        asked = question.untouched
        return self.keep(
            ("run", asked),
            lambda: inspect(
                self.shelf.translator(asked.model), asked.source, asked.target
            ),
        )

    def shown(self, question: Question) -> Inspection:
        """Look at the changed model: at the same translation, or at the forced one."""
        if question == question.untouched:
            return self.original(question)
        return self.keep(("run", question), lambda: self._changed(question))

    def keep(self, key: object, make: Callable[[], Result]) -> Result:
        """Give what was made for this key before, or make it."""
        if key not in self._kept:
            self._kept[key] = make()
            while len(self._kept) > KEPT:
                self._kept.popitem(last=False)
        self._kept.move_to_end(key)
        return self._kept[key]  # type: ignore[return-value]  # made by the same `make`

    def _changed(self, question: Question) -> Inspection:
        inspection = self.original(question)
        for change in question.changes:
            inspection = inspection.intervene(change).after
        if question.prefix:
            inspection = inspection.force(question.prefix).after
        return inspection
