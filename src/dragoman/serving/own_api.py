"""Our own API, `/v1`: what a model knows and the other APIs have no words for."""

import json
from collections.abc import AsyncIterator
from dataclasses import replace

from starlette.requests import Request as HttpRequest
from starlette.responses import HTMLResponse, Response, StreamingResponse
from starlette.routing import BaseRoute

from dragoman.documents.formats import FORMATS, Format
from dragoman.serving.api import Api, answer_json
from dragoman.serving.asked import Asked
from dragoman.serving.models import base_language, language_name
from dragoman.serving.openapi import TRANSLATE, describe, docs_page
from dragoman.serving.refusals import RefusalError, bad_request
from dragoman.serving.service import Request, Result, Service
from dragoman.serving.work import Answer, Terms, Work

MOST_BEST = 16
MOST_TERMS = 1000
FIELDS = frozenset(TRANSLATE)


class OwnApi:
    """`/v1`: strict about what it takes, and open about what it did."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self.api = Api("v1", service, "error")

    def routes(self) -> list[BaseRoute]:
        """Give the paths of this API."""
        route = self.api.route
        return [
            route("/v1/translate", self.translate, "POST"),
            route("/v1/alternatives", self.alternatives, "POST"),
            route("/v1/detect", self.detect, "POST"),
            route("/v1/models", self.models, "GET"),
            route("/v1/openapi.json", self.openapi, "GET"),
            route("/spec", self.openapi, "GET"),
            route("/docs", self.docs, "GET"),
        ]

    async def translate(self, request: HttpRequest, asked: Asked) -> Response:
        """Translate texts, all at once or streamed one by one."""
        key = self.api.key(request)
        wanted = self._request(request, asked)
        request.state.characters = self.service.admit(key, wanted.texts)
        if not asked.flag("stream"):
            results = await self.service.translate(wanted)
            shown = [_shown(result, wanted) for result in results]
            return answer_json({"translations": shown})
        # What is refused is refused before the stream begins.
        self.service.path(
            self._first_source(wanted), base_language(wanted.target), wanted
        )
        headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        return StreamingResponse(
            self._stream(wanted), media_type="text/event-stream", headers=headers
        )

    def _first_source(self, wanted: Request) -> str:
        if wanted.source != "auto":
            return base_language(wanted.source)
        return self.service.shelf.sources[0]

    async def _stream(self, wanted: Request) -> AsyncIterator[str]:
        """Send each text as soon as it is translated, and `done` at the end."""
        for number, text in enumerate(wanted.texts):
            try:
                [result] = await self.service.translate(replace(wanted, texts=(text,)))
            except RefusalError as error:
                said = {"error": error.message, "status": error.status}
                yield f"event: error\ndata: {json.dumps(said)}\n\n"
                return
            shown = {"number": number} | _shown(result, wanted)
            yield f"event: translation\ndata: {json.dumps(shown)}\n\n"
        yield "event: done\ndata: {}\n\n"

    def _request(self, request: HttpRequest, asked: Asked) -> Request:
        unknown = sorted(set(asked.values) - FIELDS)
        if unknown:
            raise bad_request(f"there is no field {unknown[0][:40]!r}: see /docs")
        texts = asked.texts("texts")
        if not texts:
            raise bad_request("texts is missing: give a list of texts")
        source, target = asked.text("source", "auto"), asked.text("target")
        if not target:
            raise bad_request("target is missing: give the code of a language")
        known = {code for pair in self.service.shelf.pairs for code in pair}
        for code in (source, target):
            if code != "auto" and base_language(code) not in known:
                raise bad_request(f"{code[:20]} is not supported")
        return Request(
            tuple(texts),
            source,
            target,
            _format(asked.text("format", "text")),
            split=asked.flag("split", True),
            terms=_terms(asked.values.get("glossary")),
            nbest=max(1, asked.number("nbest", 1, MOST_BEST)),
            token_scores=asked.flag("token_scores"),
            links=asked.flag("alignment"),
            prefix=asked.text("prefix"),
            version=asked.text("model"),
            pivot=asked.flag("pivot"),
            deadline=self.api.deadline(request),
        )

    async def alternatives(self, request: HttpRequest, asked: Asked) -> Response:
        """Say what could come after a prefix, for whoever translates word by word."""
        key = self.api.key(request)
        text, prefix = asked.text("text"), asked.text("prefix")
        if not text:
            raise bad_request("text is missing: give a sentence")
        source, target = asked.text("source"), asked.text("target")
        model = self.service.shelf.find(
            base_language(source), base_language(target), asked.text("model")
        )
        self.service.admit(key, [text, prefix])
        count = max(1, asked.number("count", 5, MOST_BEST))
        work = Work(model.key, text, prefix=prefix, alternatives=count)
        deadline = self.api.deadline(request)
        [answer] = await self.service.queue.answer(
            model, [work], "interactive", deadline
        )
        return answer_json(
            {
                "model": model.key,
                "alternatives": [
                    {
                        "piece": one.piece,
                        "log_probability": one.log_probability,
                        "translation": one.translation.text,
                    }
                    for one in answer.alternatives
                ],
            }
        )

    async def detect(self, request: HttpRequest, asked: Asked) -> Response:
        """Tell the language of each text by itself."""
        self.api.key(request)
        found = [self.service.shelf.detector.detect(t) for t in asked.texts("texts")]
        return answer_json(
            {
                "detected": [
                    {"language": one.language, "confidence": one.confidence}
                    for one in found
                ]
            }
        )

    async def models(self, request: HttpRequest, asked: Asked) -> Response:
        """List the models, their versions, and what runs them."""
        del asked
        self.api.key(request)
        listed = [
            {
                "name": model.name,
                "version": model.version,
                "source": model.languages[0],
                "target": model.languages[1],
                "source_name": language_name(model.languages[0]),
                "target_name": language_name(model.languages[1]),
                "engine": _engine(str(model.translator.engine)),
            }
            for model in self.service.shelf.models
        ]
        return answer_json({"models": listed})

    async def openapi(self, request: HttpRequest, asked: Asked) -> Response:
        """Describe this API."""
        del request, asked
        return answer_json(describe())

    async def docs(self, request: HttpRequest, asked: Asked) -> Response:
        """Show the description to people."""
        del request, asked
        headers = {"Content-Security-Policy": "default-src 'none'"}
        return HTMLResponse(docs_page(), headers=headers)


def _engine(said: str) -> str:
    """Name the engine without its reasons, which name folders."""
    return said.partition(" ")[0]


def _format(name: str) -> Format:
    for known in FORMATS:
        if name == known:
            return known
    raise bad_request(f"format {name[:20]!r} is none of {', '.join(FORMATS)}")


def _terms(given: object) -> Terms:
    if given is None:
        return ()
    if not isinstance(given, dict) or len(given) > MOST_TERMS:
        raise bad_request(f"glossary must be an object of at most {MOST_TERMS} terms")
    for term, translation in given.items():
        if not isinstance(translation, str) or not term.strip():
            raise bad_request("glossary must give a text for each term")
        if not translation.strip():
            raise bad_request("glossary must give a text for each term")
    return tuple(given.items())


def _shown(result: Result, wanted: Request) -> dict[str, object]:
    shown: dict[str, object] = {
        "text": result.text,
        "detected": {
            "language": result.detected.language,
            "confidence": result.detected.confidence,
        },
        "model": result.model,
        "via": result.via,
        "warnings": result.warnings,
        "sentences": [
            _sentence(text, answer, wanted)
            for text, answer in zip(result.sentences, result.answers, strict=True)
        ],
    }
    return shown


def _sentence(text: str, answer: Answer, wanted: Request) -> dict[str, object]:
    shown: dict[str, object] = {
        "source": text,
        "text": answer.best.text,
        "score": answer.best.score,
        "protected": [
            {"kind": c.kind, "source": c.source, "target": c.target, "placed": c.placed}
            for c in answer.best.report
        ],
    }
    if wanted.token_scores:
        shown["pieces"] = list(answer.best.pieces)
        shown["log_probabilities"] = list(answer.best.piece_log_probabilities)
    if wanted.links:
        shown["alignment"] = list(answer.links[0])
    if wanted.nbest > 1:
        shown["nbest"] = [
            {"text": one.text, "score": one.score} for one in answer.translations
        ]
    return shown
