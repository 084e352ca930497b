import math
from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor, nn

from dragoman.config import ModelConfig
from dragoman.errors import ConfigError
from dragoman.model.build import build_model
from dragoman.model.dropout import Dropout
from dragoman.model.linear import JointLinear
from dragoman.model.network import TranslationNetwork
from dragoman.model.positions import SinusoidalPositions
from dragoman.model.transformer import Transformer
from dragoman.special_tokens import BEGIN, END, PAD

SOURCE = torch.tensor([[5, 6, 7, END], [8, END, PAD, PAD]])
TARGET_IN = torch.tensor([[BEGIN, 9, 10], [BEGIN, 4, 5]])


def test_shapes(model: TranslationNetwork) -> None:
    vocabulary = len(model.embed_target.tokens.weight)
    assert model.encode(SOURCE).output.shape == (2, 4, 8)
    assert model.features(SOURCE, TARGET_IN).shape == (2, 3, 8)
    assert model(SOURCE, TARGET_IN).shape == (2, 3, vocabulary)
    logits, state = model.step(TARGET_IN[:, 0], model.start(model.encode(SOURCE)))
    assert logits.shape == (2, vocabulary)
    assert state.length == 1


def test_logits_are_features_times_the_output_weight(
    model: TranslationNetwork,
) -> None:
    features = model.features(SOURCE, TARGET_IN)
    torch.testing.assert_close(
        model(SOURCE, TARGET_IN),
        F.linear(features, model.output_weight, model.output_bias),
    )


def test_a_source_is_read_once_for_all_its_targets(transformer: Transformer) -> None:
    sentences = torch.tensor([1, 0, 1])
    targets = torch.tensor([[BEGIN, 9, 10], [BEGIN, 4, 5], [BEGIN, 6, 6]])
    reads: list[int] = []
    handle = transformer.encoder.register_forward_hook(
        lambda _, inputs, __: reads.append(len(inputs[0]))
    )
    together = transformer.forward_each(SOURCE, sentences, targets)
    handle.remove()
    assert reads == [2]
    torch.testing.assert_close(together, transformer(SOURCE[sentences], targets))


def test_the_whole_is_its_parts_in_the_papers_order(transformer: Transformer) -> None:
    model = transformer
    memory = model.encode(SOURCE)
    torch.testing.assert_close(
        memory.output, model.encoder(model.embed_source(SOURCE), memory.mask)
    )
    read = model.decoder.read_source(memory.output)
    decoded = model.decoder(model.embed_target(TARGET_IN), read, memory.mask)
    torch.testing.assert_close(model.features(SOURCE, TARGET_IN), decoded)


def test_every_parameter_has_a_part_in_the_loss(model: TranslationNetwork) -> None:
    logits = model(SOURCE, TARGET_IN)
    logits.log_softmax(dim=-1)[..., 4].sum().backward()
    for name, parameter in model.named_parameters():
        if not parameter.requires_grad:
            continue  # running statistics, which follow what comes by
        assert parameter.grad is not None, name
        assert parameter.grad.abs().max() > 1e-12, name


def test_only_a_pre_norm_stack_ends_in_a_norm(
    config: Callable[..., ModelConfig],
) -> None:
    pre = build_model(config(norm="pre"), 9)
    post = build_model(config(norm="post"), 9)
    assert isinstance(pre.encoder.norm, nn.LayerNorm)
    assert isinstance(pre.decoder.norm, nn.LayerNorm)
    assert isinstance(post.encoder.norm, nn.Identity)
    assert isinstance(post.decoder.norm, nn.Identity)


@pytest.mark.parametrize("norm", ["post", "pre"])
def test_what_leaves_a_stack_is_normalised(
    norm: str, config: Callable[..., ModelConfig]
) -> None:
    model = build_model(config(norm=norm), 13)
    for output in (model.encode(SOURCE).output, model.features(SOURCE, TARGET_IN)):
        zeros = torch.zeros(output.shape[:2])
        torch.testing.assert_close(output.mean(dim=-1), zeros, atol=1e-5, rtol=0)
        torch.testing.assert_close(
            output.square().mean(-1), zeros + 1, atol=1e-3, rtol=0
        )


