"""A small model that keeps the contract, and other things the search is tried on."""

import copy
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Self

import pytest
import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor

from dragoman.config import load_preset
from dragoman.model.build import build_model
from dragoman.model.contract import TranslationModel
from dragoman.model.network import TranslationNetwork
from dragoman.special_tokens import BEGIN, END, PAD

Model = TranslationModel[Any, Any]


@dataclass(frozen=True)
class RecurrentState:
    source: Tensor
    hidden: Tensor

    def reorder(self, indices: Tensor) -> Self:
        return type(self)(self.source[indices], self.hidden[indices])


class RecurrentModel:
    """Random weights; each token depends on the source and on all tokens before it."""

    def __init__(self, vocabulary: int, seed: int, size: int = 8) -> None:
        random = torch.Generator().manual_seed(seed)

        def matrix(rows: int, columns: int) -> Tensor:
            return torch.randn(rows, columns, generator=random, dtype=torch.float64)

        self.embeddings = matrix(vocabulary, size)
        self.recurrence = matrix(size, size)
        self.output_weight = matrix(vocabulary, size)
        self.output_bias: Tensor | None = None

    def encode(self, source: Tensor) -> Tensor:
        words = (source != PAD).unsqueeze(-1)
        return (self.embeddings[source] * words).sum(dim=1)

    def start(self, memory: Tensor) -> RecurrentState:
        return RecurrentState(memory, torch.zeros_like(memory))

    def step(
        self, last_tokens: Tensor, state: RecurrentState
    ) -> tuple[Tensor, RecurrentState]:
        hidden = torch.tanh(
            state.hidden @ self.recurrence + self.embeddings[last_tokens] + state.source
        )
        return hidden @ self.output_weight.T, RecurrentState(state.source, hidden)

    def features(self, source: Tensor, target_in: Tensor) -> Tensor:
        state = self.start(self.encode(source))
        outputs = []
        for tokens in target_in.T:
            _, state = self.step(tokens, state)
            outputs.append(state.hidden)
        return torch.stack(outputs, dim=1)

    def forward(self, source: Tensor, target_in: Tensor) -> Tensor:
        return self.features(source, target_in) @ self.output_weight.T


@pytest.fixture(scope="session", autouse=True)
def one_thread() -> None:
    """Tensors this small are only slowed down by a second thread."""
    torch.set_num_threads(1)


@pytest.fixture(scope="session")
def recurrent() -> Callable[[int, int], Model]:
    """Build a random recurrent model from a vocabulary size and a seed."""

    def build(vocabulary: int, seed: int) -> Model:
        return RecurrentModel(vocabulary, seed)

    return build


class ConstantModel(RecurrentModel):
    """Says the same at every step, whatever the source; counts the rows it is given."""

    def __init__(self, logits: Tensor) -> None:
        self.logits = logits
        self.rows_seen: list[int] = []

    def encode(self, source: Tensor) -> Tensor:
        return source

    def start(self, memory: Tensor) -> RecurrentState:
        return RecurrentState(memory, memory)

    def step(
        self, last_tokens: Tensor, state: RecurrentState
    ) -> tuple[Tensor, RecurrentState]:
        assert len(last_tokens) == len(state.hidden)
        self.rows_seen.append(len(last_tokens))
        return self.logits.expand(len(last_tokens), -1), state


@pytest.fixture(scope="session")
def constant() -> Callable[[Tensor], ConstantModel]:
    """Build a model that always gives the same logits."""
    return ConstantModel


def half_trained(preset: str, **shape: object) -> TranslationNetwork:
    """Half-train a model to copy, so that its translations differ in length."""
    torch.manual_seed(1)
    shape = {"num_encoder_layers": 1, "num_decoder_layers": 1, "d_model": 32, **shape}
    config = load_preset(preset).with_settings(
        {"model.dropout": 0.0}
        | {f"model.{name}": value for name, value in shape.items()}
    )
    model = build_model(config.model, 16)
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for step in range(100):
        words = torch.randint(4, 16, (16, 1 + step % 8))
        source = torch.cat([words, torch.full((16, 1), END)], dim=1)
        target_in = torch.cat([torch.full((16, 1), BEGIN), words], dim=1)
        logits = model(source, target_in)
        loss = F.cross_entropy(logits.flatten(0, 1), source.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return model.eval()


@pytest.fixture(scope="session")
def transformer() -> TranslationNetwork:
    """The paper's Transformer, half-trained to copy."""
    return half_trained("tiny", d_ff=64, positions="sinusoidal")


VARIANTS: dict[str, dict[str, object]] = {
    "alibi": {"positions": "alibi"},
    "modern": {
        "positions": "rotary",
        "norm_kind": "rms",
        "activation": "swiglu",
        "num_kv_heads": 2,
    },
}
RECURRENT = ("lstm", "lstm-attention")


@pytest.fixture(scope="session", params=["float32", "float64", *VARIANTS, *RECURRENT])
def _trained(
    request: pytest.FixtureRequest, transformer: TranslationNetwork
) -> TranslationNetwork:
    if request.param in RECURRENT:
        return half_trained(request.param)
    if request.param in VARIANTS:
        return half_trained("tiny", d_ff=64, **VARIANTS[request.param])
    dtype: torch.dtype = getattr(torch, request.param)
    return copy.deepcopy(transformer).to(dtype)


@pytest.fixture
def trained(_trained: TranslationNetwork) -> TranslationNetwork:
    """A Transformer in single and in double precision, variants, recurrent models."""
    return copy.deepcopy(_trained)


@pytest.fixture(scope="session")
def pad() -> Callable[..., Tensor]:
    """Make a source tensor: END after each sentence, then PAD and some `extra` PAD."""

    def pad(sentences: Sequence[Sequence[int]], extra: int = 0) -> Tensor:
        length = max(map(len, sentences)) + 1 + extra
        rows = [
            [*sentence, END, *[PAD] * (length - len(sentence) - 1)]
            for sentence in sentences
        ]
        return torch.tensor(rows)

    return pad


@pytest.fixture(autouse=True)
def no_gradients() -> Iterator[None]:
    """Search as translators do."""
    with torch.inference_mode():
        yield
