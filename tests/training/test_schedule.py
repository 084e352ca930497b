from dataclasses import replace

import pytest

from dragoman.config import load_preset
from dragoman.training.schedule import Schedule, paper_rate

PAPER = load_preset("base").training


def test_the_paper_rate_is_the_formula() -> None:
    for step in (1, 100, 4000, 100_000):
        formula = 512**-0.5 * min(step**-0.5, step * 4000**-1.5)
        assert paper_rate(step, 512, 4000) == pytest.approx(formula)


def test_without_a_budget_the_schedule_is_the_papers_to_the_end() -> None:
    schedule = Schedule(PAPER, 512, annealed=False)
    assert schedule.rate(100_000, 1.0) == pytest.approx(paper_rate(100_000, 512, 4000))


def test_no_warmup_is_a_warmup_of_one_update() -> None:
    schedule = Schedule(replace(PAPER, warmup_steps=0), 512, annealed=False)
    assert schedule.rate(9, 0.0) == pytest.approx(paper_rate(9, 512, 1))


def test_the_paper_rate_peaks_at_the_end_of_warmup() -> None:
    rates = [paper_rate(step, 512, 4000) for step in range(1, 10_000)]
    assert rates.index(max(rates)) + 1 == 4000


@pytest.mark.parametrize("kind", ["paper", "linear", "cosine"])
def test_a_budget_ends_annealed(kind: str) -> None:
    schedule = Schedule(replace(PAPER, schedule=kind), 512, annealed=True)
    rates = [schedule.rate(step, (step - 1) / 200) for step in range(1, 202)]
    assert rates[-1] == pytest.approx(0.0, abs=1e-9)
    assert max(rates) > 20 * rates[-3]
    assert rates[0] < 0.2 * max(rates), "it begins with a warm-up"
    peak = rates.index(max(rates))
    assert rates[peak:] == sorted(rates[peak:], reverse=True)


def test_a_short_budget_shortens_the_warmup() -> None:
    schedule = Schedule(PAPER, 512, annealed=True)
    rates = [schedule.rate(step, (step - 1) / 1000) for step in range(1, 1001)]
    assert 50 <= rates.index(max(rates)) <= 150


def test_the_learning_rate_is_a_factor() -> None:
    once = Schedule(PAPER, 512, annealed=False)
    twice = Schedule(replace(PAPER, learning_rate=2.0), 512, annealed=False)
    assert twice.rate(7, 0.0) == pytest.approx(2 * once.rate(7, 0.0))
