import pytest

from dragoman.lab.contenders import LOOKING_BACK, LSTM, TRANSFORMER
from dragoman.lab.experiment import Bench
from dragoman.lab.experiments.memory import KINDS, Recall, Size, claims, measure
from dragoman.lab.findings import Spread

SIZE = Size(
    lengths={"first word": (1, 3), "copy": (1, 2)},
    toy_steps=2,
    toy_tokens=20,
    sentences=4,
    d_model=8,
    steps=2,
    batch_tokens=300,
    beam_size=1,
    seeds=1,
)


def recall(lstm: float, others: float, short: float = 1.0) -> Recall:
    def spreads(value: float) -> list[Spread]:
        return [Spread.of([short, short]), Spread.of([value, value + 0.01])]

    return {
        LSTM: spreads(lstm),
        LOOKING_BACK: spreads(others),
        TRANSFORMER: spreads(others),
    }


def test_every_model_recalls_and_translates(bench: Bench) -> None:
    found = measure(bench, SIZE)
    kinds = {(row[0], row[1]) for row in found.table.rows}
    for measured in ("accuracy, first word", "accuracy, copy", "BLEU"):
        assert {kind for what, kind in kinds if what == measured} == set(KINDS)
    assert all(claim.held is None for claim in found.claims)  # one seed


@pytest.mark.parametrize(
    ("found", "held"),
    [
        (recall(0.2, 0.9), True),
        (recall(0.9, 0.2), False),
        (recall(0.5, 0.5), None),
        (recall(0.2, 0.9, short=0.4), None),  # even short ones were not learned
    ],
)
def test_one_vector_may_do_better_or_worse(found: Recall, held: bool | None) -> None:
    judged = claims(SIZE, {"first word": found, "copy": found}, {k: {} for k in KINDS})
    assert [claim.held for claim in judged] == [held, held, None]


@pytest.mark.parametrize(("short", "held"), [(0.0, True), (9.0, False), (4.0, None)])
def test_attention_may_help_short_or_long_sentences(
    short: float, held: bool | None
) -> None:
    none, four = Spread.of([20.0, 20.5]), Spread.of([24.0, 24.5])
    buckets = {
        LSTM: {"1-5": none, "21-30": none},
        LOOKING_BACK: {"1-5": Spread.of([20 + short, 20.5 + short]), "21-30": four},
    }
    toys = recall(0.2, 0.9)
    judged = claims(SIZE, {"first word": toys, "copy": toys}, buckets)
    assert judged[-1].held is held
