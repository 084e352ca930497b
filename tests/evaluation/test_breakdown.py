import json

import pytest

from dragoman.errors import EvaluationError
from dragoman.evaluation.breakdown import breakdown_table, by_length
from dragoman.evaluation.metrics import score


def sentence(words: int) -> str:
    return " ".join(f"word{n}" for n in range(words))


def test_every_sentence_is_in_the_bucket_of_its_source() -> None:
    sources = [sentence(n) for n in (0, 1, 5, 6, 10, 11, 20, 21, 30, 31, 50, 51, 400)]
    buckets = by_length(sources, sources, sources)
    assert [(bucket.words, bucket.count) for bucket in buckets] == [
        ("0", 1),
        ("1-5", 2),
        ("6-10", 2),
        ("11-20", 2),
        ("21-30", 2),
        ("31-50", 2),
        ("51+", 2),
    ]
    assert all(bucket.bleu == pytest.approx(100) for bucket in buckets[2:])


def test_lengths_that_do_not_occur_are_left_out() -> None:
    sources = [sentence(3), sentence(25)]
    breakdown = by_length(sources, sources, sources)
    assert [bucket.words for bucket in breakdown] == ["1-5", "21-30"]


def test_a_bucket_scores_as_its_sentences_alone() -> None:
    sources = [sentence(4), sentence(12), sentence(5), sentence(14)]
    translations = [sentence(3), "word0 other", sentence(5), sentence(13) + " other"]
    breakdown = by_length(sources, translations, sources, lowercase=True)
    short, long = breakdown
    alone = score(translations[1::2], sources[1::2], lowercase=True, bootstrap=1)
    assert long.bleu == pytest.approx(alone.bleu.score)
    assert long.chrf == pytest.approx(alone.chrf.score)
    assert short.chrf != pytest.approx(long.chrf)


def test_the_table_is_aligned_and_the_plain_data_complete() -> None:
    sources = [sentence(3), sentence(25)]
    breakdown = by_length(sources, sources, sources)
    lines = breakdown_table(breakdown).split("\n")
    assert len({len(line) for line in lines}) == 1
    assert lines[0].split() == ["words", "sentences", "BLEU", "chrF2"]
    assert lines[2].split() == ["21-30", "1", "100.0", "100.0"]
    plain = json.loads(json.dumps(breakdown[1].to_dict()))
    assert plain == {
        "words": "21-30",
        "count": 1,
        "bleu": pytest.approx(100),
        "chrf": pytest.approx(100),
    }


def test_a_missing_source_is_refused() -> None:
    with pytest.raises(EvaluationError) as caught:
        by_length(["a"], ["a", "b"], ["a", "b"])
    assert str(caught.value) == (
        "2 translations cannot be those of 1 source sentences: give one translation "
        "for each, in the same order"
    )
