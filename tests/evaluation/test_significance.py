import json
from collections.abc import Callable

import pytest

from dragoman.errors import EvaluationError
from dragoman.evaluation.significance import Comparison, compare

Spoil = Callable[[list[str], float, int], list[str]]


def test_a_system_does_not_differ_from_itself(
    references: list[str], spoil: Spoil
) -> None:
    same = spoil(references, 0.3, 1)
    for comparison in compare(same, same, references, bootstrap=50):
        assert comparison.difference == 0
        assert comparison.p_value == pytest.approx(1)
        assert comparison.interval == pytest.approx((0, 0))
        assert not comparison.significant


def test_a_much_better_system_is_significantly_better(
    references: list[str], spoil: Spoil
) -> None:
    good, poor = spoil(references, 0.05, 1), spoil(references, 0.6, 2)
    bleu, chrf, ter = compare(good, poor, references, bootstrap=100)
    assert [c.metric for c in (bleu, chrf, ter)] == ["bleu", "chrf", "ter"]
    for comparison in (bleu, chrf, ter):
        assert comparison.significant
        assert comparison.difference == pytest.approx(comparison.a - comparison.b)
        low, high = comparison.interval
        assert low < comparison.difference < high
        assert "significantly better" in comparison.sentence()
    assert bleu.interval[0] > 0
    assert ter.interval[1] < 0


def test_equally_poor_systems_are_told_apart_about_as_often_as_the_level_says(
    references: list[str], spoil: Spoil
) -> None:
    found = [
        compare(
            spoil(references, 0.3, 2 * seed),
            spoil(references, 0.3, 2 * seed + 1),
            references,
            bootstrap=60,
        )[1].significant
        for seed in range(20)
    ]
    assert sum(found) <= 5


def test_exchanging_the_systems_exchanges_the_sign(
    references: list[str], spoil: Spoil
) -> None:
    one, other = spoil(references, 0.2, 1), spoil(references, 0.5, 2)
    forth = compare(one, other, references, bootstrap=50)
    back = compare(other, one, references, bootstrap=50)
    for a, b in zip(forth, back, strict=True):
        assert a.difference == -b.difference
        assert a.p_value == b.p_value
        assert a.interval == pytest.approx((-b.interval[1], -b.interval[0]))
        assert a.significant
        assert "significantly better" in a.sentence()
        assert "significantly worse" in b.sentence()


def test_the_sentence_says_what_a_reader_needs() -> None:
    comparison = Comparison("chrf", 60.04, 58.96, 1.08, 0.2, (-0.51, 2.62))
    assert comparison.sentence() == (
        "chrF2: 60.0 against 59.0, +1.1 [-0.5, +2.6], p = 0.200: "
        "the difference may be chance"
    )


def test_plain_data_says_whether_it_is_significant() -> None:
    comparison = Comparison("chrf", 60.04, 58.96, 1.08, 0.2, (-0.51, 2.62))
    assert json.loads(json.dumps(comparison.to_dict())) == {
        "metric": "chrf",
        "a": 60.04,
        "b": 58.96,
        "difference": 1.08,
        "p_value": 0.2,
        "interval": [-0.51, 2.62],
        "significant": False,
    }


def test_systems_must_have_translated_the_same_sentences() -> None:
    with pytest.raises(EvaluationError, match="1 translations cannot be compared"):
        compare(["a", "b"], ["a"], ["a", "b"])
