from pathlib import Path

import pytest

import dragoman
from dragoman.errors import ConfigError
from dragoman.translator import Translator

SENTENCES = [
    "Good morning!",
    "",
    "Where is the station?",
    "   ",
    "I would like a cup of coffee, please.",
    "日本語 🙂 и кириллица",
]


@pytest.fixture(scope="module")
def translator(model_folder: Path) -> Translator:
    return dragoman.load(str(model_folder))


def test_one_translation_for_each_sentence_and_blank_stays_blank(
    translator: Translator,
) -> None:
    translations = translator.translate(SENTENCES)
    assert len(translations) == len(SENTENCES)
    assert translations[1] == translations[3] == ""
    assert all("\n" not in text for text in translations)
    assert translations[0]


def test_blanks_of_every_kind_stay_blank(translator: Translator) -> None:
    blanks = ["\u3000", "\u00a0\u2003", "\t", "\u2028"]
    assert translator.translate(blanks) == [""] * len(blanks)


def test_a_single_sentence_gives_a_single_translation(translator: Translator) -> None:
    assert translator.translate(SENTENCES[0]) == translator.translate(SENTENCES)[0]


def test_company_and_order_change_nothing(translator: Translator) -> None:
    together = translator.translate(SENTENCES)
    alone = [translator.translate(sentence) for sentence in SENTENCES]
    backwards = translator.translate(SENTENCES[::-1])[::-1]
    assert together == alone == backwards


def test_nbest_is_sorted_and_begins_with_the_best(translator: Translator) -> None:
    (best,) = translator.translate_nbest([SENTENCES[0]], 3)
    scores = [translation.score for translation in best]
    assert len(best) == 3
    assert scores == sorted(scores, reverse=True)
    assert best[0].text == translator.translate(SENTENCES[0])
    assert len(best[0].piece_log_probabilities) in (
        len(best[0].pieces),
        len(best[0].pieces) + 1,
    )


def test_blank_sentences_have_blank_nbest(translator: Translator) -> None:
    (best,) = translator.translate_nbest([""], 2)
    assert [translation.text for translation in best] == ["", ""]


def test_more_than_the_beam_holds_is_refused(translator: Translator) -> None:
    with pytest.raises(ConfigError, match="cannot give the 3 best"):
        translator.translate_nbest(["Hello."], 3, beam_size=2)


def test_a_sentence_past_the_trained_length_is_translated_whole(
    translator: Translator,
) -> None:
    long = "Good morning! " * 200
    ids = translator.tokenizers.source.encode(long)
    assert len(ids) > translator.config.data.max_tokens
    assert translator.translate(long, beam_size=1)


def test_compatible_forms_are_translated_alike(translator: Translator) -> None:
    assert translator.translate("cafe\u0301  con leche") == translator.translate(
        "caf\u00e9 con leche"
    )
