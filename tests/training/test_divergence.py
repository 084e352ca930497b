from dragoman.training.divergence import UPDATES_ABOVE, LossLevel


def diverges_at(losses: list[float], margin: float = 1.0) -> list[int]:
    level = LossLevel()
    return [
        step
        for step, loss in enumerate(losses, 1)
        if level.diverges(loss, step, margin)
    ]


def test_a_loss_that_falls_and_wavers_does_not_diverge() -> None:
    falling = [8 / (1 + step / 50) + 0.5 * (-1) ** step for step in range(2000)]
    assert diverges_at(falling) == []


def test_a_single_bad_batch_is_no_divergence() -> None:
    assert diverges_at([2.0] * 300 + [40.0] + [2.0] * 300) == []


def test_a_loss_that_rises_and_stays_diverges_once() -> None:
    said = diverges_at([3.0] * 200 + [6.0] * 600)
    assert len(said) == 1
    assert 200 + UPDATES_ABOVE <= said[0] <= 200 + 2 * UPDATES_ABOVE


def test_it_is_said_again_after_the_loss_came_down() -> None:
    assert len(diverges_at(([3.0] * 400 + [6.0] * 400) * 2)) == 2


def test_it_says_from_where_the_loss_has_risen() -> None:
    level = LossLevel()
    for step in range(1, 401):
        level.diverges(3.0 if step <= 200 else 7.0, step, 1.0)
    assert "from 3.00 at update 1 " in level.describe()
