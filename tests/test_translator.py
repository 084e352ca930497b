from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dragoman
from dragoman.decoding.bayes_risk import expected_chrf
from dragoman.decoding.loops import most_repeats
from dragoman.errors import ConfigError
from dragoman.model_folder import load_model
from dragoman.text.glossary import Glossary
from dragoman.text.tokenizer import learn_tokenizer
from dragoman.text.tokenizer_pair import TokenizerPair
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


def test_a_prefix_begins_the_translation_and_blanks_stay_blank(
    translator: Translator,
) -> None:
    texts, prefixes = [SENTENCES[0], "", SENTENCES[2]], ["Hola", "Hola", ""]
    found = translator.translate_nbest(texts, 1, prefixes=prefixes)
    assert found[0][0].text.startswith("Hola")
    assert found[1][0].text == ""
    assert found[2][0].text == translator.translate(SENTENCES[2])


def test_alternatives_come_likeliest_first_and_go_on(translator: Translator) -> None:
    found = translator.alternatives(SENTENCES[0], "Buenos", 4)
    chances = [one.log_probability for one in found]
    assert chances == sorted(chances, reverse=True)
    assert len({one.piece for one in found}) == 4
    for one in found:
        assert one.translation.text.startswith("Buenos")
        if one.piece:
            assert one.piece in one.translation.pieces


def test_the_least_risky_sample_is_worth_most(translator: Translator) -> None:
    options = replace(translator.options, method="bayes-risk", samples=6)
    [best] = translator.translate_nbest([SENTENCES[2]], 3, options=options)
    assert [one.score for one in best] == sorted(one.score for one in best)[::-1]
    drawn = replace(translator.options, method="sampling")
    [samples] = translator.translate_nbest([SENTENCES[2]], 6, options=drawn)
    worth = expected_chrf([one.text for one in samples])
    assert best[0].score == max(worth)
    assert best[0].text == samples[worth.index(max(worth))].text


def test_a_model_with_itself_translates_as_alone(model_folder: Path) -> None:
    alone = dragoman.load(model_folder).translate(SENTENCES)
    twice = dragoman.load(model_folder, together_with=[model_folder])
    assert twice.translate(SENTENCES) == alone


def test_models_of_different_vocabularies_do_not_predict_together(
    model_folder: Path, tmp_path: Path
) -> None:
    saved = load_model(model_folder)
    settings = replace(saved.config.tokenizer, kind="characters")
    other = learn_tokenizer(settings, SENTENCES, 300, seed=1)
    stranger = replace(saved, tokenizers=TokenizerPair(other, other))
    with pytest.raises(ConfigError) as caught:
        Translator(saved, together_with=[stranger])
    assert str(caught.value) == (
        "models that predict together need one vocabulary, and the source vocabularies "
        "of these differ: train them on the same prepared text"
    )


def test_loops_are_broken_unless_asked_for(translator: Translator) -> None:
    texts = ["x y z " * 4, *SENTENCES]
    free = replace(translator.options, max_repeats=0)
    guarded = replace(translator.options, max_repeats=1)
    loops = 0
    for text, translation in zip(
        texts, translator.translate(texts, options=guarded), strict=True
    ):
        source = translator.tokenizers.source.encode(text)
        said = translator.tokenizers.target.encode(translation)
        assert most_repeats(said) <= max(1, most_repeats(source))
    for text in translator.translate(texts, options=free):
        loops += most_repeats(translator.tokenizers.target.encode(text)) > 1
    assert loops  # without the guard there were some


GLOSSARY = Glossary.of(
    {"station": "parada", "coffee": "", "good morning": "muy buenas"}
)
SPANS = ["<b>", "</b>", "<br/>", "{x}", "%1$s", "3.14", "a@b.org", "⟦1⟧"]
MARKED = [
    "Good morning, {name}!",
    "Where is the station?",
    "No.",
    "I would like 1,234.56 cups of coffee, please.",
    "Click <b>here</b> and <i>there</i> at https://example.org/a.",
]


def test_terms_and_spans_are_in_every_translation(translator: Translator) -> None:
    found = translator.translate_nbest(MARKED, 2, glossary=GLOSSARY)
    expected = [
        ["{name}", "uy buenas"],
        ["arada"],
        [],
        ["1.234,56", "offee"],
        ["<b>", "</b>", "<i>", "</i>", "https://example.org/a"],
    ]
    for best, wanted in zip(found, expected, strict=True):
        for translation in best:
            assert all(part in translation.text for part in wanted)
            assert len(translation.report) == len(wanted)
            assert all(carried.placed for carried in translation.report)
    text = found[4][0].text
    assert text.index("<b>") < text.index("</b>")
    assert text.index("<i>") < text.index("</i>")


