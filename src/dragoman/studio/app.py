"""The studio as a web application: its page, and the questions that the page asks."""

import logging
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from anyio import CapacityLimiter, to_thread
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from dragoman.errors import DragomanError
from dragoman.studio.answers import ANSWERS
from dragoman.studio.asked import Asked
from dragoman.studio.desk import Desk
from dragoman.studio.guard import Guard, error_response
from dragoman.studio.shelf import Shelf

STATIC = Path(__file__).parent / "static"
PAGES = (
    "translate",
    "align",
    "heads",
    "head",
    "positions",
    "masks",
    "stream",
    "training",
    "compare",
    "why",
    "examples",
)
log = logging.getLogger(__name__)

Handler = Callable[[Request], Awaitable[Response]]


def build_app(
    folders: Sequence[Path], *, device: str = "auto", host: str = "127.0.0.1"
) -> Starlette:
    """Put the studio of some model folders together; the first is loaded at once."""
    shelf = Shelf(folders, device)
    shelf.translator(next(iter(shelf.volumes)))
    desk = Desk(shelf)
    # Hooks hang on the model while one looks inside: one question at a time.
    limiter = CapacityLimiter(1)
    questions = [
        Route(f"/api/{name}", _asking(desk, limiter, answer), methods=["POST"])
        for name, answer in ANSWERS.items()
    ]
    pages = [Route(path, _page) for path in ("/", *(f"/{page}" for page in PAGES))]
    return Starlette(
        routes=[*questions, *pages, Mount("/static", StaticFiles(directory=STATIC))],
        middleware=[Middleware(Guard, names=(host,))],
        exception_handlers={HTTPException: _refused, Exception: _internal_error},
    )


def _asking(
    desk: Desk, limiter: CapacityLimiter, answer: Callable[[Desk, Asked], object]
) -> Handler:
    """Let the page ask: the answer is worked out beside the loop that serves."""

    async def ask(request: Request) -> Response:
        try:
            asked = Asked.read(await request.body())
            found = await to_thread.run_sync(answer, desk, asked, limiter=limiter)
        except DragomanError as error:
            return error_response(400, str(error))
        except ClientDisconnect:
            return error_response(413, "the question was longer than it said")
        return found if isinstance(found, Response) else JSONResponse(found)

    return ask


async def _page(request: Request) -> Response:
    del request
    return FileResponse(STATIC / "index.html")


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return error_response(error.status_code, f"{request.url.path}: {error.detail}")


async def _internal_error(request: Request, error: Exception) -> Response:
    log.error("internal error at %s", request.url.path, exc_info=error)
    return error_response(500, f"internal error: {type(error).__name__}: {error}")
