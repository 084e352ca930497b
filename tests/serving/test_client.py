"""Our own client, against a real server and against one that is busy."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from tests.serving.conftest import Running, run_async

import dragoman
from dragoman.errors import ServingError
from dragoman.serving import client as client_module


def test_texts_alone_and_several_are_translated(server: Running) -> None:
    client = dragoman.Client(server.url)
    one = client.translate("Number 12345", "es")
    assert "12345" in one.text
    assert one.language == "en"
    both = client.translate(["Number 12345", "x"], "es", "en", {"alignment": True})
    assert both[0].text == one.text
    assert both[0].sentences[0]["alignment"]
    awaited = run_async(client.translate_async(["Number 12345"], "es"))
    assert awaited[0].text == one.text
    assert client.models()[0]["source"] == "en"


def test_what_is_refused_is_said(server: Running) -> None:
    with pytest.raises(ServingError, match="refused: zz is not supported"):
        dragoman.Client(server.url).translate("x", "zz")
    with pytest.raises(ServingError, match="is no address of a server"):
        dragoman.Client("file:///etc/passwd")


@pytest.fixture
def busy(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A server that is busy twice before it answers."""
    monkeypatch.setattr(client_module, "LONGEST_WAIT", 0.01)
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            body = json.dumps({"models": [], "error": "busy"}).encode()
            self.send_response(200 if len(asked) > 2 else 503)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            del format, args

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()
        thread.join()


def test_a_busy_server_is_asked_again(busy: str) -> None:
    assert dragoman.Client(busy).models() == []


def test_a_server_that_stays_busy_is_given_up(busy: str) -> None:
    with pytest.raises(ServingError, match=r"did not answer after 2 tries \(busy\)"):
        dragoman.Client(busy, tries=2).models()


def test_nobody_there_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_module, "LONGEST_WAIT", 0.01)
    with pytest.raises(ServingError, match="see whether it runs"):
        dragoman.Client("http://127.0.0.1:1", tries=2).models()
