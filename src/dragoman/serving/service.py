"""What every API asks for in the end: texts translated, within a deadline."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from dragoman.documents.document import Document, Finished, sentences_of, whole
from dragoman.documents.formats import Format, open_document
from dragoman.documents.inline_tags import Translated
from dragoman.documents.markup import TagRules
from dragoman.serving.detection import UNKNOWN, Detected
from dragoman.serving.keys import Key, Keys
from dragoman.serving.metrics import Metrics
from dragoman.serving.models import Shelf, base_language
from dragoman.serving.queue import Lane, TranslationQueue
from dragoman.serving.refusals import RefusalError, bad_request
from dragoman.serving.store import Store
from dragoman.serving.work import Answer, LoadedModel, Terms, Work
from dragoman.text.word_links import Links, word_units


@dataclass(frozen=True)
class Limits:
    """How much one request may ask for."""

    characters: int = 100_000
    texts: int = 10_000
    body: int = 2_000_000  # bytes
    seconds: float = 30.0  # the deadline of a request that names none
    body_seconds: float = 8.0  # for the body to arrive


@dataclass(frozen=True)
class Request:
    """One request in our own words, whatever API it came by."""

    texts: tuple[str, ...]
    source: str  # "auto": told by the text
    target: str
    format: Format = "text"
    rules: TagRules | None = None
    split: bool = True  # into sentences
    terms: Terms = ()
    nbest: int = 1
    token_scores: bool = False
    links: bool = False
    prefix: str = ""
    version: str = ""
    pivot: bool = False
    lane: Lane = "interactive"
    deadline: float = 0.0  # on the event loop's clock


@dataclass(frozen=True)
class Result:
    """One translated text, and what there is to say about it."""

    text: str
    detected: Detected
    model: str
    answers: tuple[Answer, ...]  # one for each sentence
    sentences: tuple[str, ...]
    repairs: tuple[str, ...] = ()
    via: str | None = None  # the language in between, if there was one
    alternatives: tuple[str, ...] = ()

    @property
    def warnings(self) -> list[str]:
        """What a person should look at."""
        found = [*self.repairs]
        for answer in self.answers:
            found += [str(c) for c in answer.best.report if not c.placed]
            if answer.best.num_cuts:
                found.append("a sentence was longer than the model has learned")
        return found


@dataclass
class Service:
    """Models, queue, keys and store: all that an API needs."""

    shelf: Shelf
    queue: TranslationQueue
    keys: Keys
    store: Store
    metrics: Metrics
    limits: Limits = field(default_factory=Limits)
    draining: bool = False

    def admit(self, key: Key, texts: Sequence[str]) -> int:
        """Check how much is asked for, and take it from the key's limits."""
        characters = sum(map(len, texts))
        if len(texts) > self.limits.texts:
            raise RefusalError(
                413,
                f"Invalid request: request ({len(texts)}) exceeds text limit "
                f"({self.limits.texts})",
            )
        if characters > self.limits.characters:
            raise RefusalError(
                413,
                f"Invalid request: request ({characters}) exceeds text limit "
                f"({self.limits.characters})",
            )
        self.keys.spend(key, characters)
        self.metrics.count("characters", characters)
        return characters

    async def translate(self, request: Request) -> list[Result]:
        """Translate all texts of a request, those of one language together."""
        found = [self._language(text, request.source) for text in request.texts]
        groups: dict[str, list[int]] = {}
        for number, detected in enumerate(found):
            groups.setdefault(detected.language, []).append(number)
        parts = await asyncio.gather(
            *(
                self._group(request, language, [found[n] for n in numbers], numbers)
                for language, numbers in groups.items()
            )
        )
        results = {number: result for part in parts for number, result in part}
        return [results[number] for number in range(len(request.texts))]

    def _language(self, text: str, source: str) -> Detected:
        if source != "auto":
            return Detected(base_language(source), 1.0)
        return self.shelf.detector.detect(text)

    async def _group(
        self,
        request: Request,
        language: str,
        found: Sequence[Detected],
        numbers: Sequence[int],
    ) -> list[tuple[int, Result]]:
        texts = [request.texts[number] for number in numbers]
        target = base_language(request.target)
        if language in (target, UNKNOWN) and request.source == "auto":
            # It is in the wanted language already, or in none.
            same = [Result(t, d, "", (), ()) for t, d in zip(texts, found, strict=True)]
            return list(zip(numbers, same, strict=True))
        path = self.path(language, target, request)
        results: list[Result] = []
        for step, model in enumerate(path):
            wanted = replace(request, texts=tuple(texts))
            if step < len(path) - 1:
                wanted = replace(wanted, terms=(), nbest=1)
            results = await self._translate(model, wanted, found)
            texts = [result.text for result in results]
        if len(path) > 1:
            via = path[0].languages[1]
            results = [replace(result, via=via) for result in results]
        return list(zip(numbers, results, strict=True))

    def path(self, source: str, target: str, request: Request) -> list[LoadedModel]:
        """Give the model of a pair, or two through a third language if asked for."""
        try:
            return [self.shelf.find(source, target, request.version)]
        except RefusalError:
            if request.pivot:
                for between in self.shelf.targets(source):
                    if target in self.shelf.targets(between):
                        return [
                            self.shelf.find(source, between),
                            self.shelf.find(between, target),
                        ]
            raise

    async def _translate(
        self, model: LoadedModel, request: Request, found: Sequence[Detected]
    ) -> list[Result]:
        language = model.languages[0]
        split = sentences_of(language) if request.split else whole
        documents = [
            open_document(
                text, request.format, language, split=split, rules=request.rules
            )
            for text in request.texts
        ]
        works = [
            [self._work(model, request, d, s.text, s.needs_links) for s in d.sentences]
            for d in documents
        ]
        answers = await self.queue.answer(
            model,
            [work for some in works for work in some],
            request.lane,
            request.deadline,
        )
        waiting = iter(answers)
        results = []
        for document, some, detected in zip(documents, works, found, strict=True):
            own = tuple(next(waiting) for _ in some)
            ranks = [
                _finish(document, own, rank) for rank in range(max(1, request.nbest))
            ]
            results.append(
                Result(
                    ranks[0].text,
                    detected,
                    model.key,
                    own,
                    tuple(work.text for work in some),
                    ranks[0].repairs,
                    alternatives=tuple(other.text for other in ranks[1:]),
                )
            )
        return results

    def _work(
        self,
        model: LoadedModel,
        request: Request,
        document: Document,
        text: str,
        needs_links: bool,
    ) -> Work:
        prefix = request.prefix
        if prefix and len(document.sentences) != 1:
            raise bad_request("a prefix needs a text of one sentence")
        return Work(
            model.key,
            text,
            nbest=request.nbest,
            token_scores=request.token_scores,
            links=needs_links or request.links,
            prefix=prefix,
            terms=request.terms,
        )


def _finish(document: Document, answers: Sequence[Answer], rank: int) -> Finished:
    """Put the document together from the translations of one rank."""
    translated = []
    for answer in answers:
        place = min(rank, len(answer.translations) - 1)
        best = answer.translations[place]
        links: Links = (None,) * len(word_units(best.text))
        if answer.links:
            links = answer.links[place]
        translated.append(Translated(best.text, links))
    return document.finish(translated)
