import pytest

from dragoman.errors import ConfigError
from dragoman.training.budget import Budget


def test_the_first_limit_reached_decides() -> None:
    budget = Budget(steps=100, epochs=2, minutes=1)
    assert budget.progress(50, 6.0, passes=0.5) == 0.5
    assert budget.progress(10, 45.0, passes=0.1) == 0.75
    assert budget.progress(30, 0.0, passes=1.5) == 0.75


def test_progress_never_passes_one() -> None:
    assert Budget(steps=10).progress(25, 0.0, 5.0) == 1.0


def test_no_limit_is_not_given() -> None:
    assert not Budget().given
    assert Budget(minutes=1).given


@pytest.mark.parametrize("name", ["steps", "epochs", "minutes"])
def test_a_budget_of_nothing_is_refused(name: str) -> None:
    with pytest.raises(ConfigError, match=rf"{name} must be a .*number above 0, not 0"):
        Budget(**{name: 0})
