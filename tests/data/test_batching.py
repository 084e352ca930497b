from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from dragoman.data.batching import make_batch, read_batch, share_out
from dragoman.data.resegmentation import Resegmentation, SegmentationTable
from dragoman.data.token_store import TokenStore, TokenStoreWriter
from dragoman.special_tokens import BEGIN, END, PAD

row = st.lists(st.integers(4, 99), max_size=6)
rows_of_pairs = st.lists(st.tuples(row, row), min_size=1, max_size=5)


def without_padding(matrix: torch.Tensor) -> list[list[int]]:
    return [[token for token in line if token != PAD] for line in matrix.tolist()]


@given(rows_of_pairs)
def test_rows_begin_and_end_as_the_model_expects(
    pairs: list[tuple[list[int], list[int]]],
) -> None:
    batch = make_batch(
        [np.array(source, np.uint16) for source, _ in pairs],
        [np.array(target, np.uint16) for _, target in pairs],
    )
    assert without_padding(batch.source) == [[*source, END] for source, _ in pairs]
    assert without_padding(batch.target_in) == [[BEGIN, *target] for _, target in pairs]
    assert without_padding(batch.target_out) == [[*target, END] for _, target in pairs]
    assert batch.target_in.shape == batch.target_out.shape
    assert {
        side.dtype for side in (batch.source, batch.target_in, batch.target_out)
    } == {torch.int64}


@given(rows_of_pairs)
def test_padding_comes_last_and_is_no_wider_than_needed(
    pairs: list[tuple[list[int], list[int]]],
) -> None:
    batch = make_batch(
        [np.array(source) for source, _ in pairs],
        [np.array(target) for _, target in pairs],
    )
    for side in (batch.source, batch.target_in, batch.target_out):
        real = (side != PAD).int()
        assert torch.equal(real, real.cummin(dim=1).values)
        assert bool(real[:, -1].any())


def test_counts() -> None:
    batch = make_batch(
        [np.array([7, 8, 9]), np.array([7])], [np.array([5]), np.array([6])]
    )
    assert batch.num_pairs == 2
    assert batch.num_source_tokens == 6
    assert batch.num_target_tokens == 4
    assert batch.padding_share == pytest.approx(2 / 12)
    assert torch.equal(batch.to("cpu").target_in, batch.target_in)


@pytest.fixture
def store(tmp_path: Path) -> TokenStore:
    with TokenStoreWriter(tmp_path / "store", 100) as writer:
        writer.add_many([[5, 6], [7], [8, 9, 10]], [[11], [12, 13], [14]])
    return TokenStore.open(tmp_path / "store")


def test_store_and_rows_give_the_same_batch(store: TokenStore) -> None:
    indices = np.array([2, 0], np.int32)
    read = read_batch(store, indices)
    made = make_batch(
        [store.source(2), store.source(0)], [store.target(2), store.target(0)]
    )
    assert torch.equal(read.source, made.source)
    assert torch.equal(read.target_in, made.target_in)
    assert torch.equal(read.target_out, made.target_out)


def test_key_alone_decides_the_segmentation(store: TokenStore) -> None:
    table = SegmentationTable.build([[[token], [20, 21]] for token in range(100)])
    indices = np.arange(3)

    def read(*key: int) -> list[list[int]]:
        batch = read_batch(store, indices, Resegmentation(table, table), key)
        return [*without_padding(batch.source), *without_padding(batch.target_out)]

    assert read(1, 0, 4) == read(1, 0, 4)
    assert len({str(read(1, 0, batch)) for batch in range(8)}) > 1


@given(st.integers(1, 30), st.integers(1, 5), st.integers(1, 12))
def test_shares_and_parts_make_the_whole(size: int, processes: int, parts: int) -> None:
    indices = np.arange(size)
    shares = share_out(indices, processes, parts)
    assert len(shares) == processes
    assert len({len(share) for share in shares}) == 1, "all take as many steps"
    divided = [part for share in shares for part in share]
    assert np.concatenate(divided).tolist() == indices.tolist()
    assert len(shares[0]) == min(parts, max(1, size // processes))
    sizes = [len(part) for part in divided]
    assert min(sizes) > 0 or size < processes
    assert max(sizes) - min(sizes) <= 2


def test_rows_without_targets_have_nothing_to_predict(store: TokenStore) -> None:
    batch = read_batch(store, np.arange(3))
    silent = batch.without_targets()
    assert silent.num_target_tokens == 0
    assert torch.equal(silent.source, batch.source)
    assert torch.equal(silent.target_in, batch.target_in)
