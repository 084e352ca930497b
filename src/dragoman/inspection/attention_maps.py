"""Who looked at whom: the attention weights of every layer and head.

The model knows nothing of this. Hooks see what goes into each attention, and the plain
formula gives its weights; what the model computes stays as it was.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from dragoman.data.batching import make_batch
from dragoman.model.attention import (
    ScaledDotProductAttention,
    attention_weights,
    combined_mask,
)
from dragoman.text.normalization import normalize
from dragoman.translator import Translator

END_SIGN = "●"  # both are in the font that pictures are drawn with
BEGIN_SIGN = "▶"


@dataclass(frozen=True)
class AttentionMaps:
    """The attention of one translation; each tensor is (layer, head, query, key)."""

    source: tuple[str, ...]  # the source's pieces; the end sign comes last
    target_in: tuple[str, ...]  # what the decoder reads; the begin sign comes first
    target_out: tuple[str, ...]  # what it predicts there; the end sign comes last
    translation: str
    encoder: Tensor
    decoder: Tensor
    cross: Tensor


def attention_maps(
    translator: Translator, sentence: str, target: str | None = None
) -> AttentionMaps:
    """Translate a sentence (or take the target as given) and read off all attention."""
    tokenizers = translator.tokenizers
    form = translator.config.data.normalization
    if target is None:
        target = translator.translate(sentence)
    source_ids = tokenizers.source.encode(normalize(sentence, form))
    target_ids = tokenizers.target.encode(normalize(target, form))
    model = translator.saved.model
    batch = make_batch([_array(source_ids)], [_array(target_ids)])
    batch = batch.to(model.output_weight.device)
    with torch.inference_mode(), recorded_attention(model) as recorded:
        model.features(batch.source, batch.target_in)
    pieces = tokenizers.target.pieces(target_ids)
    return AttentionMaps(
        source=(*tokenizers.source.pieces(source_ids), END_SIGN),
        target_in=(BEGIN_SIGN, *pieces),
        target_out=(*pieces, END_SIGN),
        translation=target,
        encoder=_layers(recorded, "encoder"),
        decoder=_layers(recorded, "self_attention", of="decoder"),
        cross=_layers(recorded, "cross_attention", of="decoder"),
    )


@contextmanager
def recorded_attention(model: nn.Module) -> Iterator[dict[str, Tensor]]:
    """Note the weights (batch, head, query, key) of each attention, by module name."""
    weights: dict[str, Tensor] = {}
    handles = [
        module.register_forward_pre_hook(_recorder(name, weights))
        for name, module in model.named_modules()
        if isinstance(module, ScaledDotProductAttention)
    ]
    try:
        yield weights
    finally:
        for handle in handles:
            handle.remove()


def _recorder(name: str, weights: dict[str, Tensor]) -> Any:  # noqa: ANN401
    def record(module: nn.Module, inputs: tuple[Any, ...]) -> None:
        del module
        queries, keys, _, mask, causal = inputs
        allowed = combined_mask(queries, mask, causal)
        weights[name] = attention_weights(queries, keys, allowed)

    return record


def _layers(recorded: dict[str, Tensor], kind: str, of: str = "") -> Tensor:
    found = [w[0].cpu() for name, w in recorded.items() if kind in name and of in name]
    return torch.stack(found)


def _array(ids: list[int]) -> NDArray[np.int64]:
    return np.asarray(ids, np.int64)
