from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.data.token_store import TokenStore, TokenStoreWriter
from dragoman.data.windows import (
    HIDDEN_SHARE,
    Masking,
    cut_windows,
    masked_batch,
    window_batch,
)
from dragoman.special_tokens import BEGIN, END, PAD

MASKING = Masking(mask=9, vocabulary_size=50)


@pytest.fixture
def store(tmp_path: Path) -> TokenStore:
    with TokenStoreWriter(tmp_path / "store", 50) as writer:
        writer.add_many([[], []], [[10, 11, END, 12], [13, END]])
    return TokenStore.open(tmp_path / "store")


@given(
    st.lists(st.lists(st.integers(4, 20), max_size=9), max_size=9), st.integers(1, 7)
)
def test_no_token_is_lost_and_each_line_ends(lines: list[list[int]], size: int) -> None:
    windows = list(cut_windows(lines, size))
    laid_out = [token for line in lines for token in (*line, END)]
    assert [token for window in windows for token in window] == laid_out
    assert all(len(window) == size for window in windows[:-1])
    assert all(0 < len(window) <= size for window in windows[-1:])


def test_each_token_is_predicted_from_those_before_it(store: TokenStore) -> None:
    batch = window_batch(store, np.array([0, 1]))
    assert batch.target_in.tolist() == [[BEGIN, 10, 11, END], [BEGIN, 13, PAD, PAD]]
    assert batch.target_out.tolist() == [[10, 11, END, 12], [13, END, PAD, PAD]]
    assert batch.source.tolist() == [[END], [END]]
    assert batch.num_target_tokens == 6


def test_hidden_words_are_a_share_masked_exchanged_or_left() -> None:
    random = np.random.default_rng(0)
    windows = random.integers(10, 50, (400, 100))
    windows[:, ::10] = END
    seen, chosen = MASKING.hide(windows, random)
    words = windows != END
    assert not chosen[~words].any()
    assert chosen[words].mean() == pytest.approx(HIDDEN_SHARE, rel=0.05)
    assert (seen[~chosen] == windows[~chosen]).all()
    masked = seen[chosen] == MASKING.mask
    left = seen[chosen] == windows[chosen]
    assert masked.mean() == pytest.approx(0.8, abs=0.02)
    assert left.mean() == pytest.approx(0.1 + 0.1 / 45, abs=0.02)
    assert seen.max() < 50
    assert seen[chosen & (seen != MASKING.mask)].min() > END


def test_every_window_has_something_to_find_and_a_key_finds_it_again(
    store: TokenStore,
) -> None:
    for number in range(50):
        batch = masked_batch(store, np.array([0, 1]), MASKING, (number,))
        again = masked_batch(store, np.array([0, 1]), MASKING, (number,))
        assert batch.source.equal(again.source)
        assert batch.target_out.equal(again.target_out)
        wanted = batch.target_out != PAD
        assert wanted.any(dim=1).all()
        assert batch.source[1, 2:].eq(PAD).all()
        assert set(batch.target_out[wanted].tolist()) <= {10, 11, 12, 13}
