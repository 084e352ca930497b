"""Which settings a run gets when the person does not say: the choice, and why."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from dragoman.config import Config, load_preset
from dragoman.errors import ConfigError
from dragoman.text.tokenizer import choose_vocabulary_size

FEW_PAIRS = 50_000
MANY_PAIRS = 1_000_000

# Subwords of a sentence, roughly: it tells how often a pair will be seen.
TOKENS_PER_PAIR = 12
# Where `fast` would see fewer target tokens than these, a narrow model learns more: it
# sees two to three times as many in the time (benchmarks/journal.md).
TOKENS_FOR_FAST = 4_000_000
NARROW = {"model.d_model": 128, "model.d_ff": 512}
# It learns less by heart: six passes were well without dropout.
TIMES_MORE_PASSES = 4
# The more often a pair comes back, the more dropout it takes not to learn it by heart.
DROPOUT_FROM_PASSES = ((1.5, 0.0), (4.0, 0.1), (12.0, 0.2))
MOST_DROPOUT = 0.3
# With fewer passes of `tiny` than many, dropout grows until the end.
MANY_PASSES = 15.0
# With many passes there is time to learn longer subwords too, which translate better.
TIMES_MORE_SUBWORDS = 2
# With more still, two passes at once that agree with each other teach more, in half as
# many updates; words that drop out whole would leave them little to agree on.
PASSES_FOR_R_DROP = 60.0
R_DROP = {"training.r_drop": 2.0, "training.r_drop_from": 0.1}

# Gives the target tokens that a machine learns from in a second, with these settings.
SpeedOf = Callable[[Config], float]


@dataclass(frozen=True)
class Recipe:
    """Settings, the preset they come from, and a sentence that explains the choice."""

    preset: str
    why: str
    config: Config
    speed: float | None = None  # target tokens a second, where the choice rests on it


def choose_recipe(
    preset: str | None,
    minutes: float | None,
    pairs: int,
    settings: Mapping[str, Any],
    speed_of: SpeedOf,
    noun: str = "pairs",
) -> Recipe:
    """Take the preset that was asked for, or what suits budget, corpus and machine.

    Speed is asked for only where minutes are to be used well. The noun says what was
    counted.
    """
    counted = f"{pairs:,} {noun}"
    if preset is not None:
        return _recipe(preset, "as asked", settings)
    if minutes is not None:
        return _recipe_for_minutes(minutes, pairs, counted, settings, speed_of)
    if pairs < FEW_PAIRS:
        why = f"{counted} are few: a larger model would only memorise them"
        return _recipe("tiny", why, settings)
    if pairs < MANY_PAIRS:
        why = f"{counted} are enough for a small model"
        return _recipe("small", why, settings)
    why = f"{counted} are enough for the paper's base model"
    return _recipe("base", why, settings)


def _recipe_for_minutes(
    minutes: float,
    pairs: int,
    counted: str,
    settings: Mapping[str, Any],
    speed_of: SpeedOf,
) -> Recipe:
    """Choose the model that learns the most in the time, and how much it forgets."""
    shape: Mapping[str, Any] = {}
    speed = speed_of(load_preset("fast").with_settings(settings))
    passes = _passes(minutes, pairs, speed)
    if dropout_for(passes) and pairs < FEW_PAIRS:
        return _small_recipe(minutes, pairs, counted, settings, speed_of)
    why = f"the most that {minutes:g} minutes can give"
    if 60 * minutes * speed < TOKENS_FOR_FAST and not set(NARROW) & set(settings):
        shape = NARROW
        why += f" where `fast` learns from {_two_digits(speed)} tokens a second: narrow"
        speed = speed_of(load_preset("fast").with_settings({**shape, **settings}))
        passes = _passes(minutes, pairs, speed)
    dropout = dropout_for(passes / TIMES_MORE_PASSES if shape else passes)
    why += (
        f"; about {_two_digits(passes)} passes over {counted} call for dropout "
        f"{dropout:g}"
    )
    grown = {"training.dropout_growth": 1.0} if dropout else {}
    chosen = {**shape, "model.dropout": dropout, **grown, **settings}
    return replace(_recipe("fast", why, chosen), speed=speed)


def _passes(minutes: float, pairs: int, speed: float) -> float:
    """Say how often each pair will be seen, roughly."""
    return 60 * minutes * speed / TOKENS_PER_PAIR / max(pairs, 1)


def _small_recipe(
    minutes: float,
    pairs: int,
    counted: str,
    settings: Mapping[str, Any],
    speed_of: SpeedOf,
) -> Recipe:
    """Let a small model see few pairs often, with dropout growing meanwhile."""
    speed = speed_of(load_preset("tiny").with_settings(settings))
    passes = _passes(minutes, pairs, speed)
    why = (
        f"{minutes:g} minutes are some {_two_digits(passes)} passes over only "
        f"{counted}: a small model sees them more often, and dropout grows"
    )
    if passes < MANY_PASSES:
        grown = {"training.dropout_growth": 1.0}
        recipe = _recipe("tiny", f"{why} all the while", {**grown, **settings})
        return replace(recipe, speed=speed)
    recipe = _recipe("tiny", f"{why} until each is well known", settings)
    uncounted = not pairs  # a stream, which can be read but once
    if not uncounted and not recipe.config.model.reads_text:
        recipe = _with_more_subwords(recipe, pairs, settings)
        if passes >= PASSES_FOR_R_DROP:
            recipe = _with_r_drop(recipe, settings)
    same = recipe.config == load_preset("tiny").with_settings(settings)
    return replace(recipe, speed=speed if same else speed_of(recipe.config))


def _with_more_subwords(
    recipe: Recipe, pairs: int, settings: Mapping[str, Any]
) -> Recipe:
    """Let a translator that will see its pairs many times know longer subwords."""
    name, config = "tokenizer.vocabulary_size", recipe.config
    if name in settings:
        return recipe
    size = TIMES_MORE_SUBWORDS * choose_vocabulary_size(pairs, config.tokenizer.kind)
    why = f"{recipe.why}; so many passes can teach it {size:,} subwords"
    return _recipe(recipe.preset, why, {name: size, **settings})


def _with_r_drop(recipe: Recipe, settings: Mapping[str, Any]) -> Recipe:
    """Take passes two at a time, with other dropout, which are to agree."""
    model = recipe.config.model
    if "training.r_drop" in settings or model.word_dropout or not model.dropout:
        return recipe
    why = f"{recipe.why}; two passes at a time, with other dropout, are to agree"
    config = recipe.config.with_settings({**R_DROP, **settings})
    return Recipe(recipe.preset, why, config)


def _two_digits(number: float) -> str:
    return f"{float(f'{number:.2g}'):,g}"


def dropout_for(passes: float) -> float:
    """Give the dropout for a run that sees each pair so many times."""
    for most_passes, dropout in DROPOUT_FROM_PASSES:
        if passes <= most_passes:
            return dropout
    return MOST_DROPOUT


def _recipe(preset: str, why: str, settings: Mapping[str, Any]) -> Recipe:
    config = load_preset(preset).with_settings(settings)
    _refuse_few_positions(config)
    return Recipe(preset, why, config)


def _refuse_few_positions(config: Config) -> None:
    """Learned positions must reach as far as any sentence, read or written."""
    positions = config.model.max_positions
    longest, extra = config.data.max_tokens, config.decoding.max_extra_tokens
    if config.model.positions == "learned" and positions <= longest + extra:
        raise ConfigError(
            f"model.max_positions = {positions} learned positions are too few for "
            f"data.max_tokens = {longest} and decoding.max_extra_tokens = {extra}: "
            f"set at least {longest + extra + 1}, or lower data.max_tokens"
        )
