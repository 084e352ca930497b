"""Sentences a second and latencies of `dragoman serve`, beside its peers, in one run.

Clients ask in a closed loop, one sentence each, over kept connections: no sentence is
asked twice within a thousand, and nothing is cached. The clients share the machine.

python benchmarks/serving.py MODEL SENTENCES --peer-python PYTHON
"""

import argparse
import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from itertools import cycle
from pathlib import Path

from dragoman.translator import Translator

CLIENTS = (1, 8, 64, 200)


@dataclass(frozen=True)
class Row:
    """What a server did for so many clients at once."""

    server: str
    clients: int
    rate: float
    p50: float
    p95: float
    p99: float
    failed: int

    def __str__(self) -> str:
        times = " | ".join(f"{1000 * t:,.0f}" for t in (self.p50, self.p95, self.p99))
        return (
            f"| {self.server} | {self.clients} | {self.rate:,.0f} | {times} "
            f"| {self.failed} |"
        )


async def client(
    port: int,
    pair: tuple[str, str],
    texts: Iterator[str],
    end: float,
    times: list[float],
    failed: list[int],
) -> None:
    """Ask again and again over one connection."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    while time.perf_counter() < end:
        body = {"q": next(texts), "source": pair[0], "target": pair[1]}
        data = json.dumps(body).encode()
        head = (
            "POST /translate HTTP/1.1\r\nHost: localhost\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(data)}\r\n\r\n"
        )
        started = time.perf_counter()
        writer.write(head.encode() + data)
        answer = await reader.readuntil(b"\r\n\r\n")
        lower = answer.lower()
        length = int(lower.partition(b"content-length:")[2].split(b"\r\n")[0])
        await reader.readexactly(length)
        if answer.startswith(b"HTTP/1.1 200"):
            times.append(time.perf_counter() - started)
        else:
            failed.append(1)
    writer.close()


async def measure(
    name: str,
    port: int,
    pair: tuple[str, str],
    clients: int,
    texts: Iterator[str],
    seconds: float,
) -> Row:
    times: list[float] = []
    failed: list[int] = []
    started = time.perf_counter()
    end = started + seconds
    await asyncio.gather(
        *(client(port, pair, texts, end, times, failed) for _ in range(clients))
    )
    took = time.perf_counter() - started
    times.sort()
    p50, p95, p99 = (times[int(q * (len(times) - 1))] for q in (0.5, 0.95, 0.99))
    return Row(name, clients, len(times) / took, p50, p95, p99, len(failed))


@contextmanager
def running(command: Sequence[str], port: int) -> Iterator[None]:
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    try:
        for _ in range(300):
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                break
            except OSError:
                time.sleep(0.2)
        time.sleep(1)
        yield
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(30)


def engine_alone(folder: Path, texts: Sequence[str]) -> float:
    """Give the sentences a second of the engine without HTTP, all in one call."""
    translator = Translator.load(folder)
    repeats = translator.config.decoding.max_repeats  # the server's guard, too
    search = replace(translator.options, max_repeats=repeats)
    translator.translate(list(texts), options=search)  # to warm up
    started = time.perf_counter()
    translator.translate(list(texts), options=search)
    return len(texts) / (time.perf_counter() - started)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", type=Path)
    parser.add_argument("sentences", type=Path)
    parser.add_argument("--peer-python", help="an interpreter with fastapi")
    parser.add_argument("--seconds", type=float, default=4.0)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--clients", type=int, nargs="*", default=CLIENTS)
    options = parser.parse_args()
    texts = options.sentences.read_text("utf-8").splitlines()[:1000]
    translator = Translator.load(options.model)
    beam, pair = translator.options.beam_size, translator.engine.described.languages
    ours = [*(sys.executable, "-m", "dragoman", "serve", str(options.model))]
    servers = {"dragoman serve": [*ours, "--cache", "0", "--port", "8841"]}
    if options.peer_python:
        peer = str(Path(__file__).with_name("serving_peer.py"))
        servers["CTranslate2 behind FastAPI"] = [
            *(options.peer_python, peer, str(options.model), str(beam), "8842")
        ]
    print(f"beam {beam}, {os.cpu_count()} cores, {len(texts)} sentences")
    print(f"engine without HTTP: {engine_alone(options.model, texts):,.0f} sentences/s")
    print("\n| server | clients | sentences/s | p50 ms | p95 ms | p99 ms | failed |")
    print("|---|---|---|---|---|---|---|")
    forever = cycle(texts)
    with ExitStack() as stack:
        for command in servers.values():
            stack.enter_context(running(command, int(command[-1])))
        for name, command in servers.items():  # to warm up
            asyncio.run(measure(name, int(command[-1]), pair, 8, forever, 2.0))
        # In turns, so that whatever else the machine does falls on all alike.
        for clients in options.clients:
            for _ in range(options.rounds):
                for name, command in servers.items():
                    port = int(command[-1])
                    row = measure(name, port, pair, clients, forever, options.seconds)
                    print(asyncio.run(row), flush=True)


if __name__ == "__main__":
    main()
