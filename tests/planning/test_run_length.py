import pytest

from dragoman.planning.run_length import Pace, RunLength, run_length
from dragoman.training.batch_growth import BatchGrowth
from dragoman.training.budget import Budget

PACE = Pace(batches_per_epoch=100, batch_seconds=0.5, optimizer_seconds=0.1)
BUDGETS = [
    Budget(steps=900),
    Budget(epochs=7),
    Budget(minutes=10),
    Budget(steps=600, epochs=9, minutes=9),
]


@pytest.mark.parametrize("growth", [1, 2, 3, 5])
@pytest.mark.parametrize("budget", BUDGETS)
def test_a_run_walked_through_update_by_update_is_as_long(
    budget: Budget, growth: int
) -> None:
    batches = BatchGrowth(growth)
    walked, progress = RunLength(0, 0), 0.0
    while progress < 1:
        taken = batches.batches(progress)
        walked = RunLength(walked.updates + 1, walked.batches + taken)
        passes = walked.batches / PACE.batches_per_epoch
        progress = budget.progress(int(walked.updates), walked.seconds(PACE), passes)
    found = run_length(budget, growth, PACE)
    assert found.updates == pytest.approx(walked.updates, abs=growth)
    assert found.batches == pytest.approx(walked.batches, abs=growth**2)


def test_the_first_limit_ends_a_run() -> None:
    assert run_length(Budget(steps=10, epochs=9), 1, PACE) == RunLength(10, 10)
    assert run_length(Budget(steps=900, epochs=2), 1, PACE) == RunLength(200, 200)
