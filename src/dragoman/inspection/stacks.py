"""The stacks of layers that a model is made of, whichever of them it has."""

from torch import nn

from dragoman.inspection.stream import Stack
from dragoman.model.decoder_only import DecoderOnly
from dragoman.model.embeddings import Embed
from dragoman.model.encoder_only import EncoderOnly
from dragoman.model.transformer import Transformer


def stacks(model: nn.Module) -> dict[Stack, tuple[Embed, nn.Module]]:
    """Give what embeds for each stack, and the stack; that which predicts comes last.

    A model without layers of attention has none.
    """
    match model:
        case Transformer():
            return {
                "encoder": (model.embed_source, model.encoder),
                "decoder": (model.embed_target, model.decoder),
            }
        case DecoderOnly():
            return {"decoder": (model.embed_target, model.decoder)}
        case EncoderOnly():
            return {"encoder": (model.embed_source, model.encoder)}
        case _:
            return {}


def layers_of(stack: nn.Module) -> list[nn.Module]:
    """Give the layers of a stack, first layer first."""
    return list(stack.get_submodule("layers").children())


def last_norm_of(stack: nn.Module) -> nn.Module:
    """Give the norm after the last layer: one that does nothing where there is none."""
    return stack.get_submodule("norm")
