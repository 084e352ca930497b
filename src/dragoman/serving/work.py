"""One sentence to translate with all that decides its answer, and the answer."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from dragoman.alignment import Aligner
from dragoman.text.glossary import Glossary, Term
from dragoman.text.word_links import Links
from dragoman.translation import Alternative, Translation
from dragoman.translator import Translator

Terms = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Work:
    """What is asked of a model for one sentence: equal works have equal answers."""

    model: str  # the name of the model and its version
    text: str
    nbest: int = 1
    token_scores: bool = False
    links: bool = False
    prefix: str = ""
    terms: Terms = ()
    alternatives: int = 0  # what could come after the prefix, instead of translations


@dataclass(frozen=True)
class Answer:
    """What a model said to a work."""

    translations: tuple[Translation, ...] = ()
    links: tuple[Links, ...] = ()  # of each translation, where they were asked for
    alternatives: tuple[Alternative, ...] = ()

    @property
    def best(self) -> Translation:
        """The translation itself."""
        return self.translations[0]


@dataclass(frozen=True)
class LoadedModel:
    """A model ready to work."""

    name: str
    version: str
    languages: tuple[str, str]
    translator: Translator
    aligner: Aligner

    @property
    def key(self) -> str:
        """What tells it from all others, and from its own other versions."""
        return f"{self.name}@{self.version}"

    def count_tokens(self, text: str) -> int:
        """Count what a sentence costs."""
        return len(self.translator.tokenizers.source.encode(text)) + 1

    def answer(self, works: Sequence[Work]) -> list[Answer]:
        """Do works together; those that are searched alike go in one batch."""
        answers: dict[int, Answer] = {}
        groups: dict[tuple[object, ...], list[int]] = {}
        for number, work in enumerate(works):
            if work.alternatives:
                found = self.translator.alternatives(
                    work.text, work.prefix, work.alternatives
                )
                answers[number] = Answer(alternatives=tuple(found))
                continue
            alike = work.nbest, work.token_scores, work.terms, bool(work.prefix)
            groups.setdefault(alike, []).append(number)
        for numbers in groups.values():
            some = [works[number] for number in numbers]
            answers |= zip(numbers, self._translate(some), strict=True)
        return [answers[number] for number in range(len(works))]

    def _translate(self, works: Sequence[Work]) -> list[Answer]:
        first = works[0]
        options = self.translator.options
        guarded = self.translator.config.decoding.max_repeats
        options = replace(
            options,
            nbest=first.nbest,
            beam_size=max(first.nbest, options.beam_size),
            max_repeats=guarded,
        )
        found = self.translator.translate_nbest(
            [work.text for work in works],
            options=options,
            prefixes=[work.prefix for work in works] if first.prefix else None,
            glossary=_glossary(first.terms),
            token_scores=first.token_scores,
        )
        pairs = [
            (work.text, one.text)
            for work, best in zip(works, found, strict=True)
            if work.links
            for one in best
        ]
        links = iter(self.aligner.align(pairs))
        return [
            Answer(tuple(best), tuple(next(links) for _ in best) if work.links else ())
            for work, best in zip(works, found, strict=True)
        ]


def _glossary(terms: Terms) -> Glossary | None:
    if not terms:
        return None
    return Glossary([Term((source,), (target,)) for source, target in terms])
