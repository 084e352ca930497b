import json
from collections.abc import Callable

import pytest

from dragoman.evaluation.metrics import corpus_bleu, score

Spoil = Callable[[list[str], float, int], list[str]]


def test_the_reference_itself_is_perfect(references: list[str]) -> None:
    found = score(references, references, bootstrap=20)
    assert found.bleu.score == pytest.approx(100)
    assert found.chrf.score == pytest.approx(100)
    assert found.ter.score == 0
    assert found.bleu.interval == pytest.approx((100, 100))


def test_more_mistakes_score_worse(references: list[str], spoil: Spoil) -> None:
    good = score(spoil(references, 0.1, 1), references, bootstrap=1)
    poor = score(spoil(references, 0.5, 1), references, bootstrap=1)
    assert good.bleu.score > poor.bleu.score
    assert good.chrf.score > poor.chrf.score
    assert good.ter.score < poor.ter.score


def test_intervals_hold_the_score_and_narrow_as_the_corpus_grows(
    references: list[str], spoil: Spoil
) -> None:
    translations = spoil(references, 0.3, 1)
    small = score(translations, references, bootstrap=200)
    large = score(translations * 4, references * 4, bootstrap=200)
    for name in ("bleu", "chrf", "ter"):
        few, many = getattr(small, name), getattr(large, name)
        assert few.interval[0] < few.score < few.interval[1]
        width, narrower = (high - low for low, high in (few.interval, many.interval))
        assert narrower < width


def test_one_sentence_leaves_nothing_to_resample() -> None:
    found = score(["the cat sees a tree"], ["the cat sees the tree"], bootstrap=5)
    assert found.chrf.interval == pytest.approx((found.chrf.score,) * 2)


def test_plain_data_has_the_promised_shape(references: list[str]) -> None:
    found = score(references, references, bootstrap=5)
    plain = json.loads(json.dumps(found.to_dict()))
    assert list(plain) == ["bleu", "chrf", "ter"]
    for name, value in plain.items():
        assert list(value) == ["score", "signature", "interval"]
        assert value["score"] == getattr(found, name).score
        assert len(value["interval"]) == 2


def test_the_table_shows_scores_intervals_and_signatures(
    references: list[str], spoil: Spoil
) -> None:
    found = score(spoil(references, 0.3, 1), references, bootstrap=5)
    lines = found.table().split("\n")
    for line, name in zip(lines, ("bleu", "chrf", "ter"), strict=True):
        row = getattr(found, name)
        assert f"{row.score:.1f}" in line
        assert f"{row.interval[1]:.1f}" in line
        assert line.endswith(row.signature)
    assert [line.split()[0] for line in lines] == ["BLEU", "chrF2", "TER"]


def test_bleu_alone_is_the_same_bleu(references: list[str], spoil: Spoil) -> None:
    translations = spoil(references, 0.3, 1)
    expected = score(translations, references, bootstrap=1, lowercase=True)
    assert corpus_bleu(translations, references, lowercase=True) == expected.bleu.score
