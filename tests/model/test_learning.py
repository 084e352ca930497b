"""Every kind of model learns what a translator must be able to learn."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from dragoman.config import ModelConfig
from dragoman.model.build import build_model
from dragoman.model.network import TranslationNetwork
from dragoman.special_tokens import BEGIN, END, PAD
from dragoman.training.loss import translation_loss

VOCABULARY = 14
SHAPE = {
    "d_model": 48,
    "d_ff": 96,
    "num_heads": 4,
    "num_encoder_layers": 1,
    "num_decoder_layers": 1,
}


def learn(
    model: TranslationNetwork,
    draw: Callable[[], tuple[Tensor, Tensor]],
    *,
    steps: int,
    rate: float,
) -> float:
    """Train on source and target words; give the last loss per token."""
    optimizer = torch.optim.Adam(model.parameters(), lr=rate, betas=(0.9, 0.98))
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, rate, steps)
    loss_per_token = float("inf")
    for _ in range(steps):
        source, target_out = draw()
        begin = torch.full((len(source), 1), BEGIN)
        target_in = torch.cat([begin, target_out[:, :-1]], dim=1)
        features = model.features(source, target_in)
        loss = translation_loss(features, model.output_weight, target_out, 0.0)
        optimizer.zero_grad()
        (loss.smoothed / loss.tokens).backward()
        optimizer.step()
        schedule.step()
        loss_per_token = float(loss.plain) / loss.tokens
    return loss_per_token


@torch.inference_mode()
def translate(model: TranslationNetwork, source: Tensor, length: int) -> Tensor:
    """Choose the likeliest token `length` times."""
    state = model.start(model.encode(source))
    tokens = torch.full((len(source),), BEGIN)
    chosen = []
    for _ in range(length):
        logits, state = model.step(tokens, state)
        tokens = logits.argmax(dim=-1)
        chosen.append(tokens)
    return torch.stack(chosen, dim=1)


@pytest.mark.parametrize("norm", ["post", "pre"])
@pytest.mark.parametrize(
    ("positions", "tied", "target_vocabulary"),
    [("sinusoidal", True, None), ("learned", True, 12), ("none", False, None)],
)
def test_a_handful_of_pairs_is_learned_by_heart(
    norm: str,
    positions: str,
    tied: bool,
    target_vocabulary: int | None,
    config: Callable[..., ModelConfig],
    pad: Callable[..., Tensor],
) -> None:
    settings = config(norm=norm, positions=positions, tie_embeddings=tied, **SHAPE)
    model = build_model(settings, VOCABULARY, target_vocabulary)
    source = pad([[4, 5, 6], [7], [8, 9, 10, 11, 12], [13, 4]])
    target_out = pad([[9, 9], [10, 4, 5, 6], [7], [11, 10, 9, 8, 7, 6]])
    loss = learn(model, lambda: (source, target_out), steps=150, rate=1e-2)
    assert loss < 0.01
    said = translate(model, source, target_out.shape[1])
    assert torch.equal(said[target_out != PAD], target_out[target_out != PAD])


def test_every_variant_learns_a_handful_of_pairs_by_heart(
    variant: dict[str, object],
    config: Callable[..., ModelConfig],
    pad: Callable[..., Tensor],
) -> None:
    model = build_model(config(**SHAPE | variant | {"norm": "pre"}), VOCABULARY)
    source = pad([[4, 5, 6], [7], [8, 9, 10, 11, 12], [13, 4]])
    target_out = pad([[9, 9], [10, 4, 5, 6], [7], [11, 10, 9, 8, 7, 6]])
    loss = learn(model, lambda: (source, target_out), steps=150, rate=1e-2)
    assert loss < 0.05


@pytest.mark.parametrize("attention", ["none", "dot", "additive"])
@pytest.mark.parametrize("cell", ["elman", "gru", "lstm"])
def test_recurrent_models_learn_a_handful_of_pairs_by_heart(
    cell: str,
    attention: str,
    recurrent_config: Callable[..., ModelConfig],
    pad: Callable[..., Tensor],
) -> None:
    shape = {"d_model": 48, "num_encoder_layers": 1, "num_decoder_layers": 1}
    settings = recurrent_config(cell=cell, attention=attention, **shape)
    model = build_model(settings, VOCABULARY)
    source = pad([[4, 5, 6], [7], [8, 9, 10, 11, 12], [13, 4]])
    target_out = pad([[9, 9], [10, 4, 5, 6], [7], [11, 10, 9, 8, 7, 6]])
    loss = learn(model, lambda: (source, target_out), steps=150, rate=1e-2)
    assert loss < 0.02
    said = translate(model, source, target_out.shape[1])
    assert torch.equal(said[target_out != PAD], target_out[target_out != PAD])


@pytest.mark.parametrize("norm", ["post", "pre"])
@pytest.mark.parametrize(("task", "steps"), [("copy", 300), ("reverse", 500)])
def test_unseen_sequences_are_copied_and_reversed(
    norm: str, task: str, steps: int, config: Callable[..., ModelConfig]
) -> None:
    def draw(count: int, length: int) -> tuple[Tensor, Tensor]:
        words = torch.randint(4, VOCABULARY, (count, length))
        end = torch.full((count, 1), END)
        wanted = words.flip(1) if task == "reverse" else words
        return torch.cat([words, end], dim=1), torch.cat([wanted, end], dim=1)

    def draw_any_length() -> tuple[Tensor, Tensor]:
        return draw(64, int(torch.randint(2, 5, ())))

    model = build_model(config(norm=norm, **SHAPE), VOCABULARY)
    learn(model, draw_any_length, steps=steps, rate=1e-2)
    for length in range(2, 5):
        source, target_out = draw(500, length)
        said = translate(model, source, length + 1)
        assert float((said == target_out).all(dim=1).float().mean()) > 0.9
