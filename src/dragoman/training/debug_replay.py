"""Runs a kept batch again and finds where the numbers stop being numbers."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from dragoman.config import Config
from dragoman.data.batching import Batch
from dragoman.errors import TokenizerError, TrainingError
from dragoman.kernels.choice import kernels_named
from dragoman.model.network import TranslationNetwork
from dragoman.model.weights import set_weights
from dragoman.model_folder import build_for
from dragoman.special_tokens import PAD
from dragoman.text.tokenizer import Tokenizer
from dragoman.text.tokenizer_pair import TokenizerPair
from dragoman.training.debug_batch import DebugBatch
from dragoman.training.dropout_growth import DropoutGrowth
from dragoman.training.loss import translation_loss
from dragoman.training.objective import Objective
from dragoman.training.randomness import take_up
from dragoman.training.run_record import read_record


@dataclass(frozen=True)
class Row:
    """A sentence pair of the batch, and its loss per target token."""

    source: str
    target: str
    loss: float


@dataclass(frozen=True)
class Replay:
    """What running a kept batch again has shown; each list in the order of events."""

    step: int
    loss: float
    rows: tuple[Row, ...]
    bad_weights: tuple[str, ...]
    bad_layers: tuple[str, ...]
    bad_gradients: tuple[str, ...]
    largest: tuple[tuple[str, float], ...]  # the greatest number of each layer's output

    def table(self) -> str:
        """Lay it out for a person."""
        lines = [f"update {self.step:,}: {len(self.rows)} sentence pairs"]
        lines += [
            f"  {row.loss:9.3f}  {row.source} → {row.target}" for row in self.rows
        ]
        lines.append(f"loss per token: {self.loss:.4f}")
        lines += [
            _first("weight that is not finite", self.bad_weights),
            _first("layer whose output is not finite", self.bad_layers),
            _first("parameter whose gradient is not finite", self.bad_gradients),
        ]
        name, size = max(self.largest, key=lambda layer: layer[1])
        lines.append(
            f"greatest finite number in the forward pass: {size:.3g} in {name}"
        )
        if not (self.bad_weights or self.bad_layers or self.bad_gradients):
            lines.append(
                "everything is finite here: what went wrong came from elsewhere, such "
                "as the machine, or another number of threads or processes"
            )
        return "\n".join(lines)


def _first(what: str, names: tuple[str, ...]) -> str:
    if not names:
        return f"no {what}"
    more = f" (and {len(names) - 1} after it)" if len(names) > 1 else ""
    return f"first {what}: {names[0]}{more}"


def replay(folder: Path, file: Path) -> Replay:
    """Run a batch that a run in this folder kept, just as it ran then."""
    kept = DebugBatch.read(file)
    config, tokenizers = _run_of(folder)
    model = build_for(config, tokenizers).train()
    try:
        set_weights(model, kept.weights)
    except ValueError as error:
        raise TrainingError(
            f"{file} was not kept by the run in {folder} ({error}): give the model "
            "folder that it lies in"
        ) from error
    DropoutGrowth(model, config.training.dropout_growth).set(kept.progress)
    torch.set_num_threads(kept.threads)
    take_up(kept.random_state)
    finding = _Finding()
    with kernels_named(kept.kernels), finding.watch(model):
        rows, loss = _run(model, kept, config, tokenizers)
    return Replay(
        step=kept.step,
        loss=loss,
        rows=tuple(rows),
        bad_weights=tuple(n for n, w in kept.weights.items() if not _finite(w)),
        bad_layers=tuple(finding.layers),
        bad_gradients=tuple(finding.gradients),
        largest=tuple(finding.largest.items()),
    )


def _run_of(folder: Path) -> tuple[Config, TokenizerPair]:
    record = read_record(folder)
    if record is None:
        raise TrainingError(
            f"{folder} holds no training run: give the folder of the run that kept the "
            "batch"
        )
    try:
        return record.config, TokenizerPair.load(folder / "prepared")
    except TokenizerError as error:
        raise TrainingError(f"{folder} lacks its prepared corpus: {error}") from error


def _run(
    model: TranslationNetwork,
    kept: DebugBatch,
    config: Config,
    tokenizers: TokenizerPair,
) -> tuple[list[Row], float]:
    """Run forward and backward; give each pair with its loss, and the loss of all."""
    objective = Objective(model, config.training)
    tokens = sum(part.num_target_tokens for part in kept.parts)
    total = 0.0
    rows: list[Row] = []
    for part in kept.parts:
        features = objective.features(part, kept.progress)
        loss = objective.loss(features, part, kept.progress)
        (loss.smoothed / tokens).backward()
        total += float(loss.smoothed.detach())
        # R-Drop has each pair twice: the first pass stands for both.
        once = features.detach()[: part.num_pairs]
        rows += _rows(part, once, model, tokenizers)
    return rows, total / tokens


def _rows(
    part: Batch,
    features: Tensor,
    model: TranslationNetwork,
    tokenizers: TokenizerPair,
) -> Iterator[Row]:
    weight, bias = model.output_weight, model.output_bias
    for k in range(part.num_pairs):
        pair = slice(k, k + 1)
        with torch.no_grad():
            target_out = part.target_out[pair]
            loss = translation_loss(features[pair], weight, target_out, 0.0, bias)
        yield Row(
            _text(tokenizers.source, part.source[k]),
            _text(tokenizers.target, part.target_out[k]),
            float(loss.plain) / max(1, loss.tokens),
        )


def _text(tokenizer: Tokenizer, row: Tensor) -> str:
    tokens = row[row != PAD].tolist()[:-1]  # END comes last
    return tokenizer.decode(tokens)


def _finite(tensor: Tensor) -> bool:
    return bool(tensor.isfinite().all())


@dataclass
class _Finding:
    """What hooks see while a batch runs."""

    layers: list[str] = field(default_factory=list)
    gradients: list[str] = field(default_factory=list)
    largest: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def watch(self, model: nn.Module) -> Iterator[None]:
        """Look at the output of each layer and the gradient of each parameter."""
        with ExitStack() as hooks:
            for name, module in model.named_modules():
                if not any(True for _ in module.children()):
                    handle = module.register_forward_hook(self._see_output(name))
                    hooks.callback(handle.remove)
            for name, parameter in model.named_parameters():
                handle = parameter.register_hook(self._see_gradient(name))
                hooks.callback(handle.remove)
            yield

    def _see_output(self, name: str) -> Any:  # noqa: ANN401 (a hook of torch's)
        def see(_module: nn.Module, _inputs: Any, output: Any) -> None:  # noqa: ANN401
            if not isinstance(output, Tensor) or not output.is_floating_point():
                return
            if not _finite(output) and name not in self.layers:
                self.layers.append(name)
            finite = output.detach()[output.isfinite()]
            size = float(finite.abs().max()) if finite.numel() else 0.0
            self.largest[name] = max(size, self.largest.get(name, 0.0))

        return see

    def _see_gradient(self, name: str) -> Any:  # noqa: ANN401 (a hook of torch's)
        def see(gradient: Tensor) -> None:
            if not _finite(gradient) and name not in self.gradients:
                self.gradients.append(name)

        return see
