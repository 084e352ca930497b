"""What one sentence asks of its translation, and whether it was given."""

import re
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, field

from dragoman.text.carried import Carried, Outcome
from dragoman.text.glossary import FoundTerm, Glossary
from dragoman.text.normalization import normalize
from dragoman.text.number_formats import NumberFormats, places_of
from dragoman.text.placeholders import MARKS, Hidden, protect, restore
from dragoman.text.spans import Kind, Span, find_spans, tag_pairs, unpaired_tags
from dragoman.text.words import whole_places

_AS_THEY_ARE = NumberFormats("", "")
_ENDING = r"\w{0,4}"  # what an inflected form may have at its end


@dataclass(frozen=True)
class Demands:
    """A sentence as the model reads it, and what must come of it."""

    source: str
    text: str  # normalised, with placeholders for what is hidden
    hidden: tuple[Hidden, ...] = ()
    left: tuple[Span, ...] = ()  # to be spelled out, for want of placeholders
    terms: tuple[FoundTerm, ...] = ()
    formats: NumberFormats = field(default=_AS_THEY_ARE, compare=False, repr=False)
    only_spans: bool = False  # there is nothing to translate

    @property
    def anything(self) -> bool:
        """Whether there is anything to look after."""
        return bool(self.hidden or self.left or self.terms)

    def are_met(self, translated: str) -> bool:
        """Say whether a translation, with placeholders, has all that it should."""
        if not self.anything:
            return True
        counts = {mark: sum(h.mark == mark for h in self.hidden) for mark in MARKS}
        return all(translated.count(mark) == counts[mark] for mark in MARKS) and all(
            carried.placed for carried in self.report(self._restored(translated))
        )

    def finish(self, translated: str) -> tuple[str, tuple[Carried, ...]]:
        """Give the text with everything in it, and a report; what lacks comes last."""
        if not self.anything:
            return translated, ()
        text = self._restored(translated)
        lacking = {
            number: self._preferred(number)
            for number, carried in enumerate(self.report(text))
            if carried.outcome is Outcome.MISSING
        }
        text = " ".join([text, *lacking.values()]).strip(" ")
        return text, self.report(text, lacking)

    def report(
        self, text: str, appended: Container[int] = frozenset()
    ) -> tuple[Carried, ...]:
        """Look for everything in a final text: the one check that all reports are of.

        `appended` names, by number, what was put at the end of the text.
        """
        misplaced = self._disordered(text)
        counted: dict[tuple[str, ...], int] = {}
        report = []
        for number, item in enumerate(self._items):
            forms = self._forms(item)
            earlier = counted.get(forms, 0)
            counted[forms] = earlier + 1
            found = _found(item, forms, text, earlier)
            if number in appended and found.outcome is not Outcome.MISSING:
                outcome = Outcome.APPENDED
            elif misplaced and isinstance(item, Span) and item.kind is Kind.TAG:
                outcome = max(found.outcome, Outcome.MISPLACED, key=_severity)
            else:
                outcome = found.outcome
            kind = str(item.kind) if isinstance(item, Span) else "term"
            written = found.text
            case_kept = not written or written in _as_given(item, forms)
            report.append(Carried(kind, item.text, written, outcome, case_kept))
        return tuple(report)

    @property
    def _items(self) -> "list[Span | FoundTerm]":
        return [*self._spans, *self.terms]

    @property
    def _spans(self) -> tuple[Span, ...]:
        return (*(hidden.span for hidden in self.hidden), *self.left)

    def _restored(self, translated: str) -> str:
        return restore(translated, self.hidden, self.formats.write)

    def _forms(self, item: Span | FoundTerm) -> tuple[str, ...]:
        return self.forms_of(item) if isinstance(item, Span) else item.targets

    def forms_of(self, span: Span) -> tuple[str, ...]:
        """Give the forms of a span that count as right; the first is preferred."""
        return self.formats.forms(span)

    def _preferred(self, number: int) -> str:
        return self._forms(self._items[number])[0]

    def _disordered(self, text: str) -> bool:
        """Say whether tags enclose less properly than they did, or nothing at all."""
        tags = [span.text for span in self._spans if span.kind is Kind.TAG]
        if not tags:
            return False
        if unpaired_tags(text) > unpaired_tags(self.source):
            return True
        return any(
            re.search(f"{re.escape(tags[start])} *{re.escape(tags[end])}", text)
            for start, end in tag_pairs(tags)
            if not re.search(
                f"{re.escape(tags[start])} *{re.escape(tags[end])}", self.source
            )
        )


