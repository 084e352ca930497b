import json
import math
from dataclasses import FrozenInstanceError

import pytest

from dragoman.config import PRESETS, Config, load_preset, parse_settings, read_saved
from dragoman.errors import ConfigError


@pytest.mark.parametrize("name", PRESETS)
def test_presets_load_and_survive_json(name: str) -> None:
    config = load_preset(name)
    assert Config.from_dict(json.loads(json.dumps(config.to_dict()))) == config


def test_base_is_the_paper() -> None:
    base = load_preset("base")
    model, training, decoding = base.model, base.training, base.decoding
    assert (model.num_encoder_layers, model.num_decoder_layers) == (6, 6)
    assert (model.d_model, model.d_ff, model.num_heads, model.head_size) == (
        512,
        2048,
        8,
        64,
    )
    assert (model.dropout, model.norm, model.positions) == (0.1, "post", "sinusoidal")
    assert model.tie_embeddings
    assert (training.optimizer, training.schedule) == ("adam", "paper")
    assert (training.adam_betas, training.adam_epsilon) == ((0.9, 0.98), 1e-9)
    assert (training.warmup_steps, training.label_smoothing) == (4000, 0.1)
    assert (decoding.beam_size, decoding.length_penalty) == (4, 0.6)
    assert decoding.max_extra_tokens == 50


def test_big_is_the_last_row_of_table_3() -> None:
    big = load_preset("big").model
    assert (big.d_model, big.d_ff, big.num_heads, big.dropout) == (1024, 4096, 16, 0.3)
    assert (big.num_encoder_layers, big.num_decoder_layers) == (6, 6)


def test_settings_are_frozen() -> None:
    with pytest.raises(FrozenInstanceError):
        load_preset("base").model.d_model = 3  # type: ignore[misc]


def test_settings_are_read_as_toml_or_bare() -> None:
    read = parse_settings(["model.dropout=0.2", "model.norm=pre", 'data.x="a b"'])
    assert read == {"model.dropout": 0.2, "model.norm": "pre", "data.x": "a b"}


