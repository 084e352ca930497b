import random
from pathlib import Path

import numpy as np
import pytest

from dragoman.data import word_translations
from dragoman.data.token_store import TokenStore, TokenStoreWriter
from dragoman.data.word_translations import WordTranslations
from dragoman.special_tokens import END, PAD

VOCABULARY, SHIFT, ARTICLE = 40, 15, 39


@pytest.fixture
def store(tmp_path: Path) -> TokenStore:
    """Each word has its own translation, in any order, and an article comes often."""
    rng = random.Random(1)
    sources = [rng.sample(range(4, 20), rng.randrange(1, 9)) for _ in range(400)]
    targets = []
    for source in sources:
        target = [token + SHIFT for token in source]
        rng.shuffle(target)
        targets.append([ARTICLE, *target])
    with TokenStoreWriter(tmp_path / "store", VOCABULARY) as writer:
        writer.add_many(sources, targets)
    return TokenStore.open(tmp_path / "store")


def test_the_likeliest_translation_of_a_word_is_its_own(store: TokenStore) -> None:
    learned = WordTranslations.learn(store, VOCABULARY)
    table = learned.candidates(VOCABULARY, 2, PAD)
    for token in range(4, 20):
        assert table[token, 0] == token + SHIFT


def test_what_comes_with_every_sentence_comes_from_its_end(store: TokenStore) -> None:
    table = WordTranslations.learn(store, VOCABULARY).candidates(VOCABULARY, 1, PAD)
    assert table[END].tolist() == [ARTICLE]


def test_unread_tokens_have_no_translations(store: TokenStore) -> None:
    table = WordTranslations.learn(store, VOCABULARY).candidates(VOCABULARY, 3, PAD)
    assert (table[[PAD, 25, 39]] == PAD).all()


def test_expectations_count_every_target_token_once(store: TokenStore) -> None:
    learned = WordTranslations.learn(store, VOCABULARY)
    assert learned.expected.sum() == pytest.approx(store.num_target_tokens)
    assert learned.frequency.sum() == store.num_target_tokens


def test_the_commonest_come_first(store: TokenStore) -> None:
    commonest = WordTranslations.learn(store, VOCABULARY).commonest(5)
    assert commonest[0] == ARTICLE
    assert len(np.unique(commonest)) == 5


def test_a_part_of_a_large_corpus_is_enough(
    store: TokenStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(word_translations, "MOST_MEETINGS", 3000)
    learned = WordTranslations.learn(store, VOCABULARY)
    assert 0 < learned.frequency.sum() < store.num_target_tokens
    assert learned.candidates(VOCABULARY, 1, PAD)[4, 0] == 4 + SHIFT