@dataclass(frozen=True)
class _Found:
    outcome: Outcome
    text: str


def _found(
    item: Span | FoundTerm, forms: Sequence[str], text: str, earlier: int
) -> _Found:
    """Look for one item, where so many equal ones were found before it."""
    places = _places(item, forms, text)
    if len(places) > earlier:
        start, end = places[earlier]
        return _Found(Outcome.PLACED, text[start:end])
    if isinstance(item, FoundTerm):
        any_form = "|".join(re.escape(form) for form in forms)
        pattern = rf"(?<!\w)(?:{any_form}){_ENDING}(?!\w)"
        alike = list(re.finditer(pattern, text, re.IGNORECASE))
        if len(alike) > earlier:
            return _Found(Outcome.CHANGED, alike[earlier][0])
    return _Found(Outcome.MISSING, "")


def _places(
    item: Span | FoundTerm, forms: Sequence[str], text: str
) -> list[tuple[int, int]]:
    """Give where an item stands in one of its forms, the longest at each place."""
    ends: dict[int, int] = {}
    for form in forms:
        for start in _starts(item, form, text):
            ends[start] = max(ends.get(start, 0), start + len(form))
    return sorted(ends.items())


def _starts(item: Span | FoundTerm, form: str, text: str) -> Iterator[int]:
    if isinstance(item, FoundTerm):
        return whole_places(text, form)
    if item.kind is Kind.NUMBER:
        return places_of(form, text)
    return (found.start() for found in re.finditer(re.escape(form), text))


def _as_given(item: Span | FoundTerm, forms: Sequence[str]) -> Container[str]:
    return forms if isinstance(item, Span) else item.given


def _severity(outcome: Outcome) -> int:
    return list(Outcome).index(outcome)


def demands_of(
    source: str,
    form: str,
    *,
    protecting: bool,
    has_placeholders: bool,
    glossary: Glossary | None,
    formats: NumberFormats = _AS_THEY_ARE,
    showing: bool = False,
) -> Demands:
    """Find what a sentence asks for, and hide what can be hidden.

    Spans are taken as they stand in the source, before its normalisation to `form`. A
    number in one of the glossary's terms is the glossary's matter. With `showing`,
    numbers that may become words stay to be seen, except such as look like marks.
    """
    masked = source
    hidden: tuple[Hidden, ...] = ()
    left = tuple(_spans_outside_terms(source, glossary)) if protecting else ()
    only_spans = bool(left) and not _has_words(source, left)
    if has_placeholders:
        shown = tuple(s for s in left if showing and formats.words(s))
        protected = protect(source, [span for span in left if span not in shown])
        masked, hidden = protected.text, protected.hidden
        left = (*protected.left, *shown)
    text = normalize(masked, form)
    terms = tuple(glossary.find(text)) if glossary else ()
    return Demands(source, text, hidden, left, terms, formats, only_spans and not terms)


def _has_words(source: str, spans: Sequence[Span]) -> bool:
    """Say whether there is a letter or a digit outside the spans."""
    ends = [0, *(span.end for span in spans)]
    starts = [*(span.start for span in spans), len(source)]
    between = (source[a:b] for a, b in zip(ends, starts, strict=True))
    return any(character.isalnum() for part in between for character in part)


def _spans_outside_terms(source: str, glossary: Glossary | None) -> Iterator[Span]:
    spans = find_spans(source)
    terms = glossary.find(source) if glossary and spans else []
    for span in spans:
        in_term = any(
            term.start <= span.start and span.end <= term.start + len(term.text)
            for term in terms
        )
        if not (in_term and span.kind is Kind.NUMBER):
            yield span
