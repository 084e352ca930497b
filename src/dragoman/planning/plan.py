"""What a run will cost, for a corpus and a machine that are at hand or described."""

from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import torch

from dragoman.arguments import check_whole
from dragoman.config import Config
from dragoman.errors import ConfigError
from dragoman.model.device import choose_device
from dragoman.planning.estimate import Machine, Plan, estimate
from dragoman.planning.machine_memory import free_memory
from dragoman.planning.speed import (
    Speed,
    measure_speed,
    stated_speed,
    stated_tokens,
)
from dragoman.planning.workload import (
    Workload,
    sample_batches,
    sample_of,
    stated_workload,
)
from dragoman.text.corpus import Corpus, count_pairs
from dragoman.training.budget import Budget
from dragoman.training.kernel_choice import chosen_kernels
from dragoman.training.learning_speed import learning_speed, random_batches
from dragoman.training.preparation import Prepared
from dragoman.training.process_memory import resident_memory
from dragoman.training.progress import PreparationBar
from dragoman.training.recipe import choose_recipe

# Larger batches are measured by some of their rows; on a CPU that says enough.
MEASURED_TOKENS = 2000


def plan(
    *,
    source: str | Path | None = None,
    target: str | Path | None = None,
    pairs: int | None = None,
    tokens: int | None = None,
    preset: str | None = None,
    minutes: float | None = None,
    steps: int | None = None,
    epochs: float | None = None,
    settings: Mapping[str, Any] | None = None,
    flops: float | None = None,
    utilization: float | None = None,
    memory: float | None = None,
    nodes: int = 1,
    processes: int = 1,
    device: str = "auto",
    seconds: float = 10.0,
    quiet: bool = True,
) -> Plan:
    """Say what training will cost: FLOPs, memory and time.

    The corpus is `source` and `target`, or so many `pairs` with so many target
    `tokens`. A process does `flops` per second and may take `memory` bytes; what is
    not said is measured here, by learning for some `seconds`.
    """
    for name, number in (("pairs", pairs), ("tokens", tokens)):
        if number is not None:
            check_whole(name, number)
    for name, number in (("nodes", nodes), ("processes", processes)):
        check_whole(name, number)
    corpora = [] if source is None else [Corpus(Path(source), _path(target))]
    _refuse_contradictions(corpora, pairs, tokens, flops, utilization)
    program, place = resident_memory(), choose_device(device)
    number = count_pairs(corpora) if pairs is None else pairs

    def speed_of(config: Config) -> float:
        workers = nodes * processes
        if flops is None:
            return workers * learning_speed(config, place, config.training.threads)
        return workers * stated_tokens(config, stated_speed(flops, utilization))

    recipe = choose_recipe(preset, minutes, number, settings or {}, speed_of)
    config = recipe.config
    if config.model.reads_text:
        raise ConfigError(
            "a plan is for translators: `dragoman train` shows what a language model "
            "costs before its first update"
        )
    if config.training.threads:
        torch.set_num_threads(config.training.threads)
    with ExitStack() as stack:
        prepared = None
        if corpora:
            bar = stack.enter_context(PreparationBar(quiet=quiet))
            workload, prepared = stack.enter_context(
                sample_of(corpora, config, bar.show)
            )
        else:
            workload = stated_workload(config, number, tokens)
        if flops is not None:
            speed = stated_speed(flops, utilization)
        else:
            stack.enter_context(
                chosen_kernels(config.training, place, warn=lambda _: None)
            )
            speed = _measure(config, workload, prepared, place, seconds)
        if memory is None and flops is None:
            memory = free_memory(place) / processes
        machine = Machine(speed, nodes, processes, memory, program)
        budget = Budget(steps, epochs, minutes)
        return estimate(recipe.preset, recipe.why, config, workload, machine, budget)


def _path(file: str | Path | None) -> Path | None:
    return None if file is None else Path(file)


def _measure(
    config: Config,
    workload: Workload,
    prepared: Prepared | None,
    device: torch.device,
    seconds: float,
) -> Speed:
    most = MEASURED_TOKENS if device.type == "cpu" else config.training.batch_tokens
    vocabulary = workload.vocabulary
    if prepared is None:
        batches = random_batches(workload.largest, vocabulary, most)
    else:
        batches = sample_batches(prepared, config, most)
    on_device = (batch.to(device) for batch in batches)
    return measure_speed(config, vocabulary, on_device, device, seconds)


def _refuse_contradictions(
    corpora: list[Corpus],
    pairs: int | None,
    tokens: int | None,
    flops: float | None,
    utilization: float | None,
) -> None:
    if bool(corpora) == (pairs is not None):
        raise ConfigError(
            "a plan is for one corpus: give its files, or give its number of pairs"
        )
    if tokens is not None and pairs is None:
        raise ConfigError(
            "the tokens of a corpus are counted in its files: give tokens together "
            "with pairs, or neither"
        )
    if utilization is not None and flops is None:
        raise ConfigError(
            "without the FLOP/s of the machine both are measured: give flops together "
            "with utilization, or neither"
        )
