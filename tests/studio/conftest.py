"""A studio of the toy model, asked without a network."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from dragoman.studio.app import build_app
from dragoman.translator import Translator

SENTENCE = "Where is the train station?"
TARGET = "¿Dónde está la estación?"  # the toy model may say nothing at all
Ask = Callable[..., Any]


@pytest.fixture(scope="session")
def client(model_folder: Path) -> TestClient:
    app = build_app([model_folder], device="cpu")
    return TestClient(app, base_url="http://127.0.0.1", raise_server_exceptions=False)


@pytest.fixture(scope="session")
def toy(model_folder: Path) -> Translator:
    return Translator.load(model_folder, "cpu")


@pytest.fixture(scope="session")
def ask(client: TestClient, model_folder: Path) -> Ask:
    """Ask about the sentence, and expect an answer."""

    def asked(name: str, **fields: object) -> Any:
        question: dict[str, object] = {
            "model": model_folder.name,
            "source": SENTENCE,
            "target": TARGET,
        }
        question |= fields
        response = client.post(f"/api/{name}", json=question)
        assert response.status_code == 200, response.text
        if response.headers["content-type"] == "application/json":
            return response.json()
        return response

    return asked
