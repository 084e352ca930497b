"""What many tests need: quiet threads, a small corpus, and a small trained model."""

import importlib
import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# Before torch: two test processes that each take two cores stand in each other's way.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import pytest
import torch
from playwright.sync_api import Browser, sync_playwright
from torch import nn

from dragoman.model.layers import DecoderLayer
from dragoman.model.transformer import Transformer
from dragoman.model_folder import load_model, save_model
from dragoman.special_tokens import BEGIN, PAD
from dragoman.text.public_corpora import get
from dragoman.training.train import TrainingResult, train

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
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


@pytest.fixture(scope="session")
def shared_data(in_ci: bool) -> Path:
    """Real text to measure with, which lies beside the project and is no part of it."""
    folder = Path(__file__).parents[2] / "shared/data"
    if not (folder / "multi30k").is_dir():
        message = f"there is no benchmark data in {folder}"
        if in_ci:
            pytest.fail(message)
        pytest.skip(message)
    return folder


@pytest.fixture(scope="session")
def browser(in_ci: bool) -> Iterator[Browser]:
    """A real one; a process can have but one that is driven this way."""
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None:
        message = "there is no chromium here: apt-get install chromium"
        if in_ci:
            pytest.fail(message)
        pytest.skip(message)
    with sync_playwright() as playwright:
        # Inside a container there is nothing to build a sandbox with, and no need.
        options = ["--no-sandbox"] if os.geteuid() == 0 else []
        opened = playwright.chromium.launch(executable_path=path, args=options)
        yield opened
        opened.close()


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


TrainToy = Callable[[Path, str, int, dict[str, Any]], TrainingResult]


@pytest.fixture(scope="session")
def train_toy(corpus: ToyCorpus) -> TrainToy:
    """Train a model on the toy corpus: folder, preset, updates and settings."""

    def trained(
        folder: Path, preset: str, steps: int, settings: dict[str, Any]
    ) -> TrainingResult:
        return train(
            folder,
            source=corpus.train_source,
            target=corpus.train_target,
            valid_source=corpus.valid_source,
            valid_target=corpus.valid_target,
            preset=preset,
            steps=steps,
            settings=settings,
            quiet=True,
        )

    return trained


@pytest.fixture(scope="session")
def model_folder(train_toy: TrainToy, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model that has learned a little; tests must leave it as it is."""
    folder = tmp_path_factory.mktemp("models") / "toy"
    settings = {
        **SMALL,
        "model.positions": "sinusoidal",
        "training.precision": "float32",  # the same model on every processor
        "training.weight_decay": 0,
    }
    train_toy(folder, "fast", 60, settings)
    return folder


@pytest.fixture(scope="session")
def rotary_folder(
    train_toy: TrainToy, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """A model with rotary positions; tests must leave it as it is."""
    folder = tmp_path_factory.mktemp("models") / "rotary"
    train_toy(folder, "fast", 2, SMALL)
    return folder


SMALL_RECURRENT = {
    "model.d_model": 32,
    "model.num_encoder_layers": 1,
    "model.num_decoder_layers": 1,
    "tokenizer.vocabulary_size": 400,
    "training.batch_tokens": 600,
    "training.threads": 1,
    "training.valid_sentences": 5,
}


@pytest.fixture(scope="session")
def recurrent_folders(
    train_toy: TrainToy, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Path]:
    """Recurrent models that have learned a little; tests must leave them as they are.

    One looks back at the source ("lstm-attention") and one does not ("gru").
    """
    folder = tmp_path_factory.mktemp("recurrent")
    folders = {preset: folder / preset for preset in ("lstm-attention", "gru")}
    for preset, each in folders.items():
        train_toy(each, preset, 40, SMALL_RECURRENT)
    return folders


@pytest.fixture(scope="session")
def ctranslate2(in_ci: bool) -> None:
    """Skip what needs CTranslate2 where it is not installed, but not in CI."""
    if in_ci:
        importlib.import_module("ctranslate2")
    pytest.importorskip("ctranslate2", reason="pip install 'dragoman[ctranslate2]'")


@pytest.fixture(scope="session")
def exported_folder(
    model_folder: Path,
    ctranslate2: None,
    sure_of_words: Callable[[Transformer], None],
    tmp_path_factory: pytest.TempPathFactory,
) -> Path:
    """Much the same model with an export; tests must leave it as it is."""
    from dragoman.interchange.ctranslate2 import export_ctranslate2

    folder = tmp_path_factory.mktemp("exported") / "toy"
    saved = load_model(model_folder)
    assert isinstance(saved.model, Transformer)
    sure_of_words(saved.model)
    save_model(folder, saved.model, saved.tokenizers, saved.config, saved.languages, "")
    export_ctranslate2(folder, "float32")
    return folder


@pytest.fixture(scope="session")
def sure_of_words() -> Callable[[Transformer], None]:
    """Let a model think PAD and BEGIN next to impossible, as a well trained one does.

    What little it gives them, CTranslate2 shares out among the others, and PyTorch does
    not: of two translations that are all but equal, either may then be the better.
    """

    @torch.no_grad()
    def change(model: Transformer) -> None:
        last = model.decoder.layers[-1]
        assert isinstance(last, DecoderLayer)
        norm = model.decoder.norm
        if isinstance(norm, nn.Identity):
            norm = last.around_feed_forward.norm
        written = last.feed_forward.outer.bias
        direction = nn.functional.normalize(torch.ones_like(written), dim=0)
        if isinstance(norm, nn.LayerNorm):
            norm.bias.add_(4 * direction)
        else:  # a norm without a bias lets through what was written, and BEGIN's row
            written.add_(60 * direction)
        model.output_weight[[PAD, BEGIN]] = -8 * direction

    return change
