import pytest
import torch
from torch import Tensor, nn

from dragoman.inspection.attention import KINDS, Attention
from dragoman.inspection.capture import Capture, capture, project
from dragoman.inspection.stream import Norm
from dragoman.model.layers import Residual
from dragoman.model.relative_positions import Told, Turn
from dragoman.model.transformer import Transformer
from dragoman.special_tokens import BEGIN, END
from dragoman.translator import Translator

SOURCE, TARGET_IN = [11, 12, 13, 14, END], [BEGIN, 21, 22, 23]


@pytest.fixture
def captured(translator: Translator) -> Capture:
    return capture(translator.saved.model, SOURCE, TARGET_IN)


def hooks(model: nn.Module) -> int:
    return sum(
        len(module._forward_pre_hooks) + len(module._forward_hooks)
        for module in model.modules()
    )


def test_captured_and_uncaptured_runs_give_the_same_logits(
    translator: Translator, captured: Capture
) -> None:
    model = translator.saved.model
    with torch.no_grad():
        logits = model(torch.tensor([SOURCE]), torch.tensor([TARGET_IN]))
    assert torch.equal(captured.logits, logits[0])


def test_a_model_in_training_is_seen_without_dropout_and_trains_on(
    translator: Translator, captured: Capture
) -> None:
    model = translator.saved.model.train()
    try:
        again = capture(model, SOURCE, TARGET_IN)
        assert model.training
    finally:
        model.eval()
    assert torch.equal(again.logits, captured.logits)


def test_no_hook_is_left_behind(translator: Translator) -> None:
    model = translator.saved.model
    before = hooks(model)
    capture(model, SOURCE, TARGET_IN)
    with pytest.raises(IndexError):
        capture(model, SOURCE, [BEGIN, 10**6])
    assert hooks(model) == before


def test_every_layer_and_kind_is_there(captured: Capture) -> None:
    shapes = {
        place: tuple(attention.weights.shape)
        for place, attention in captured.attentions.items()
    }
    assert shapes == {
        **{("encoder", layer): (2, 5, 5) for layer in range(2)},
        **{("decoder", layer): (2, 4, 4) for layer in range(3)},
        **{("cross", layer): (2, 4, 5) for layer in range(3)},
    }
    assert {kind for kind, _ in captured.attentions} == set(KINDS)


def test_what_is_shown_is_what_the_model_did(captured: Capture) -> None:
    for attention in captured.attentions.values():
        size = max(1.0, float(attention.written.abs().max()))
        assert attention.largest_error < 1e-5 * size
        torch.testing.assert_close(
            attention.weights.sum(dim=-1), torch.ones_like(attention.weights[..., 0])
        )
        assert attention.weights[:, ~attention.mask].eq(0).all()
        assert attention.masked[:, ~attention.mask].isneginf().all()
        assert torch.equal(
            attention.masked[:, attention.mask], attention.scaled[:, attention.mask]
        )
        bias = 0.0 if attention.bias is None else attention.bias
        divisor = attention.queries.shape[-1] ** 0.5 if attention.recipe.scaling else 1
        torch.testing.assert_close(
            attention.scores, (attention.scaled - bias) * divisor, atol=1e-4, rtol=1e-4
        )


def test_the_matrices_make_queries_keys_and_values(
    translator: Translator, captured: Capture
) -> None:
    for attention in captured.attentions.values():
        p = attention.projections
        turn = turn_of(translator, attention)
        for read, weight, bias, made in (
            (attention.attended, p.w_v, p.b_v, attention.values),
        ):
            torch.testing.assert_close(read @ weight + bias[:, None], made)
        for read, weight, bias, made in (
            (attention.read, p.w_q, p.b_q, attention.queries),
            (attention.attended, p.w_k, p.b_k, attention.keys),
        ):
            plain = read @ weight + bias[:, None]
            turned = plain if turn is None else turn(plain)
            torch.testing.assert_close(turned, made, atol=1e-5, rtol=1e-5)


def turn_of(translator: Translator, attention: Attention) -> Turn | None:
    """Give the turn of rotary positions, which self-attention alone is told of."""
    model = translator.saved.model
    if attention.kind == "cross" or translator.config.model.positions != "rotary":
        return None
    assert isinstance(model, Transformer)
    stack = model.encoder if attention.kind == "encoder" else model.decoder
    told: Told = stack.relative_positions(torch.zeros(1), 0, len(attention.read))
    return told.turn


def test_value_norms_are_lengths_of_what_each_key_gives(captured: Capture) -> None:
    attention = captured.attentions["cross", 1]
    given = (
        attention.weights[1, 2, 3]
        * attention.values[1, 3]
        @ attention.projections.w_o[1]
    )
    torch.testing.assert_close(attention.value_norms[1, 2, 3], given.norm())


def test_the_stream_runs_through_every_sublayer(
    translator: Translator, captured: Capture
) -> None:
    model = translator.saved.model
    for stack, start, sublayers in (
        ("encoder", captured.embedded_source, captured.sublayers[:4]),
        ("decoder", captured.embedded_target, captured.sublayers[4:]),
    ):
        stream = start
        for sublayer in sublayers:
            assert sublayer.stack == stack
            assert sublayer.before is stream
            stream = sublayer.after
        norm = model.get_submodule(f"{stack}.norm")
        with torch.no_grad():
            last = norm(stream)
        if stack == "encoder":
            assert torch.equal(last, nonempty(captured.memory))
        else:
            logits = (last @ model.output_weight.T).detach()
            torch.testing.assert_close(logits, captured.logits)


def nonempty(tensor: Tensor | None) -> Tensor:
    assert tensor is not None
    return tensor


def recomputed(norm: Norm) -> Tensor:
    """Compute what a norm gives from what it is said to be made of."""
    match norm.kind:
        case "layer":
            centred = norm.input - norm.mean[:, None]
            scaled = centred / (norm.variance[:, None] + norm.epsilon).sqrt()
        case "rms":
            squares = norm.input.square().mean(dim=-1, keepdim=True)
            scaled = norm.input / (squares + norm.epsilon).sqrt()
        case "batch":
            return norm.output  # by statistics of training, which are not shown
        case _:
            scaled = norm.input
    return scaled * norm.gamma + norm.beta


def test_the_norms_account_for_each_sublayer(
    translator: Translator, captured: Capture
) -> None:
    pre_norm = any(
        module.pre_norm
        for module in translator.saved.model.modules()
        if isinstance(module, Residual)
    )
    for sublayer in captured.sublayers:
        norm = sublayer.norm
        torch.testing.assert_close(recomputed(norm), norm.output)
        torch.testing.assert_close(norm.output_mean, norm.output.mean(dim=1))
        torch.testing.assert_close(sublayer.lengths, sublayer.after.norm(dim=1))
        added = sublayer.before + sublayer.written
        if pre_norm:
            assert torch.equal(sublayer.read, norm.output)
            assert torch.equal(sublayer.after, added)
        else:
            assert torch.equal(norm.input, added)
            assert torch.equal(sublayer.after, norm.output)


def test_the_last_stream_projects_to_the_logits(
    translator: Translator, captured: Capture
) -> None:
    logits = project(translator.saved.model, captured.sublayers[-1].after)
    torch.testing.assert_close(logits, captured.logits)
