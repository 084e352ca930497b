import pytest
from starlette.testclient import TestClient

from dragoman.studio.guard import LARGEST_REQUEST

QUESTION = {"content-type": "application/json"}


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "127.0.0.1:8717", "localhost:9", "[::1]:8717", "192.168.1.7"]
)
def test_addresses_and_this_machine_are_answered(client: TestClient, host: str) -> None:
    assert client.get("/", headers={"host": host}).status_code == 200


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "", "[::"])
def test_a_name_pointed_at_loopback_by_others_is_not(
    client: TestClient, host: str
) -> None:
    for response in (
        client.get("/", headers={"host": host}),
        client.post("/api/models", json={}, headers={"host": host}),
    ):
        assert response.status_code == 421
        assert response.json() == {
            "error": f"this studio does not answer to the name {host!r}"
        }


def test_another_page_cannot_ask(client: TestClient) -> None:
    elsewhere = {"origin": "http://evil.example"}
    response = client.post("/api/models", json={}, headers=elsewhere)
    assert (response.status_code, response.json()) == (
        403,
        {"error": "only the studio's own page may ask this"},
    )
    ours = {"origin": "http://127.0.0.1"}
    assert client.post("/api/models", json={}, headers=ours).status_code == 200


def test_a_form_cannot_ask(client: TestClient) -> None:
    response = client.post(
        "/api/models", content="{}", headers={"content-type": "text/plain"}
    )
    assert response.status_code == 415
    assert response.json() == {"error": "questions are asked in application/json"}


def test_a_question_has_a_largest_size(client: TestClient) -> None:
    long = b'{"model": "' + b"x" * LARGEST_REQUEST + b'"}'
    response = client.post("/api/models", content=long, headers=QUESTION)
    assert response.status_code == 413
    assert response.json() == {
        "error": "a question has at most 65,536 bytes: shorten it"
    }

    def in_parts() -> object:
        for _ in range(20):
            yield b" " * 5000

    response = client.post("/api/models", content=in_parts(), headers=QUESTION)  # type: ignore[arg-type]
    assert response.status_code == 413


def test_everything_sent_forbids_foreign_scripts(client: TestClient) -> None:
    for path in ("/", "/align?s=%3Cscript%3E", "/static/js/main.js", "/nowhere"):
        headers = client.get(path).headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "script-src 'self';" in policy
        assert "unsafe" not in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert "set-cookie" not in headers
        assert "access-control-allow-origin" not in headers


def test_nothing_above_the_static_files_is_sent(client: TestClient) -> None:
    for path in ("/static/../app.py", "/static/%2e%2e/app.py", "/static/"):
        response = client.get(path)
        assert response.status_code == 404
        assert set(response.json()) == {"error"}
