"""One run of a model on known tokens, with all that happened inside.

The model knows nothing of this: hooks see what goes in and out of its parts, and what
it computes stays as it was.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import torch
import torch.nn.functional as F  # noqa: N812 (the name everyone knows)
from torch import Tensor, nn

from dragoman.inspection.attention import Attention, Kind
from dragoman.inspection.attention_modules import attention_modules, projections
from dragoman.inspection.interventions import (
    Intervention,
    intervening,
    own_recipe,
    recipe_for,
)
from dragoman.inspection.source_look import (
    LOOK,
    RecurrentLog,
    SourceLook,
    watched_look,
)
from dragoman.inspection.stacks import last_norm_of, layers_of, stacks
from dragoman.inspection.stream import Norm, Stack, Sublayer, SublayerName
from dragoman.inspection.watching import Seen, kept, watched
from dragoman.model.attention import combined_mask
from dragoman.model.evaluating import evaluating
from dragoman.model.layers import DecoderLayer, EncoderLayer, Residual
from dragoman.model.masks import may_attend, price_of
from dragoman.model.network import TranslationNetwork
from dragoman.model.norms import norm_kind
from dragoman.model.recurrent import RecurrentModel
from dragoman.model.ssru import SSRULayer

_SUBLAYERS: dict[type[nn.Module], tuple[tuple[SublayerName, str, str], ...]] = {
    EncoderLayer: (
        ("self-attention", "self_attention", "around_attention"),
        ("feed-forward", "feed_forward", "around_feed_forward"),
    ),
    DecoderLayer: (
        ("self-attention", "self_attention", "around_self_attention"),
        ("cross-attention", "cross_attention", "around_cross_attention"),
        ("feed-forward", "feed_forward", "around_feed_forward"),
    ),
    SSRULayer: (
        ("recurrence", "recurrence", "around_recurrence"),
        ("cross-attention", "cross_attention", "around_cross_attention"),
        ("feed-forward", "feed_forward", "around_feed_forward"),
    ),
}


@dataclass(frozen=True)
class Capture:
    """What was seen in one run; tensors are float32 on the CPU."""

    logits: Tensor  # (length, vocabulary), one row for each prediction
    attentions: dict[tuple[Kind, int], Attention] = field(repr=False)
    sublayers: tuple[Sublayer, ...] = field(repr=False)
    # What went into each side (length, d_model); None where a model has no such side.
    embedded_source: Tensor | None = field(repr=False)
    embedded_target: Tensor | None = field(repr=False)
    memory: Tensor | None = field(repr=False)  # the encoder's output
    look: SourceLook | None = field(default=None, repr=False)  # of a recurrent model

    def layers(self, kind: Kind) -> tuple[Attention, ...]:
        """Give every attention of one kind, first layer first."""
        return tuple(seen for (of, _), seen in self.attentions.items() if of == kind)

    def weights(self, kind: Kind) -> Tensor:
        """Give the weights (layer, head, query, key) of one kind."""
        if kind == "cross" and self.look is not None:
            return self.look.weights[None, None]  # one layer, one head
        layers = self.layers(kind)
        if not layers:
            return torch.zeros(0, 0, 0, 0)
        return torch.stack([layer.weights for layer in layers])


def capture(
    model: nn.Module,
    source: Sequence[int],
    target_in: Sequence[int],
    interventions: Sequence[Intervention] = (),
) -> Capture:
    """Run a model on one pair of token sequences and keep everything.

    `source` ends with END and `target_in` begins with BEGIN; a model that has but one
    side does not look at the other.
    """
    device = next(model.parameters()).device
    tokens = torch.tensor([source], device=device)
    targets = torch.tensor([target_in], device=device)
    with (
        torch.no_grad(),
        evaluating(model),
        intervening(model, interventions),
        watched(model) as seen,
        watched_look(model, recipe_for(interventions, "cross", 0, LOOK)) as log,
    ):
        logits = kept(model(tokens, targets))
    if isinstance(model, RecurrentModel):
        return _recurrent(model, logits, seen, log)
    sublayers = tuple(_sublayers(model, seen))
    attentions = {
        (kind, layer): _attention(kind, layer, model, seen, sublayers, interventions)
        for kind, layer in attention_modules(model)
    }
    return Capture(
        logits=logits,
        attentions=attentions,
        sublayers=sublayers,
        embedded_source=_embedded(model, "encoder", seen),
        embedded_target=_embedded(model, "decoder", seen),
        memory=_memory(model, seen),
    )


def _recurrent(
    model: RecurrentModel,
    logits: Tensor,
    seen: dict[nn.Module, Seen],
    log: RecurrentLog,
) -> Capture:
    return Capture(
        logits=logits,
        attentions={},
        sublayers=(),
        embedded_source=seen[model.embed_source].output,
        embedded_target=seen[model.embed_target].output,
        memory=log.memory[0],
        look=log.looks[0] if log.looks else None,
    )


def _embedded(
    model: nn.Module, stack: Stack, seen: dict[nn.Module, Seen]
) -> Tensor | None:
    found = stacks(model)
    return seen[found[stack][0]].output if stack in found else None


def _memory(model: nn.Module, seen: dict[nn.Module, Seen]) -> Tensor | None:
    found = stacks(model)
    return seen[found["encoder"][1]].output if "encoder" in found else None


def _sublayers(model: nn.Module, seen: dict[nn.Module, Seen]) -> Iterator[Sublayer]:
    for name, (embed, stack) in stacks(model).items():
        yield from _stack_sublayers(name, stack, seen[embed].output, seen)


def _stack_sublayers(
    name: Stack, stack: nn.Module, stream: Tensor, seen: dict[nn.Module, Seen]
) -> Iterator[Sublayer]:
    for number, layer in enumerate(layers_of(stack)):
        for sublayer, module, around in _SUBLAYERS[type(layer)]:
            residual = layer.get_submodule(around)
            assert isinstance(residual, Residual)
            norm = _norm(residual.norm, seen)
            written = seen[layer.get_submodule(module)].output
            if residual.pre_norm:
                read, after = norm.output, stream + written
            else:
                read, after = stream, norm.output
            yield Sublayer(name, number, sublayer, stream, read, written, after, norm)
            stream = after


def _norm(module: nn.Module, seen: dict[nn.Module, Seen]) -> Norm:
    came = seen[module].inputs[0]
    gamma, beta = torch.ones(came.shape[-1]), torch.zeros(came.shape[-1])
    weights = dict(module.named_parameters())
    return Norm(
        kind=norm_kind(module),
        input=came,
        output=seen[module].output,
        gamma=weights.get("weight", gamma).detach().to("cpu", torch.float32),
        beta=weights.get("bias", beta).detach().to("cpu", torch.float32),
        epsilon=float(getattr(module, "eps", 0.0)),
    )


def _attention(
    kind: Kind,
    layer: int,
    model: nn.Module,
    seen: dict[nn.Module, Seen],
    sublayers: Sequence[Sublayer],
    interventions: Sequence[Intervention],
) -> Attention:
    module = attention_modules(model)[kind, layer]
    stack = "encoder" if kind == "encoder" else "decoder"
    name = "cross-attention" if kind == "cross" else "self-attention"
    sublayer = next(
        s for s in sublayers if (s.stack, s.layer, s.name) == (stack, layer, name)
    )
    queries, keys, values, mask, causal = seen[module.attention].inputs
    allowed = combined_mask(queries, mask, causal)
    shape = (queries.shape[-2], keys.shape[-2])
    if allowed is None:
        allowed = torch.ones(shape, dtype=torch.bool)
    bias, allowed = price_of(allowed), may_attend(allowed)
    if bias is not None:
        allowed = allowed[0]  # alike for all heads
    attended = sublayer.read
    if kind == "cross":
        memory = _memory(model, seen)
        assert memory is not None
        attended = memory
    return Attention(
        kind=kind,
        layer=layer,
        read=sublayer.read,
        attended=attended,
        queries=queries,
        keys=keys,
        values=values,
        mask=allowed.expand(1, *shape)[0],
        heads=seen[module.attention].output,
        written=sublayer.written,
        projections=projections(module),
        recipe=recipe_for(interventions, kind, layer, own_recipe(module)),
        bias=bias,
    )


def project(model: TranslationNetwork, stream: Tensor) -> Tensor:
    """Give the logits that a stream (…, d_model) means if the model ends here."""
    *_, (_, stack) = stacks(model).values()
    norm = last_norm_of(stack)
    with torch.no_grad(), evaluating(model):
        on_device = stream.to(model.output_weight)
        logits = F.linear(norm(on_device), model.output_weight, model.output_bias)
        return logits.to("cpu", torch.float32)
