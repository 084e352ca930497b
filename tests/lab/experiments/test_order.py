from dragoman.lab.experiment import Bench
from dragoman.lab.experiments.order import Size, claims, measure
from dragoman.lab.findings import Spread
from dragoman.setting_rules import CHOICES

SIZE = Size(words=6, sentences=4, seeds=2)


def test_only_positions_tell_the_order(bench: Bench) -> None:
    found = measure(bench, SIZE)
    assert [claim.held for claim in found.claims] == [True, True, True]
    assert [row[0] for row in found.table.rows] == list(CHOICES["model.positions"])
    assert found.seeds == 2


def test_a_reader_that_notices_without_positions_would_be_said() -> None:
    seeing, blind = Spread.of([0.3]), Spread.of([1e-7])
    turned = {"none": seeing, "sinusoidal": blind}
    assert [claim.held for claim in claims(turned, turned)] == [False, False, False]
