from typing import Any

import pytest

from dragoman.config import PRESETS, Config, load_preset
from dragoman.errors import ConfigError
from dragoman.text.tokenizer import choose_vocabulary_size
from dragoman.training.recipe import (
    FEW_PAIRS,
    MANY_PAIRS,
    NARROW,
    TOKENS_FOR_FAST,
    Recipe,
    dropout_for,
)
from dragoman.training.recipe import choose_recipe as choose_by_speed


def quick(config: Config) -> float:
    """The speed of a machine on which `fast` learns enough in five minutes."""
    return 12_000.0 if config.model.d_model < 256 else 15_000.0


def choose_recipe(
    preset: str | None,
    minutes: float | None,
    pairs: int,
    settings: dict[str, Any],
    noun: str = "pairs",
) -> Recipe:
    return choose_by_speed(preset, minutes, pairs, settings, quick, noun)


@pytest.mark.parametrize("preset", PRESETS)
def test_a_preset_that_is_asked_for_is_taken_as_it_is(preset: str) -> None:
    recipe = choose_recipe(preset, 5, 10, {})
    assert (recipe.preset, recipe.why) == (preset, "as asked")
    assert recipe.config == load_preset(preset)


@pytest.mark.parametrize(
    ("pairs", "preset"),
    [
        (0, "tiny"),
        (FEW_PAIRS - 1, "tiny"),
        (FEW_PAIRS, "small"),
        (MANY_PAIRS - 1, "small"),
        (MANY_PAIRS, "base"),
    ],
)
def test_without_a_budget_the_corpus_decides(pairs: int, preset: str) -> None:
    recipe = choose_recipe(None, None, pairs, {})
    assert recipe.preset == preset
    assert recipe.config == load_preset(preset)
    assert f"{pairs:,} pairs" in recipe.why


@pytest.mark.parametrize("pairs", [FEW_PAIRS, 120_000, 5_000_000])
def test_minutes_ask_for_the_fast_preset_and_fitting_dropout(pairs: int) -> None:
    recipe = choose_recipe(None, 5, pairs, {})
    assert recipe.preset == "fast"
    dropout = recipe.config.model.dropout
    expected = load_preset("fast").with_settings(
        {"model.dropout": dropout, "training.dropout_growth": float(dropout > 0)}
    )
    assert recipe.config == expected
    assert "5 minutes" in recipe.why
    assert recipe.why.endswith(f"dropout {dropout:g}")


@pytest.mark.parametrize("pairs", [0, 400, 29_000, FEW_PAIRS - 1])
def test_few_pairs_that_come_back_often_go_to_a_small_model(pairs: int) -> None:
    recipe = choose_recipe(None, 10, pairs, {})
    assert recipe.preset == "tiny"
    growth = recipe.config.training.dropout_growth
    size = recipe.config.tokenizer.vocabulary_size
    training = recipe.config.training
    tiny = load_preset("tiny").with_settings(
        {
            "training.dropout_growth": growth,
            "tokenizer.vocabulary_size": size,
            "training.r_drop": training.r_drop,
            "training.r_drop_from": training.r_drop_from,
        }
    )
    assert recipe.config == tiny
    assert "10 minutes are some" in recipe.why
    assert f"only {pairs:,} pairs" in recipe.why


def test_numbers_of_passes_are_told_in_two_plain_digits() -> None:
    assert "some 120 passes" in choose_recipe(None, 60, 29_000, {}).why
    assert "about 3.2 passes" in choose_recipe(None, 5, 117_664, {}).why
    assert "some 9,000 passes" in choose_recipe(None, 60, 400, {}).why


def test_few_pairs_seen_once_go_to_the_fast_preset_without_dropout() -> None:
    recipe = choose_recipe(None, 0.5, FEW_PAIRS - 1, {})
    expected = load_preset("fast").with_settings(NARROW)
    assert (recipe.preset, recipe.config) == ("fast", expected)


def test_dropout_grows_over_all_of_a_short_run_and_over_part_of_a_long_one() -> None:
    def growth(minutes: float) -> float:
        return choose_recipe(None, minutes, 29_000, {}).config.training.dropout_growth

    shares = [growth(minutes) for minutes in (5, 10, 60, 600)]
    assert shares == sorted(shares, reverse=True)
    assert shares[0] == 1
    assert shares[-1] == load_preset("tiny").training.dropout_growth < 1


def test_many_passes_over_few_pairs_call_for_more_subwords_than_usual() -> None:
    short, long = (choose_recipe(None, minutes, 29_000, {}) for minutes in (5, 60))
    assert short.config.tokenizer.vocabulary_size == 0  # as many as usual
    size = long.config.tokenizer.vocabulary_size
    assert size > choose_vocabulary_size(29_000, "bpe")
    assert f"{size:,} subwords" in long.why


def test_very_many_passes_over_few_pairs_call_for_r_drop() -> None:
    short, long = (choose_recipe(None, minutes, 29_000, {}) for minutes in (20, 60))
    assert short.config.training.r_drop == 0
    assert "agree" not in short.why
    assert long.config.training.r_drop == 2
    assert 0 < long.config.training.r_drop_from < 0.5
    assert "two passes at a time, with other dropout, are to agree" in long.why


@pytest.mark.parametrize(
    ("pairs", "settings"),
    [
        (29_000, {"training.r_drop": 0.0}),
        (29_000, {"model.dropout": 0.0}),
        (29_000, {"model.word_dropout": 0.1}),
        (29_000, {"model.kind": "language_model"}),
        (0, {}),
    ],
)
def test_r_drop_is_left_where_two_passes_have_nothing_to_agree_on(
    pairs: int, settings: dict[str, Any]
) -> None:
    recipe = choose_recipe(None, 60, pairs, settings)
    assert recipe.config.training.r_drop == 0
    assert "agree" not in recipe.why


