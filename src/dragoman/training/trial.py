"""Runs the largest batches first: memory runs out before the first update, or never.

That also shows how quickly this machine learns.
"""

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager

from torch import nn

from dragoman.config import TrainingConfig
from dragoman.data.batching import Batch
from dragoman.errors import TrainingError
from dragoman.model.norms import statistics_kept
from dragoman.training.distributed import accumulating
from dragoman.training.randomness import own_states, take_up

# How the allocators beneath say it: of the CPU, of a GPU, and of C++.
OUT_OF_MEMORY = re.compile(
    r"can't allocate memory|out of memory|bad_alloc", re.IGNORECASE
)
ASKED = re.compile(r"tried to allocate ([\d.]+ ?\w+)", re.IGNORECASE)


def try_out(
    objective: nn.Module, batches: list[Batch], settings: TrainingConfig
) -> float:
    """Run batches forward and backward; give the seconds for each target token.

    Weights and randomness stay untouched. At least two batches are run, the only one
    twice, because a process pays once for what it then reuses: the last one's time
    counts.

    Where several processes learn, this also settles in which order their gradients are
    added up: a resumed run must find that settled from its first update.
    """
    chance = own_states(batches[0].source.device)
    objective.train()
    batches = batches if len(batches) > 1 else 2 * batches
    try:
        for number, batch in enumerate(batches, 1):
            began = time.perf_counter()
            # As in an update: the last part ends what sharded weights hold back.
            held_back = accumulating(objective, last=number == len(batches))
            with (
                memory_advice(settings, _describe(batch)),
                statistics_kept(objective),
                held_back,
            ):
                objective(batch).smoothed.backward()
        return (time.perf_counter() - began) / max(1, batch.num_target_tokens)
    finally:
        for parameter in objective.parameters():
            parameter.grad = None
        take_up(chance)


@contextmanager
def memory_advice(settings: TrainingConfig, what: str) -> Iterator[None]:
    """Say in one line that memory ran out, and what needs less of it."""
    try:
        yield
    except (MemoryError, RuntimeError) as error:
        if not isinstance(error, MemoryError) and not OUT_OF_MEMORY.search(str(error)):
            raise
        asked = ASKED.search(str(error))
        more = f", {asked[1]} more were asked for" if asked else ""
        raise TrainingError(
            f"there is not enough memory for {what}{more}: lower training.batch_tokens "
            f"(now {settings.batch_tokens}), raise training.accumulate (now "
            f"{settings.accumulate}), which learns the same in smaller parts, or take "
            "a smaller preset"
        ) from error


def _describe(batch: Batch) -> str:
    rows, source = batch.source.shape
    return (
        f"the largest batch ({rows} pairs of up to {source} source and "
        f"{batch.target_out.shape[1]} target tokens)"
    )
