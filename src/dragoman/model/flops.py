"""How many FLOPs the network costs: its matrix multiplications, part by part.

A multiplication and an addition are two FLOPs. What is no matrix multiplication
(softmax, norms, dropout) is left out, as is usual: it is little work, if not little
time.
"""

from dataclasses import astuple, dataclass
from typing import Self

from dragoman.config import ModelConfig

# Linear maps of a recurrent cell, each from the word and from the state.
NUM_GATES = {"elman": 1, "gru": 3, "lstm": 4}
# The backward pass multiplies each gradient by the weights and by the inputs: twice
# the work of the forward pass.
PASSES = 3


@dataclass(frozen=True)
class BatchShape:
    """The size of a padded batch; the loss looks at `target_tokens` of its places."""

    rows: float
    source_length: float
    target_length: float
    target_tokens: float

    @property
    def source_places(self) -> float:
        """Source tokens, padding included."""
        return self.rows * self.source_length

    @property
    def target_places(self) -> float:
        """Target tokens, padding included."""
        return self.rows * self.target_length

    def repeated(self, times: float) -> Self:
        """Give a batch that holds everything so many times."""
        tokens = times * self.target_tokens
        return type(self)(
            times * self.rows, self.source_length, self.target_length, tokens
        )

    def share(self, parts: float) -> Self:
        """Give one of so many equal parts of the batch."""
        rows = max(1.0, self.rows / parts)
        tokens = self.target_tokens * rows / self.rows
        return type(self)(rows, self.source_length, self.target_length, tokens)


@dataclass(frozen=True)
class Flops:
    """FLOPs by what they are spent on."""

    encoder: float  # projections and feed-forward networks
    decoder: float
    attention: float  # queries with keys, weights with values: grows with length
    output: float  # the projection onto the vocabulary

    @property
    def total(self) -> float:
        """All of them."""
        return float(sum(astuple(self)))

    def times(self, factor: float) -> Self:
        """Give the FLOPs of doing it so many times."""
        return type(self)(*(factor * part for part in astuple(self)))

    def plus(self, other: Self) -> Self:
        """Give the FLOPs of doing both."""
        parts = zip(astuple(self), astuple(other), strict=True)
        return type(self)(*(one + more for one, more in parts))


def forward_flops(config: ModelConfig, vocabulary: int, batch: BatchShape) -> Flops:
    """Count one forward pass over a batch, its loss included."""
    if config.kind == "recurrent":
        return _recurrent_flops(config, vocabulary, batch)
    source, target = batch.source_places, batch.target_places
    inner = config.num_heads * config.head_size
    matrix = 2 * config.d_model * inner  # W_Q or W_O, for one token
    shared = 2 * config.d_model * config.shared_heads * config.head_size  # W_K or W_V
    matrices = 3 if config.activation == "swiglu" else 2
    feed_forward = matrices * 2 * config.d_model * config.feed_forward_width
    attending = 2 * matrix + 2 * shared
    if config.reads_text:
        return _text_flops(config, vocabulary, batch, attending + feed_forward)
    encoder_layer = source * (attending + feed_forward)
    # Attention to the source makes its keys and values from the encoder's output.
    decoder_layer = (
        target * (attending + 2 * matrix + feed_forward) + source * 2 * shared
    )
    looks_back = True
    if config.kind == "ssru":  # two matrices instead of attention to the target
        looks_back = False
        decoder_layer += target * (2 * 2 * config.d_model**2 - attending)
    pair = 2 * 2 * inner  # a query with a key, and a weight with a value
    looks = batch.rows * pair
    return Flops(
        encoder=config.num_encoder_layers * encoder_layer,
        decoder=config.num_decoder_layers * decoder_layer,
        attention=looks
        * (
            config.num_encoder_layers * batch.source_length**2
            + looks_back * config.num_decoder_layers * batch.target_length**2
            + config.num_decoder_layers * batch.target_length * batch.source_length
        ),
        output=batch.target_tokens * 2 * config.d_model * vocabulary,
    )


def _recurrent_flops(config: ModelConfig, vocabulary: int, batch: BatchShape) -> Flops:
    source, target, d_model = batch.source_places, batch.target_places, config.d_model
    gates = NUM_GATES[config.cell]
    ways = 2 if config.bidirectional else 1
    width = d_model // ways
    matrix = 2 * d_model**2  # of an attention, for one token
    # From the words and from the state, for each gate.
    reading = ways * gates * 2 * (d_model * width + width**2)
    writing = gates * 2 * (d_model**2 + d_model**2)
    looking = {
        "none": 0.0,
        "dot": target * 2 * matrix,  # the context joined with the state
        "general": target * 3 * matrix,
        "additive": target * 3 * matrix + source * matrix,
    }[config.attention]
    looks = batch.rows * batch.target_length * batch.source_length
    return Flops(
        encoder=config.num_encoder_layers * source * reading,
        decoder=config.num_decoder_layers * target * writing + looking,
        attention=looks * 2 * 2 * d_model if config.attention != "none" else 0.0,
        output=batch.target_tokens * 2 * d_model * vocabulary,
    )


def _text_flops(
    config: ModelConfig, vocabulary: int, batch: BatchShape, layer: float
) -> Flops:
    """Count a single stack over running text, which stands on the target side."""
    writes = config.kind == "language_model"
    layers = config.num_decoder_layers if writes else config.num_encoder_layers
    stack = layers * batch.target_places * layer
    looks = batch.target_places * batch.target_length
    return Flops(
        encoder=0.0 if writes else stack,
        decoder=stack if writes else 0.0,
        attention=layers * looks * 2 * 2 * config.num_heads * config.head_size,
        output=batch.target_tokens * 2 * config.d_model * vocabulary,
    )


def training_flops(config: ModelConfig, vocabulary: int, batch: BatchShape) -> Flops:
    """Count forward and backward over a batch, without what is computed again."""
    return forward_flops(config, vocabulary, batch).times(PASSES)
