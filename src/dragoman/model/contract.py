"""What every sequence-to-sequence model offers; search knows nothing else.

`encode` reads the source once, `start` makes the decoder's state before the first
token, `step` predicts the next token, and `state.reorder` follows the search when it
keeps some rows and drops others. `forward` is the same computation, all positions at
once. That much is a `Predictor`, and all that a search needs. `features` is what
`forward` has before the output projection, so that a loss need not hold all logits.
"""

from typing import Generic, Protocol, Self, TypeVar, runtime_checkable

from torch import Tensor


class DecoderState(Protocol):
    """What the decoder remembers between two steps, one row per hypothesis."""

    def reorder(self, indices: Tensor) -> Self:
        """Keep the rows named by `indices`, in that order; a row may be repeated."""
        ...


Memory = TypeVar("Memory")
State = TypeVar("State", bound=DecoderState)


class Predictor(Protocol, Generic[Memory, State]):
    """Whatever predicts target tokens from source tokens: what a search works with.

    `source` is (batch, source_length), padded with PAD and ended by END in each row;
    `target_in` is (batch, target_length), begun by BEGIN. Masks are the model's own
    affair.
    """

    def encode(self, source: Tensor) -> Memory:
        """Read the source sentences."""
        ...

    def start(self, memory: Memory) -> State:
        """Make the decoder's state before the first token."""
        ...

    def step(self, last_tokens: Tensor, state: State) -> tuple[Tensor, State]:
        """Give logits (batch, vocabulary) after `last_tokens`, and the state."""
        ...

    def forward(self, source: Tensor, target_in: Tensor) -> Tensor:
        """Give logits (batch, target_length, vocabulary) for known targets."""
        ...


@runtime_checkable
class ReadsSourcesOnce(Protocol):
    """A predictor that reads a source once for all targets it is asked about."""

    def forward_each(
        self, source: Tensor, sentences: Tensor, target_in: Tensor
    ) -> Tensor:
        """Do as `forward` for targets; `sentences` (batch,) says of which source."""
        ...


class TranslationModel(Predictor[Memory, State], Protocol):
    """A predictor that can be trained."""

    def features(self, source: Tensor, target_in: Tensor) -> Tensor:
        """Give the decoder's output (batch, target_length, d_model), unprojected."""
        ...

    @property
    def output_weight(self) -> Tensor:
        """The output projection (vocabulary, d_model)."""
        ...

    @property
    def output_bias(self) -> Tensor | None:
        """What is added to the logits (vocabulary,), where anything is."""
        ...


class NarrowableModel(TranslationModel[Memory, State], Protocol):
    """A translation model whose output layer can be had apart, and made narrower."""

    def advance(self, last_tokens: Tensor, state: State) -> tuple[Tensor, State]:
        """Give what `step` projects, (batch, d_model), and the state."""
        ...
