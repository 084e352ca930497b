"""LibreTranslate's API, as its clients use it."""

import secrets
from urllib.parse import quote

from starlette.requests import Request as HttpRequest
from starlette.responses import Response
from starlette.routing import BaseRoute

from dragoman.serving.api import Api, answer_json
from dragoman.serving.asked import Asked
from dragoman.serving.documents import translate_file
from dragoman.serving.keys import Key
from dragoman.serving.models import base_language, language_name
from dragoman.serving.refusals import RefusalError, bad_request
from dragoman.serving.service import Request, Result, Service
from dragoman.serving.tasks import Files

MOST_ALTERNATIVES = 9


class LibreTranslate:
    """What LibreTranslate's clients ask for."""

    def __init__(self, service: Service, files: Files) -> None:
        self.service = service
        self.files = files
        self.api = Api("libretranslate", service, "error")

    def routes(self) -> list[BaseRoute]:
        """Give the paths of this API."""
        route = self.api.route
        return [
            route("/translate", self.translate, "POST"),
            route("/detect", self.detect, "POST"),
            route("/languages", self.languages, "GET"),
            route("/translate_file", self.translate_file, "POST"),
            route("/download_file/{name}", self.download, "GET"),
            route("/suggest", self.suggest, "POST"),
            route("/frontend/settings", self.settings, "GET"),
        ]

    async def translate(self, request: HttpRequest, asked: Asked) -> Response:
        """Answer `POST /translate`, in kind: a list to a list."""
        key = self.api.key(request, asked.text("api_key"))
        texts, is_list = self._texts(asked)
        source, target = self._languages(asked)
        kind = asked.text("format", "text")
        if kind not in ("text", "html"):
            raise bad_request(f"Invalid request: format {kind} is not supported")
        others = asked.number("alternatives", 0, MOST_ALTERNATIVES)
        self._admit(request, key, texts)
        results = await self.service.translate(
            Request(
                tuple(texts),
                source,
                target,
                "html" if kind == "html" else "text",
                nbest=1 + others,
                deadline=self.api.deadline(request),
            )
        )
        return answer_json(_shape(results, is_list, source == "auto", others))

    def _admit(self, request: HttpRequest, key: Key, texts: list[str]) -> None:
        """Count characters; too many are a 400 here, and a spent quota is a 403."""
        try:
            request.state.characters = self.service.admit(key, texts)
        except RefusalError as error:
            if error.status == 413:
                raise bad_request(error.message) from None
            if error.status == 456:
                raise RefusalError(403, error.message) from None
            raise

    def _texts(self, asked: Asked) -> tuple[list[str], bool]:
        if "q" not in asked.values:
            raise bad_request("Invalid request: missing q parameter")
        texts = asked.texts("q")
        if not texts:
            raise bad_request("Invalid request: missing q parameter")
        given = asked.values["q"]
        return texts, isinstance(given, list) and (asked.is_json or len(given) > 1)

    def _languages(self, asked: Asked) -> tuple[str, str]:
        source, target = asked.text("source"), asked.text("target")
        if not source:
            raise bad_request("Invalid request: missing source parameter")
        if not target:
            raise bad_request("Invalid request: missing target parameter")
        shelf = self.service.shelf
        served = {language for pair in shelf.pairs for language in pair}
        for code in (source, target):
            if code != "auto" and base_language(code) not in served:
                raise bad_request(f"{code} is not supported")
        if target == "auto":
            raise bad_request("auto is not supported")
        return source, target

    async def detect(self, request: HttpRequest, asked: Asked) -> Response:
        """Answer `POST /detect`."""
        self.api.key(request, asked.text("api_key"))
        texts, _ = self._texts(asked)
        found = self.service.shelf.detector.detect(" ".join(texts)[:10_000])
        return answer_json([_detected(found.language, found.confidence)])

    async def languages(self, request: HttpRequest, asked: Asked) -> Response:
        """Answer `GET /languages`: each language and what it is translated into."""
        del request, asked
        shelf = self.service.shelf
        codes = dict.fromkeys(language for pair in shelf.pairs for language in pair)
        return answer_json(
            [
                {
                    "code": code,
                    "name": language_name(code),
                    "targets": [*dict.fromkeys([*shelf.targets(code), code])],
                }
                for code in codes
            ]
        )

    async def translate_file(self, request: HttpRequest, asked: Asked) -> Response:
        """Answer `POST /translate_file` with the address of the translated file."""
        key = self.api.key(request, asked.text("api_key"))
        file = asked.file("file")
        source, target = self._languages(asked)
        content, name = file.content, file.filename or ""  # type: ignore[attr-defined]
        done = await translate_file(
            self.service, key, name, content, source, target, self.api.deadline(request)
        )
        stored = f"{secrets.token_hex(16)}.{name.rpartition('.')[2].lower()}"
        self.files.put(stored, done.content)
        base = str(request.base_url).rstrip("/")
        return answer_json(
            {"translatedFileUrl": f"{base}/download_file/{quote(stored)}"}
        )

    async def download(self, request: HttpRequest, asked: Asked) -> Response:
        """Answer `GET /download_file/NAME`."""
        del asked
        name = request.path_params["name"]
        content = self.files.get(name)
        if content is None:
            raise RefusalError(404, "File not found")
        headers = {"Content-Disposition": f'attachment; filename="{name}"'}
        return Response(content, 200, headers, "application/octet-stream")

    async def suggest(self, request: HttpRequest, asked: Asked) -> Response:
        """Answer `POST /suggest`: corrections are kept for whoever trains next."""
        key = self.api.key(request, asked.text("api_key"))
        source, target = self._languages(asked)
        original, better = asked.text("q"), asked.text("s")
        if not original or not better:
            raise bad_request("Invalid request: missing q or s parameter")
        self._admit(request, key, [original, better])
        pair = base_language(source), base_language(target)
        self.service.store.add_suggestion(key.name, pair, original, better)
        return answer_json({"success": True})

    async def settings(self, request: HttpRequest, asked: Asked) -> Response:
        """Answer `GET /frontend/settings`."""
        del request, asked
        [(source, target), *_] = self.service.shelf.pairs
        names = {c: language_name(c) for c in (source, target)}
        return answer_json(
            {
                "apiKeys": not self.service.keys.anonymous,
                "charLimit": self.service.limits.characters,
                "frontendTimeout": 500,
                "keyRequired": not self.service.keys.anonymous,
                "language": {
                    "source": {"code": source, "name": names[source]},
                    "target": {"code": target, "name": names[target]},
                },
                "suggestions": True,
                "filesTranslation": True,
                "supportedFilesFormat": [".txt", ".html", ".md", ".srt", ".vtt"],
            }
        )


def _shape(
    results: list[Result], is_list: bool, auto: bool, others: int
) -> dict[str, object]:
    texts = [result.text for result in results]
    found = [_detected(r.detected.language, r.detected.confidence) for r in results]
    alternatives = [list(result.alternatives) for result in results]
    answer: dict[str, object] = {"translatedText": texts if is_list else texts[0]}
    if auto:
        answer["detectedLanguage"] = found if is_list else found[0]
    if others:
        answer["alternatives"] = alternatives if is_list else alternatives[0]
    return answer


def _detected(language: str, confidence: float) -> dict[str, object]:
    return {"confidence": round(100 * confidence), "language": language}
