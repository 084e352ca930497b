"""What computer-aided translation tools speak: OPUS-CAT's and OpenNMT's interfaces."""

import json
from typing import Any

from starlette.requests import Request as HttpRequest
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from dragoman.serving.api import Api, answer_json
from dragoman.serving.asked import Asked
from dragoman.serving.models import base_language
from dragoman.serving.refusals import RefusalError, bad_request
from dragoman.serving.service import Request, Result, Service

OPUS_CAT = "/mtrestservice/"


class CatTools:
    """OPUS-CAT (`/MTRestService/…`), OpenNMT and MTUOC (`/translator/translate`)."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self.opus_cat = Api("opuscat", service, "error")
        self.opennmt = Api("opennmt", service, "error")

    def routes(self) -> list[BaseRoute]:
        """Give the paths; OPUS-CAT's are not particular about capitals."""
        opus = self.opus_cat.route("/{service}/{name}", self.ask, "GET", "POST")
        return [
            Route("/translator/translate", self.translate, methods=["POST"]),
            opus,
        ]

    async def ask(self, request: HttpRequest, asked: Asked) -> Response:
        """Answer a question of OPUS-CAT's plugins."""
        if request.path_params["service"].lower() != "mtrestservice":
            raise RefusalError(404, "Not found")
        values = Asked({name.lower(): v for name, v in asked.values.items()})
        key = self.opus_cat.key(request, values.text("tokencode"))
        match request.path_params["name"].lower():
            case "listsupportedlanguagepairs":
                return answer_json([f"{a}-{b}" for a, b in self.service.shelf.pairs])
            case "getlanguagepairmodeltags":
                return answer_json([])
            case "login":
                return answer_json(key.name)
            case "translatejson":
                text = values.text("input")
                self.service.admit(key, [text])
                [result] = await self._translate(request, values, [text])
                return answer_json({"translation": result.text})
            case "preorderbatch":
                texts = values.texts("input")
                self.service.admit(key, texts)
                await self._translate(request, values, texts)
                return answer_json("batch received")
            case _:
                raise RefusalError(404, "Not found")

    async def _translate(
        self, request: HttpRequest, values: Asked, texts: list[str]
    ) -> list[Result]:
        source, target = values.text("srclangcode"), values.text("trglangcode")
        if not source or not target:
            raise bad_request("srcLangCode and trgLangCode are needed")
        return await self.service.translate(
            Request(
                tuple(texts),
                base_language(source),
                target,
                version=values.text("modeltag"),
                deadline=self.opus_cat.deadline(request),
            )
        )

    async def translate(self, request: HttpRequest) -> Response:
        """Answer OpenNMT's list form and MTUOC's object form, each in kind."""
        request.state.api = "opennmt"
        try:
            given = _read(await request.body())
            key = self.opennmt.key(request)
            several = given if isinstance(given, list) else [given]
            texts = [_source(one) for one in several]
            request.state.characters = self.service.admit(key, texts)
            [(source, target), *_] = self.service.shelf.pairs
            results = await self.service.translate(
                Request(
                    tuple(texts),
                    source,
                    target,
                    deadline=self.opennmt.deadline(request),
                )
            )
        except RefusalError as error:
            return self.opennmt.error(error)
        if isinstance(given, list):
            rows = zip(given, texts, results, strict=True)
            return JSONResponse([[_nmt(*row) for row in rows]])
        return JSONResponse(_mtuoc(given, texts[0], results[0]))


def _read(body: bytes) -> Any:  # noqa: ANN401 (whatever JSON holds)
    try:
        given = json.loads(body)
        json.dumps(given, ensure_ascii=False).encode("utf-8")
    except (ValueError, RecursionError) as error:
        raise bad_request("the body is not JSON") from error
    if not isinstance(given, list | dict) or not given:
        raise bad_request("the body must be a list of objects with src, or one object")
    return given


def _source(one: object) -> str:
    match one:
        case {"src": str(text)}:
            return text
        case _:
            raise bad_request("each object needs src, a text")


def _score(result: Result) -> float:
    return sum(answer.best.score for answer in result.answers)


def _nmt(given: dict[str, Any], text: str, result: Result) -> dict[str, object]:
    return {
        "src": text,
        "tgt": result.text,
        "n_best": 1,
        "pred_score": _score(result),
    } | ({"id": given["id"]} if "id" in given else {})


def _mtuoc(given: dict[str, Any], text: str, result: Result) -> dict[str, object]:
    return {
        "id": given.get("id"),
        "src": text,
        "src_tokens": text,
        "tgt_tokens": result.text,
        "tgt": result.text,
        "src_subwords": "",
        "tgt_subwords": " ".join(p for a in result.answers for p in a.best.pieces),
        "alignment": "",
        "alternate_translations": [],
    }
