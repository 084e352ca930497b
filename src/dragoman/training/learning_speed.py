"""How fast this machine learns: a few real updates that change nothing."""

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import torch

from dragoman.config import Config
from dragoman.data.batching import Batch, make_batch
from dragoman.model.build import build_model
from dragoman.model.flops import BatchShape
from dragoman.special_tokens import NAMES
from dragoman.training.kernel_choice import chosen_kernels
from dragoman.training.objective import Objective
from dragoman.training.optimizer import Optimizer
from dragoman.training.precision import refuse_precision
from dragoman.training.randomness import own_states, take_up

# Everyday sentences in subwords; the usual vocabulary of short runs.
SENTENCE = 11
VOCABULARY = 8000
# Of a batch as large as this one, a slow machine still learns in a second or two.
MEASURED_TOKENS = 750
SECONDS = 1.0
LONG = 3.0  # for one update, on a machine that is very slow or very busy


@dataclass(frozen=True)
class TimedUpdate:
    """An update that changed nothing, and how long its two parts took."""

    batch: Batch
    learning: float  # seconds of forward and backward passes
    updating: float  # seconds of the optimizer


def learning_speed(
    config: Config, device: torch.device, threads: int, seconds: float = SECONDS
) -> float:
    """Give the target tokens that one process learns from in a second, roughly.

    It takes about so many seconds. Nothing else is changed: no randomness is used up,
    and torch has as many threads afterwards as before.
    """
    refuse_precision(config.training.precision, device)
    before, chance = torch.get_num_threads(), own_states(device)
    torch.set_num_threads(threads or before)
    try:
        with chosen_kernels(config.training, device, warn=lambda _: None):
            return _speed(config, device, seconds)
    finally:
        torch.set_num_threads(before)
        take_up(chance)


def _speed(config: Config, device: torch.device, seconds: float) -> float:
    """Time some small updates; a whole one learns from more, and ends but once."""
    whole = config.training.batch_tokens
    vocabulary = config.tokenizer.vocabulary_size or VOCABULARY
    batches = random_batches(everyday_batch(config), vocabulary, MEASURED_TOKENS)
    on_device = (batch.to(device) for batch in batches)
    updates: list[TimedUpdate] = []
    began = time.perf_counter()
    for update in timed_updates(config, vocabulary, on_device, device):
        updates.append(update)
        taken = time.perf_counter() - began
        if taken > LONG or (len(updates) > 1 and taken > seconds):
            break
    warm = updates[1:] or updates
    of_token = _median([u.learning / u.batch.num_target_tokens for u in warm])
    of_update = _median([u.updating for u in warm])
    return whole / (whole * of_token + of_update)


def everyday_batch(config: Config) -> BatchShape:
    """Give the shape of a batch of everyday sentences, or of windows of a text."""
    tokens = config.training.batch_tokens
    length = config.model.window if config.model.reads_text else SENTENCE
    return BatchShape(max(1, tokens // length), length, length, tokens)


def _median(times: list[float]) -> float:
    return sorted(times)[len(times) // 2]


def timed_updates(
    config: Config, vocabulary: int, batches: Iterable[Batch], device: torch.device
) -> Iterator[TimedUpdate]:
    """Learn from batches at a rate of zero; the first pays for what others reuse."""
    model = build_model(config.model, vocabulary).to(device).train()
    objective = Objective(model, config.training)
    optimizer = Optimizer(model, config.training)
    for batch in batches:
        start = time.perf_counter()
        loss = objective(batch)
        (loss.smoothed / loss.tokens).backward()
        wait_for(device)
        learned = time.perf_counter()
        optimizer.clip()
        optimizer.step(rate=0.0)
        optimizer.forget_gradients()
        wait_for(device)
        yield TimedUpdate(batch, learned - start, time.perf_counter() - learned)


def random_batches(shape: BatchShape, vocabulary: int, most: int) -> Iterator[Batch]:
    """Make up batches without end, of a shape cut to about `most` target tokens."""
    random = np.random.default_rng(0)
    source, target = (
        max(1, round(length) - 1)  # END comes on top
        for length in (shape.source_length, shape.target_length)
    )
    rows = max(1, min(round(shape.rows), most // (target + 1)))
    while True:
        yield make_batch(
            list(random.integers(len(NAMES), vocabulary, (rows, source))),
            list(random.integers(len(NAMES), vocabulary, (rows, target))),
        )


def wait_for(device: torch.device) -> None:
    """Wait until a GPU has done what it was told."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)
