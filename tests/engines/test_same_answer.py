"""The tokens of a translation depend on its source alone: no company changes them.

`benchmarks/same_answer.py` holds a trained model to the same on a thousand sentences.
"""

import random
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

import pytest

import dragoman
from dragoman.decoding.options import SearchOptions
from dragoman.engines.pytorch import PyTorchEngine
from dragoman.translator import Translator


class ToyCorpus(Protocol):
    train_source: Path


SENTENCES = 80


@pytest.fixture(scope="module")
def translator(model_folder: Path) -> Translator:
    return dragoman.load(model_folder)


@pytest.fixture(scope="module")
def sources(translator: Translator, corpus: ToyCorpus) -> list[list[int]]:
    lines = corpus.train_source.read_text("utf-8").splitlines()
    joined = [
        " ".join(lines[place : place + 1 + place % 4]) for place in range(SENTENCES)
    ]
    return translator.tokenizers.source.encode_many(joined)


def said(
    translator: Translator,
    sources: list[list[int]],
    batch: int,
    options: SearchOptions,
) -> list[list[tuple[int, ...]]]:
    """Translate in batches of so many, whatever their lengths."""
    settings = replace(translator.config.decoding, batch_tokens=10**9)
    engine = PyTorchEngine(translator.saved.model, settings)
    found = []
    for start in range(0, len(sources), batch):
        found += engine.translate(sources[start : start + batch], options)
    return [[hypothesis.tokens for hypothesis in row] for row in found]


@pytest.mark.parametrize(
    "changes",
    [
        {"beam_size": 1},
        {"beam_size": 4},
        {"method": "sampling", "nbest": 2, "top_p": 0.95},
    ],
    ids=["greedy", "beam", "sampling"],
)
def test_batch_size_order_and_padding_change_no_token(
    translator: Translator, sources: list[list[int]], changes: dict[str, Any]
) -> None:
    options = replace(
        SearchOptions.of(translator.config.decoding), max_length=24, **changes
    )
    together = said(translator, sources, 64, options)
    assert said(translator, sources, 7, options) == together
    order = list(range(len(sources)))
    random.Random(1).shuffle(order)
    shuffled = said(translator, [sources[place] for place in order], 31, options)
    assert shuffled == [together[place] for place in order]
    some = sources[::8]
    assert said(translator, some, 1, options) == together[::8]
