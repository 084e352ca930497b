"""Translators small enough to be looked at in milliseconds."""

import itertools
from pathlib import Path

import pytest
import torch
from tests.conftest import SMALL, ToyCorpus

from dragoman.config import Config
from dragoman.inspection.inspection import Inspection, look
from dragoman.language_models.language_model import LanguageModel
from dragoman.language_models.masked_language_model import MaskedLanguageModel
from dragoman.model_folder import SavedModel, build_for
from dragoman.setting_rules import CHOICES
from dragoman.text.tokenizer_pair import TokenizerPair
from dragoman.training.train import train
from dragoman.translator import Translator

Reader = LanguageModel | MaskedLanguageModel
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
    return Translator(unlearned(toy.tokenizers, config), "cpu")


def unlearned(tokenizers: TokenizerPair, config: Config) -> SavedModel:
    """Build a model that knows nothing, and not evenly."""
    torch.manual_seed(3)
    model = build_for(config, tokenizers).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.1 * torch.randn_like(parameter))
    return SavedModel(model, tokenizers, config, ("en", "es"))


@pytest.fixture(scope="session")
def text_folder(corpus: ToyCorpus, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A masked language model that has hardly learned; tests must leave it as it is."""
    folder = tmp_path_factory.mktemp("text") / "mlm"
    settings = {
        **SMALL,
        "model.positions": "sinusoidal",
        "model.window": 24,
        "training.average_last": 1,
    }
    train(
        folder,
        task="mlm",
        text=corpus.train_source,
        preset="tiny",
        steps=2,
        settings=settings,
        quiet=True,
    )
    return folder


def make_reader(folder: Path, kind: str, settings: dict[str, object]) -> Reader:
    """Make a language model of either kind, two and three layers deep."""
    masked = MaskedLanguageModel.load(folder, "cpu")
    layers = {"model.num_encoder_layers": 2, "model.num_decoder_layers": 3}
    config = masked.config.with_settings(
        {"model.kind": kind, "model.dropout": 0.3, **layers, **settings}
    )
    saved = unlearned(masked.saved.tokenizers, config)
    return (
        LanguageModel(saved) if kind == "language_model" else MaskedLanguageModel(saved)
    )


@pytest.fixture(scope="session")
def language_model(text_folder: Path) -> LanguageModel:
    """A decoder alone, of the paper's kind, three layers deep."""
    reader = make_reader(text_folder, "language_model", {})
    assert isinstance(reader, LanguageModel)
    return reader


@pytest.fixture(scope="session")
def masked_language_model(text_folder: Path) -> MaskedLanguageModel:
    """An encoder alone, of the paper's kind, two layers deep."""
    reader = make_reader(text_folder, "masked_language_model", {})
    assert isinstance(reader, MaskedLanguageModel)
    return reader


TEXT_KINDS = [
    (kind, {"model.norm": norm, "model.positions": positions, **VARIANTS[variant]})
    for kind in ("language_model", "masked_language_model")
    for norm, positions, variant in (
        ("post", "sinusoidal", "paper"),
        ("pre", "rotary", "rms"),
        ("post", "alibi", "grouped"),
        ("pre", "learned", "unscaled"),
    )
]


@pytest.fixture(
    scope="session",
    params=TEXT_KINDS,
    ids=lambda p: f"{p[0]}-{p[1]['model.positions']}",
)
def reader(request: pytest.FixtureRequest, text_folder: Path) -> Reader:
    """A language model of either kind in some variants."""
    return make_reader(text_folder, *request.param)


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


@pytest.fixture(scope="session")
def rotary(toy: Translator) -> Translator:
    return make_translator(toy, "transformer", "pre", "rotary")
