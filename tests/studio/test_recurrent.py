"""A recurrent model in the studio: what it has is shown, what it lacks is said."""

from pathlib import Path

import pytest
from starlette.testclient import TestClient

from dragoman.studio.app import build_app

QUESTION = {"source": "Where is the station?", "target": "¿Dónde está?"}
LACKING = ("best_head", "head", "heads")
RESTING = ("agreement", "attributions")  # on what a prediction does


@pytest.fixture(scope="module")
def client(recurrent_folders: dict[str, Path]) -> TestClient:
    app = build_app(list(recurrent_folders.values()), device="cpu")
    return TestClient(app, base_url="http://127.0.0.1", raise_server_exceptions=False)


@pytest.mark.parametrize("name", ["lstm-attention", "gru"])
def test_the_models_have_no_heads_to_show(client: TestClient, name: str) -> None:
    models = client.post("/api/models", json={}).json()
    [described] = [one for one in models if one["name"] == name]
    assert described["kind"] == "recurrent"
    assert not described["layered"]


@pytest.mark.parametrize("name", ["lstm-attention", "gru"])
@pytest.mark.parametrize("answer", ["inspect", "translate", "masks", "training"])
def test_what_every_model_has_is_answered(
    client: TestClient, name: str, answer: str
) -> None:
    response = client.post(f"/api/{answer}", json=QUESTION | {"model": name})
    assert response.status_code == 200, response.text


@pytest.mark.parametrize("answer", RESTING)
def test_with_attention_it_says_what_a_prediction_rests_on(
    client: TestClient, answer: str
) -> None:
    place = {"layer": 0, "head": None, "unit": "word"}
    asked = QUESTION | place | {"model": "lstm-attention"}
    response = client.post(f"/api/{answer}", json=asked)
    assert response.status_code == 200, response.text


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        *(("lstm-attention", answer) for answer in LACKING),
        *(("gru", answer) for answer in (*LACKING, *RESTING)),
    ],
)
def test_what_it_lacks_is_said_in_one_line(
    client: TestClient, name: str, answer: str
) -> None:
    place = {"kind": "cross", "layer": 0, "head": 0, "query": 0, "key": 0}
    more = {"ablation": "without", "unit": "word"}
    question = QUESTION | place | more | {"model": name}
    response = client.post(f"/api/{answer}", json=question)
    assert response.status_code == 400, response.text
    assert "\n" not in response.json()["error"]
