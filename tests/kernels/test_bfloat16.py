import signal
import subprocess
import sys
from pathlib import Path

import pytest

from dragoman.kernels import bfloat16
from dragoman.kernels.bfloat16 import bfloat16_is_fast, trial
from dragoman.kernels.instructions import Processor

DIES = f"import os; os.kill(os.getpid(), {int(signal.SIGILL)})"


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


def announce(monkeypatch: pytest.MonkeyPatch, features: str, program: str) -> bool:
    """Say what a processor with these features and this outcome is taken for."""
    here = Processor("", frozenset(features.split()))
    monkeypatch.setattr(bfloat16, "processor", lambda: here)
    monkeypatch.setattr(bfloat16, "TRIAL", program)
    bfloat16_is_fast.cache_clear()
    try:
        return bfloat16_is_fast()
    finally:
        bfloat16_is_fast.cache_clear()


@pytest.mark.parametrize("name", ["avx512_bf16", "amx_bf16"])
def test_a_processor_that_announces_it_and_does_it_is_fast(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    assert announce(monkeypatch, f"fpu {name} sse", "pass")


def test_a_processor_that_announces_it_and_dies_of_it_is_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert not announce(monkeypatch, "fpu avx512_bf16", DIES)


def test_one_that_does_not_announce_it_is_not_even_tried(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def never(*_: object, **__: object) -> None:
        raise AssertionError("a trial was not called for")

    monkeypatch.setattr(subprocess, "run", never)
    assert not announce(monkeypatch, "fpu avx512f", "pass")


def test_a_trial_is_made_once_and_remembered(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    mark = tmp_path / "tried"
    monkeypatch.setattr(
        bfloat16, "TRIAL", f"open({str(mark)!r}, 'a').write('x'); raise SystemExit(3)"
    )
    assert [trial(), trial()] == [3, 3]
    assert mark.read_text() == "x"


def test_another_program_is_tried_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bfloat16, "TRIAL", "pass")
    assert trial() == 0
    monkeypatch.setattr(bfloat16, "TRIAL", DIES)
    assert trial() == -signal.SIGILL


def test_without_a_cache_it_is_tried_each_time(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    closed = tmp_path / "file"
    closed.touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(closed))
    monkeypatch.setattr(bfloat16, "TRIAL", "raise SystemExit(4)")
    assert [trial(), trial()] == [4, 4]


def test_the_trial_itself_can_be_run() -> None:
    ended = subprocess.run([sys.executable, "-c", bfloat16.TRIAL], check=False)
    # Whether it works is the processor's affair, but it must not fail as a program.
    assert ended.returncode <= 0
