from pathlib import Path

import pytest

import dragoman
from dragoman.decoding.constraints import Constraints, Progress
from dragoman.phrases import PhraseSpeller
from dragoman.text.demands import demands_of
from dragoman.text.glossary import Glossary
from dragoman.text.placeholders import placeholder_ids
from dragoman.text.tokenizer import Tokenizer

GLOSSARY = Glossary.of({"station": "parada|paradas"})


@pytest.fixture(scope="module")
def tokenizer(model_folder: Path) -> Tokenizer:
    return dragoman.load(model_folder).tokenizers.target


def are_met(constraints: Constraints, ids: list[int]) -> bool:
    progress: Progress | None = Progress()
    for token in ids:
        assert progress is not None
        progress = constraints.advance(progress, token)
    return progress is not None and constraints.are_met(progress)


@pytest.mark.parametrize(
    ("said", "met"),
    [
        ("parada", True),
        ("Parada.", True),
        ("la parada", True),
        ("¿parada?", True),
        ("(paradas)", True),
        ("la paradas, sí", True),
        ("paradoja", False),
        ("desparada", False),
        ("paradaso", False),
        ("la estación", False),
    ],
)
def test_a_term_is_recognised_as_it_is_spelled_in_a_sentence(
    tokenizer: Tokenizer, said: str, met: bool
) -> None:
    asked = demands_of(
        "the station", "nfc", protecting=True, has_placeholders=True, glossary=GLOSSARY
    )
    constraints = PhraseSpeller(tokenizer).constraints(asked)
    assert are_met(constraints, tokenizer.encode(said)) == met


def test_placeholders_come_once_and_no_strangers_do(tokenizer: Tokenizer) -> None:
    asked = demands_of(
        "<b>a</b> {x}", "nfc", protecting=True, has_placeholders=True, glossary=None
    )
    constraints = PhraseSpeller(tokenizer).constraints(asked)
    assert are_met(constraints, tokenizer.encode("⟦3⟧ ⟦1⟧ a ⟦2⟧"))
    assert constraints.advance(Progress(), placeholder_ids(tokenizer)[3]) is None
    assert constraints.advance(Progress(), placeholder_ids(tokenizer)[1]) is None
