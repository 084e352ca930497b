"""How fast a process learns: as someone states it, or as a few real updates show."""

import time
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice

import torch

from dragoman.config import Config
from dragoman.data.batching import Batch
from dragoman.kernels.choice import products_are_narrow
from dragoman.model.flops import training_flops
from dragoman.planning.workload import shape_of
from dragoman.training.learning_speed import (
    VOCABULARY,
    everyday_batch,
    timed_updates,
    wait_for,
)
from dragoman.training.objective import passes

# What the paper's base model reached of the 9.5 TFLOP/s that the paper credits a P100
# with: its own multiplications, over 12 hours of 8 of them.
USUAL_UTILIZATION = 0.3
MATRIX = 1024
MATRIX_SECONDS = 0.5
LEAST_UPDATES = 3


@dataclass(frozen=True)
class Speed:
    """The FLOP/s of one process, and what share of them learning gets."""

    flops: float
    utilization: float  # of forward and backward passes
    optimizer_seconds: float | None  # of each update; None: by its FLOPs
    origin: str


def stated_speed(flops: float, utilization: float | None) -> Speed:
    """Take a speed from someone who knows it."""
    share = USUAL_UTILIZATION if utilization is None else utilization
    return Speed(flops, share, None, "as stated")


def stated_tokens(config: Config, speed: Speed) -> float:
    """Give the target tokens that a process of this speed learns from in a second."""
    vocabulary = config.tokenizer.vocabulary_size or VOCABULARY
    shape = everyday_batch(config).repeated(passes(config.training))
    work = training_flops(config.model, vocabulary, shape).total
    return config.training.batch_tokens * speed.flops * speed.utilization / work


def measure_speed(
    config: Config,
    vocabulary: int,
    batches: Iterable[Batch],
    device: torch.device,
    seconds: float,
) -> Speed:
    """Learn from some batches, changing nothing, and compare with plain products."""
    work = learning = updating = 0.0
    updates = 0
    end = time.perf_counter() + seconds
    timed = timed_updates(config, vocabulary, batches, device)
    for update in islice(timed, 1, None):  # the first pays for what others reuse
        updates += 1
        shape = shape_of(update.batch).repeated(passes(config.training))
        work += training_flops(config.model, vocabulary, shape).total
        learning += update.learning
        updating += update.updating
        if updates >= LEAST_UPDATES and time.perf_counter() > end:
            break
    flops = product_speed(device)
    return Speed(
        flops=flops,
        utilization=work / learning / flops,
        optimizer_seconds=updating / updates,
        origin=f"measured in {updates} updates",
    )


def product_speed(device: torch.device) -> float:
    """Give the FLOP/s of multiplying square matrices as kernels do, at its best."""
    kind = torch.bfloat16 if products_are_narrow() else torch.float32
    left = torch.randn(MATRIX, MATRIX, device=device, dtype=kind)
    right = torch.randn(MATRIX, MATRIX, device=device, dtype=kind)
    best = float("inf")
    end = time.perf_counter() + MATRIX_SECONDS
    while time.perf_counter() < end:
        wait_for(device)
        start = time.perf_counter()
        left @ right
        wait_for(device)
        best = min(best, time.perf_counter() - start)
    return 2 * MATRIX**3 / best
