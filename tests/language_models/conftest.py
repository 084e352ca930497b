"""A made-up language whose sentences end as they began, and models that learned it."""

import random
from dataclasses import dataclass
from pathlib import Path

import pytest

from dragoman.training.train import train

NAMES = ["anna", "ben", "carla", "david", "emma", "felix", "greta", "hugo"]
SEEN = ["saw", "found", "painted", "bought"]
LIKE = ["big", "red", "old", "small", "green", "quiet"]
THINGS = ["house", "boat", "garden", "bridge", "tower"]
DONE = ["slept", "sang", "left", "smiled"]
LINE = 11  # tokens, END included

SMALL = {
    "model.d_model": 32,
    "model.d_ff": 64,
    "model.num_heads": 2,
    "model.num_encoder_layers": 2,
    "model.num_decoder_layers": 2,
    "model.dropout": 0.0,
    "model.positions": "sinusoidal",
    "model.window": 2 * LINE,
    "tokenizer.kind": "words",
    "tokenizer.vocabulary_size": 400,
    "training.batch_tokens": 1000,
    "training.threads": 1,
    "training.label_smoothing": 0.0,
    "training.average_last": 1,
}


def sentence(chance: random.Random) -> str:
    """Say something of somebody, who comes back too late for a trigram to know."""
    name, pick = chance.choice(NAMES), chance.choice
    return (
        f"{name} {pick(SEEN)} the {pick(LIKE)} {pick(THINGS)} and then {name} "
        f"{pick(DONE)} again"
    )


@dataclass(frozen=True)
class Text:
    """Files of running text."""

    train: Path
    valid: Path


@pytest.fixture(scope="session")
def text(tmp_path_factory: pytest.TempPathFactory) -> Text:
    chance, folder = random.Random(1), tmp_path_factory.mktemp("text")
    files = Text(folder / "train.txt", folder / "valid.txt")
    for file, count in ((files.train, 1500), (files.valid, 100)):
        file.write_text("".join(f"{sentence(chance)}\n" for _ in range(count)))
    return files


def learn(folder: Path, task: str, text: Text, steps: int) -> Path:
    train(
        folder,
        task=task,
        text=text.train,
        valid_text=text.valid,
        preset="tiny",
        steps=steps,
        settings=SMALL,
        quiet=True,
    )
    return folder


@pytest.fixture(scope="session")
def language_model(text: Text, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A language model that has learned the text; tests must leave it as it is."""
    return learn(tmp_path_factory.mktemp("lm") / "lm", "lm", text, 250)


@pytest.fixture(scope="session")
def masked_language_model(text: Text, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A masked language model of the same text; tests must leave it as it is."""
    return learn(tmp_path_factory.mktemp("mlm") / "mlm", "mlm", text, 250)
