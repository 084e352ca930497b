"""What Python callers pass in is judged as strictly as what a command line says."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dragoman
from dragoman.arguments import check_choice, check_number, check_whole, texts_of
from dragoman.errors import ConfigError, DragomanError, InspectionError
from dragoman.interchange.ctranslate2 import export_ctranslate2
from dragoman.translator import Translator


@pytest.fixture(scope="module")
def translator(model_folder: Path) -> Translator:
    return dragoman.load(model_folder)


WRONG_CALLS: list[tuple[Callable[[Any], object], str]] = [
    (lambda t: t.translate([1]), "texts[0] must be a text, not 1"),
    (lambda t: t.translate(["a", None]), "texts[1] must be a text, not None"),
    (lambda t: t.translate(3), "texts must be a list of texts, not 3"),
    (lambda t: t.translate(b"a"), "texts must be a list of texts, not b'a'"),
    (lambda t: t.translate({"a": 1}), "texts must be a list of texts, not {'a': 1}"),
    (lambda t: t.translate_nbest("a"), "texts must be a list of texts, not 'a'"),
    (
        lambda t: t.translate("a", beam_size="4"),
        "beam_size must be a whole number, not '4'",
    ),
    (
        lambda t: t.translate("a", beam_size=2.5),
        "beam_size must be a whole number, not 2.5",
    ),
    (
        lambda t: t.translate_nbest(["a"], nbest=True),
        "nbest must be a whole number, not True",
    ),
    (
        lambda t: t.translate("a", glossary={"a": "b"}),
        "glossary must be a dragoman.Glossary, not {'a': 'b'}",
    ),
    (
        lambda t: t.translate("a", options={"beam_size": 2}),
        "options must be made from `translator.options`, not {'beam_size': 2}",
    ),
    (
        lambda t: t.translate("a", protect="no"),
        "protect must be True or False, not 'no'",
    ),
    (
        lambda t: t.translate_nbest(["a", "b"], prefixes=["c"]),
        "1 prefixes cannot begin 2 translations: give one for each text, "
        '"" where none is wanted',
    ),
    (
        lambda t: t.translate_nbest(["a"], prefixes="c"),
        "prefixes must be a list of texts, not 'c'",
    ),
    (lambda t: t.translate_document(["a"]), "text must be a text, not ['a']"),
    (lambda t: t.translate_lines("a"), "lines must be a list of texts, not 'a'"),
    (lambda t: t.alternatives(1), "text must be a text, not 1"),
    (
        lambda t: t.alternatives("a", count=0),
        "count must be a whole number above 0, not 0",
    ),
    (
        lambda t: replace(t.options, method="beem"),
        "there is no search 'beem' (did you mean 'beam'?): choose one of beam, "
        "sampling, bayes-risk",
    ),
    (
        lambda t: replace(t.options, length_penalty_kind="papr"),
        "there is no length penalty 'papr' (did you mean 'paper'?): choose one of "
        "paper, none, average",
    ),
    (
        lambda t: replace(t.options, temperature="hot"),
        "temperature must be a number, not 'hot'",
    ),
    (
        lambda t: replace(t.options, shortlist=1),
        "shortlist must be True or False, not 1",
    ),
]


@pytest.mark.parametrize(("call", "message"), WRONG_CALLS)
def test_a_translator_says_what_came_and_what_is_allowed(
    translator: Translator, call: Callable[[Any], object], message: str
) -> None:
    with pytest.raises(ConfigError) as raised:
        call(translator)
    assert str(raised.value) == message


def test_any_iterable_of_texts_is_several_texts(translator: Translator) -> None:
    both = ["Good morning!", "Where are you?"]
    found = translator.translate(both)
    assert translator.translate(text for text in both) == found  # type: ignore[call-overload]
    assert translator.translate(tuple(both)) == found
    assert translator.translate(np.array(both)) == found  # type: ignore[call-overload]


LOADING: list[tuple[dict[str, Any], str]] = [
    ({"folder": 3}, "folder must be a path, not 3"),
    ({"engine": "ctranslate"}, "there is no engine 'ctranslate' (did you mean "),
    ({"engine": None}, "there is no engine None: choose one of auto, pytorch, "),
    ({"threads": "2"}, "threads must be a whole number above 0, not '2'"),
    ({"threads": 0}, "threads must be a whole number above 0, not 0"),
    ({"device": 0}, "device must be a text, not 0"),
    ({"together_with": "other"}, "together_with must be a list of paths, not 'other'"),
    ({"together_with": [1]}, "together_with[0] must be a path, not 1"),
]


@pytest.mark.parametrize(("wrong", "message"), LOADING)
def test_loading_is_strict(
    model_folder: Path, wrong: dict[str, Any], message: str
) -> None:
    with pytest.raises(ConfigError) as raised:
        dragoman.load(**{"folder": model_folder} | wrong)
    assert str(raised.value).startswith(message)


TRAINING: list[tuple[dict[str, Any], str]] = [
    ({"folder": None}, "folder must be a path, not None"),
    ({"steps": "3"}, "steps must be a whole number above 0, not '3'"),
    ({"steps": 0}, "steps must be a whole number above 0, not 0"),
    ({"steps": 1.5}, "steps must be a whole number above 0, not 1.5"),
    ({"minutes": "10"}, "minutes must be a number above 0, not '10'"),
    ({"minutes": -1}, "minutes must be a number above 0, not -1"),
    ({"epochs": float("nan")}, "epochs must be a number above 0, not nan"),
    ({"preset": "tinny"}, "there is no preset 'tinny' (did you mean 'tiny'?): choose "),
    ({"preset": 1}, "there is no preset 1: choose one of tiny, small, "),
    ({"task": "translate"}, "there is no task 'translate' (did you mean 'translation"),
    ({"settings": ["a"]}, "settings must be a mapping of section.key to value, not "),
    ({"settings": {1: 2}}, "the name of a setting must be a text, not 1"),
    ({"settings": {"model.dropout": "much"}}, "model.dropout = 'much' is not a number"),
    ({"source": 1}, "source must be a path or a list of paths, not 1"),
    ({"source": [1]}, "source must be a path, not 1"),
    ({"target": 1}, "target must be a path or a list of paths, not 1"),
    ({"weights": 1}, "weights must be a list of numbers, not 1"),
    ({"weights": ["1"]}, "a corpus's weight must be a number, not '1'"),
    ({"valid_source": 1}, "valid_source must be a path, not 1"),
    ({"start_from": 1}, "start_from must be a path, not 1"),
    ({"quiet": "yes"}, "quiet must be True or False, not 'yes'"),
    ({"allow_dropped": 1}, "allow_dropped must be True or False, not 1"),
]


@pytest.mark.parametrize(("wrong", "message"), TRAINING)
def test_training_is_strict_and_leaves_nothing(
    corpus: Any, tmp_path: Path, wrong: dict[str, Any], message: str
) -> None:
    right: dict[str, Any] = {
        "folder": tmp_path / "model",
        "source": corpus.train_source,
        "target": corpus.train_target,
        "quiet": True,
    }
    with pytest.raises(DragomanError) as raised:
        dragoman.train(**right | wrong)
    assert str(raised.value).startswith(message)
    assert list(tmp_path.iterdir()) == []


def test_inspecting_names_the_nearest_kind(translator: Translator) -> None:
    seen = dragoman.inspect(translator, "Good morning!")
    for wrong in (seen.attention, seen.word_attention, seen.layers):
        with pytest.raises(InspectionError) as raised:
            wrong("cros")  # type: ignore[arg-type]
        assert str(raised.value) == (
            "there is no kind of attention 'cros' (did you mean 'cross'?): choose one "
            "of encoder, decoder, cross"
        )
    with pytest.raises(InspectionError, match=r"did you mean 'cross'\?"):
        seen.ablate("cros", 0, 0)  # type: ignore[arg-type]
    with pytest.raises(InspectionError, match=r"did you mean 'scaling'\?"):
        seen.without("scalling")  # type: ignore[arg-type]
    with pytest.raises(InspectionError, match=r"did you mean 'decoder'\?"):
        seen.sublayers("decode")  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="source must be a text, not 1"):
        dragoman.inspect(translator, 1)  # type: ignore[call-overload]
    with pytest.raises(ConfigError, match="model must be a path, not 1"):
        dragoman.inspect(1, "Good morning!")  # type: ignore[call-overload]


def test_evaluating_planning_and_exporting_are_strict(model_folder: Path) -> None:
    with pytest.raises(ConfigError, match="source must be a path, not None"):
        dragoman.evaluate(model_folder, source=None, reference="b")  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="pairs must be a whole number above 0"):
        dragoman.plan(pairs="many")  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match=r"'int7' \(did you mean 'int8'\?\)"):
        export_ctranslate2(model_folder, "int7")


def test_glossaries_are_strict() -> None:
    with pytest.raises(ConfigError, match="a glossary must be a mapping of terms"):
        dragoman.Glossary.of([("a", "b")])  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="the translation of 'a' must be a text"):
        dragoman.Glossary.of({"a": 1})  # type: ignore[dict-item]
    with pytest.raises(ConfigError, match="a glossary must be a path, not 1"):
        dragoman.Glossary.load(1)  # type: ignore[arg-type]


def test_reprs_are_short(translator: Translator) -> None:
    assert repr(translator) == "Translator(en → es, pytorch)"
    assert repr(dragoman.Glossary.of({"a": "b"})) == "Glossary(1 term)"
    assert repr(dragoman.Glossary.of({"a": "b", "c": ""})) == "Glossary(2 terms)"
    seen = dragoman.inspect(translator, "Good morning!", "¡Hola!")
    assert repr(seen) == "Inspection('Good morning!' → '¡Hola!')"


def test_numbers_of_numpy_are_numbers_and_truth_is_none() -> None:
    check_whole("n", np.int64(3))
    check_number("x", np.float32(0.5))
    for check in (check_whole, check_number):
        with pytest.raises(ConfigError, match="not True"):
            check("n", True)


def test_a_name_like_no_other_has_no_nearest_one() -> None:
    with pytest.raises(ConfigError) as raised:
        check_choice("colour", "xyz", ("red", "green"))
    assert str(raised.value) == "there is no colour 'xyz': choose one of red, green"


def test_what_came_is_shown_in_a_line() -> None:
    with pytest.raises(ConfigError) as raised:
        texts_of("texts", b"x" * 1000)
    assert len(str(raised.value)) < 120
