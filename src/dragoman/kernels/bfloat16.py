"""Whether this processor can multiply bfloat16, and does so faster than float32."""

import hashlib
import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import torch

from dragoman.kernels.instructions import processor, whole_processor
from dragoman.kernels.library import cache_folder

# What processors call the instructions that do it.
INSTRUCTIONS = frozenset({"avx512_bf16", "amx_bf16"})

# Some processors announce instructions for bfloat16 that end a program when used, so
# another program tries them first.
TRIAL = """
import torch
layer = torch.nn.Linear(64, 64)
with torch.autocast("cpu", torch.bfloat16):
    layer(torch.ones(64, 64)).float().sum().backward()
stack = torch.ones(2, 64, 64, dtype=torch.bfloat16)
torch.baddbmm(stack, stack, stack.mT)
"""


@cache
def bfloat16_is_fast() -> bool:
    """Say whether products are faster in bfloat16 here."""
    return bool(INSTRUCTIONS & processor().instructions) and not trial()


def trial() -> int:
    """Give how a program ended that multiplied in bfloat16: 0 if all went well.

    It takes seconds, so the outcome is kept for this processor and version of torch.
    """
    known = cache_folder() / f"bfloat16-{_digest()}"
    try:
        return int(known.read_text())
    except (OSError, ValueError):
        outcome = subprocess.run(  # noqa: S603 (our own program, by our own Python)
            [sys.executable, "-c", TRIAL], capture_output=True
        ).returncode
        _remember(known, outcome)
        return outcome


def _digest() -> str:
    limit = os.environ.get("ONEDNN_MAX_CPU_ISA", "")
    here = whole_processor()
    told = (here.name, *sorted(here.instructions))
    parts = "\n".join((TRIAL, torch.__version__, limit, *told))
    return hashlib.sha256(parts.encode()).hexdigest()[:16]


def _remember(file: Path, outcome: int) -> None:
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        whole = file.with_name(f"{file.name}.{os.getpid()}")
        whole.write_text(str(outcome))
        whole.replace(file)
    except OSError:
        pass  # it is then tried again each time
