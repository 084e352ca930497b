"""Every kind of model, small enough to be held to each law in milliseconds."""

import itertools
from collections.abc import Callable, Sequence

import pytest
import torch
from torch import Tensor, nn

from dragoman.config import ModelConfig, load_preset
from dragoman.model.build import build_model
from dragoman.model.network import TranslationNetwork
from dragoman.special_tokens import BEGIN, END, PAD

SOURCE_VOCABULARY = 13
TARGET_VOCABULARY = 11

Kind = tuple[dict[str, object], str]  # settings, and whether vocabularies are shared
KINDS = [
    pytest.param(
        (
            {"norm": norm, "positions": positions, "tie_embeddings": tied == "tied"},
            vocabularies,
        ),
        id=f"{norm}-{positions}-{tied}-{vocabularies}",
    )
    for norm, positions, tied, vocabularies in itertools.product(
        ("post", "pre"),
        ("sinusoidal", "learned", "none"),
        ("tied", "untied"),
        ("shared", "separate"),
    )
]
VARIANTS: dict[str, dict[str, object]] = {
    "rotary": {"positions": "rotary"},
    "alibi": {"positions": "alibi", "norm": "pre"},
    "rms": {"norm_kind": "rms"},
    "batch": {"norm_kind": "batch"},
    "no-norm": {"norm_kind": "none", "norm": "pre"},
    "gelu": {"activation": "gelu"},
    "swiglu": {"activation": "swiglu", "norm": "pre"},
    "grouped": {"num_heads": 4, "num_kv_heads": 2},
    "unscaled": {"attention_scale": False},
    "swish": {"activation": "swish", "output_bias": True},
    "quick-gelu": {"activation": "quick_gelu", "last_norm": True},
    "embedding-norm": {"embedding_norm": True, "norm_epsilon": 1e-6},
    "unended": {"source_end": False, "norm": "pre"},
    "output-bias": {"output_bias": True, "tie_embeddings": False},
    "deep-shallow": {"num_encoder_layers": 3, "num_decoder_layers": 1},
    "modern": {
        "norm": "pre",
        "norm_kind": "rms",
        "activation": "swiglu",
        "positions": "rotary",
        "num_heads": 4,
        "num_kv_heads": 1,
    },
}
KINDS += [
    pytest.param((settings, "shared"), id=name) for name, settings in VARIANTS.items()
]

RECURRENT_KINDS = [
    pytest.param(
        (
            {
                "cell": cell,
                "bidirectional": ways == "both-ways",
                "attention": attention,
                "tie_embeddings": tied == "tied",
            },
            vocabularies,
        ),
        id="-".join((cell, ways, attention, tied, vocabularies)),
    )
    for cell, ways, attention, tied, vocabularies in (
        ("elman", "both-ways", "none", "tied", "shared"),
        ("elman", "one-way", "dot", "untied", "separate"),
        ("gru", "one-way", "none", "tied", "separate"),
        ("gru", "both-ways", "additive", "tied", "shared"),
        ("lstm", "both-ways", "none", "untied", "shared"),
        ("lstm", "one-way", "general", "tied", "shared"),
        ("lstm", "both-ways", "dot", "tied", "separate"),
    )
]

SSRU_KINDS = [
    pytest.param(({"kind": "ssru"} | settings, vocabularies), id=f"ssru-{name}")
    for name, settings, vocabularies in (
        ("post", {"output_bias": True}, "shared"),
        ("pre", {"norm": "pre", "positions": "learned"}, "separate"),
        ("grouped", {"num_kv_heads": 1, "norm_kind": "rms"}, "shared"),
    )
]


@pytest.fixture(scope="session", autouse=True)
def one_thread() -> None:
    """Tensors this small are only slowed down by a second thread."""
    torch.set_num_threads(1)


@pytest.fixture(autouse=True)
def seeded() -> None:
    torch.manual_seed(1)


