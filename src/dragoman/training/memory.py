"""What a training process holds in memory, part by part."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

from dragoman.config import Config
from dragoman.kernels.choice import kernels_now
from dragoman.kernels.matrix_product import ours_are_faster
from dragoman.model.activations import BYTES, activation_bytes
from dragoman.model.build import build_model
from dragoman.model.flops import BatchShape
from dragoman.model.network import TranslationNetwork
from dragoman.training.objective import passes
from dragoman.training.optimizer import Optimizer
from dragoman.training.output_projection import OutputProjection, PanelOutputProjection

TOKEN_BYTES = 8


@dataclass(frozen=True)
class Memory:
    """Bytes by what they hold, at the fullest moment of an update."""

    weights: float
    gradients: float
    optimizer: float
    activations: float  # what the backward pass needs of the forward pass
    loss: float  # a few logits at a time, and the gradients that the loss finds
    batch: float  # the tokens

    @property
    def total(self) -> float:
        """All of them."""
        return float(sum(getattr(self, field.name) for field in fields(self)))

    def parts(self) -> dict[str, float]:
        """Give each part by its name."""
        return asdict(self)


class _OnlyShapes(TorchFunctionMode):
    """Makes parameters, and what belongs to them, without numbers.

    A context of `torch.device("meta")` would do it too, but drawing or computing
    numbers there loads torch's compiler, which takes seconds.
    """

    def __torch_function__(
        self,
        function: Any,  # noqa: ANN401
        types: Any,  # noqa: ANN401
        args: Any = (),  # noqa: ANN401
        kwargs: Any = None,  # noqa: ANN401
    ) -> Any:  # noqa: ANN401
        named = kwargs or {}
        if function is torch.empty:
            named = named | {"device": "meta"}
        elif function is torch.zeros_like:
            return args[0]
        elif function.__name__ in ("normal_", "uniform_"):
            return args[0] if args else named["tensor"]
        return function(*args, **named)


def weightless(config: Config, vocabulary: int) -> TranslationNetwork:
    """Build a model that has shapes but holds no numbers, whatever its size."""
    target = None if config.tokenizer.shared_vocabulary else vocabulary
    with _OnlyShapes():
        return build_model(config.model, vocabulary, target)


def training_memory(
    model: TranslationNetwork, config: Config, batch: BatchShape
) -> Memory:
    """Count the bytes of learning from one batch of this shape."""
    vocabulary, once = len(model.output_weight), batch
    batch = once.repeated(passes(config.training))
    weights = _bytes(model.parameters())
    vectors = batch.target_tokens * config.model.d_model
    output = vocabulary * config.model.d_model
    with _OnlyShapes():
        optimizer = Optimizer(model, config.training)
    native = kernels_now() == "native"
    panels = native and ours_are_faster()
    projection = PanelOutputProjection if panels else OutputProjection
    logits = min(projection.rows_at_once, batch.target_tokens) * vocabulary
    laid_out = 2 * output if panels else 0
    # Beside the logits, plain R-Drop makes five more of their size.
    held = 6 if config.training.r_drop and not native else 1
    return Memory(
        weights=weights,
        gradients=weights,
        optimizer=_bytes(optimizer.state().values()),
        activations=activation_bytes(config.model, batch, native=native),
        # The rows that count and their gradient, the output weight's gradient, its
        # copies in panels, and what is made of the logits of some rows.
        loss=BYTES * (2 * vectors + output + laid_out + held * logits),
        batch=TOKEN_BYTES * (once.source_places + 2 * once.target_places),
    )


def _bytes(tensors: Iterable[Tensor]) -> int:
    return sum(tensor.numel() * tensor.element_size() for tensor in tensors)
