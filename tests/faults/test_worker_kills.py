"""A run on torchrun whose workers are killed, or which is told to stop, by chance.

The long form is behind `make faults`; what it gave is in benchmarks/faults.md.
"""

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from dragoman import durable

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="looks for workers in /proc"
)

STEPS, SAVE_EVERY = 120, 5
SETTINGS = {
    "model.d_model": 16,
    "model.d_ff": 32,
    "model.num_heads": 2,
    "model.num_encoder_layers": 1,
    "model.num_decoder_layers": 1,
    "model.dropout": 0.2,
    "tokenizer.vocabulary_size": 380,
    "tokenizer.sampling": 0.1,
    "training.batch_tokens": 1500,
    "training.accumulate": 2,
    "training.threads": 1,
    "training.valid_every": 1000,
}
LIMIT = 3000  # seconds; the machine may be busy


def command(folder: Path, corpus: Any, restarts: int) -> list[str]:
    files = ["--source", corpus.train_source, "--target", corpus.train_target]
    budget = ["--steps", STEPS, "--save-every", SAVE_EVERY]
    launch = ["--standalone", "--nproc-per-node", "2", "--max-restarts", restarts]
    run = ["-m", "dragoman", "train", folder, *files, "--preset", "tiny", *budget]
    chosen = [f"--set={name}={value}" for name, value in SETTINGS.items()]
    words = [sys.executable, "-m", "torch.distributed.run", *launch, *run, *chosen]
    return list(map(str, words))


def updates(folder: Path) -> int:
    """Give the last update that the run has noted."""
    diary = folder / "metrics.jsonl"
    lines = diary.read_text("utf-8").splitlines() if diary.exists() else []
    try:
        return int(json.loads(lines[-1])["step"]) if lines else 0
    except ValueError:  # it is being written
        return 0


def workers(launcher: int) -> dict[int, int]:
    """Give the process of each rank, now that torchrun has started them."""
    children = Path(f"/proc/{launcher}/task/{launcher}/children").read_text().split()
    found = {}
    for child in children:
        try:
            words = Path(f"/proc/{child}/environ").read_bytes().split(b"\0")
        except OSError:  # it has just ended
            continue
        ranks = [word[5:] for word in words if word.startswith(b"RANK=")]
        if ranks:
            found[int(ranks[0])] = int(child)
    return found


def wait_for(condition: Callable[[], Any]) -> Any:
    ends = time.monotonic() + LIMIT
    while time.monotonic() < ends:
        value = condition()
        if value:
            return value
        time.sleep(0.02)
    raise AssertionError("waited in vain")


def train(folder: Path, corpus: Any, kills: int, seed: int = 0) -> int:
    """Train, killing a worker now and then; give how many were killed."""
    chance, done = random.Random(seed), 0
    with subprocess.Popen(
        command(folder, corpus, kills),
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    ) as launcher:
        for number in range(kills):
            due = (number * STEPS) // (kills + 1)
            wait_for(partial(_reached, launcher, folder, due))
            time.sleep(chance.random() * 0.5)
            alive = {} if _ended(launcher) else workers(launcher.pid)
            if alive:
                victim = alive[chance.choice(sorted(alive))]
                os.kill(victim, signal.SIGKILL)
                done += 1
                wait_for(partial(_replaced, launcher, victim))
        launcher.wait(LIMIT)
        assert launcher.returncode == 0
    return done


def _ended(launcher: subprocess.Popen[Any]) -> bool:
    return launcher.poll() is not None


def _reached(launcher: subprocess.Popen[Any], folder: Path, step: int) -> bool:
    at_work = _ended(launcher) or bool(workers(launcher.pid))
    return at_work and (_ended(launcher) or updates(folder) >= step)


def _replaced(launcher: subprocess.Popen[Any], victim: int) -> bool:
    return _ended(launcher) or victim not in workers(launcher.pid).values()


@pytest.fixture(scope="module")
def whole(corpus: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that nothing disturbed."""
    folder = tmp_path_factory.mktemp("workers") / "whole"
    train(folder, corpus, kills=0)
    return folder


def same_weights(one: Path, other: Path) -> bool:
    names = ("model.safetensors", f"checkpoints/step-{STEPS}/model.safetensors")
    return all(durable.sha256(one / n) == durable.sha256(other / n) for n in names)


@pytest.mark.faults
def test_twenty_killed_workers_change_nothing(
    whole: Path, corpus: Any, tmp_path: Path, report: Any
) -> None:
    assert train(tmp_path / "m", corpus, kills=20) == 20
    assert same_weights(tmp_path / "m", whole)
    report(
        "kill −9 of one of two torchrun workers, at a random moment",
        20,
        "torchrun begins again; same SHA-256 of the weights as the run never killed",
        "20 kills in one run",
    )


@pytest.mark.faults
def test_torchrun_told_to_stop_loses_no_update(
    whole: Path, corpus: Any, tmp_path: Path, report: Any
) -> None:
    folder, chance = tmp_path / "m", random.Random(1)
    for number in range(1, 6):
        with subprocess.Popen(
            command(folder, corpus, 0), stderr=subprocess.PIPE, text=True
        ) as launcher:
            wait_for(partial(_reached, launcher, folder, number * STEPS // 7))
            time.sleep(chance.random() * 0.5)
            launcher.send_signal(signal.SIGTERM)
            _, said = launcher.communicate(timeout=LIMIT)
        saved = (folder / "checkpoints" / "LATEST").read_text().strip()
        assert saved == f"step-{updates(folder)}", "every update was kept"
        assert "stopped by SIGTERM and saved" in said
    train(folder, corpus, kills=0)
    assert same_weights(folder, whole)
    report(
        "SIGTERM to torchrun with two workers",
        5,
        "both stop at the same update and save it; same SHA-256 after going on",
        "5 of 5",
    )