def make_config(**changes: object) -> ModelConfig:
    """Give a tiny shape without dropout, with some settings of the model changed."""
    settings: dict[str, object] = {
        "d_model": 8,
        "d_ff": 12,
        "num_heads": 2,
        "num_encoder_layers": 2,
        "num_decoder_layers": 2,
        "dropout": 0.0,
        "max_positions": 64,
    }
    settings |= changes
    short = {"data.max_tokens": 8, "decoding.max_extra_tokens": 4}
    named = {f"model.{key}": value for key, value in settings.items()}
    return load_preset("base").with_settings(short | named).model


def make_recurrent_config(**changes: object) -> ModelConfig:
    """Give a tiny recurrent shape without dropout, with some settings changed."""
    settings: dict[str, object] = {
        "d_model": 8,
        "num_encoder_layers": 2,
        "num_decoder_layers": 2,
        "dropout": 0.0,
    }
    named = {f"model.{key}": value for key, value in (settings | changes).items()}
    return load_preset("lstm").with_settings(named).model


@torch.no_grad()
def unsettle(module: nn.Module) -> nn.Module:
    """Move all that can learn off its start, so that no bias is 0 and no gain is 1."""
    for parameter in module.parameters():
        if parameter.requires_grad:
            parameter.add_(0.3 * torch.randn_like(parameter))
    return module


def pad_rows(rows: Sequence[Sequence[int]], extra: int = 0) -> Tensor:
    """Put sentences into one tensor, with END where each is over and PAD behind."""
    length = max(map(len, rows)) + 1 + extra
    padded = [[*row, END, *[PAD] * (length - len(row) - 1)] for row in rows]
    return torch.tensor(padded)


def target_rows(batch: int, length: int) -> Tensor:
    """Draw targets that begin with BEGIN and go on with words."""
    words = torch.randint(4, TARGET_VOCABULARY, (batch, length - 1))
    return torch.cat([torch.full((batch, 1), BEGIN), words], dim=1)


@pytest.fixture(scope="session")
def config() -> Callable[..., ModelConfig]:
    return make_config


@pytest.fixture(scope="session")
def recurrent_config() -> Callable[..., ModelConfig]:
    return make_recurrent_config


@pytest.fixture(scope="session")
def unsettled() -> Callable[[nn.Module], nn.Module]:
    return unsettle


@pytest.fixture(scope="session")
def pad() -> Callable[..., Tensor]:
    return pad_rows


@pytest.fixture(scope="session")
def draw_targets() -> Callable[[int, int], Tensor]:
    return target_rows


@pytest.fixture(params=KINDS)
def transformer(request: pytest.FixtureRequest) -> TranslationNetwork:
    """A Transformer of each kind, in double precision, nothing left at its start."""
    return build_kind(request.param)


@pytest.fixture(params=KINDS + SSRU_KINDS + RECURRENT_KINDS)
def model(request: pytest.FixtureRequest) -> TranslationNetwork:
    """A model of each kind, in double precision, with nothing left at its start."""
    return build_kind(request.param)


def build_kind(kind: tuple[dict[str, object], str]) -> TranslationNetwork:
    """Build a model from what its kind changes, and from its vocabularies."""
    settings, vocabularies = kind
    recurrent = "cell" in settings
    made = make_recurrent_config(**settings) if recurrent else make_config(**settings)
    target = None if vocabularies == "shared" else TARGET_VOCABULARY
    built = build_model(made, SOURCE_VOCABULARY, target).double()
    unsettle(built)
    with torch.no_grad():  # so that running statistics leave their start as well
        built.train()(pad_rows([[5, 6, 7], [8, 9]]), target_rows(2, 4))
    return built.eval()


@pytest.fixture(params=VARIANTS.values(), ids=list(VARIANTS))
def variant(request: pytest.FixtureRequest) -> dict[str, object]:
    """Settings of each named variant of the paper's model."""
    settings: dict[str, object] = request.param
    return settings
