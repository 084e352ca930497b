"""The server as one web application: every API over one service."""

from collections.abc import Iterable
from pathlib import Path

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request as HttpRequest
from starlette.responses import FileResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from dragoman.serving.cat_tools import CatTools
from dragoman.serving.deepl import DeepL
from dragoman.serving.gate import Gate
from dragoman.serving.libretranslate import LibreTranslate
from dragoman.serving.own_api import OwnApi
from dragoman.serving.service import Service
from dragoman.serving.tasks import Files

PAGE = Path(__file__).parent / "static"
SHARED = Path(__file__).parents[1] / "studio" / "static"  # one look for both pages
PAGE_HEADERS = {
    "Content-Security-Policy": "; ".join(
        (
            "default-src 'none'",
            "script-src 'self'",
            "style-src 'self'",
            "img-src 'self'",
            "connect-src 'self'",
            "base-uri 'none'",
            "form-action 'none'",
            "frame-ancestors 'none'",
        )
    ),
    "Cross-Origin-Opener-Policy": "same-origin",
}


def build_app(
    service: Service, hosts: Iterable[str] = (), origins: Iterable[str] = ()
) -> Gate:
    """Put the application together."""
    files = Files()

    async def home(request: HttpRequest) -> Response:
        request.state.api = "page"
        return FileResponse(PAGE / "index.html", headers=PAGE_HEADERS)

    async def icon(request: HttpRequest) -> Response:
        request.state.api = "page"
        return FileResponse(SHARED / "icon.svg")

    async def health(request: HttpRequest) -> Response:
        request.state.api = "health"
        return JSONResponse({"status": "ok"})

    async def ready(request: HttpRequest) -> Response:
        request.state.api = "health"
        if service.draining or not service.shelf.models:
            return JSONResponse({"status": "stopping"}, 503)
        return JSONResponse({"status": "ready"})

    async def metrics(request: HttpRequest) -> Response:
        request.state.api = "health"
        gauges = {
            "queued_tokens": service.queue.tokens,
            "models": len(service.shelf.models),
        }
        return PlainTextResponse(service.metrics.text(gauges))

    app = Starlette(
        routes=[
            Route("/", home),
            Mount("/static/page", StaticFiles(directory=PAGE)),
            *(
                Mount(f"/static/shared/{part}", StaticFiles(directory=SHARED / part))
                for part in ("css", "js")
            ),
            Route("/static/shared/icon.svg", icon),
            Route("/health", health),
            Route("/ready", ready),
            Route("/metrics", metrics),
            *LibreTranslate(service, files).routes(),
            *DeepL(service, files).routes(),
            *OwnApi(service).routes(),
            *CatTools(service).routes(),
        ],
        exception_handlers={HTTPException: _refused, Exception: _unforeseen},
    )
    return Gate(app, service, hosts, origins)


async def _refused(request: HttpRequest, error: Exception) -> Response:
    del request
    assert isinstance(error, HTTPException)
    said = {"error": str(error.detail), "message": str(error.detail)}
    return JSONResponse(said, error.status_code)


async def _unforeseen(request: HttpRequest, error: Exception) -> Response:
    del request, error
    return JSONResponse(
        {"error": "Unforeseen error", "message": "Unforeseen error"}, 500
    )
