from dragoman.lab.experiment import Bench
from dragoman.lab.experiments.positions import Reach, Size, claims, measure
from dragoman.lab.findings import Spread
from dragoman.setting_rules import CHOICES

SIZE = Size(
    positions=16,
    longest=3,
    tried=(3, 6),
    steps=2,
    batch_tokens=30,
    sentences=4,
    seeds=1,
)


def reach(sinusoidal: float, learned: float, known: float) -> Reach:
    def spreads(value: float) -> list[Spread]:
        return [Spread.of([known, known]), Spread.of([value, value + 0.01])]

    return Reach({"sinusoidal": spreads(sinusoidal), "learned": spreads(learned)})


def test_sinusoids_turn_and_too_little_learning_decides_nothing(bench: Bench) -> None:
    found = measure(bench, SIZE)
    assert [claim.held for claim in found.claims] == [True, True, None]
    kinds = {row[1] for row in found.table.rows if row[0] == "accuracy of copying"}
    assert kinds == set(CHOICES["model.positions"])


def test_reaching_further_can_be_won_or_lost() -> None:
    falling = [1.0, 0.9, 0.8, 0.7, 0.6, 0.5]
    for found, held in (
        (reach(0.5, 0.2, known=1.0), True),
        (reach(0.2, 0.5, known=1.0), False),
        (reach(0.2, 0.2, known=1.0), None),
        (reach(0.5, 0.2, known=0.5), None),
    ):
        assert claims(SIZE, 1e-7, falling, found)[-1].held is held
    assert claims(SIZE, 0.1, falling[::-1], found)[0].held is False
    assert claims(SIZE, 0.1, falling[::-1], found)[1].held is False
