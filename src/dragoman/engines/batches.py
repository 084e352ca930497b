"""Many sentences become batches in which little is padding."""

from collections.abc import Iterator, Sequence


def batches(
    sources: Sequence[Sequence[int]], batch_tokens: int, num_rows: int = 1
) -> Iterator[list[int]]:
    """Group indices of similar lengths, longest first, so that little is padding.

    A batch has at most so many tokens, END and padding included, times the rows that
    are worked on for each sentence; one that is longer is a batch of its own.
    """
    budget = batch_tokens // num_rows
    by_length = sorted(range(len(sources)), key=lambda index: -len(sources[index]))
    start = 0
    while start < len(by_length):
        longest = len(sources[by_length[start]]) + 1
        end = start + max(1, budget // longest)
        yield by_length[start:end]
        start = end
