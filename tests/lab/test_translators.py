import json
from dataclasses import replace

from dragoman.lab.experiment import Bench
from dragoman.lab.parallel_text import text_for
from dragoman.lab.small_paper import Shape, recipe
from dragoman.lab.translators import SCORES, Trial, train_translator

TRIAL = Trial(
    name="a toy",
    preset="base",
    settings=recipe(Shape(16, 16, 2, 1), steps=3, batch_tokens=300),
    steps=3,
    beam_size=1,
)


def test_a_translator_is_trained_once(bench: Bench) -> None:
    text = text_for(bench)
    first = train_translator(bench, text, TRIAL, seed=1)
    assert (first.failed, first.steps) == (False, 3)
    assert first.loss is not None
    assert 0 < first.loss < 10
    assert first.parameters > 0
    assert first.bleu is not None
    assert [point.step for point in first.curve] == [1, 2, 3]
    assert sum(bucket["count"] for bucket in first.by_length) > 0

    scores = bench.folder / "a-toy-seed-1" / SCORES
    kept = json.loads(scores.read_text("utf-8"))
    scores.write_text(json.dumps({**kept, "bleu": 99.0}), "utf-8")
    again = train_translator(bench, text, TRIAL, seed=1)
    assert again == replace(first, bleu=99.0, by_length=again.by_length)

    longer = train_translator(bench, text, replace(TRIAL, steps=4), seed=1)
    assert longer.steps == 4


def test_numbers_that_are_none_are_a_finding_where_they_may_be(bench: Bench) -> None:
    wild = {
        **TRIAL.settings,
        "training.learning_rate": 2e9,
        "training.clip_norm": 0.0,
    }
    trial = replace(TRIAL, settings=wild, may_fail=True)
    assert train_translator(bench, text_for(bench), trial, seed=1).failed
