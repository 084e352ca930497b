import math

from dragoman.lab.experiment import Bench
from dragoman.lab.experiments.norms import (
    BATCH,
    NONE,
    POST,
    POST_COLD,
    PRE,
    PRE_COLD,
    VARIANTS,
    Size,
    claims,
    measure,
)
from dragoman.lab.small_paper import Shape

SOME = (POST, POST_COLD, PRE, PRE_COLD, BATCH, NONE)
SIZE = Size(Shape(8, 8, 2, 1), steps=2, batch_tokens=300, seeds=1, variants=SOME)


def test_every_variant_is_trained(bench: Bench) -> None:
    found = measure(bench, SIZE)
    assert [row[:2] for row in found.table.rows] == [(v.kind, v.place) for v in SOME]
    assert all(claim.held is None for claim in found.claims)  # one seed


def test_a_run_that_fails_is_worse_than_any_loss() -> None:
    losses = {variant: [2.0, 2.1] for variant in VARIANTS}
    losses |= {POST_COLD: [math.inf, math.inf], BATCH: [3.0, 3.1], NONE: [9.0, 9.1]}
    judged = claims(losses)
    assert [claim.held for claim in judged] == [True, True, True, True]
    assert "loss failed" in judged[0].saw


def test_the_recipe_may_turn_out_not_to_matter() -> None:
    losses = {variant: [2.0, 2.1] for variant in VARIANTS}
    assert [claim.held for claim in claims(losses)] == [None] * 4
    losses |= {POST: [3.0, 3.1], PRE_COLD: [5.0, 5.1], PRE: [2.0, 2.1]}
    assert [claim.held for claim in claims(losses)] == [False] * 4
