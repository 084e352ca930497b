"""Changes to how a model computes, made from outside and taken back afterwards."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from typing import Any, Literal

from torch import Tensor, nn

from dragoman.arguments import nearest
from dragoman.errors import InspectionError
from dragoman.inspection.attention import PAPER, Kind, Recipe, ScoreEdit, attend
from dragoman.inspection.attention_modules import attention_modules
from dragoman.inspection.source_look import LOOK, changed_look
from dragoman.model.attention import (
    MultiHeadAttention,
    ScaledDotProductAttention,
    combined_mask,
)
from dragoman.model.embeddings import Embed
from dragoman.model.recurrent import RecurrentModel
from dragoman.model.relative_positions import Alibi, Rotary, Told

Part = Literal["scaling", "mask", "positions"]
PARTS: tuple[Part, ...] = ("scaling", "mask", "positions")


@dataclass(frozen=True)
class Ablation:
    """A head that gives nothing."""

    kind: Kind
    layer: int
    head: int


@dataclass(frozen=True)
class Temperature:
    """A head whose scores are divided by a number: above 1 it looks around more."""

    kind: Kind
    layer: int
    head: int
    temperature: float


@dataclass(frozen=True)
class Edit:
    """One score of a head, after scaling, set by hand."""

    kind: Kind
    layer: int
    head: int
    query: int
    key: int
    value: float


@dataclass(frozen=True)
class Without:
    """A model without √d_k, without masks, or without positions."""

    part: Part


Intervention = Ablation | Temperature | Edit | Without


def describe(intervention: Intervention) -> str:
    """Say in words what an intervention does; layers and heads count from 1 here."""
    match intervention:
        case Ablation(kind, layer, head):
            return f"without {_head(kind, layer, head)}"
        case Temperature(kind, layer, head, temperature):
            return f"temperature {temperature:g} in {_head(kind, layer, head)}"
        case Edit(kind, layer, head, query, key, value):
            place = f"({query + 1}, {key + 1})"
            return f"score {place} set to {value:g} in {_head(kind, layer, head)}"
        case Without(part):
            return f"without {part}"


def _head(kind: Kind, layer: int, head: int) -> str:
    return f"{kind} head {head + 1} of layer {layer + 1}"


def own_recipe(module: MultiHeadAttention) -> Recipe:
    """Say how an attention is computed if nobody intervenes."""
    return replace(PAPER, scaling=module.attention.scaling)


def recipe_for(
    interventions: Sequence[Intervention], kind: Kind, layer: int, own: Recipe = PAPER
) -> Recipe:
    """Put together how one attention, which has its own recipe, is to be computed."""
    recipe = own
    for intervention in interventions:
        match intervention:
            case Without("scaling"):
                recipe = replace(recipe, scaling=False)
            case Without("mask"):
                recipe = replace(recipe, masking=False)
            case Ablation(of, at, head) if (of, at) == (kind, layer):
                recipe = replace(recipe, ablated=recipe.ablated | {head})
            case Temperature(of, at, head, value) if (of, at) == (kind, layer):
                others = tuple(pair for pair in recipe.temperatures if pair[0] != head)
                recipe = replace(recipe, temperatures=(*others, (head, value)))
            case Edit(of, at, head, query, key, value) if (of, at) == (kind, layer):
                edit = ScoreEdit(head, query, key, value)
                recipe = replace(recipe, edits=(*recipe.edits, edit))
    return recipe


def depends_on_place(interventions: Sequence[Intervention]) -> bool:
    """Say whether cached steps would not do: they see neither place nor future."""
    return any(
        isinstance(intervention, Edit) or intervention == Without("mask")
        for intervention in interventions
    )


@contextmanager
def intervening(
    model: nn.Module, interventions: Sequence[Intervention]
) -> Iterator[None]:
    """Let the model compute differently inside the block, and as before after it."""
    with ExitStack() as hooks:
        for (kind, layer), module in attention_modules(model).items():
            own = own_recipe(module)
            recipe = recipe_for(interventions, kind, layer, own)
            if recipe != own:
                core = module.attention
                change = _changed(recipe, own)
                hooks.callback(core.register_forward_hook(change).remove)
        looking = recipe_for(interventions, "cross", 0, LOOK)
        hooks.enter_context(changed_look(model, looking))
        if Without("positions") in interventions:
            for part in model.modules():
                if isinstance(part, Embed):
                    handle = part.positions.register_forward_hook(_nothing)
                    hooks.callback(handle.remove)
                elif isinstance(part, Rotary | Alibi):
                    handle = part.register_forward_hook(_nothing_told)
                    hooks.callback(handle.remove)
        yield


def _changed(recipe: Recipe, own: Recipe) -> Any:  # noqa: ANN401
    """Make a hook that computes the heads a recipe touches by that recipe."""

    def change(
        module: ScaledDotProductAttention, inputs: tuple[Any, ...], output: Tensor
    ) -> Tensor:
        del module
        queries, keys, values, mask, causal = inputs
        allowed = combined_mask(queries, mask, causal)
        outputs = attend(queries, keys, values, allowed, recipe).outputs
        touched = _touched(recipe, own, queries.shape[1])
        # The other heads keep what the fused kernel gave them, to the last bit.
        changed = output.clone()
        changed[:, touched] = outputs[:, touched]
        return changed

    return change


def _touched(recipe: Recipe, own: Recipe, num_heads: int) -> list[int]:
    if (recipe.scaling, recipe.masking) != (own.scaling, own.masking):
        return list(range(num_heads))
    heads = set(recipe.ablated)
    heads.update(head for head, _ in recipe.temperatures)
    heads.update(edit.head for edit in recipe.edits)
    return sorted(heads)


def _nothing(module: nn.Module, inputs: tuple[Any, ...], output: Tensor) -> Tensor:
    del module, inputs
    return output * 0


def _nothing_told(module: nn.Module, inputs: tuple[Any, ...], output: Told) -> Told:
    del module, inputs, output
    return Told()


def refuse_recurrent(model: nn.Module) -> None:
    """Say in one line that a recurrent model has nothing of what heads are made of."""
    if not isinstance(model, RecurrentModel):
        return
    has = "a recurrent model has no heads, masks or positions"
    if model.attention is None:
        raise InspectionError(
            f"{has} (no attention at all): force a beginning or ask for attributions"
        )
    raise InspectionError(
        f"{has} (one look per word): set the temperature of that look, ('cross', 0, "
        "0), edit its scores, force a beginning or ask for attributions"
    )


def check_place(model: nn.Module, kind: str, layer: int, head: int) -> None:
    """Refuse a head, or a recurrent model's one look, that the model does not have."""
    looks = isinstance(model, RecurrentModel) and model.attention is not None
    if not looks or (kind, layer, head) != ("cross", 0, 0):
        check_head(model, kind, layer, head)


def check_head(model: nn.Module, kind: str, layer: int, head: int) -> None:
    """Refuse a head that the model does not have."""
    refuse_recurrent(model)
    modules = attention_modules(model)
    kinds = list(dict.fromkeys(of for of, _ in modules))
    if kind not in kinds:
        named = ", ".join(kinds) or "no attention at all"
        raise InspectionError(
            f"there is no attention of the kind {kind!r}{nearest(kind, kinds)}: this "
            f"model has {named}"
        )
    layers = sum(of == kind for of, _ in modules)
    if not 0 <= layer < layers:
        raise InspectionError(
            f"there is no layer {layer}: {kind} attention has {layers}, counted from 0"
        )
    heads = next(iter(modules.values())).num_heads
    if not 0 <= head < heads:
        raise InspectionError(
            f"there is no head {head}: each layer has {heads}, counted from 0"
        )
