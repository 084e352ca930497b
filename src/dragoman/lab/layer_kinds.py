"""The four kinds of layers of the paper's Table 1, each word by word.

They are written for counting, not for speed: a word is a vector of its own, so that
what depends on what can be read off the recorded computation.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

Words = list[Tensor]  # of each word, (1, d)


@dataclass(frozen=True)
class LayerKind:
    """A kind of layer by its name."""

    name: str
    layer: Callable[[Words, int], Words]  # words and the layer's number in a stack


def _matrix(d: int) -> Tensor:
    return torch.randn(d, d) / math.sqrt(d)


def attend(query: Tensor, keys: Tensor, values: Tensor) -> Tensor:
    """Mix the values by softmax(qKᵀ / √d)."""
    scores = query @ keys.T / math.sqrt(query.shape[-1])
    return scores.softmax(dim=-1) @ values


def self_attention(words: Words, number: int) -> Words:
    """Let every word attend to all words; projections are left out, as in Table 1."""
    del number
    together = torch.cat(words)
    return [attend(word, together, together) for word in words]


def restricted_attention(reach: int) -> Callable[[Words, int], Words]:
    """Let every word attend to `reach` words on each side."""

    def layer(words: Words, number: int) -> Words:
        del number
        mixed = []
        for place, word in enumerate(words):
            near = torch.cat(words[max(0, place - reach) : place + reach + 1])
            mixed.append(attend(word, near, near))
        return mixed

    return layer


def recurrent(words: Words, number: int) -> Words:
    """Let a state go from word to word: h = tanh(xW + hU)."""
    del number
    d = words[0].shape[-1]
    from_word, from_state = _matrix(d), _matrix(d)
    state = torch.zeros(1, d)
    states = []
    for word in words:
        state = (word @ from_word + state @ from_state).tanh()
        states.append(state)
    return states


def convolution(width: int) -> Callable[[Words, int], Words]:
    """Join `width` words by matrices, further apart in each further layer."""

    def layer(words: Words, number: int) -> Words:
        d = words[0].shape[-1]
        matrices = [_matrix(d) for _ in range(width)]
        apart = width**number
        nothing = torch.zeros(1, d)
        joined = []
        for place in range(len(words)):
            parts = [
                (words[place - k * apart] if place >= k * apart else nothing) @ matrix
                for k, matrix in enumerate(matrices)
            ]
            joined.append(torch.stack(parts).sum(dim=0).relu())
        return joined

    return layer


def kinds(reach: int, width: int) -> tuple[LayerKind, ...]:
    """Give the four kinds in the order of Table 1."""
    return (
        LayerKind("self-attention", self_attention),
        LayerKind("recurrent", recurrent),
        LayerKind("convolutional, dilated", convolution(width)),
        LayerKind("self-attention, restricted", restricted_attention(reach)),
    )
