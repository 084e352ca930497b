"""What a run will cost, measured on one batch before the first update."""

import resource
import sys
import time
from dataclasses import dataclass

import torch
from torch import nn

from dragoman.data.batching import Batch

PARTS_PER_PARAMETER = 4  # the weight, its gradient, and two moments of Adam's
BYTES = 4


@dataclass(frozen=True)
class Cost:
    """Time per target token and memory, as one batch showed them."""

    seconds_per_token: float
    memory_bytes: float


def measure_cost(objective: nn.Module, batch: Batch, batch_tokens: int) -> Cost:
    """Run one batch forward and backward, leaving weights and randomness untouched.

    Where several processes learn, the first pass also settles in which order their
    gradients are added up: a resumed run must find that settled from its first update.
    """
    random_state = torch.get_rng_state()
    objective.train()
    before = peak_memory()
    for _ in range(2):  # the first time pays for what later ones reuse
        began = time.perf_counter()
        objective(batch).smoothed.backward()
        seconds = time.perf_counter() - began
    for parameter in objective.parameters():
        parameter.grad = None
    torch.set_rng_state(random_state)
    larger = batch_tokens / batch.target_out.numel()
    activations = max(0, peak_memory() - before) * larger
    parameters = sum(parameter.numel() for parameter in objective.parameters())
    memory = before + activations + PARTS_PER_PARAMETER * BYTES * parameters
    return Cost(seconds / batch.num_target_tokens, memory)


def peak_memory() -> int:
    """Give the most memory this process has held so far, in bytes."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else 1024 * peak
