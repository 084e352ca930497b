"""Which settings a run gets when the person does not say: the choice, and why."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dragoman.config import Config, load_preset

FEW_PAIRS = 50_000
MANY_PAIRS = 1_000_000


@dataclass(frozen=True)
class Recipe:
    """Settings, the preset they come from, and a sentence that explains the choice."""

    preset: str
    why: str
    config: Config


def choose_recipe(
    preset: str | None,
    minutes: float | None,
    pairs: int,
    settings: Mapping[str, Any],
) -> Recipe:
    """Take the preset that was asked for, or the one that suits budget and corpus."""
    name, why = _choose(preset, minutes, pairs)
    return Recipe(name, why, load_preset(name).with_settings(settings))


def _choose(preset: str | None, minutes: float | None, pairs: int) -> tuple[str, str]:
    if preset is not None:
        return preset, "as asked"
    if minutes is not None:
        return "fast", f"the most that {minutes:g} minutes can give"
    if pairs < FEW_PAIRS:
        return (
            "tiny",
            f"{pairs:,} pairs are few: a larger model would only memorise them",
        )
    if pairs < MANY_PAIRS:
        return "small", f"{pairs:,} pairs are enough for a small model"
    return "base", f"{pairs:,} pairs are enough for the paper's base model"
