"""A model with recurrent units in its decoder in the studio: what it has is shown."""

from pathlib import Path

import pytest
from starlette.testclient import TestClient

from dragoman.config import load_preset
from dragoman.model_folder import build_for, save_model
from dragoman.studio.app import build_app
from dragoman.text.tokenizer_pair import TokenizerPair

SETTINGS = {
    "model.kind": "ssru",
    "model.d_model": 16,
    "model.d_ff": 24,
    "model.num_heads": 2,
    "model.num_encoder_layers": 1,
    "model.num_decoder_layers": 1,
}
QUESTION = {
    "source": "Where is the station?",
    "target": "¿Dónde está?",
    "model": "ssru",
}


@pytest.fixture(scope="module")
def client(model_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> TestClient:
    folder = tmp_path_factory.mktemp("models") / "ssru"
    tokenizers = TokenizerPair.load(model_folder)
    config = load_preset("base").with_settings(SETTINGS)
    model = build_for(config, tokenizers)
    save_model(folder, model, tokenizers, config, ("en", "es"), "")
    app = build_app([folder], device="cpu")
    return TestClient(app, base_url="http://127.0.0.1", raise_server_exceptions=False)


@pytest.mark.parametrize("answer", ["inspect", "translate", "masks"])
def test_what_every_model_has_is_answered(client: TestClient, answer: str) -> None:
    [described] = client.post("/api/models", json={}).json()
    assert described["kind"] == "ssru"
    response = client.post(f"/api/{answer}", json=QUESTION)
    assert response.status_code == 200, response.text


def test_attention_that_it_lacks_is_said_in_one_line(client: TestClient) -> None:
    place = {"kind": "decoder", "layer": 0, "head": 0, "query": 0, "key": 0}
    response = client.post("/api/head", json=QUESTION | place)
    assert response.status_code == 400, response.text
    assert "\n" not in response.json()["error"]
    response = client.post("/api/head", json=QUESTION | place | {"kind": "cross"})
    assert response.status_code == 200, response.text
