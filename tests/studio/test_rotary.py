"""A model with rotary positions in the studio: it turns, and adds nothing."""

from pathlib import Path
from typing import Any

import pytest
import torch
from starlette.testclient import TestClient

from dragoman.inspection.order import position_table, rotation
from dragoman.studio.app import build_app
from dragoman.translator import Translator


@pytest.fixture(scope="module")
def client(rotary_folder: Path) -> TestClient:
    app = build_app([rotary_folder], device="cpu")
    return TestClient(app, base_url="http://127.0.0.1", raise_server_exceptions=False)


def ask(client: TestClient, answer: str, **fields: object) -> Any:
    response = client.post(f"/api/{answer}", json={"model": "rotary", **fields})
    assert response.status_code == 200, response.text
    return response


def test_the_model_says_what_its_positions_are(client: TestClient) -> None:
    described, *_checkpoints = ask(client, "models").json()
    assert described["positions"] == "rotary"


def test_its_turns_are_shown(client: TestClient, rotary_folder: Path) -> None:
    translator = Translator.load(rotary_folder, "cpu")
    table = position_table(translator, 64)
    rows = ask(client, "position_rows")
    assert rows.headers["x-shape"] == f"64,{translator.config.model.head_size}"
    shown = torch.frombuffer(bytearray(rows.content), dtype=torch.float32)
    assert torch.equal(shown, table.flatten())
    found = ask(client, "positions", offset=5).json()
    assert found["kind"] == "rotary"
    assert found["rotation"]["angles"] == rotation(table, 5).angles.tolist()
    assert found["rotation"]["largest_error"] < 1e-5
