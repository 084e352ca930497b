import pytest
import torch

from dragoman.config import load_preset
from dragoman.data.batching import Batch
from dragoman.data.sampler import Position
from dragoman.errors import TrainingError
from dragoman.model_folder import SavedModel, build_for
from dragoman.training.batch_source import BatchSource
from dragoman.training.objective import Objective
from dragoman.training.preparation import Prepared
from dragoman.training.trial import memory_advice, try_out

SETTINGS = load_preset("tiny").training


def places(batch: Batch) -> int:
    return batch.source.numel() + batch.target_out.numel()


@pytest.fixture
def dropping(saved: SavedModel) -> Objective:
    """A model whose forward passes draw random numbers."""
    config = saved.config.with_settings(
        {"model.dropout": 0.3, "model.attention_dropout": 0.1}
    )
    return Objective(build_for(config, saved.tokenizers), config.training)


def test_a_trial_leaves_everything_as_it_was(
    dropping: Objective, saved: SavedModel, prepared: Prepared
) -> None:
    source = BatchSource(prepared.store, prepared.tokenizers, saved.config)
    weights = {name: w.clone() for name, w in dropping.state_dict().items()}
    chance = torch.get_rng_state()
    try_out(dropping, source.largest(), SETTINGS)
    assert torch.equal(torch.get_rng_state(), chance)
    assert all(parameter.grad is None for parameter in dropping.parameters())
    for name, weight in dropping.state_dict().items():
        assert torch.equal(weight, weights[name])


def test_what_follows_is_as_if_nothing_had_been_tried(
    dropping: Objective, saved: SavedModel, prepared: Prepared
) -> None:
    source = BatchSource(prepared.store, prepared.tokenizers, saved.config)
    batches = source.largest()
    dropping.train()
    torch.manual_seed(7)
    expected = dropping(batches[0]).smoothed
    torch.manual_seed(7)
    try_out(dropping, batches, SETTINGS)
    assert torch.equal(dropping(batches[0]).smoothed, expected)


def test_the_only_batch_is_timed_when_it_runs_again(
    dropping: Objective,
    saved: SavedModel,
    prepared: Prepared,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    source = BatchSource(prepared.store, prepared.tokenizers, saved.config)
    (batch, *_) = source.largest()
    clock = iter([0.0, 100.0, 130.0])  # the first takes 100 s, the second 30
    monkeypatch.setattr("time.perf_counter", lambda: next(clock))
    assert try_out(dropping, [batch], SETTINGS) == 30 / batch.num_target_tokens


@pytest.mark.parametrize("accumulate", [1, 3])
def test_no_batch_is_larger_than_the_largest(
    saved: SavedModel, prepared: Prepared, accumulate: int
) -> None:
    config = saved.config.with_settings({"training.accumulate": accumulate})
    source = BatchSource(prepared.store, prepared.tokenizers, config)
    read = source.read(Position(0, 0))
    updates = [next(read)[0] for _ in range(len(source.sampler.order(0)))]
    most = max(places(part) for parts in updates for part in parts)
    assert max(map(places, source.largest())) >= most


@pytest.mark.parametrize(
    "error",
    [
        MemoryError("Unable to allocate 8.00 GiB for an array"),
        RuntimeError(
            "[enforce fail at alloc_cpu.cpp:121] err == 0. DefaultCPUAllocator: can't "
            "allocate memory: you tried to allocate 400000 bytes. Error code 12"
        ),
        torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0"),
        RuntimeError("std::bad_alloc"),
    ],
)
def test_running_out_is_one_line_of_advice(error: Exception) -> None:
    with (
        pytest.raises(TrainingError, match="not enough memory for a batch") as raised,
        memory_advice(SETTINGS, "a batch"),
    ):
        raise error
    said = str(raised.value)
    for advice in ("batch_tokens (now 2500)", "accumulate (now 1)", "smaller preset"):
        assert advice in said
    assert "\n" not in said


def test_a_batch_that_is_really_too_large_runs_out(saved: SavedModel) -> None:
    row = torch.tensor([[5]]).expand(3, 2**42)  # whatever is made of it is terabytes
    with pytest.raises(TrainingError, match=r"the largest batch \(3 pairs of up to 43"):
        try_out(Objective(saved.model, SETTINGS), [Batch(row, row, row)], SETTINGS)
    assert all(parameter.grad is None for parameter in saved.model.parameters())


def test_another_error_is_not_taken_for_it() -> None:
    with pytest.raises(RuntimeError, match="shapes"), memory_advice(SETTINGS, "x"):
        raise RuntimeError("shapes do not match")
