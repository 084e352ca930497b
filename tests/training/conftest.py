"""The toy model and its corpus, opened anew for each test that may change them."""

from pathlib import Path
from typing import Any

import pytest

from dragoman.model_folder import SavedModel, load_model
from dragoman.text.corpus import Corpus
from dragoman.training.preparation import Prepared, prepare


@pytest.fixture
def saved(model_folder: Path) -> SavedModel:
    return load_model(model_folder)


@pytest.fixture
def prepared(model_folder: Path, corpus: Any, saved: SavedModel) -> Prepared:
    """What the toy model learned from; it is only opened, as nothing has changed."""
    return prepare(
        model_folder / "prepared",
        [Corpus(corpus.train_source, corpus.train_target)],
        Corpus(corpus.valid_source, corpus.valid_target),
        saved.config,
    )