def test_one_setting_changes_and_the_rest_stays() -> None:
    base = load_preset("base")
    changed = base.with_settings({"model.dropout": 0.25})
    assert changed.model.dropout == 0.25
    assert changed.training == base.training


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            {"model.drpout": 0.1},
            "no setting 'model.drpout': did you mean 'model.dropout'",
        ),
        ({"modle.dropout": 0.1}, "no section 'modle': did you mean 'model'"),
        ({"model.norm": "last"}, "model.norm = 'last' is not one of post, pre"),
        ({"model.d_model": "big"}, "model.d_model = 'big' is not a whole number"),
        ({"model.d_model": 0}, "model.d_model = 0 is not a whole number of at least 1"),
        ({"model.dropout": 1.0}, "model.dropout = 1.0 is not a number from 0 up to"),
        ({"model.tie_embeddings": 1}, "model.tie_embeddings = 1 is not true or false"),
        ({"model.num_heads": 7}, "cannot be divided among model.num_heads = 7"),
        ({"model.d_model": 15, "model.num_heads": 3}, "d_model = 15 is odd"),
        (
            {"model.num_kv_heads": 3},
            "model.num_kv_heads = 3 cannot be shared by model.num_heads = 8: choose a "
            "number that divides num_heads, or 0 for as many",
        ),
        (
            {"model.num_kv_heads": 16},
            "model.num_kv_heads = 16 cannot be shared by model.num_heads = 8",
        ),
        (
            {"model.positions": "rotary", "model.d_head": 7},
            "heads of width 7 are odd: rotary positions turn pairs of dimensions, so "
            'choose an even model.d_head, or set model.positions="sinusoidal"',
        ),
        ({"model.norm_kind": "group"}, "is not one of layer, rms, batch, none"),
        ({"model.activation": "tanh"}, "is not one of relu, gelu, quick_gelu, swish"),
        ({"training.adam_betas": [0.9]}, "is not a pair of numbers"),
        ({"training.learning_rate": -1.0}, "is not a number of at least 0"),
        ({"training.learning_rate": math.nan}, "= nan is not a number of at least 0"),
        ({"training.learning_rate": math.inf}, "= inf is too large: give at most"),
        ({"training.seed": 2**31}, "= 2147483648 is too large: give at most"),
        ({"training.adam_betas": ["a", 0.9]}, "is not a pair of numbers from 0 up to"),
        ({"training.adam_betas": [1.0, 1.0]}, "is not a pair of numbers from 0 up to"),
        (
            {"model.attention": "additive"},
            "model.attention = 'additive' says nothing to model.kind = 'transformer': "
            "leave it at 'dot'",
        ),
        ({"model.cell": "gru"}, "says nothing to model.kind = 'transformer'"),
        ({"training.truncate": 20}, "truncate = 20 cuts the past of recurrent models"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(
    settings: dict[str, object], message: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        load_preset("base").with_settings(settings)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_an_assignment_without_section_or_value_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"write section\.key=value"):
        parse_settings(["dropout=0.2"])


def test_an_unknown_preset_is_refused() -> None:
    with pytest.raises(ConfigError, match="no preset 'huge': choose one of tiny"):
        load_preset("huge")


def test_a_configuration_with_holes_is_refused() -> None:
    values = load_preset("base").to_dict()
    del values["model"]["norm"]
    with pytest.raises(ConfigError, match=r"lacks the setting 'model\.norm'"):
        Config.from_dict(values)
    del values["model"]
    with pytest.raises(ConfigError, match="lacks the section 'model'"):
        Config.from_dict(values)


def test_what_an_older_version_did_not_save_is_as_in_base() -> None:
    config = load_preset("tiny")
    values = config.to_dict()
    del values["training"]["clip_norm"]
    assert read_saved(values) == config
    values["training"]["no_such"] = 1
    with pytest.raises(ConfigError, match="no setting"):
        read_saved(values)


def test_a_model_from_before_placeholders_has_none() -> None:
    values = load_preset("base").to_dict()
    del values["data"]["placeholders"]
    assert not read_saved(values).data.placeholders
    assert load_preset("base").data.placeholders


def test_slices_of_matrices_cannot_be_made_orthogonal() -> None:
    with pytest.raises(ConfigError, match="needs them whole: choose adam") as raised:
        load_preset("fast").with_settings({"training.sharding": "full"})
    assert "\n" not in str(raised.value)


def test_growing_dropout_cannot_be_compiled() -> None:
    with pytest.raises(ConfigError, match=r"set training.dropout_growth=0") as raised:
        load_preset("tiny").with_settings({"training.compile": True})
    assert "\n" not in str(raised.value)


def test_slices_have_no_moving_average() -> None:
    settings = {"training.sharding": "full", "training.averaging": "ema"}
    with pytest.raises(ConfigError, match="does not go with") as raised:
        load_preset("base").with_settings(settings)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"model.attention": "much"}, "is not one of none, dot, general, additive"),
        ({"model.cell": "mlp"}, "is not one of elman, gru, lstm"),
        ({"model.d_model": 33}, "d_model = 33 is odd: each direction"),
        ({"model.norm": "pre"}, "says nothing to model.kind = 'recurrent'"),
        ({"model.num_heads": 2}, "says nothing to model.kind = 'recurrent'"),
        ({"training.compile": True}, "of a Transformer only"),
        (
            {"training.sharding": "full", "training.optimizer": "adam"},
            'set training.sharding="none"',
        ),
    ],
)
def test_what_a_recurrent_model_cannot_be_is_refused_in_one_line(
    settings: dict[str, object], message: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        load_preset("lstm").with_settings(settings)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_recurrent_model_need_not_care_for_heads() -> None:
    config = load_preset("gru").with_settings({"model.d_model": 30})
    assert config.model.d_model == 30
    one_way = {"model.d_model": 31, "model.bidirectional": False}
    assert config.with_settings(one_way).model.d_model == 31


def test_a_model_from_before_recurrent_ones_is_a_transformer() -> None:
    config = load_preset("tiny")
    values = config.to_dict()
    for key in ("cell", "bidirectional", "attention"):
        del values["model"][key]
    del values["training"]["truncate"]
    assert read_saved(values) == config
