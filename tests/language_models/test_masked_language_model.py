import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.language_models.counting import KneserNey

from dragoman.errors import ConfigError
from dragoman.language_models.embeddings import neighbours, static, write_npz
from dragoman.language_models.masked_language_model import MaskedLanguageModel
from dragoman.special_tokens import END


@pytest.fixture(scope="session")
def model(masked_language_model: Path) -> MaskedLanguageModel:
    return MaskedLanguageModel.load(masked_language_model, "cpu")


def test_a_gap_is_filled_from_both_sides(model: MaskedLanguageModel) -> None:
    [[best, *_]] = model.fill("[MASK] saw the big house and then hugo slept again")
    assert best.word == "hugo"
    assert best.text == "hugo saw the big house and then hugo slept again"
    [[best, *_]] = model.fill("emma saw the big house and then [MASK] slept again")
    assert best.word == "emma"
    [words] = model.fill("emma saw the big [MASK] and then emma slept again", 5)
    assert {word.word for word in words} == {
        *("house", "boat", "garden", "bridge", "tower")
    }


def test_hidden_words_cost_less_than_by_counting_from_both_sides(
    model: MaskedLanguageModel, text: Any
) -> None:
    """Each word of some unseen sentences is hidden in turn.

    An n-gram model, too, is given what stands on both sides, as far as it can see.
    """
    encode = model.tokenizer.encode
    lines = text.train.read_text().splitlines()
    learned = [token for line in lines for token in (*encode(line), END)]
    counted = KneserNey(learned, 3, model.tokenizer.vocabulary_size)
    choices = [k for k in range(END + 1, counted.vocabulary) if k != model.mask]
    guessed = known = 0.0
    for line in text.valid.read_text().splitlines()[:10]:
        words = line.split()
        stream = [END, *encode(line), END]
        for place, word in enumerate(words):
            gapped = " ".join([*words[:place], "[MASK]", *words[place + 1 :]])
            [fillings] = model.fill(gapped, 250)
            shares = {filling.word: filling.probability for filling in fillings}
            known -= math.log(shares[word])
            guessed += counted.nats_between(stream, place + 1, choices)
    assert known < guessed


def test_probabilities_come_best_first_and_sum_to_one(
    model: MaskedLanguageModel,
) -> None:
    gaps = model.fill("emma [MASK] the [MASK] house and then emma slept again", 250)
    assert len(gaps) == 2
    for words in gaps:
        shares = [word.probability for word in words]
        assert shares == sorted(shares, reverse=True)
        assert sum(shares) == pytest.approx(1, abs=0.02)
        assert "[MASK]" not in {word.word for word in words}


@pytest.mark.parametrize(
    ("gapped", "count", "message"),
    [
        ("no gap at all", 5, "there is no gap in 'no gap at all': put [MASK], as a"),
        ("a [MASK]", 0, "0 words cannot be given for a gap: choose at least 1"),
        ("a [MASK] " + "b " * 99, 5, "does not fit into the 22 that this model reads"),
    ],
)
def test_what_cannot_be_filled_is_said_in_one_line(
    gapped: str, count: int, message: str, model: MaskedLanguageModel
) -> None:
    with pytest.raises(ConfigError) as caught:
        model.fill(gapped, count)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_word_in_context_depends_on_its_context_and_on_no_other_text(
    model: MaskedLanguageModel,
) -> None:
    texts = ["emma saw the big house", "the big house and then", "boat"]
    together = model.embed(texts)
    assert together.vectors.shape == (len(together.tokens), 32)
    assert together.texts.shape == (3, 32)
    for number, text in enumerate(texts):
        alone = model.embed([text])
        own = slice(together.starts[number], together.starts[number + 1])
        np.testing.assert_allclose(alone.vectors, together.vectors[own], atol=1e-5)
        mean = together.vectors[own].mean(axis=0)
        np.testing.assert_allclose(together.texts[number], mean, rtol=1e-6)
    house = [k for k, piece in enumerate(together.pieces) if "house" in piece]
    assert len(house) == 2
    first, second = together.vectors[house]
    assert not np.allclose(first, second, atol=1e-2)


def test_words_that_stand_alike_are_neighbours(model: MaskedLanguageModel) -> None:
    found = neighbours(model.saved, "house", 4)
    cosines = [one.cosine for one in found]
    assert cosines == sorted(cosines, reverse=True)
    assert all(-1 <= cosine < 1 for cosine in cosines)
    assert "house" not in {one.piece.strip("▁ ") for one in found}
    with pytest.raises(ConfigError, match="there is no word to find neighbours of"):
        neighbours(model.saved, " ")


def test_vectors_are_written_for_numpy(
    model: MaskedLanguageModel, tmp_path: Path
) -> None:
    file = tmp_path / "vectors.npz"
    write_npz(file, model.saved)
    with np.load(file) as arrays:
        assert sorted(arrays) == ["static", "vocabulary"]
    embedded = model.embed(["emma saw", "the boat"])
    write_npz(file, model.saved, embedded)
    with np.load(file) as arrays:
        np.testing.assert_array_equal(arrays["static"], static(model.saved))
        assert len(arrays["vocabulary"]) == model.tokenizer.vocabulary_size
        np.testing.assert_array_equal(arrays["contextual"], embedded.vectors)
        assert arrays["starts"].tolist() == [0, 2, 4]
    with pytest.raises(ConfigError, match="a text without a word has no vectors"):
        model.embed([""])
