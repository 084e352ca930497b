"""DeepL's documents: sent, asked after, fetched."""

import asyncio
import hmac
import logging
import secrets
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

from starlette.requests import Request as HttpRequest
from starlette.responses import Response
from starlette.routing import BaseRoute

from dragoman.documents.formats import format_of
from dragoman.errors import DragomanError
from dragoman.serving.api import LONGEST, Api, answer_json
from dragoman.serving.asked import Asked
from dragoman.serving.documents import translate_file
from dragoman.serving.keys import Key
from dragoman.serving.refusals import RefusalError, bad_request
from dragoman.serving.tasks import Files
from dragoman.serving.work import Terms

MOST_WAITING = 200
log = logging.getLogger("dragoman.serving")


@dataclass
class _Upload:
    """A document and how far it is."""

    key: str
    name: str
    status: str = "queued"
    characters: int = 0
    error: str = ""


class DeepLDocuments:
    """`/v2/document`: each is translated beside the requests, in the slower lane."""

    def __init__(
        self,
        api: Api,
        files: Files,
        languages_of: Callable[[Asked], tuple[str, str]],
        terms: Callable[[Key, Asked, str, str], Terms],
    ) -> None:
        self.api = api
        self.files = files
        self.languages_of = languages_of
        self.terms = terms
        self._uploads: OrderedDict[str, _Upload] = OrderedDict()
        self._running: set[asyncio.Task[None]] = set()

    def routes(self) -> list[BaseRoute]:
        """Give the paths of documents."""
        route = self.api.route
        return [
            route("/v2/document", self.upload, "POST"),
            route("/v2/document/{number}", self.state, "GET", "POST"),
            route("/v2/document/{number}/result", self.result, "GET", "POST"),
        ]

    async def upload(self, request: HttpRequest, asked: Asked) -> Response:
        """Take a document in."""
        key = self.api.key(request, asked.text("auth_key"))
        file = asked.file("file")
        source, target = self.languages_of(asked)
        terms = self.terms(key, asked, source, target)
        name = asked.text("filename", file.filename or "")[-100:]
        format_of(name)
        busy = sum(
            u.status in ("queued", "translating") for u in self._uploads.values()
        )
        if busy >= MOST_WAITING:
            raise RefusalError(429, "Too many documents are waiting", 30)
        number, secret = secrets.token_hex(16).upper(), secrets.token_hex(32).upper()
        upload = self._uploads[number] = _Upload(secret, name)
        content: bytes = file.content  # type: ignore[attr-defined]
        task = asyncio.create_task(
            self._work(number, upload, key, content, source, target, terms)
        )
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        while len(self._uploads) > 10 * MOST_WAITING:
            self._uploads.popitem(last=False)
        return answer_json({"document_id": number, "document_key": secret})

    async def _work(
        self,
        number: str,
        upload: _Upload,
        key: Key,
        content: bytes,
        source: str,
        target: str,
        terms: Terms,
    ) -> None:
        upload.status = "translating"
        deadline = asyncio.get_running_loop().time() + LONGEST
        try:
            done = await translate_file(
                self.api.service,
                key,
                upload.name,
                content,
                source,
                target,
                deadline,
                terms,
            )
        except (RefusalError, DragomanError) as error:
            upload.status, upload.error = "error", str(error)
        except Exception:
            log.exception("unforeseen with a document")
            upload.status, upload.error = "error", "Unforeseen error"
        else:
            self.files.put(number, done.content)
            upload.status, upload.characters = "done", done.characters

    async def state(self, request: HttpRequest, asked: Asked) -> Response:
        """Say how far a document is."""
        number, upload = self._find(request, asked)
        answer: dict[str, object] = {"document_id": number, "status": upload.status}
        match upload.status:
            case "done":
                answer["billed_characters"] = upload.characters
            case "error":
                answer["error_message"] = upload.error
            case _:
                answer["seconds_remaining"] = 1
        return answer_json(answer)

    async def result(self, request: HttpRequest, asked: Asked) -> Response:
        """Give a document that is done, once."""
        number, upload = self._find(request, asked)
        content = self.files.get(number)
        if upload.status == "error":
            raise bad_request(upload.error)
        if upload.status != "done":
            raise RefusalError(503, "Document translation is not done", 1)
        if content is None:
            raise RefusalError(404, "Document not found")
        self.files.drop(number)
        return Response(content, media_type="application/octet-stream")

    def _find(self, request: HttpRequest, asked: Asked) -> tuple[str, _Upload]:
        self.api.key(request, asked.text("auth_key"))
        number = request.path_params["number"].upper()
        upload = self._uploads.get(number)
        given = asked.text("document_key").upper().encode("utf-8", "replace")
        if upload is None or not hmac.compare_digest(upload.key.encode(), given):
            raise RefusalError(404, "Document not found")
        return number, upload
