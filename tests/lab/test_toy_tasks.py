from dataclasses import replace

import numpy as np
import pytest

from dragoman.lab.toy_tasks import accuracy, learn, toy_batch, toy_batches, toy_config
from dragoman.special_tokens import END

TINY = {
    "model.d_model": 16,
    "model.d_ff": 16,
    "model.num_heads": 2,
    "model.num_encoder_layers": 1,
    "model.num_decoder_layers": 1,
}


def test_what_a_task_wants_is_right() -> None:
    random = np.random.default_rng(1)
    copied = toy_batch("copy", 5, 3, random)
    assert copied.source.equal(copied.target_out)
    first = toy_batch("first word", 5, 3, random)
    assert first.target_out[:, 0].equal(first.source[:, 0])
    assert first.target_out[:, 1].eq(END).all()


def test_lengths_stay_in_their_range() -> None:
    batches = toy_batches("copy", range(2, 5), tokens=20, seed=1)
    lengths = {next(batches).source.shape[1] - 1 for _ in range(40)}
    assert lengths == {2, 3, 4}


def test_learning_lowers_the_loss_and_is_repeatable() -> None:
    def taught() -> list[float]:
        batches = toy_batches("first word", range(1, 3), tokens=200, seed=1)
        return list(learn(toy_config(TINY), batches, 30, seed=1).losses)

    losses = taught()
    assert losses[-1] < 0.8 * losses[0]
    assert taught() == losses


def test_accuracy_counts_words_and_not_the_end() -> None:
    learned = learn(toy_config(TINY), toy_batches("copy", range(1, 3), 50, 1), 1, 1)
    batch = toy_batch("copy", 4, 2, np.random.default_rng(2))
    guessed = learned.model(batch.source, batch.target_in).argmax(dim=-1)
    right = replace(batch, target_out=guessed.clamp_min(4))
    wrong = replace(batch, target_out=guessed.clamp_min(4) + 1)
    share = float((guessed >= 4).double().mean())
    assert accuracy(learned, right) == pytest.approx(share)
    assert accuracy(learned, wrong) < share or share == 0
