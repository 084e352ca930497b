from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

from dragoman.inspection.attention_maps import (
    BEGIN_SIGN,
    END_SIGN,
    attention_maps,
    recorded_attention,
)
from dragoman.model.transformer import Transformer
from dragoman.model_folder import SavedModel, build_for, load_model
from dragoman.special_tokens import BEGIN, END, PAD
from dragoman.translator import Translator

SOURCE, TARGET = "Where is the train station?", "¿Dónde está la estación?"
TOKENS = torch.tensor([[11, 12, 13, END], [14, 15, END, PAD]])
TARGET_IN = torch.tensor([[BEGIN, 21, 22, 23, 24], [BEGIN, 25, 26, PAD, PAD]])


@pytest.fixture(scope="module")
def translator(model_folder: Path) -> Translator:
    """A translator of two encoder and three decoder layers that has learned nothing."""
    toy = load_model(model_folder)
    settings = {"model.num_encoder_layers": 2, "model.num_decoder_layers": 3}
    config = toy.config.with_settings({**settings, "model.dropout": 0.3})
    torch.manual_seed(3)
    model = build_for(config, toy.tokenizers).eval()
    return Translator(SavedModel(model, toy.tokenizers, config, ("en", "es")))


@pytest.fixture
def model(translator: Translator) -> Transformer:
    return translator.saved.model.eval()


def hooks(model: nn.Module) -> int:
    return sum(
        len(module._forward_pre_hooks) + len(module._forward_hooks)
        for module in model.modules()
    )


@pytest.mark.parametrize("training", [False, True])
def test_recorded_and_unrecorded_runs_give_the_same_logits(
    model: Transformer, training: bool
) -> None:
    model.train(training)
    torch.manual_seed(5)
    unrecorded = model(TOKENS, TARGET_IN)
    torch.manual_seed(5)
    with recorded_attention(model) as recorded:
        logits = model(TOKENS, TARGET_IN)
    assert torch.equal(logits, unrecorded)
    assert recorded


def test_every_attention_is_recorded_as_batch_head_query_key(
    model: Transformer,
) -> None:
    with torch.inference_mode(), recorded_attention(model) as recorded:
        model(TOKENS, TARGET_IN)
    shapes = {name: tuple(weights.shape) for name, weights in recorded.items()}
    assert shapes == {
        "encoder.layers.0.self_attention.attention": (2, 2, 4, 4),
        "encoder.layers.1.self_attention.attention": (2, 2, 4, 4),
        **{
            f"decoder.layers.{n}.{kind}_attention.attention": (2, 2, 5, keys)
            for n in (0, 1, 2)
            for kind, keys in (("self", 5), ("cross", 4))
        },
    }


def test_rows_sum_to_one_and_nothing_hidden_is_seen(model: Transformer) -> None:
    with torch.inference_mode(), recorded_attention(model) as recorded:
        model(TOKENS, TARGET_IN)
    for name, weights in recorded.items():
        assert_sums_to_one(weights)
        if "decoder" in name and "self" in name:
            assert weights.triu(1).eq(0).all()  # nobody sees what is yet to come
        else:
            assert weights[1, :, :, 3].eq(0).all()  # nobody sees padding


def test_the_weights_are_those_by_which_the_model_mixes_its_values(
    model: Transformer,
) -> None:
    seen: list[tuple[Tensor, Tensor]] = []
    attention = model.get_submodule("decoder.layers.1.cross_attention.attention")
    handle = attention.register_forward_hook(
        lambda _module, inputs, output: seen.append((inputs[2], output))
    )
    with torch.inference_mode(), recorded_attention(model) as recorded:
        model(TOKENS, TARGET_IN)
    handle.remove()
    ((values, mixed),) = seen
    weights = recorded["decoder.layers.1.cross_attention.attention"]
    torch.testing.assert_close(weights @ values, mixed)


def test_single_steps_can_be_recorded_too(model: Transformer) -> None:
    with torch.inference_mode():
        with recorded_attention(model) as whole:
            model(TOKENS, TARGET_IN)
        state = model.start(model.encode(TOKENS))
        for position in range(TARGET_IN.shape[1]):
            with recorded_attention(model) as recorded:
                _, state = model.step(TARGET_IN[:, position], state)
            for name, weights in recorded.items():
                keys = weights.shape[-1]
                expected = whole[name][:, :, position : position + 1, :keys]
                torch.testing.assert_close(weights, expected)


def test_no_hook_is_left_behind(model: Transformer) -> None:
    before = hooks(model)
    with recorded_attention(model):
        assert hooks(model) == before + 8
    assert hooks(model) == before


def test_no_hook_is_left_behind_when_the_model_fails(model: Transformer) -> None:
    before = hooks(model)
    beyond = torch.full((1, 3), 10**6)
    with pytest.raises(IndexError), recorded_attention(model):
        model(TOKENS[:1], beyond)
    assert hooks(model) == before


def test_maps_are_layer_head_query_key(translator: Translator) -> None:
    maps = attention_maps(translator, SOURCE, TARGET)
    source, target = len(maps.source), len(maps.target_out)
    assert maps.encoder.shape == (2, 2, source, source)
    assert maps.decoder.shape == (3, 2, target, target)
    assert maps.cross.shape == (3, 2, target, source)
    for weights in (maps.encoder, maps.decoder, maps.cross):
        assert_sums_to_one(weights)
    assert maps.decoder.triu(1).eq(0).all()


def test_pieces_name_every_row_and_column(translator: Translator) -> None:
    maps = attention_maps(translator, SOURCE, TARGET)
    assert "".join(maps.source[:-1]).replace("▁", " ").strip() == SOURCE
    assert "".join(maps.target_out[:-1]).replace("▁", " ").strip() == TARGET
    assert maps.source[-1] == maps.target_out[-1] == END_SIGN
    assert maps.target_in == (BEGIN_SIGN, *maps.target_out[:-1])
    assert maps.translation == TARGET


def test_without_a_target_the_models_own_translation_is_shown(
    model_folder: Path,
) -> None:
    translator = Translator.load(model_folder)
    maps = attention_maps(translator, SOURCE)
    assert maps.translation == translator.translate(SOURCE)
    given = attention_maps(translator, SOURCE, maps.translation)
    assert torch.equal(given.cross, maps.cross)


def test_layers_are_in_their_order(translator: Translator, model: Transformer) -> None:
    maps = attention_maps(translator, SOURCE, TARGET)
    tokenizers = translator.tokenizers
    source = torch.tensor([[*tokenizers.source.encode(SOURCE), END]])
    target_in = torch.tensor([[BEGIN, *tokenizers.target.encode(TARGET)]])
    with torch.inference_mode(), recorded_attention(model) as recorded:
        model(source, target_in)
    for layer in range(3):
        name = f"decoder.layers.{layer}.cross_attention.attention"
        assert torch.equal(maps.cross[layer], recorded[name][0])


def test_what_normalization_takes_away_is_not_shown(translator: Translator) -> None:
    plain = attention_maps(translator, SOURCE, TARGET)
    blanks = attention_maps(translator, f"  {SOURCE}\t", f"{TARGET} ")
    assert blanks.source == plain.source
    assert torch.equal(blanks.cross, plain.cross)


def test_a_blank_sentence_has_its_end_to_look_at(translator: Translator) -> None:
    maps = attention_maps(translator, " ")
    assert (maps.source, maps.target_out) == ((END_SIGN,), (END_SIGN,))
    assert maps.cross.eq(1).all()


def assert_sums_to_one(weights: Tensor) -> None:
    rows = weights.sum(dim=-1)
    torch.testing.assert_close(rows, torch.ones_like(rows))
