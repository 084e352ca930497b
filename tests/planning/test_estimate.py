from dataclasses import replace
from typing import Any

import pytest

from dragoman.config import load_preset
from dragoman.model.build import build_model
from dragoman.model.weights import count_parameters
from dragoman.planning.estimate import Machine, Plan, estimate
from dragoman.planning.plan import plan
from dragoman.planning.speed import Speed, stated_speed
from dragoman.planning.workload import stated_workload
from dragoman.training.budget import Budget

WORDS: dict[str, Any] = {"tokenizer.vocabulary_size": 37000}
P100 = 9.5e12  # FLOP/s, as the paper's Table 2 credits them
PAPER: dict[str, Any] = {
    "pairs": 4_500_000,
    "settings": WORDS,
    "flops": P100,
    "processes": 8,
}
GIB = 2**30


def on(machine: Machine, budget: Budget, preset: str = "base") -> Plan:
    config = load_preset(preset).with_settings(WORDS)
    workload = stated_workload(config, 4_500_000, None)
    return estimate(preset, "as asked", config, workload, machine, budget)


ONE = Machine(stated_speed(P100, None), 1, 1, 16.0 * GIB, 0.0)
HOUR = Budget(minutes=60)


@pytest.mark.parametrize(
    ("preset", "days", "in_the_paper"), [("base", 0.5, 3.3e18), ("big", 3.5, 2.3e19)]
)
def test_the_papers_hardware_and_days_give_the_papers_flops(
    preset: str, days: float, in_the_paper: float
) -> None:
    made = plan(preset=preset, minutes=days * 24 * 60, **PAPER)
    assert float(f"{made.machine_flops:.1e}") == in_the_paper
    assert made.seconds == pytest.approx(days * 86400)


@pytest.mark.parametrize(
    ("preset", "steps", "seconds_per_step", "in_the_paper"),
    [("base", 100_000, 0.4, 3.3e18), ("big", 300_000, 1.0, 2.3e19)],
)
def test_the_papers_updates_take_a_plausible_share_of_the_papers_flops(
    preset: str, steps: int, seconds_per_step: float, in_the_paper: float
) -> None:
    made = plan(preset=preset, steps=steps, **PAPER)
    share = made.model_flops / in_the_paper
    assert 0.25 < share < 0.45  # the rest is what the machine could not be used for
    again = plan(preset=preset, steps=steps, utilization=share, **PAPER)
    assert again.seconds / steps == pytest.approx(seconds_per_step, rel=0.1)
    assert again.machine_flops == pytest.approx(in_the_paper)


def test_flops_per_token_are_six_for_each_parameter_and_attention() -> None:
    made = on(ONE, HOUR)
    attention = made.update_flops.attention / made.tokens_per_update
    matrices = 6 * made.num_parameters  # embeddings cost as output, not on the way in
    assert made.flops_per_token - attention == pytest.approx(matrices, rel=0.01)


@pytest.mark.parametrize("preset", ["tiny", "fast"])
def test_the_parameters_are_those_of_the_model_that_will_be_built(preset: str) -> None:
    made = on(ONE, HOUR, preset)
    model = build_model(load_preset(preset).model, 37000)
    assert made.num_parameters == count_parameters(model)


def test_the_first_limit_of_a_budget_counts() -> None:
    epochs = on(ONE, Budget(epochs=2))
    assert epochs.updates == 2 * 4500
    assert epochs.epochs == pytest.approx(2)
    assert on(ONE, Budget(epochs=2, steps=10)).updates == 10
    assert on(ONE, Budget()).updates == load_preset("base").training.max_steps
    assert on(ONE, HOUR).seconds == pytest.approx(3600)
    assert on(ONE, Budget(minutes=60, steps=10)).seconds < 60


def test_processes_share_batches_but_not_weights() -> None:
    eight = replace(ONE, nodes=2, processes=4)
    alone, together = on(ONE, Budget(steps=10)), on(eight, Budget(steps=10))
    assert together.seconds == pytest.approx(alone.seconds / 8)
    assert together.model_flops == alone.model_flops
    assert together.memory.weights == alone.memory.weights
    assert together.memory.activations == pytest.approx(alone.memory.activations / 8)


def test_every_process_repeats_the_optimizers_work() -> None:
    measured = Speed(P100, 0.3, optimizer_seconds=1.0, origin="")
    eight = replace(ONE, processes=8)
    assert on(replace(eight, speed=measured), Budget(steps=10)).seconds > 10
    alone, together = (
        on(machine, Budget(steps=10), "fast") for machine in (ONE, eight)
    )
    assert together.seconds > alone.seconds / 8
    assert together.model_flops > alone.model_flops


def test_what_does_not_fit_is_divided_until_it_does() -> None:
    made = on(replace(ONE, memory=4.0 * GIB), HOUR)
    assert made.fits is False
    parts = made.parts_that_fit
    assert parts is not None
    assert parts > 1
    config = made.config.with_settings({"training.accumulate": parts})
    again = estimate("base", "", config, made.workload, made.machine, HOUR)
    assert again.fits
    half = made.config.with_settings({"training.accumulate": parts // 2})
    assert not estimate("base", "", half, made.workload, made.machine, HOUR).fits


def test_what_cannot_be_made_to_fit_says_so() -> None:
    made = on(replace(ONE, memory=0.5 * GIB), HOUR)
    assert made.fits is False
    assert made.parts_that_fit is None


def test_nobody_knows_what_fits_into_unknown_memory() -> None:
    assert on(replace(ONE, memory=None), HOUR).fits is None
