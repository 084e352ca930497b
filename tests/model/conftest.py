"""Every kind of model, small enough to be held to each law in milliseconds."""

import itertools
from collections.abc import Callable, Sequence

import pytest
import torch
from torch import Tensor, nn

from dragoman.config import ModelConfig, load_preset
from dragoman.model.build import build_model
from dragoman.model.transformer import Transformer
from dragoman.special_tokens import BEGIN, END, PAD

SOURCE_VOCABULARY = 13
TARGET_VOCABULARY = 11

KINDS = [
    pytest.param(kind, id="-".join(kind))
    for kind in itertools.product(
        ("post", "pre"),
        ("sinusoidal", "learned", "none"),
        ("tied", "untied"),
        ("shared", "separate"),
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
def unsettled() -> Callable[[nn.Module], nn.Module]:
    return unsettle


@pytest.fixture(scope="session")
def pad() -> Callable[..., Tensor]:
    return pad_rows


@pytest.fixture(scope="session")
def draw_targets() -> Callable[[int, int], Tensor]:
    return target_rows


@pytest.fixture(params=KINDS)
def model(request: pytest.FixtureRequest) -> Transformer:
    """A model of each kind, in double precision, with nothing left at its start."""
    norm, positions, tied, vocabularies = request.param
    settings = make_config(
        norm=norm, positions=positions, tie_embeddings=tied == "tied"
    )
    target = None if vocabularies == "shared" else TARGET_VOCABULARY
    built = build_model(settings, SOURCE_VOCABULARY, target).double().eval()
    unsettle(built)
    return built
