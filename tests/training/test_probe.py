from pathlib import Path

import pytest
import torch

from dragoman.config import Config
from dragoman.data.batching import Batch
from dragoman.model.network import TranslationNetwork
from dragoman.model.weights import get_weights
from dragoman.model_folder import SavedModel, build_for
from dragoman.training import probe as probe_module
from dragoman.training.batch_source import BatchSource
from dragoman.training.objective import Objective
from dragoman.training.preparation import Prepared
from dragoman.training.probe import peak_memory, resident_memory, seconds_per_token


def dropping(saved: SavedModel) -> tuple[Config, TranslationNetwork]:
    """Give a model whose forward passes draw random numbers."""
    config = saved.config.with_settings(
        {"model.dropout": 0.3, "model.attention_dropout": 0.1}
    )
    return config, build_for(config, saved.tokenizers)


def probe(prepared: Prepared, config: Config) -> Batch:
    return BatchSource(prepared.store, prepared.tokenizers, config).probe()


def measure(model: TranslationNetwork, batch: Batch, config: Config) -> float:
    return seconds_per_token(Objective(model, config.training), batch)


def test_measuring_leaves_weights_gradients_and_randomness_untouched(
    prepared: Prepared, saved: SavedModel
) -> None:
    config, model = dropping(saved)
    weights = {name: w.clone() for name, w in get_weights(model).items()}
    random_state = torch.get_rng_state()
    measure(model, probe(prepared, config), config)
    assert torch.equal(torch.get_rng_state(), random_state)
    for name, weight in get_weights(model).items():
        assert torch.equal(weight, weights[name])
    assert all(parameter.grad is None for parameter in model.parameters())


def test_what_follows_is_as_if_nothing_had_been_measured(
    prepared: Prepared, saved: SavedModel
) -> None:
    config, model = dropping(saved)
    batch = probe(prepared, config)
    model.train()
    torch.manual_seed(7)
    expected = model(batch.source, batch.target_in)
    torch.manual_seed(7)
    measure(model, batch, config)
    assert torch.equal(model(batch.source, batch.target_in), expected)


def test_it_costs_time(prepared: Prepared, saved: SavedModel) -> None:
    config, model = dropping(saved)
    assert 0 < measure(model, probe(prepared, config), config) < 60


def test_what_is_held_now_is_no_more_than_the_peak(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = resident_memory()
    block = torch.ones(2**24)  # 64 MiB
    counted_late = 2**22  # the system adds pages up now and then
    assert before + 2**25 < resident_memory() <= peak_memory() + counted_late
    del block
    monkeypatch.setattr(probe_module, "OWN_TABLE", tmp_path / "none")
    assert resident_memory() == peak_memory()


def test_peak_memory_is_in_bytes_and_never_falls() -> None:
    before = peak_memory()
    torch.ones(2**22)
    assert peak_memory() >= before > 2**24
