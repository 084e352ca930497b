"""How exactly training computes: in float32, or in halves where they are faster.

Weights, their gradients and the optimizer stay in float32 whatever is chosen, and so
do all sums: only multiplications are done in fewer bits. On a CPU the kernels do them,
and without kernels, or on a GPU, torch's own mixed precision.
"""

import signal
from contextlib import AbstractContextManager, nullcontext

import torch

from dragoman.errors import ConfigError
from dragoman.kernels.bfloat16 import trial
from dragoman.kernels.choice import products_are_narrow

HALVES = {"bfloat16": torch.bfloat16, "float16": torch.float16}


def computing(precision: str, device: torch.device) -> AbstractContextManager[object]:
    """Let the multiplications within be done in this precision.

    "auto" is bfloat16 on a GPU that knows it; on a CPU, the kernels at work decide.
    """
    if precision == "auto":
        knows = device.type == "cuda" and torch.cuda.is_bf16_supported()
        precision = "bfloat16" if knows else "float32"
    if precision == "float32" or products_are_narrow():
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
    outcome = trial()
    if outcome:
        raise ConfigError(
            "training.precision = 'bfloat16' does not work on this processor (a trial "
            f"ended with {_ending(outcome)}): choose float32, or set "
            "ONEDNN_MAX_CPU_ISA=AVX512_CORE in the environment, which may help"
        )


def _ending(code: int) -> str:
    return signal.Signals(-code).name if code < 0 else f"exit code {code}"
