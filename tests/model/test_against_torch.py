"""The same weights in torch's own Transformer give the same numbers."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from dragoman.config import ModelConfig
from dragoman.model.build import build_transformer
from dragoman.model.masks import causal_mask
from dragoman.model.transformer import Transformer
from dragoman.model.weights import get_weights
from dragoman.special_tokens import BEGIN, END, PAD

SOURCE = torch.tensor([[5, 6, 7, 8, END], [9, END, PAD, PAD, PAD], [4, 4, 4, END, PAD]])
TARGET_IN = torch.tensor(
    [[BEGIN, 9, 10, 4, 5], [BEGIN, 4, 5, PAD, PAD], [BEGIN, 8, PAD, PAD, PAD]]
)
WORDS = TARGET_IN != PAD
SHAPE = {"d_model": 24, "d_ff": 40, "num_heads": 4, "num_decoder_layers": 3}

TOLERANCE = {torch.float32: 2e-5, torch.float64: 1e-11}

TORCH_NAMES = {
    "self_attention.projections.": "self_attn.in_proj_",
    "self_attention.output": "self_attn.out_proj",
    "cross_attention.projections.": "multihead_attn.in_proj_",
    "cross_attention.output": "multihead_attn.out_proj",
    "feed_forward.inner": "linear1",
    "feed_forward.outer": "linear2",
    "around_attention.norm": "norm1",
    "around_self_attention.norm": "norm1",
    "around_cross_attention.norm": "norm2",
}
LAST_NORM = {"encoder": "norm2", "decoder": "norm3"}

pytestmark = [
    pytest.mark.parametrize("norm", ["post", "pre"]),
    pytest.mark.parametrize("dtype", TOLERANCE, ids=str),
]


def build_twin(config: ModelConfig) -> nn.Transformer:
    """Build torch's stacks; like the paper's, post-norm ones end without a norm."""
    pre_norm = config.norm == "pre"
    sizes = (config.d_model, config.num_heads, config.d_ff, 0.0)
    encoder = nn.TransformerEncoder(
        nn.TransformerEncoderLayer(*sizes, norm_first=pre_norm, batch_first=True),
        config.num_encoder_layers,
        nn.LayerNorm(config.d_model) if pre_norm else None,
        enable_nested_tensor=False,
    )
    decoder = nn.TransformerDecoder(
        nn.TransformerDecoderLayer(*sizes, norm_first=pre_norm, batch_first=True),
        config.num_decoder_layers,
        nn.LayerNorm(config.d_model) if pre_norm else None,
    )
    return nn.Transformer(
        config.d_model,
        config.num_heads,
        custom_encoder=encoder,
        custom_decoder=decoder,
        batch_first=True,
    )


def torch_name(name: str) -> str:
    """Give torch's name for one of our parameters in the stacks."""
    for ours, theirs in TORCH_NAMES.items():
        name = name.replace(ours, theirs)
    return name.replace("around_feed_forward.norm", LAST_NORM[name.split(".")[0]])


def stack_weights(model: Transformer) -> dict[str, Tensor]:
    """Give the weights of both stacks under torch's names."""
    return {
        torch_name(name): tensor
        for name, tensor in get_weights(model).items()
        if name.startswith(("encoder.", "decoder."))
    }


@pytest.fixture
def pair(
    norm: str,
    dtype: torch.dtype,
    config: Callable[..., ModelConfig],
    unsettled: Callable[[nn.Module], nn.Module],
) -> tuple[Transformer, nn.Transformer]:
    """Our model and torch's, with the same weights."""
    settings = config(norm=norm, **SHAPE)
    model = build_transformer(settings, 13)
    unsettled(model)
    twin = build_twin(settings)
    twin.load_state_dict(stack_weights(model))
    return model.to(dtype), twin.to(dtype)


def twin_features(model: Transformer, twin: nn.Transformer) -> Tensor:
    """Run torch's stacks between our embeddings; in torch's masks True hides."""
    features: Tensor = twin(
        model.embed_source(SOURCE),
        model.embed_target(TARGET_IN),
        tgt_mask=~causal_mask(TARGET_IN.shape[1]),
        src_key_padding_mask=SOURCE == PAD,
        tgt_key_padding_mask=TARGET_IN == PAD,
        memory_key_padding_mask=SOURCE == PAD,
    )
    return features


def test_features_are_equal(
    dtype: torch.dtype, pair: tuple[Transformer, nn.Transformer]
) -> None:
    model, twin = pair
    ours, theirs = model.features(SOURCE, TARGET_IN), twin_features(model, twin)
    tolerance = TOLERANCE[dtype]
    torch.testing.assert_close(
        ours[WORDS], theirs[WORDS], atol=tolerance, rtol=tolerance
    )


def test_cached_steps_are_equal(
    dtype: torch.dtype, pair: tuple[Transformer, nn.Transformer]
) -> None:
    model, twin = pair
    expected = twin_features(model, twin) @ model.output_weight.T
    state = model.start(model.encode(SOURCE))
    tolerance = 4 * TOLERANCE[dtype]
    for position, tokens in enumerate(TARGET_IN.T):
        logits, state = model.step(tokens, state)
        rows = WORDS[:, position]
        torch.testing.assert_close(
            logits[rows], expected[rows, position], atol=tolerance, rtol=tolerance
        )


def test_gradients_are_equal(
    dtype: torch.dtype, pair: tuple[Transformer, nn.Transformer]
) -> None:
    model, twin = pair
    weighting = torch.randn(*TARGET_IN.shape, 24, dtype=dtype) * WORDS[:, :, None]
    (model.features(SOURCE, TARGET_IN) * weighting).sum().backward()
    (twin_features(model, twin) * weighting).sum().backward()
    tolerance = 100 * TOLERANCE[dtype]
    for name, parameter in model.named_parameters():
        if name.startswith(("encoder.", "decoder.")):
            torch.testing.assert_close(
                parameter.grad,
                twin.get_parameter(torch_name(name)).grad,
                atol=tolerance,
                rtol=tolerance,
            )
