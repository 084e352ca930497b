"""Why the paper's choices are what they are, measured on this model and this machine.

Three small experiments: order without positions, scores without √d_k, and what a
longer sentence costs attention and a recurrent network. Each tells how far it is and
can be stopped there.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor, nn

from dragoman.errors import InspectionError
from dragoman.inspection.inspect import inspect
from dragoman.inspection.order import swap_words
from dragoman.model.attention import attention_weights
from dragoman.model.transformer import Transformer
from dragoman.translator import Translator

OnProgress = Callable[[int, int], None]

WIDTHS = (4, 16, 64, 256, 1024)
KEYS, DRAWS = 32, 200
LENGTHS = (16, 32, 64, 128, 256, 512)
REPEATS = 3


def _silent(done: int, total: int) -> None:
    """Tell nobody."""


@dataclass(frozen=True)
class Order:
    """What swapping the first and the last word of sentences did (§3.5)."""

    sentences: int
    changed: int  # translations that came out differently, with positions
    changed_without: int  # and without
    memory_change: float  # mean of the largest change of a word's encoding
    memory_change_without: float


def order(
    translator: Translator, sources: Sequence[str], on_progress: OnProgress = _silent
) -> Order:
    """Swap words with and without positions: without them, order is not seen."""
    swaps = []
    for number, source in enumerate(sources):
        on_progress(number, len(sources))
        inspection = inspect(translator, source)
        last = len(inspection.source.words) - 2
        if last > 0:
            swaps.append(swap_words(inspection, 0, last))
    count = max(1, len(swaps))
    return Order(
        sentences=len(swaps),
        changed=sum(s.original.translation != s.swapped.translation for s in swaps),
        changed_without=sum(
            s.original_without.translation != s.swapped_without.translation
            for s in swaps
        ),
        memory_change=sum(s.memory_change for s in swaps) / count,
        memory_change_without=sum(s.memory_change_without for s in swaps) / count,
    )


@dataclass(frozen=True)
class Saturation:
    """Attention of random queries and keys of one width, with and without √d_k."""

    d_k: int
    spread: float  # the standard deviation of q·k: √d_k for unit components
    entropy: float  # of the weights with scaling, in nats
    entropy_unscaled: float
    gradient: float  # the mean size of ∂weight/∂score with scaling
    gradient_unscaled: float


def saturation(
    on_progress: OnProgress = _silent,
    *,
    widths: Sequence[int] = WIDTHS,
    draws: int = DRAWS,
    seed: int = 1,
) -> tuple[Saturation, ...]:
    """Let d_k grow: without scaling, softmax becomes hard and its gradient dies."""
    random = torch.Generator().manual_seed(seed)
    rows = []
    for number, d_k in enumerate(widths):
        on_progress(number, len(widths))
        queries = torch.randn(draws, 1, d_k, generator=random)
        keys = torch.randn(draws, KEYS, d_k, generator=random)
        scaled = attention_weights(queries, keys, None)
        # Scaled attention of queries made longer by √d_k is unscaled attention.
        unscaled = attention_weights(queries * d_k**0.5, keys, None)
        rows.append(
            Saturation(
                d_k=d_k,
                spread=float((queries @ keys.transpose(1, 2)).std()),
                entropy=_entropy(scaled),
                entropy_unscaled=_entropy(unscaled),
                gradient=_softmax_gradient(scaled),
                gradient_unscaled=_softmax_gradient(unscaled),
            )
        )
    return tuple(rows)


def _entropy(weights: Tensor) -> float:
    return float(-(weights * weights.clamp_min(1e-30).log()).sum(dim=-1).mean())


def _softmax_gradient(weights: Tensor) -> float:
    """Give the mean of |w (1 − w)|, the derivative of a weight by its own score."""
    return float((weights * (1 - weights)).mean())


@dataclass(frozen=True)
class LengthCost:
    """Milliseconds to read one sentence, and how far apart its ends are."""

    length: int
    attention: float  # one self-attention layer of this model
    recurrent: float  # one LSTM layer of the same width, word after word
    attention_path: int  # steps between the first and the last word (Table 1)
    recurrent_path: int


def length_costs(
    translator: Translator, on_progress: OnProgress = _silent
) -> tuple[LengthCost, ...]:
    """Time one layer of each kind on longer and longer sentences, on this machine."""
    model = translator.saved.model
    if not isinstance(model, Transformer):
        raise InspectionError(
            "this model has no self-attention to time: choose a Transformer"
        )
    width = model.output_weight.shape[1]
    layer = model.encoder.layers[0]
    recurrent = nn.LSTM(width, width, batch_first=True).eval()
    rows = []
    for number, length in enumerate(LENGTHS):
        on_progress(number, len(LENGTHS))
        x = torch.zeros(1, length, width)
        mask = torch.ones(1, 1, 1, length, dtype=torch.bool)
        with torch.no_grad():
            rows.append(
                LengthCost(
                    length=length,
                    attention=_milliseconds(partial(layer, x, mask)),
                    recurrent=_milliseconds(partial(recurrent, x)),
                    attention_path=1,
                    recurrent_path=length - 1,
                )
            )
    return tuple(rows)


def _milliseconds(run: Callable[[], object]) -> float:
    """Give the shortest of a few times: what others do here only makes it longer."""
    times = []
    for _ in range(REPEATS + 1):  # the first one warms up
        began = time.perf_counter()
        run()
        times.append(1000 * (time.perf_counter() - began))
    return min(times[1:])