def test_matrices_start_by_glorots_rule_and_biases_at_zero(
    config: Callable[..., ModelConfig],
) -> None:
    model = build_model(config(d_model=64, d_ff=96, num_heads=4), 9)
    for module in model.modules():
        if isinstance(module, nn.Linear):
            whole = (module.out_features,)
            parts = module.sizes if isinstance(module, JointLinear) else whole
            for matrix in module.weight.detach().split(parts):
                limit = math.sqrt(6 / sum(matrix.shape))
                assert 0.98 * limit < float(matrix.abs().max()) <= limit
            assert module.bias.eq(0).all()
        elif isinstance(module, nn.LayerNorm):
            assert module.weight.eq(1).all()
            assert module.bias.eq(0).all()


def test_dropout_stands_where_the_paper_puts_it(
    config: Callable[..., ModelConfig],
) -> None:
    model = build_model(config(dropout=0.3), 13)
    rates = {
        name.removesuffix(".dropout"): module.rate
        for name, module in model.named_modules()
        if isinstance(module, Dropout) and module.rate
    }
    sublayers = [f"encoder.layers.{n}.around_attention" for n in range(2)]
    sublayers += [f"encoder.layers.{n}.around_feed_forward" for n in range(2)]
    for kind in ("self_attention", "cross_attention", "feed_forward"):
        sublayers += [f"decoder.layers.{n}.around_{kind}" for n in range(2)]
    assert rates == dict.fromkeys(["embed_source", "embed_target", *sublayers], 0.3)


@pytest.mark.parametrize(
    "setting", ["dropout", "attention_dropout", "feed_forward_dropout", "word_dropout"]
)
def test_each_dropout_is_random_in_training_and_absent_otherwise(
    setting: str, config: Callable[..., ModelConfig]
) -> None:
    model = build_model(config(**{setting: 0.5}), 13)
    torch.manual_seed(4)
    first = model(SOURCE, TARGET_IN)
    second = model(SOURCE, TARGET_IN)
    torch.manual_seed(4)
    assert torch.equal(model(SOURCE, TARGET_IN), first)
    assert not torch.equal(first, second)

    model.eval()
    plain = build_model(config(), 13).eval()
    plain.load_state_dict(model.state_dict())
    assert torch.equal(model(SOURCE, TARGET_IN), plain(SOURCE, TARGET_IN))


def test_sentences_may_outgrow_the_first_table(
    config: Callable[..., ModelConfig], pad: Callable[..., Tensor]
) -> None:
    model = build_model(config(), 13).eval()
    source = pad([[4 + n % 9 for n in range(300)]])
    target_in = torch.cat([torch.tensor([[BEGIN]]), source[:, :300]], dim=1)
    logits = model(source, target_in)

    fresh = build_model(config(), 13).eval()
    fresh.load_state_dict(model.state_dict())
    state = fresh.start(fresh.encode(source))
    for position, tokens in enumerate(target_in.T):
        step_logits, state = fresh.step(tokens, state)
        torch.testing.assert_close(
            step_logits, logits[:, position], atol=1e-5, rtol=1e-5
        )
    positions = fresh.embed_target.positions
    assert isinstance(positions, SinusoidalPositions)
    assert len(positions.table) > 301


def test_learned_positions_end_with_one_line(
    config: Callable[..., ModelConfig], pad: Callable[..., Tensor]
) -> None:
    model = build_model(config(positions="learned", max_positions=5), 13)
    message = "a sequence of 6 tokens is longer than the 5 learned positions"
    with pytest.raises(ConfigError, match=message) as caught:
        model.encode(pad([[4, 5, 6, 7, 8]]))
    assert "\n" not in str(caught.value)
    state = model.start(model.encode(pad([[4, 5, 6, 7]])))
    for _ in range(5):
        _, state = model.step(torch.tensor([BEGIN]), state)
    with pytest.raises(ConfigError, match=message):
        model.step(torch.tensor([BEGIN]), state)


def test_single_precision_is_double_precision_but_for_rounding(
    model: TranslationNetwork,
) -> None:
    exact = model(SOURCE, TARGET_IN)
    rounded = model.float()(SOURCE, TARGET_IN)
    assert rounded.dtype == torch.float32
    torch.testing.assert_close(rounded.double(), exact, atol=1e-4, rtol=1e-4)
