"""What one sentence asks of its translation, and whether it was given."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from dragoman.text.glossary import FoundTerm, Glossary
from dragoman.text.normalization import normalize
from dragoman.text.pairs import shown
from dragoman.text.placeholders import MARKS, Hidden, protect, restore
from dragoman.text.spans import Kind, Span, find_spans, tag_pairs, unpaired_tags
from dragoman.text.words import count_whole


@dataclass(frozen=True)
class Carried:
    """Something that a sentence asked its translation to contain."""

    kind: str  # "term", or what kind of span: "tag", "variable", "address", "number"
    source: str
    target: str  # as it stands in the translation
    placed: bool  # by the model; else it was put at the end, or stands in a wrong place

    def __str__(self) -> str:
        text = self.source
        if self.target != self.source:
            text += f" → {self.target}"
        return shown(text if self.placed else f"not placed: {text}")


@dataclass(frozen=True)
class Demands:
    """A sentence as the model reads it, and what must come of it."""

    source: str
    text: str  # normalised, with placeholders for what is hidden
    hidden: tuple[Hidden, ...] = ()
    left: tuple[Span, ...] = ()  # to be spelled out, for want of placeholders
    terms: tuple[FoundTerm, ...] = ()

    @property
    def anything(self) -> bool:
        """Whether there is anything to look after."""
        return bool(self.hidden or self.left or self.terms)

    def are_met(self, translated: str) -> bool:
        """Say whether a translation, with placeholders, has all that it should."""
        if not self.anything:
            return True
        counts = {mark: sum(h.mark == mark for h in self.hidden) for mark in MARKS}
        return (
            all(translated.count(mark) == counts[mark] for mark in MARKS)
            and all(self._is_kept(span.text, translated) for span in self.left)
            and all(self._is_used(term, translated) for term in self.terms)
            and not self._disordered(translated)
        )

    def finish(self, translated: str) -> tuple[str, tuple[Carried, ...]]:
        """Give the text with everything in it, and a report; what lacks comes last."""
        if not self.anything:
            return translated, ()
        placed = {
            mark: translated.count(mark) if mark in translated else 0 for mark in MARKS
        }
        disordered = self._disordered(translated)
        text = restore(translated, self.hidden)
        report = []
        for hidden in self.hidden:
            there = placed[hidden.mark] > 0
            placed[hidden.mark] -= 1
            if not there:
                text = f"{text} {hidden.text}"
            right = there and not (disordered and hidden.text.startswith("<"))
            report.append(Carried(_kind(hidden.text), hidden.text, hidden.text, right))
        for span in self.left:
            there = self._is_kept(span.text, text)
            if not there:
                text = f"{text} {span.text}"
            report.append(Carried(span.kind, span.text, span.text, there))
        for term in self.terms:
            there = self._is_used(term, text)
            if not there:
                text = f"{text} {term.targets[0]}"
            used = [form for form in term.targets if count_whole(text, [form])]
            report.append(Carried("term", term.text, used[0], there))
        return text.strip(" "), tuple(report)

    def _is_kept(self, span: str, translated: str) -> bool:
        wanted = sum(other.text == span for other in self.left)
        return translated.count(span) >= wanted

    def _is_used(self, term: FoundTerm, translated: str) -> bool:
        wanted = sum(other.targets == term.targets for other in self.terms)
        return count_whole(translated, term.targets) >= wanted

    def _disordered(self, translated: str) -> bool:
        """Say whether tags enclose less properly than they did, or nothing at all."""
        if not any("<" in text for text in self._span_texts()):
            return False
        text = restore(translated, self.hidden)
        if unpaired_tags(text) > unpaired_tags(self.source):
            return True
        hidden = self.hidden
        return any(
            re.search(f"{hidden[start].mark} *{hidden[end].mark}", translated)
            for start, end in tag_pairs([h.text for h in hidden])
        )

    def _span_texts(self) -> list[str]:
        return [h.text for h in self.hidden] + [span.text for span in self.left]


def demands_of(
    source: str,
    form: str,
    *,
    protecting: bool,
    has_placeholders: bool,
    glossary: Glossary | None,
) -> Demands:
    """Find what a sentence asks for, and hide what can be hidden.

    Spans are taken as they stand in the source, before its normalisation to `form`. A
    number in one of the glossary's terms is the glossary's matter.
    """
    masked = source
    hidden: tuple[Hidden, ...] = ()
    left = tuple(_spans_outside_terms(source, glossary)) if protecting else ()
    if has_placeholders:
        protected = protect(source, left)
        masked, hidden, left = protected.text, protected.hidden, protected.left
    text = normalize(masked, form)
    terms = tuple(glossary.find(text)) if glossary else ()
    return Demands(source, text, hidden, left, terms)


def _spans_outside_terms(source: str, glossary: Glossary | None) -> Iterator[Span]:
    terms = glossary.find(source) if glossary else []
    for span in find_spans(source):
        in_term = any(
            term.start <= span.start and span.end <= term.start + len(term.text)
            for term in terms
        )
        if not (in_term and span.kind is Kind.NUMBER):
            yield span


def _kind(text: str) -> str:
    spans = find_spans(text)
    return str(spans[0].kind if spans else Kind.VARIABLE)
