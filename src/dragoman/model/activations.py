"""How much memory a forward pass keeps for the backward pass, counted layer by layer.

The count follows `layers.py`: what an operation needs again to find its gradient stays,
everything else is forgotten. Compiled kernels keep no dropout masks, but draw them once
more. Numbers are of four bytes.
"""

from dataclasses import replace

from dragoman.config import ModelConfig
from dragoman.model.flops import BatchShape

BYTES = 4


def activation_bytes(
    config: ModelConfig, batch: BatchShape, *, native: bool = False
) -> float:
    """Give the bytes that `features` keeps, its own result included."""
    if native:
        config = replace(config, dropout=0.0, feed_forward_dropout=0.0)
    if config.kind == "recurrent":
        return BYTES * _recurrent(config, batch)
    if config.reads_text:
        return BYTES * _text(config, batch)
    numbers = (
        _stack(config, batch.source_places, config.num_encoder_layers, sublayers=2)
        + _stack(config, batch.target_places, config.num_decoder_layers, sublayers=3)
        + _attention(config, batch)
    )
    return BYTES * numbers


def _text(config: ModelConfig, batch: BatchShape) -> float:
    """Count a single stack over running text, which stands on the target side."""
    writes = config.kind == "language_model"
    layers = config.num_decoder_layers if writes else config.num_encoder_layers
    places, length = batch.target_places, batch.target_length
    inner = config.num_heads * config.head_size
    numbers = (
        _stack(config, places, layers, sublayers=2)
        + layers * places * (4 * inner + _copies(config))
        + layers * _softmax(config, places, length)
    )
    match config.positions:
        case "alibi" if not config.attention_dropout:
            return numbers + config.num_heads * length * (length if writes else places)
        case "rotary":
            numbers += 2 * config.head_size * length
    return numbers if writes else numbers + layers * _mask(config, places)


def _stack(config: ModelConfig, places: float, layers: int, sublayers: int) -> float:
    """Count what residuals, norms and feed-forward networks of one stack keep."""
    mask = config.d_model if config.dropout else 0
    blanks = 1 if config.word_dropout else 0
    embedded = blanks + config.d_model + mask
    norm, norms = _norm(config), layers * sublayers
    # Around each sublayer: the norm and what it gave, and which elements dropped.
    layer = sublayers * (norm + config.d_model + mask) + _feed_forward(config)
    numbers = places * (embedded + layers * layer)
    if config.norm == "pre" or config.last_norm:
        numbers, norms = numbers + places * norm, norms + 1
    if config.embedding_norm:
        numbers, norms = numbers + places * norm, norms + 1
    deviations = config.d_model * norms if config.norm_kind == "batch" else 0
    return numbers + deviations


def _norm(config: ModelConfig) -> int:
    """Count what a norm keeps for each place, without what it gives."""
    match config.norm_kind:
        case "layer":
            return config.d_model + 2  # its input, the mean and the deviation
        case "rms":
            return 2 * config.d_model + 1  # also its input divided by the size
        case "batch":
            return 3 * config.d_model  # the words, less their mean, and divided
        case _:
            return 0


def _feed_forward(config: ModelConfig) -> int:
    width, drops = config.feed_forward_width, bool(config.feed_forward_dropout)
    match config.activation:
        case "relu":  # what it rectifies is forgotten
            return width * (3 if drops else 1)
        case "gelu" | "swish":
            return width * (3 if drops else 2)
        case "quick_gelu":  # the sigmoid too
            return width * (4 if drops else 3)
        case _:  # gate, what passes, the gate's activation, and their product
            return width * (5 if drops else 4)


def _attention(config: ModelConfig, batch: BatchShape) -> float:
    """Count queries, keys, values, what they gave, and what softmax needs again."""
    source, target = batch.source_places, batch.target_places
    inner = config.num_heads * config.head_size
    read, write = config.num_encoder_layers, config.num_decoder_layers
    of_itself = 4 * inner + _copies(config)
    of_source = read * of_itself + write * 2 * inner
    if config.kind == "ssru":  # the gate, what is offered, the cells and what they say
        looking_back = write * target * 6 * config.d_model
        return (
            source * of_source
            + target * write * 2 * inner
            + looking_back
            + read * _softmax(config, source, batch.source_length)
            + write * _softmax(config, target, batch.source_length)
            + write * _mask(config, source)
            + _told(config, batch)
        )
    of_target = write * (of_itself + 2 * inner)
    return (
        source * of_source
        + target * of_target
        + read * _softmax(config, source, batch.source_length)
        + write * _softmax(config, target, batch.target_length)
        + write * _softmax(config, target, batch.source_length)
        + write * _mask(config, source)
        + _told(config, batch)
    )


def _copies(config: ModelConfig) -> int:
    """Count what is kept twice where queries and keys are turned, or keys shared."""
    shares = config.shared_heads < config.num_heads
    if config.attention_dropout or (shares and config.positions == "rotary"):
        return 0  # only the copies are kept
    if shares:
        return 2 * config.shared_heads * config.head_size
    return 2 * config.num_heads * config.head_size * (config.positions == "rotary")


# What the kernel of each cell keeps for a word: shares of its input, and of its state.
KEPT_BY_CELL = {"elman": (1, 1.5), "gru": (1, 8), "lstm": (7, 10)}


def _recurrent(config: ModelConfig, batch: BatchShape) -> float:
    """Count what recurrent layers keep, nearly: the kernels keep their own accounts."""
    source, target, d_model = batch.source_places, batch.target_places, config.d_model
    of_input, of_state = KEPT_BY_CELL[config.cell]
    mask = d_model if config.dropout else 0
    ways = 2 if config.bidirectional else 1
    reading = (ways * of_input + of_state) * d_model + mask
    writing = (of_input + of_state) * d_model
    read, write = config.num_encoder_layers, config.num_decoder_layers
    numbers = source * (mask + read * reading) + target * write * (mask + writing)
    numbers += target * mask
    pairs = batch.rows * batch.target_length * batch.source_length
    match config.attention:
        case "none":
            return numbers
        case "additive":  # a small network for each pair of words
            numbers += pairs * (d_model + 2) + source * 2 * d_model
        case _:
            numbers += source * d_model + target * d_model
    return numbers + target * 4 * d_model  # context, both joined, and what came of it


def _softmax(config: ModelConfig, queries: float, keys: float) -> float:
    heads = config.num_heads
    if config.attention_dropout:
        # No fused kernel drops weights on a CPU: they are kept, with what dropped.
        return 3 * heads * queries * keys
    return heads * queries  # one sum for each query


def _mask(config: ModelConfig, places: float) -> float:
    """Count a padding mask as numbers, which is what the fused kernel reads."""
    return 0 if config.attention_dropout else places


def _told(config: ModelConfig, batch: BatchShape) -> float:
    """Count the encoder's masks, and what self-attention is told of places."""
    lengths = batch.source_length + batch.target_length
    masks = config.num_encoder_layers * _mask(config, batch.source_places)
    match config.positions:
        case "rotary":
            return masks + 2 * config.head_size * lengths
        case "alibi" if not config.attention_dropout:  # one mask for all layers
            pairs = batch.source_places * batch.source_length + batch.target_length**2
            return config.num_heads * pairs
        case _:
            return masks
