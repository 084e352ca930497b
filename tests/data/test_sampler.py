from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from dragoman.data import sampler as sampler_module
from dragoman.data.mixture import Mixture
from dragoman.data.sampler import (
    SOURCE_ALLOWANCE,
    EpochOrder,
    Position,
    Sampler,
    epoch_batches,
)
from dragoman.data.token_store import TokenStore, TokenStoreWriter
from dragoman.errors import CorpusError

lengths = st.lists(st.tuples(st.integers(1, 40), st.integers(1, 40)), max_size=60)


def corpus(size: int, seed: int = 0) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    random = np.random.default_rng(seed)
    target = random.integers(1, 50, size, np.int32)
    source = np.maximum(1, target + random.integers(-5, 6, size, np.int32))
    return source, target


def as_lists(order: EpochOrder) -> list[list[int]]:
    return [order[batch].tolist() for batch in range(len(order))]


@settings(deadline=None)
@given(lengths, st.integers(1, 200), st.integers(1, 16))
def test_every_pair_comes_once_and_every_batch_keeps_its_budget(
    pairs: list[tuple[int, int]], batch_tokens: int, pool: int
) -> None:
    source = np.array([length for length, _ in pairs], np.int32)
    target = np.array([length for _, length in pairs], np.int32)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sampler_module, "POOL", pool)
        order = epoch_batches(
            source, target, batch_tokens=batch_tokens, seed=1, epoch=0
        )
    batches = as_lists(order)
    assert sorted(index for batch in batches for index in batch) == list(
        range(len(pairs))
    )
    for batch in batches:
        assert batch
        within = len(batch) * (target[batch].max() + 1) <= batch_tokens and (
            len(batch) * (source[batch].max() + 1) <= batch_tokens * SOURCE_ALLOWANCE
        )
        assert within or len(batch) == 1


def test_batches_are_filled() -> None:
    source, target = corpus(5000)
    order = epoch_batches(source, target, batch_tokens=1000, seed=1, epoch=0)
    filled = [len(batch) * (target[batch].max() + 1) for batch in as_lists(order)]
    assert np.mean(filled) > 900


def test_same_seed_and_epoch_give_the_same_order() -> None:
    source, target = corpus(2000)

    def order(seed: int, epoch: int) -> list[list[int]]:
        return as_lists(
            epoch_batches(source, target, batch_tokens=500, seed=seed, epoch=epoch)
        )

    assert order(1, 0) == order(1, 0)
    assert order(1, 0) != order(1, 1)
    assert order(1, 0) != order(2, 0)


def test_pairs_of_one_length_meet_different_mates_each_epoch() -> None:
    same = np.full(400, 9, np.int32)
    first, second = (
        {frozenset(batch) for batch in as_lists(order)}
        for order in (
            epoch_batches(same, same, batch_tokens=100, seed=1, epoch=epoch)
            for epoch in (0, 1)
        )
    )
    assert not first & second


def test_batches_hold_pairs_of_like_length_in_no_order_of_length() -> None:
    source, target = corpus(20_000)
    order = epoch_batches(source, target, batch_tokens=1000, seed=1, epoch=0)
    spreads = [np.ptp(np.maximum(source, target)[batch]) for batch in as_lists(order)]
    assert max(spreads) <= 2
    longest = np.array([target[batch].max() for batch in as_lists(order)])
    rising = np.mean(np.diff(longest) > 0)
    assert 0.4 < rising < 0.6


def test_very_long_pair_is_a_batch_of_its_own() -> None:
    source = np.array([3, 3, 1_000_000, 3], np.int32)
    target = np.array([3, 3, 2_000_000, 3], np.int32)
    batches = as_lists(epoch_batches(source, target, batch_tokens=100, seed=1, epoch=0))
    assert [2] in batches
    assert len(batches) == 2


@pytest.fixture
def store(tmp_path: Path) -> TokenStore:
    source, target = corpus(200)
    with TokenStoreWriter(tmp_path / "store", 10) as writer:
        writer.add_many([[5] * n for n in source], [[6] * n for n in target])
    return TokenStore.open(tmp_path / "store")


def test_continuing_from_any_position_is_exact(store: TokenStore) -> None:
    sampler = Sampler(store, batch_tokens=300, seed=3)
    per_epoch = len(sampler.order(0))
    whole = list(islice(sampler.batches(Position(0, 0)), 3 * per_epoch))
    for done in (1, per_epoch - 1, per_epoch, per_epoch + 2):
        position = whole[done - 1][1]
        rest = list(islice(sampler.batches(position), len(whole) - done))
        for (expected, after), (got, got_after) in zip(whole[done:], rest, strict=True):
            assert got.tolist() == expected.tolist()
            assert got_after == after


def test_a_mixture_is_sampled_in_its_shares_and_continued_exactly(
    store: TokenStore,
) -> None:
    mixed = store.mixed(Mixture(sizes=(20, 180), weights=(1.0, 1.0)))
    sampler = Sampler(mixed, batch_tokens=300, seed=3)
    per_epoch = len(sampler.order(0))
    whole = list(islice(sampler.batches(Position(0, 0)), 2 * per_epoch))
    first = np.concatenate([indices for indices, after in whole[:per_epoch]])
    assert np.count_nonzero(first < 20) == np.count_nonzero(first >= 20) == 100
    for done in (1, per_epoch, per_epoch + 2):
        expected, after = whole[done]
        got, got_after = next(sampler.batches(whole[done - 1][1]))
        assert got.tolist() == expected.tolist()
        assert got_after == after


def test_position_moves_to_the_next_epoch_with_the_last_batch(
    store: TokenStore,
) -> None:
    sampler = Sampler(store, batch_tokens=300, seed=3)
    count = len(sampler.order(0))
    positions = [after for _, after in islice(sampler.batches(Position(0, 0)), count)]
    assert positions[0] == Position(0, 1)
    assert positions[-1] == Position(1, 0)


def test_position_beyond_the_epoch_is_refused(store: TokenStore) -> None:
    sampler = Sampler(store, batch_tokens=300, seed=3)
    with pytest.raises(CorpusError, match=r"none at position 9999.*changed") as error:
        next(sampler.batches(Position(0, 9999)))
    assert "\n" not in str(error.value)
