from itertools import islice

import pytest
import torch

from dragoman.config import Config, load_preset
from dragoman.errors import ConfigError
from dragoman.training import learning_speed as module
from dragoman.training.learning_speed import (
    everyday_batch,
    learning_speed,
    random_batches,
    timed_updates,
)
from dragoman.training.tasks import KINDS

CPU = torch.device("cpu")
TOY = {
    "model.d_model": 16,
    "model.d_ff": 32,
    "model.num_encoder_layers": 1,
    "model.num_decoder_layers": 1,
    "model.window": 16,
    "tokenizer.vocabulary_size": 300,
    "training.batch_tokens": 200,
}


@pytest.fixture
def config() -> Config:
    return load_preset("fast").with_settings(TOY)


@pytest.mark.parametrize("kind", ["transformer", *KINDS.values()])
def test_every_kind_of_model_can_be_measured(kind: str) -> None:
    config = load_preset("fast").with_settings({**TOY, "model.kind": kind})
    assert learning_speed(config, CPU, threads=1, seconds=0.01) > 0


def test_measuring_uses_up_no_randomness_and_leaves_the_threads(config: Config) -> None:
    torch.manual_seed(3)
    threads, expected = torch.get_num_threads(), torch.rand(5)
    torch.manual_seed(3)
    learning_speed(config, CPU, threads=threads + 1, seconds=0.01)
    assert torch.get_num_threads() == threads
    assert torch.equal(torch.rand(5), expected)


def test_a_larger_model_learns_from_fewer_tokens_a_second(config: Config) -> None:
    wide = {"model.d_model": 512, "model.d_ff": 2048, "model.num_encoder_layers": 4}
    larger = config.with_settings(wide)
    assert learning_speed(config, CPU, 1, 0.1) > 3 * learning_speed(larger, CPU, 1, 0.1)


def test_one_update_must_do_where_it_takes_long(
    config: Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "LONG", 0.0)
    assert learning_speed(config, CPU, threads=1, seconds=3600.0) > 0


def test_updates_are_timed_in_two_parts(config: Config) -> None:
    batches = random_batches(everyday_batch(config), 300, 100)
    timed = list(islice(timed_updates(config, 300, batches, CPU), 3))
    assert len(timed) == 3
    assert all(update.learning > 0 and update.updating > 0 for update in timed)


def test_an_everyday_batch_is_as_large_as_an_update(config: Config) -> None:
    shape = everyday_batch(config)
    assert shape.target_tokens == 200
    assert shape.target_places <= 200
    text = config.with_settings({"model.kind": "language_model"})
    assert everyday_batch(text).target_length == config.model.window


def test_what_cannot_be_computed_here_is_refused_before_it_is_tried(
    config: Config,
) -> None:
    narrow = config.with_settings({"training.precision": "float16"})
    with pytest.raises(ConfigError, match="'float16' needs a GPU"):
        learning_speed(narrow, CPU, threads=1)
