"""How much memory a forward pass keeps for the backward pass, counted layer by layer.

The count follows `layers.py`: what an operation needs again to find its gradient stays,
everything else is forgotten. Numbers are of four bytes.
"""

from dragoman.config import ModelConfig
from dragoman.model.flops import BatchShape

BYTES = 4


def activation_bytes(config: ModelConfig, batch: BatchShape) -> float:
    """Give the bytes that `features` keeps, its own result included."""
    numbers = (
        _stack(config, batch.source_places, config.num_encoder_layers, sublayers=2)
        + _stack(config, batch.target_places, config.num_decoder_layers, sublayers=3)
        + _attention(config, batch)
    )
    return BYTES * numbers


def _stack(config: ModelConfig, places: float, layers: int, sublayers: int) -> float:
    """Count what residuals, norms and feed-forward networks of one stack keep."""
    d_model, d_ff = config.d_model, config.d_ff
    mask = d_model if config.dropout else 0
    statistics = 2  # a norm's mean and deviation
    embedded = d_model + mask
    # Around each sublayer: the norm's input and output, and which elements dropped.
    sublayer = 2 * d_model + statistics + mask
    feed_forward = 3 * d_ff if config.feed_forward_dropout else d_ff
    last_norm = d_model + statistics if config.norm == "pre" else 0
    layer = sublayers * sublayer + feed_forward
    return places * (embedded + layers * layer + last_norm)


def _attention(config: ModelConfig, batch: BatchShape) -> float:
    """Count queries, keys, values, what they gave, and what softmax needs again."""
    source, target = batch.source_places, batch.target_places
    inner = config.num_heads * config.head_size
    read, write = config.num_encoder_layers, config.num_decoder_layers
    of_source = read * 4 * inner + write * 2 * inner
    of_target = write * (4 + 2) * inner
    return (
        source * of_source
        + target * of_target
        + read * _softmax(config, source, batch.source_length, masked=source)
        + write * _softmax(config, target, batch.target_length, masked=0)
        + write * _softmax(config, target, batch.source_length, masked=source)
    )


def _softmax(
    config: ModelConfig, queries: float, keys: float, *, masked: float
) -> float:
    heads = config.num_heads
    if config.attention_dropout:
        # No fused kernel drops weights on a CPU: they are kept, with what dropped.
        return 3 * heads * queries * keys
    return heads * queries + masked  # one sum for each query, and the mask as numbers
