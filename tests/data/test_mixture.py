from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman.data.mixture import Mixture

corpora_of_any_size = st.lists(
    st.tuples(st.integers(1, 30), st.floats(0.1, 10)), min_size=1, max_size=4
)


@settings(deadline=None)
@given(corpora_of_any_size, st.integers(1, 12))
def test_every_pair_of_a_corpus_comes_equally_often(
    corpora: list[tuple[int, float]], epochs: int
) -> None:
    mixture = Mixture(
        tuple(size for size, _ in corpora), tuple(weight for _, weight in corpora)
    )
    seen: Counter[int] = Counter()
    for epoch in range(epochs):
        pairs = mixture.pairs(7, epoch)
        assert len(pairs) == sum(mixture.counts)
        seen.update(pairs.tolist())
    start = 0
    for size, count in zip(mixture.sizes, mixture.counts, strict=True):
        times = [seen[pair] for pair in range(start, start + size)]
        assert sum(times) == epochs * count
        assert max(times) - min(times) <= 1
        start += size


def test_weights_are_shares_of_an_epoch_and_not_of_the_corpora() -> None:
    mixture = Mixture(sizes=(100, 900), weights=(3.0, 1.0))
    assert mixture.counts == (750, 250)
    pairs = mixture.pairs(1, 0)
    assert np.count_nonzero(pairs < 100) == 750


def test_the_smallest_share_is_a_pair() -> None:
    assert Mixture(sizes=(10, 10), weights=(1e-9, 1.0)).counts == (1, 20)


@pytest.mark.parametrize("epoch", [0, 1, 5])
def test_seed_and_epoch_alone_decide(epoch: int) -> None:
    mixture = Mixture(sizes=(40, 60), weights=(1.0, 1.0))
    again = Mixture(sizes=(40, 60), weights=(1.0, 1.0)).pairs(3, epoch)
    assert mixture.pairs(3, epoch).tolist() == again.tolist()
    assert mixture.pairs(3, epoch).tolist() != mixture.pairs(4, epoch).tolist()
    assert mixture.pairs(3, epoch).tolist() != mixture.pairs(3, epoch + 1).tolist()
