from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from dragoman.config import ModelConfig
from dragoman.errors import ConfigError
from dragoman.model.build import build_model
from dragoman.model.encoder_only import EncoderOnly
from dragoman.special_tokens import END, PAD


@pytest.fixture(params=["sinusoidal", "rotary", "alibi"])
def model(
    request: pytest.FixtureRequest,
    config: Callable[..., ModelConfig],
    unsettled: Callable[[nn.Module], nn.Module],
) -> EncoderOnly:
    settings = config(kind="masked_language_model", positions=request.param)
    built = build_model(settings, 11)
    assert isinstance(built, EncoderOnly)
    unsettled(built)
    return built.double().eval()


def test_padding_and_batch_mates_change_nothing(
    model: EncoderOnly, pad: Callable[..., Tensor]
) -> None:
    sentences = [[5, 6, 7, 8], [9], [4, 4, 10]]
    source = pad(sentences, extra=2)
    together = model(source, source)
    for row, sentence in enumerate(sentences):
        alone = pad([sentence])
        expected = together[row, : len(sentence) + 1]
        torch.testing.assert_close(model(alone, alone)[0], expected)


def test_every_word_sees_all_others_and_their_order(model: EncoderOnly) -> None:
    source = torch.tensor([[5, 6, 7, END]])
    logits = model(source, source)
    for place in range(3):
        changed = source.clone()
        changed[0, place] = 9
        assert ((model(changed, changed) - logits).abs().amax(dim=-1) > 1e-9).all()
    mirrored = source.flip(1)
    assert not torch.allclose(model(mirrored, mirrored).flip(1), logits, atol=1e-6)


def test_no_gradient_reaches_padding(model: EncoderOnly) -> None:
    source = torch.tensor([[5, 6, END, PAD], [7, 8, 9, END]])
    kept: list[Tensor] = []
    model.embed_source.register_forward_hook(lambda _m, _i, out: kept.append(out))
    words = source != PAD
    [gradient] = torch.autograd.grad(model(source, source)[words].sum(), kept)
    assert gradient[~words].eq(0).all()
    assert gradient[words].abs().sum(dim=-1).gt(0).all()


def test_it_writes_nothing_by_itself(model: EncoderOnly) -> None:
    message = "a masked language model finds missing words and writes none by itself"
    with pytest.raises(ConfigError, match=message):
        model.start(model.encode(torch.tensor([[5, END]])))
    with pytest.raises(ConfigError, match=message):
        model.step(torch.tensor([5]), None)
