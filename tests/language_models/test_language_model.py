"""A language model knows more of a text than counting can, and says so honestly."""

import math
from pathlib import Path
from typing import Any

import pytest
import torch
from tests.language_models.counting import KneserNey

from dragoman.errors import ConfigError, EvaluationError, ModelFolderError
from dragoman.language_models.language_model import LanguageModel
from dragoman.language_models.masked_language_model import MaskedLanguageModel
from dragoman.special_tokens import BEGIN, END
from dragoman.translator import Translator


@pytest.fixture(scope="session")
def model(language_model: Path) -> LanguageModel:
    return LanguageModel.load(language_model, "cpu")


def stream(model: LanguageModel, file: Path) -> list[int]:
    lines = file.read_text().splitlines()
    encoded = model.tokenizer.encode_many(lines)
    return [token for line in encoded for token in (*line, END)]


@pytest.mark.parametrize("order", [1, 2, 3, 4, 5])
def test_held_out_text_costs_less_than_by_counting(
    order: int, model: LanguageModel, text: Any
) -> None:
    vocabulary = model.tokenizer.vocabulary_size
    counted = KneserNey(stream(model, text.train), order, vocabulary)
    held_out = stream(model, text.valid)
    found = model.perplexity(text.valid.read_text().splitlines())
    assert found.tokens == len(held_out)
    assert found.nats < counted.nats(held_out)


def test_perplexity_and_bits_are_made_of_the_same_sum(model: LanguageModel) -> None:
    lines = ["anna saw the big house and then anna slept again", "", "ben left"]
    found = model.perplexity(lines)
    assert found.characters == sum(len(line) + 1 for line in lines if line)
    assert math.log(found.per_token) * found.tokens == pytest.approx(found.nats)
    bits = found.bits_per_character * found.characters
    assert bits * math.log(2) == pytest.approx(found.nats)


def test_a_short_text_costs_what_the_model_says_of_it(model: LanguageModel) -> None:
    line = "emma bought the old boat and then emma sang again"
    tokens = [*model.tokenizer.encode(line), END]
    with torch.inference_mode():
        logits = model.model(torch.tensor([[END]]), torch.tensor([[BEGIN, *tokens]]))
    said = logits[0, :-1].log_softmax(dim=-1)[range(len(tokens)), tokens]
    assert model.perplexity([line]).nats == pytest.approx(-float(said.sum()), rel=1e-5)


def test_no_text_has_no_perplexity(model: LanguageModel) -> None:
    with pytest.raises(EvaluationError, match="there is no text to measure: give"):
        model.perplexity(["", "  "])


def test_whoever_a_sentence_began_with_comes_back(model: LanguageModel) -> None:
    for name in ("anna", "hugo", "greta"):
        begun = f"{name} saw the big house and then"
        said = model.generate(begun, max_tokens=1, top_k=1)
        assert said == f"{begun} {name}"


def test_the_seed_decides_what_is_drawn(model: LanguageModel) -> None:
    first = model.generate("anna", max_tokens=30, seed=1)
    assert model.generate("anna", max_tokens=30, seed=1) == first
    assert model.generate("anna", max_tokens=30, seed=2) != first
    assert first.startswith("anna")


def test_a_text_may_outgrow_the_window(model: LanguageModel) -> None:
    said = model.generate("anna saw", max_tokens=100, top_k=1)
    assert len([*said.split(), *said.split("\n")[1:]]) >= 80  # the words and line ends
    prompt = "ben left again\n" * 40 + "carla saw"
    assert model.generate(prompt, max_tokens=3).startswith("ben left again\nben left")


def test_one_line_ends_where_the_line_ends(model: LanguageModel) -> None:
    said = model.generate("anna", max_tokens=60, top_k=1, one_line=True)
    assert "\n" not in said
    assert said.endswith("again")


def test_cached_steps_draw_what_whole_readings_would(model: LanguageModel) -> None:
    tokens = model.tokenizer.encode("anna saw the")
    for _ in range(6):
        target_in = torch.tensor([[BEGIN, *tokens]])
        logits = model.model(torch.tensor([[END]]), target_in)[0, -1]
        tokens.append(int(logits.argmax()))
    said = model.generate("anna saw the", max_tokens=6, top_k=1)
    assert said == model.tokenizer.decode(tokens)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"max_tokens": 0}, "max_tokens must be a whole number above 0, not 0"),
        ({"temperature": 0.0}, "a temperature of 0 is not allowed"),
        ({"top_p": 2.0}, "a top-p of 2 is not allowed"),
        ({"top_k": -1}, "a top-k of -1 is not allowed"),
    ],
)
def test_what_cannot_be_asked_is_said_in_one_line(
    asked: dict[str, Any], message: str, model: LanguageModel
) -> None:
    with pytest.raises(ConfigError) as caught:
        model.generate("anna", **asked)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_each_kind_of_model_says_what_to_use_instead(
    language_model: Path, masked_language_model: Path, model_folder: Path
) -> None:
    said = {
        language_model: "a language model: use `dragoman generate` or "
        "`evaluate --text`",
        masked_language_model: "a masked language model: use `dragoman fill` or "
        "`embed`",
        model_folder: "a translator: use `dragoman translate`",
    }
    for load, own in (
        (Translator.load, model_folder),
        (LanguageModel.load, language_model),
        (MaskedLanguageModel.load, masked_language_model),
    ):
        for folder, what in said.items():
            if folder == own:
                continue
            with pytest.raises(ModelFolderError) as caught:
                load(folder)
            assert str(caught.value) == f"{folder} is {what}"
