"""One point of a scaling curve, measured in a process of its own.

Reads what to measure as JSON from the command line and prints what it found as JSON:
`python benchmarks/scaling_point.py '{"settings": {}, "vocabulary": 8000, ...}'`.
"""

import json
import sys
import time
from dataclasses import asdict, dataclass
from typing import Any

import torch

from dragoman.config import load_preset
from dragoman.data.batching import Batch
from dragoman.kernels.choice import kernels_at_work
from dragoman.model.build import build_model
from dragoman.model.flops import BatchShape, training_flops
from dragoman.model.weights import count_parameters
from dragoman.planning.workload import shape_of
from dragoman.training.learning_speed import random_batches
from dragoman.training.objective import Objective
from dragoman.training.optimizer import Optimizer
from dragoman.training.process_memory import peak_memory, resident_memory

LEAST_UPDATES = 3


@dataclass(frozen=True)
class Question:
    """A model, a batch and for how long to learn from it."""

    preset: str
    settings: dict[str, Any]
    vocabulary: int
    tokens: int  # of the target, in a batch
    length: int  # of every sentence, END included
    seconds: float
    threads: int


@dataclass(frozen=True)
class Point:
    """What learning took."""

    tokens_per_second: float
    megabytes: float  # the most that the process held, above what it began with
    parameters: int
    flops_per_token: float


@kernels_at_work()
def measure(question: Question) -> Point:
    """Learn from batches of one shape for a while."""
    torch.set_num_threads(question.threads)
    before = resident_memory()
    config = load_preset(question.preset).with_settings(question.settings)
    model = build_model(config.model, question.vocabulary).train()
    objective, optimizer = (
        Objective(model, config.training),
        Optimizer(model, config.training),
    )
    rows = max(1, question.tokens // question.length)
    shape = BatchShape(rows, question.length, question.length, rows * question.length)
    batches = random_batches(shape, question.vocabulary, question.tokens)

    def update(batch: Batch) -> int:
        loss = objective(batch)
        (loss.smoothed / loss.tokens).backward()
        optimizer.clip()
        optimizer.step(1e-4)
        optimizer.forget_gradients()
        tokens: int = loss.tokens
        return tokens

    first = next(batches)
    update(first)  # which pays for what later ones reuse
    start, tokens, updates = time.perf_counter(), 0, 0
    while updates < LEAST_UPDATES or time.perf_counter() - start < question.seconds:
        tokens += update(next(batches))
        updates += 1
    seconds = time.perf_counter() - start
    flops = training_flops(config.model, question.vocabulary, shape_of(first)).total
    return Point(
        tokens_per_second=tokens / seconds,
        megabytes=(peak_memory() - before) / 2**20,
        parameters=count_parameters(model),
        flops_per_token=flops / first.num_target_tokens,
    )


if __name__ == "__main__":
    print(json.dumps(asdict(measure(Question(**json.loads(sys.argv[1]))))))
