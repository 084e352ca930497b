from dataclasses import replace
from typing import Any

import pytest

from dragoman.config import load_preset
from dragoman.decoding.length_penalty import LengthPenalty
from dragoman.decoding.options import SearchOptions
from dragoman.errors import ConfigError

BASE = SearchOptions.of(load_preset("base").decoding)


def test_the_settings_of_a_model_are_what_it_does_unasked() -> None:
    assert (BASE.beam_size, BASE.nbest) == (4, 1)
    assert BASE.penalty == LengthPenalty("paper", 0.6)
    assert BASE.limit(10) == 60


def test_a_limit_leaves_room_for_what_was_asked() -> None:
    assert replace(BASE, max_length=7).limit(100) == 7
    assert replace(BASE, min_length=80).limit(10) == 80
    assert BASE.limit(10, prefix_length=70) == 71


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"beam_size": 0}, "a beam of 0 searches nothing: choose at least 1"),
        (
            {"nbest": 5},
            "a beam of 4 cannot give the 5 best translations: choose 1 to 4 of them, "
            "or a wider beam",
        ),
        (
            {"nbest": 0},
            "a beam of 4 cannot give the 0 best translations: choose 1 to 4 of them, "
            "or a wider beam",
        ),
        (
            {"length_penalty": -0.5},
            "a length penalty of -0.5 is not allowed: choose 0 (none) or more",
        ),
        (
            {"length_penalty_kind": "mean"},
            "there is no length penalty 'mean': choose one of paper, none, average",
        ),
        (
            {"method": "random"},
            "there is no search 'random': choose one of beam, sampling, bayes-risk",
        ),
        (
            {"method": "bayes-risk", "samples": 8, "nbest": 9},
            "a choice of 8 cannot give the 9 best translations: choose 1 to 8 of them, "
            "or more samples",
        ),
        (
            {"groups": 3},
            "a beam of 4 cannot be parted into 3 groups: choose a number that divides "
            "it",
        ),
        (
            {"min_length": -1},
            "a minimum length of -1 is not allowed: choose 0 or more tokens",
        ),
        (
            {"no_repeat_ngram": -2},
            "a repeated run of -2 is not allowed: choose 0 (any) or more tokens",
        ),
        (
            {"max_repeats": -1},
            "a number of repeats of -1 is not allowed: choose 0 (any) or more",
        ),
        (
            {"diversity": -0.1},
            "a diversity of -0.1 is not allowed: choose 0 (none) or more",
        ),
        ({"top_k": -1}, "a top-k of -1 is not allowed: choose 0 (all) or more tokens"),
        (
            {"temperature": 0.0},
            "a temperature of 0 is not allowed: choose more than 0, 1 being the "
            "model's own",
        ),
        (
            {"top_p": 0.0},
            "a top-p of 0 is not allowed: choose more than 0 and at most 1 (all)",
        ),
        (
            {"max_length": 3, "min_length": 4},
            "a maximum length of 3 tokens cannot be: choose at least 4, or no maximum",
        ),
    ],
)
def test_impossible_options_are_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        replace(BASE, **changes)
    assert str(caught.value) == message
