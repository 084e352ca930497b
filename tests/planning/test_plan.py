from pathlib import Path
from typing import Any

import pytest

import dragoman
from dragoman.errors import ConfigError, CorpusError
from dragoman.planning.plan import plan

STATED: dict[str, Any] = {"flops": 1e12, "preset": "tiny"}


def test_what_is_not_stated_is_measured_here(corpus: Any) -> None:
    made = plan(
        source=corpus.train_source,
        target=corpus.train_target,
        preset="tiny",
        settings={"tokenizer.vocabulary_size": 400, "training.batch_tokens": 300},
        epochs=1,
        seconds=0.01,
    )
    assert made.machine.speed.origin.startswith("measured")
    assert made.workload.origin == "counted"
    assert made.seconds > 0
    assert made.fits is True


def test_without_a_preset_it_plans_what_train_would_do() -> None:
    assert plan(pairs=20_000, flops=1e12).preset == "tiny"
    assert plan(pairs=2_000_000, flops=1e12).preset == "base"
    assert plan(pairs=200_000, flops=1e12, minutes=5).preset == "fast"


def test_it_is_public() -> None:
    assert dragoman.plan is plan


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "give its files, or give its number of pairs"),
        ({"pairs": 5, "source": "a.tsv"}, "a plan is for one corpus"),
        ({"source": "a.tsv", "tokens": 7}, "give tokens together with pairs"),
    ],
)
def test_contradictions_are_one_line(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message) as raised:
        plan(**STATED, **options)
    assert "\n" not in str(raised.value)


def test_a_utilization_alone_is_refused() -> None:
    with pytest.raises(ConfigError, match="give flops together with utilization"):
        plan(pairs=5, utilization=0.5)


def test_a_missing_corpus_is_named() -> None:
    with pytest.raises(CorpusError, match=r"nowhere\.en"):
        plan(source=Path("nowhere.en"), target=Path("nowhere.de"), **STATED)


@pytest.mark.parametrize("preset", ["rnn", "gru", "lstm", "lstm-attention"])
def test_recurrent_models_are_planned_too(preset: str) -> None:
    made = plan(pairs=30_000, preset=preset, epochs=1, flops=1e12, memory=8e9)
    assert made.fits
    assert (made.update_flops.attention > 0) == (preset == "lstm-attention")
    assert made.parameters["encoder"] > 0
    assert made.parameters["decoder"] > 0
