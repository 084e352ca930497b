"""A real server on loopback, with a toy model behind it."""

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import pytest
import requests

T = TypeVar("T")


@dataclass(frozen=True)
class Running:
    """A server that runs."""

    url: str
    process: "subprocess.Popen[bytes]"
    log: Path

    def post(self, path: str, body: Any, **more: Any) -> requests.Response:
        return requests.post(self.url + path, json=body, timeout=60, **more)

    def get(self, path: str, **more: Any) -> requests.Response:
        return requests.get(self.url + path, timeout=60, **more)

    def stop(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(30)


Start = Callable[..., Running]


@pytest.fixture(scope="session")
def start(
    model_folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Start]:
    """Start servers with further options; all end with the session."""
    running: list[Running] = []

    def started(*options: str, model: Path | None = model_folder) -> Running:
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
        log = tmp_path_factory.mktemp("server") / "log"
        models = [] if model is None else [str(model)]
        command = [sys.executable, "-m", "dragoman", "serve", *models]
        with log.open("wb") as file:
            process = subprocess.Popen(
                [*command, "--port", str(port), "--threads", "1", *options],
                stderr=file,
                env={**os.environ, "OMP_NUM_THREADS": "1"},
            )
        server = Running(f"http://127.0.0.1:{port}", process, log)
        running.append(server)
        for _ in range(600):
            try:
                if server.get("/ready").ok:
                    return server
            except requests.ConnectionError:
                pass
            assert process.poll() is None, log.read_text()
            time.sleep(0.1)
        raise AssertionError(log.read_text())

    yield started
    for server in running:
        if server.process.poll() is None:
            server.process.kill()
            server.process.wait()


@pytest.fixture(scope="session")
def server(start: Start) -> Running:
    return start("--log-requests")


def run_async(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine in a thread of its own: a browser's loop may be in this one."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, coroutine).result()


def lines(log: Path) -> list[dict[str, Any]]:
    """Read the log, a JSON object for each line after what is said at the start."""
    found = [line for line in log.read_text().splitlines() if line.startswith("{")]
    return [json.loads(line) for line in found]
