"""What a corpus costs to train on: batches, padding, the longest pair."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dragoman.data.sampler import EpochOrder, Lengths


@dataclass(frozen=True)
class EpochStatistics:
    """What one epoch's batches amount to, END included in all counts."""

    num_batches: int
    num_source_tokens: int
    num_target_tokens: int
    padding_share: float
    largest_batch: int
    longest_source: int
    longest_target: int


def epoch_statistics(
    order: EpochOrder, source_lengths: Lengths, target_lengths: Lengths
) -> EpochStatistics:
    """Measure an epoch without reading a single token."""
    starts = np.sort(order.starts)
    rows = np.diff(starts, append=len(order.pairs))
    tokens, places, longest = [], [], []
    for lengths in (source_lengths, target_lengths):
        ordered = lengths[order.pairs]
        widths = np.maximum.reduceat(ordered, starts).astype(np.int64) + 1
        tokens.append(int(ordered.sum(dtype=np.int64)) + len(ordered))
        places.append(rows * widths)
        longest.append(int(widths.max()) - 1)
    total = places[0] + places[1]
    return EpochStatistics(
        num_batches=len(order),
        num_source_tokens=tokens[0],
        num_target_tokens=tokens[1],
        padding_share=1 - sum(tokens) / int(total.sum()),
        largest_batch=int(total.max()),
        longest_source=longest[0],
        longest_target=longest[1],
    )


@dataclass(frozen=True)
class PartSizes:
    """What the parts of an epoch's batches take, each named by batch and number."""

    batch: NDArray[np.int64]
    number: NDArray[np.int64]
    places: NDArray[np.int64]
    attention: NDArray[np.int64]  # pairs of places, which is what attention looks at


def part_sizes(
    order: EpochOrder, source_lengths: Lengths, target_lengths: Lengths, parts: int
) -> PartSizes:
    """Measure every part, where each batch is split evenly into so many."""
    batch, number = np.indices((len(order), parts)).reshape(2, -1)
    least, extra = np.divmod((order.ends - order.starts)[batch], parts)
    starts = order.starts[batch] + number * least + np.minimum(number, extra)
    rows = least + (number < extra)
    kept = np.flatnonzero(rows)
    kept = kept[np.argsort(starts[kept])]
    source, target = (
        np.maximum.reduceat(lengths[order.pairs], starts[kept]).astype(np.int64) + 1
        for lengths in (source_lengths, target_lengths)
    )
    return PartSizes(
        batch[kept],
        number[kept],
        rows[kept] * (source + target),
        rows[kept] * (source**2 + target**2 + source * target),
    )
