import threading
from collections.abc import Generator, Iterator
from itertools import islice, pairwise
from typing import cast

import numpy as np
import pytest
import torch

from dragoman.config import Config
from dragoman.data.sampler import Position
from dragoman.errors import CorpusError
from dragoman.model_folder import SavedModel
from dragoman.training.batch_source import (
    READ_AHEAD,
    BatchSource,
    Delivery,
    subword_tables,
)
from dragoman.training.preparation import Prepared

START = Position(0, 0)
NEW_SPELLINGS = {"tokenizer.sampling": 0.2, "training.accumulate": 3}


@pytest.fixture
def config(saved: SavedModel) -> Config:
    return saved.config.with_settings(NEW_SPELLINGS)


@pytest.fixture
def source(prepared: Prepared, config: Config) -> BatchSource:
    return BatchSource(prepared.store, prepared.tokenizers, config)


def batches(source: BatchSource, start: Position) -> Generator[Delivery]:
    return cast("Generator[Delivery]", source.batches(start))


def assert_same(one: Delivery, other: Delivery) -> None:
    assert one[1] == other[1]
    for a, b in zip(one[0], other[0], strict=True):
        assert torch.equal(a.source, b.source)
        assert torch.equal(a.target_in, b.target_in)
        assert torch.equal(a.target_out, b.target_out)


def more_than_an_epoch(source: BatchSource) -> list[Delivery]:
    return list(islice(source.read(START), len(source.sampler.order(0)) + 3))


def test_reading_ahead_changes_neither_order_nor_content(source: BatchSource) -> None:
    expected = more_than_an_epoch(source)
    ahead = batches(source, START)
    for wanted in expected:
        assert_same(next(ahead), wanted)
    ahead.close()


def test_it_goes_on_exactly_from_any_position(source: BatchSource) -> None:
    whole = more_than_an_epoch(source)
    for (_, position), following in pairwise(whole):
        again = batches(source, position)
        assert_same(next(again), following)
        again.close()


def test_the_parts_of_an_update_are_its_pairs(
    source: BatchSource, prepared: Prepared, saved: SavedModel
) -> None:
    whole = BatchSource(prepared.store, prepared.tokenizers, saved.config)
    order = source.sampler.order(0)
    for number, (parts, _) in enumerate(islice(source.read(START), len(order))):
        assert sum(part.num_pairs for part in parts) == len(order[number])
        assert len(parts) == min(3, len(order[number]))
    assert all(len(parts) == 1 for parts, _ in islice(whole.read(START), len(order)))


def test_each_epoch_spells_its_words_anew(source: BatchSource) -> None:
    def tokens(epoch: int) -> int:
        updates = islice(source.read(Position(epoch, 0)), len(source.sampler.order(0)))
        return sum(part.num_source_tokens for parts, _ in updates for part in parts)

    assert tokens(0) != tokens(1)
    assert tokens(0) == tokens(0)


def test_an_error_of_the_reader_is_raised_where_the_batches_are_taken(
    source: BatchSource, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = list(islice(source.read(START), 2))

    def broken(start: Position) -> Iterator[Delivery]:
        yield from expected
        raise OSError("the disk is gone")

    monkeypatch.setattr(source, "read", broken)
    ahead = batches(source, START)
    for wanted in expected:
        assert_same(next(ahead), wanted)
    with pytest.raises(OSError, match="the disk is gone"):
        next(ahead)


def test_a_position_that_does_not_exist_is_one_line(source: BatchSource) -> None:
    with pytest.raises(CorpusError, match="none at position 999") as raised:
        next(batches(source, Position(0, 999)))
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("fails_after", [None, READ_AHEAD + 1])
def test_the_reader_ends_when_nobody_takes_batches_any_more(
    source: BatchSource, monkeypatch: pytest.MonkeyPatch, fails_after: int | None
) -> None:
    everything = source.read(START)
    full = threading.Event()

    def read(start: Position) -> Iterator[Delivery]:
        for number, item in enumerate(everything):
            if number == READ_AHEAD + 1:  # one was taken, and the queue has no room
                full.set()
            if number == fails_after:
                raise OSError("the disk is gone")
            yield item

    monkeypatch.setattr(source, "read", read)
    before = set(threading.enumerate())
    ahead = batches(source, START)
    next(ahead)
    (reader,) = set(threading.enumerate()) - before
    assert full.wait(10)
    ahead.close()
    reader.join(10)
    assert not reader.is_alive()


def test_one_vocabulary_has_one_table_of_spellings(
    saved: SavedModel, config: Config
) -> None:
    assert subword_tables(saved.tokenizers, saved.config) is None
    tables = subword_tables(saved.tokenizers, config)
    assert tables is not None
    assert tables.source is tables.target


def test_reading_leaves_the_randomness_of_others_alone(source: BatchSource) -> None:
    def numpy_keys() -> list[int]:
        keys: list[int] = np.random.get_state(legacy=False)["state"]["key"].tolist()
        return keys

    before = torch.get_rng_state(), numpy_keys()
    more_than_an_epoch(source)
    assert torch.equal(torch.get_rng_state(), before[0])
    assert numpy_keys() == before[1]


def test_no_reader_outlives_its_batches(source: BatchSource) -> None:
    before = threading.active_count()
    batches = source.batches(Position(0, 0))
    next(batches)
    assert threading.active_count() == before + 1
    batches.close()  # type: ignore[attr-defined]
    assert threading.active_count() == before
