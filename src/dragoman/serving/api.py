"""What all APIs share: keys, deadlines, and errors in the shape each has."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request as HttpRequest
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from dragoman.errors import DragomanError
from dragoman.serving.asked import Asked, read_asked
from dragoman.serving.keys import Key
from dragoman.serving.refusals import RefusalError, bad_request
from dragoman.serving.service import Service

LONGEST = 600.0  # seconds that a client may wait

Answer = Callable[[HttpRequest, Asked], Awaitable[Response]]
log = logging.getLogger("dragoman.serving")


class Api:
    """One foreign API: its name, and how it writes errors."""

    def __init__(self, name: str, service: Service, error_field: str) -> None:
        self.name = name
        self.service = service
        self.error_field = error_field

    def route(self, path: str, answer: Answer, *methods: str) -> Route:
        """Let a path be answered; what goes wrong is said as this API says it."""

        async def endpoint(request: HttpRequest) -> Response:
            request.state.api = self.name
            try:
                if request.method not in ("HEAD", *methods):
                    return self.error(RefusalError(405, "Method not allowed"))
                return await answer(request, await read_asked(request))
            except RefusalError as error:
                return self.error(error)
            except DragomanError as error:
                return self.error(bad_request(str(error)))
            except HTTPException as error:
                return self.error(RefusalError(error.status_code, str(error.detail)))
            except Exception:
                log.exception("unforeseen in %s", self.name)
                return self.error(RefusalError(500, "Unforeseen error"))

        every = ["GET", "POST", "PUT", "PATCH", "DELETE"]
        return Route(path, endpoint, methods=every)

    def error(self, error: RefusalError) -> Response:
        """Write an error down."""
        headers = {}
        if error.retry_after is not None:
            headers["Retry-After"] = str(error.retry_after)
        body = {self.error_field: error.message}
        return JSONResponse(body, error.status, headers)

    def key(self, request: HttpRequest, given: str = "") -> Key:
        """Tell who asks, by what came in the request or its Authorization header."""
        scheme, _, value = request.headers.get("authorization", "").partition(" ")
        if not given and scheme.lower() in ("bearer", "deepl-auth-key"):
            given = value.strip()
        return self.service.keys.who(given)

    def deadline(self, request: HttpRequest) -> float:
        """Say until when the answer is of use, on the event loop's clock."""
        seconds = self.service.limits.seconds
        asked = request.headers.get("x-request-timeout")
        if asked is not None:
            try:
                seconds = float(asked)
            except ValueError:
                seconds = -1
            if not 0 < seconds <= LONGEST:
                raise bad_request(
                    f"X-Request-Timeout must be from 0 to {LONGEST:g} seconds"
                )
        return asyncio.get_running_loop().time() + seconds


def answer_json(values: Any, status: int = 200) -> Response:  # noqa: ANN401 (JSON)
    """Answer with JSON."""
    return JSONResponse(values, status)
