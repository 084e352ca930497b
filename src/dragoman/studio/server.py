"""Opens the studio on this machine, and closes it on Ctrl-C."""

import os
import socket
import webbrowser
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import Thread, Timer

import uvicorn
from starlette.types import ASGIApp

from dragoman.errors import StudioError

LOOPBACK = "127.0.0.1"
PORT = 8717
TRIED_PORTS = 20


def serve(
    app: ASGIApp,
    host: str,
    port: int | None,
    *,
    open_browser: bool,
    say: Callable[[str], None],
) -> None:
    """Serve until Ctrl-C; without a port given, take the first that is free."""
    with listen(host, port) as listening:
        address = url(listening)
        say(f"the studio is open at {address} (Ctrl-C closes it)")
        if open_browser:
            Timer(0.3, webbrowser.open, [address]).start()
        config = uvicorn.Config(
            app,
            log_level="warning",
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=1,
        )
        with suppress(KeyboardInterrupt):
            uvicorn.Server(config).run(sockets=[listening])


@contextmanager
def serving(app: ASGIApp) -> Iterator[str]:
    """Serve beside this thread, on a port of its own; give the address."""
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning"))
    with listen(LOOPBACK, 0) as listening:
        thread = Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
        thread.start()
        yield url(listening)
        server.should_exit = True
        thread.join(10)


def listen(host: str, port: int | None) -> socket.socket:
    """Take a port, or say in one line why that cannot be."""
    ports = range(PORT, PORT + TRIED_PORTS) if port is None else (port,)
    reason = "?"
    for number in ports:
        try:
            family = socket.AF_INET6 if ":" in host else socket.AF_INET
            listening = socket.create_server((host, number), family=family)
        except OSError as error:
            reason = os.strerror(error.errno) if error.errno else str(error)
        else:
            # Else the body of an answer waits 40 ms for its head to be acknowledged.
            listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return listening
    raise StudioError(
        f"cannot listen on {host}, port {ports[0]} ({reason}): choose another with "
        "--port, or a host of this machine with --host"
    )


def url(listening: socket.socket) -> str:
    """Give the address that a browser on this machine opens."""
    host, port = listening.getsockname()[:2]
    host = {"0.0.0.0": LOOPBACK, "::": "::1"}.get(host, host)  # noqa: S104
    shown = f"[{host}]" if ":" in host else host
    return f"http://{shown}:{port}/"
