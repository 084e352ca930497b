"""What stands between the network and the APIs.

Bodies are read here, within a size and a time of our own; a client that leaves takes
its work along; every request has an id, is counted and is logged without its text.
"""

import asyncio
import ipaddress
import json
import logging
import time
import uuid
from collections.abc import Iterable
from contextlib import suppress
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from dragoman.serving.service import Service

log = logging.getLogger("dragoman.serving")
HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}
ALWAYS_ANSWERED = ("/health", "/ready", "/metrics")


class Gate:
    """Refuses what is not to be answered, and marks what is."""

    def __init__(
        self,
        app: ASGIApp,
        service: Service,
        hosts: Iterable[str],
        origins: Iterable[str] = (),
    ) -> None:
        self.app = app
        self.service = service
        self.hosts = {"localhost", *map(str.lower, hosts)}
        self.origins = set(origins)
        self.active = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, as ASGI has it."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        started, self.active = time.perf_counter(), self.active + 1
        number = uuid.uuid4().hex[:16]
        scope.setdefault("state", {})["request_id"] = number
        answered = _Answered(send, number, self._cors(Headers(scope=scope)))
        try:
            await self._answer(scope, receive, answered)
        finally:
            self.active -= 1
            self._note(scope, answered, number, time.perf_counter() - started)

    async def _answer(self, scope: Scope, receive: Receive, send: "_Answered") -> None:
        headers = Headers(scope=scope)
        if not self._is_ours(headers.get("host", "")):
            await _refuse(send, 421, "This server does not answer to that name")
            return
        if self.service.draining and scope["path"] not in ALWAYS_ANSWERED:
            await _refuse(send, 503, "The server is stopping", retry=2)
            return
        if scope["method"] == "OPTIONS" and send.cors:
            await _refuse(send, 204, "")
            return
        body = await self._body(headers, receive, send)
        if body is None:
            return
        task = asyncio.ensure_future(self.app(scope, _replay(body), send))
        gone = asyncio.ensure_future(_left(receive))
        await asyncio.wait({task, gone}, return_when=asyncio.FIRST_COMPLETED)
        gone.cancel()
        if not task.done():  # nobody is there to hear the answer
            task.cancel()
            self.service.metrics.count("disconnects")
        with suppress(asyncio.CancelledError):
            await task

    async def _body(
        self, headers: Headers, receive: Receive, send: "_Answered"
    ) -> bytes | None:
        """Read the body, or refuse it: too long, or too slow."""
        limits = self.service.limits
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length[:12]) > limits.body:
            await _refuse(send, 413, f"A request has at most {limits.body} bytes")
            return None
        parts: list[bytes] = []
        size = 0
        try:
            async with asyncio.timeout(limits.body_seconds):
                while True:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        return None
                    parts.append(message.get("body", b""))
                    size += len(parts[-1])
                    if size > limits.body:
                        text = f"A request has at most {limits.body} bytes"
                        await _refuse(send, 413, text)
                        return None
                    if not message.get("more_body"):
                        return b"".join(parts)
        except TimeoutError:
            await _refuse(send, 408, "The request took too long to arrive")
            return None

    def _is_ours(self, host: str) -> bool:
        try:
            name = (urlsplit(f"//{host}").hostname or "").lower()
        except ValueError:
            return False
        return name in self.hosts or _is_address(name)

    def _cors(self, headers: Headers) -> str:
        origin = headers.get("origin", "")
        return origin if origin in self.origins or "*" in self.origins else ""

    def _note(
        self, scope: Scope, sent: "_Answered", number: str, seconds: float
    ) -> None:
        api = scope.get("state", {}).get("api", "other")
        status = sent.status or 499
        self.service.metrics.observe_request(api, status, seconds)
        log.info(
            json.dumps(
                {
                    "request": number,
                    "api": api,
                    "method": scope["method"],
                    "status": status,
                    "seconds": round(seconds, 4),
                    "characters": scope.get("state", {}).get("characters", 0),
                }
            )
        )


class _Answered:
    """Sends an answer with our headers, and notes its status."""

    def __init__(self, send: Send, number: str, cors: str) -> None:
        self._send = send
        self._number = number
        self.cors = cors
        self.status = 0

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers.setdefault(name, value)
            headers.setdefault("X-Request-Id", self._number)
            headers.setdefault("X-Trace-ID", self._number)
            if self.cors:
                headers["Access-Control-Allow-Origin"] = self.cors
                headers["Vary"] = "Origin"
                headers["Access-Control-Allow-Headers"] = "Authorization, Content-Type"
        await self._send(message)


async def _refuse(send: Send, status: int, text: str, retry: int = 0) -> None:
    body = b""
    if status != 204:
        body = json.dumps({"error": text, "message": text}).encode()
    headers = [(b"content-type", b"application/json"), (b"connection", b"close")]
    if retry:
        headers.append((b"retry-after", str(retry).encode()))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def _replay(body: bytes) -> Receive:
    """Give the body once, then wait: who leaves is noticed elsewhere."""
    given = False

    async def receive() -> Message:
        nonlocal given
        if given:
            await asyncio.Event().wait()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return receive


async def _left(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
