import signal
import subprocess
import sys

import pytest
import torch

from dragoman.errors import ConfigError
from dragoman.training import precision
from dragoman.training.precision import computing, refuse_precision

CPU = torch.device("cpu")


def test_float32_is_always_to_be_had() -> None:
    refuse_precision("float32", CPU)
    with computing("float32", CPU):
        assert not torch.is_autocast_enabled("cpu")


def test_halves_are_used_within_and_nowhere_else() -> None:
    with computing("bfloat16", CPU):
        assert torch.is_autocast_enabled("cpu")
        assert torch.get_autocast_dtype("cpu") == torch.bfloat16
    assert not torch.is_autocast_enabled("cpu")


def test_float16_on_a_cpu_is_one_line() -> None:
    with pytest.raises(ConfigError, match="'float16' needs a GPU") as raised:
        refuse_precision("float16", CPU)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("trial", "ended"),
    [
        (f"import os; os.kill(os.getpid(), {int(signal.SIGILL)})", "SIGILL"),
        ("raise SystemExit(3)", "exit code 3"),
    ],
)
def test_a_processor_that_dies_of_bfloat16_is_found_out_by_another_process(
    monkeypatch: pytest.MonkeyPatch, trial: str, ended: str
) -> None:
    monkeypatch.setattr(precision, "TRIAL", trial)
    with pytest.raises(ConfigError, match=ended) as raised:
        refuse_precision("bfloat16", CPU)
    assert "choose float32" in str(raised.value)
    assert "\n" not in str(raised.value)
    monkeypatch.setattr(precision, "TRIAL", "pass")
    refuse_precision("bfloat16", CPU)


def test_the_trial_itself_can_be_run() -> None:
    ended = subprocess.run([sys.executable, "-c", precision.TRIAL], check=False)
    # Whether it works is the processor's affair, but it must not fail as a program.
    assert ended.returncode <= 0


def test_a_gpu_without_bfloat16_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    gpu = torch.device("cuda")
    monkeypatch.setattr("torch.cuda.is_bf16_supported", lambda: False)
    with pytest.raises(ConfigError, match="not known to this GPU"):
        refuse_precision("bfloat16", gpu)
    refuse_precision("float16", gpu)
