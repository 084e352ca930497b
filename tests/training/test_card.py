import re
import shlex
from dataclasses import replace
from pathlib import Path

import pytest

from dragoman.cli.main import build_parser
from dragoman.config import load_preset
from dragoman.text.corpus import Corpus
from dragoman.training.card import Card


@pytest.fixture
def card() -> Card:
    return Card(
        name="my-model",
        languages=("en", "es"),
        config=load_preset("base"),
        parameters=1_234_567,
        corpora=(Corpus(Path("corpus/train.en"), Path("corpus/train.es")),),
        report="pairs read  1,000",
        command="dragoman train my-model --source corpus/train.en --steps 5",
        training="5 updates in 0:07; the budget is spent.",
        validation="averaged model: validation loss 1.5",
    )


def test_a_card_tells_what_from_what_how_and_how_good(card: Card) -> None:
    text = card.text()
    for told in (
        "# my-model\n",
        "from `en` to `es`",
        "Transformer, 6+6 layers,\nd_model 512, d_ff 2048, 8 heads, post-norm:\n"
        "1,234,567 parameters.",
        "- `corpus/train.en` with `corpus/train.es`\n",
        f"```\n{card.report}\n```",
        f"```\n{card.command}\n```",
        card.training,
        "averaged model: validation loss 1.5",
    ):
        assert told in text
    headings = re.findall(r"^## (.*)$", text, re.MULTILINE)
    assert headings == ["The model", "The data", "The training", "How good it is"]


def test_a_card_tells_the_weights_of_its_corpora(card: Card) -> None:
    mixed = (Corpus(Path("a.en"), Path("a.es"), 3.0), Corpus(Path("b.tsv"), None, 0.5))
    text = replace(card, corpora=mixed).text()
    assert "- `a.en` with `a.es`, weight 3\n- `b.tsv`, weight 0.5\n" in text


def test_a_card_says_where_nothing_was_measured(card: Card) -> None:
    text = replace(card, validation=None).text()
    assert "No validation text was given." in text
    assert "None" not in text


def test_the_commands_on_a_trained_models_card_can_be_given(model_folder: Path) -> None:
    card = (model_folder / "README.md").read_text("utf-8")
    commands = [line for line in card.splitlines() if line.startswith("dragoman ")]
    given = [shlex.split(c)[1:] for c in commands if not c.startswith("dragoman.")]
    parsed = [build_parser().parse_args(command) for command in given]
    assert {options.command for options in parsed} >= {"translate", "evaluate"}
    assert all(options.model == Path(model_folder.name) for options in parsed)
    assert "test.en" in card
    assert "test.es" in card


def test_a_card_of_a_recurrent_model_tells_its_cells(card: Card) -> None:
    text = replace(card, config=load_preset("lstm-attention")).text()
    assert "Recurrent, 2+2 layers,\nd_model" in text
    assert "lstm cells, bidirectional encoder, dot attention:\n1,234,567" in text
    text = replace(card, config=load_preset("gru")).text()
    assert "gru cells, bidirectional encoder, no attention:\n" in text
