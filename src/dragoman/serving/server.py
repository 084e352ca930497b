"""Runs the application until told to stop, and then lets nobody down.

granian closes clients that are slow with their headers; bodies have a deadline of our
own (`gate.py`). On SIGTERM the server is not ready at once, answers all that it has
accepted, and ends.
"""

import asyncio
import json
import logging
import signal
import socket
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from dragoman.engines.ctranslate2 import cores
from dragoman.errors import DragomanError, ServingError
from dragoman.serving.app import build_app
from dragoman.serving.gate import Gate
from dragoman.serving.keys import Keys, read_keys
from dragoman.serving.metrics import Metrics
from dragoman.serving.models import Shelf, Watcher, load
from dragoman.serving.queue import TranslationQueue
from dragoman.serving.service import Limits, Service
from dragoman.serving.settings import ServeSettings
from dragoman.serving.store import Store
from dragoman.serving.work import LoadedModel

HEADER_MILLISECONDS = 5000
DRAIN_SECONDS = 15.0

Say = Callable[[str], None]


def build_service(settings: ServeSettings, say: Say) -> tuple[Service, Watcher | None]:
    """Load models, keys and store."""
    threads = settings.threads or None

    def opened(folder: Path) -> LoadedModel:
        return load(folder, settings.device, threads)

    shelf = Shelf([opened(Path(folder)) for folder in settings.models])
    store = Store(Path(settings.database) if settings.database else None)
    keys = read_keys(Path(settings.keys)) if settings.keys else ()
    metrics = Metrics()
    queue = TranslationQueue(metrics, settings.max_tokens, settings.cache)
    service = Service(
        shelf,
        queue,
        Keys(store, keys, anonymous=settings.anonymous or not keys),
        store,
        metrics,
        Limits(
            characters=settings.max_characters,
            body=max(100_000, 12 * settings.max_characters),
            seconds=settings.timeout,
        ),
    )
    watcher = None
    if settings.models_dir:
        watcher = _watch(Path(settings.models_dir), service, opened, say)
    if not shelf.models:
        raise ServingError(f"there is no model in {settings.models_dir}: put one there")
    for model in shelf.models:
        source, target = model.languages
        say(f"{source} to {target}: {model.key}, {model.translator.engine}")
    say(f"threads: {threads or cores()}, one batch at a time")
    return service, watcher


def _watch(
    directory: Path,
    service: Service,
    opened: Callable[[Path], LoadedModel],
    say: Say,
) -> Watcher:
    if not directory.is_dir():
        raise ServingError(f"there is no directory {directory}: name one of models")

    def forget_old() -> None:
        current = {model.key for model in service.shelf.models}
        service.queue.forget(lambda work: work.model not in current)

    watcher = Watcher(directory, service.shelf, opened, forget_old)
    for folder in watcher.folders().values():
        try:
            service.shelf.replace(None, opened(folder))
        except DragomanError as error:
            say(f"{folder.name} is not served: {error}")
    return watcher


async def serve(settings: ServeSettings, say: Say) -> None:
    """Serve until SIGTERM or Ctrl-C."""
    from granian.constants import Interfaces
    from granian.http import HTTP1Settings
    from granian.server.embed import Server

    service, watcher = build_service(settings, say)
    gate = build_app(
        service,
        (settings.host, socket.gethostname(), *settings.allowed_hosts),
        settings.cors,
    )
    port = settings.port or _free_port(settings.host)
    server = Server(
        gate,
        address=settings.host,
        port=port,
        uds=Path(settings.socket) if settings.socket else None,
        interface=Interfaces.ASGINL,
        backlog=1024,
        websockets=False,
        http1_settings=HTTP1Settings(header_read_timeout=HEADER_MILLISECONDS),
        log_enabled=False,
    )
    tasks = [asyncio.create_task(service.queue.run())]
    if watcher is not None:
        tasks.append(asyncio.create_task(watcher.run(settings.watch_seconds)))
    serving = asyncio.create_task(server.serve())
    stopping = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopping.set)
    where = settings.socket or f"http://{settings.host}:{port}/"
    say(f"serving at {where} (Ctrl-C stops)")
    waiting = asyncio.create_task(stopping.wait())
    await asyncio.wait({waiting, serving}, return_when=asyncio.FIRST_COMPLETED)
    waiting.cancel()
    if serving.done() and serving.exception() is not None:
        raise ServingError(f"cannot listen at {where}: choose another with --port")
    await drain(service, gate)
    server.stop()
    with suppress(TimeoutError):
        await asyncio.wait_for(serving, 5)
    for task in tasks:
        task.cancel()
    service.store.close()


async def drain(service: Service, gate: Gate) -> None:
    """Take nothing new, and wait until all that was accepted is answered."""
    service.draining = True
    loop = asyncio.get_running_loop()
    end = loop.time() + DRAIN_SECONDS
    await asyncio.sleep(0.2)  # for balancers to see that we are not ready
    while (gate.active or service.queue.tokens) and loop.time() < end:
        await asyncio.sleep(0.02)


def _free_port(host: str) -> int:
    with socket.create_server((host, 0)) as listening:
        return int(listening.getsockname()[1])


def set_up_logs(requests: bool) -> None:
    """Write logs to standard error, a JSON object each."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_JsonLines())
    log = logging.getLogger("dragoman.serving")
    log.handlers = [handler]
    log.propagate = False
    log.setLevel(logging.INFO if requests else logging.WARNING)


class _JsonLines(logging.Formatter):
    """One line for each record; a request's own fields are its fields."""

    def format(self, record: logging.LogRecord) -> str:
        """Write a record down."""
        message = record.getMessage()
        fields = {"time": self.formatTime(record), "level": record.levelname.lower()}
        try:
            fields |= json.loads(message)
        except ValueError:
            fields["message"] = message
        if record.exc_info and record.exc_info[0]:
            fields["error"] = record.exc_info[0].__name__
            fields["where"] = _where(record)
        return json.dumps(fields, ensure_ascii=False)


def _where(record: logging.LogRecord) -> str:
    """Name the function that failed, without any text of the request."""
    trace = record.exc_info[2] if record.exc_info else None
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return (
        ""
        if trace is None
        else f"{trace.tb_frame.f_code.co_qualname}:{trace.tb_lineno}"
    )
