"""What many tests need: quiet threads, a small corpus, and a small trained model."""

import os
from dataclasses import dataclass
from pathlib import Path

# Before torch: two test processes that each take two cores stand in each other's way.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import pytest
import torch

from dragoman.text.public_corpora import get
from dragoman.training.train import train

SMALL = {
    "model.d_model": 32,
    "model.d_ff": 64,
    "model.num_heads": 2,
    "model.num_encoder_layers": 1,
    "model.num_decoder_layers": 1,
    "tokenizer.vocabulary_size": 400,
    "training.batch_tokens": 600,
    "training.threads": 1,
    "training.valid_sentences": 5,
}


@pytest.fixture(autouse=True)
def _one_thread() -> None:
    torch.set_num_threads(1)


@pytest.fixture(scope="session")
def in_ci() -> bool:
    """Whether what is missing here must fail rather than skip."""
    return os.environ.get("CI") == "true"


@dataclass(frozen=True)
class ToyCorpus:
    """The project's own phrasebook as files."""

    train_source: Path
    train_target: Path
    valid_source: Path
    valid_target: Path


@pytest.fixture(scope="session")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> ToyCorpus:
    files = get("phrasebook-en-es", tmp_path_factory.mktemp("phrasebook") / "en-es")
    return ToyCorpus(
        files.train_source, files.train_target, files.valid_source, files.valid_target
    )


@pytest.fixture(scope="session")
def model_folder(corpus: ToyCorpus, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model that has learned a little; tests must leave it as it is."""
    folder = tmp_path_factory.mktemp("models") / "toy"
    train(
        folder,
        source=corpus.train_source,
        target=corpus.train_target,
        valid_source=corpus.valid_source,
        valid_target=corpus.valid_target,
        preset="fast",
        steps=60,
        settings=SMALL,
        quiet=True,
    )
    return folder
