"""Which word translates which, learned from text alone: IBM model 1 near the diagonal.

Brown et al. 1993 with a prior that prefers words at like places, as Dyer et al. 2013
have it. It knows nothing of any network, so that heads can be measured against it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray

ROUNDS = 5
TENSION = 4.0  # how fast the prior falls with the distance from the diagonal
NOBODY = 0.08  # the prior that a target word translates no source word

RULE = (
    "IBM model 1 with a diagonal prior, learned from the same text: the share of "
    "target words whose most attended source word is the one it names"
)

Words = Sequence[str]


@dataclass(frozen=True)
class _Links:
    """Every possible link of every sentence pair, one entry each."""

    target: NDArray[np.int64]  # the number of the target word in the whole text
    kind: NDArray[np.int64]  # the number of the (source word, target word) type
    source_type: NDArray[np.int64]
    source_place: NDArray[np.int64]  # −1: nobody
    prior: NDArray[np.float64]


def align_words(pairs: Sequence[tuple[Words, Words]]) -> list[list[int | None]]:
    """Give, for each target word of each pair, the place of its source word or None."""
    if not any(target for _, target in pairs):
        return [[] for _ in pairs]
    links = _all_links(pairs)
    kinds, of_source = np.unique(links.kind, return_index=True)
    _, kind = np.unique(links.kind, return_inverse=True)
    source_type = links.source_type[of_source]
    translation = np.ones(len(kinds))
    share = links.prior
    for _ in range(ROUNDS):
        share = _normalized(translation[kind] * links.prior, links.target)
        counts = np.bincount(kind, share, len(kinds)).astype(np.float64)
        translation = _normalized(counts, source_type)
    share = translation[kind] * links.prior
    return _best_places(links, share, [len(target) for _, target in pairs])


def _all_links(pairs: Sequence[tuple[Words, Words]]) -> _Links:
    vocabularies = [_numbered(side) for side in zip(*pairs, strict=True)]
    num_targets = len(vocabularies[1])
    columns: list[list[NDArray[np.generic]]] = []
    first = 0
    for source, target in pairs:
        # Nobody is source word 0, at place −1.
        sources = np.array([0, *(vocabularies[0][w] + 1 for w in _folded(source))])
        targets = np.array([vocabularies[1][w] for w in _folded(target)], np.int64)
        shape = (len(targets), len(sources))
        kind = sources[None, :] * num_targets + targets[:, None]
        numbers = np.arange(first, first + len(targets))
        places = np.arange(-1, len(source))
        columns.append(
            [
                np.broadcast_to(numbers[:, None], shape).ravel(),
                kind.ravel(),
                np.broadcast_to(sources, shape).ravel(),
                np.broadcast_to(places, shape).ravel(),
                _prior(len(source), len(target)).ravel(),
            ]
        )
        first += len(targets)
    joined: list[NDArray[np.generic]] = [
        np.concatenate(column) for column in zip(*columns, strict=True)
    ]
    target_numbers, kinds, source_types, source_places, priors = joined
    return _Links(
        target_numbers.astype(np.int64),
        kinds.astype(np.int64),
        source_types.astype(np.int64),
        source_places.astype(np.int64),
        priors.astype(np.float64),
    )


def _prior(num_sources: int, num_targets: int) -> NDArray[np.float64]:
    """Give the prior (target, nobody and then each source) of one sentence pair."""
    at = (np.arange(num_targets) + 0.5)[:, None] / max(num_targets, 1)
    of = (np.arange(num_sources) + 0.5)[None, :] / max(num_sources, 1)
    near = np.exp(-TENSION * np.abs(at - of))
    near *= (1 - NOBODY) / np.maximum(near.sum(axis=1, keepdims=True), 1e-12)
    return np.concatenate([np.full((num_targets, 1), NOBODY), near], axis=1)


def _normalized(
    values: NDArray[np.float64], groups: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Divide each value by the sum of its group."""
    sums = np.bincount(groups, values)
    return np.asarray(values / np.maximum(sums[groups], 1e-300))


def _best_places(
    links: _Links, share: NDArray[np.float64], lengths: Sequence[int]
) -> list[list[int | None]]:
    # Sorted by target word, then by share: the last of each word is its best.
    order = np.lexsort((share, links.target))
    is_last = np.append(np.diff(links.target[order]) != 0, True)
    places = iter(links.source_place[order][is_last].tolist())
    best = ([next(places) for _ in range(length)] for length in lengths)
    return [[None if place < 0 else place for place in row] for row in best]


def _numbered(side: Sequence[Words]) -> dict[str, int]:
    words = dict.fromkeys(chain.from_iterable(map(_folded, side)))
    return {word: number for number, word in enumerate(words)}


def _folded(words: Words) -> list[str]:
    return [word.casefold() for word in words]
