"""Training teaches copying: what a small model does with placeholders by itself."""

from pathlib import Path
from typing import Any

import dragoman
from dragoman.text.placeholders import MARKS
from dragoman.training.train import train

SETTINGS = {
    "model.d_model": 64,
    "model.d_ff": 64,
    "model.num_heads": 2,
    "model.num_encoder_layers": 1,
    "model.num_decoder_layers": 1,
    "tokenizer.vocabulary_size": 400,
    "training.batch_tokens": 1200,
    "training.learning_rate": 0.01,
    "training.threads": 1,
    "data.placeholder_share": 0.9,
}


def test_a_small_model_copies_placeholders(corpus: Any, tmp_path: Path) -> None:
    train(
        tmp_path / "model",
        source=corpus.train_source,
        target=corpus.train_target,
        preset="fast",
        steps=300,
        settings=SETTINGS,
        quiet=True,
    )
    translator = dragoman.load(tmp_path / "model")
    unseen = corpus.valid_source.read_text("utf-8").splitlines()
    # As the model reads them, so that no constraint helps it.
    marked = [f"{MARKS[0]} {text} {MARKS[1]}" for text in unseen]
    found = translator.translate(marked, protect=False, beam_size=1)
    copied = sum(text.count(mark) == 1 for text in found for mark in MARKS[:2])
    strange = sum(mark in text for text in found for mark in MARKS[2:])
    assert copied > 0.3 * 2 * len(unseen)
    assert strange < 0.5 * copied
