"""What the machine shows before the first update: time per token, memory so far."""

import os
import resource
import sys
import time
from pathlib import Path

import torch
from torch import nn

from dragoman.data.batching import Batch
from dragoman.model.norms import statistics_kept

OWN_TABLE = Path("/proc/self/statm")


def seconds_per_token(objective: nn.Module, batch: Batch) -> float:
    """Run one batch forward and backward, leaving weights and randomness untouched.

    A process that has run none before pays once for what later ones reuse.
    """
    random_state = torch.get_rng_state()
    objective.train()
    with statistics_kept(objective):
        began = time.perf_counter()
        objective(batch).smoothed.backward()
        seconds = time.perf_counter() - began
    for parameter in objective.parameters():
        parameter.grad = None
    torch.set_rng_state(random_state)
    return seconds / batch.num_target_tokens


def resident_memory() -> int:
    """Give the memory that this process holds now, in bytes."""
    if not OWN_TABLE.exists():
        return peak_memory()
    pages = int(OWN_TABLE.read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def peak_memory() -> int:
    """Give the most memory this process has held so far, in bytes."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else 1024 * peak
