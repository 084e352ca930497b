"""Learns what the training text is like from the prepared pairs."""

import numpy as np
from numpy.typing import NDArray

from dragoman.data.token_store import TokenStore
from dragoman.text.profile import LENGTHS, Proportions, TextProfile, scripts_of
from dragoman.text.tokenizer_pair import TokenizerPair

_HARDLY_ANY = 0.0005  # of the pairs are outside these bounds
_ROOM = 1.25  # and what is outside by less than this may still be right
_SHORT = 0.05  # of the pairs are so short that lost words are looked for
_ENOUGH = 200  # pairs of a length from which proportions can be learned
_SAMPLE = 2000


def learn_profile(store: TokenStore, tokenizers: TokenizerPair) -> TextProfile:
    """Measure lengths and proportions of all pairs, and the scripts of a sample."""
    sources = np.asarray(store.source_lengths)
    ratios = (np.asarray(store.target_lengths) + 1) / (sources + 1)
    bucket = np.searchsorted(LENGTHS, sources)
    whole = _proportions(ratios)
    rows = [ratios[bucket == number] for number in range(len(LENGTHS) + 1)]
    chosen = np.linspace(0, len(store) - 1, min(_SAMPLE, len(store))).astype(np.int64)
    texts = (tokenizers.target.decode(store.target(i).tolist()) for i in chosen)
    return TextProfile(
        longest_source=int(np.quantile(sources, 1 - _HARDLY_ANY)),
        proportions=tuple(
            _proportions(row) if len(row) >= _ENOUGH else whole for row in rows
        ),
        scripts=scripts_of(texts),
    )


def _proportions(ratios: NDArray[np.float64]) -> Proportions:
    least, short, most = np.quantile(ratios, (_HARDLY_ANY, _SHORT, 1 - _HARDLY_ANY))
    return Proportions(
        least=round(float(least) / _ROOM, 4),
        short=round(float(short), 4),
        most=round(float(most) * _ROOM, 4),
    )
