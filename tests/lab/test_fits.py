import pytest

from dragoman.lab.fits import growth


@pytest.mark.parametrize("power", [-1.0, 0.0, 1.0, 2.5])
def test_a_power_is_found_again(power: float) -> None:
    x = [1, 2, 4, 8, 16]
    assert growth(x, [3 * value**power for value in x]) == pytest.approx(power)
