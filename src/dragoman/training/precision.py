"""How exactly training computes: in float32, or in halves where they are faster.

Weights, their gradients and the optimizer stay in float32 whatever is chosen, and so
does the loss: only the network's multiplications are done in fewer bits.
"""

import signal
import subprocess
import sys
from contextlib import AbstractContextManager, nullcontext

import torch

from dragoman.errors import ConfigError

HALVES = {"bfloat16": torch.bfloat16, "float16": torch.float16}

# Some processors announce instructions for bfloat16 that end a program when used, so
# another program tries them first.
TRIAL = """
import torch
layer = torch.nn.Linear(64, 64)
with torch.autocast("cpu", torch.bfloat16):
    layer(torch.ones(64, 64)).float().sum().backward()
"""


def computing(precision: str, device: torch.device) -> AbstractContextManager[object]:
    """Let the multiplications within be done in this precision."""
    if precision == "float32":
        return nullcontext()
    return torch.autocast(device.type, HALVES[precision])


def refuse_precision(precision: str, device: torch.device) -> None:
    """Say in one line why this precision cannot be had here, if it cannot."""
    match precision, device.type:
        case "float16", "cpu":
            raise ConfigError(
                "training.precision = 'float16' needs a GPU: choose bfloat16 or "
                "float32 on a CPU"
            )
        case "bfloat16", "cpu":
            _refuse_untried()
        case "bfloat16", "cuda" if not torch.cuda.is_bf16_supported():
            raise ConfigError(
                "training.precision = 'bfloat16' is not known to this GPU: choose "
                "float16 or float32"
            )


def _refuse_untried() -> None:
    trial = subprocess.run([sys.executable, "-c", TRIAL], capture_output=True)  # noqa: S603
    if trial.returncode:
        raise ConfigError(
            "training.precision = 'bfloat16' does not work on this processor (a trial "
            f"ended with {_ending(trial.returncode)}): choose float32, or set "
            "ONEDNN_MAX_CPU_ISA=AVX512_CORE in the environment, which may help"
        )


def _ending(code: int) -> str:
    return signal.Signals(-code).name if code < 0 else f"exit code {code}"
