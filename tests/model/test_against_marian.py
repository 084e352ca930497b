"""The same weights in Hugging Face's MarianMTModel give the same numbers."""

import importlib
import os
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from dragoman.config import ModelConfig
from dragoman.model.build import build_transformer
from dragoman.model.positions import sinusoids
from dragoman.model.transformer import Transformer
from dragoman.model.weights import get_weights, set_weights
from dragoman.special_tokens import BEGIN, END, PAD

D_MODEL = 24
SOURCE = torch.tensor([[5, 6, 7, 8, END], [9, END, PAD, PAD, PAD], [4, 4, 4, END, PAD]])
TARGET_IN = torch.tensor([[BEGIN, 9, 10, 4], [BEGIN, 4, 5, 6], [BEGIN, 10, 10, 10]])

# Marian keeps all sines before all cosines, where the paper takes turns: its vectors
# are ours with their coordinates in another order.
ORDER = torch.arange(D_MODEL).view(2, -1).T.flatten()

MARIAN_NAMES = {
    "encoder.": "model.encoder.",
    "decoder.": "model.decoder.",
    "embed_source.tokens": "model.encoder.embed_tokens",
    "embed_target.tokens": "model.decoder.embed_tokens",
    "untied_output": "lm_head",
    ".self_attention.output": ".self_attn.out_proj",
    ".cross_attention.output": ".encoder_attn.out_proj",
    ".self_attention.projections": ".self_attn.{}_proj",
    ".cross_attention.projections": ".encoder_attn.{}_proj",
    "feed_forward.inner": "fc1",
    "feed_forward.outer": "fc2",
    "around_attention.norm": "self_attn_layer_norm",
    "around_self_attention.norm": "self_attn_layer_norm",
    "around_cross_attention.norm": "encoder_attn_layer_norm",
    "around_feed_forward.norm": "final_layer_norm",
}
READ_D_MODEL = (
    "projections.weight",
    "inner.weight",
    "tokens.weight",
    "untied_output.weight",
)
WRITE_ELSEWHERE = ("projections.bias", "inner.bias")


@pytest.fixture(scope="module")
def transformers() -> Iterator[Any]:
    """Import without a network; the package may be missing, but not in CI."""
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("HF_HUB_OFFLINE", "1")
        if os.environ.get("CI") == "true":
            yield importlib.import_module("transformers")
        else:
            reason = "transformers is not installed: pip install 'dragoman[dev]'"
            yield pytest.importorskip("transformers", reason=reason)


def marian_weight(name: str, state: dict[str, Tensor]) -> Tensor:
    """Give Marian's tensor for one of our parameters, in our order of coordinates."""
    theirs = name
    for ours, renamed in MARIAN_NAMES.items():
        theirs = theirs.replace(ours, renamed)
    parts = "qkv" if "{}" in theirs else [""]
    tensor = torch.cat([state[theirs.format(part)] for part in parts])
    if name.endswith(READ_D_MODEL):
        return tensor[:, ORDER]
    return tensor if name.endswith(WRITE_ELSEWHERE) else tensor[ORDER]


def build_marian(transformers: Any, shared: bool, tied: bool) -> Any:
    config = transformers.MarianConfig(
        vocab_size=13,
        decoder_vocab_size=13 if shared else 11,
        share_encoder_decoder_embeddings=shared,
        tie_word_embeddings=tied,
        d_model=D_MODEL,
        encoder_layers=2,
        decoder_layers=3,
        encoder_ffn_dim=40,
        decoder_ffn_dim=40,
        encoder_attention_heads=4,
        decoder_attention_heads=4,
        max_position_embeddings=32,
        activation_function="relu",
        scale_embedding=True,
        pad_token_id=PAD,
        bos_token_id=BEGIN,
        eos_token_id=END,
        forced_eos_token_id=None,
        decoder_start_token_id=BEGIN,
    )
    return transformers.MarianMTModel(config).eval()


@pytest.fixture(params=["tied-shared", "tied-separate", "untied-separate"])
def pair(
    request: pytest.FixtureRequest,
    transformers: Any,
    config: Callable[..., ModelConfig],
    unsettled: Callable[[nn.Module], nn.Module],
) -> tuple[Transformer, Any]:
    """Our model and Marian's, with the same weights."""
    tied, shared = "untied" not in request.param, "shared" in request.param
    marian = build_marian(transformers, shared, tied)
    unsettled(marian)
    settings = config(
        d_model=D_MODEL,
        d_ff=40,
        num_heads=4,
        num_decoder_layers=3,
        tie_embeddings=tied,
    )
    model = build_transformer(settings, 13, None if shared else 11).eval()
    state = marian.state_dict()
    weights = {name: marian_weight(name, state) for name in get_weights(model)}
    set_weights(model, weights)
    return model, marian


@torch.no_grad()
def marian_logits(marian: Any) -> Tensor:
    output = marian(
        input_ids=SOURCE,
        attention_mask=(SOURCE != PAD).long(),
        decoder_input_ids=TARGET_IN,
        use_cache=False,
    )
    logits: Tensor = output.logits
    return logits


@pytest.mark.parametrize(
    ("dtype", "tolerance"),
    [(torch.float32, 3e-5), (torch.float64, 1e-6)],  # Marian's sinusoids are single
    ids=["float32", "float64"],
)
def test_logits_are_equal(
    dtype: torch.dtype, tolerance: float, pair: tuple[Transformer, Any]
) -> None:
    model, marian = pair[0].to(dtype), pair[1].to(dtype)
    assert marian.final_logits_bias.eq(0).all()
    torch.testing.assert_close(
        model(SOURCE, TARGET_IN), marian_logits(marian), atol=tolerance, rtol=tolerance
    )


def test_cached_steps_are_equal(pair: tuple[Transformer, Any]) -> None:
    model, marian = pair
    expected = marian_logits(marian)
    state = model.start(model.encode(SOURCE))
    for position, tokens in enumerate(TARGET_IN.T):
        logits, state = model.step(tokens, state)
        torch.testing.assert_close(logits, expected[:, position], atol=3e-5, rtol=3e-5)


def test_sinusoids_are_equal_but_for_their_order(pair: tuple[Transformer, Any]) -> None:
    theirs = pair[1].get_parameter("model.encoder.embed_positions.weight")
    ours = sinusoids(len(theirs), D_MODEL).float()
    torch.testing.assert_close(ours, theirs[:, ORDER], atol=1e-6, rtol=0)
