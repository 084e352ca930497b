from pathlib import Path

import numpy as np
import pytest

from dragoman.data.batching import read_batch
from dragoman.data.sampler import Sampler
from dragoman.data.statistics import epoch_statistics
from dragoman.data.token_store import TokenStore, TokenStoreWriter


def test_statistics_are_what_the_batches_add_up_to(tmp_path: Path) -> None:
    random = np.random.default_rng(5)
    source, target = random.integers(1, 30, (2, 300))
    with TokenStoreWriter(tmp_path / "store", 10) as writer:
        writer.add_many([[5] * n for n in source], [[6] * n for n in target])
    store = TokenStore.open(tmp_path / "store")
    order = Sampler(store, batch_tokens=200, seed=1).order(0)
    statistics = epoch_statistics(order, store.source_lengths, store.target_lengths)

    batches = [read_batch(store, order[k]) for k in range(len(order))]
    places = [batch.source.numel() + batch.target_out.numel() for batch in batches]
    real = sum(batch.num_source_tokens + batch.num_target_tokens for batch in batches)
    assert statistics.num_batches == len(batches)
    assert statistics.num_source_tokens == sum(b.num_source_tokens for b in batches)
    assert statistics.num_target_tokens == sum(b.num_target_tokens for b in batches)
    assert statistics.padding_share == pytest.approx(1 - real / sum(places))
    assert statistics.largest_batch == max(places)
    assert statistics.longest_source == source.max()
    assert statistics.longest_target == target.max()
