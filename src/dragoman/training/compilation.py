"""Layers translated into machine code of their own by torch.compile."""

from contextlib import AbstractContextManager

import torch

from dragoman.model.network import TranslationNetwork
from dragoman.model.transformer import Transformer


def compile_layers(model: TranslationNetwork) -> None:
    """Compile each layer in its place: names, weights and the search stay as they are.

    Layer by layer, because all layers of a stack share one translation, and the search
    and the loss, which depend on the data, would have to be left out anyway.
    """
    assert isinstance(model, Transformer), "the settings refuse to compile others"
    for layer in (*model.encoder.layers, *model.decoder.layers):
        layer.compile(dynamic=True)


def uncompiled() -> AbstractContextManager[object]:
    """Run layers as written: a search changes its shapes at every step."""
    stance: AbstractContextManager[object] = torch.compiler.set_stance("force_eager")
    return stance