@pytest.mark.parametrize(
    ("pairs", "settings"),
    [
        (0, {}),  # a stream, whose pairs nobody has counted
        (29_000, {"model.kind": "language_model"}),
        (29_000, {"tokenizer.vocabulary_size": 0}),
    ],
)
def test_the_usual_subwords_are_kept_where_there_is_a_reason(
    pairs: int, settings: dict[str, Any]
) -> None:
    recipe = choose_recipe(None, 60, pairs, settings)
    assert recipe.preset == "tiny"
    assert recipe.config.tokenizer.vocabulary_size == 0
    assert "subwords" not in recipe.why


def test_more_passes_never_call_for_less_dropout() -> None:
    passes = [2.0**power for power in range(-6, 12)]
    dropouts = [dropout_for(number) for number in passes]
    assert dropouts == sorted(dropouts)
    assert dropouts[0] == 0
    assert 0 < dropouts[-1] < 1


def test_more_minutes_or_fewer_pairs_never_call_for_less_dropout() -> None:
    def dropout(minutes: float, pairs: int) -> float:
        return choose_recipe(None, minutes, pairs, {}).config.model.dropout

    by_minutes = [dropout(minutes, 100_000) for minutes in (0.5, 5, 20, 60, 600)]
    assert by_minutes == sorted(by_minutes)
    by_pairs = [dropout(5, pairs) for pairs in (10**7, 10**6, 10**5, 10**4, 10**3)]
    assert by_pairs == sorted(by_pairs)


@pytest.mark.parametrize(
    ("preset", "minutes"), [("base", None), (None, 5), (None, None)]
)
def test_settings_have_the_last_word(preset: str | None, minutes: float | None) -> None:
    settings = {"model.dropout": 0.77, "model.d_ff": 99}
    model = choose_recipe(preset, minutes, 1000, settings).config.model
    assert (model.dropout, model.d_ff) == (0.77, 99)


def test_every_reason_is_one_line() -> None:
    for minutes in (None, 5):
        for pairs in (0, FEW_PAIRS, MANY_PAIRS):
            why = choose_recipe(None, minutes, pairs, {}).why
            assert why
            assert "\n" not in why


def test_an_unknown_preset_is_told_the_known_ones() -> None:
    with pytest.raises(ConfigError) as raised:
        choose_recipe("huge", None, 1000, {})
    assert str(raised.value) == (
        f"there is no preset 'huge': choose one of {', '.join(PRESETS)}"
    )


def test_learned_positions_must_reach_the_longest_sentence() -> None:
    settings = {"model.positions": "learned", "model.max_positions": 307}
    assert choose_recipe("tiny", None, 0, settings).config.model.max_positions == 307
    with pytest.raises(ConfigError, match=r"= 306 learned .* set at least 307, or"):
        choose_recipe("tiny", None, 0, settings | {"model.max_positions": 306})


def test_running_text_is_counted_in_lines() -> None:
    assert "300 lines are few" in choose_recipe(None, None, 300, {}, "lines").why
    assert "300 lines" in choose_recipe(None, 5, 300, {}, "lines").why


def test_a_slow_machine_gets_a_narrow_model_and_a_quick_one_the_fast_preset() -> None:
    def width(speed: float, minutes: float) -> int:
        recipe = choose_by_speed(None, minutes, 10**6, {}, lambda _: speed)
        assert recipe.speed == speed
        return recipe.config.model.d_model

    enough = TOKENS_FOR_FAST / 60
    assert width(0.9 * enough / 5, 5) == NARROW["model.d_model"]
    assert width(1.1 * enough / 5, 5) == load_preset("fast").model.d_model
    assert width(0.9 * enough / 5, 10) == load_preset("fast").model.d_model


def test_a_narrow_model_says_why_and_sees_pairs_as_often_as_it_can() -> None:
    def speed(config: Config) -> float:
        return 4000.0 if config.model.d_model == NARROW["model.d_model"] else 1500.0

    recipe = choose_by_speed(None, 5, 117_664, {}, speed)
    assert recipe.preset == "fast"
    assert recipe.speed == 4000
    assert recipe.why == (
        "the most that 5 minutes can give where `fast` learns from 1,500 tokens a "
        "second: narrow; about 0.85 passes over 117,664 pairs call for dropout 0"
    )


def test_a_narrow_model_needs_less_dropout_for_as_many_passes() -> None:
    def dropout(tokens_of_fast: float) -> float:
        speed = tokens_of_fast / 60
        return choose_by_speed(
            None, 1, 60_000, {}, lambda _: speed
        ).config.model.dropout

    assert dropout(0.99 * TOKENS_FOR_FAST) < dropout(1.01 * TOKENS_FOR_FAST)


def test_whoever_asks_for_a_width_gets_it_on_a_slow_machine_too() -> None:
    asked = {"model.d_model": 64}
    recipe = choose_by_speed(None, 5, 10**6, asked, lambda _: 100.0)
    expected = load_preset("fast").with_settings(asked)
    assert recipe.config.model == expected.model


def test_nobody_measures_where_the_machine_decides_nothing() -> None:
    def never(_: Config) -> float:
        raise AssertionError("measured for nothing")

    for preset, minutes in (("tiny", 5.0), ("base", None), (None, None)):
        assert choose_by_speed(preset, minutes, 1000, {}, never).speed is None
