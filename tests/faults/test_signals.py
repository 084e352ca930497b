"""SIGTERM and Ctrl-C: the step is finished, saved, and the exit code says so."""

import random
import signal
from pathlib import Path
from typing import Any

import pytest

WITHIN = 10.0  # seconds


def interrupt(
    nursery: Any,
    whole: Any,
    look: Any,
    folder: Path,
    number: int,
    lines: int,
    delay: float,
) -> float | None:
    """Stop a run that is learning, go on, compare; give how long it took to stop."""
    nursery.prepared(folder)
    diary = str(folder / "metrics.jsonl")
    ended = nursery.train(folder, after=[diary, lines], signals=[(delay, number)])
    if ended.code == 0:
        return None  # it was done before
    if ended.code == -number:
        assert look.steps_noted(folder)[-1] == look.steps  # while the model was saved
        return None
    assert ended.code == 128 + number, nursery.said(folder)
    stopped = look.newest_step(folder)
    assert stopped == look.steps_noted(folder)[-1], "no update is lost"
    assert f"saved after update {stopped}: run the same command" in nursery.said(folder)
    assert nursery.train(folder).code == 0
    assert look.fingerprint(folder) == whole.fingerprint
    return float(ended.seconds_after_signal)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_loses_nothing(
    nursery: Any, whole: Any, look: Any, tmp_path: Path, number: int
) -> None:
    seconds = interrupt(nursery, whole, look, tmp_path / "run", number, 3, 0.0)
    assert seconds is not None


def test_a_second_signal_stops_at_once(
    nursery: Any, whole: Any, look: Any, tmp_path: Path
) -> None:
    folder = nursery.prepared(tmp_path / "run")
    diary = str(folder / "metrics.jsonl")
    twice = [(0.0, signal.SIGTERM), (0.0, signal.SIGTERM)]
    ended = nursery.train(folder, after=[diary, 1], signals=twice)
    assert ended.code in (-signal.SIGTERM, 128 + signal.SIGTERM)
    assert nursery.train(folder).code == 0
    assert look.fingerprint(folder) == whole.fingerprint


@pytest.mark.faults
def test_fifty_sigterms(
    nursery: Any, whole: Any, look: Any, tmp_path: Path, report: Any
) -> None:
    chance, number = random.Random(3), 0
    seconds: list[float] = []
    while len(seconds) < 50:
        lines, delay = chance.randrange(1, look.steps), chance.uniform(0, 0.05)
        folder = tmp_path / f"run-{number}"
        taken = interrupt(nursery, whole, look, folder, signal.SIGTERM, lines, delay)
        number += 1
        if taken is not None:
            seconds.append(taken)
    assert max(seconds) <= WITHIN
    report(
        "SIGTERM at a random moment of training",
        len(seconds),
        "exit code 143, no update lost, same SHA-256 after going on",
        f"stopped within {max(seconds):.1f} s at most",
    )
