"""Translators small enough to be looked at in milliseconds."""

import itertools
from pathlib import Path

import pytest
import torch

from dragoman.inspection.inspection import Inspection, look
from dragoman.model_folder import SavedModel, build_for
from dragoman.setting_rules import CHOICES
from dragoman.translator import Translator

SOURCE, TARGET = "Where is the train station?", "¿Dónde está la estación?"
KINDS: list[tuple[str, ...]] = list(
    itertools.product(
        ("transformer",), CHOICES["model.norm"], CHOICES["model.positions"]
    )
)

VARIANTS: dict[str, dict[str, object]] = {
    "paper": {},
    "grouped": {"model.num_heads": 2, "model.num_kv_heads": 1},
    "rms": {"model.norm_kind": "rms", "model.activation": "swiglu"},
    "batch": {"model.norm_kind": "batch", "model.activation": "gelu"},
    "no-norm": {"model.norm_kind": "none"},
    "unscaled": {"model.attention_scale": False},
}
KINDS += [
    ("transformer", ("post", "pre")[number % 2], "rotary", variant)
    for number, variant in enumerate(VARIANTS)
    if variant != "paper"
]


@pytest.fixture(scope="session")
def toy(model_folder: Path) -> Translator:
    """A translator of one layer that has learned a little; leave it as it is."""
    return Translator.load(model_folder, "cpu")


def make_translator(
    toy: Translator, kind: str, norm: str, positions: str, variant: str = "paper"
) -> Translator:
    """Make a translator of two and three layers that knows nothing, and not evenly."""
    config = toy.config.with_settings(
        {
            "model.kind": kind,
            "model.norm": norm,
            "model.positions": positions,
            "model.num_encoder_layers": 2,
            "model.num_decoder_layers": 3,
            "model.dropout": 0.3,
            "decoding.max_extra_tokens": 4,
            **VARIANTS[variant],
        }
    )
    torch.manual_seed(3)
    model = build_for(config, toy.tokenizers).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.1 * torch.randn_like(parameter))
    return Translator(SavedModel(model, toy.tokenizers, config, ("en", "es")), "cpu")


@pytest.fixture(scope="session", params=KINDS, ids="-".join)
def translator(request: pytest.FixtureRequest, toy: Translator) -> Translator:
    """A translator of every kind of Transformer there is."""
    return make_translator(toy, *request.param)


@pytest.fixture(scope="session")
def deep(toy: Translator) -> Translator:
    """A translator of the paper's kind, two and three layers deep."""
    return make_translator(toy, "transformer", "post", "sinusoidal")


@pytest.fixture(scope="session")
def seen(deep: Translator) -> Inspection:
    """A sentence and a given translation of it, inspected."""
    tokenizers = deep.tokenizers
    return look(
        deep, tokenizers.source.encode(SOURCE), tokenizers.target.encode(TARGET)
    )