def test_a_glossary_changes_only_sentences_with_its_terms(
    translator: Translator,
) -> None:
    plain = translator.translate(SENTENCES)
    with_terms = translator.translate(SENTENCES, glossary=GLOSSARY)
    for place in (1, 3, 5):
        assert with_terms[place] == plain[place]
    assert with_terms[2] != plain[2]


def test_company_changes_nothing_under_constraints(translator: Translator) -> None:
    together = translator.translate(MARKED, glossary=GLOSSARY)
    alone = [translator.translate(text, glossary=GLOSSARY) for text in MARKED]
    backwards = translator.translate(MARKED[::-1], glossary=GLOSSARY)[::-1]
    assert together == alone == backwards


@settings(max_examples=10, deadline=None)
@given(
    st.lists(
        st.sampled_from(["Hello", "the", *SPANS]),
        min_size=1,
        max_size=12,
    ).map(" ".join)
)
def test_whatever_must_survive_survives(translator: Translator, text: str) -> None:
    [[best]] = translator.translate_nbest([text], 1, beam_size=2)
    for span in SPANS:
        assert best.text.count(span) == text.count(span)


def test_a_model_without_placeholders_spells_out_what_must_survive(
    translator: Translator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Translator, "_has_placeholders", False)
    assert "{x}" in translator.translate("Hello {x}, there.", beam_size=2)


def test_unprotected_text_is_left_to_the_model(translator: Translator) -> None:
    [[best]] = translator.translate_nbest(["It is 1,234.56."], 1, protect=False)
    assert best.report == ()


def test_a_document_keeps_its_lines_and_what_is_around_sentences(
    translator: Translator,
) -> None:
    text = "Good morning! Where is the station?\n\n  - Good morning!\n"
    lines = translator.translate_document(text).split("\n")
    one, two = translator.translate(["Good morning!", "Where is the station?"])
    assert lines == [f"{one} {two}", "", f"  - {one}", ""]


def test_what_is_too_long_is_cut_at_punctuation_and_counted(
    translator: Translator,
) -> None:
    long = "where is the station, " * 60
    [[best]] = translator.translate_nbest([long], 1, beam_size=1)
    assert best.num_cuts > 0
    [[short]] = translator.translate_nbest(["Good morning!"], 1, beam_size=1)
    assert short.num_cuts == 0


def test_endless_runs_are_copied_and_what_is_beside_them_translated(
    translator: Translator,
) -> None:
    run = "ab" * 600
    text, other = "Good morning!", "Where is the station?"
    one, two = translator.translate([text, other], beam_size=2)
    texts = [
        f"{text} {run}",
        run,
        f"{run} {other}\t{run}{run} {text}",
        other,
        f" {run}",
    ]
    found = translator.translate_nbest(texts, 2, beam_size=2)
    assert [best[0].text for best in found] == [
        f"{one} {run}".strip(),
        run,
        f"{run} {two} {run}{run} {one}".strip(),
        two,
        run,
    ]
    assert [best[0].num_copied for best in found] == [1200, 1200, 3600, 0, 1200]
    assert all(len(best) == 2 for best in found)
    [[begun]] = translator.translate_nbest([f"{run} {text}"], 1, prefixes=["El "])
    assert begun.text.startswith(f"{run} El")


def test_sentences_of_a_line_are_translated_as_if_alone(translator: Translator) -> None:
    alone = translator.translate(SENTENCES)
    [[line]] = translator.translate_nbest([" ".join(SENTENCES)], 1)
    assert line.text == " ".join(text for text in alone if text)
    whole = translator.translate(" ".join(SENTENCES), split=False)
    assert whole != line.text


@settings(max_examples=10, deadline=None)
@given(
    st.lists(
        st.sampled_from(
            [
                "I am 25 years old.",
                "Call Tom at 555-123-4567!",
                "It is 50% off, <b>now</b>.",
                "Is {name} in?",
                "{name}",
                "At 2:30 it is -5°C.",
            ]
        ),
        min_size=1,
        max_size=4,
    )
)
def test_nothing_is_lost_in_silence(
    translator: Translator, sentences: list[str]
) -> None:
    [[best]] = translator.translate_nbest([" ".join(sentences)], 1, beam_size=2)
    lost = [carried.source for carried in best.report if carried.target == ""]
    assert best.verified == (
        not best.concerns and all(carried.placed for carried in best.report)
    )
    assert not lost
    for carried in best.report:
        assert carried.target in best.text


@pytest.mark.parametrize("text", ["{name}", "<b>5</b>", "  https://a.org/b  !"])
def test_a_line_of_nothing_but_spans_is_copied(
    translator: Translator, text: str
) -> None:
    [[best]] = translator.translate_nbest([text], 1)
    assert best.text == text.rstrip()
    assert best.verified


def test_checks_can_be_switched_off(translator: Translator) -> None:
    found = translator.translate_nbest(SENTENCES, 1, check=False)
    assert all(best.concerns == () and not best.mended for [best] in found)
