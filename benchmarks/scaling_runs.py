"""What whole runs show: loading beside learning, the first update, two processes."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import torch
from corpus_size import write_corpus
from plan import tokens_per_second

from dragoman.config import load_preset
from dragoman.data.sampler import Position
from dragoman.kernels.choice import kernels_at_work
from dragoman.model_folder import build_for
from dragoman.text.corpus import Corpus
from dragoman.training.batch_source import BatchSource
from dragoman.training.objective import Objective
from dragoman.training.optimizer import Optimizer
from dragoman.training.preparation import prepare

UPDATES = 12
DRAGOMAN = [sys.executable, "-m", "dragoman"]
TORCHRUN = [sys.executable, "-m", "torch.distributed.run", "--standalone"]


@dataclass(frozen=True)
class Loading:
    """Seconds of an update with `tiny`, and what waiting for its batch took of them."""

    pairs: int
    tokens_per_second: float
    reading: float  # seconds to read a batch, which happens on another thread
    waiting: float  # seconds that learning waited for it
    update: float

    @property
    def share(self) -> float:
        """The share of an update that is lost to loading."""
        return self.waiting / self.update


@kernels_at_work()
def loading(folder: Path, pairs: int, threads: int) -> Loading:
    """Learn from some batches of a generated corpus as the training loop does."""
    torch.set_num_threads(threads)
    folder.mkdir(parents=True, exist_ok=True)
    write_corpus(folder, pairs)
    config = load_preset("tiny").with_settings({"training.batch_tokens": 4096})
    corpus = Corpus(folder / "train.en", folder / "train.de")
    prepared = prepare(folder / "prepared", [corpus], None, config)
    source = BatchSource(prepared.store, prepared.tokenizers, config)
    model = build_for(config, prepared.tokenizers).train()
    objective = Objective(model, config.training)
    optimizer = Optimizer(model, config.training)
    reading = timed_reading(source)
    waiting = learning = 0.0
    tokens, batches = 0, source.batches(Position(0, 0))
    for number in range(UPDATES + 1):
        start = time.perf_counter()
        (batch,), _ = next(batches)
        got = time.perf_counter()
        loss = objective(batch)
        (loss.smoothed / loss.tokens).backward()
        optimizer.clip()
        optimizer.step(1e-4)
        optimizer.forget_gradients()
        if number:  # the first waits for the order of the epoch, once
            waiting += got - start
            learning += time.perf_counter() - start
            tokens += loss.tokens
    batches.close()  # type: ignore[attr-defined]
    return Loading(
        pairs, tokens / learning, reading, waiting / UPDATES, learning / UPDATES
    )


def timed_reading(source: BatchSource) -> float:
    """Give the seconds to read a batch, with nobody else at work."""
    read = source.read(Position(0, 0))
    next(read)
    start = time.perf_counter()
    for _ in range(UPDATES):
        next(read)
    return (time.perf_counter() - start) / UPDATES


@dataclass(frozen=True)
class StartUp:
    """Seconds from starting the command to the end of the first update."""

    total: float
    building: float  # of which the model takes so many


def start_up(folder: Path, source: Path, target: Path, preset: str) -> StartUp:
    """Train for one update, then for one more: the corpus is then prepared."""
    model = folder / "model"
    files = ["--source", str(source), "--target", str(target)]
    command = [*DRAGOMAN, "train", str(model), *files, "--preset", preset, "--quiet"]
    subprocess.run([*command, "--steps", "1"], check=True, capture_output=True)
    began = time.perf_counter()
    process = subprocess.Popen(
        [*command, "--steps", "2"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    while process.poll() is None and 2 not in updates_in(model / "metrics.jsonl"):
        time.sleep(0.01)
    total = time.perf_counter() - began
    process.wait()
    config = load_preset(preset)
    prepared = prepare(model / "prepared", [Corpus(source, target)], None, config)
    began = time.perf_counter()
    build_for(config, prepared.tokenizers)
    return StartUp(total, time.perf_counter() - began)


def updates_in(diary: Path) -> Iterator[int]:
    """Give the numbers of the updates that a run has noted."""
    for line in diary.read_text("utf-8").splitlines():
        try:
            yield json.loads(line)["step"]
        except ValueError:  # it is being written
            return


@dataclass(frozen=True)
class Sharing:
    """Tokens a second of two cores, used by one process or by two."""

    one_process: float
    two_processes: float


def sharing(folder: Path, source: Path, target: Path, steps: int) -> Sharing:
    """Train the same twice: with two threads, and with two processes."""
    files = ["--source", str(source), "--target", str(target), "--preset", "tiny"]

    def speed(name: str, launcher: list[str], threads: int) -> float:
        model = folder / name
        settings = ["--steps", str(steps), "--threads", str(threads), "--quiet"]
        subprocess.run(
            [*launcher, "train", str(model), *files, *settings],
            check=True,
            capture_output=True,
            env=os.environ | {"OMP_NUM_THREADS": str(threads)},
        )
        return tokens_per_second(model, 0)

    two = [*TORCHRUN, "--nproc-per-node", "2", "-m", "dragoman"]
    return Sharing(speed("one", DRAGOMAN, 2), speed("two", two, 1))
