"""Batches for the loop, read ahead of need, each a pure function of its position."""

import queue
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from dragoman.config import Config
from dragoman.data.batching import Batch, read_batch, share_out
from dragoman.data.resegmentation import Resegmentation, SegmentationTable
from dragoman.data.sampler import Position, Sampler
from dragoman.data.statistics import part_sizes
from dragoman.data.token_store import TokenStore
from dragoman.data.windows import Masking, masked_batch, window_batch
from dragoman.text.masks import mask_id
from dragoman.text.subword_sampling import segmentations
from dragoman.text.tokenizer import Tokenizer
from dragoman.text.tokenizer_pair import TokenizerPair
from dragoman.training.distributed import Processes

SPELLINGS = 32  # ways to spell each subword that sampling chooses from
READ_AHEAD = 8

Delivery = tuple[list[Batch], Position]  # an update's parts, the position after it
Ready = queue.Queue[Delivery | BaseException]
# Reads some pairs of a store; the key alone decides whatever is left to chance.
BatchReader = Callable[[TokenStore, NDArray[np.integer[Any]], tuple[int, ...]], Batch]


class BatchSource:
    """Reads a process's share of each update, which may be divided into parts."""

    def __init__(
        self,
        store: TokenStore,
        tokenizers: TokenizerPair,
        config: Config,
        device: torch.device | str = "cpu",
        processes: Processes | None = None,
    ) -> None:
        training = config.training
        self.store = store
        self.device = torch.device(device)
        self.seed = training.seed
        self.parts = training.accumulate
        self.processes = processes or Processes()
        self.sampler = Sampler(
            store, batch_tokens=training.batch_tokens, seed=training.seed
        )
        self.reader = batch_reader(tokenizers, config)

    def batches(self, start: Position) -> Iterator[Delivery]:
        """Yield the parts of each update and the position after it, without end."""
        ready: Ready = queue.Queue(READ_AHEAD)
        stop = threading.Event()
        reader = threading.Thread(
            target=self._read_ahead, args=(start, ready, stop), daemon=True
        )
        reader.start()
        try:
            while True:
                item = ready.get()
                if isinstance(item, BaseException):
                    raise item
                yield item
        finally:
            stop.set()
            reader.join()  # a thread inside torch when Python ends would abort it

    def largest(self) -> list[Batch]:
        """Give the parts of the first epoch that need the most memory.

        One has the most places, another perhaps the most pairs of places to attend.
        """
        order = self.sampler.order(0)
        source, target = self.store.source_lengths, self.store.target_lengths
        count = self.parts * self.processes.count
        sizes = part_sizes(order, source, target, count)
        chosen = {int(sizes.places.argmax()), int(sizes.attention.argmax())}
        batches = sorted({int(sizes.batch[k]) for k in chosen})
        parts = [self._parts(order[k], Position(0, k)) for k in batches]
        return [max(update, key=_places) for update in parts]

    def _read_ahead(self, start: Position, ready: Ready, stop: threading.Event) -> None:
        try:
            for item in self.read(start):
                _offer(item, ready, stop)
                if stop.is_set():
                    return
        except BaseException as error:
            _offer(error, ready, stop)

    def read(self, start: Position) -> Iterator[Delivery]:
        """Yield the same, reading each update when it is asked for."""
        position = start
        for indices, after in self.sampler.batches(start):
            yield self._parts(indices, position), after
            position = after

    def _parts(
        self, indices: NDArray[np.integer[Any]], position: Position
    ) -> list[Batch]:
        """Read this process's parts of the batch at a position."""
        rank = self.processes.rank
        own = share_out(indices, self.processes.count, self.parts)[rank]
        return [
            self._read_part(indices, part, position, rank * len(own) + number)
            for number, part in enumerate(own)
        ]

    def _read_part(
        self,
        batch: NDArray[np.integer[Any]],
        part: NDArray[np.integer[Any]],
        position: Position,
        number: int,
    ) -> Batch:
        """Read some rows of a batch; a process without any goes through the motions.

        It must, because the others wait for its gradient, even if that is zero.
        """
        key = (self.seed, position.epoch, position.batch, number)
        rows = part if len(part) else batch[:1]
        read = self.reader(self.store, rows, key)
        return (read if len(part) else read.without_targets()).to(self.device)


def batch_reader(tokenizers: TokenizerPair, config: Config) -> BatchReader:
    """Choose how a model of this kind has its batches read."""
    match config.model.kind:
        case "language_model":
            return lambda store, rows, _key: window_batch(store, rows)
        case "masked_language_model":
            tokenizer = tokenizers.source
            masking = Masking(mask_id(tokenizer), tokenizer.vocabulary_size)
            return lambda store, rows, key: masked_batch(store, rows, masking, key)
        case _:
            spellings = subword_tables(tokenizers, config)
            return lambda store, rows, key: read_batch(store, rows, spellings, key)


def _places(batch: Batch) -> int:
    return batch.source.numel() + batch.target_out.numel()


def _offer(item: Delivery | BaseException, ready: Ready, stop: threading.Event) -> None:
    """Wait for room in the queue, unless nobody wants anything any more."""
    while not stop.is_set():
        try:
            ready.put(item, timeout=0.1)
        except queue.Full:
            continue
        return


def subword_tables(tokenizers: TokenizerPair, config: Config) -> Resegmentation | None:
    """Give the ways to spell each subword anew, if the settings ask for sampling."""
    sampling, seed = config.tokenizer.sampling, config.training.seed
    if not sampling:
        return None

    def table(tokenizer: Tokenizer) -> SegmentationTable:
        return SegmentationTable.build(
            segmentations(tokenizer, sampling, SPELLINGS, seed)
        )

    source = table(tokenizers.source)
    target = source if tokenizers.shared else table(tokenizers.target)
    learned = config.model.positions == "learned"
    # Learned positions have an end, and END needs one too.
    longest = config.model.max_positions - 1 if learned else None
    return Resegmentation(source, target, longest)
